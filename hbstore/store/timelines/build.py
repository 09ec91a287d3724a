"""Building a table's timelines from its partitions, while others go on writing.

1. See that all changes that are decided are written, and put a *building* state into each timeline's cell. From then on
   every change of the table's partitions notes there which times it touches.
2. Read all partitions. What earlier changes did stands in them.
3. Look again at the times that were noted meanwhile, and put the timelines, in one transaction.

Where somebody else begins to build as well, the last one to begin wins and the others do so again. A builder that died
leaves the first state; a reader of the timelines waits until the time that stands there, then builds them.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from hbstore.errors import ConcurrentChange, CorruptTimeline, InvalidTime, TimelineMismatch, TimelineNotFound
from hbstore.keys.row_key import split_key, successor
from hbstore.rows.interface import Cells
from hbstore.store.table_row import DEFINITION, TableRow, id_and_version, next_definition
from hbstore.store.tables import Tables
from hbstore.store.time_columns import TimeColumns, TimelineName
from hbstore.store.timeline_cell import (
    Building,
    State,
    cell_name,
    decode_state,
    empty_timeline,
    encode_state,
    put_fitting,
    state_of,
    with_times,
)
from hbstore.store.timeline_classes import class_parameter, unknown_classes
from hbstore.store.timeline_presence import present
from hbstore.timelines.classes import DEFAULT_CLASS, class_name
from hbstore.timelines.declaration import TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.timelines.factory import PRESENT
from hbstore.timelines.runs import Runs
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions.transaction import RowView, Transaction

PATIENCE: Final = 10.0
"""Seconds for which a builder asks others to wait; it asks again in time."""

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
        tables: the tables.
    """

    tables: Tables

    def build(self, database: str, table: str) -> Collected:
        """Build all timelines of a table. O(partitions).

        Raises:
            TimelineNotFound: the table keeps none.
            UnknownTimelineClass: its parameters name a class that there is not; nothing was changed.
            StoreBusy: others kept beginning to build as well.
        """

        def build() -> Collected:
            begun = self.begin(database, table)
            prefix = begun.row.definition.prefix
            beat = partial(self.beat, begun, PATIENCE)
            collected = self.collect(begun.row, begun.columns, prefix, successor(prefix), beat=beat)
            self.finish(begun, collected)
            return collected

        text = "other processes kept building the table's timelines"
        return self.tables.transactions.patience.retry(build, text=text, table=f"{database}.{table}")

    def without_unknown_classes(self, database: str, table: str) -> tuple[str, ...]:
        """Have a table name the default in place of classes that there are not; the names of these."""

        def name_default(transaction: Transaction) -> tuple[str, ...]:
            view, row = self.tables.view(transaction, database, table)
            unknown = unknown_classes(time_columns(row))
            set_parameters(view, row, dict.fromkeys(unknown, class_name(DEFAULT_CLASS)))
            return tuple(dict.fromkeys(unknown.values()))

        return self.tables.transactions.run(name_default)

    def begin(self, database: str, table: str, patience: float = PATIENCE) -> Build:
        """Have all changes from now on note what they touch.

        Args:
            database: the database's name.
            table: the table's name.
            patience: seconds for which others shall wait.
        """
        builder = uuid.uuid4().hex

        def begin(transaction: Transaction) -> Build:
            view, row = self.tables.view(transaction, database, table)
            columns, prefix = time_columns(row), row.definition.prefix
            view.settle(prefix, successor(prefix))
            for name, period, column in columns.names():
                empty_timeline(columns, period, column)
                state = Building(builder, time.time() + patience, Runs())
                view.put_cell(cell_name(name), encode_state(row.cells, columns, state))
            return Build(row, columns, builder)

        return self.tables.transactions.run(begin)

    def beat(self, begun: Build, patience: float) -> None:
        """Have others wait on."""

        def beat(transaction: Transaction) -> None:
            until = time.time() + patience
            for state in self._building(transaction, begun):
                state.put(replace(state.building, until=until))

        self.tables.transactions.run(beat)

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
        for batch in row.unpacked(self.tables.transactions.rows).scan(start, stop):
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

    def finish(self, begun: Build, collected: Collected) -> None:
        """Store the timelines.

        Raises:
            ConcurrentChange: another process builds them by now, or the table was altered or is gone.
        """

        def finish(transaction: Transaction) -> None:
            states = self._building(transaction, begun)
            if not states:
                raise ConcurrentChange(
                    "another process builds the timelines, or altered the table", table=table, hint="Try again"
                )
            view, row = states[0].view, states[0].row
            before = row.table.parameters
            classes = [class_parameter(state.period, state.column) for state in states]
            if any(before.get(name) != table.parameters.get(name) for name in classes):
                raise ConcurrentChange(
                    "another writer named another class of the timelines", table=table, hint="Try again"
                )
            changed = {}
            for state in states:
                noted = state.building.affected
                times = collected.times.get(state.name, Runs()).minus(noted)
                if noted:
                    prefix = row.definition.prefix
                    view.settle(prefix, successor(prefix))
                    times.unite(present(view.rows, row, begun.columns, state.period, state.column, noted))
                timeline, _ = with_times(empty_timeline(begun.columns, state.period, state.column), times)
                changed[state.name] = encode_state(row.cells, begun.columns, state_of(timeline))
            put_fitting(view, row.cells, begun.columns, changed)
            set_parameters(view, row, {PRESENT: "true"})

        table = begun.row.table
        self.tables.transactions.run(finish)

    def _building(self, transaction: Transaction, begun: Build) -> list[_BuildingState]:
        """The states of a build's timelines; none where another one builds, or the table was altered or is gone."""
        view = transaction.row(begun.row.key)
        cells = view.all_cells()
        row = TableRow.of(view.key, view.log, cells)
        if row is None or id_and_version(row.cells[DEFINITION]) != id_and_version(begun.row.cells[DEFINITION]):
            return []
        states = []
        for name, period, column in begun.columns.names():
            state = state_or_none(cells, begun.columns, name)
            if not isinstance(state, Building) or state.builder != begun.builder:
                return []
            states.append(_BuildingState(view, row, begun.columns, name, period, column, state))
        return states


@dataclass(frozen=True, slots=True)
class _BuildingState:
    """The state of one timeline that is being built, in a transaction."""

    view: RowView
    row: TableRow
    columns: TimeColumns
    name: TimelineName
    period: UpdatePeriod
    column: str
    building: Building

    def put(self, state: State) -> None:
        self.view.put_cell(cell_name(self.name), encode_state(self.row.cells, self.columns, state))


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


def set_parameters(view: RowView, row: TableRow, more: Mapping[str, str]) -> None:
    """Put some of a table's parameters, in a transaction."""
    before = row.table.parameters
    if not more.items() <= before.items():
        altered = replace(row.table, parameters={**before, **more})
        view.put_cell(DEFINITION, next_definition(row.cells[DEFINITION], altered))


def state_or_none(cells: Cells, columns: TimeColumns, name: TimelineName) -> State | None:
    """The state of a timeline; None where there is none that counts, or it is damaged."""
    try:
        return decode_state(cells, columns, name)
    except CorruptTimeline:
        return None
