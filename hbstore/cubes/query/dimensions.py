"""Dimension tables of a query: the lightest that has the columns, read by its partition `latest`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from sqlglot import exp

from hbstore.cubes.concepts import Dimension
from hbstore.cubes.query.candidates import COLUMN_NOT_FOUND, Candidate, say_whose
from hbstore.cubes.query.latest_partitions import Latest
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.star import Star
from hbstore.cubes.rereading import outside_built
from hbstore.cubes.storage_tables import unreadable
from hbstore.errors import ConcurrentChange, NoCandidate, TableNotFound
from hbstore.filters.builder import Expression

_READS: Final = "hbstore.reads"
"""The key in the `meta` of a dimension table's WHERE under which the filter of the partitions stands."""


def dimension_rows(star: Star, dimension: Dimension, columns: Iterable[str], options: QueryOptions) -> exp.Select:
    """The query of a dimension's rows, from the lightest table that has some columns.

    Raises:
        NoCandidate: there is none; the error says why of each.
        TableNotFound: the lightest one's table is not in the catalog.
        ConcurrentChange: another writer altered or dropped it meanwhile.
    """
    store, database = star.model.store, star.model.database
    needed = set(columns)
    refused: list[Candidate] = []
    tables = [(dimtable, on) for dimtable in star.dimtables(dimension) for on in dimtable.storage_tables]
    if len(tables) > 1:  # of those that hbstore.spark can read, the lightest
        tables.sort(key=lambda one: unreadable(one[1]) is not None)
    for dimtable, on in tables:
        name = dimtable.table_name(on.storage)
        candidate = Candidate(name, dimtable.name, on.storage, dimtable.weight or 0.0)
        barred = options.bars_dimension_table(on.storage, name)
        if barred is not None:
            cause, detail = barred
            refused.append(replace(candidate, cause=cause, detail=detail))
            continue
        offered = {column.name for column in dimtable.columns} | {column.name for column in on.partition_columns}
        missing = sorted(needed - offered)
        if missing:
            refused.append(replace(candidate, cause=COLUMN_NOT_FOUND, detail=f"it has no {', '.join(missing)}"))
            continue
        try:
            if not on.update_periods:  # nor time partition columns, as `DimTable` says
                store.get_table(database, name)
                return _select(database, name, needed, None)
            latest = star.latest(name, on)
        except TableNotFound as error:
            if star.model.find("dimtable", dimtable.name) != dimtable:
                raise ConcurrentChange(
                    "another writer altered or dropped the dimension table while the query was answered",
                    dimtable=dimtable.name,
                    hint="Ask again",
                ) from None
            say_whose(error, dimtable, on.storage)
            raise
        if isinstance(latest, str):
            refused.append(replace(candidate, cause="NO_PARTITIONS", detail=latest))
        else:
            return _select(database, name, needed, latest)
    raise NoCandidate(
        "no table of the dimension has what the query asks for",
        cause="NO_CANDIDATE_DIM_AVAILABLE",
        dimension=dimension.name,
        columns=", ".join(sorted(needed)) or "none",
        why="; ".join(map(str, refused)) or "it has no tables",
        candidates=refused,
        hint="Create a table that has these columns, or register a partition of one",
    )


def _select(database: str, table: str, columns: Iterable[str], latest: Latest | None) -> exp.Select:
    """The query of columns of a table, of all its rows or of its latest partitions."""
    select = exp.select(*(exp.column(column, quoted=True) for column in sorted(columns)))
    select = select.from_(exp.table_(table, db=database, quoted=True))
    if latest is None:
        return select
    select = select.where(latest.condition.copy(), copy=False)
    select.args["where"].meta[_READS] = latest.reads
    return select


def dimension_reads(query: exp.Expr) -> dict[str, Expression | None]:
    """By dimension table of a written query, the filter of the partitions that it reads; None where it reads all."""
    reads: dict[str, Expression | None] = {}
    for table in outside_built(query):
        if not isinstance(table, exp.Table):
            continue
        where = table.parent_select.args.get("where") if table.parent_select is not None else None
        if where is None:
            reads[table.name] = None
        elif _READS in where.meta:
            reads[table.name] = where.meta[_READS]
    return reads
