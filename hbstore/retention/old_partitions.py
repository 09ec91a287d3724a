"""Which partitions of a table are older than it keeps them.

A partition has an age from the end of its time on: a day of 2013-01-01 ends as 2013-01-02 begins. Times are in UTC. A
partition whose time cannot be told is never old.

The column whose times count is the one that is named, else the first time partition column of the table's timelines,
else its only partition column that is a date or a timestamp, else its only partition column. The time is

* of a date, that day, and of a timestamp, that moment;
* where the table declares update periods, that of the partition's;
* of other values what is written like a time of an update period up to months (``2013-01-01-05``, ``2013-W05``,
  ``2013-01``), or ``20130101`` and ``2013010105``. Quarters and years have to be declared: ``2013-01`` is a month, and
  ``2013`` may be any number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias

from hbstore.errors import InvalidInput, InvalidTime
from hbstore.keys.row_key import TAG_VALUE, text_cell, value_part
from hbstore.keys.types import ColumnType, DateType, StringType, TimestampType
from hbstore.model.objects import Table
from hbstore.model.retention import Retention
from hbstore.model.structs import partition_values
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.store.time_columns import TimeColumns
from hbstore.times.moments import DAY, SECOND, moment, sql_text
from hbstore.times.update_period import UpdatePeriod

_End: TypeAlias = Callable[[bytes], int | None]
"""The moment at which the time of a partition ends, by its stored bytes; None where that cannot be told."""

_LARGEST: Final = UpdatePeriod.MONTHLY
_UNIX_EPOCH: Final = moment(datetime(1970, 1, 1, tzinfo=UTC))
_UNDECLARED: Final = [period for period in UpdatePeriod if UpdatePeriod.SECONDLY.rank <= period.rank <= _LARGEST.rank]
"""Periods whose times are known by how they are written, each in another way."""
_DIGITS: Final = re.compile("([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class OldPartitions:
    """The partitions of a table that are older than it keeps them.

    Attributes:
        payloads: as they are stored, in key order.
        timeless: how many partitions were met whose time cannot be told; they stay.
    """

    payloads: Sequence[bytes]
    timeless: int


def old_partitions(store: PartitionStore, table: Table, retention: Retention, now: datetime) -> OldPartitions:
    """The partitions that are older than a table keeps them. O(partitions whose values are below those of the age).

    Args:
        store: the catalog.
        table: their table.
        retention: how long it keeps them.
        now: the time.

    Raises:
        InvalidInput: the table does not say which column holds times.
        InvalidTime: the age goes back behind the year 1.

    >>> from datetime import timedelta, timezone
    >>> from hbstore.model.retention import Retention
    >>> now = datetime(2013, 1, 5, 12, tzinfo=timezone.utc)
    >>> len(old_partitions(store, store.get_table("shop", "sales"), Retention(timedelta(days=2)), now).payloads)
    48
    """
    column = _column(table, retention)
    before = (now - retention.age).astimezone(UTC)
    last, end = moment(before), _end_of(table, column)

    def collect(_: TableRow, __: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> OldPartitions:
        old: list[bytes] = []
        timeless = 0
        for payload in (payload for batch in batches for payload in batch):
            ended = end(payload)
            timeless += ended is None
            if ended is not None and ended <= last:
                old.append(payload)
        return OldPartitions(old, timeless)

    return store.read_payloads(table.database, table.name, _filter(table, column, before), collect)


def _column(table: Table, retention: Retention) -> str:
    if retention.column is not None:
        return retention.column
    times = TimeColumns.of(table)
    if times is not None:
        return times.declaration.columns[0]
    names = table.partition_column_names
    dated = [name for name, kind in zip(names, table.key_types, strict=True) if _is_time(kind)]
    for candidates in (dated, names):
        if len(candidates) == 1:
            return candidates[0]
    if not names:
        raise InvalidInput(
            "the table has no partition columns", table=table, hint="Only partitions expire: name another table"
        )
    raise InvalidInput(
        "which partition column holds the time of a partition cannot be told",
        table=table,
        columns=", ".join(names),
        hint="Name it in the table's parameter hbstore.retention.column, or with --column of `hbstore expire`",
    )


def _filter(table: Table, column: str, before: datetime) -> str | None:
    """A filter that leaves out most partitions that are not old, where values are in the order of their times."""
    kind = table.key_types[table.partition_column_names.index(column)]
    name = "`" + column.replace("`", "``") + "`"
    if _is_time(kind):
        text = sql_text(before)
        return f"{name} < '{text[:10]}'" if isinstance(kind, DateType) else f"{name} <= '{text[:19]}'"
    return f"{name} < '{before.year + 1:04}'" if isinstance(kind, StringType) else None


def _end_of(table: Table, column: str) -> _End:
    at = table.partition_column_names.index(column)
    kind, times = table.key_types[at], TimeColumns.of(table)
    declared = times if times is not None and column in times.declaration.columns else None

    def end(payload: bytes) -> int | None:
        values = partition_values(payload)
        if declared is None:
            return _end_of_value(kind, values[at])
        cells = [text_cell(key_type, text) for key_type, text in zip(table.key_types, values, strict=True)]
        for name, index in declared.stored_times(cells, payload):
            period, _, timed = name.partition(".")
            if timed == column:
                return UpdatePeriod[period].moment(index + 1)
        return None

    return end


def _end_of_value(kind: ColumnType, text: str) -> int | None:
    if not isinstance(kind, DateType | TimestampType):
        return _end_of_text(text)
    cell = text_cell(kind, text)
    if cell[:1] != TAG_VALUE:
        return None
    if isinstance(kind, DateType):
        return kind.decode(value_part(kind, cell)[1:]).toordinal() * DAY
    seconds, nanoseconds = kind.decode(value_part(kind, cell)[1:])
    return _UNIX_EPOCH + seconds * SECOND - (-nanoseconds // 1_000)


def _end_of_text(text: str) -> int | None:
    """When a time that is written out ends.

    >>> from hbstore.times.moments import time_at
    >>> [time_at(_end_of_text(text)).isoformat() for text in ("2013-01-01-05", "20130101")]
    ['2013-01-01T06:00:00+00:00', '2013-01-02T00:00:00+00:00']
    >>> _end_of_text("eu")
    """
    digits = _DIGITS.fullmatch(text)
    written = text if digits is None else "-".join(filter(None, digits.groups()))
    for period in _UNDECLARED:
        if len(written) == len(period.pattern):
            with suppress(InvalidTime):
                return period.moment(period.parse_index(written) + 1)
    return None


def _is_time(kind: ColumnType) -> bool:
    return isinstance(kind, DateType | TimestampType)
