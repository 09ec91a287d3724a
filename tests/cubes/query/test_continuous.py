"""Facts on tables that are always up to date, alone and beside tables of partitions."""

# ruff: noqa: DTZ001  times of rows have no time zone, as in the tables

from __future__ import annotations

import datetime as dt
from contextlib import contextmanager
from random import Random

import duckdb
import pytest

from hbstore.cubes.logical_tables import StorageTable
from hbstore.errors import NoCandidate
from tests.cubes.query.spark_in_duckdb import in_duckdb
from tests.cubes.small_cube import CUBE, fact, opened, partitions, table

NOW = dt.datetime(2015, 1, 3, 10, 30, 15, 123_456, tzinfo=dt.UTC)
FARE = "select fare from rides where time_range_in(start_time, '{}', '{}')"


@contextmanager
def live(columns="fare bike start_time", *, weight=10, kind="timestamp", hours=(), **fields):
    """The cube with some hours of one fact, and another fact that is always up to date."""
    always = StorageTable(storage="lake", update_periods=["CONTINUOUS"])
    fresh = fact("live", columns, always, weight=weight, **fields)
    fresh = fresh.changed(
        columns=[one.changed(type=kind) if one.name == "start_time" else one for one in fresh.columns]
    )
    hourly = fact("hourly", "fare bike", table("lake", "HOURLY"), weight=10)
    with opened(*CUBE, hourly, fresh, now=NOW) as cubes:
        cubes.add_partitions("hourly", "lake", partitions("HOURLY", hours))
        yield cubes


def test_hours_that_are_there_and_rows_of_the_others_up_to_now():
    with live(hours=["2015-01-03-08", "2015-01-03-09"]) as cubes:
        found = cubes.rewrite("select fare from rides where time_range_in(start_time, 'now.day+7hours', 'now')")
        assert [str(run) for run in found.partitions["lake_hourly"].runs] == [
            "lake_hourly HOURLY [2015-01-03-08, 2015-01-03-10)"
        ]
        seven, eight, ten = (dt.datetime(2015, 1, 3, hour, tzinfo=dt.UTC) for hour in (7, 8, 10))
        assert found.moments == {"lake_live": ((seven, eight), (ten, NOW))}
        sql = " ".join(found.sql.split())
        assert (
            "FROM `shop`.`lake_live` WHERE ( `start_time` >= CAST('2015-01-03 07:00:00.000000' AS TIMESTAMP) AND "
            "`start_time` < CAST('2015-01-03 08:00:00.000000' AS TIMESTAMP) ) OR ( `start_time` >= "
            "CAST('2015-01-03 10:00:00.000000' AS TIMESTAMP) AND "
            "`start_time` < CAST('2015-01-03 10:30:15.123456' AS TIMESTAMP) )"
        ) in sql
        assert found.reads["lake_live"] is None
        assert [one.taken for one in found.candidates] == [True, True]
        assert "lake_live: rows of 2 ranges of time\n  [2015-01-03T07:00:00+00:00, 2015" in found.explain()
        assert found.to_dict()["moments"]["lake_live"][0][0] == "2015-01-03T07:00:00+00:00"
        assert repr(found) == "<Rewritten: 2 partitions of lake_hourly, lake_live>"


@pytest.mark.parametrize(
    ("condition", "times"),
    [
        ("time_range_in(start_time, '0001', '0999-12-31')", ["0001-01-01", "0999-12-31"]),
        ("time_range_in(start_time, 'now.year-1100years', '0950')", ["0915-01-01", "0950-01-01"]),
        ("time_range_in(paid_time, '0999', '1001') and time_range_in(start_time, '2014', '2015')", ["0999-01-01"]),
    ],
)
def test_years_have_four_digits(condition, times):
    """Spark takes '999-12-31' for no timestamp."""
    with live("fare bike start_time paid_time", properties={"cube.fact.is.aggregated": "false"}) as cubes:
        sql = cubes.rewrite(f"select fare from rides where {condition}").sql
    assert all(f"CAST('{time} 00:00:00.000000' AS TIMESTAMP)" in sql for time in times)
    assert "'999" not in sql


def test_what_is_after_now_is_missing():
    with live() as cubes:
        with pytest.raises(NoCandidate, match="partitions are missing") as caught:
            cubes.rewrite(FARE.format("2015-01-03", "2015-01-04"))
        after = NOW, dt.datetime(2015, 1, 4, tzinfo=dt.UTC)
        assert caught.value.missing == (after,)
        found = cubes.rewrite(FARE.format("2015-01-03", "2015-01-04"), partial=True)
        assert found.missing == (after,)
        with pytest.raises(NoCandidate, match="lake_live: STORAGE_NOT_AVAILABLE_IN_RANGE"):
            cubes.rewrite(FARE.format("2016", "2017"), options={"facts.rides": "live"})


def test_dates_tell_whole_days_alone():
    with live(kind="date") as cubes:
        found = cubes.rewrite(FARE.format("2015-01-01", "2015-01-03"))
        assert "`start_time` >= CAST('2015-01-01' AS DATE) AND `start_time` < CAST('2015-01-03' AS DATE)" in " ".join(
            found.sql.split()
        )
        for times in (("2015-01-01-06", "2015-01-02"), ("2015-01-03", "2015-01-03-10")):  # today is not over
            with pytest.raises(NoCandidate):
                cubes.rewrite(FARE.format(*times))


def test_a_table_whose_rows_do_not_tell_their_time_is_not_read():
    with live(kind="string") as cubes:
        with pytest.raises(NoCandidate, match="no partitions, and no column start_time of dates or timestamps"):
            cubes.rewrite(FARE.format("2015-01-01", "2015-01-02"), options={"facts.rides": "live"})
        with pytest.raises(NoCandidate, match="no column paid_time"):
            cubes.rewrite("select fare from rides where time_range_in(paid_time, '2015-01-01', '2015-01-02')")


