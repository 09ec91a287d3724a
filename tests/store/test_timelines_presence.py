"""Which times have a partition, by leaps over the leading column and by scans of another one, beside looking at all."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hbstore
from hbstore.keys.row_key import split_key, successor
from hbstore.model.structs import partition_from_payload
from hbstore.rows import connect as connect_rows
from hbstore.rows.interface import Costs
from hbstore.store.partition_store import PartitionStore
from hbstore.store.tables import Tables
from hbstore.store.timeline_presence import present
from hbstore.timelines.declaration import PARTITION_UPDATE_PERIOD, TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.timelines.runs import Runs
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions.transactions import Transactions

DAY, HOUR, MONTH = UpdatePeriod.DAILY, UpdatePeriod.HOURLY, UpdatePeriod.MONTHLY
FIRST = DAY.index(DAY.parse("2015-01-20"))


class Paged:
    """Rows whose costs make pages of a given size."""

    def __init__(self, rows, size):
        self._rows, self._size = rows, size

    def __getattr__(self, name):
        return getattr(self._rows, name)

    @property
    def costs(self):
        return Costs(seek=self._size, get=1, read=1, check=1)


def text(period, at, kind):
    moment = period.format_index(at)
    return moment if kind == "string" else {DAY: moment, MONTH: f"{moment}-01"}[period]


@st.composite
def partitions(draw, kind):
    periods = (DAY, HOUR, MONTH) if kind == "string" else (DAY, MONTH)
    made = {}
    for _ in range(draw(st.integers(0, 40))):
        period = draw(st.sampled_from(periods))
        day = FIRST + draw(st.integers(0, 40))
        at = {DAY: day, HOUR: 24 * day + draw(st.integers(0, 2)), MONTH: MONTH.floor_index(DAY.moment(day))}[period]
        values = (text(period, at, kind), draw(st.sampled_from(["eu", "us", "asia"])))
        made[values] = hbstore.Partition(values, parameters={PARTITION_UPDATE_PERIOD: period.name})
    return list(made.values())


@pytest.mark.parametrize("leading", [True, False])
@pytest.mark.parametrize("kind", ["string", "date"])
@pytest.mark.parametrize("scheme", ["memory", "sqlite"])
@settings(max_examples=25)
@given(data=st.data(), size=st.integers(1, 6))
def test_those_and_no_others(scheme, kind, leading, data, size, tmp_path_factory):
    at = "memory://" if scheme == "memory" else f"sqlite://{tmp_path_factory.mktemp('p') / 'c.db'}"
    store = PartitionStore(connect_rows(at))
    rows = store.rows
    store.create_database("d")
    order = 1 if leading else -1
    columns = [hbstore.Column("dt", kind), hbstore.Column("region", "string")][::order]
    declared = {TIME_PARTITION_COLUMNS: "dt", UPDATE_PERIODS: "HOURLY,DAILY,MONTHLY"}
    store.create_table(hbstore.Table("d", "t", columns, parameters=declared))
    given_ = [dataclasses.replace(one, values=one.values[::order]) for one in data.draw(partitions(kind))]
    store.add_partitions("d", "t", given_)
    row = Tables(Transactions(rows)).open("d", "t")
    time_columns = row.definition.time_columns
    prefix = row.definition.prefix
    there = set()
    for batch in row.unpacked(rows).scan(prefix, successor(prefix)):
        for key, payload in batch:
            there.update(time_columns.times(split_key(key, 2)[1], partition_from_payload(payload).parameters))
    for period in (DAY, MONTH) if kind == "date" else (HOUR, DAY, MONTH):
        low = period.floor_index(DAY.moment(FIRST - 1))
        wanted = data.draw(st.sets(st.integers(low, low + {HOUR: 24 * 42, DAY: 42, MONTH: 3}[period]), max_size=60))
        wanted |= set(
            data.draw(
                st.lists(
                    st.sampled_from(sorted({index for name, index in there if name.startswith(period.name)} or {low}))
                )
            )
        )
        found = present(Paged(rows, size), row, time_columns, period, "dt", Runs.of(sorted(wanted)))
        assert found == Runs.of(sorted(index for index in wanted if (f"{period.name}.dt", index) in there))
    store.close()
