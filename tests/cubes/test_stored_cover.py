"""Covers of stored facts: what probing every partition finds, at the cost of one row for each storage table."""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbstore import AlreadyExists, connect
from hbstore.cubes import Column, Cubes, Fact, PartitionDesc, StorageTable, Uncoverable, read_documents
from hbstore.errors import (
    InvalidTime,
    InvalidTimeRange,
    ModelNotFound,
    NoStorageTables,
    PartitionNotFound,
    UnknownTimeDimension,
)
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines import UpdatePeriod
from hbstore.timelines.declaration import PARTITION_UPDATE_PERIOD
from tests.cubes.conftest import NOW, RIDES, cubes_of, days, hour, sample
from tests.cubes.test_cover import naive
from tests.timelines.strategies import utc, without_zone

TIDES = read_documents(Path(__file__).parent / "samples" / "tides.json")
PERIODS = [UpdatePeriod.HOURLY, UpdatePeriod.DAILY, UpdatePeriod.WEEKLY, UpdatePeriod.MONTHLY]


class CountingRows:
    """`Rows` that count the catalog rows that are read, and what is read of partitions."""

    def __init__(self, rows):
        self._rows = rows
        self.reads = Counter()

    def __getattr__(self, name):
        found = getattr(self._rows, name)
        if name in ("multi_get", "first_key", "scan", "payloads", "heads", "count", "whole_rows", "scan_catalog"):
            self.reads[name] += 1
        return found

    def get(self, key):
        self.reads[key.split(b"\0")[0] + b" " + key.rpartition(b"\0")[2]] += 1
        return self._rows.get(key)


@dataclass
class Probe:
    """Answers like a timeline, by looking for a partition in the store each time."""

    store: PartitionStore
    period: UpdatePeriod
    storage_table: str
    column: str

    def exists(self, time):
        table = self.store.get_table("shop", self.storage_table)
        place = table.partition_column_names.index(self.column)
        text = time.date().isoformat() if table.key_types[place].name == "date" else self.period.format(time)
        return any(
            one.values[place] == text and one.parameters[PARTITION_UPDATE_PERIOD] == self.period.name
            for one in self.store.get_partitions_by_filter("shop", self.storage_table, None)
        )


def probes(store, fact, column):
    """What to ask instead of a fact's timelines."""
    found = {}
    for table in fact.storage_tables:
        for period in table.update_periods:
            found.setdefault(period, []).append(Probe(store, period, fact.table_name(table.storage), column))
    return found


@st.composite
def stored_facts(draw):
    """A fact on one to three storages, its partitions, and a range of a few days near the end of a month."""
    storages = ["lake", "archive"][: draw(st.integers(1, 2))]
    tables, partitions = [], []
    for storage in storages:
        kind = draw(st.sampled_from(["string", "date"]))
        periods = draw(st.lists(st.sampled_from(PERIODS[kind == "date" :]), min_size=1, unique=True))
        two = draw(st.booleans())
        columns = [Column(name=one, type=kind) for one in (["dt", "bt"] if two else ["dt"])]
        tables.append(
            StorageTable(
                storage=storage,
                update_periods=periods,
                partition_columns=columns,
                time_partition_columns=[one.name for one in columns],
            )
        )
        for period in periods:
            low, high = (period.index(period.floor(time)) for time in (utc(2015, 1, 28), utc(2015, 3, 3)))
            density = draw(st.sampled_from([1, 3, 20]))
            pick = draw(st.randoms(use_true_random=False))
            for index in range(low, high + 1):
                if pick.randrange(density):
                    times = {one.name: period.time(index + number) for number, one in enumerate(columns)}
                    partitions.append((storage, PartitionDesc(period, times)))
    fact = Fact(name="drawn", cube="rides", columns=[Column(name="minutes", type="bigint")], storage_tables=tables)
    start = utc(2015, 1, 28) + draw(st.integers(0, 24 * 30)) * dt.timedelta(hours=1)
    end = start + draw(st.integers(0, 24 * 4)) * dt.timedelta(hours=1)
    return fact, partitions, start, end


