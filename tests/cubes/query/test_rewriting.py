"""Rewriting one query at a time: what is read, what is refused, and how errors say where and what to do."""

from __future__ import annotations

import datetime as dt
import re

import pytest
import sqlglot
from sqlglot import exp

from hbstore.cubes import Cubes, DerivedCube, parse_documents
from hbstore.errors import (
    AmbiguousField,
    CubeSyntaxError,
    DatabaseNotFound,
    InvalidInput,
    InvalidModel,
    InvalidTimeRange,
    NoCandidate,
    TimeRangeSyntaxError,
    UnknownField,
    UnsupportedQuery,
)
from tests.cubes.small_cube import CUBE, MODEL, opened, partitions

JANUARY = "time_range_in(start_time, '2015-01-10', '2015-01-12')"


@pytest.fixture(scope="module")
def cubes():
    """All days of January but the 17th, February as a month; and all hours of January."""
    days = [f"2015-01-{day:02}" for day in range(1, 32)]
    with opened(*MODEL) as cubes:
        some = partitions("DAILY", [day for day in days if day != "2015-01-17"])
        cubes.add_partitions("daily", "lake", [*some, *partitions("MONTHLY", ["2015-02"])])
        cubes.add_partitions(
            "raw", "lake", partitions("HOURLY", [f"{day}-{at:02}" for day in days for at in range(24)])
        )
        cubes.add_partitions("stations", "lake", partitions("DAILY", ["2015-01-29"]))
        cubes.create(
            DerivedCube(name="fares", parent="rides", measures=["fare", "pace"], dim_attributes=["station_id"])
        )
        yield cubes


def runs(found):
    return [str(run) for some in found.partitions.values() for run in some.runs]


def test_days_months_and_the_hours_of_a_day_that_is_missing(cubes):
    found = cubes.rewrite("cube select minutes from rides where time_range_in(start_time, '2015-01-16', '2015-03')")
    assert runs(found) == [
        "lake_daily DAILY [2015-01-16, 2015-01-17)",
        "lake_daily DAILY [2015-01-18, 2015-02-01)",
        "lake_daily MONTHLY [2015-02, 2015-03)",
        "lake_raw HOURLY [2015-01-17-00, 2015-01-18-00)",
    ]
    assert [one.taken for one in found.candidates] == [True, True]
    assert found.missing == ()
    assert found.explain().startswith("lake_daily: 16 partitions\n  DAILY [2015-01-16, 2015-01-17)\n")
    assert repr(found) == "<Rewritten: 40 partitions of lake_daily, lake_raw>"
    assert found.to_dict()["partitions"]["lake_raw"] == ["lake_raw HOURLY [2015-01-17-00, 2015-01-18-00)"]


@pytest.mark.parametrize(
    ("condition", "runs_of_month"),
    [
        ("({0} or {1})", ["lake_daily MONTHLY [2015-02, 2015-03)"]),
        ("station_id = 3 and ({1} or station_id > 3 or {0}) and {2}", ["lake_daily MONTHLY [2015-02, 2015-03)"]),
        ("({2} and not (not {0} and not {1}))", ["lake_daily MONTHLY [2015-02, 2015-03)"]),
        ("(({0} and station_id = 3) or {1})", []),
    ],
)
def test_a_month_lies_across_the_ends_of_ranges_where_these_decide_nothing(cubes, condition, runs_of_month):
    first, second, both = (
        f"time_range_in(start_time, '{start}', '{end}')"
        for start, end in (("2015-02", "2015-02-15"), ("2015-02-10", "2015-03"), ("2015-02", "2015-03"))
    )
    found = cubes.rewrite(f"select fare from rides where {condition.format(first, second, both)}", partial=True)
    assert runs(found) == runs_of_month


def test_one_query_as_it_is_written(cubes):
    text = f"cube select city.name, pace from rides where {JANUARY} and station_id > 3 order by pace desc limit 5"
    found = cubes.rewrite(text)
    assert " ".join(found.sql.split()) == (
        "SELECT `city`.`name` AS `name`, SUM(`rides`.`fare`) / SUM(`rides`.`minutes`) AS `pace` FROM ( "
        "SELECT `station_id`, `fare`, `minutes` FROM `shop`.`lake_daily` WHERE `dt` IN ('2015-01-10', '2015-01-11') "
        ") AS `rides` LEFT JOIN ( SELECT `id`, `name` FROM `shop`.`lake_stations` WHERE `dt` = 'latest' ) AS `city` "
        "ON `rides`.`station_id` = `city`.`id` WHERE `rides`.`station_id` > 3 GROUP BY `city`.`name` "
        "ORDER BY `pace` DESC LIMIT 5"
    )
    assert list(found.reads) == ["lake_stations", "lake_daily"]
    assert str(found.reads["lake_daily"]) == "dt in ('2015-01-10', '2015-01-11')"


