"""Keeping timelines true: what becomes of them when partitions come and go.

This happens after a change's rows are written and before it is acknowledged: in its transaction, or under its intent,
by the process that finishes that. Times that were added go into the timeline. Of times that lost a partition those
leave it that no partition has any more, which is looked up after the timeline was read, and put only if it is still
what was read. Every change gives the cell another stamp, **an addition even where the time is there already**: so a
process that found no partition of a time, while one was coming, finds that it has to look again. A helper that comes
late, after the intent is closed, meets another stamp as well.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from hbstore.errors import CommitStateUnknown, TimelineError, UnknownTimelineClass
from hbstore.rows.interface import Cells, Rows
from hbstore.store.journal_cell import Journal
from hbstore.store.pauses import pause
from hbstore.store.table_row import DEFINITION, JOURNAL, TableRow, definition_of, names_of
from hbstore.store.time_columns import TimeColumns
from hbstore.store.timeline_cell import (
    Building,
    Stored,
    cell_name,
    decode_state,
    encode_state,
    state_of,
    stored_timeline,
    with_times,
)
from hbstore.store.timeline_presence import present
from hbstore.store.touched import Touched
from hbstore.timelines.runs import Runs
from hbstore.times.update_period import UpdatePeriod

_ATTEMPTS: Final = 500
_HEAD, _STAMP = 16, 8


@dataclass(frozen=True, slots=True)
class TimelineUpdates:
    """Updates the timelines of tables.

    Attributes:
        rows: where the tables are.
    """

    rows: Rows

    def apply(self, table: bytes, touched: Touched, intent_id: str | None) -> bool:
        """Bring a table's timelines up to a change whose rows are written; whether that changed any.

        Doing so twice, at once with somebody else, or late, does no harm.

        Args:
            table: the key of the table's row.
            touched: the times of the change.
            intent_id: of the intent in the table's journal without which there is nothing to do; None in a transaction.
        """
        pending, changed = touched.names(), False
        for attempt in range(_ATTEMPTS):
            if not pending:
                return changed
            cells = self.rows.get_all(table)
            if intent_id is not None and not Journal.decode(cells.get(JOURNAL)).has(intent_id):
                return changed
            row = table_row(table, cells)
            columns = None if row is None else row.definition.time_columns
            if row is None or columns is None:
                return changed
            late = []
            for name, period, column in columns.names():
                if name not in pending:
                    continue
                value = self._after(row, columns, name, period, column, touched)
                if value is None:
                    continue
                if self._put(table, name, cells, value):
                    changed = True
                else:
                    late.append(name)
            pending = late
            if pending:
                pause(attempt)
        raise CommitStateUnknown(
            "the change is decided, but other writers kept changing the table's timelines",
            table=".".join(names_of(table)),
            hint="The next writer or `hbstore repair` finishes it",
        )

    def _put(self, table: bytes, name: str, cells: Cells, value: bytes) -> bool:
        """Whether it was put; where the answer is lost, not: doing so again does no harm."""
        with suppress(CommitStateUnknown):
            return self.rows.compare_and_put(table, cell_name(name), cells[cell_name(name)], value)
        return False

    def _after(
        self, row: TableRow, columns: TimeColumns, name: str, period: UpdatePeriod, column: str, touched: Touched
    ) -> bytes | None:
        """As `_updated`; empty where the class is not there: others may know it, and have to build the timeline."""
        try:
            return self._updated(row, columns, name, period, column, touched)
        except UnknownTimelineClass:
            return b""

    def _updated(
        self, row: TableRow, columns: TimeColumns, name: str, period: UpdatePeriod, column: str, touched: Touched
    ) -> bytes | None:
        """The cell of a timeline after a change; None where it stays as it is.

        A timeline that is not there, too large or damaged stays so: it is built from the partitions.

        Raises:
            UnknownTimelineClass: it is of a class that there is not.
        """
        added, doubtful = touched.added.get(name, Runs()), touched.doubtful.get(name, Runs())
        try:
            state = decode_state(row.cells, columns, name)
            if isinstance(state, Building):
                all_touched = state.touched.copy()
                all_touched.unite(added)
                all_touched.unite(doubtful)
                return encode_state(row.cells, columns, replace(state, touched=all_touched))
            if not isinstance(state, Stored):
                return None
            timeline = stored_timeline(columns, period, column, state)
        except UnknownTimelineClass:
            raise
        except TimelineError:
            return None
        lost = doubtful.minus(added)
        gone = Runs.of_ranges(pair for start, stop in lost for pair in timeline.index_ranges(start, stop))
        if gone:
            gone.subtract(present(self.rows, row, columns, period, column, gone))
        timeline, more = with_times(timeline, added)
        less = timeline.drop_index_ranges(gone)
        if more or less:
            return encode_state(row.cells, columns, state_of(timeline))
        if not added:
            return None
        data = row.cells[cell_name(name)]
        return data[:_STAMP] + os.urandom(_HEAD - _STAMP) + data[_HEAD:]


def update_timelines(rows: Rows, row: TableRow, touched: Touched) -> None:
    """Bring a table's timelines up to a change, in its transaction; the journal tells others that they are new."""
    if touched and TimelineUpdates(rows).apply(row.key, touched, None):
        data = (rows.get(row.key) or {}).get(JOURNAL)  # the change has counted in it already
        rows.compare_and_put(row.key, JOURNAL, data, Journal.decode(data).advanced().encode())


def table_row(key: bytes, cells: Cells) -> TableRow | None:
    """What a table's cells say; None if there is no table."""
    definition = cells.get(DEFINITION)
    return TableRow(key, cells, definition_of(definition)) if definition else None
