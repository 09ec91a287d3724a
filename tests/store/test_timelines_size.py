"""Timelines that are large together: the table takes partitions and another name, whatever its timelines hold."""

from __future__ import annotations

import pytest

from hbstore import TimelineTooLarge, connect
from hbstore.rows.interface import CatalogCell
from hbstore.store.table_row import table_key
from hbstore.store.time_columns import TimeColumns
from hbstore.store.timeline_cell import MAX_CELL, cell_name, encode_state, state_of
from hbstore.timelines.factory import PRESENT
from hbstore.timelines.ranges import RangesPartitionTimeline
from hbstore.timelines.runs import Runs
from hbstore.times.update_period import UpdatePeriod
from tests.backends import backend_url
from tests.store import timelines

HBASE = 10 * 1024 * 1024
"""Bytes that HBase takes in a cell."""
STARTS = [2 * at for at in range(130_000)]
WIDE = Runs(STARTS, [at + 1 for at in STARTS])
"""Every second hour, as ranges: nearly 4 MiB as a timeline."""


@pytest.fixture(params=["nonatomic", pytest.param("hbase", marks=pytest.mark.hbase)])
def store(request, tmp_path):
    with connect(backend_url(request, tmp_path)) as store:
        store.drop_database("shop", cascade=True, if_exists=True)
        store.create_database("shop")
        yield store
        store.drop_database("shop", cascade=True)


@pytest.fixture
def logs(store, monkeypatch):
    """The sizes of the logs that are put."""
    sizes, put = [], type(store.rows).compare_and_put

    def noted(self, key, cell, expected, value):
        sizes.append(len(value))
        return put(self, key, cell, expected, value)

    monkeypatch.setattr(type(store.rows), "compare_and_put", noted)
    return sizes


def test_two_timelines_of_nearly_four_mebibytes(store, logs):
    parameters = timelines.declared("HOURLY", "dt,pt") | {PRESENT: "true"}
    store.create_table(timelines.table(parameters=parameters))
    row = store.table_row(*timelines.FACT)
    cells = []
    for column in ("dt", "pt"):
        timeline = RangesPartitionTimeline("s1_sales", UpdatePeriod.HOURLY, column)
        timeline.add_index_ranges(WIDE)
        cell = encode_state(row.cells, TimeColumns.of(row.table), state_of(timeline))
        assert MAX_CELL * 0.9 < len(cell) <= MAX_CELL * 1.01
        cells.append(CatalogCell(table_key(*timelines.FACT), cell_name(f"HOURLY.{column}"), cell))
    store.rows.put_cells(cells, row.log.sequence)
    logs.clear()
    store.add_partitions(*timelines.FACT, [timelines.partition("2015-01-01-05"), timelines.partition("2015-01-01-06")])
    assert store.partition_names(*timelines.FACT, "dt = '2015-01-01-05'") != []
    with pytest.raises(TimelineTooLarge, match="the timeline is too large"):
        store.timelines.read("shop.s1_sales")
    store.rename_table(*timelines.FACT, timelines.table(timelines.TWIN, parameters))
    assert store.count_partitions(*timelines.TWIN) == 2
    assert 4_000_000 < max(logs) < HBASE
    store.timelines.rebuild("shop.s2_sales")
    assert [timeline.latest().isoformat() for timeline in store.timelines.of("shop.s2_sales")] == [
        "2015-01-01T06:00:00+00:00"
    ] * 2
