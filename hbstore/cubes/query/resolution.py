"""Resolution: every name of a query becomes a field of the cube or of a dimension that is joined.

    select city.name, fare_per_minute …      the cube rides, whose join chain city leads to the dimension station
    ->  "city"."name", ("rides"."fare" / "rides"."minutes")

A name is looked for among the tables of FROM; a name before a dot is one of them, or a join chain. Attributes that are
reached by a chain, and expressions, become what they stand for, as trees: each name in an expression is a name of the
concept that has the expression, whatever the query calls its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Final

from sqlglot import exp, parse_one

from hbstore.cubes.concepts import Cube, Dimension
from hbstore.cubes.fields import DimAttribute, Edge, Expression, ExpressionSpec, Measure
from hbstore.cubes.query.from_clause import FILTERING_JOINS, Owner, join_kind, owners_of
from hbstore.cubes.query.ranges import TimeRangeIn, marker, number_of
from hbstore.cubes.query.resolved import DATED, Join, Resolved
from hbstore.cubes.query.star import Field, Star, chain_of, fields_of, time_dimensions
from hbstore.cubes.query.text import DIALECT, QueryText, offset_of, placed
from hbstore.cubes.query.ways import Ways
from hbstore.errors import AmbiguousField, CubeQueryError, UnknownField, UnsupportedQuery
from hbstore.times.moments import LIMIT, moment

_DEPTH: Final = 50
"""Expressions and chains within each other."""


_WRITTEN: Final = 5_000
"""Names in the definitions of a query's expressions, each as often as it is written."""


def resolve(
    query: QueryText, star: Star, ranges: Sequence[TimeRangeIn], columns: frozenset[str], ways: Ways
) -> Resolved:
    """A query with its names resolved.

    Args:
        query: what was parsed.
        star: the documents.
        ranges: the time ranges, as `read_ranges` read them.
        columns: the columns that at least one fact of the cube has.
        ways: which way is taken where there are several.

    Raises:
        UnknownField, AmbiguousField: a name means nothing, or two things.
        UnsupportedQuery: the query is none that can be answered.
    """
    return _Resolver(query, star, ranges, columns, ways).resolved()


