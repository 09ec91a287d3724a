"""Ranges that end within partitions: rows of a part of one, where they tell their times; else the true reason."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from random import Random

import pytest

from hbstore.cubes.logical_tables import Column
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rewriting import rewrite
from hbstore.errors import NoCandidate
from tests.amounts import amount
from tests.cubes.query import star_model, stars
from tests.cubes.query.comparison import check
from tests.cubes.query.questions import question
from tests.cubes.query.terms import TRUTH, Term
from tests.cubes.small_cube import CUBE, MODEL, RAW, fact, opened, partitions, table

FARE = "select fare from rides where time_range_in(start_time, '{}', '{}')"
HOURS = partitions("HOURLY", [f"2015-01-10-{hour:02}" for hour in range(24)])
HALF = dt.timedelta(minutes=30)


def runs(found):
    return [str(run) for some in found.partitions.values() for run in some.runs]


def moments(ranges):
    return [(f"{start:%H:%M}", f"{stop:%H:%M}") for start, stop in ranges]


def test_parts_of_the_hours_at_both_ends():
    with opened(*MODEL) as cubes:
        cubes.add_partitions("raw", "lake", HOURS)
        found = cubes.rewrite(FARE.format("2015-01-10-00:30", "2015-01-10-03:15"))
        assert runs(found) == ["lake_raw HOURLY [2015-01-10-00, 2015-01-10-04)"]
        sql = " ".join(found.sql.split())
        assert (
            "WHERE `dt` IN ('2015-01-10-00', '2015-01-10-03') AND ( ( `start_time` >= "
            "CAST('2015-01-10 00:30:00.000000' AS TIMESTAMP) AND `start_time` < CAST('2015-01-10 01:00:00.000000' AS "
            "TIMESTAMP) ) OR ( `start_time` >= CAST('2015-01-10 03:00:00.000000' AS TIMESTAMP) AND `start_time` < "
            "CAST('2015-01-10 03:15:00.000000' AS TIMESTAMP) ) )"
        ) in sql
        assert "WHERE `dt` IN ('2015-01-10-01', '2015-01-10-02')" in sql
        assert found.needs_utc
        assert dict(found.moments) == {}  # which says what is read of tables without partitions
        assert str(found.reads["lake_raw"]).count("2015-01-10") == 4
        within = cubes.rewrite(FARE.format("2015-01-10-00:30", "2015-01-10-00:45"))
        assert runs(within) == ["lake_raw HOURLY [2015-01-10-00, 2015-01-10-01)"]
        both = "time_range_in(start_time, '2015-01-10-05:10', '2015-01-10-05:20')"
        found = cubes.rewrite(
            FARE.format("2015-01-10-05:40", "2015-01-10-05:50").replace("where ", f"where {both} or ")
        )
        assert runs(found) == ["lake_raw HOURLY [2015-01-10-05, 2015-01-10-06)"]


def test_a_whole_period_is_read_without_a_look_at_its_rows():
    with opened(*MODEL) as cubes:
        cubes.add_partitions("raw", "lake", HOURS)
        assert "start_time" not in cubes.rewrite(FARE.format("2015-01-10", "2015-01-11")).sql


@pytest.mark.parametrize(
    "changed",
    [
        {"properties": {}},  # its rows are rolled up, perhaps to whole hours
        {"columns": [one for one in RAW.columns if one.name != "start_time"]},
        {"columns": [one.changed(type="date") if one.name == "start_time" else one for one in RAW.columns]},
    ],
)
def test_where_rows_do_not_tell_their_times_no_period_is_fine_enough(changed):
    with opened(*MODEL[:5], RAW.changed(**changed)) as cubes:
        cubes.add_partitions("raw", "lake", HOURS)
        with pytest.raises(NoCandidate, match="no update period is fine enough for the time range") as caught:
            cubes.rewrite(FARE.format("2015-01-10-00:30", "2015-01-10-02"))
        assert moments(caught.value.missing) == [("00:30", "01:00")]
        assert "start_time as a column of timestamps" in caught.value.hint
        assert "Register" not in str(caught.value)
        found = cubes.rewrite(FARE.format("2015-01-10-00:30", "2015-01-10-02"), partial=True)
        assert moments(found.missing) == [("00:30", "01:00")]
        alone = cubes.candidates("rides", ["fare"], ("start_time", "2015-01-10-00:30", "2015-01-10-02"))[-1]
        assert str(alone).startswith(
            "lake_raw: NO_CANDIDATE_UPDATE_PERIODS: none of its update periods fits into [2015"
        )


def test_missing_partitions_beside_what_none_could_hold():
    days = fact("days", "fare", table("lake", "HOURLY"))
    with opened(*CUBE, days) as cubes:
        cubes.add_partitions("days", "lake", HOURS[:4])
        with pytest.raises(NoCandidate, match="partitions are missing for the time range") as caught:
            cubes.rewrite(FARE.format("2015-01-10-03", "2015-01-10-05:30"))
        assert moments(caught.value.missing) == [("04:00", "05:30")]
        assert "Note that no update period fits into [2015-01-10T05:00, 2015-01-10T05:30)" in caught.value.hint


def between(start, stop):
    """A condition on the time of rows."""
    low, high = (f"TIMESTAMP '{time:%Y-%m-%d %H:%M:%S}'" for time in (start, stop))
    return Term(
        f"time_range_in(ts, '{start:%Y-%m-%d-%H:%M}', '{stop:%Y-%m-%d-%H:%M}')", f"(ts >= {low} AND ts < {high})", TRUTH
    )


@pytest.mark.parametrize("group", range(amount(1, 10)))
def test_rows_of_random_stars(group):
    """Half hours of random stars: the rows are those of the base, or the facts whose rows tell times lack an hour."""
    answered, cut, missing = 0, 0, []
    for seed in range(group * 12, group * 12 + amount(6, 12)):
        random = Random(seed)
        world = stars.world(random)
        for _ in range(12):
            start = star_model.BEGIN + HALF * random.randrange(2 * star_model.HOURS - 200)
            asked = replace(question(random), where=[between(start, start + HALF * random.randint(1, 190))])
            try:
                found = rewrite(world.cubes._model, asked.text, stars.NOW, QueryOptions(partial=True))
            except NoCandidate as error:
                missing += error.missing
                continue
            assert not (found.missing and world.whole)
            answered += not found.missing
            cut += "`ts` <" in found.sql and "AS TIMESTAMP)" in found.sql
            check(world, asked, found)
        world.close()
    assert not missing  # but no fact has all fields
    assert answered > 10
    assert cut > 10


def test_dates_of_rows_tell_no_hours():
    """A fact has the time as a date, its partitions as hours: hours are those of partitions, days of either."""
    days = fact("days", "fare", table("lake", "HOURLY"))
    days = days.changed(columns=[*days.columns, Column(name="start_time", type="date")])
    with opened(*CUBE, days) as cubes:
        cubes.add_partitions("days", "lake", HOURS)
        query = FARE.format("2015-01-10", "2015-01-11").replace("select", "select {} as x,")
        assert "CAST(`start_time` AS TIMESTAMP)" not in cubes.rewrite(query.format("hour(start_time)")).sql
        assert "CAST(`start_time` AS TIMESTAMP)" in cubes.rewrite(query.format("year(start_time)")).sql


def test_an_hour_that_is_not_registered_yet_is_missing_and_not_too_coarse():
    """Rows tell their times, so the hour that is under way answers its first half, once it is there."""
    with opened(*MODEL) as cubes:
        cubes.add_partitions("raw", "lake", HOURS[:5])
        with pytest.raises(NoCandidate, match="partitions are missing for the time range") as caught:
            cubes.rewrite(FARE.format("2015-01-10", "2015-01-10-05:37"))
        assert moments(caught.value.missing) == [("05:00", "05:37")]