def test_relative_times(cubes):
    text = "select fare from rides where time_range_in(start_time, 'now.month', 'now')"
    assert runs(cubes.rewrite(text, now=dt.datetime(2015, 1, 3, tzinfo=dt.UTC))) == [
        "lake_daily DAILY [2015-01-01, 2015-01-03)"
    ]


def test_a_lighter_fact_is_taken_and_others_say_why_they_are_not(cubes):
    found = cubes.rewrite(f"select fare from rides where {JANUARY}")
    assert [str(one) for one in found.candidates] == [
        "lake_daily: taken (weight 10)",
        "lake_raw: MORE_WEIGHT: weight 100, and the answer has 10",
    ]
    found = cubes.rewrite(f"select fare, bike from rides where {JANUARY}")
    assert str(found.candidates[0]) == "lake_daily: COLUMN_NOT_FOUND: it has no bike"


def test_ranges_of_another_time_dimension_are_conditions(cubes):
    text = f"select fare from rides where {JANUARY} and time_range_in(paid_time, '2015-01-10', '2015-01-11')"
    found = cubes.rewrite(text)
    assert runs(found) == ["lake_raw HOURLY [2015-01-10-00, 2015-01-12-00)"]
    assert "`rides`.`paid_time` AS TIMESTAMP) >= CAST('2015-01-10 00:00:00.000000' AS TIMESTAMP)" in found.sql


def test_the_time_of_a_partition_is_that_of_its_own_dimension_alone(cubes):
    found = cubes.rewrite(f"select date_trunc('month', start_time), fare from rides where {JANUARY}")
    assert list(found.partitions) == ["lake_daily"]
    found = cubes.rewrite(f"select date_trunc('month', paid_time), fare from rides where {JANUARY}")
    assert list(found.partitions) == ["lake_raw"]
    assert "DATE_TRUNC('month', `rides`.`paid_time`)" in found.sql


def test_a_dimension_that_the_cube_relates_to_another(cubes):
    cube = cubes.cube("rides")
    text = "select fare from rides where time_range_in(paid_time, '2015-01-10', '2015-01-11')"
    with pytest.raises(NoCandidate, match="it is not partitioned by pt"):
        cubes.rewrite(text)
    cubes.alter(cube.changed(properties={"cube.timedim.relation.paid_time": "start_time+[0 days,2 days]"}))
    found = cubes.rewrite(text)
    assert runs(found) == ["lake_raw HOURLY [2015-01-08-00, 2015-01-11-00)"]
    assert "AS TIMESTAMP) >= CAST('2015-01-10 00:00:00.000000' AS TIMESTAMP)" in found.sql
    cubes.alter(cube.changed(properties={"cube.timedim.relation.paid_time": "start_time after 2 days"}))
    with pytest.raises(InvalidModel, match="relation"):
        cubes.rewrite(text)
    cubes.alter(cube)


def test_definitions_of_an_expression_by_their_times(cubes):
    for day, tree in (("10", "SUM(`rides`.`fare`)"), ("20", "SUM(`rides`.`fare`) * 2")):
        text = f"select dated from rides where time_range_in(start_time, '2015-01-{day}', '2015-01-{day}-12')"
        assert tree in " ".join(cubes.rewrite(text).sql.split())
    both = "from rides where time_range_in(start_time, '2015-01-10', '2015-01-20')"
    with pytest.raises(UnsupportedQuery, match="the definition of the expression changes"):
        cubes.rewrite(f"select dated {both}")
    found = cubes.rewrite(f"select sum(dated) {both}")
    assert "lake_daily DAILY [2015-01-10, 2015-01-17)" in runs(found)
    sql = " ".join(found.sql.split())
    assert (
        "SUM( CASE WHEN `rides`.`range 1` THEN `rides`.`fare` WHEN `rides`.`range 2` THEN `rides`.`fare` * 2 END )"
        in sql
    )
    assert "TRUE AS `range 1`, FALSE AS `range 2` FROM `shop`.`lake_daily` WHERE `dt` IN ('2015-01-10'" in sql


