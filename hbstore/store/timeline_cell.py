"""The cell of a timeline on its table's row, ``t:DAILY.dt``.

    table id     8 bytes     of the table whose partitions they are
    version      8 bytes     random, new with every change: equal times are never taken for the same state
    state        JSON

A stored timeline's state is its class and its properties, as Lens has them. While a timeline is being built from the
partitions, the state is who builds it, until when nobody else should, and the times that were affected meanwhile: of
these the builder looks again. One that is too large for a cell says so, and is as good as none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from hbstore.errors import CorruptTimeline, TimelineTooLarge
from hbstore.rows.interface import TIMELINES, Cells
from hbstore.store.table_row import DEFINITION, table_id_of
from hbstore.store.time_columns import TimeColumns, TimelineName, timeline_name
from hbstore.store.timeline_classes import class_parameter, timeline_class_in
from hbstore.timelines.classes import class_name
from hbstore.timelines.factory import STORAGE_CLASS, convert, property_prefix, timeline_of
from hbstore.timelines.ranges import RangesPartitionTimeline
from hbstore.timelines.runs import Runs
from hbstore.timelines.timeline import PartitionTimeline
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions.transaction import RowView

MAX_CELL: Final = 4 << 20
"""Bytes of a timeline; a change sends it twice, and HBase takes 10 MiB in a cell."""
MAX_TOGETHER: Final = 5 << 20
"""Bytes of all timelines of a table: a rename puts all of them, and lists them in the one cell of a log, in base 64."""

_VERSION: Final = 8


@dataclass(frozen=True, slots=True)
class Stored:
    """A timeline with its properties."""

    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Building:
    """A timeline that is being built.

    Attributes:
        builder: who does so.
        until: seconds since 1970; until then others wait.
        affected: indexes whose partitions came or went since.
    """

    builder: str
    until: float
    affected: Runs


@dataclass(frozen=True, slots=True)
class TooLarge:
    """A timeline that does not fit a cell."""

    size: int


State: TypeAlias = Stored | Building | TooLarge


def cell_name(name: TimelineName) -> str:
    """The cell of a timeline.

    >>> cell_name("DAILY.dt")
    't:DAILY.dt'
    """
    return f"{TIMELINES}{name}"


def encode_state(cells: Cells, columns: TimeColumns, state: State) -> bytes:
    """The cell of a state.

    Args:
        cells: those of the table's row.
        columns: which the table has now; others later make the cell count as none.
        state: what is to be stored.
    """
    content: dict[str, object] = {"declared": str(columns.declaration)}
    if isinstance(state, Stored):
        content["properties"] = dict(state.properties)
    elif isinstance(state, Building):
        content |= {"builder": state.builder, "until": state.until, "affected": list(state.affected)}
    else:
        content["too_large"] = state.size
    return table_id_of(cells[DEFINITION]) + os.urandom(_VERSION) + json.dumps(content, separators=(",", ":")).encode()


def decode_state(cells: Cells, columns: TimeColumns, name: TimelineName) -> State | None:
    """The state of a timeline; None where there is none, or it is another table's or of other columns or periods.

    Raises:
        CorruptTimeline: the cell does not decode.
    """
    data = cells.get(cell_name(name))
    if not data or table_id_of(data) != table_id_of(cells[DEFINITION]):
        return None
    try:
        content = json.loads(data[2 * _VERSION :])
        if content["declared"] != str(columns.declaration):
            return None
        if "builder" in content:
            affected = Runs.of_ranges((int(start), int(stop)) for start, stop in content["affected"])
            return Building(str(content["builder"]), float(content["until"]), affected)
        if "too_large" in content:
            return TooLarge(int(content["too_large"]))
        return Stored({str(key): str(value) for key, value in content["properties"].items()})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(columns, name, f"the cell cannot be decoded: {error}") from None


def stored_timeline(columns: TimeColumns, period: UpdatePeriod, column: str, state: Stored) -> PartitionTimeline:
    """The timeline of a state.

    Raises:
        CorruptTimeline: its properties cannot be read, or contradict themselves.
        UnknownTimelineClass: it is of a class that there is not.
    """
    timeline_class_in(columns, period, column, state.properties.get(STORAGE_CLASS))
    prefix = property_prefix(period, column)
    own = {f"{prefix}{key}": value for key, value in state.properties.items()}
    try:
        return timeline_of(columns.table.name, period, column, own)
    except CorruptTimeline as error:
        name = timeline_name(period, column)
        raise damaged(columns, name, str(error.fields["reason"])) from error


def state_of(timeline: PartitionTimeline) -> Stored | TooLarge:
    """The state of a timeline; where it is too large for a cell and ranges are smaller, it becomes one of ranges."""
    size = 0
    for kind in (type(timeline), RangesPartitionTimeline):
        one = timeline if kind is type(timeline) else convert(timeline, kind)
        try:
            properties = {STORAGE_CLASS: class_name(type(one)), **one.to_properties()}
        except TimelineTooLarge:
            continue
        size = sum(len(value) for value in properties.values())
        if size <= MAX_CELL:
            return Stored(properties)
    return TooLarge(size)


def put_fitting(view: RowView, cells: Cells, columns: TimeColumns, changed: Mapping[TimelineName, bytes]) -> None:
    """Put cells of timelines; the largest of the table's become too large while all together are.

    Args:
        view: the table in a transaction.
        cells: those of its row before.
        columns: its time partition columns.
        changed: the cells of the timelines that change.
    """
    before = {name: cells.get(cell_name(name), b"") for name, _, _ in columns.names()}
    after = before | dict(changed)
    while total_size(after) > MAX_TOGETHER:
        largest = max(after, key=lambda name: len(after[name]))
        after[largest] = encode_state(cells, columns, TooLarge(len(after[largest])))
    for name, cell in after.items():
        if cell != before[name]:
            view.put_cell(cell_name(name), cell)


def total_size(timelines: Mapping[str, bytes]) -> int:
    """Bytes of the cells of timelines."""
    return sum(map(len, timelines.values()))


def with_times(timeline: PartitionTimeline, times: Runs) -> tuple[PartitionTimeline, bool]:
    """A timeline with more times, of ranges where its class would list too many one by one; whether any are new."""
    try:
        return timeline, timeline.add_index_ranges(times)
    except TimelineTooLarge:
        ranges = convert(timeline, RangesPartitionTimeline)
        return ranges, ranges.add_index_ranges(times)


def empty_timeline(columns: TimeColumns, period: UpdatePeriod, column: str) -> PartitionTimeline:
    """An empty timeline of the class that the table's parameters name.

    Raises:
        UnknownTimelineClass: there is no such class.
    """
    name = columns.table.parameters.get(class_parameter(period, column))
    return timeline_class_in(columns, period, column, name)(columns.table.name, period, column)


def damaged(columns: TimeColumns, name: TimelineName, reason: str) -> CorruptTimeline:
    """The error for a cell that does not decode."""
    return CorruptTimeline(
        "a stored timeline is damaged",
        table=columns.table,
        timeline=name,
        reason=reason,
        hint=f"Rebuild it from the partitions: `hbstore timeline rebuild {columns.table}`",
    )
