"""Partition columns whose values may be of several update periods, beside another partition column."""

from __future__ import annotations

import datetime as dt
from random import Random

import duckdb
import pytest
import sqlglot

from hbstore.cubes import PartitionDesc
from hbstore.errors import NoCandidate
from hbstore.timelines import UpdatePeriod
from tests.cubes.small_cube import CUBE, fact, opened, table

FIRST, LAST = dt.date(2015, 1, 1), dt.date(2015, 4, 1)
QUARTER = "select minutes from rides where time_range_in(start_time, '2015-01', '2015-04')"


def sums(kind, periods):
    """The cube with a fact whose time partition column is of a type, and gets partitions of some update periods."""
    return opened(*CUBE, fact("sums", "minutes", table("lake", *periods, kind=kind, others=[("region", "string")])))


def desc(period, day, region):
    return PartitionDesc(period, {"dt": UpdatePeriod[period].format(_at(day))}, {"region": region})


def _at(day):
    return dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)


def _days(period, day):
    """The days of a part."""
    end = UpdatePeriod[period].next(_at(day)).date()
    return {day + dt.timedelta(at) for at in range((end - day).days)}


def test_what_is_there_once_is_read_and_what_clashes_is_named():
    with sums("date", ["DAILY", "MONTHLY"]) as cubes:
        days = [desc("DAILY", dt.date(2015, 1, day), "eu") for day in range(1, 32)]
        cubes.add_partitions("sums", "lake", [*days, desc("MONTHLY", dt.date(2015, 2, 1), "eu")])
        cubes.add_partitions("sums", "lake", [desc("DAILY", dt.date(2015, 2, 2), "eu")])
        two = "select minutes from rides where time_range_in(start_time, '2015-01', '2015-03')"
        assert [str(run) for run in cubes.rewrite(two).partitions["lake_sums"].runs] == [
            "lake_sums DAILY [2015-01-01, 2015-02-01)",
            "lake_sums MONTHLY [2015-02, 2015-03)",
        ]
        cubes.add_partitions("sums", "lake", [desc("MONTHLY", dt.date(2015, 1, 1), "us")])
        with pytest.raises(NoCandidate, match=r"\[2015-01-01, 2015-01-02\)") as caught:
            cubes.rewrite(two)
        said = "in lake_sums partitions of several update periods have the dt 2015-01-01"
        assert said in caught.value.hint
        assert said in _alone(cubes, two)
        assert cubes.rewrite(two.replace("'2015-01'", "'2015-01-02'")).missing == ()
        # The option leaves the month out of the answer, but not out of the table.
        with pytest.raises(NoCandidate):
            cubes.rewrite(f"{two} options (max_interval = DAILY)")


def test_the_first_day_of_all_clashes_with_its_month():
    """Its index is 0."""
    with sums("date", ["DAILY", "MONTHLY"]) as cubes:
        first = dt.date(1, 1, 1)
        cubes.add_partitions("sums", "lake", [desc("DAILY", first, "eu"), desc("MONTHLY", first, "us")])
        with pytest.raises(NoCandidate) as caught:
            cubes.rewrite("select minutes from rides where time_range_in(start_time, '0001-01-01', '0001-01-02')")
        assert "in lake_sums partitions of several update periods have the dt 0001-01-01" in caught.value.hint


def _alone(cubes, text):
    """Why the table cannot answer a query, where none of it is read."""
    first = text.replace("'2015-03'", "'2015-01-02'")
    (one,) = cubes.rewrite(first, partial=True).candidates
    return one.detail


@pytest.mark.parametrize("kind", ["date", "timestamp", "string"])
@pytest.mark.parametrize("seed", range(12))
def test_each_day_counts_once(kind, seed):
    """Random partitions of days, months, quarters and years, against each value of the column by itself."""
    random = Random(f"{kind} {seed}")
    periods = random.sample(["DAILY", "MONTHLY", "QUARTERLY", "YEARLY"], 3)
    partitions = {}
    for _ in range(random.choice([5, 200])):
        period = random.choice(periods)
        day = UpdatePeriod[period].floor(_at(FIRST + dt.timedelta(random.randrange(90)))).date()
        value = UpdatePeriod[period].format(_at(day)) if kind == "string" else day
        partitions.setdefault((value, random.choice(["eu", "us"])), (period, day))
    with sums(kind, periods) as cubes, duckdb.connect() as db:
        cubes.add_partitions(
            "sums", "lake", [desc(period, day, region) for (_, region), (period, day) in partitions.items()]
        )
        alone = {}
        for (value, _), part in partitions.items():
            alone.setdefault(value, set()).add(part)
        told = {next(iter(parts)) for parts in alone.values() if len(parts) == 1}
        within = {FIRST + dt.timedelta(at) for at in range((LAST - FIRST).days)}
        covered = set().union(*(_days(*part) for part in told if _days(*part) <= within)) if told else set()
        found = cubes.rewrite(QUARTER, partial=True)
        missing = {day for day in within if any(start <= _at(day) < end for start, end in found.missing)}
        assert missing == within - covered
        db.execute("CREATE SCHEMA shop")
        db.execute(f"CREATE TABLE shop.lake_sums (minutes BIGINT, dt {kind}, region VARCHAR)")
        counted = set()
        for (value, region), part in partitions.items():
            db.execute(
                "INSERT INTO shop.lake_sums VALUES (?, ?, ?)",
                (0 if part in counted else len(_days(*part)), value, region),
            )
            counted.add(part)
        assert db.execute(sqlglot.transpile(found.sql, "spark", "duckdb")[0]).fetchone() == (len(covered) or None,)