def test_the_first_time_that_bounds_the_rows_says_which_definition_counts(cubes):
    """Not the one by which partitions are chosen, as another fact has others."""
    started, paid = (f"time_range_in({name}_time, '2015-01-10', '2015-01-{{}}')" for name in ("start", "paid"))

    def conditions(*where, days=(20, 20)):
        sql = cubes.rewrite(f"select sum(dated) from rides where {' '.join(where).format(*days)}").sql
        return re.findall(r"WHEN (?:\( CAST\()?`rides`.`(\w+)", " ".join(sql.split()))

    assert conditions(started, "and", paid, days=(20, 12)) == ["range"] * 2
    assert conditions(paid, "and", started, days=(20, 12)) == ["paid_time"] * 2
    assert conditions(paid, "and", started, days=(12, 20)) == []
    assert conditions("(", paid, "or bike = 'a') and", started) == ["range"] * 2
    assert conditions("not", paid, "and", started) == ["range"] * 2


def test_what_only_rows_can_answer_is_read_from_rows(cubes):
    for item in ("max(fare)", "count(*)", "sum(fare * minutes)", "avg(fare)", "count(station_id)"):
        assert list(cubes.rewrite(f"select {item} from rides where {JANUARY}").partitions) == ["lake_raw"]
    for item in ("count(distinct station_id)", "max(station_id)", "sum(case when station_id > 3 then fare end)"):
        assert list(cubes.rewrite(f"select {item} from rides where {JANUARY}").partitions) == ["lake_daily"]
    with pytest.raises(NoCandidate, match="needs rows that are not") as caught:
        cubes.rewrite(f"select max(tip) from rides where {JANUARY}")
    assert [one.cause for one in caught.value.candidates] == ["MISSING_DEFAULT_AGGREGATE", "COLUMN_NOT_FOUND"]


def test_measures_of_two_facts_stand_below_each_other(cubes):
    found = cubes.rewrite(f"select station_id, tip, longest, count(*) from rides where {JANUARY}")
    assert runs(found) == [
        "lake_daily DAILY [2015-01-10, 2015-01-12)",
        "lake_raw HOURLY [2015-01-10-00, 2015-01-12-00)",
    ]
    assert "COUNT(*) FILTER(WHERE `rides`.`block 1`)" in " ".join(found.sql.split())


def test_derived_cubes(cubes):
    assert runs(cubes.rewrite(f"select pace from fares where {JANUARY}"))
    assert cubes.rewrite(f"select city.name from fares where {JANUARY}").sql
    behind = cubes.rewrite(
        f"select station_name, fare from fares where {JANUARY}"
    )  # which has the attribute station_id
    assert behind.sql == cubes.rewrite(f"select station_name, fare from rides as fares where {JANUARY}").sql
    cubes.create(DerivedCube(name="by_bike", parent="rides", measures=["fare"], dim_attributes=["bike"]))
    for name in ("station_name", "station_id"):
        with pytest.raises(UnknownField, match=f"derived_cube=by_bike, field={name}, fields=fare, bike"):
            cubes.rewrite(f"select {name}, fare from by_bike where {JANUARY}")
    cubes.drop("derived_cube", "by_bike")
    with pytest.raises(UnknownField, match="the derived cube does not have the field"):
        cubes.rewrite(f"select minutes from fares where {JANUARY}")


