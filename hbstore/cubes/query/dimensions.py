"""Dimension tables of a query: the lightest that has the columns, read by its partition `latest`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlglot import exp

from hbstore.cubes.concepts import Dimension
from hbstore.cubes.query.candidates import COLUMN_NOT_FOUND, Candidate, say_whose
from hbstore.cubes.query.latest_partitions import Latest, latest_of
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.star import Star
from hbstore.errors import ConcurrentChange, NoCandidate, TableNotFound
from hbstore.filters.builder import Expression

_READS: Final = "hbstore.reads"
"""What a WHERE has in its `meta` that asks for some partitions of a dimension table: the filter of these."""


def dimension_rows(star: Star, dimension: Dimension, columns: Iterable[str], options: QueryOptions) -> exp.Select:
    """The query of a dimension's rows, from the lightest table that has some columns.

    Raises:
        NoCandidate: there is none; the error says why of each.
        TableNotFound: the lightest one's table is not in the catalog.
        ConcurrentChange: another writer altered or dropped it meanwhile.
    """
    store, database = star.catalog.store, star.catalog.database
    wanted = set(columns)
    refused: list[Candidate] = []
    for one in star.dimtables(dimension):
        for on in one.storage_tables:
            name = one.table_name(on.storage)
            candidate = Candidate(name, one.name, on.storage, one.weight or 0.0)
            barred = options.bars_dimension_table(on.storage, name)
            if barred is not None:
                refused.append(_refused(candidate, *barred))
                continue
            there = {column.name for column in one.columns} | {column.name for column in on.partition_columns}
            missing = sorted(wanted - there)
            if missing:
                refused.append(_refused(candidate, COLUMN_NOT_FOUND, f"it has no {', '.join(missing)}"))
                continue
            try:
                if not on.update_periods or not on.time_partition_columns:
                    store.get_table(database, name)
                    return _select(database, name, wanted, None)
                latest = latest_of(store, database, name, on)
            except TableNotFound as error:
                if star.catalog.find("dimtable", one.name) != one:
                    raise ConcurrentChange(
                        "another writer altered or dropped the dimension table while the query was answered",
                        dimtable=one.name,
                        hint="Ask again",
                    ) from None
                say_whose(error, one, on.storage)
                raise
            if isinstance(latest, str):
                refused.append(_refused(candidate, "NO_PARTITIONS", latest))
            else:
                return _select(database, name, wanted, latest)
    raise NoCandidate(
        "no table of the dimension has what the query asks for",
        cause="NO_CANDIDATE_DIM_AVAILABLE",
        dimension=dimension.name,
        columns=", ".join(sorted(wanted)) or "none",
        why="; ".join(map(str, refused)) or "it has no tables",
        candidates=refused,
        hint="Create a table that has these columns, or register a partition of one",
    )


def _refused(candidate: Candidate, cause: str, detail: str) -> Candidate:
    return Candidate(candidate.table, candidate.fact, candidate.storage, candidate.weight, cause=cause, detail=detail)


def _select(database: str, table: str, columns: Iterable[str], latest: Latest | None) -> exp.Select:
    """The query of columns of a table, of all its rows or of its latest partitions."""
    made = exp.select(*(exp.column(one, quoted=True) for one in sorted(columns)))
    made = made.from_(exp.table_(table, db=database, quoted=True))
    if latest is None:
        return made
    made = made.where(latest.condition, copy=False)
    made.args["where"].meta[_READS] = latest.reads
    return made


def dimension_reads(query: exp.Expr) -> dict[str, Expression | None]:
    """By dimension table of a written query, the filter of the partitions that it reads; None where it reads all."""
    found: dict[str, Expression | None] = {}
    for table in query.find_all(exp.Table):
        where = table.parent_select.args.get("where") if table.parent_select is not None else None
        if where is None:
            found[table.name] = None
        elif _READS in where.meta:
            found[table.name] = where.meta[_READS]
    return found
