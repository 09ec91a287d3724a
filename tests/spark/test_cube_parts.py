"""Means, counts and approximate distinct counts on Spark: from parts that rolled-up facts hold, and from rows."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hbstore import connect
from hbstore.cubes import Cubes, parse_documents
from hbstore.errors import NoCandidate
from hbstore.spark import cube, write_table

MODEL = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {{at: dt}}
measures:
  - {{name: fare, type: "decimal(10,2)", default_aggregate: sum}}
  - {{name: fare_count, type: bigint, default_aggregate: count}}
  - {{name: pace, type: bigint, default_aggregate: avg}}
  - {{name: pace_sum, type: bigint, default_aggregate: sum}}
  - {{name: pace_count, type: bigint, default_aggregate: count}}
  - {{name: rider, type: int, default_aggregate: approx_count_distinct}}
dim_attributes:
  - {{name: at, type: timestamp}}
  - {{name: region, type: string}}
  - {{name: name, type: string}}
properties:
  cube.measure.fare.count: fare_count
  cube.measure.pace.sum: pace_sum
  cube.measure.pace.count: pace_count
  cube.measure.rider.sketch: rider_sketch
  cube.measure.name.sketch: name_sketch
---
kind: fact
name: daily
cube: rides
columns:
  - {{name: region, type: string}}
  - {{name: fare, type: "decimal(20,2)"}}
  - {{name: fare_count, type: bigint}}
  - {{name: pace_sum, type: bigint}}
  - {{name: pace_count, type: bigint}}
  - {{name: rider_sketch, type: binary, extra: true}}
  - {{name: name_sketch, type: binary, extra: true}}
storage_tables: &tables
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/daily", format: parquet}}
---
kind: fact
name: rows
cube: rides
weight: 100
properties: {{cube.fact.is.aggregated: "false"}}
columns:
  - {{name: region, type: string}}
  - {{name: name, type: string}}
  - {{name: fare, type: "decimal(10,2)"}}
  - {{name: pace, type: bigint}}
  - {{name: rider, type: int}}
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/rows", format: parquet}}
"""
DAYS = ["2015-01-01", "2015-01-02", "2015-01-03"]
LARGE = (3, 2_004, 4_002)
"""One row of each day and of the region eu, with whose values a sum of two days overflows, and a mean does not."""
ROLLED_UP = """
    SELECT region, dt, sum(fare) AS fare, count(fare) AS fare_count, CAST(sum(CAST(pace AS DECIMAL(20))) AS BIGINT)
    AS pace_sum, count(pace) AS pace_count, hll_sketch_agg(rider, {}) AS rider_sketch, hll_sketch_agg(name)
    AS name_sketch FROM rides WHERE dt = '{}' GROUP BY region, dt
"""


