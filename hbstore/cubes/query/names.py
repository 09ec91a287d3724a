"""Names: what a name of a query, or of an expression of the model, means in a cube or a dimension.

    city.name          the field of the dimension at the end of a join chain, which is joined
    station_city       an attribute: a column of the rows, or what a chain leads to
    fare_per_minute    an expression: its definition, in which each name is one of the concept that has it

Where there are several ways to a field of the cube, each storage table's rows go their own: those that have the
attribute as a column take that, others join what a chain of theirs leads to, and then all stand below each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlglot import exp

from hbstore.cubes.concepts import Cube, DerivedCube, Dimension
from hbstore.cubes.fields import ChainField, DimAttribute, Edge, Expression, ExpressionSpec, JoinChain, Measure
from hbstore.cubes.query.from_clause import Owner
from hbstore.cubes.query.ranges import QueryRange, deciding_ranges, marker, number_of
from hbstore.cubes.query.resolved import DATED, Join, Reached, Resolved
from hbstore.cubes.query.star import Field, Star, chain_of, fields_of, time_dimensions
from hbstore.cubes.query.text import QueryText, of_one_piece, parsed, with_replaced
from hbstore.cubes.query.ways import ResolutionWay, in_all_ways
from hbstore.errors import CubeQueryError, UnknownField, did_you_mean
from hbstore.times.moments import moment

_DEPTH: Final = 50
"""Expressions and chains within each other."""


_WRITTEN: Final = 5_000
"""Names in the definitions of a query's expressions, each as often as it is written."""