@settings(max_examples=25, deadline=None)
@given(stored_facts(), st.sampled_from(["memory://", "memory://?atomic=false", "sqlite"]))
def test_the_cover_is_that_of_naive_probing(drawn, url):
    fact, partitions, start, end = drawn
    folder = tempfile.mkdtemp()
    try:
        with connect(f"sqlite://{folder}/store.db" if url == "sqlite" else url) as store:
            store.create_database("shop")
            cubes = cubes_of(store)
            cubes.create_all(one for one in RIDES if one.kind in ("storage", "cube"))
            cubes.create(fact)
            for storage, one in partitions:
                with suppress(AlreadyExists):  # a month and its first day are one date
                    cubes.add_partitions("drawn", storage, [one])
            found = cubes.cover("drawn", start, end, time_dimension="start_time", partial=True)
            assert (found.partitions, found.missing) == naive(probes(store, fact, "dt"), start, end)
            if found.missing:
                with pytest.raises(Uncoverable) as caught:
                    cubes.cover("drawn", start, end, time_dimension="dt")
                assert caught.value.missing == found.missing
            else:
                assert cubes.cover("drawn", start, end, time_dimension="dt") == found
    finally:
        shutil.rmtree(folder)


def test_a_year_at_five_periods_without_partitions_takes_one_row_of_each_table(url):
    with connect(url) as store:
        for database in store.database_names():
            store.drop_database(database, cascade=True)
        store.create_database("shop")
        Cubes(store, "shop").create_all(TIDES)
        rows = CountingRows(store.rows)
        cubes = Cubes(PartitionStore(rows), "shop", clock=lambda: NOW)
        year = utc(2015, 1, 1), utc(2016, 1, 1)
        for time_dimension in (None, None, "dt"):
            rows.reads.clear()
            with pytest.raises(Uncoverable) as caught:
                cubes.cover("tides_fine", *year, time_dimension=time_dimension)
            assert caught.value.missing == [year]
            reads = {key: count for key, count in rows.reads.items() if not isinstance(key, bytes) or key[:1] == b"T"}
        assert reads == {b"Tshop harbour_tides_fine": 1}
        assert sum(rows.reads.values()) <= 3  # the fact, its table, the cube


def test_each_storage_table_is_read_once_and_only_those_of_the_time_dimension(cubes):
    cubes.add_partitions("rides_daily", "lake", days("2015-01-01"))
    cubes.cover("rides_daily", utc(2015, 1, 1), utc(2015, 1, 2))  # builds what has to be built
    rows = CountingRows(cubes.store.rows)
    counted = cubes_of(PartitionStore(rows))
    counted.cover("rides_daily", utc(2015, 1, 1), utc(2015, 1, 2), time_dimension="start_time")
    tables = {key: count for key, count in rows.reads.items() if isinstance(key, bytes) and key[:1] == b"T"}
    assert tables == {b"Tshop lake_rides_daily": 1, b"Tshop archive_rides_daily": 1}


def test_the_first_storage_of_the_fact_is_preferred(cubes):
    cubes.add_partitions("rides_daily", "archive", days("2015-01-01", "2015-01-02"))
    cubes.add_partitions("rides_daily", "lake", days("2015-01-02", "2015-01-03"))
    found = cubes.cover("rides_daily", utc(2015, 1, 1), utc(2015, 1, 4))
    assert [str(run) for run in found.partitions.runs] == [
        "archive_rides_daily DAILY [2015-01-01, 2015-01-02)",
        "lake_rides_daily DAILY [2015-01-02, 2015-01-04)",
    ]
    fact = cubes.fact("rides_daily")
    cubes.alter(fact.changed(storage_tables=fact.storage_tables[::-1]))
    assert str(cubes.cover("rides_daily", utc(2015, 1, 2), utc(2015, 1, 3)).partitions.runs[0]).startswith("archive")


def test_a_cover_ends_where_the_fact_does(cubes):
    fact = sample("rides_daily").changed(start_time="2015-01-10", end_time="now.day-145days")  # that is 2016-01-22
    cubes.alter(fact)
    cubes.add_partitions("rides_daily", "lake", [PartitionDesc("MONTHLY", {"dt": "2015-01"})])
    start = utc(2015, 1, 10)
    cubes.add_partitions("rides_daily", "lake", days(*[f"2015-01-{day}" for day in range(10, 32)]))
    cubes.add_partitions("rides_daily", "lake", days("2016-01-20", "2016-01-21"))
    found = cubes.cover("rides_daily", utc(2015, 1, 1), utc(2015, 2, 1), partial=True)
    assert [str(run) for run in found.partitions.runs] == ["lake_rides_daily DAILY [2015-01-10, 2015-02-01)"]
    assert found.missing == [(utc(2015, 1, 1), start)]
    found = cubes.cover("rides_daily", utc(2016, 1, 19), utc(2016, 3, 1), partial=True)
    assert len(found.partitions) == 2
    assert found.missing == [(utc(2016, 1, 19), utc(2016, 1, 20)), (utc(2016, 1, 22), utc(2016, 3, 1))]
    for since, until in ((utc(2014, 1, 1), utc(2014, 3, 1)), (utc(2017, 1, 1), utc(2017, 3, 1))):
        with pytest.raises(Uncoverable) as caught:
            cubes.cover("rides_daily", since, until)
        assert caught.value.missing == [(since, until)]
    found = cubes.cover("rides_daily", utc(2014, 1, 1), utc(2017, 1, 1), partial=True)
    assert found.missing == [
        (utc(2014, 1, 1), start),
        (utc(2015, 2, 1), utc(2016, 1, 20)),
        (utc(2016, 1, 22), utc(2017, 1, 1)),
    ]