def test_fields_that_no_derived_cube_has_together():
    cube = CUBE[2].changed(properties={"cube.allfields.queriable": "false"})
    fares = DerivedCube(name="fares", parent="rides", measures=["fare", "minutes"], dim_attributes=["station_id"])
    longest = DerivedCube(name="by_bike", parent="rides", measures=["longest", "dated"], dim_attributes=["bike"])
    with opened(*(cube if one is CUBE[2] else one for one in MODEL), fares, longest) as cubes:
        cubes.add_partitions("raw", "lake", partitions("HOURLY", [f"2015-01-10-{at:02}" for at in range(24)]))
        cubes.add_partitions("stations", "lake", partitions("DAILY", ["2015-01-29"]))
        day = "time_range_in(start_time, '2015-01-10', '2015-01-11')"
        for fields in (
            "fare, station_id",
            "pace",
            "pace, city.name",
            "station_name, fare",
            "longest, bike",
            "dated, bike",
            "start_time, fare",
        ):
            assert cubes.rewrite(f"select {fields} from rides where {day}").sql
        for fields in ("fare, bike", "pace, bike", "station_name, longest", "dated, city.name", "bike, station_id"):
            with pytest.raises(UnsupportedQuery, match="cannot be asked together"):
                cubes.rewrite(f"select {fields} from rides where {day}")
        assert cubes.rewrite(f"select fare, longest from rides where {day}").sql
        with pytest.raises(UnsupportedQuery, match="fields=bike, fare"):
            cubes.rewrite(f"select fare from rides where {day} and bike = 'a'")


def test_times_that_nothing_covers_are_named(cubes):
    text = "select fare from rides where time_range_in(start_time, '2015-01-30', '2015-04')"
    with pytest.raises(NoCandidate) as caught:
        cubes.rewrite(text)
    march = dt.datetime(2015, 3, 1, tzinfo=dt.UTC), dt.datetime(2015, 4, 1, tzinfo=dt.UTC)
    assert caught.value.missing == (march,)
    assert "[2015-03-01, 2015-04-01)" in str(caught.value)
    found = cubes.rewrite(text, partial=True)
    assert found.missing == (march,)
    assert repr(found) == "<Rewritten: 3 partitions of lake_daily, 1 range missing>"


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        (f"select nope from rides where {JANUARY}", UnknownField, "no such field"),
        (f"select city.nope from rides where {JANUARY}", UnknownField, "no such field"),
        (f"select nochain.name from rides where {JANUARY}", UnknownField, "no such field"),
        (f"select nowhere.id from rides where {JANUARY}", UnknownField, "leads to what is not a dimension"),
        ("select fare from walks", UnknownField, "no such cube or dimension"),
        ("select fare from rides", UnsupportedQuery, "no time range"),
        (f"select fare from rides where not {JANUARY}", UnsupportedQuery, "all times before or after"),
        (f"select fare from rides where {JANUARY} or bike = 'a'", UnsupportedQuery, "all times before or after"),
        (f"select odd from rides where {JANUARY}", UnsupportedQuery, "no default aggregate"),
        (f"select sum(max(fare)) from rides where {JANUARY}", UnsupportedQuery, "an aggregate stands within another"),
        (f"select bike, fare from rides where {JANUARY} group by station_id", UnsupportedQuery, "neither aggregated"),
        (f"select name from rides r join station s on r.station_id = s.id where {JANUARY}", AmbiguousField, "r.name"),
        (f"select fare from rides, rides where {JANUARY}", AmbiguousField, "two tables have one name"),
        (f"select fare from other.rides where {JANUARY}", UnsupportedQuery, "a cube of another database"),
        (f"select * from rides where {JANUARY}", UnsupportedQuery, "names its fields"),
        (f"select fare frm rides where {JANUARY}", CubeSyntaxError, "does not parse"),
        ("select fare from rides where time_range_in(bike, '2015', '2016')", UnknownField, "not a time dimension"),
        ("select fare from rides where time_range_in(start_time, '2015', 5)", CubeSyntaxError, "not a time range"),
        ("select fare from rides where time_range_in(start_time, 'soon')", TimeRangeSyntaxError, "soon"),
        (
            "select fare from rides where time_range_in(start_time, '2016', '2015')",
            InvalidTimeRange,
            "before it begins",
        ),
        ("select fare from rides where time_range_in(start_time, '2015', '2015')", InvalidTimeRange, "holds no time"),
        ("select fare from rides having time_range_in(start_time, '2015')", UnsupportedQuery, "outside of WHERE"),
        (
            "select tip from rides where time_range_in(start_time, '2015-01', '2015-02')",
            UnsupportedQuery,
            "whole range",
        ),
        (f"select city.district from rides where {JANUARY}", NoCandidate, "it has no district"),
        (f"select name from rides where {JANUARY}", NoCandidate, "it has no name"),
        ("", CubeSyntaxError, "not one query"),
        (f"select fare from rides where {JANUARY} limit -1", UnsupportedQuery, "LIMIT is not a number"),
        (f"select fare from rides where {JANUARY} limit 2147483648", UnsupportedQuery, "larger than Spark's"),
        (f"select fare from rides where {JANUARY} order by 3", UnsupportedQuery, "no such place in SELECT"),
        (f"select fare from rides where {JANUARY} order by -1", UnsupportedQuery, "no such place in SELECT"),
        (f"select distinct on (bike) fare from rides where {JANUARY}", UnsupportedQuery, "no DISTINCT ON"),
        ("select fare from rides where time_range_in()", CubeSyntaxError, "not a time range"),
        (f"select fare from rides where {JANUARY} and sum(fare) > 4", UnsupportedQuery, "an aggregate stands in WHERE"),
        (f"select fare from rides where {JANUARY} group by sum(fare)", UnsupportedQuery, "stands in GROUP BY"),
        (f"select fare from rides where {JANUARY} group by 1", UnsupportedQuery, "what is aggregated"),
        (f"select bike, fare from rides where {JANUARY} group by bike, 2", UnsupportedQuery, "what is aggregated"),
        (f"select fare as f from rides where {JANUARY} group by F", UnsupportedQuery, "what is aggregated"),
        (f"select pace as p from rides where {JANUARY} group by p", UnsupportedQuery, "what is aggregated"),
        (f"select count(*) as n from rides where {JANUARY} group by n", UnsupportedQuery, "what is aggregated"),
        (f"select dated as d from rides where {JANUARY} group by 1", UnsupportedQuery, "what is aggregated"),
        (f"select fare from rides r join station s on max(fare) = s.id where {JANUARY}", UnsupportedQuery, "in ON"),
        (f"select distinct bike from rides where {JANUARY} order by fare", UnsupportedQuery, "is not selected"),
        (f"select bike from rides where {JANUARY} order by station_id", UnsupportedQuery, "is not selected"),
    ],
)
def test_what_cannot_be_answered_says_why_and_what_to_do(cubes, text, error, says):
    with pytest.raises(error, match=says) as caught:
        cubes.rewrite(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (f"select fare from rides where {JANUARY} and sum(fare) > 4", "sum(fare) > 4"),
        (f"select distinct bike, fare from rides where {JANUARY} order by fare + tip", "tip"),
        (f"select fare from rides where {JANUARY} and bike = ?", "?"),
        (f"select distinct on (bike) fare from rides where {JANUARY}", "bike) fare"),
        (f"select fare from rides where {JANUARY} group by bike, -1", "1"),
        (f"select bike, fare + 0 as more from rides where {JANUARY} group by bike, 2", "2"),
        (f"select bike, fare as most from rides where {JANUARY} group by bike, most", "most"),
    ],
)
def test_errors_point_at_the_place_or_at_what_it_stands_in(cubes, text, at):
    with pytest.raises(UnsupportedQuery) as caught:
        cubes.rewrite(text)
    line, caret = caught.value.highlight.splitlines()
    assert line[caret.index("^") :].startswith(at)


