"""The times of partitions: what their cells say in the time partition columns of their table."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, TypeAlias

from hbstore.errors import CorruptRow, InvalidTime, TimelineMismatch
from hbstore.keys.partition_names import partition_name
from hbstore.keys.row_key import TAG_NULL, TAG_TEXT, TAG_VALUE, cell_text, text_cell, value_part
from hbstore.keys.types import ColumnType, DateType, TimestampType
from hbstore.model.objects import Table
from hbstore.model.structs import partition_from_payload
from hbstore.timelines.declaration import LATEST, PARTITION_UPDATE_PERIOD, Declaration, declaration_of
from hbstore.timelines.runs import Runs
from hbstore.times.moments import DAY, DAY_SECONDS, SECOND, time_at
from hbstore.times.update_period import UpdatePeriod

TimelineName: TypeAlias = str
"""Which timeline of a table: ``DAILY.dt``."""

Times: TypeAlias = Mapping[TimelineName, Runs]
"""Indexes by timeline."""

_REMEMBERED: Final = 4_096
_LAST_PARTS: Final = {
    part: {f"{number:02}": number for number in range(count)} for part, count in (("HH", 24), ("mm", 60), ("ss", 60))
}
_NAMED: Final = PARTITION_UPDATE_PERIOD.encode()
_UNIX_DAYS: Final = 719_162
"""Days from the first of January of the year 1 to that of 1970."""


def timeline_name(period: UpdatePeriod, column: str) -> TimelineName:
    """Which timeline of a table.

    >>> timeline_name(UpdatePeriod.DAILY, "dt")
    'DAILY.dt'
    """
    return f"{period.name}.{column}"


@dataclass(frozen=True, slots=True)
class _Place:
    """One of the time partition columns.

    Attributes:
        at: which of the table's partition columns.
        column: its name.
        kind: its type.
        names: its timelines, by period.
        known: what was made of cells; shared by columns of one type, as the times in them are mostly the same.
    """

    at: int
    column: str
    kind: ColumnType
    names: Sequence[TimelineName]
    known: dict[bytes, Sequence[int | None] | None]


@dataclass(frozen=True, slots=True)
class TimeColumns:
    """The time partition columns of one definition of a table.

    Attributes:
        table: the table.
        declaration: its update periods and time partition columns.
    """

    table: Table
    declaration: Declaration
    _places: tuple[_Place, ...]
    _only: _Place | None
    _known: dict[bytes | tuple[str | bytes | None, ...], list[tuple[TimelineName, int]]] = field(default_factory=dict)

    def afresh(self) -> TimeColumns:
        """The same, with nothing remembered."""
        known: dict[ColumnType, dict[bytes, Sequence[int | None] | None]] = {}
        places = tuple([replace(place, known=known.setdefault(place.kind, {})) for place in self._places])
        return TimeColumns(self.table, self.declaration, places, places[0] if self._only else None)

    @staticmethod
    def of(table: Table) -> TimeColumns | None:
        """Those of a table; None if it keeps no timelines.

        Raises:
            UnknownUpdatePeriod, TimelineMismatch: its parameters declare what cannot be.
        """
        declared = declared_by(table)
        if declared is None:
            return None
        columns, periods = table.partition_column_names, declared.periods
        indexes_of_cells: dict[ColumnType, dict[bytes, Sequence[int | None] | None]] = {}
        places = []
        for column in declared.columns:
            at = columns.index(column)
            kind = table.key_types[at]
            names = [timeline_name(period, column) for period in periods]
            places.append(_Place(at, column, kind, names, indexes_of_cells.setdefault(kind, {})))
        return TimeColumns(table, declared, tuple(places), places[0] if len(places) == 1 else None)

    def names(self) -> list[tuple[TimelineName, UpdatePeriod, str]]:
        """The timelines that the table keeps, those of the smallest period first."""
        declared = self.declaration
        return [(timeline_name(one, column), one, column) for one in declared.periods for column in declared.columns]

    def times(self, cells: Sequence[bytes], parameters: Mapping[str, str]) -> list[tuple[TimelineName, int]]:
        """The times of a partition: which timeline, which index. None for columns that hold no time. O(columns).

        The list is shared by partitions of the same times: not to be changed.

        Args:
            cells: those of all partition columns.
            parameters: the partition's.

        Raises:
            InvalidTime: a value is no time of the partition's update period, or none can be told from the values.
            TimelineMismatch: the table does not have the update period that the partition names.
        """
        named = parameters.get(PARTITION_UPDATE_PERIOD)
        if named is None and self._only is not None:
            key: bytes | tuple[str | bytes | None, ...] = cells[self._only.at]
        else:
            key = (named, *[cells[place.at] for place in self._places])
        times = self._known.get(key)
        if times is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            times = self._known[key] = self._read(cells, named)
        return times

    def known_times(self, cells: Sequence[bytes], parameters: Mapping[str, str]) -> list[tuple[TimelineName, int]]:
        """The times of a partition that is there already; none where they cannot be told."""
        with suppress(InvalidTime, TimelineMismatch):
            return self.times(cells, parameters)
        return []

    def times_in(self, cells: Sequence[bytes], payload: bytes) -> list[tuple[TimelineName, int]]:
        """The times of a partition by its bytes, which are decoded only where they matter: that takes the most time.

        Raises:
            InvalidTime, TimelineMismatch: as `times` does.
        """
        at = payload.find(_NAMED)
        if at < 0:
            return self.times(cells, {})
        if payload.find(_NAMED, at + 1) < 0:
            # Wherever in the bytes the one name stands: if the period behind it is the only one that the values fit,
            # that is the partition's, whether it says so or not.
            inferred = self.known_times(cells, {})
            if inferred and payload.startswith(_text(inferred[0][0].partition(".")[0]), at + len(_NAMED)):
                return inferred
        parameters: Mapping[str, str] = {}
        with suppress(CorruptRow):  # what cannot be read names no period, and can be dropped all the same
            parameters = partition_from_payload(payload).parameters
        return self.times(cells, parameters)

    def stored_times(self, cells: Sequence[bytes], payload: bytes) -> list[tuple[TimelineName, int]]:
        """As `times_in`; none where they cannot be told."""
        with suppress(InvalidTime, TimelineMismatch):
            return self.times_in(cells, payload)
        return []

    def cell(self, column: str, period: UpdatePeriod, index: int) -> bytes:
        """What the cells of partitions of a time begin with in a column: the value's own."""
        at = self.table.partition_column_names.index(column)
        kind = self.table.key_types[at]
        if isinstance(kind, DateType | TimestampType):
            text = time_at(period.moment(index)).isoformat(" ")[:19]
            return text_cell(kind, text[:10] if isinstance(kind, DateType) else text)
        return value_part(kind, text_cell(kind, period.format_index(index)))

    def place(self, column: str) -> int:
        """Which of the partition columns a time partition column is."""
        return self.table.partition_column_names.index(column)

    def _read(self, cells: Sequence[bytes], named: str | None) -> list[tuple[TimelineName, int]]:
        if self._only is None:
            indexes_by_place = [self._indexes(place, cells[place.at]) for place in self._places]
        else:  # of one column, all that is worth remembering are the times themselves
            indexes_by_place = [indexes := self._indexes_in(self._only.kind, cells[self._only.at])]
            if named is None and indexes is not None:  # the short way for most partitions
                times = [(name, at) for name, at in zip(self._only.names, indexes, strict=True) if at is not None]
                if len(times) == 1:
                    return times
        held = [indexes for indexes in indexes_by_place if indexes is not None]
        if named is not None:
            chosen = self._named(named, cells)
        elif held:
            chosen = self._inferred(cells, held)
        else:
            return []
        times = []
        for place, indexes in zip(self._places, indexes_by_place, strict=True):
            if indexes is None:
                continue
            index = indexes[chosen]
            if index is None:
                period = self.declaration.periods[chosen]
                raise InvalidTime(
                    "a partition value is not a time of its update period",
                    table=self.table,
                    partition=self.partition(cells),
                    column=place.column,
                    period=period.name,
                    expected=period.pattern,
                    hint=f"Correct the value, or the partition's parameter {PARTITION_UPDATE_PERIOD}",
                )
            times.append((place.names[chosen], index))
        return times

    def _indexes(self, place: _Place, cell: bytes) -> Sequence[int | None] | None:
        """The index of a cell in each of the declared periods that it is a time of; None if it holds no time."""
        try:
            return place.known[cell]
        except KeyError:
            found = self._indexes_in(place.kind, cell)
        if len(place.known) >= _REMEMBERED:
            place.known.clear()
        place.known[cell] = found
        return found

    def _indexes_in(self, kind: ColumnType, cell: bytes) -> Sequence[int | None] | None:
        tag, periods = cell[:1], self.declaration.periods
        cell = value_part(kind, cell)
        if tag == TAG_NULL:
            return None
        if tag == TAG_VALUE and isinstance(kind, DateType):
            moment = (kind.decode(cell[1:]).toordinal() - 1) * DAY
            return tuple([_at_moment(period, moment) for period in periods])
        if tag == TAG_VALUE and isinstance(kind, TimestampType):
            seconds, nanoseconds = kind.decode(cell[1:])
            moment = (seconds + _UNIX_DAYS * DAY_SECONDS) * SECOND
            return tuple([None if nanoseconds else _at_moment(period, moment) for period in periods])
        text = cell_text(kind, cell)
        if text == LATEST:
            return None
        if tag == TAG_TEXT:  # it does not fit its column's type
            return (None,) * len(periods)
        return tuple([_of_text(period, text) for period in periods])

    def _named(self, name: str, cells: Sequence[bytes]) -> int:
        """Which of the declared periods a partition names."""
        upper = name.upper()
        for at, period in enumerate(self.declaration.periods):
            if period.value == upper:
                return at
        raise TimelineMismatch(
            "the table does not have the partition's update period",
            table=self.table,
            partition=self.partition(cells),
            period=name,
            update_periods=", ".join(one.name for one in self.declaration.periods),
            hint=f"Correct the partition's parameter {PARTITION_UPDATE_PERIOD}, or the table's",
        )

    def _inferred(self, cells: Sequence[bytes], held: Sequence[Sequence[int | None]]) -> int:
        """Which of the declared periods is the only one that all times fit."""
        periods = self.declaration.periods
        fitting = [at for at, found in enumerate(zip(*held, strict=True)) if None not in found]
        if len(fitting) == 1:
            return fitting[0]
        why = "fit several of the table's update periods" if fitting else "fit none of the table's update periods"
        raise InvalidTime(
            f"the values of the partition {why}",
            table=self.table,
            partition=self.partition(cells),
            update_periods=", ".join(period.name for period in [periods[at] for at in fitting] or periods),
            hint=f"Correct the values, or name the period in the partition's parameter {PARTITION_UPDATE_PERIOD}",
        )

    def partition(self, cells: Sequence[bytes]) -> str:
        """The name of a partition by its cells."""
        values = tuple(map(cell_text, self.table.key_types, cells))
        return partition_name(self.table.partition_column_names, values)


