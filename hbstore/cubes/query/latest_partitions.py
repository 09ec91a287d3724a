"""Which partitions of a dimension table are its latest, as a condition of SQL and as a filter of the store.

A column of strings has the value ``latest``, under which the newest partition of each combination of the other columns
is there a second time. A column of dates or timestamps has no such value in SQL, so the newest partitions themselves
are asked for: ``dt = DATE '2015-01-29' AND region = 'eu' OR dt = DATE '2015-01-28' AND region = 'us'``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from sqlglot import exp

from hbstore.cubes.latest import FullLoads, Values, plain_values
from hbstore.cubes.logical_tables import StorageTable
from hbstore.cubes.query.times import in_session
from hbstore.errors import PartitionNotFound, UnsupportedQuery
from hbstore.filters.builder import Expression, col, spec_filter
from hbstore.filters.tree import Or, joined
from hbstore.keys.partition_names import partition_name
from hbstore.keys.row_key import NULL_PARTITION, after_cell, text_cell
from hbstore.keys.types import StringType, TimestampType, parse_type
from hbstore.model.objects import Partition, Table
from hbstore.model.structs import partition_from_payload, partition_values
from hbstore.rows.interface import Rows
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.texts.wording import clipped
from hbstore.timelines.declaration import LATEST

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

    One read of the table's row. O(partitions) where a column of times has other partition columns beside it.

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

    def look(row: TableRow, _: object, batches: Iterator[Sequence[bytes]]) -> Latest | str:
        loads = FullLoads.of(row.table, on)
        assert loads is not None  # as it has an update period
        return _newest(loads, _Partitions.of(row.unpacked(store.rows), row, column, chain.from_iterable(batches)))

    # A table that has this column alone is asked for two partitions by their names, not for all.
    return store.read_payloads(database, name, None, look, max_parts=0 if len(on.partition_columns) == 1 else -1)


@dataclass(frozen=True, slots=True)
class _Partitions:
    """The partitions of a dimension table as they were at one moment.

    Attributes:
        rows: where they are.
        row: the table's.
        at: the place of the time partition column.
        stored: the partitions' bytes by their values, as `plain_values` has them; empty where the table has only times,
            of which the few that matter are read.
    """

    rows: Rows
    row: TableRow
    at: int
    stored: Mapping[Values, list[bytes]]

    @staticmethod
    def of(rows: Rows, row: TableRow, column: str, payloads: Iterable[bytes]) -> _Partitions:
        """Those of a table, with the bytes of all of them where it has other partition columns."""
        stored: dict[Values, list[bytes]] = {}
        for payload in payloads:
            stored.setdefault(plain_values(row.table, partition_values(payload)), []).append(payload)
        return _Partitions(rows, row, row.table.partition_column_names.index(column), stored)

    @property
    def has_times_alone(self) -> bool:
        """Whether there is no other partition column."""
        return len(self.row.table.partition_column_names) == 1

    def copies(self) -> list[Partition]:
        """Those called `latest`, which is no value that a filter could compare with in a column of times."""
        if self.has_times_alone:
            payloads = self._get(LATEST)
        else:
            stored = (payloads for values, payloads in self.stored.items() if values[self.at] == LATEST)
            payloads = list(chain.from_iterable(stored))
        return list(map(partition_from_payload, payloads))

    def of_values(self, values: Values) -> list[Values]:
        """The values of the partitions that have some, as they are spelled there."""
        payloads = self._get(values[0]) if self.has_times_alone else self.stored.get(values, [])
        return list(map(partition_values, payloads))

    def count_at(self, time: str) -> int:
        """How many there are with a value of the time partition column, of which there is one at least."""
        return 1 if self.has_times_alone else sum(values[self.at] == time for values in self.stored)

    def _get(self, text: str) -> list[bytes]:
        prefix, kind = self.row.definition.prefix, self.row.table.key_types[0]
        cell = text_cell(kind, text)
        return list(chain.from_iterable(self.rows.payloads(prefix + cell, prefix + after_cell(kind, cell))))


def _newest(loads: FullLoads, partitions: _Partitions) -> Latest | str:
    """The newest partitions; if there are none, a text that says why."""
    table, at = loads.table, partitions.at
    newest = loads.copied(partitions.copies())
    if not newest:
        return f"it has no partition {LATEST}"
    spelled = list(map(partitions.of_values, newest))
    if not all(spelled):
        return f"a partition is gone of which {LATEST} is a copy; register it, or a newer one, again"
    names = table.partition_column_names
    for same in spelled:
        if len(same) > 1:
            shown = " and ".join(partition_name(names, values) for values in same)
            return f"{shown} have the same values, so that both would be read; drop one of them"
    times = {values[at] for values in newest}
    if len(times) == 1 and partitions.count_at(newest[0][at]) == len(newest):
        condition = _each(table, (loads.column,), [(newest[0][at],)])  # all partitions of this time are latest ones
    else:
        condition = _each(table, names, newest)
    specs = (spec_filter(dict(zip(names, values, strict=True))) for (values,) in spelled)
    return Latest(condition, Expression(joined(Or, [spec.tree for spec in specs if spec is not None])))


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
    kinds = {column.name: column.type for column in table.partition_columns}
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
