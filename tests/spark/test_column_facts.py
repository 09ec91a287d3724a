"""DESCRIBE EXTENDED of a column after `analyze_table`, beside what Spark says after its own ANALYZE."""

from __future__ import annotations

import pytest

from hbstore import Column
from hbstore.spark import analyze_table, read_table, sql
from tests.spark.analyzing import DATA

pytestmark = pytest.mark.spark


def test_a_columns_facts_are_those_of_sparks_own_analyze(spark, store, filled):
    filled()
    analyze_table(spark, store, "shop.sales", columns="all")
    read_table(spark, store, "shop.sales").write.mode("overwrite").saveAsTable("analyzed")
    try:
        spark.sql("ANALYZE TABLE analyzed COMPUTE STATISTICS FOR ALL COLUMNS")
        compared = 0
        for column in (*DATA, Column("ds", "date"), Column("region", "string")):
            ours = dict(map(tuple, sql(spark, f"DESCRIBE EXTENDED shop.sales {column.name}", store=store).collect()))
            theirs = dict(map(tuple, spark.sql(f"DESCRIBE EXTENDED analyzed {column.name}").collect()))
            assert theirs.pop("histogram") == "NULL"
            assert list(ours) == list(theirs)
            if column.name == "ratio":  # NaN is no bound here
                continue
            distinct = int(ours.pop("distinct_count")), int(theirs.pop("distinct_count"))
            assert distinct[0] == pytest.approx(distinct[1], rel=0.2, abs=1)
            assert ours == {name: text.removesuffix(" +0000") for name, text in theirs.items()}
            compared += 1
        assert compared > 5
    finally:
        spark.sql("DROP TABLE analyzed")
