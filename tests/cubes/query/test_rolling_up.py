"""What rolled-up facts tell of a measure: from which parts an aggregate is made, and why it is refused otherwise."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from hbstore.cubes import parse_documents
from hbstore.errors import NoCandidate, UnsupportedQuery
from tests.cubes.small_cube import opened, partitions

MODEL = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {start_time: dt}
measures:
  - {name: fare, type: "decimal(10,2)", default_aggregate: sum}
  - {name: fare_count, type: bigint, default_aggregate: count}
  - {name: pace, type: bigint, default_aggregate: AVG}
  - {name: pace_sum, type: bigint, default_aggregate: sum}
  - {name: pace_count, type: bigint, default_aggregate: count}
  - {name: tip, type: double, default_aggregate: sum}
  - {name: riders, type: int, default_aggregate: count_distinct}
  - {name: bikes, type: string, default_aggregate: approx_count_distinct}
  - {name: odd, type: bigint}
dim_attributes:
  - {name: start_time, type: timestamp}
  - {name: region, type: string}
  - {name: customer, type: int}
  - {name: driver, type: int}
properties:
  cube.measure.fare.count: fare_count
  cube.measure.pace.sum: pace_sum
  cube.measure.pace.count: pace_count
  cube.measure.riders.sketch: rider_sketch
  cube.measure.bikes.sketch: bike_sketch
  cube.measure.customer.sketch: customer_sketch
---
kind: fact
name: daily
cube: rides
columns:
  - {name: region, type: string}
  - {name: fare, type: "decimal(20,2)"}
  - {name: fare_count, type: bigint}
  - {name: pace_sum, type: bigint}
  - {name: pace_count, type: bigint}
  - {name: tip, type: double}
  - {name: riders, type: int}
  - {name: odd, type: bigint}
  - {name: rider_sketch, type: binary, extra: true}
  - {name: bike_sketch, type: binary, extra: true}
  - {name: customer_sketch, type: binary, extra: true}
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""
RAW = """
kind: fact
name: raw
cube: rides
weight: 100
properties: {cube.fact.is.aggregated: "false"}
columns:
  - {name: region, type: string}
  - {name: customer, type: int}
  - {name: fare, type: "decimal(10,2)"}
  - {name: pace, type: bigint}
  - {name: riders, type: int}
  - {name: bikes, type: string}
