"""What `analyze_table` gathers is what Spark's optimizer reckons with when the endpoint is its metastore."""

from __future__ import annotations

import pytest

from hbstore.metastore.protocol import THRIFT
from tests.metastore.client import client as connected
from tests.metastore.serving import Serve
from tests.metastore.spark.process import tell

pytestmark = [pytest.mark.spark]
UNKNOWN = 2**63 - 1
"""What Spark takes the size of a table for of which it knows nothing."""

TABLES = {"data_source": "USING parquet PARTITIONED BY (day)", "hive": "PARTITIONED BY (day) STORED AS textfile"}
ROWS = 100


@pytest.fixture(scope="module")
def seen(tmp_path_factory, spark_process):
    """What a session has seen before and after `analyze_table`, and a client."""
    folder = tmp_path_factory.mktemp("statistics")
    url = f"sqlite://{folder}/catalog.db"
    with Serve(url, folder) as server:
        (told,) = spark_process.run(run, folder / "spark", server.ready["uri"], url)
        with connected(server.port) as client:
            yield told, client


def run(folder, uri, url):
    """In Spark's process: one session for all."""
    from hbstore.spark import analyze_table
    from tests.metastore.spark.session import start_session

    spark = start_session(folder, uri)
    spark.sql("SET hive.exec.dynamic.partition.mode = nonstrict")

    def plan(query):
        """The size and the rows that the optimizer expects."""
        found = spark.sql(query)._jdf.queryExecution().optimizedPlan().stats()
        rows = found.rowCount()
        return int(str(found.sizeInBytes())), int(str(rows.get())) if rows.isDefined() else None

    def look(table):
        spark.sql(f"REFRESH TABLE {table}")
        found = {}
        for cbo in (False, True):
            spark.conf.set("spark.sql.cbo.enabled", cbo)
            found[f"all {cbo}"] = plan(f"SELECT * FROM {table}")
            found[f"day {cbo}"] = plan(f"SELECT * FROM {table} WHERE day = '2020-01-02'")
            found[f"few {cbo}"] = plan(f"SELECT * FROM {table} WHERE id < 10")
        described = spark.sql(f"DESCRIBE EXTENDED {table} PARTITION (day = '2020-01-02')").collect()
        found["described"] = {row[0]: row[1] for row in described}.get("Partition Statistics")
        return found

    def joined():
        """How a big and a small table are joined."""
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", 100_000)
        query = "SELECT count(*) FROM hive AS one JOIN hive AS two USING (id)"
        return "BroadcastHashJoin" in spark.sql(query)._jdf.queryExecution().executedPlan().toString()

    seen = {}
    for table, how in TABLES.items():
        spark.sql(
            f"CREATE TABLE {table} (id INT, name STRING, day STRING) {how}"
            if "USING" in how
            else f"CREATE TABLE {table} (id INT, name STRING) {how.replace('(day)', '(day STRING)')}"
        )
        spark.sql(f"""INSERT INTO {table} SELECT CAST(id AS INT), concat('n', id % 10), concat('2020-01-0', id % 4 + 1)
            FROM range({ROWS})""")
        seen[table] = {"before": look(table)}
    seen["joined before"] = joined()
    for table in TABLES:
        analyze_table(spark, url, f"default.{table}", columns="all")
        seen[table]["after"] = look(table)
    seen["joined after"] = joined()
    # What Spark says by itself, of the same tables.
    for table in TABLES:
        spark.sql(f"ANALYZE TABLE {table} COMPUTE STATISTICS FOR ALL COLUMNS")
        spark.sql(f"ANALYZE TABLE {table} PARTITION (day) COMPUTE STATISTICS")
        seen[table]["by spark"] = look(table)
    tell(seen)
    spark.stop()


@pytest.mark.parametrize("table", TABLES)
def test_the_optimizer_knows_the_size_of_a_table(seen, table):
    before, after = seen[0][table]["before"], seen[0][table]["after"]
    assert before["all False"] == [UNKNOWN, None]
    assert 0 < after["all False"][0] < 100_000
    assert before["all True"][1] is None
    assert after["all True"][1] == ROWS


@pytest.mark.parametrize("table", TABLES)
def test_the_optimizer_estimates_what_filters_leave(seen, table):
    before, after = seen[0][table]["before"], seen[0][table]["after"]
    assert (before["day True"][1], before["few True"][1]) == (None, None)
    assert after["day True"][1] == ROWS / 4  # four days, from the statistics of the partition column
    assert 5 <= after["few True"][1] <= 15  # ten of a hundred ids, from those of the column


@pytest.mark.parametrize("table", TABLES)
def test_the_optimizer_expects_what_it_does_after_sparks_own_analyze(seen, table):
    after, by_spark = seen[0][table]["after"], seen[0][table]["by spark"]
    assert after["described"] == by_spark["described"]
    assert after["described"].endswith("25 rows")
    for query in ("all False", "day False", "few False", "all True"):
        assert after[query] == by_spark[query]
    for query in ("day True", "few True"):
        assert after[query][1] == pytest.approx(by_spark[query][1], rel=0.1)


def test_a_table_that_is_known_to_be_small_is_broadcast(seen):
    assert (seen[0]["joined before"], seen[0]["joined after"]) == (False, True)


def test_hives_clients_get_the_column_statistics(seen):
    _, client = seen
    names = [f"day=2020-01-0{day}" for day in (1, 2, 3, 4)]
    request = THRIFT.PartitionsStatsRequest(
        dbName="default", tblName="data_source", colNames=["id", "name"], partNames=names
    )
    found = client.get_aggr_stats_for(request)
    assert found.partsFound == 4
    ids, texts = sorted(found.colStats, key=lambda one: one.colName)
    stats = ids.statsData.longStats
    assert (stats.lowValue, stats.highValue, stats.numNulls) == (0, ROWS - 1, 0)
    assert (texts.statsData.stringStats.maxColLen, texts.statsData.stringStats.numDVs) == (2, 5)