@pytest.fixture(scope="module")
def base(spark):
    """The rows of three days; of one region all is NULL, and riders come again on other days."""
    rows = [
        (
            ["eu", "us", "none"][at % 3],
            None if at % 3 == 2 else f"rider {at % 700}",
            None if at % 3 == 2 or at % 7 == 0 else Decimal(at % 1_000).scaleb(-2),
            None if at % 3 == 2 or at % 5 == 0 else 2**62 if at in LARGE else at,
            None if at % 3 == 2 else at % 700,
            DAYS[at * 3 // 6_000],
        )
        for at in range(6_000)
    ]
    frame = spark.createDataFrame(
        rows, "region string, name string, fare decimal(10,2), pace long, rider int, dt string"
    )
    frame.createOrReplaceTempView("rides")
    return frame.cache()


@pytest.fixture(scope="module")
def store(spark, base, tmp_path_factory):
    """The first two days rolled up, with sketches of two sizes; the last one as rows. It is only read."""
    with connect("memory://") as store:
        store.create_database("shop")
        root = tmp_path_factory.mktemp("parts")
        Cubes(store, "shop").create_all(parse_documents(MODEL.format(root=root), "yaml"))
        for size, day in ((10, DAYS[0]), (14, DAYS[1])):
            columns = ["region", "fare", "fare_count", "pace_sum", "pace_count", "rider_sketch", "name_sketch", "dt"]
            write_table(spark.sql(ROLLED_UP.format(size, day)).select(*columns), store, "shop.lake_daily")
        columns = ["region", "name", "fare", "pace", "rider", "dt"]
        write_table(base.where(f"dt = '{DAYS[2]}'").select(*columns), store, "shop.lake_rows")
        yield store


RANGES = {
    "parts": ("'2015-01-01', '2015-01-03'", f"dt < '{DAYS[2]}'"),
    "rows": ("'2015-01-03', '2015-01-04'", f"dt = '{DAYS[2]}'"),
    "both": ("'2015-01-01', '2015-01-04'", "true"),
}


@pytest.mark.parametrize("rows", RANGES)
@pytest.mark.parametrize("grouped", [False, True])
def test_means_and_counts_are_those_of_the_rows(spark, store, rows, grouped):
    ours, theirs = RANGES[rows]
    items = [
        "avg(fare)",
        "count(fare)",
        "sum(case when region = 'us' then pace * 2 end)",
        "2 / avg(pace)",
        "avg(case when region = 'eu' then fare end)",
        "avg(fare) filter (where region = 'us')",
        "count(fare) filter (where region = 'none')",
    ]
    columns = ", ".join([*(["region"] if grouped else []), *(f"{one} AS c{at}" for at, one in enumerate(items))])
    found = cube(spark, store, f"select {columns} from rides where time_range_in(at, {ours})", database="shop")
    wanted = spark.sql(f"SELECT {columns} FROM rides WHERE {theirs} {'GROUP BY region' if grouped else ''}")
    assert found.dtypes == wanted.dtypes
    rows_of_both = [sorted((tuple(row) for row in one.collect()), key=repr) for one in (found, wanted)]
    for one, other in zip(*rows_of_both, strict=True):
        for value, right in zip(one, other, strict=True):
            assert value == (pytest.approx(right, rel=1e-12) if isinstance(right, float) else right)


def test_a_mean_of_nothing_is_null(spark, store):
    text = "select avg(fare), pace, count(fare), rider from rides where time_range_in(at, '2015-01-01', '2015-01-04')"
    for condition in (" and region = 'none'", " and region = 'nowhere'"):
        assert [tuple(row) for row in cube(spark, store, text + condition, database="shop").collect()] == [
            (None, None, 0, 0)
        ]


@pytest.mark.parametrize("rows", RANGES)
@pytest.mark.parametrize("field", ["rider", "name"])
def test_approximate_distinct_counts_of_sketches_rows_and_both(spark, store, rows, field):
    ours, theirs = RANGES[rows]
    text = f"select region, approx_count_distinct({field}) as n from rides where time_range_in(at, {ours})"
    found = cube(spark, store, text, database="shop")
    exact = spark.sql(f"SELECT region, count(DISTINCT {field}) AS n FROM rides WHERE {theirs} GROUP BY region")
    assert found.dtypes == exact.dtypes
    wanted = {row["region"]: row["n"] for row in exact.collect()}
    assert wanted["none"] == 0
    assert {row["region"]: row["n"] for row in found.collect()} == pytest.approx(wanted, rel=0.1)
    if rows != "rows":
        with pytest.raises(NoCandidate) as caught:
            cube(spark, store, text.replace("approx_count_distinct(", "count(distinct "), database="shop")
        assert f"approx_count_distinct({field})" in caught.value.hint


def test_filters_and_cases_of_sketches(spark, store):
    for item in ("approx_count_distinct(case when region = 'eu' then rider end)", "rider"):
        text = f"select {item} as n from rides where time_range_in(at, '2015-01-01', '2015-01-04')"
        found = cube(spark, store, text if item != "rider" else f"{text} and region = 'eu'", database="shop")
        ((number,),) = [tuple(row) for row in found.collect()]
        assert number == pytest.approx(700, rel=0.1)
