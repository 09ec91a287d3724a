"""FROM and the time ranges: which cube and dimensions a query asks, and for which times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlglot import exp

from hbstore.cubes.concepts import Cube, DerivedCube
from hbstore.cubes.query.ranges import QueryRange, is_time_range, marker, read_time_range
from hbstore.cubes.query.star import Concept, Star, time_dimensions
from hbstore.cubes.query.text import DIALECT, QueryText
from hbstore.errors import AmbiguousField, UnknownField, did_you_mean

FILTERING_JOINS: Final = ("SEMI", "ANTI")
"""Joins whose dimension is named in ON alone, as it gives rows no columns."""


@dataclass(slots=True)
class Owner:
    """A concept under an alias: what names are looked for in."""

    alias: str
    concept: Concept
    derived: DerivedCube | None = None


def owners_of(query: QueryText, star: Star) -> list[Owner]:
    """The cube and the dimensions of FROM, in their order.

    Raises:
        UnknownField: one is not there.
        AmbiguousField: two have one name.
        UnsupportedQuery: a cube stands behind the first place, or FROM holds more than names.
    """
    owners: list[Owner] = []
    for table in tables_of(query, star.model.database):
        owner = _owner(query, star, table)
        if any(one.alias == owner.alias for one in owners):
            raise query.error(
                AmbiguousField, "two tables have one name", table, name=owner.alias, hint="Give one of them an alias"
            )
        if owners and isinstance(owner.concept, Cube):
            raise query.unsupported(
                "a cube stands first in FROM, and there is one", table, hint="Join dimensions to it"
            )
        owners.append(owner)
    return owners


def _owner(query: QueryText, star: Star, table: exp.Table) -> Owner:
    concept = star.concept(table.name)
    if concept is None:
        star.model.store.get_database(star.model.database)  # which says if that is what is missing
        raise query.error(
            UnknownField,
            "no such cube or dimension",
            table,
            cause="NEITHER_CUBE_NOR_DIMENSION",
            name=table.name,
            hint=did_you_mean(
                table.name,
                (document.name for kind in ("cube", "derived_cube", "dimension") for document in star.model.list(kind)),
                "List them with `hbstore model list`",
            ),
        )
    alias = (table.alias or table.name).lower()
    if isinstance(concept, DerivedCube):
        return Owner(alias, star.base(concept), concept)
    return Owner(alias, concept)


def join_kind(query: QueryText, join: exp.Join) -> str:
    """What kind a join of FROM is: INNER, LEFT, RIGHT, FULL, SEMI or ANTI.

    Raises:
        UnsupportedQuery: it is another, or has no condition.
    """
    kind, side = (join.kind or "").upper(), (join.side or "").upper()
    supported = side in ("", "LEFT") if kind in FILTERING_JOINS else kind in ("", "INNER", "OUTER")
    if not supported or join.args.get("using") or join.args.get("method"):
        raise query.unsupported(
            "a join of another form",
            join,
            hint="Write [LEFT | RIGHT | FULL | LEFT SEMI | LEFT ANTI] JOIN dimension ON a = b",
        )
    on = join.args.get("on")
    if on is None or isinstance(on, exp.Boolean):  # INNER JOIN without ON is read as ON TRUE
        raise query.unsupported(
            "the join has no condition",
            join,
            cause="NO_JOIN_CONDITION_AVAILABLE",
            hint="Write ON, and what the rows that meet have in common",
        )
    return kind if kind in FILTERING_JOINS else side or "INNER"


def cube_of(query: QueryText, star: Star) -> Cube | None:
    """The base cube that a query asks; None where it asks dimensions alone."""
    first = owners_of(query, star)[0].concept
    return first if isinstance(first, Cube) else None


def read_ranges(query: QueryText, star: Star, now: datetime) -> list[QueryRange]:
    """The time ranges of a query; `marker` nodes stand in their places afterwards.

    Raises:
        UnknownField: one is not of a time dimension of the cube.
        UnsupportedQuery: one stands outside of WHERE.
        CubeSyntaxError, TimeRangeSyntaxError, InvalidTimeRange: one is not a range.
    """
    first = owners_of(query, star)[0]
    dimensions = time_dimensions(first.concept)
    where = query.select.args.get("where")
    ranges: list[QueryRange] = []
    for node in [call for call in query.select.find_all(exp.Anonymous) if is_time_range(call)]:
        if where is None or node.find_ancestor(exp.Where) is not where:
            raise query.unsupported("a time range stands outside of WHERE", node, hint="Move it into WHERE, with AND")
        time_range = read_time_range(query, node, now)
        column = time_range.column
        is_its_own = column.table.lower() in ("", first.alias) and column.db.lower() in ("", star.model.database)
        if time_range.dimension not in dimensions or not is_its_own:
            raise query.error(
                UnknownField,
                "not a time dimension of the cube",
                node,
                name=column.sql(DIALECT),
                time_dimensions=", ".join(dimensions) or "none",
                hint=did_you_mean(column.name, dimensions, "Ask for a range of one of the cube's time dimensions"),
            )
        node.replace(marker(len(ranges)))
        ranges.append(time_range)
    return ranges


def tables_of(query: QueryText, database: str) -> list[exp.Table]:
    """The names in FROM; the query's own database may stand before them."""
    items = [query.select.args["from_"].this, *(join.this for join in query.select.args.get("joins") or ())]
    for item in items:
        if not isinstance(item, exp.Table) or not isinstance(item.this, exp.Identifier):
            raise query.unsupported("FROM holds more than names", item, hint="Name a cube or dimensions")
        if item.db and (item.db.lower() != database or item.catalog):
            raise query.unsupported(
                "the query asks a cube of another database",
                item,
                database=database,
                hint=f"Name the cube alone, or ask in the database {item.db}",
            )
        extra = [name for name, value in item.args.items() if value and name not in ("this", "alias", "db")]
        if extra:
            raise query.unsupported(f"FROM cannot hold {extra[0].upper()}", item, hint="Name the cube alone")
    return items
