"""Building a table's timelines from its partitions, while others go on writing.

1. Put a *building* state into each timeline's cell. From then on every change of the table's partitions notes there
   which times it touches.
2. Read all partitions. What a change did before it could note anything stands in them.
3. Look again at the times that were touched meanwhile, and put the timeline if nothing was touched since.

Where somebody else begins to build as well, the last one to begin wins and the others do so again. A builder that died
leaves the first state; a reader of the timelines waits until the time that stands there, then builds them.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeGuard

from hbstore.errors import (
    CommitStateUnknown,
    ConcurrentChange,
    CorruptTimeline,
    InvalidTime,
    TimelineMismatch,
    TimelineNotFound,
)
from hbstore.keys import split_key, successor
from hbstore.rows.interface import Rows
from hbstore.store.journal_cell import Journal
from hbstore.store.pauses import pause
from hbstore.store.table_row import DEFINITION, JOURNAL, TableRow, names_of, next_definition, stamp_of
from hbstore.store.tables import Tables
from hbstore.store.time_columns import TimeColumns, TimelineName
from hbstore.store.timeline_cell import (
    Building,
    State,
    cell_name,
    decode_state,
    empty_timeline,
    encode_state,
    state_of,
    with_times,
)
from hbstore.store.timeline_classes import class_parameter, unknown_classes
from hbstore.store.timeline_presence import present
from hbstore.timelines.classes import DEFAULT_CLASS, class_name
from hbstore.timelines.declaration import TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.timelines.factory import PRESENT
from hbstore.timelines.runs import Runs

PATIENCE: Final = 10.0
"""Seconds for which a builder asks others to wait; it asks again in time."""

_ATTEMPTS: Final = 500
_BUILDS: Final = 20
_BEAT: Final = 3.0
_NAMED: Final = 10


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found in partitions.

    Attributes:
        partitions: how many were read.
        times: indexes by timeline.
        left_out: names of the first ten partitions whose times cannot be told.
        left_out_count: how many there were.
        unknown_classes: names of classes that the table named and that there are not; the default took their place.
    """

    partitions: int = 0
    times: dict[TimelineName, Runs] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    left_out_count: int = 0
    unknown_classes: tuple[str, ...] = ()

    def united(self, other: Collected) -> Collected:
        """What was found in both; neither is changed.

        >>> days = Collected(1, {"DAILY.ds": Runs.of([5])})
        >>> days.united(Collected(2, {"DAILY.ds": Runs.of([6])})).times
        {'DAILY.ds': Runs([5], [7])}
        """
        times = {name: runs.copy() for name, runs in self.times.items()}
        for name, runs in other.times.items():
            times.setdefault(name, Runs()).unite(runs)
        return Collected(
            self.partitions + other.partitions,
            times,
            (*self.left_out, *other.left_out)[:_NAMED],
            self.left_out_count + other.left_out_count,
        )


@dataclass(frozen=True, slots=True)
class Build:
    """A build that has begun.

    Attributes:
        row: the table.
        columns: its time partition columns.
        builder: who builds.
    """

    row: TableRow
    columns: TimeColumns
    builder: str