@pytest.mark.parametrize("kind", ["string", "timestamp"])
def test_partitions_of_the_period_are_seconds(kind):
    """A table with partitions of CONTINUOUS has them second by second."""
    with opened(*CUBE, fact("seconds", "fare", table("lake", "CONTINUOUS", kind=kind)), now=NOW) as cubes:
        seconds = [f"2015-01-01-00-00-{at:02}" for at in range(60)]
        cubes.add_partitions("seconds", "lake", partitions("CONTINUOUS", seconds))
        minute = FARE.format("2015-01-01-00:00", "2015-01-01-00:01").replace("fare", "second(start_time), fare")
        found = cubes.rewrite(minute)
        assert len(found.partitions["lake_seconds"]) == 60
        assert found.moments == {}


def test_the_times_for_which_the_fact_holds_count_and_options_do():
    with live(start_time="2015-01-02", end_time="2015-01-03-06", hours=["2015-01-01-23"]) as cubes:
        found = cubes.rewrite(FARE.format("2015-01-01-23", "2015-01-03-06"))
        assert found.moments["lake_live"] == (
            (dt.datetime(2015, 1, 2, tzinfo=dt.UTC), dt.datetime(2015, 1, 3, 6, tzinfo=dt.UTC)),
        )
        for options in ({"periods.live.lake": "DAILY"}, {"facts.rides": "hourly"}):
            with pytest.raises(NoCandidate):
                cubes.rewrite(FARE.format("2015-01-01-23", "2015-01-03-06"), options=options)
        assert cubes.rewrite(FARE.format("2015-01-02", "2015-01-03"), options={"max_interval": "SECONDLY"}).moments


def test_a_time_dimension_that_is_related_to_that_of_the_rows():
    with live("fare bike start_time paid_time") as cubes:
        relation = {"cube.timedim.relation.paid_time": "start_time+[0 days,1 days]"}
        cubes.alter(cubes.cube("rides").changed(properties=relation))
        cubes.drop("fact", "hourly")
        found = cubes.rewrite("select fare from rides where time_range_in(paid_time, '2015-01-02', '2015-01-03')")
        assert found.moments["lake_live"] == (
            (dt.datetime(2015, 1, 2, tzinfo=dt.UTC), dt.datetime(2015, 1, 3, tzinfo=dt.UTC)),
        )


@pytest.mark.parametrize("seed", range(12))
def test_each_row_counts_once(seed):
    """Rows at any microsecond, in hours of which some are registered; unregistered ones and later rows are poison."""
    random = Random(seed)
    begin = dt.datetime(2015, 1, 2)
    now = NOW.replace(tzinfo=None)
    span = int((now - begin).total_seconds() * 1_000_000)
    times = [begin + dt.timedelta(microseconds=random.randrange(span)) for _ in range(60)]
    times += [begin + dt.timedelta(hours=random.randrange(30)) for _ in range(20)]  # at borders
    rows = [(time, random.choice("ab"), random.randrange(100)) for time in times]
    hours = {begin + dt.timedelta(hours=at) for at in range(34) if random.random() < 0.6}
    weight = random.choice([1, 10, 100])
    with live(weight=weight, hours=[f"{hour:%Y-%m-%d-%H}" for hour in hours]) as cubes, duckdb.connect() as db:
        db.execute("CREATE SCHEMA shop")
        db.execute("CREATE TABLE shop.lake_hourly (fare BIGINT, bike VARCHAR, dt VARCHAR)")
        db.execute("CREATE TABLE shop.lake_live (fare BIGINT, bike VARCHAR, start_time TIMESTAMP)")
        for time, bike, fare in rows:
            hour = time.replace(minute=0, second=0, microsecond=0)
            poison = 0 if hour in hours else 1_000_000
            db.execute("INSERT INTO shop.lake_hourly VALUES (?, ?, ?)", (fare + poison, bike, f"{hour:%Y-%m-%d-%H}"))
            db.execute("INSERT INTO shop.lake_live VALUES (?, ?, ?)", (fare, bike, time))
        db.execute("INSERT INTO shop.lake_live VALUES (1000000, 'a', ?)", (now,))
        for _ in range(8):
            start = begin + dt.timedelta(seconds=random.randrange(60_000))
            stop = min(now, start + dt.timedelta(seconds=random.choice([1, 3_600, 50_000])))
            until = "now" if stop == now else f"{stop:%Y-%m-%d-%H:%M:%S}"
            text = f"cube {FARE.format(f'{start:%Y-%m-%d-%H:%M:%S}', until)} and bike = 'a'"
            found = cubes.rewrite(text)
            inside = [fare for time, bike, fare in rows if start <= time < stop and bike == "a"]
            assert db.execute(in_duckdb(found.sql)).fetchone() == (sum(inside) if inside else None,)
            whole = any(start <= hour and hour + dt.timedelta(hours=1) <= stop for hour in hours)
            assert ("lake_hourly" in found.partitions) == (whole and weight >= 10)


def test_a_time_dimension_that_partitions_alone_tell_is_not_told():
    cube = CUBE[2].changed(time_dimensions={"start_time": "dt", "dt": "dt"})
    fresh = fact("live", "fare start_time", StorageTable(storage="lake", update_periods=["CONTINUOUS"]))
    with opened(*CUBE[:2], cube, fresh, now=NOW) as cubes, pytest.raises(NoCandidate, match="it has no dt"):
        cubes.rewrite("select year(dt), fare from rides where time_range_in(start_time, '2015-01-01', '2015-01-02')")
