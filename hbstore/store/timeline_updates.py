"""Keeping timelines true: what becomes of them when partitions come and go, in the transaction in which they do.

Times that were added go into the timeline. Of times that lost a partition those leave it that no other partition has.
While a timeline is being built, the times are noted beside it: the builder looks at them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbstore.errors import TimelineError, UnknownTimelineClass
from hbstore.keys.row_key import successor
from hbstore.store.table_row import TableRow
from hbstore.store.time_columns import AffectedTimes, TimeColumns
from hbstore.store.timeline_cell import (
    Building,
    Stored,
    decode_state,
    encode_state,
    put_fitting,
    state_of,
    stored_timeline,
    with_times,
)
from hbstore.store.timeline_presence import present
from hbstore.timelines.runs import Runs
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions.transaction import RowView


def update_timelines(view: RowView, row: TableRow, columns: TimeColumns, affected: AffectedTimes) -> None:
    """Bring a table's timelines up to a change of its partitions.

    Args:
        view: the table in the change's transaction.
        row: what its row says.
        columns: its time partition columns.
        affected: the times of the change.
    """
    if not affected:
        return
    cells, changed = view.all_cells(), {}
    for name, period, column in columns.names():
        if name in affected.names():
            value = _after(view, row, cells, columns, name, period, column, affected)
            if value is not None:
                changed[name] = value
    if changed:
        put_fitting(view, cells, columns, changed)


def _after(
    view: RowView,
    row: TableRow,
    cells: Mapping[str, bytes],
    columns: TimeColumns,
    name: str,
    period: UpdatePeriod,
    column: str,
    affected: AffectedTimes,
) -> bytes | None:
    """The cell of a timeline after a change; None where it stays as it is.

    One whose class is not there is removed: other processes may know it, and have to build the timeline. One that is
    not there, too large or damaged stays so: it is built from the partitions.
    """
    added, lost = affected.added.get(name, Runs()), affected.lost.get(name, Runs())
    try:
        state = decode_state(cells, columns, name)
        if isinstance(state, Building):
            noted = state.affected.copy()
            noted.unite(added)
            noted.unite(lost)
            return encode_state(cells, columns, replace(state, affected=noted))
        if not isinstance(state, Stored):
            return None
        timeline = stored_timeline(columns, period, column, state)
    except UnknownTimelineClass:
        return b""
    except TimelineError:
        return None
    left = lost.minus(added)
    gone = Runs.of_ranges(pair for start, stop in left for pair in timeline.index_ranges(start, stop))
    if gone:
        prefix = row.definition.prefix
        view.settle(prefix, successor(prefix))
        gone.subtract(present(view.rows, row, columns, period, column, gone, without=affected.payloads))
    timeline, more = with_times(timeline, added)
    less = timeline.drop_index_ranges(gone)
    return encode_state(cells, columns, state_of(timeline)) if more or less else None