@dataclass(frozen=True, slots=True)
class TimelineBuilder:
    """Builds timelines.

    Attributes:
        rows: where the partitions are.
        tables: the tables.
    """

    rows: Rows
    tables: Tables

    def build(self, database: str, table: str) -> Collected:
        """Build all timelines of a table. O(partitions).

        Raises:
            TimelineNotFound: the table keeps none.
            UnknownTimelineClass: its parameters name a class that there is not; nothing was changed.
            ConcurrentChange: others kept beginning to build as well.
        """
        for attempt in range(_BUILDS):
            begun = self.begin(database, table)
            prefix = begun.row.definition.prefix
            beat = partial(self.beat, begun, PATIENCE)
            found = self.collect(begun.row, begun.columns, prefix, successor(prefix), beat=beat)
            if self.finish(begun, found):
                return found
            pause(10 * attempt)
        raise ConcurrentChange(
            "other processes kept building the table's timelines", table=begun.row.table, hint="Try again"
        )

    def without_unknown_classes(self, database: str, table: str) -> tuple[str, ...]:
        """Have a table name the default in place of classes that there are not; the names of these."""
        row = self.tables.open(database, table)
        unknown = unknown_classes(time_columns(row))
        if unknown:
            default = class_name(DEFAULT_CLASS)
            put_parameters(
                self.rows,
                self.tables,
                row,
                lambda now: {key: default for key, name in unknown.items() if now.get(key) == name},
            )
        return tuple(dict.fromkeys(unknown.values()))

    def begin(self, database: str, table: str, patience: float = PATIENCE) -> Build:
        """Have all changes from now on note what they touch.

        Args:
            database: the database's name.
            table: the table's name.
            patience: seconds for which others shall wait.
        """
        builder = uuid.uuid4().hex
        with self.rows.transaction() if self.rows.atomic else nullcontext():
            row = self.tables.open(database, table)
            columns = time_columns(row)
            for _, period, column in columns.names():
                empty_timeline(columns, period, column)
            state = Building(builder, time.time() + patience, Runs())

            def building(now: TableRow, _: State | None) -> State | None:
                return state if time_columns(now).declaration == columns.declaration else None

            for name, _, _ in columns.names():
                put_state(self.rows, self.tables, row, name, building)
        return Build(row, columns, builder)

    def beat(self, begun: Build, patience: float) -> None:
        """Have others wait on."""
        until = time.time() + patience

        def later(_: TableRow, known: State | None) -> State | None:
            return replace(known, until=until) if _is_of(known, begun) else None

        for name, _, _ in begun.columns.names():
            put_state(self.rows, self.tables, begun.row, name, later)

    def collect(
        self,
        row: TableRow,
        columns: TimeColumns,
        start: bytes,
        stop: bytes,
        *,
        beat: Callable[[], None] | None = None,
    ) -> Collected:
        """The times of a table's partitions with start <= key < stop; ``beat`` is called every few seconds."""
        width = len(row.definition.schema.names)
        times: dict[TimelineName, set[int]] = {}
        partitions, left_out, count = 0, [], 0
        last = time.monotonic()
        for batch in self.rows.scan(start, stop):
            partitions += len(batch)
            for key, payload in batch:
                cells = split_key(key, width)[1]
                try:
                    for name, index in columns.times_in(cells, payload):
                        times.setdefault(name, set()).add(index)
                except (InvalidTime, TimelineMismatch):
                    count += 1
                    if count <= _NAMED:
                        left_out.append(columns.partition(cells))
            if beat is not None and time.monotonic() - last > _BEAT:
                beat()
                last = time.monotonic()
        runs = {name: Runs.of(sorted(indexes)) for name, indexes in times.items()}
        return Collected(partitions, runs, tuple(left_out), count)

    def finish(self, begun: Build, found: Collected) -> bool:
        """Store the timelines; False where somebody else builds them by now, or the table was altered or is gone."""
        with self.rows.transaction() if self.rows.atomic else nullcontext():
            for name, _, _ in begun.columns.names():
                if not self._store(begun, name, found.times.get(name, Runs())):
                    return False
            if not self._set_present(begun):
                return False
            advance(self.rows, begun.row.key)
        return True

    def _store(self, begun: Build, name: TimelineName, runs: Runs) -> bool:
        columns = begun.columns
        period, column = next((period, column) for one, period, column in columns.names() if one == name)

        def stored(row: TableRow, known: State | None) -> State | None:
            if not _is_of(known, begun) or stamp_of(row.cells[DEFINITION]) != stamp_of(begun.row.cells[DEFINITION]):
                return None  # renamed there and back, it has its cells again, and rows were not where they were sought
            times = runs.minus(known.touched)
            times.unite(present(self.rows, row, columns, period, column, known.touched))
            return state_of(with_times(empty_timeline(columns, period, column), times)[0])

        return put_state(self.rows, self.tables, begun.row, name, stored)

    def _set_present(self, begun: Build) -> bool:
        """Say in the table's parameters that the timelines are there; False where they name other classes by now."""
        classes = [class_parameter(period, column) for _, period, column in begun.columns.names()]

        def present_flag(parameters: Mapping[str, str]) -> dict[str, str] | None:
            same = all(parameters.get(name) == begun.row.table.parameters.get(name) for name in classes)
            return {PRESENT: "true"} if same else None

        return put_parameters(self.rows, self.tables, begun.row, present_flag)