def test_time_dimensions_are_partition_columns(cubes):
    cubes.add_partitions("rides_raw", "lake", [hour("2015-01-01-05", booked="2015-01-01-02")])
    for name, begin in (("start_time", 5), ("Booked_Time", 2), ("bt", 2)):
        found = cubes.cover("rides_raw", utc(2015, 1, 1, begin), utc(2015, 1, 1, begin + 1), time_dimension=name)
        assert len(found.partitions) == 1
        with pytest.raises(Uncoverable):
            cubes.cover("rides_raw", utc(2015, 1, 1, 7 - begin), utc(2015, 1, 1, 8 - begin), time_dimension=name)
    with pytest.raises(UnknownTimeDimension) as caught:
        cubes.cover("rides_raw", utc(2015, 1, 1), utc(2015, 1, 2))
    assert caught.value.fields["choices"] == "start_time, booked_time, dt, bt"
    for call in (
        lambda: cubes.cover("rides_daily", utc(2015, 1, 1), utc(2015, 1, 2), time_dimension="booked_time"),
        lambda: cubes.timelines("rides_daily", time_dimension="none"),
    ):
        with pytest.raises(UnknownTimeDimension) as caught:
            call()
        assert caught.value.fields["choices"] == "start_time, dt"


def test_timelines_are_those_of_all_storages_in_order(cubes):
    found = cubes.timelines("rides_daily")
    assert [(one.storage_table, one.update_period.name) for one in found] == [
        ("lake_rides_daily", "DAILY"),
        ("lake_rides_daily", "MONTHLY"),
        ("archive_rides_daily", "DAILY"),
    ]
    assert cubes.timelines("rides_daily", update_period="HOURLY") == []
    (only,) = cubes.timelines("rides_daily", storage="LAKE", update_period=UpdatePeriod.MONTHLY, time_dimension="dt")
    assert only.update_period is UpdatePeriod.MONTHLY


def test_facts_without_partitions_in_time(cubes):
    fact = sample("rides_daily")
    cubes.create(fact.changed(name="nowhere", storage_tables=[]))
    steady = [StorageTable(storage="lake", update_periods=["CONTINUOUS"])]
    cubes.create(fact.changed(name="steady", storage_tables=steady))
    for name in ("nowhere", "steady"):
        with pytest.raises(NoStorageTables):
            cubes.cover(name, utc(2015, 1, 1), utc(2015, 1, 2))
        assert cubes.timelines(name) == []
    with pytest.raises(ModelNotFound):
        cubes.cover("stations", utc(2015, 1, 1), utc(2015, 1, 2))


def test_ranges_are_checked(cubes):
    assert cubes.cover("rides_daily", utc(2015, 1, 1), utc(2015, 1, 1)).partitions == []
    with pytest.raises(InvalidTimeRange):
        cubes.cover("rides_daily", utc(2015, 1, 2), utc(2015, 1, 1))
    for start, end in ((without_zone(2015, 1, 1), utc(2015, 1, 2)), (utc(2015, 1, 1), without_zone(2015, 1, 2))):
        with pytest.raises(InvalidTime):
            cubes.cover("rides_daily", start, end)


def test_what_is_dropped_is_not_covered(cubes):
    cubes.add_partitions("rides_daily", "lake", days("2015-01-01"))
    cubes.drop_partitions("rides_daily", "lake", days("2015-01-01"))
    with pytest.raises(Uncoverable):
        cubes.cover("rides_daily", utc(2015, 1, 1), utc(2015, 1, 2))
    with pytest.raises(PartitionNotFound):
        cubes.drop_partitions("rides_daily", "lake", days("2015-01-01"))