@dataclass(slots=True)
class _Resolver:
    query: QueryText
    star: Star
    ranges: Sequence[TimeRangeIn]
    columns: frozenset[str]
    ways: Ways
    owners: list[Owner] = field(default_factory=list)
    made: Resolved = field(init=False)
    selected: dict[str, exp.Expr] = field(default_factory=dict)
    written: int = 0
    cases: dict[tuple[str, str], exp.Expr] = field(default_factory=dict)

    def resolved(self) -> Resolved:
        select = self.query.select
        first, *others = owners_of(self.query, self.star)
        self.owners = [first]
        cube = first.concept if isinstance(first.concept, Cube) else None
        dimension = first.concept if isinstance(first.concept, Dimension) else None
        self.made = Resolved(first.alias, cube, first.derived, dimension)
        self.made.ranges = list(self.ranges)
        for owner, join in zip(others, select.args.get("joins") or (), strict=True):
            self._explicit_join(owner, join)
        self._read_select()
        where = select.args.get("where")
        if where is not None:
            self.made.where = self._tree(where.this)
        group = select.args.get("group")
        if group is not None:
            self.made.grouped = True
            self.made.group = [self._grouped(one) for one in group.expressions]
        having = select.args.get("having")
        if having is not None:
            self.made.having = self._tree(having.this, aliases=True)
        order = select.args.get("order")
        for one in order.expressions if order is not None else ():
            self.made.order.append((self._ordered(one.this), bool(one.args.get("desc")), one.args.get("nulls_first")))
        self.made.distinct = select.args.get("distinct") is not None
        limit = select.args.get("limit")
        self.made.limit = None if limit is None else int(limit.expression.this)
        return self.made

    # FROM

    def _explicit_join(self, owner: Owner, join: exp.Join) -> None:
        """A join of the query. Its condition names what stands before it, and what follows names its dimension."""
        kind = join_kind(self.query, join)
        assert isinstance(owner.concept, Dimension)
        self.owners.append(owner)
        self.made.joins[owner.alias] = Join(owner.alias, owner.concept, self._tree(join.args["on"]), kind)
        if kind in FILTERING_JOINS:
            self.owners.remove(owner)

    # Trees

    def _read_select(self) -> None:
        for one in self.query.select.expressions:
            tree = self._tree(one.this if isinstance(one, exp.Alias) else one)
            if isinstance(one, exp.Alias):
                alias = one.alias
            elif isinstance(one, exp.Column):
                alias = one.name.lower()
            else:
                alias = one.sql(DIALECT, comments=False)
            self.made.select.append((alias, tree))
            if isinstance(one, exp.Alias):
                self.selected.setdefault(alias.lower(), tree)

    def _grouped(self, node: exp.Expr) -> exp.Expr:
        place = self._placed(node)
        if place is not None:
            return place
        if isinstance(node, exp.Column) and not node.table and not self._has(node.name.lower()):
            return self.selected[node.name.lower()].copy() if node.name.lower() in self.selected else self._tree(node)
        return self._tree(node)

    def _ordered(self, node: exp.Expr) -> exp.Expr:
        place = self._placed(node)
        return self._tree(node, aliases=True) if place is None else place

    def _placed(self, node: exp.Expr) -> exp.Expr | None:
        """The selected expression that a number means; None for what is not a number."""
        if not (isinstance(node, exp.Literal) and node.is_int):
            return None
        at = int(node.this)
        if not 1 <= at <= len(self.made.select):
            raise self.query.error(
                UnsupportedQuery, "no such place in SELECT", node, place=at, hint=f"Give 1 to {len(self.made.select)}"
            )
        return self.made.select[at - 1][1].copy()

    def _has(self, name: str) -> bool:
        return any(name in fields_of(owner.concept) for owner in self.owners)

    def _tree(self, node: exp.Expr, *, aliases: bool = False) -> exp.Expr:
        """A copy of a part of the query with its names resolved."""

        def named(column: exp.Column) -> exp.Expr:
            if aliases and not column.table and column.name.lower() in self.selected:
                return self.selected[column.name.lower()].copy()
            return placed(self._column(column), offset_of(column))

        return _mapped(node, named)

    def _column(self, node: exp.Column) -> exp.Expr:
        parts = [part.name.lower() for part in node.parts]
        owner = next((one for one in self.owners if len(parts) > 1 and one.alias == parts[0]), None)
        if owner is not None:
            return self._name(owner, parts[1:], node, 0)
        if len(parts) == 1:
            having = [one for one in self.owners if parts[0] in fields_of(one.concept) or _is_time(one, parts[0])]
            if len(having) > 1:
                raise self.query.error(
                    AmbiguousField,
                    "the name may mean two fields",
                    node,
                    name=parts[0],
                    one=f"{having[0].alias}.{parts[0]}",
                    other=f"{having[1].alias}.{parts[0]}",
                    hint="Write the one that you mean",
                )
            if having:
                return self._name(having[0], parts, node, 0)
        else:
            for one in self.owners:
                if chain_of(one.concept, parts[0]) is not None or parts[0] in fields_of(one.concept):
                    return self._name(one, parts, node, 0)
        raise self._unknown(self.owners[0], parts, node)

    def _name(self, owner: Owner, parts: Sequence[str], node: exp.Expr, depth: int) -> exp.Expr:
        """What a name means in a concept: a field, one reached by a chain, or a part of a struct."""
        if depth > _DEPTH:
            raise self.query.error(
                UnsupportedQuery,
                "expressions and references lead back to themselves",
                node,
                name=".".join(parts),
                hint="Alter the model",
            )
        first, *rest = parts
        fields = fields_of(owner.concept)
        if rest and first == owner.concept.name and chain_of(owner.concept, first) is None and rest[0] in fields:
            return self._name(owner, rest, node, depth)
        chain = chain_of(owner.concept, first) if rest else None
        if chain is not None:
            self._check_derived_chain(owner, chain.name, node)
            return self._name(self._joined(owner, chain.name, node, depth), rest, node, depth + 1)
        if first not in fields and not _is_time(owner, first):
            raise self._unknown(owner, parts, node)
        tree = self._field(owner, first, fields.get(first), node, depth)
        for part in rest:
            tree = exp.Dot(this=tree, expression=exp.to_identifier(part, quoted=True))
        return tree

    def _field(self, owner: Owner, name: str, found: Field | None, node: exp.Expr, depth: int) -> exp.Expr:
        if owner.alias == self.made.root and depth == 0:
            self.made.asked.add(name)
            self._check_derived(owner, name, node)
        if isinstance(found, Measure | DimAttribute):
            self._check_times(found, node)
        if isinstance(found, Expression):
            return self._expression(owner, found, node, depth)
        if isinstance(found, DimAttribute) and found.chain:
            here = exp.column(name, table=owner.alias, quoted=True)
            there = [
                lambda one=one: self._name(self._joined(owner, one.chain, node, depth), [one.field], node, depth + 1)
                for one in found.chain
            ]
            alternatives: list[Callable[[], exp.Expr]] = [
                *([lambda: here] if self._is_stored(owner, name) else []),
                *there,
            ]
            return self.ways.one_of(("attribute", owner.alias, name), alternatives)()
        return exp.column(name, table=owner.alias, quoted=True)

    def _is_stored(self, owner: Owner, name: str) -> bool:
        """Whether a table has an attribute as a column, though a chain leads to it as well."""
        if isinstance(owner.concept, Cube):
            return name in self.columns
        return any(name in {column.name for column in one.columns} for one in self.star.dimtables(owner.concept))

    def _expression(self, owner: Owner, found: Expression, node: exp.Expr, depth: int) -> exp.Expr:
        whole = [
            spec for spec in found.specs if all(_within(spec.start_time, spec.end_time, one) for one in self.ranges)
        ]
        if whole:
            spec = self.ways.one_of(("expression", owner.alias, found.name), whole)
            return exp.paren(self._definition(owner, spec, node, depth), copy=False)
        return self._dated(owner, found, node, depth)

    def _definition(self, owner: Owner, spec: ExpressionSpec, node: exp.Expr, depth: int) -> exp.Expr:
        def named(column: exp.Column) -> exp.Expr:
            self.written += 1
            if self.written > _WRITTEN:
                raise self.query.error(
                    UnsupportedQuery,
                    "expressions within expressions make the query too long",
                    node,
                    names=f"more than {_WRITTEN:,}",
                    hint="Ask for fewer of them, or alter the model so that they name each other less often",
                )
            return self._name(owner, [part.name.lower() for part in column.parts], node, depth + 1)

        return placed(_mapped(_parsed(spec.expression), named), None)

    def _dated(self, owner: Owner, found: Expression, node: exp.Expr, depth: int) -> exp.Expr:
        """An expression by the time of each row: ``CASE WHEN <range> THEN <its definition> … END``."""
        key = owner.alias, found.name
        if key in self.cases:
            return self.cases[key].copy()
        numbers = []
        made = exp.Case(ifs=[])
        for spec in found.specs:
            start = 0 if spec.start_time is None else moment(spec.start_time)
            stop = LIMIT if spec.end_time is None else moment(spec.end_time)
            if not any(start < one.stop and one.start < stop for one in self.ranges):
                continue
            number = len(self.made.ranges)
            self.made.ranges.append(TimeRangeIn(None, start, stop))
            numbers.append(number)
            made.append("ifs", exp.If(this=marker(number), true=self._definition(owner, spec, node, depth)))
        if not numbers:
            raise self.query.error(
                UnsupportedQuery,
                "no definition of the expression counts in the ranges",
                node,
                expression=found.name,
                definitions="; ".join(f"{one.expression} {_validity(one)}" for one in found.specs),
                hint="Ask for ranges in which it has a definition",
            )
        self.made.dated.append((found.name, tuple(numbers)))
        made.meta[DATED] = found.name
        self.cases[key] = made.copy()
        return made

    def _check_times(self, found: Measure | DimAttribute, node: exp.Expr) -> None:
        for one in self.ranges:
            if not _within(found.start_time, found.end_time, one):
                raise self.query.error(
                    UnsupportedQuery,
                    "the field has no data in the whole range",
                    node,
                    field=found.name,
                    cause="COLUMN_UNAVAILABLE_IN_TIME_RANGE",
                    since=found.start_time,
                    until=found.end_time,
                    hint="Ask for a range within these times",
                )

    # Joins

    def _joined(self, owner: Owner, name: str, node: exp.Expr, depth: int) -> Owner:
        """The end of a join chain, joined by one of its paths."""
        chain = chain_of(owner.concept, name)
        if chain is None:
            raise self._unknown(owner, [name], node)
        path = self.ways.one_of(("path", owner.alias, name), sorted(chain.paths, key=len))
        here, alias = owner, name if owner.alias == self.made.root else f"{owner.alias}_{name}"
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
        if key not in self.made.joins:
            taken = {join.alias for join in self.made.joins.values()} | {one.alias for one in self.owners}
            while alias in taken:
                alias += "_"
            left = self._name(owner, [edge.field], node, depth + 1)
            right = exp.column(edge.to_field, table=alias, quoted=True)
            on = exp.EQ(this=left, expression=right)
            self.made.joins[key] = Join(alias, target, on, to_many=edge.to_many)
        return Owner(self.made.joins[key].alias, target)

    # Derived cubes

    def _check_derived(self, owner: Owner, name: str, node: exp.Expr) -> None:
        derived = owner.derived
        if derived is None or name in derived.measures or name in derived.dim_attributes or _is_time(owner, name):
            return
        raise self.query.error(
            UnknownField,
            "the derived cube does not have the field",
            node,
            derived_cube=derived.name,
            field=name,
            known=", ".join([*derived.measures, *derived.dim_attributes]),
            hint=f"Ask for the fields that it has, or ask the cube {derived.parent}",
        )

    def _check_derived_chain(self, owner: Owner, name: str, node: exp.Expr) -> None:
        derived = owner.derived
        chain = chain_of(owner.concept, name)
        if derived is None or chain is None:
            return
        if not any(path[0].field in derived.dim_attributes for path in chain.paths):
            raise self.query.error(
                UnknownField,
                "the derived cube does not have the attribute at which the join chain begins",
                node,
                derived_cube=derived.name,
                chain=name,
                hint=f"Ask the cube {derived.parent}",
            )

    def _unknown(self, owner: Owner, parts: Sequence[str], node: exp.Expr) -> CubeQueryError:
        chains = [chain.name for chain in owner.concept.join_chains]
        return self.query.error(
            UnknownField,
            "no such field",
            node,
            cause="COLUMN_NOT_FOUND",
            name=".".join(parts),
            of=owner.concept,
            fields=", ".join(fields_of(owner.concept)) or "none",
            chains=", ".join(chains) or "none",
            hint="Name one of its fields, or a field of a join chain as chain.field",
        )


def _mapped(node: exp.Expr, named: Callable[[exp.Column], exp.Expr]) -> exp.Expr:
    """A copy of a tree with its columns replaced."""

    def replaced(one: exp.Expr) -> exp.Expr:
        return named(one) if isinstance(one, exp.Column) and number_of(one) is None else one

    return node.transform(replaced)


@lru_cache(maxsize=1_024)
def _parsed(expression: str) -> exp.Expr:
    """An expression of the model; not to be changed."""
    return parse_one(expression, dialect=DIALECT, into=exp.Condition)


def _is_time(owner: Owner, name: str) -> bool:
    return name in time_dimensions(owner.concept)


def _within(start: datetime | None, end: datetime | None, one: TimeRangeIn) -> bool:
    return (start is None or moment(start) <= one.start) and (end is None or one.stop <= moment(end))


def _validity(spec: ExpressionSpec) -> str:
    since = "" if spec.start_time is None else f"from {spec.start_time.isoformat()} "
    return f"({since}{'' if spec.end_time is None else f'until {spec.end_time.isoformat()}'})"
