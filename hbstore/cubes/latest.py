"""The partition `latest` of a dimension table: a copy of its newest, for each combination of the other columns.

    dt=2015-01-28/region=eu    dt=2015-01-29/region=eu    dt=latest/region=eu    -> the files of 2015-01-29
    dt=2015-01-28/region=us                               dt=latest/region=us    -> the files of 2015-01-28

Each partition is a full load of the dimension: newer ones hold all that older ones do, so `latest` is what is asked. It
changes together with the partitions, in one change of the store. Every change of a combination gives its `latest` a new
version and is made only if the old one is still there: of two at the same time one is made anew, and so what it lists
is what there is.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite
from typing import Final, TypeAlias

from hbstore.cubes.descriptions import value_text
from hbstore.cubes.logical_tables import StorageTable
from hbstore.errors import InvalidTime
from hbstore.filters.builder import Expression, literal
from hbstore.filters.tree import And, Comparison, ExpressionTree, IsNull, Operator, SpecValue, Timestamp, joined
from hbstore.keys.partition_names import partition_name
from hbstore.keys.row_key import NULL_PARTITION, TAG_VALUE, cell_text, text_cell, value_part
from hbstore.keys.types import ColumnType, DateType, StringType, TimestampType, read_value
from hbstore.model.objects import Partition, Table
from hbstore.store.table_step import TableStep
from hbstore.timelines import UpdatePeriod
from hbstore.timelines.declaration import LATEST

Values: TypeAlias = tuple[str, ...]

LATEST_VERSION: Final = "cube.storagetable.latest.version"
_LISTED: Final = 20
"""Combinations that are listed one by one; more, and the whole table is."""


def latest_time_key(column: str) -> str:
    """The parameter of `latest` that says the newest partition's time; Lens's name of it.

    >>> latest_time_key("dt")
    'cube.storagetable.dt.latest.part.timestamp'
    """
    return f"cube.storagetable.{column}.latest.part.timestamp"


@dataclass(frozen=True, slots=True)
class FullLoads:
    """The partitions of a dimension table on one storage.

    Attributes:
        table: the storage table.
        period: its update period.
        column: its time partition column.
    """

    table: Table
    period: UpdatePeriod
    column: str

    @staticmethod
    def of(table: Table, on: StorageTable) -> FullLoads | None:
        """Those of a storage table; None if it has no times."""
        if not on.update_periods:
            return None
        return FullLoads(table, on.update_periods[0], on.time_partition_columns[0])

    def change(
        self, step: TableStep, add: Sequence[Partition], put: Sequence[Partition], drop: Sequence[Values]
    ) -> None:
        """Add, replace and drop partitions, and let `latest` follow in the combinations that they are in.

        Raises:
            AlreadyExists: one that is added is there already.
        """
        gone = set(drop)
        changed = [*gone, *(partition.values for partition in (*add, *put))]
        combinations = {self.latest_values(values) for values in changed}
        latest_before = {latest.values: latest for latest in step.partitions(list(combinations))}
        times = {(self.latest_values(values), self._time_in(values)) for values in gone}
        newest = {
            values: latest
            for values, latest in latest_before.items()
            if self._time(latest) is not None and (values, self._time(latest)) not in times
        }
        newest |= self._newest_of(step, combinations - newest.keys(), gone)
        for partition in (*add, *put):
            values = self.latest_values(partition.values)
            if values not in newest or self._newness(partition) >= self._newness(newest[values]):
                newest[values] = partition
        latest_put = (self._latest(values, partition) for values, partition in newest.items())
        latest_gone = latest_before.keys() - newest.keys()
        step.change(add=add, put=[*put, *latest_put], drop=[*drop, *latest_gone], unchanged=combinations)

    def latest_values(self, values: Sequence[str]) -> Values:
        """The values of `latest` in the combination that some values are in, however they are spelled."""
        plain, at = plain_values(self.table, values), self._time_at
        return (*plain[:at], LATEST, *plain[at + 1 :])

    def copied(self, copies: Iterable[Partition]) -> list[Values]:
        """The values of the partitions that some called `latest` are copies of, whether they are there or not."""
        at = self._time_at
        kind, index = self.table.key_types[at], self.period.index
        times = [(copy.values, self._time(copy)) for copy in copies]
        return [(*v[:at], value_text(kind, self.period, index(time)), *v[at + 1 :]) for v, time in times if time]

    @property
    def _time_at(self) -> int:
        return self.table.partition_column_names.index(self.column)

    def _newest_of(
        self, step: TableStep, combinations: Collection[Values], gone: set[Values]
    ) -> dict[Values, Partition]:
        """The newest partition of each combination but those that go; O(partitions of the combinations)."""
        filters = [self._filter(values) for values in combinations]
        newest: dict[Values, Partition] = {}
        for where in [None] if len(filters) > _LISTED or None in filters else filters:
            for partition in step.select(where):
                values = self.latest_values(partition.values)
                if (
                    values in combinations
                    and partition.values not in gone
                    and self._time_in(partition.values) is not None
                ):
                    best = newest.get(values)
                    if best is None or self._newness(partition) > self._newness(best):
                        newest[values] = partition
        return newest

    def _filter(self, values: Values) -> Expression | None:
        """The partitions of a combination; None: all."""
        columns = zip(self.table.partition_column_names, self.table.key_types, values, strict=True)
        leaves = [_has_value(name, kind, text) for name, kind, text in columns if name != self.column]
        return Expression(joined(And, leaves)) if leaves else None

    def _latest(self, values: Values, newest: Partition) -> Partition:
        time = self._newness(newest)
        location = newest.location
        if location is None and self.table.location is not None:
            location = f"{self.table.location.rstrip('/')}/{self._name(newest.values)}"
        own = {latest_time_key(self.column): self.period.format(time), LATEST_VERSION: secrets.token_hex(8)}
        return replace(newest, values=values, location=location, parameters={**newest.parameters, **own})

    def _newness(self, one: Partition) -> datetime:
        time = self._time(one)
        assert time is not None
        return time

    def _time(self, one: Partition) -> datetime | None:
        """The time of a partition, or of the newest one that `latest` is a copy of; None if it has none."""
        if one.values[self._time_at] != LATEST:
            return self._time_in(one.values)
        with suppress(InvalidTime):
            return self.period.parse(one.parameters.get(latest_time_key(self.column), ""))
        return None

    def _time_in(self, values: Sequence[str]) -> datetime | None:
        text, kind = values[self._time_at], self.table.key_types[self._time_at]
        with suppress(InvalidTime, ValueError):
            if not isinstance(kind, DateType | TimestampType):
                return self.period.parse(text)
            cell = text_cell(kind, text)
            if cell[:1] != TAG_VALUE:
                return None
            time = datetime.fromisoformat(cell_text(kind, value_part(kind, cell))).replace(tzinfo=UTC)
            return self.period.time(self.period.index(time))
        return None

    def _name(self, values: Sequence[str]) -> str:
        return partition_name(self.table.partition_column_names, values)


def plain_values(table: Table, values: Sequence[str]) -> Values:
    """Values as their types spell them: an int's ``05`` is ``5``. A text that is no value stays as it is."""
    return tuple(map(_plain_text, table.key_types, values))


def _plain_text(kind: ColumnType, text: str) -> str:
    value = None if text == NULL_PARTITION else read_value(kind, text)
    return text if value is None else kind.text(value)


def _has_value(column: str, kind: ColumnType, text: str) -> ExpressionTree:
    """The partitions that have a value, however it is spelled."""
    if text == NULL_PARTITION:
        return IsNull(column)
    value = read_value(kind, text)
    if value is None or isinstance(kind, StringType) or (isinstance(value, float) and not isfinite(value)):
        return SpecValue(column, text)
    return Comparison(column, Operator.EQ, Timestamp(value) if isinstance(value, tuple) else literal(value))
