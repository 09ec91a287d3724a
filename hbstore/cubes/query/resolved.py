"""A resolved query: trees whose columns are the fields of the cube and of the dimensions that are joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp

from hbstore.cubes.concepts import Cube, DerivedCube, Dimension
from hbstore.cubes.query.ranges import QueryRange

DATED: Final = "hbstore.dated"
"""What a tree's node has in its `meta` that stands for an expression with several definitions: its name."""

STANDS_FOR: Final = "hbstore.stands_for"
"""What a column has in its `meta` that holds the values of an expression: the expression's text."""


@dataclass(frozen=True, slots=True)
class Join:
    """A dimension that is joined.

    Attributes:
        alias: its name in the query.
        dimension: which.
        on: the condition.
        side: INNER, LEFT, RIGHT, FULL, SEMI, ANTI; None: as the options say.
        to_many: whether one row may meet many.
        bridge: what is joined in the place of the dimension's rows; None: these.
    """

    alias: str
    dimension: Dimension
    on: exp.Expr
    side: str | None = None
    to_many: bool = False
    bridge: Bridge | None = None


@dataclass(slots=True)
class Bridge:
    """The rows of a dimension and of what is joined behind it, as one row for each key.

    Attributes:
        key: what they are grouped by.
        joins: behind the dimension, in an order in which each finds what it joins.
        columns: aggregates of the rows, by the name of their column.
    """

    key: exp.Expr
    joins: list[Join] = field(default_factory=list)
    columns: dict[str, exp.Expr] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reached:
    """One way in which rows that lack a field as a column reach it: by a join chain that begins at their columns.

    Attributes:
        tree: the field, behind the joins.
        joins: of dimensions, in an order in which each finds what it joins.
        columns: of the rows, which the joins begin at.
    """

    tree: exp.Expr
    joins: tuple[Join, ...]
    columns: frozenset[str]

    @staticmethod
    def of(root: str, tree: exp.Expr, joins: Sequence[Join]) -> Reached:
        """The way to a field from rows of the alias root."""
        names = (column for one in (tree, *(join.on for join in joins)) for column in one.find_all(exp.Column))
        return Reached(tree, tuple(joins), frozenset(column.name for column in names if column.table == root))


@dataclass(slots=True)
class Resolved:
    """A query whose names are resolved in one way.

    Columns of the trees have two parts: the alias of the cube or of a join, and the field. `marker` nodes stand for
    time ranges.

    Attributes:
        cube: the base cube; None where only dimensions are asked.
        derived: the derived cube that the query names.
        root: the alias of the cube, or of the first dimension.
        dimension: the first dimension, where there is no cube.
        select: aliases and trees.
        where, having: conditions.
        group: trees.
        order: trees, each with whether it descends and whether nulls come first.
        joins: in an order in which each finds what it joins.
        ranges: the time ranges by number, those of definitions of expressions behind those of the query.
        dated: expressions that have several definitions in these times, each with the numbers of their ranges.
        reached: fields that each storage table's rows have as a column, or else reach by one of these ways.
        named_fields: the fields of the cube that the query names, before they were resolved.
        grouped: whether the query has a GROUP BY.
        limit: rows at most.
        distinct: whether the query says DISTINCT.
    """

    root: str
    cube: Cube | None = None
    derived: DerivedCube | None = None
    dimension: Dimension | None = None
    select: list[tuple[str, exp.Expr]] = field(default_factory=list)
    where: exp.Expr | None = None
    having: exp.Expr | None = None
    group: list[exp.Expr] = field(default_factory=list)
    order: list[tuple[exp.Expr, bool, bool | None]] = field(default_factory=list)
    joins: dict[object, Join] = field(default_factory=dict)
    ranges: list[QueryRange] = field(default_factory=list)
    dated: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    reached: dict[str, Sequence[Reached]] = field(default_factory=dict)
    named_fields: set[str] = field(default_factory=set)
    grouped: bool = False
    limit: int | None = None
    distinct: bool = False

    @property
    def joined(self) -> int:
        """How many dimensions are joined, those in bridges as well."""
        return sum(1 + (0 if join.bridge is None else len(join.bridge.joins)) for join in self.joins.values())

    def trees(self) -> Iterator[exp.Expr]:
        """All trees."""
        yield from (tree for _, tree in self.select)
        yield from filter(None, (self.where, self.having))
        yield from self.group
        yield from (tree for tree, *_ in self.order)
        yield from (join.on for join in self.joins.values())
