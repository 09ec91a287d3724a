"""What names mean in HAVING and ORDER BY where aliases have names of fields: the same as in Spark's own SQL."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from hbstore.errors import AmbiguousField
from hbstore.spark import cube

MODEL = """
kind: storage
name: lake
---
kind: cube
name: sales
time_dimensions: {{ts: dt}}
measures: [{{name: hi, type: bigint, default_aggregate: max}}]
dim_attributes:
  - {{name: ts, type: timestamp}}
  - {{name: region, type: string}}
  - {{name: code, type: string}}
  - {{name: user_id, type: int}}
---
kind: fact
name: raw
cube: sales
properties: {{cube.fact.is.aggregated: "false"}}
columns:
  - {{name: ts, type: timestamp}}
  - {{name: region, type: string}}
  - {{name: code, type: string}}
  - {{name: user_id, type: int}}
  - {{name: hi, type: bigint}}
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "{root}/raw", format: parquet}}
"""
DAY = "time_range_in(ts, '2016-01-01', '2016-01-02')"
ROWS = ", ".join(
    f"(timestamp'2016-01-01 0{user}:00:00', {region}, {code}, {user}, {hi})"
    for user, region, code, hi in (
        *((1, "'eu'", "'5'", 3), (2, "'eu'", "'x'", 17), (3, "'us'", "'eu'", 18), (4, "'EU'", "'us'", -19)),
        *((5, "null", "'eu'", 4), (2, "'us'", "'5'", 5), (3, "'eu'", "'eu'", 2), (6, "'b'", "null", 9)),
    )
)
QUERIES = [
    # A key, as it is written in GROUP BY or in SELECT, in whatever order and with whatever brackets.
    "user_id + 1 as user_id, max(hi) from sales group by user_id + 1 having user_id + 1 = 3",
    "user_id + 1 as user_id, max(hi) from sales group by user_id + 1 having 1 + (sales.user_id) = 3",
    "user_id + 1 as user_id, max(hi) from sales group by user_id + 1 having user_id + 1 + 1 = 4",
    "user_id + 1 as user_id, max(hi) from sales group by user_id having user_id + 1 = 3 and user_id < 3",
    "user_id > 2 as user_id, max(hi) from sales group by user_id > 2 having 2 < user_id",
    "not user_id > 2 as user_id, max(hi) from sales group by 1 having user_id <= 2",
    "user_id in (1, 2) as user_id, max(hi) from sales group by 1 having user_id in (2, 1)",
    "concat(region, '!') as region, max(hi) from sales group by concat(region, '!') having concat(REGION, '!') = 'eu!'",
    "concat(region, '!') as region, max(hi) from sales group by concat(region, '!') having region || '!' = 'eu!'",
    "substr(region, 2) as region, max(hi) from sales group by 1 having substr(region, 2) = 'u'",
    "year(ts) as ts, max(hi) from sales group by year(ts) having year(ts) = 2016",
    "max(region) as code from sales group by upper(code) having upper(code) = 'X'",
    "user_id <> 3 as user_id, max(hi) from sales group by user_id <> 3 having not 3 = user_id",
    "user_id <> 3 as x, max(hi) from sales group by user_id <> 3 having 3 != user_id",
    "not user_id = 3 as x, max(hi) from sales group by not user_id = 3 having 3 != user_id",
    "user_id is distinct from 3 as user_id, max(hi) from sales group by 1 having not 3 <=> user_id",
    "region like 'e%' as region, max(hi) from sales group by region like 'e%' having region not like 'e%'",
    "region not like 'e%' as region, max(hi) from sales group by region not like 'e%' having not region like 'e%'",
    "region ilike 'e%' as x, max(hi) from sales group by region ilike 'e%' having region not ilike 'e%'",
    "code not like any ('x', '5') as x, max(hi) from sales group by 1 having code not like any ('x', '5')",
    "region like 'e!%' escape '!' as x, max(hi) from sales group by 1 having region not like 'e!%' escape '!'",
    "least(user_id, 3) as user_id, max(hi) from sales group by 1 having least(3, user_id) = 2",
    "greatest(user_id, 2, 3) as x, max(hi) from sales group by 1 having greatest(3, greatest(2, user_id)) = 3",
    "region in ('eu') as region, max(hi) from sales group by 1 having region not in ('eu')",
    "user_id between 2 and 3 as user_id, max(hi) from sales group by 1 having user_id not between 2 and 3",
    # A field that is grouped by.
    "code as region, region as code, max(hi) from sales group by 1, 2 having region = 'eu'",
    "code as region, region as code, max(hi) from sales group by code, region having upper(region) = 'EU'",
    "max(code) as region from sales group by sales.region having region = 'eu'",
    "max(region) as code, code as x from sales group by x having code = '5'",
    "max(region) as code, code as x from sales group by 2 having code = '5'",
    "max(region) as code from sales group by (code) having code = '5'",
    "code as region, region from sales group by code, region having region = 'eu'",
    # A field within an aggregate, and an alias elsewhere.
    "user_id + 1 as user_id, max(hi) from sales group by user_id + 1 having user_id = 3",
    "upper(region) as region, max(hi) from sales group by upper(region) having region like 'E%'",
    "max(region) as code from sales group by upper(code) having code = 'us' and max(code) = 'eu'",
    # ORDER BY: what is selected by the name comes first; a key where several are.
    "-user_id as user_id, max(hi) from sales group by user_id order by -user_id",
    "-user_id as user_id, max(hi) from sales group by -user_id order by -user_id",
    "code as region, region as code, max(hi) from sales group by 1, 2 order by region, code",
    "user_id, max(code) as user_id from sales group by user_id order by user_id is null, user_id",
    "region, max(code) as region from sales group by 1 order by concat(region, 'x') desc",
    "code as region, region from sales group by code, region order by region, 1",
    "3 as x, user_id as x, max(hi) as y from sales group by user_id order by 1, 2 desc limit 1",
    "(3) as x, user_id as x, max(hi) as y from sales group by user_id order by 1, 2 desc limit 1",
    "-1 as x, user_id as x, max(hi) as y from sales group by user_id order by 1, 2 desc limit 1",
]


@pytest.fixture(scope="module")
def store(spark, tmp_path_factory):
    """The cube, whose rows are also the view `sales`."""
    root = tmp_path_factory.mktemp("names")
    frame = spark.sql(f"SELECT * FROM VALUES {ROWS} AS sales (ts, region, code, user_id, hi)")
    frame = frame.selectExpr("ts", "region", "code", "CAST(user_id AS INT) AS user_id", "CAST(hi AS BIGINT) AS hi")
    frame.write.parquet(f"{root}/raw/dt=2016-01-01")
    frame.createOrReplaceTempView("sales")
    with connect("memory://") as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        cubes.create_all(parse_documents(MODEL.format(root=root), "yaml"))
        cubes.add_partitions("raw", "lake", [PartitionDesc("DAILY", {"dt": "2016-01-01"})])
        yield store
    spark.catalog.dropTempView("sales")


def rows_of(frame, query):
    rows = [tuple(row) for row in frame.toDF(*(f"c{at}" for at in range(len(frame.columns)))).collect()]
    return rows if "order by" in query else sorted(rows, key=repr)


def answer(spark, store, query):
    return cube(spark, store, f"cube select {query.replace('from sales', f'from sales where {DAY}')}", database="shop")


@pytest.mark.parametrize("query", QUERIES)
def test_names_mean_what_they_mean_in_spark(spark, store, query):
    expected = rows_of(spark.sql(f"SELECT {query}"), query)
    assert rows_of(answer(spark, store, query), query) == expected
    assert expected  # or the query tells nothing


def test_groups_without_group_by(spark, store):
    query = "code as region, region as code, hi from sales having region = 'eu'"
    plain = "code as region, region as code, max(hi) from sales group by 1, 2 having region = 'eu'"
    assert rows_of(answer(spark, store, query), query) == rows_of(spark.sql(f"SELECT {plain}"), plain)


@pytest.mark.parametrize("clause", ["having r = 'eu'", "order by r", "order by upper(r)"])
def test_a_name_of_two_columns(spark, store, clause):
    query = f"region as r, code as r from sales group by region, code {clause}"
    with pytest.raises(AnalysisException):
        spark.sql(f"SELECT {query}")
    with pytest.raises(AmbiguousField, match="several columns are selected by the name"):
        answer(spark, store, query)
