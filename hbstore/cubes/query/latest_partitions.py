"""Which partitions of a dimension table are its latest, as a condition of SQL and as a filter of the store.

A column of strings has the value ``latest``, under which the newest partition of each combination of the other columns
is there a second time. A column of dates or timestamps has no such value in SQL, so the newest partitions themselves
are asked for: ``dt = DATE '2015-01-29' AND region = 'eu' OR dt = DATE '2015-01-28' AND region = 'us'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from hbstore.cubes.latest import Dumps, Values
from hbstore.cubes.logical_tables import StorageTable
from hbstore.cubes.query.times import in_session
from hbstore.errors import PartitionNotFound, UnsupportedQuery
from hbstore.filters.builder import Expression, col, spec_filter
from hbstore.filters.tree import Or, joined
from hbstore.keys import NULL_PARTITION
from hbstore.model import Table
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines.declaration import LATEST
from hbstore.types import StringType, TimestampType, parse_type
from hbstore.wording import clipped

_MOST: Final = 200
"""Partitions that are asked for one by one."""

_SHOWN: Final = 200
"""Characters of a filter in an error."""


@dataclass(frozen=True, slots=True)
class Latest:
    """The latest partitions of a dimension table.

    Attributes:
        condition: which rows are of these.
        reads: the same as a filter, which has each partition by itself where they are not all called ``latest``.
    """

    condition: exp.Expr
    reads: Expression

    @staticmethod
    def check(table: Table, reads: Expression, partitions: int) -> None:
        """See that as many partitions are read as there were when the query was answered; of ``latest``, one at least.

        Raises:
            PartitionNotFound: one was dropped meanwhile.
        """
        if partitions < (len(reads.tree.children) if isinstance(reads.tree, Or) else 1):
            raise PartitionNotFound(
                "a latest partition of the dimension does not exist any more",
                table=table,
                partition=clipped(str(reads), _SHOWN),
                hint="Somebody dropped it meanwhile; ask again",
            )


def latest_of(store: PartitionStore, database: str, name: str, on: StorageTable) -> Latest | str:
    """The latest partitions of a storage table; if there are none, a text that says why.

    Raises:
        UnsupportedQuery: they are too many to be asked for one by one.
    """
    column = on.time_partition_columns[0]
    kind = next(parse_type(part.type) for part in on.partition_columns if part.name == column)
    if isinstance(kind, StringType):
        if not store.count_partitions(database, name, col(column) == LATEST):
            return f"it has no partition {LATEST}"
        equal = exp.EQ(this=exp.column(column, quoted=True), expression=exp.Literal.string(LATEST))
        return Latest(equal, col(column) == LATEST)
    table = store.get_table(database, name)
    dumps = Dumps.of(store, table, on)
    assert dumps is not None  # as it has an update period
    newest = dumps.newest()
    if not newest:
        return f"it has no partition {LATEST}"
    if len(store.get_payloads(database, name, newest)) < len(newest):
        return f"a partition is gone of which {LATEST} is a copy; register it, or a newer one, again"
    at = table.partition_column_names.index(column)
    times = {values[at] for values in newest}
    if len(times) == 1 and store.count_partitions(database, name, col(column) == newest[0][at]) == len(newest):
        condition = _each(table, (column,), [(newest[0][at],)])  # all partitions of this time are latest ones
    else:
        condition = _each(table, table.partition_column_names, newest)
    specs = (spec_filter(dict(zip(table.partition_column_names, values, strict=True))) for values in newest)
    return Latest(condition, Expression(joined(Or, [one.tree for one in specs if one is not None])))


def _each(table: Table, names: Sequence[str], newest: Sequence[Values]) -> exp.Expr:
    """The condition that some columns have the values of one of some partitions."""
    if len(newest) > _MOST:
        raise UnsupportedQuery(
            "the latest partitions of a dimension table are of different times, and too many",
            table=table,
            partitions=len(newest),
            limit=_MOST,
            hint=f"Let the time partition column be a string, so that all of them are called {LATEST}",
        )
    kinds = {one.name: one.type for one in table.partition_columns}
    conditions = [exp.and_(*(_equal(*pair, kinds) for pair in zip(names, values, strict=True))) for values in newest]
    return exp.or_(*conditions)


def _equal(name: str, value: str, kinds: dict[str, str]) -> exp.Expr:
    column = exp.column(name, quoted=True)
    if value in ("", NULL_PARTITION):
        return exp.Is(this=column, expression=exp.Null())
    text: exp.Expr = exp.Literal.string(value)
    if kinds[name] != "string":
        text = exp.cast(text, kinds[name], dialect="spark")
    if isinstance(parse_type(kinds[name]), TimestampType):
        in_session(text)
    return exp.EQ(this=column, expression=text)