def time_columns(row: TableRow) -> TimeColumns:
    """The time partition columns of a table.

    Raises:
        UnknownUpdatePeriod, TimelineMismatch: its parameters declare what cannot be.
        TimelineNotFound: it keeps no timelines.
    """
    columns = TimeColumns.of(row.table)
    if columns is None:
        raise TimelineNotFound(
            "the table keeps no timelines",
            table=row.table,
            hint="Name its time partition columns and update periods in the table's parameters"
            f" {TIME_PARTITION_COLUMNS} and {UPDATE_PERIODS}",
        )
    return columns


def put_parameters(
    rows: Rows, tables: Tables, row: TableRow, change: Callable[[Mapping[str, str]], Mapping[str, str] | None]
) -> bool:
    """Put some of a table's parameters, as if nobody else altered it at the same time.

    Args:
        rows: where the table is.
        tables: the tables.
        row: the table, as it was.
        change: those to put, by those that it has; None for none at all. It is called again where another was faster.

    Returns:
        Whether it has them; not, where there are none to put.
    """
    for attempt in range(_ATTEMPTS):
        now = tables.reopen(row)
        before = now.table.parameters
        more = change(before)
        if more is None:
            return False
        if more.items() <= before.items():
            return True
        known = now.cells[DEFINITION]
        altered = replace(now.table, parameters={**before, **more})
        if rows.compare_and_put(row.key, DEFINITION, known, next_definition(known, altered)):
            return True
        pause(attempt)
    raise ConcurrentChange("other writers kept changing the table", table=row.table, hint="Try again")


def put_state(
    rows: Rows,
    tables: Tables,
    row: TableRow,
    name: TimelineName,
    change: Callable[[TableRow, State | None], State | None],
) -> bool:
    """Change the state of a timeline, as if nobody else did at the same time.

    Args:
        rows: where the table is.
        tables: the tables.
        row: the table, as it was.
        name: which timeline.
        change: makes the next state of the table's row and the state (None: there is none that counts, or it is
            damaged); None where it is not to be changed. It is called again where another was faster.

    Returns:
        Whether it was changed; not, where the table is gone or declares others by now.
    """
    cell = cell_name(name)
    for attempt in range(_ATTEMPTS):
        cells = rows.get_all(row.key)
        now = tables.row(row.key, cells)
        columns = None if now is None else now.definition.time_columns
        if now is None or columns is None or name not in {one for one, _, _ in columns.names()}:
            return False
        try:
            known = decode_state(cells, columns, name)
        except CorruptTimeline:
            known = None
        state = change(now, known)
        if state is None:
            return False
        value = encode_state(cells, columns, state)
        try:
            if rows.compare_and_put(row.key, cell, cells.get(cell), value):
                return True
        except CommitStateUnknown:
            if rows.get_all(row.key).get(cell) == value:
                return True
        pause(attempt)
    raise ConcurrentChange("other writers kept changing a timeline", table=row.table, timeline=name, hint="Try again")


def advance(rows: Rows, table: bytes) -> None:
    """Use up a sequence number: a writer about to decide, and a reader that knows the timelines, look again."""
    for attempt in range(_ATTEMPTS):
        data = (rows.get(table) or {}).get(JOURNAL)
        with suppress(CommitStateUnknown):
            if rows.compare_and_put(table, JOURNAL, data, Journal.decode(data).advanced().encode()):
                return
        pause(attempt)
    raise ConcurrentChange("other writers kept changing the table", table=".".join(names_of(table)), hint="Try again")


def _is_of(known: State | None, begun: Build) -> TypeGuard[Building]:
    return isinstance(known, Building) and known.builder == begun.builder
