"""Resolution: every name of a query becomes a field of the cube or of a dimension that is joined.

    select city.name, fare_per_minute …      the cube rides, whose join chain city leads to the dimension station
    ->  "city"."name", ("rides"."fare" / "rides"."minutes")

A name is looked for among the tables of FROM; a name before a dot is one of them, or a join chain. Attributes that are
reached by a chain, and expressions, become what they stand for, as trees: each name in an expression is a name of the
concept that has the expression, whatever the query calls its own. Options may then say otherwise: which fields the
query may name, how it is grouped, and what becomes a set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sqlglot import exp

from hbstore.cubes.concepts import Cube, Dimension
from hbstore.cubes.query.aggregate_calls import is_aggregate, is_filtered
from hbstore.cubes.query.bridges import flatten
from hbstore.cubes.query.forms import FORM, Forms
from hbstore.cubes.query.from_clause import FILTERING_JOINS, Owner, join_kind, owners_of
from hbstore.cubes.query.names import Names, is_time
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.ranges import QueryRange, number_of
from hbstore.cubes.query.resolved import Join, Resolved
from hbstore.cubes.query.star import Star, chain_of, fields_of
from hbstore.cubes.query.text import DIALECT, QueryText, offset_of, placed, with_replaced
from hbstore.cubes.query.ways import ResolutionWay
from hbstore.errors import AmbiguousField


def resolve(
    query: QueryText,
    star: Star,
    ranges: Sequence[QueryRange],
    columns: frozenset[str],
    ways: ResolutionWay,
    options: QueryOptions,
) -> Resolved:
    """A query with its names resolved.

    Args:
        query: what was parsed.
        star: the documents.
        ranges: the time ranges, as `read_ranges` read them.
        columns: the columns that at least one fact of the cube has.
        ways: which way is taken where there are several.
        options: of the query.

    Raises:
        UnknownField, AmbiguousField: a name means nothing, or two things.
        UnsupportedQuery: the query is none that can be answered, or not as the options say.
    """
    first, *others = owners_of(query, star)
    cube = first.concept if isinstance(first.concept, Cube) else None
    dimension = first.concept if isinstance(first.concept, Dimension) else None
    resolved = Resolved(first.alias, cube, first.derived, dimension, ranges=list(ranges))
    by_table = cube is not None and options.join_chains and options.join_type in ("LEFT", "INNER")
    names = Names(query, star, ranges, columns, ways, by_table, [first], resolved)
    _Resolver(query, names, names.owners, resolved).resolve(others)
    _apply_options(query, resolved, options)
    return resolved


@dataclass(slots=True)
class _Resolver:
    """The clauses of a query.

    Attributes:
        query: what was parsed.
        names: what names in it mean.
        owners: the tables of FROM whose fields it may name so far.
        resolved: the resolution so far.
        selected: what is selected, by name: that of a field, or an alias.
        forms: of what is written in the clauses that look at groups.
        keys: what is grouped by, by the form in which it is written.
    """

    query: QueryText
    names: Names
    owners: list[Owner]
    resolved: Resolved
    selected: dict[str, list[exp.Expr]] = field(default_factory=dict)
    forms: Forms = field(init=False)
    keys: dict[int, exp.Expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.forms = Forms(self._form_of)

    def resolve(self, others: Sequence[Owner]) -> Resolved:
        """The resolution, with the dimensions that FROM joins."""
        select = self.query.select
        for owner, join in zip(others, select.args.get("joins") or (), strict=True):
            self._explicit_join(owner, join)
        self._read_select()
        where = select.args.get("where")
        if where is not None:
            self.resolved.where = self._tree(where.this)
        group = select.args.get("group")
        if group is not None:
            self.resolved.grouped = True
            self.resolved.group = [self._grouped(expression) for expression in group.expressions]
        else:  # what is selected and not aggregated is grouped by
            for expression, (_, tree) in zip(select.expressions, self.resolved.select, strict=True):
                if not _is_aggregated(self.resolved, tree):
                    self.keys.setdefault(self.forms.of(expression), tree)
        having = select.args.get("having")
        if having is not None:
            self.forms.of(having.this)
            self.resolved.having = self._tree(having.this, self._key_or_alias)
        order = select.args.get("order")
        for ordered in order.expressions if order is not None else ():
            self.resolved.order.append(
                (self._ordered(ordered.this), bool(ordered.args.get("desc")), ordered.args.get("nulls_first"))
            )
        self.resolved.distinct = select.args.get("distinct") is not None
        limit = select.args.get("limit")
        self.resolved.limit = None if limit is None else int(limit.expression.this)
        return self.resolved

    # FROM

    def _explicit_join(self, owner: Owner, join: exp.Join) -> None:
        """A join of the query. Its condition names what stands before it, and what follows names its dimension."""
        kind = join_kind(self.query, join)
        assert isinstance(owner.concept, Dimension)
        self.owners.append(owner)
        self.resolved.joins[owner.alias] = Join(owner.alias, owner.concept, self._tree(join.args["on"]), kind)
        if kind in FILTERING_JOINS:
            self.owners.remove(owner)

    # Trees

    def _read_select(self) -> None:
        for expression in self.query.select.expressions:
            tree = self._tree(expression.unalias())
            is_named = isinstance(expression, exp.Alias | exp.Column)
            name = expression.alias_or_name if is_named else expression.sql(DIALECT, comments=False)
            self.resolved.select.append((name.lower() if isinstance(expression, exp.Column) else name, tree))
            if is_named and tree not in (same := self.selected.setdefault(name.lower(), [])):
                same.append(tree)

    def _grouped(self, node: exp.Expr) -> exp.Expr:
        node = node.unnest()  # as Spark: (2) is a place, too
        at = self._place(node)
        if at is None and isinstance(node, exp.Column) and not node.table and not self._is_field(node):
            named = self.selected.get(node.name.lower(), ())
            at = next(
                (at for at, (_, tree) in enumerate(self.resolved.select) if any(tree is one for one in named)), None
            )
        if at is None:
            tree, written = self._tree(node), node
        else:
            tree, written = self.resolved.select[at][1].unnest().copy(), self.query.select.expressions[at]
        if at is not None and _is_aggregated(self.resolved, tree):
            raise self.query.unsupported(
                "GROUP BY means by its place or its alias what is aggregated",
                node,
                hint="Group by fields of the rows",
            )
        self.keys.setdefault(self.forms.of(written), tree)
        return tree

    def _ordered(self, node: exp.Expr) -> exp.Expr:
        node = node.unnest()
        at = self._place(node)
        if at is not None:
            return self.resolved.select[at][1].copy()
        self.forms.of(node)
        return self._tree(node, self._alias_or_key)

    def _key_or_alias(self, node: exp.Expr) -> exp.Expr | None:
        """What a part of HAVING means, as in Spark: what is written like a key is this key."""
        return self.keys.get(node.meta[FORM]) or self._alias(node)

    def _alias_or_key(self, node: exp.Expr) -> exp.Expr | None:
        """What a part of ORDER BY means, as in Spark: a name is what is selected by it; of several, a key."""
        is_clear = not isinstance(node, exp.Column) or len(self.selected.get(node.name.lower(), ())) <= 1
        return self._alias(node) if is_clear else self._key_or_alias(node)

    def _alias(self, node: exp.Expr) -> exp.Expr | None:
        """What is selected by a name; None where the name is none, or that of a field in an aggregate."""
        trees = self.selected.get(node.name.lower(), ()) if isinstance(node, exp.Column) and not node.table else ()
        if not trees or (isinstance(node, exp.Column) and self._is_field_of_rows(node)):
            return None
        if len(trees) > 1:
            raise self.query.error(
                AmbiguousField,
                "several columns are selected by the name",
                node,
                name=node.name.lower(),
                hint="Give each a name of its own",
            )
        return trees[0]

    def _place(self, node: exp.Expr) -> int | None:
        """The number, from 0, of the selected expression whose place it is; None for what is no number."""
        if not (isinstance(node, exp.Literal) and node.is_int):
            return None
        at = int(node.this)
        if not 1 <= at <= len(self.resolved.select):
            raise self.query.unsupported(
                "no such place in SELECT", node, place=at, hint=f"Give 1 to {len(self.resolved.select)}"
            )
        return at - 1

    def _is_field(self, node: exp.Column) -> bool:
        """Whether a name without a table before it is that of a field."""
        return any(node.name.lower() in fields_of(owner.concept) for owner in self.owners)

    def _is_field_of_rows(self, node: exp.Column) -> bool:
        """Whether a name stands in an aggregate, which looks at rows, and is one of their fields."""
        at = node.parent
        while at is not None and not is_aggregate(at) and not is_filtered(at):
            at = at.parent
        return at is not None and self._is_field(node)

    def _tree(self, node: exp.Expr, meant: Callable[[exp.Expr], exp.Expr | None] = lambda _: None) -> exp.Expr:
        """A copy of a part of the query with its names resolved, and parts that mean what is selected or grouped by."""

        def resolved(part: exp.Expr) -> exp.Expr:
            tree = meant(part)
            if tree is not None:
                return tree.copy()
            if isinstance(part, exp.Column) and number_of(part) is None:
                return placed(self._column(part), offset_of(part))
            return part

        return with_replaced(node, resolved)

    def _owner(self, alias: str) -> Owner | None:
        return next((table for table in self.owners if table.alias == alias), None)

    def _column(self, node: exp.Column) -> exp.Expr:
        owners, parts = self._owners_of(node)
        if not owners:
            raise self.names.unknown(self.owners[0], parts, node)
        if len(owners) > 1:
            raise self.query.error(
                AmbiguousField,
                "the name may mean two fields",
                node,
                name=parts[0],
                one=f"{owners[0].alias}.{parts[0]}",
                other=f"{owners[1].alias}.{parts[0]}",
                hint="Write the one that you mean",
            )
        return self.names.meaning(owners[0], parts, node, 0)

    def _form_of(self, node: exp.Column) -> tuple[str, ...]:
        """The same for names of one field."""
        owners, parts = self._owners_of(node)
        return owners[0].alias if len(owners) == 1 else "", *parts

    def _owners_of(self, node: exp.Column) -> tuple[list[Owner], list[str]]:
        """The tables that have a name of the query, and the parts of the name in them."""
        parts = [part.name.lower() for part in node.parts]
        if parts[2:] and parts[0] == self.names.star.model.database and self._owner(parts[0]) is None:
            parts = parts[1:] if self._owner(parts[1]) is not None else parts
        owner = self._owner(parts[0]) if len(parts) > 1 else None
        if owner is not None:
            return [owner], parts[1:]
        first = parts[0]
        if len(parts) == 1:
            return [one for one in self.owners if first in fields_of(one.concept) or is_time(one, first)], parts
        chained = (one for one in self.owners if chain_of(one.concept, first) or first in fields_of(one.concept))
        return [*islice(chained, 1)], parts


def _apply_options(query: QueryText, resolved: Resolved, options: QueryOptions) -> None:
    """Change a resolved query as the options say.

    Raises:
        UnsupportedQuery: it names a field behind a join chain, and may not; or a set stands where none can.
    """
    if not options.join_chains:
        _refuse_chains(query, resolved)
    if options.group_by_to_select and all(_is_aggregated(resolved, tree) for _, tree in resolved.select):
        resolved.select = [*_grouped_by(query, resolved), *resolved.select]
    trees = [*(tree for _, tree in resolved.select), resolved.having, *(tree for tree, *_ in resolved.order)]
    if not options.select_to_group_by and any(_is_aggregated(resolved, tree) for tree in trees):
        resolved.grouped = True
    if options.flatten_bridges:
        flatten(query, resolved, options)


def _refuse_chains(query: QueryText, resolved: Resolved) -> None:
    for join in resolved.joins.values():
        if join.side is None:
            raise query.unsupported(
                "the query names a field behind a join chain, and the option join_chains says that it may not",
                None,
                cause="NO_JOIN_CONDITION_AVAILABLE",
                chain=join.alias,
                hint=f"Write JOIN {join.dimension.name} ON …, or ask with join_chains = true",
            )


def _grouped_by(query: QueryText, resolved: Resolved) -> list[tuple[str, exp.Expr]]:
    """What the query is grouped by, as it would be selected."""
    group = query.select.args.get("group")
    written = [] if group is None else group.expressions
    names = [one.name.lower() if isinstance(one, exp.Column) else one.sql(DIALECT, comments=False) for one in written]
    return [(name, tree.copy()) for name, tree in zip(names, resolved.group, strict=True)]


def _is_aggregated(resolved: Resolved, tree: exp.Expr | None) -> bool:
    """Whether a tree has an aggregate, or a measure, which stands for one."""
    measures = set() if resolved.cube is None else {measure.name for measure in resolved.cube.measures}
    return tree is not None and any(
        is_aggregate(node) or (isinstance(node, exp.Column) and node.table == resolved.root and node.name in measures)
        for node in tree.walk()
    )