@dataclass(frozen=True, slots=True)
class AffectedTimes:
    """Which times of a table's partitions a change brings, and which it may take away, by timeline.

    Attributes:
        added: of partitions that are there afterwards.
        lost: of partitions that are not, or that have other times; other partitions may have these still.
        payloads: of the partitions that lose times or leave, as they are stored before the change.
    """

    added: Times = field(default_factory=dict)
    lost: Times = field(default_factory=dict)
    payloads: frozenset[bytes] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.added or self.lost)

    def names(self) -> list[TimelineName]:
        """The timelines that are affected, sorted."""
        return sorted({*self.added, *self.lost})


def declared_by(table: Table) -> Declaration | None:
    """What timelines a table declares; None if it keeps none.

    Raises:
        UnknownUpdatePeriod, TimelineMismatch: it declares what cannot be.
    """
    return declaration_of(table.parameters, table.partition_column_names)


def collected(times: Iterable[tuple[TimelineName, int]]) -> dict[TimelineName, Runs]:
    """Times by timeline."""
    found: dict[TimelineName, list[int]] = {}
    for name, index in times:
        found.setdefault(name, []).append(index)
    return {name: Runs.of(indexes) for name, indexes in found.items()}


def _at_moment(period: UpdatePeriod, moment: int) -> int | None:
    index = period.floor_index(moment)
    return index if period.moment(index) == moment else None


def _of_text(period: UpdatePeriod, text: str) -> int | None:
    if len(text) != len(period.pattern):  # a look that spares most of the errors
        return None
    parts = _LAST_PARTS.get(period.pattern[-2:])
    try:
        if parts is None or text[-2:] not in parts:
            return period.parse_index(text)
        return _first_index(period, text[:-2]) + parts[text[-2:]]
    except InvalidTime:
        return None


@lru_cache(maxsize=1_024)
def _first_index(period: UpdatePeriod, text: str) -> int:
    """The index of the first hour of a day, the first minute of an hour, …: those behind it are counted, not parsed."""
    return period.parse_index(f"{text}00")


def _text(text: str) -> bytes:
    """A text as it stands in a partition's bytes."""
    return struct.pack(">I", len(text)) + text.encode()
