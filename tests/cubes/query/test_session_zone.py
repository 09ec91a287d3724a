"""Which queries Spark has to run in UTC: those that compute or compare times of hbstore."""

from __future__ import annotations

import pytest

from hbstore.cubes import PartitionDesc, parse_documents
from hbstore.cubes.logical_tables import DimTable, StorageTable
from tests.cubes.small_cube import CUBE, fact, opened, partitions, table

HOURS = [f"2015-01-01-{at:02}" for at in range(24)]
DAY = "time_range_in(start_time, '2015-01-01', '2015-01-02')"


def needs_utc(text, *documents, period="HOURLY", values=HOURS):
    with opened(*CUBE, *documents) as cubes:
        if values:
            cubes.add_partitions("rolled", "lake", partitions(period, values))
        rewritten = cubes.rewrite(f"select {text}")
    assert rewritten.to_dict()["needs_utc"] == rewritten.needs_utc
    assert ("SET TIME ZONE 'UTC'" in rewritten.explain()) == rewritten.needs_utc
    return rewritten.needs_utc


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("fare from rides where {}", False),
        ("bike, max(start_time), fare from rides where {}", False),  # a column of the rows, as Spark reads it
        ("hour(start_time), fare from rides where {}", True),
        ("fare from rides where {} having count(distinct to_date(start_time)) > 1", True),
        ("fare from rides where {} and year(start_time) = 2015", True),
        ("fare from rides where {} and start_time >= '2015-01-01'", True),
        ("fare from rides where {} and start_time = '2015-01-01'", True),
        # A time that is selected stays a column of the rows, and so it is in functions of it.
        ("start_time, to_date(start_time) as d, fare from rides where {}", True),
        ("start_time as d, fare from rides where {} having hour(d) = 2", True),
        ("start_time, fare from rides where {} order by date_trunc('month', start_time)", True),
        ("start_time, fare from rides where {} and start_time >= '2015-01-01'", True),
        ("start_time, fare from rides where {} and start_time in (timestamp'2015-01-01 10:00:00')", True),
        ("start_time, count(distinct to_date(start_time)) as n from rides where {}", True),
        ("hour(max(start_time)) as h, fare from rides where {}", True),
        ("cast(coalesce(start_time, paid_time) as string) as t, fare from rides where {}", True),
        ("hour(paid_time), fare from rides where {}", True),
        ("fare from rides where {} and start_time + interval 1 day > paid_time", True),
        ("start_time, fare from rides where {} order by start_time", False),
        ("fare from rides where {} and start_time < paid_time and start_time is not null", False),
        ("if(bike = 'a', start_time, paid_time) as t, count(start_time) as n, fare from rides where {}", False),
        ("fare from rides where {} and time_range_in(paid_time, '2015-01-01-06', '2015-01-01-08')", True),
    ],
)
def test_functions_of_times_and_ranges_that_are_conditions_on_columns(text, needs):
    rolled = fact("rolled", "fare bike start_time paid_time", table("lake", "HOURLY"))
    rolled = rolled.changed(properties={"cube.fact.is.aggregated": "false"})
    assert needs_utc(text.format(DAY), rolled) == needs


@pytest.mark.parametrize("months", [False, True])
def test_times_of_partitions_alone(months):
    period, values, range_ = ("MONTHLY", ["2015-01"], DAY.replace("01-02", "02")) if months else ("HOURLY", HOURS, DAY)
    rolled = fact("rolled", "fare", table("lake", period))
    text = f"month(start_time), fare from rides where {range_}"
    assert needs_utc(text, rolled, period=period, values=values)


@pytest.mark.parametrize(("kind", "needs"), [("string", False), ("date", False), ("timestamp", True)])
def test_conditions_on_partition_columns(kind, needs):
    rolled = fact("rolled", "fare", table("lake", "DAILY", kind=kind))
    assert needs_utc(f"fare from rides where {DAY}", rolled, period="DAILY", values=["2015-01-01"]) == needs


@pytest.mark.parametrize(("kind", "needs"), [("date", False), ("timestamp", True)])
def test_rows_of_tables_that_are_always_up_to_date(kind, needs):
    live = fact("live", "fare start_time", StorageTable(storage="lake", update_periods=["CONTINUOUS"]))
    live = live.changed(columns=[one.changed(type=kind) if one.name == "start_time" else one for one in live.columns])
    assert needs_utc(f"fare from rides where {DAY}", live, values=()) == needs


@pytest.mark.parametrize(("kind", "needs"), [("string", False), ("date", False), ("timestamp", True)])
def test_newest_dumps_of_dimensions(kind, needs):
    documents = parse_documents("{kind: storage, name: lake}", "yaml")
    station = next(one for one in CUBE if one.name == "station")
    stations = DimTable(
        name="stations",
        dimension="station",
        columns=[{"name": "id", "type": "int"}],
        storage_tables=[table("lake", "DAILY", kind=kind)],
    )
    with opened(*documents, station, stations) as cubes:
        cubes.add_partitions("stations", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-01"})])
        assert cubes.rewrite("select id from station").needs_utc == needs
