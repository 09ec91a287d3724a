"""Which storage tables can answer some fields in a range, each alone; and why the others cannot."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from random import Random

import pytest

from hbstore.cubes import Cube, DerivedCube
from hbstore.cubes.logical_tables import Column, StorageTable
from hbstore.errors import (
    InvalidInput,
    InvalidTimeRange,
    ModelNotFound,
    NoCandidate,
    TimeRangeSyntaxError,
    UnknownField,
    UnsupportedQuery,
)
from tests.cubes.small_cube import MODEL, fact, opened, partitions

YEARLY = fact(
    "yearly",
    "fare station_id",
    StorageTable(
        storage="vault",
        update_periods=["MONTHLY"],
        partition_columns=[Column(name="pt", type="string"), Column(name="dt", type="string")],
        time_partition_columns=["pt", "dt"],
    ),
    weight=1,
    end_time="2014-07-01",
)
TWO_DAYS = ("start_time", "2015-01-10", "2015-01-12")


@pytest.fixture(scope="module")
def cubes():
    """All days of January but the 17th, and all hours of its first half; and a fact that had ended before."""
    days = [f"2015-01-{day:02}" for day in range(1, 32)]
    with opened(*MODEL, YEARLY) as cubes:
        cubes.add_partitions("daily", "lake", partitions("DAILY", [day for day in days if day != "2015-01-17"]))
        hours = [f"{day}-{hour:02}" for day in days[:15] for hour in range(24)]
        cubes.add_partitions("raw", "lake", partitions("HOURLY", hours))
        cubes.add_partitions("stations", "lake", partitions("DAILY", ["2015-01-29"]))
        cubes.create(
            DerivedCube(name="fares", parent="rides", measures=["fare", "pace"], dim_attributes=["station_id"])
        )
        yield cubes


def causes(found):
    return {one.table: "able" if one.able else one.cause for one in found}


@pytest.mark.parametrize(
    ("fields", "daily", "raw"),
    [
        (["fare"], "able", "able"),
        (["Pace", "city.name"], "able", "able"),
        (["bike", "fare"], "COLUMN_NOT_FOUND", "able"),
        (["tip"], "able", "COLUMN_NOT_FOUND"),
        (["tip", "longest"], "COLUMN_NOT_FOUND", "COLUMN_NOT_FOUND"),
        (["start_time"], "COLUMN_NOT_FOUND", "able"),
    ],
)
def test_each_table_can_answer_or_has_a_cause(cubes, fields, daily, raw):
    found = cubes.candidates("rides", fields, TWO_DAYS)
    assert [one.table for one in found] == ["vault_yearly", "lake_daily", "lake_raw"]  # the lightest first
    there = {"fare", "Pace", "city.name"}
    vault = "STORAGE_NOT_AVAILABLE_IN_RANGE" if there.issuperset(fields) else "COLUMN_NOT_FOUND"
    assert causes(found) == {"vault_yearly": vault, "lake_daily": daily, "lake_raw": raw}
    assert not any(one.taken for one in found)
    assert [one.cause is None for one in found] == [one.able for one in found]


def test_what_is_able_answers_alone(cubes):
    """The answer of the query for the same is of a table that is able, and there is none where no table is."""
    for fields in (["fare"], ["bike", "fare"], ["tip"], ["city.name"], ["minutes", "pace"]):
        for since, until in (("2015-01-10", "2015-01-12"), ("2015-01-16", "2015-01-18"), ("2015-01-20", "2015-01-22")):
            found = cubes.candidates("rides", fields, ("start_time", since, until))
            text = f"select {', '.join(fields)} from rides where time_range_in(start_time, '{since}', '{until}')"
            if any(one.able for one in found):
                taken = cubes.rewrite(text).partitions
                assert {one.table for one in found if one.able} >= set(taken)
            else:
                with pytest.raises(NoCandidate):
                    cubes.rewrite(text)


def test_missing_partitions_come_with_their_ranges(cubes):
    _, daily, raw = cubes.candidates("rides", ["fare"], ("start_time", "2015-01-14", "2015-01-19"))
    assert str(daily) == "lake_daily: MISSING_PARTITIONS: nothing for [2015-01-17, 2015-01-18)"
    assert str(raw) == "lake_raw: MISSING_PARTITIONS: nothing for [2015-01-16, 2015-01-19)"
    assert daily.to_dict() == {
        "table": "lake_daily",
        "fact": "daily",
        "storage": "lake",
        "weight": 10.0,
        "able": False,
        "taken": False,
        "cause": "MISSING_PARTITIONS",
        "detail": "nothing for [2015-01-17, 2015-01-18)",
        "missing": [["2015-01-17T00:00:00+00:00", "2015-01-18T00:00:00+00:00"]],
    }
    _, daily, _ = cubes.candidates("rides", ["fare"], ("start_time", "2015-01-18", "2015-01-19"))
    assert str(daily) == "lake_daily: can answer (weight 10)"


@pytest.mark.parametrize("seed", range(5))
def test_the_ranges_are_just_the_hours_without_partitions(seed):
    random = Random(seed)
    there = {hour for hour in range(48) if random.random() < (0.2, 0.5, 0.8, 0.95, 1)[seed]}
    times = [dt.datetime(2015, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=hour) for hour in range(49)]
    texts = [f"{time:%Y-%m-%d-%H}" for time in times]
    with opened(*MODEL) as cubes:
        cubes.add_partitions("raw", "lake", partitions("HOURLY", [texts[hour] for hour in sorted(there)]))
        for first, last in (sorted(random.sample(range(49), 2)) for _ in range(20)):
            range_ = ("start_time", texts[first], texts[last])
            raw = next(one for one in cubes.candidates("rides", ["bike"], range_) if one.fact == "raw")
            lacking = set(range(first, last)) - there
            assert {hour for hour in range(48) for start, end in raw.missing if start <= times[hour] < end} == lacking
            assert raw.able is (not lacking)
            assert all(start < end for start, end in raw.missing)
            assert all(one[1] < two[0] for one, two in pairwise(raw.missing))  # they do not touch


def test_derived_cubes_have_their_own_fields(cubes):
    assert causes(cubes.candidates("fares", ["fare", "city.name"], TWO_DAYS))["lake_daily"] == "able"
    with pytest.raises(UnknownField, match="the derived cube does not have the field"):
        cubes.candidates("fares", ["minutes"], TWO_DAYS)


def test_a_time_dimension_that_is_related_to_another_one(cubes):
    range_ = ("paid_time", "2015-01-14", "2015-01-16")
    assert set(causes(cubes.candidates("rides", ["fare"], range_)).values()) == {
        "PART_COL_DOES_NOT_EXIST",
        "STORAGE_NOT_AVAILABLE_IN_RANGE",
    }
    cube = cubes.cube("rides")
    cubes.alter(cube.changed(properties={"cube.timedim.relation.paid_time": "start_time+[0 days,2 days]"}))
    try:
        found = causes(cubes.candidates("rides", ["fare"], range_))
        # Rows are filtered by the time itself, which daily does not have.
        assert found["lake_raw"] == "able"
        assert found["lake_daily"] != "able"
    finally:
        cubes.alter(cube)


def test_relative_times(cubes):
    now = dt.datetime(2015, 1, 12, 7, tzinfo=dt.UTC)
    found = cubes.candidates("rides", ["bike"], ("start_time", "now.day-2days", "now.hour"), now=now)
    assert causes(found)["lake_raw"] == "able"
    late = cubes.candidates("rides", ["bike"], ("start_time", "now.day-2days", "now"))
    assert causes(late)["lake_raw"] == "MISSING_PARTITIONS"  # by the clock of the cubes


def test_a_cube_without_facts_has_no_candidates(cubes):
    cubes.create(Cube(name="bare", time_dimensions={"t": "dt"}, dim_attributes=[{"name": "t", "type": "timestamp"}]))
    assert cubes.candidates("bare", ["t"], ("t", "2015", "2016")) == ()


@pytest.mark.parametrize(
    ("cube", "fields", "range_", "error"),
    [
        ("walks", ["fare"], TWO_DAYS, ModelNotFound),
        ("station", ["name"], TWO_DAYS, ModelNotFound),
        ("rides", [], TWO_DAYS, InvalidInput),
        ("rides", "fare", TWO_DAYS, InvalidInput),
        ("rides", ["nope"], TWO_DAYS, UnknownField),
        ("rides", ["city.nope"], TWO_DAYS, UnknownField),
        ("rides", ["a.b.c.d.e.f"], TWO_DAYS, UnknownField),
        ("rides", ["fare from rides --"], TWO_DAYS, UnknownField),
        ("rides", ["odd"], TWO_DAYS, UnsupportedQuery),
        ("rides", ["fare"], ("bike", "2015", "2016"), UnknownField),
        ("rides", ["fare"], ("start_time", "soon", "2016"), TimeRangeSyntaxError),
        ("rides", ["fare"], ("start_time", "2016", "2015"), InvalidTimeRange),
        ("rides", ["fare"], ("start_time", "2015"), InvalidInput),
    ],
)
def test_what_cannot_be_asked_is_a_named_error(cubes, cube, fields, range_, error):
    with pytest.raises(error) as caught:
        cubes.candidates(cube, fields, range_)
    assert caught.value.hint or caught.value.highlight


@pytest.mark.parametrize(
    ("options", "daily", "raw"),
    [
        ({"storages": "vault"}, "UNSUPPORTED_STORAGE", "UNSUPPORTED_STORAGE"),
        ({"facts.rides": "raw"}, "INVALID_STORAGE", "able"),
        ({"lens.cube.query.valid.rides.facttables": "daily"}, "able", "INVALID_STORAGE"),
        ({"tables.daily": "vault_daily"}, "INVALID_STORAGE", "able"),
        ({"max_interval": "HOURLY"}, "NO_CANDIDATE_UPDATE_PERIODS", "able"),
        ({"periods.raw.lake": "DAILY"}, "able", "NO_CANDIDATE_UPDATE_PERIODS"),
        ({"join_type": "inner"}, "able", "able"),
    ],
)
def test_options_count_as_in_queries(cubes, options, daily, raw):
    found = causes(cubes.candidates("rides", ["fare"], TWO_DAYS, options=options))
    assert (found["lake_daily"], found["lake_raw"]) == (daily, raw)
    query = "select fare from rides where time_range_in(start_time, '2015-01-10', '2015-01-12')"
    if "able" in found.values():
        assert cubes.rewrite(query, options=options).partitions.keys() <= {
            table for table, cause in found.items() if cause == "able"
        }
    else:
        with pytest.raises(NoCandidate) as caught:
            cubes.rewrite(query, options=options)
        assert causes(caught.value.candidates) == found


def test_options_say_what_now_is_and_whether_chains_may_be_named(cubes, tmp_path):
    path = tmp_path / "some.toml"
    path.write_text("now = '2015-01-12'\njoin_chains = false\n")
    yesterday = ("start_time", "now.day-1day", "now.day")
    assert causes(cubes.candidates("rides", ["fare"], yesterday, options=path))["lake_daily"] == "able"
    march = dt.datetime(2015, 3, 1, tzinfo=dt.UTC)
    assert causes(cubes.candidates("rides", ["fare"], yesterday, options=path, now=march))["lake_raw"] != "able"
    with pytest.raises(UnsupportedQuery, match="join_chains"):
        cubes.candidates("rides", ["city.name"], TWO_DAYS, options=path)
    with pytest.raises(InvalidInput, match="not an option"):
        cubes.candidates("rides", ["fare"], TWO_DAYS, options={"joins": "inner"})