storage_tables:
  - storage: lake
    update_periods: [HOURLY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""
BY_CUSTOMER = """
kind: fact
name: by_customer
cube: rides
weight: 50
columns: [{name: customer, type: int}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""
DAY = "time_range_in(start_time, '2015-01-10', '2015-01-11')"
TWO_DAYS = "time_range_in(start_time, '2015-01-10', '2015-01-12')"


@contextmanager
def cubes_of(*models):
    """A cube with a rolled-up day, and perhaps with the hours of the next one."""
    with opened(*(one for model in (MODEL, *models) for one in parse_documents(model, "yaml"))) as cubes:
        cubes.add_partitions("daily", "lake", partitions("DAILY", ["2015-01-10"]))
        if RAW in models:
            cubes.add_partitions("raw", "lake", partitions("HOURLY", [f"2015-01-11-{hour:02}" for hour in range(24)]))
        if BY_CUSTOMER in models:
            cubes.add_partitions("by_customer", "lake", partitions("DAILY", ["2015-01-11"]))
        yield cubes


@pytest.fixture(scope="module")
def rolled_up():
    """A rolled-up fact alone."""
    with cubes_of() as cubes:
        yield cubes


@pytest.fixture(scope="module")
def both():
    """A rolled-up fact, and one that is not."""
    with cubes_of(RAW) as cubes:
        yield cubes


def sql(cubes, item, where=DAY):
    found = " ".join(cubes.rewrite(f"select {item} from rides where {where}").sql.split())
    return found.replace("`rides`.", "").replace("( ", "(").replace(" )", ")")


MEAN_OF_FARES = "CAST(CAST(SUM(`fare`) AS DECIMAL(20, 2)) / NULLIF(SUM(`count of fare`), 0) AS DECIMAL(14, 6))"
MEAN_OF_PACES = "SUM(CAST(`sum of pace` AS DOUBLE)) / NULLIF(SUM(`count of pace`), 0)"
MEAN_OF_PACES_IN_EU = (
    "SUM(CAST(`sum of pace` AS DOUBLE)) FILTER(WHERE `region` = 'eu')"
    " / NULLIF(SUM(`count of pace`) FILTER(WHERE `region` = 'eu'), 0)"
)


@pytest.mark.parametrize(
    ("item", "aggregate", "columns"),
    [
        ("avg(fare)", MEAN_OF_FARES, "`fare_count` AS `count of fare`, `fare`"),
        ("mean(fare)", MEAN_OF_FARES, "`fare_count` AS `count of fare`, `fare`"),
        ("count(fare)", "COALESCE(SUM(`count of fare`), 0)", "`fare_count` AS `count of fare`"),
        ("pace", MEAN_OF_PACES, "`pace_count` AS `count of pace`, `pace_sum` AS `sum of pace`"),
        ("100 / pace", f"100 / ({MEAN_OF_PACES})", "`pace_count` AS `count of pace`, `pace_sum` AS `sum of pace`"),
        ("sum(pace)", "SUM(`sum of pace`)", "`pace_sum` AS `sum of pace`"),
        (
            "sum(case when region = 'eu' then pace * 2 else 0 end)",
            "SUM(CASE WHEN `region` = 'eu' THEN `sum of pace` * 2 ELSE 0 END)",
            "`region`, `pace_sum` AS `sum of pace`",
        ),
        (
            "count(if(region = 'eu', fare, null))",
            "COALESCE(SUM(IF(`region` = 'eu', `count of fare`, NULL)), 0)",
            "`fare_count` AS `count of fare`, `region`",
        ),
        (
            "avg(pace) filter (where region = 'eu')",
            MEAN_OF_PACES_IN_EU,
            "`pace_count` AS `count of pace`, `region`, `pace_sum` AS `sum of pace`",
        ),
        (
            "bikes",
            "COALESCE(HLL_SKETCH_ESTIMATE(HLL_UNION_AGG(`sketches of bikes`, TRUE)), 0)",
            "`bike_sketch` AS `sketches of bikes`, NULL AS `values of bikes`",
        ),
    ],
)
def test_wholes_are_made_of_parts(rolled_up, item, aggregate, columns):
    found = sql(rolled_up, item)
    assert f"SELECT {aggregate} AS " in found
    assert f"FROM (SELECT {', '.join(sorted(columns.split(', '), key=by_name))} FROM `shop`.`lake_daily`" in found


def by_name(column):
    """In which order columns stand."""
    return column.split(" AS ")[-1]


def test_rows_that_are_not_rolled_up_stand_for_one_value_or_none(both):
    found = sql(both, "avg(fare), pace", TWO_DAYS)
    assert f"SELECT {MEAN_OF_FARES} AS `AVG(fare)`, {MEAN_OF_PACES} AS `pace`" in found
    assert "CASE WHEN `fare` IS NULL THEN 0 ELSE 1 END AS `count of fare`" in found
    assert "CASE WHEN `pace` IS NULL THEN 0 ELSE 1 END AS `count of pace`" in found
    assert "`fare`, `pace` AS `sum of pace` FROM `shop`.`lake_raw`" in found
    assert "`fare`, `pace_sum` AS `sum of pace` FROM `shop`.`lake_daily`" in found


def test_rows_that_are_not_rolled_up_are_asked_as_they_are(both):
    hours = "time_range_in(start_time, '2015-01-11', '2015-01-12')"
    for item in ("AVG(`fare`)", "COUNT(`fare`)", "SUM(`pace`)", "APPROX_COUNT_DISTINCT(`customer`)"):
        assert f"SELECT {item} AS " in sql(both, item, hours)


def test_sketches_of_values_and_of_rolled_up_rows_are_joined(both):
    found = sql(both, "approx_count_distinct(riders)", TWO_DAYS)
    values, sketches = (
        "HLL_SKETCH_AGG(CAST(`values of riders` AS BIGINT))",
        "HLL_UNION_AGG(`sketches of riders`, TRUE)",
    )
    both_of_them = f"HLL_UNION({values}, {sketches}, TRUE)"
    assert f"COALESCE(HLL_SKETCH_ESTIMATE(COALESCE({both_of_them}, {values}, {sketches})), 0)" in found
    assert "NULL AS `sketches of riders`, `riders` AS `values of riders` FROM `shop`.`lake_raw`" in found
    assert "`rider_sketch` AS `sketches of riders`, NULL AS `values of riders` FROM `shop`.`lake_daily`" in found


def test_rolled_up_rows_that_have_an_attribute_have_its_values():
    eleventh = "time_range_in(start_time, '2015-01-11', '2015-01-12')"
    with cubes_of(BY_CUSTOMER) as cubes:
        both_days, one_day = (sql(cubes, "approx_count_distinct(customer)", range_) for range_ in (TWO_DAYS, eleventh))
    values = "NULL AS `sketches of customer`, `customer` AS `values of customer`"
    assert f"{values} FROM `shop`.`lake_by_customer`" in both_days
    assert "HLL_UNION(HLL_SKETCH_AGG(" in both_days
    assert "SELECT APPROX_COUNT_DISTINCT(`customer`) AS " in one_day


ASK_SKETCHES = "Ask for approx_count_distinct(riders), which sketches answer"
NAME_SKETCHES = (
    "Say which column holds sketches of odd in rolled-up facts, by the cube's property cube.measure.odd.sketch"
)
COUNT_OF_TIPS = "the cube does not say which measure holds the count of tip"
SAY_COUNT_OF_TIPS = (
    "Say which measure holds the count of tip in rolled-up facts, by the cube's property cube.measure.tip.count"
)
SAY_BOTH = (
    "Say which measures hold the sum and count of odd in rolled-up facts,"
    " by the cube's properties cube.measure.odd.sum and cube.measure.odd.count"
)


@pytest.mark.parametrize(
    ("item", "reason", "hint"),
    [
        ("avg(tip)", COUNT_OF_TIPS, SAY_COUNT_OF_TIPS),
        ("count(tip)", COUNT_OF_TIPS, SAY_COUNT_OF_TIPS),
        ("avg(odd)", "the cube does not say which measures hold the sum and count of odd", SAY_BOTH),
        (
            "riders",
            "one riders may be in several of them",
            ASK_SKETCHES,
        ),
        ("count(distinct fare)", "one fare may be in several of them", ""),
        (
            "approx_count_distinct(odd)",
            "one odd may be in several of them",
            NAME_SKETCHES,
        ),
        (
            "approx_count_distinct(riders, 0.01)",
            "one riders may be in several of them",
            ASK_SKETCHES,
        ),
        ("median(fare)", "the median of a whole is not made of those of its parts", ""),
        ("percentile_approx(fare, 0.5)", "the percentile_approx of a whole is not made of those of its parts", ""),
        ("stddev(fare)", "the stddev of a whole is not made of those of its parts", ""),
        ("max(fare)", "they hold the sum of fare", ""),
        ("max(odd)", "the cube does not say how odd is rolled up", "Give the measure a default_aggregate"),
        ("sum(abs(fare))", "they do not tell the fare of single rows", ""),
        ("avg(case when region = 'eu' then fare else 0 end)", "they do not tell the fare of single rows", ""),
        ("sum(fare * tip)", "they do not tell which fare and tip stood in one row", ""),
        ("sum(fare) filter (where tip > 1)", "they do not tell of which single rows the condition holds", ""),
        ("count(*)", "they do not say how many rows each of them stands for", ""),
        ("count(region)", "they do not say how many rows each of them stands for", ""),
    ],
)
def test_what_rolled_up_rows_do_not_tell_is_said(rolled_up, item, reason, hint):
    with pytest.raises(NoCandidate) as caught:
        rolled_up.rewrite(f"select {item} from rides where {DAY}")
    (candidate,) = caught.value.candidates
    assert candidate.cause == "MISSING_DEFAULT_AGGREGATE"
    assert candidate.detail.startswith(f"its rows are rolled up, and {caught.value.fields['what']} needs rows that ")
    assert "`" not in candidate.detail
    assert candidate.detail.endswith(reason), candidate.detail
    assert caught.value.hint.startswith(hint or "Ask for other fields")


def test_a_distinct_count_of_an_attribute_that_a_rolled_up_fact_lacks(rolled_up):
    with pytest.raises(NoCandidate, match="it has no customer") as caught:
        rolled_up.rewrite(f"select count(distinct customer) from rides where {DAY}")
    assert caught.value.hint == "Ask for approx_count_distinct(customer), which sketches answer"


def test_a_fact_that_lacks_the_counts_is_told_apart():
    lacking = MODEL.replace("  - {name: fare_count, type: bigint}\n", "")
    with opened(*parse_documents(lacking, "yaml")) as cubes, pytest.raises(NoCandidate) as caught:
        cubes.rewrite(f"select avg(fare) from rides where {DAY}")
    (candidate,) = caught.value.candidates
    assert (candidate.cause, candidate.detail) == ("COLUMN_NOT_FOUND", "it has no fare_count")


def test_within_group_is_read_from_rows_and_written_as_it_is(both):
    """sqlglot would write PERCENTILE_APPROX for it, which is not exact."""
    half = "percentile_cont(0.5) within group (order by fare)"
    day = "time_range_in(start_time, '2015-01-11', '2015-01-12')"
    assert sql(both, f"{half} as half", day).startswith(
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY `fare`) AS `half` FROM"
    )
    with pytest.raises(UnsupportedQuery, match="within another"):
        both.rewrite(f"select {half.replace('fare', 'sum(fare)')} from rides where {day}")


def test_counts_hold_only_at_the_times_at_which_their_column_does():
    plain = "{name: fare_count, type: bigint}"
    dated = MODEL.replace(plain, plain.replace("}", ", start_time: 2015-01-11}"))
    assert dated != MODEL
    with opened(*parse_documents(dated, "yaml")) as cubes:
        cubes.add_partitions("daily", "lake", partitions("DAILY", ["2015-01-10", "2015-01-11"]))
        assert cubes.rewrite(f"select fare from rides where {TWO_DAYS}").missing == ()
        with pytest.raises(NoCandidate, match="partitions are missing") as caught:
            cubes.rewrite(f"select avg(fare) from rides where {TWO_DAYS}")
    assert [tuple(f"{end:%d}" for end in one) for one in caught.value.missing] == [("10", "11")]


def test_where_partitions_are_missing_the_error_says_as_well_what_rolled_up_facts_could_answer(both):
    with pytest.raises(NoCandidate, match="partitions are missing") as caught:
        both.rewrite(f"select riders from rides where {TWO_DAYS}")
    assert caught.value.hint.endswith(f"(--partial). {ASK_SKETCHES}")