def test_rows_that_come_once_are_ordered_by_the_names_of_what_is_selected(cubes):
    def order(text):
        return sqlglot.parse_one(cubes.rewrite(text).sql, dialect="spark").args["order"].sql("spark")

    assert order(f"select upper(bike) b from rides where {JANUARY} order by lower(b)") == "ORDER BY LOWER(`b`) ASC"
    assert order(f"select distinct bike, fare from rides where {JANUARY} order by fare / 2, 1") == (
        "ORDER BY `fare` / 2 ASC, `bike` ASC"
    )
    two = f"select r.name, s.name from rides r join station s on r.station_id = s.id where {JANUARY}"
    with pytest.raises(NoCandidate, match="it has no name"):
        cubes.rewrite(f"{two} order by s.name")
    two = f"select city.name, s.name, s.id from rides r join station s on r.station_id = s.id where {JANUARY}"
    assert order(f"{two} order by s.name desc, s.id") == "ORDER BY 2 DESC, `id` ASC"
    with pytest.raises(UnsupportedQuery, match="ordered by what is not selected"):
        cubes.rewrite(f"{two} order by upper(s.name)")
    assert (
        order(f"select station_id, fare from rides where {JANUARY} order by tip") == "ORDER BY SUM(`rides`.`tip`) ASC"
    )