@dataclass(slots=True)
class Names:
    """What names mean in one resolution of a query.

    Attributes:
        query: for errors.
        star: the documents.
        ranges: the time ranges of the query.
        columns: the columns that at least one fact of the cube has.
        ways: which way is taken where there are several.
        by_table: whether each storage table's rows may go their own way.
        owners: the tables of FROM.
        resolved: the resolution; what names mean is joined to it.
    """

    query: QueryText
    star: Star
    ranges: Sequence[QueryRange]
    columns: frozenset[str]
    ways: ResolutionWay
    by_table: bool
    owners: list[Owner]
    resolved: Resolved
    written: int = 0
    cases: dict[tuple[str, str], exp.Expr] = field(default_factory=dict)
    aliases: dict[tuple[str, str], str] = field(default_factory=dict)

    def meaning(self, owner: Owner, parts: Sequence[str], node: exp.Expr, depth: int) -> exp.Expr:
        """What a name means in a concept: a field, one reached by a chain, or a part of a struct."""
        if depth > _DEPTH:
            raise self.query.unsupported(
                "expressions and references lead back to themselves",
                node,
                name=".".join(parts),
                hint="Alter the model",
            )
        first, *rest = parts
        fields = fields_of(owner.concept)
        if rest and first == owner.concept.name and chain_of(owner.concept, first) is None and rest[0] in fields:
            return self.meaning(owner, rest, node, depth)
        chain = chain_of(owner.concept, first) if rest else None
        if chain is not None:
            self._check_derived_chain(owner, chain.name, node)
            if len(chain.paths) > 1 and self._goes_by_table(owner):
                column = self._by_table(owner, ".".join(parts), lambda one: one.meaning(owner, parts, node, depth))
                if column is not None:
                    return column
            return self.meaning(self._joined(owner, chain.name, node, depth), rest, node, depth + 1)
        if first not in fields and not is_time(owner, first):
            raise self.unknown(owner, parts, node)
        tree = self._field(owner, first, fields.get(first), node, depth)
        for part in rest:
            tree = exp.Dot(this=of_one_piece(tree), expression=exp.to_identifier(part, quoted=True))
        return tree

    def _field(self, owner: Owner, name: str, named_field: Field | None, node: exp.Expr, depth: int) -> exp.Expr:
        if owner.alias == self.resolved.root and depth == 0:
            self.resolved.named_fields.add(name)
            self._check_derived(owner, name, node)
        if isinstance(named_field, Measure | DimAttribute):
            self._check_times(named_field, node)
        if isinstance(named_field, Expression):
            return self._expression(owner, named_field, node, depth)
        if isinstance(named_field, DimAttribute) and named_field.chain:
            return self._attribute(owner, named_field, node, depth)
        return exp.column(name, table=owner.alias, quoted=True)

    def _attribute(self, owner: Owner, attribute: DimAttribute, node: exp.Expr, depth: int) -> exp.Expr:
        """An attribute to which chains lead, and which may be a column as well."""
        stored = self._is_stored(owner, attribute.name)
        if (stored or len(attribute.chain) > 1) and self._goes_by_table(owner):
            column = self._by_table(
                owner, attribute.name, lambda one: one.along(owner, attribute, attribute.chain, node, depth)
            )
            if column is not None:
                return column
        return self.along(owner, attribute, [*([None] if stored else []), *attribute.chain], node, depth)

    def along(
        self, owner: Owner, attribute: DimAttribute, chains: Sequence[ChainField | None], node: exp.Expr, depth: int
    ) -> exp.Expr:
        """An attribute behind one of some chains; None among these stands for the column."""
        one = self.ways.one_of(("attribute", owner.alias, attribute.name), chains)
        if one is None:
            return exp.column(attribute.name, table=owner.alias, quoted=True)
        return self.meaning(self._joined(owner, one.chain, node, depth), [one.field], node, depth + 1)

    def _goes_by_table(self, owner: Owner) -> bool:
        """Whether a field of several ways is taken by each storage table in its own one, not by all in the same."""
        return self.by_table and owner.alias == self.resolved.root and self.ways.one_of("by table", [True, False])

    def _by_table(self, owner: Owner, name: str, resolve: Callable[[Names], exp.Expr]) -> exp.Expr | None:
        """The field as a column that rows have, or reach before they stand below those of other tables.

        None where a way leads to many rows, or depends on the time: then all go the same.
        """

        def reached(ways: ResolutionWay) -> Reached | None:
            alone = Names(
                *(self.query, self.star, self.ranges, self.columns, ways),
                by_table=False,
                owners=[owner],
                resolved=Resolved(self.resolved.root, self.resolved.cube),
                aliases=self.aliases,
            )
            tree, joins = resolve(alone), list(alone.resolved.joins.values())
            if alone.resolved.dated or any(join.to_many for join in joins):
                return None
            return Reached.of(self.resolved.root, tree, joins)

        if name not in self.resolved.reached:
            ways_taken = in_all_ways(reached)
            some = [one for one in ways_taken if one is not None]
            if len(some) < len(ways_taken):
                return None
            self.resolved.reached[name] = some
        return exp.column(name, table=self.resolved.root, quoted=True)

    def _is_stored(self, owner: Owner, name: str) -> bool:
        """Whether a table has an attribute as a column, though a chain leads to it as well."""
        if isinstance(owner.concept, Cube):
            return name in self.columns
        return any(name in {column.name for column in one.columns} for one in self.star.dimtables(owner.concept))

    def _expression(self, owner: Owner, expression: Expression, node: exp.Expr, depth: int) -> exp.Expr:
        whole = [
            spec
            for spec in expression.specs
            if all(_within(spec.start_time, spec.end_time, one) for one in self._deciding())
        ]
        if whole:
            spec = self.ways.one_of(("expression", owner.alias, expression.name), whole)
            return self._definition(owner, spec, node, depth)
        return self._dated(owner, expression, node, depth)

    def _deciding(self) -> list[QueryRange]:
        where = self.query.select.args.get("where")
        return deciding_ranges(None if where is None else where.this, self.ranges)

    def _definition(self, owner: Owner, spec: ExpressionSpec, node: exp.Expr, depth: int) -> exp.Expr:
        def named(column: exp.Column) -> exp.Expr:
            self.written += 1
            if self.written > _WRITTEN:
                raise self.query.unsupported(
                    "expressions within expressions make the query too long",
                    node,
                    names=f"more than {_WRITTEN:,}",
                    hint="Ask for fewer of them, or alter the model so that they name each other less often",
                )
            return self.meaning(owner, [part.name.lower() for part in column.parts], node, depth + 1)

        return mapped(parsed(spec.expression), named)

    def _dated(self, owner: Owner, expression: Expression, node: exp.Expr, depth: int) -> exp.Expr:
        """An expression by the time of each row: ``CASE WHEN <range> THEN <its definition> … END``."""
        key = owner.alias, expression.name
        if key in self.cases:
            return self.cases[key].copy()
        numbers = []
        ranges = self._deciding()
        first, last = min(span.start for span in ranges), max(span.stop for span in ranges)
        case = exp.Case(ifs=[])
        for spec in expression.specs:
            start = first if spec.start_time is None else max(first, moment(spec.start_time))
            stop = last if spec.end_time is None else min(last, moment(spec.end_time))
            if not any(start < query_range.stop and query_range.start < stop for query_range in ranges):
                continue
            number = len(self.resolved.ranges)
            self.resolved.ranges.append(QueryRange(ranges[0].column, start, stop, is_of_definition=True))
            numbers.append(number)
            case.append("ifs", exp.If(this=marker(number), true=self._definition(owner, spec, node, depth)))
        if not numbers:
            raise self.query.unsupported(
                "no definition of the expression counts in the ranges",
                node,
                expression=expression.name,
                definitions="; ".join(
                    f"{definition.expression} {_validity(definition)}" for definition in expression.specs
                ),
                hint="Ask for ranges in which it has a definition",
            )
        self.resolved.dated.append((expression.name, tuple(numbers)))
        case.meta[DATED] = expression.name
        self.cases[key] = case.copy()
        return case

    def _check_times(self, named_field: Measure | DimAttribute, node: exp.Expr) -> None:
        for time_range in self.ranges:
            if not _within(named_field.start_time, named_field.end_time, time_range):
                raise self.query.unsupported(
                    "the field has no data in the whole range",
                    node,
                    field=named_field.name,
                    cause="COLUMN_UNAVAILABLE_IN_TIME_RANGE",
                    since=named_field.start_time,
                    until=named_field.end_time,
                    hint="Ask for a range within these times",
                )

    # Joins

    def _joined(self, owner: Owner, name: str, node: exp.Expr, depth: int) -> Owner:
        """The end of a join chain, joined by one of its paths."""
        chain = chain_of(owner.concept, name)
        assert chain is not None  # an attribute names chains of its concept alone
        path = self.ways.one_of(("path", owner.alias, name), sorted(chain.paths, key=len))
        here, alias = owner, name if owner.alias == self.resolved.root else f"{owner.alias}_{name}"
        for number, edge in enumerate(path):
            last = number == len(path) - 1
            here = self._step(here, edge, alias if last else f"{alias}_{number}", node, depth)
        return here

    def _step(self, owner: Owner, edge: Edge, alias: str, node: exp.Expr, depth: int) -> Owner:
        target = self.star.concept(edge.to_table)
        if not isinstance(target, Dimension):
            raise self.query.error(
                UnknownField,
                "a join chain leads to what is not a dimension",
                node,
                edge=edge,
                hint="Create the dimension",
            )
        key = owner.alias, str(edge)
        if key not in self.resolved.joins:
            if key not in self.aliases:
                taken = {*self.aliases.values(), *(join.alias for join in self.resolved.joins.values())}
                while alias in taken or any(alias == one.alias for one in self.owners):
                    alias += "_"
                self.aliases[key] = alias
            alias = self.aliases[key]
            left = self.meaning(owner, [edge.field], node, depth + 1)
            right = exp.column(edge.to_field, table=alias, quoted=True)
            on = exp.EQ(this=of_one_piece(left), expression=right)
            self.resolved.joins[key] = Join(alias, target, on, to_many=edge.to_many)
        return Owner(self.resolved.joins[key].alias, target)

    # Derived cubes

    def _check_derived(self, owner: Owner, name: str, node: exp.Expr) -> None:
        derived = owner.derived
        if derived is None or name in derived.measures or name in derived.dim_attributes or is_time(owner, name):
            return
        named_field = fields_of(owner.concept).get(name)
        chains = named_field.chain if isinstance(named_field, DimAttribute) else ()
        if any(_has_beginning(derived, chain_of(owner.concept, chain.chain)) for chain in chains):
            return
        raise self.query.error(
            UnknownField,
            "the derived cube does not have the field",
            node,
            derived_cube=derived.name,
            field=name,
            fields=", ".join([*derived.measures, *derived.dim_attributes]),
            hint=did_you_mean(
                name,
                [*derived.measures, *derived.dim_attributes],
                f"Ask for the fields that it has, or ask the cube {derived.parent}",
            ),
        )

    def _check_derived_chain(self, owner: Owner, name: str, node: exp.Expr) -> None:
        derived = owner.derived
        chain = chain_of(owner.concept, name)
        if derived is not None and chain is not None and not _has_beginning(derived, chain):
            raise self.query.error(
                UnknownField,
                "the derived cube does not have the attribute at which the join chain begins",
                node,
                derived_cube=derived.name,
                chain=name,
                hint=f"Ask the cube {derived.parent}",
            )

    def unknown(self, owner: Owner, parts: Sequence[str], node: exp.Expr) -> CubeQueryError:
        """The error for a name that means nothing in a concept."""
        fields = fields_of(owner.concept)
        chains = [chain.name for chain in owner.concept.join_chains]
        return self.query.error(
            UnknownField,
            "no such field",
            node,
            cause="COLUMN_NOT_FOUND",
            name=".".join(parts),
            of=owner.concept,
            fields=", ".join(fields) or "none",
            chains=", ".join(chains) or "none",
            hint=did_you_mean(
                parts[0], [*fields, *chains], "Name one of its fields, or a field of a join chain as chain.field"
            ),
        )


def mapped(node: exp.Expr, named: Callable[[exp.Column], exp.Expr]) -> exp.Expr:
    """A copy of a tree with its columns replaced."""
    return with_replaced(
        node, lambda one: named(one) if isinstance(one, exp.Column) and number_of(one) is None else one
    )


def is_time(owner: Owner, name: str) -> bool:
    """Whether a name is that of a time dimension."""
    return name in time_dimensions(owner.concept)


def _has_beginning(derived: DerivedCube, chain: JoinChain | None) -> bool:
    """Whether a derived cube has an attribute at which a join chain begins, and so what the chain leads to."""
    return chain is not None and any(path[0].field in derived.dim_attributes for path in chain.paths)


def _within(start: datetime | None, end: datetime | None, one: QueryRange) -> bool:
    return (start is None or moment(start) <= one.start) and (end is None or one.stop <= moment(end))


def _validity(spec: ExpressionSpec) -> str:
    since = "" if spec.start_time is None else f"from {spec.start_time.isoformat()} "
    return f"({since}{'' if spec.end_time is None else f'until {spec.end_time.isoformat()}'})"
