"""TIME_RANGE_IN by a store: relative ranges follow the clock, whatever was planned before."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from hbstore import Column, Partition, Table, UnknownColumnError, col
from hbstore.errors import InvalidTime, InvalidTimeRange, TimeRangeSyntaxError
from hbstore.filters.parser import parse_filter
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.store.partition_store import PartitionStore
from tests.store.conftest import values

DAYS = [f"2015-01-{day:02d}" for day in range(1, 32)]
LAST_THREE = "TIME_RANGE_IN(dt, 'now.day-3days', 'now.day')"


@pytest.fixture
def clock():
    """A clock that is set by its `time`."""

    class Clock:
        time = dt.datetime(2015, 1, 10, 6, 30, tzinfo=dt.UTC)

        def __call__(self):
            return self.time

    return Clock()


@pytest.fixture
def logs(store, clock):
    """The table d.logs with a partition for each day of a month, and the null partition, behind the clock."""
    store.create_database("d")
    columns = [Column("dt", "string"), Column("region", "string")]
    store.create_table(Table("d", "logs", partition_columns=columns))
    store.add_partitions("d", "logs", [Partition((day, "eu")) for day in [*DAYS, NULL_PARTITION]])
    store._reader = replace(store._reader, clock=clock)
    return store


def days(store, where, **options):
    return [one.values[0] for one in store.get_partitions_by_filter("d", "logs", where, **options)]


@pytest.mark.parametrize("dialect", ["sql", "hive2"])
def test_a_range_of_days(logs, dialect):
    found = days(logs, "time_range_in(dt, '2015-01-29', '2015-02-10') and region = 'eu'", like_dialect=dialect)
    assert found == ["2015-01-29", "2015-01-30", "2015-01-31"]
    rest = days(logs, "NOT Time_Range_In(DT, '2015-01-03', '2016')", like_dialect=dialect)
    assert rest == ["2015-01-01", "2015-01-02"]
    assert days(logs, "not time_range_in(dt, '2015', '2015')", like_dialect=dialect) == DAYS
    assert days(logs, "time_range_in(dt, '2015', '2015')", like_dialect=dialect) == []


def test_a_range_is_a_scan_without_a_residual(logs):
    """From a Friday to the Sunday after it no week begins."""
    explained = logs.explain("d", "logs", "time_range_in(dt, '2015-01-09', '2015-01-11')", True).to_dict()
    assert [(scan["kind"], scan["residual"]) for scan in explained["scans"]] == [("scan", None)]
    assert (explained["rows_read"], explained["rows_returned"]) == (2, 2)


def test_a_relative_range_is_never_answered_from_what_was_planned_before(logs, clock):
    expression = col("dt").in_time_range("now.day-3days", "now.day")
    for day in (10, 10, 11, 5, 31):
        clock.time = dt.datetime(2015, 1, day, 23, 59, tzinfo=dt.UTC)
        expected = DAYS[day - 4 : day - 1]
        for _ in range(2):
            assert days(logs, LAST_THREE) == expected
            assert logs.count_partitions("d", "logs", LAST_THREE) == 3
            assert (
                logs.partition_names("d", "logs", LAST_THREE, spec={"region": "eu"})[0] == f"dt={expected[0]}/region=eu"
            )
            assert values(logs.get_partitions_by_expr("d", "logs", expression)) == [(one, "eu") for one in expected]
            assert values(logs.get_partitions_by_expr("d", "logs", parse_filter(LAST_THREE)))[0] == (expected[0], "eu")
            assert expected[0] in str(logs.plan("d", "logs", LAST_THREE))
            assert expected[0] in str(logs.explain("d", "logs", LAST_THREE))


@pytest.mark.parametrize(
    "where",
    [
        f"{LAST_THREE} or dt = '2015-01-20'",
        f"dt = '2015-01-20' or not (dt is null or not {LAST_THREE})",
        f"region = 'eu' and (dt = '2015-01-20' or {LAST_THREE})",
        "dt = '2015-01-20' or time_range_in(dt, '2015-01-07', 'NOW') and time_range_in(dt, ' now.week-7days', '2016')",
    ],
)
def test_wherever_it_stands_in_a_filter(logs, clock, where):
    for day in (10, 17, 10):
        clock.time = dt.datetime(2015, 1, day, tzinfo=dt.UTC)
        assert days(logs, where)[-1] == "2015-01-20"
        assert f"2015-01-{day - 1:02d}" in days(logs, where)
        assert f"2015-01-{day:02d}" not in days(logs, where)


def test_plans_that_do_not_depend_on_the_clock_are_kept(logs):
    for where in ("time_range_in(dt, '2015-01-29', '2015-02-10')", "dt = 'now' or dt = 'now.day'"):
        assert logs.plan("d", "logs", where) is logs.plan("d", "logs", where)
    assert logs.plan("d", "logs", LAST_THREE) is not logs.plan("d", "logs", LAST_THREE)


def test_without_a_clock_of_its_own_a_store_asks_the_system(logs):
    store = PartitionStore(logs.rows)
    today = dt.datetime.now(dt.UTC)
    names = [f"{today + dt.timedelta(days=by):%Y-%m-%d}" for by in (-3, -2, 2, 3)]
    store.add_partitions("d", "logs", [Partition((name, "eu")) for name in names])
    assert days(store, "time_range_in(dt, 'now.day-5days', 'now')") == names[:2]


def test_faults(logs, clock):
    clock.time = dt.datetime(2015, 1, 10, tzinfo=dt.UTC)
    for call in (logs.get_partitions_by_filter, logs.plan, logs.explain, logs.count_partitions):
        with pytest.raises(TimeRangeSyntaxError):
            call("d", "logs", "time_range_in(dt, '2015', 'x')")
        with pytest.raises(InvalidTimeRange):
            call("d", "logs", "time_range_in(dt, 'now.day', 'now.month')")
        with pytest.raises(InvalidTime):
            call("d", "logs", "time_range_in(dt, 'now-9999years', 'now.month')")
        with pytest.raises(UnknownColumnError):
            call("d", "logs", "time_range_in(ds, '2015', '2016')")
    clock.time = dt.datetime(2015, 1, 1, tzinfo=dt.UTC)
    assert days(logs, "time_range_in(dt, 'now.day', 'now.month')") == []
