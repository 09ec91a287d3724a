"""DataFrames of rows that the driver has leave the user's sessions as they were."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from hbstore.spark import read_table, sql
from hbstore.spark.frames import local_frame

pytestmark = pytest.mark.spark


@pytest.fixture
def other(spark):
    """A second session; the first one is active."""
    spark.createDataFrame([(1,)], "n int")
    assert SparkSession.getActiveSession() is spark
    return spark.newSession()


def test_the_active_session_stays_so(spark, other):
    assert local_frame(other, iter([(7,), (8,)]), "n int").collect() == [(7,), (8,)]
    with pytest.raises(Exception, match="x"):
        local_frame(other, [("x",)], "n int")
    assert SparkSession.getActiveSession() is spark
    active = spark._jvm.org.apache.spark.sql.classic.SparkSession.getActiveSession().get()
    assert active.equals(spark._jsparkSession)


def test_one_session_writes_partitions_after_another_has_listed_them(spark, other, source, url, make_table):
    store = make_table(n="int")
    assert sql(other, "SHOW PARTITIONS shop.sales", store=url).collect() == []
    frame = spark.range(3).selectExpr("int(id) n")
    frame.write.format("hbstore").options(url=url, table="shop.sales").mode("append").save()
    assert sql(other, "SHOW PARTITIONS shop.sales", store=url).count() == 3
    assert source(url).count() == store.count_partitions("shop", "sales") == 3


def test_an_empty_read_by_another_session(spark, other, store, filled):
    filled(values=[], data=[])
    assert read_table(other, store, "shop.sales").collect() == []
    assert SparkSession.getActiveSession() is spark