def test_a_number_that_is_grouped_by_is_no_place(cubes):
    found = cubes.rewrite(f"select 2 as two, fare from rides where {JANUARY} group by two")
    assert "GROUP BY CAST(2 AS INT)" in " ".join(found.sql.split())


def test_ranges_that_say_all_of_a_condition_are_left_to_partitions(cubes):
    ranges = f"({JANUARY} or time_range_in(start_time, '2015-01-20', '2015-01-21'))"
    found = cubes.rewrite(f"select fare from rides where {ranges} and not time_range_in(start_time, '2015-01-11')")
    assert runs(found) == ["lake_daily DAILY [2015-01-10, 2015-01-11)"]
    for condition in (ranges, f"{ranges} and not time_range_in(start_time, '2014', '2015-01')"):
        sql = " ".join(cubes.rewrite(f"select fare from rides where {condition}").sql.split())
        assert sql.endswith("WHERE `dt` IN ('2015-01-10', '2015-01-11', '2015-01-20') ) AS `rides`")


def test_errors_point_at_the_place(cubes):
    with pytest.raises(UnknownField) as caught:
        cubes.rewrite(f"cube select minutes,\n  fare + nope from rides where {JANUARY}")
    assert caught.value.highlight == f"  fare + nope from rides where {JANUARY}\n         ^"


@pytest.mark.parametrize(
    ("times", "at"),
    [("'soon'", "soon"), ("'2015', '2016-13'", "13"), ("'2016', '2015'", "time"), ("'2015', '2015'", "time")],
)
def test_errors_of_times_point_at_them_in_the_query(cubes, times, at):
    text = f"cube select fare from rides where time_range_in(start_time, {times})"
    with pytest.raises((TimeRangeSyntaxError, InvalidTimeRange)) as caught:
        cubes.rewrite(f"-- so\n{text}")
    assert caught.value.highlight == f"{text}\n{' ' * text.index(at)}^"


@pytest.mark.parametrize("text", [5, None, b"select 1", ["select"], "select '\ud800'"])
def test_other_things_than_a_text_are_refused(cubes, text):
    with pytest.raises(InvalidInput):
        cubes.rewrite(text)


def test_hostile_texts_stay_texts(cubes):
    hostile = r"x' OR '1'='1' -- \' `"
    literal = hostile.replace("\\", "\\\\").replace("'", "\\'")
    found = cubes.rewrite(f"select fare as `a``; drop table x` from rides where {JANUARY} and bike = '{literal}'")
    tree = sqlglot.parse_one(found.sql, dialect="spark")
    assert hostile in [one.this for one in tree.find_all(exp.Literal)]
    assert tree.expressions[0].alias == "a`; drop table x"
    assert {one.name for one in tree.find_all(exp.Table)} == {"lake_raw"}


def test_references_in_a_circle_are_named():
    circle = """
kind: dimension
name: {0}
dim_attributes:
  - {{name: id, type: int}}
  - {{name: label, type: string, chain: [{{chain: next, field: label}}]}}
join_chains: [{{name: next, paths: [["{0}.id = {1}.id"]]}}]
"""
    both = "---".join((circle.format("one", "two"), circle.format("two", "one")))
    with (
        opened(*parse_documents(both, "yaml")) as cubes,
        pytest.raises(UnsupportedQuery, match="lead back to themselves"),
    ):
        cubes.rewrite("select label from one")


def test_a_fact_and_a_cube_that_are_dropped():
    text = f"select minutes from rides where {JANUARY}"
    with opened(*MODEL) as cubes:
        cubes.add_partitions("daily", "lake", partitions("DAILY", ["2015-01-10", "2015-01-11"]))
        assert runs(cubes.rewrite(text))
        cubes.drop("fact", "raw")
        assert runs(cubes.rewrite(text))
        cubes.drop("cube", "rides", cascade=True)
        with pytest.raises(UnknownField):
            cubes.rewrite(text)


def test_a_cube_without_facts(cubes):
    with opened(*CUBE) as empty, pytest.raises(NoCandidate, match="no facts"):
        empty.rewrite(f"select minutes from rides where {JANUARY}")
    with pytest.raises(DatabaseNotFound):
        Cubes(cubes.store, "nowhere").rewrite(f"select minutes from rides where {JANUARY}")
