"""Analyzing partitions by Spark jobs: the numbers of a naive count, and those of Spark's own ANALYZE."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace

import pytest
from pyspark.sql import functions as f

from hbstore import Column, Partition, col
from hbstore.spark import analyze_table, read_table, write_table
from hbstore.spark.analysis import whole as analyze_whole
from tests.spark.analyzing import (
    COLUMNS,
    DATA,
    EPOCH,
    VALUES,
    assert_counted,
    on_disk,
    parameters,
    rows_of,
    statistics,
    table_parameters,
)

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_rows_files_and_bytes_are_those_of_a_naive_count(spark, store, filled, form):
    root = filled(form, [Column("name", "string")] if form == "text" else DATA[:3])
    told = []
    done = analyze_table(spark, store, "shop.sales", progress=lambda *step: told.append(step), batch=4)
    assert_counted(store, root)
    assert (done.partitions, done.rows, done.files, done.whole) == (6, 630, 12, True)
    assert (done.table, done.columns, done.passed_over, done.missing, done.changed) == ("shop.sales", (), 0, (), ())
    assert done.size == on_disk(root)[1]
    assert told == [(0, 6), (4, 6), (6, 6)]
    assert table_parameters(store) == {"numRows": "630", "totalSize": str(done.size)}
    assert all(
        json.loads(one["COLUMN_STATS_ACCURATE"]) == {"BASIC_STATS": "true"} for one in parameters(store).values()
    )


def test_the_rows_of_parquet_and_orc_are_not_read(spark, store, filled):
    filled()
    before = spark.sparkContext.statusTracker().getJobIdsForGroup("analyze")
    spark.sparkContext.setJobGroup("analyze", "footers alone")
    analyze_table(spark, store, "shop.sales")
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup("analyze")
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert len(jobs) - len(before) == 1  # the one that lists files and asks them


def test_column_statistics_are_those_of_a_naive_count(spark, store, filled):
    filled()
    done = analyze_table(spark, store, "shop.sales", columns="all")
    assert done.columns == tuple(column.name for column in DATA)
    frame = read_table(spark, store, "shop.sales")
    rows = frame.collect()
    distinct = [f.approx_count_distinct(column.name, 0.05).alias(column.name) for column in DATA]
    estimates = {(str(row.ds), row.region): row for row in frame.groupBy("ds", "region").agg(*distinct).collect()}
    for values in VALUES:
        found = statistics(store, values)
        mine = [row for row in rows if (str(row.ds), row.region) == values]
        for column in DATA:
            assert_summed_up([row[column.name] for row in mine], column, found[column.name])
            if column.type not in ("boolean", "binary"):
                assert found[column.name].numDVs == estimates[values][column.name]
    (accurate,) = {one["COLUMN_STATS_ACCURATE"] for one in parameters(store).values()}
    assert json.loads(accurate)["COLUMN_STATS"] == dict.fromkeys(done.columns, "true")


def assert_summed_up(values, column, found):
    """Statistics of a column say what its values say, one by one."""
    there = [one for one in values if one is not None]
    assert found.numNulls == len(values) - len(there)
    match column.type:
        case "boolean":
            assert (found.numTrues, found.numFalses) == (there.count(True), there.count(False))
        case "string" | "binary":
            lengths = list(map(len, there))
            assert found.maxColLen == max(lengths)
            assert found.avgColLen == pytest.approx(sum(lengths) / len(lengths))
        case _:
            numbers = [one for one in there if repr(one) != "nan"]
            low, high = (min(numbers), max(numbers)) if numbers else (None, None)
            assert [plain(found.lowValue), plain(found.highValue)] == [in_hive(low), in_hive(high)]
            assert abs(found.numDVs - len(set(map(repr, there)))) <= 0.2 * len(there)


def plain(bound):
    """A bound as a number; of a decimal the unscaled one."""
    if hasattr(bound, "daysSinceEpoch"):
        return bound.daysSinceEpoch
    if hasattr(bound, "unscaled"):
        return int.from_bytes(bound.unscaled, "big", signed=True), bound.scale
    return bound


def in_hive(value):
    """A value as Hive's bounds have it."""
    if isinstance(value, dt.datetime):
        return int((value - EPOCH).total_seconds() // 1)
    if isinstance(value, dt.date):
        return (value - EPOCH.date()).days
    if hasattr(value, "as_tuple"):
        scale = -value.as_tuple().exponent
        return int(value.scaleb(scale)), scale
    return value


def test_the_tables_statistics_are_those_of_sparks_own_analyze(spark, store, filled):
    filled()
    analyze_table(spark, store, "shop.sales", columns="all", batch=4)
    found = table_parameters(store)
    frame = read_table(spark, store, "shop.sales")
    frame = frame.withColumn("ratio", f.when(~f.isnan("ratio"), f.col("ratio")))  # NaN is no bound here
    frame.write.mode("overwrite").saveAsTable("analyzed")
    try:
        spark.sql("ANALYZE TABLE analyzed COMPUTE STATISTICS FOR ALL COLUMNS")
        metadata = (
            spark._jsparkSession.sessionState()
            .catalog()
            .getTableMetadata(spark._jvm.org.apache.spark.sql.catalyst.TableIdentifier("analyzed"))
        )
        theirs = metadata.stats().get()
        assert found["numRows"] == str(theirs.rowCount().get()) == "630"
        for column in (*DATA, *COLUMNS):
            lines = theirs.colStats().apply(column.name).toMap(column.name).mkString("\n")
            texts = dict(line.split(" -> ") for line in lines.split("\n"))
            mine = {
                name.removeprefix("colStats."): text
                for name, text in found.items()
                if name.startswith(f"colStats.{column.name}.")
            }
            distinct = f"{column.name}.distinctCount"
            assert int(mine.pop(distinct)) == pytest.approx(int(texts.pop(distinct)), rel=0.2, abs=1)
            if column.name == "ratio":  # those that were NaN are NULL there
                texts["ratio.nullCount"] = str(frame.where("ratio is null").count() - 70)
            assert mine == texts
    finally:
        spark.sql("DROP TABLE analyzed")


def test_whole_tables_of_many_batches_count_distinct_values_once(spark, store, filled, monkeypatch):
    filled()
    monkeypatch.setattr(analyze_whole, "_SKETCHES", 3)  # they become one now and then
    analyze_table(spark, store, "shop.sales", columns=["name", "ID"], batch=1)
    found = table_parameters(store)
    assert found["colStats.name.distinctCount"] == "32"  # 40 names, but for those of every fifth
    assert int(found["colStats.id.distinctCount"]) == pytest.approx(630, rel=0.05)
    assert found["colStats.ds.distinctCount"] == "2"
    assert (found["colStats.ds.min"], found["colStats.ds.max"]) == ("2013-01-01", "2013-01-02")
    assert (found["colStats.region.distinctCount"], found["colStats.region.nullCount"]) == ("2", "270")
    assert not any(name.startswith("colStats.price") for name in found)


def test_a_filter_selects_and_leaves_the_table_alone(spark, store, filled):
    filled()
    before = store.get_table("shop", "sales")
    done = analyze_table(spark, store, "shop.sales", "ds = '2013-01-02' and region = 'eu'", columns=["id"])
    assert (done.partitions, done.rows, done.whole) == (1, 120, False)
    analyzed = {values for values, one in parameters(store).items() if "numRows" in one}
    assert analyzed == {("2013-01-02", "eu")}
    assert analyze_table(spark, store, "shop.sales", col("region").is_null()).rows == 90 + 180
    assert store.get_table("shop", "sales") == before


def test_only_what_is_missing_is_analyzed(spark, store, filled, tmp_path):
    filled()
    analyze_table(spark, store, "shop.sales", "region = 'eu'")
    done = analyze_table(spark, store, "shop.sales", only_missing=True)
    assert (done.partitions, done.passed_over, done.rows, done.whole) == (4, 2, 480, True)
    assert table_parameters(store)["numRows"] == "630"
    assert_counted(store, tmp_path / "sales")

    done = analyze_table(spark, store, "shop.sales", "region is null", columns=["id"], only_missing=True)
    assert (done.partitions, done.passed_over) == (2, 0)
    before = parameters(store)
    done = analyze_table(spark, store, "shop.sales", columns=["ID"], only_missing=True)
    assert (done.partitions, done.passed_over, done.columns) == (4, 2, ("id",))
    assert {one for one in before if parameters(store)[one] == before[one]} == {
        Partition(one).values for one in VALUES if one[1] is None
    }
    found = table_parameters(store)  # of which a part comes from the statistics that were there
    assert (found["colStats.id.min"], found["colStats.id.max"]) == ("0", "629")
    assert (found["colStats.id.nullCount"], found["numRows"]) == ("0", "630")
    again = analyze_table(spark, store, "shop.sales", columns=["id"], only_missing=True)
    assert (again.partitions, again.passed_over) == (0, 6)
    assert table_parameters(store).keys() == found.keys()


def test_what_was_written_since_is_missing(spark, store, filled, tmp_path):
    filled(data=DATA[:2])
    analyze_table(spark, store, "shop.sales", columns="all")
    more = rows_of(spark, 1000, 1010).select("id", "big")
    write_table(more, store, "shop.sales", static={"ds": "2013-01-01", "region": "eu"})
    done = analyze_table(spark, store, "shop.sales", columns="all", only_missing=True)
    assert (done.partitions, done.passed_over, done.rows) == (1, 5, 40)
    assert table_parameters(store)["colStats.id.max"] == "1009"
    assert statistics(store, ("2013-01-01", "eu"))["id"].highValue == 1009
    assert_counted(store, tmp_path / "sales")


DOUBTFUL = [
    {"numRows": "0", "rawDataSize": "0"},  # Spark writes this with files of Hive's formats
    {"numRows": "30", "spark.sql.statistics.numRows": "30", "spark.sql.statistics.totalSize": "98"},
    {"numRows": "-1"},
    {},
]


def test_numbers_that_may_be_wrong_are_missing(spark, store, filled):
    values = VALUES[: len(DOUBTFUL)]
    filled(data=DATA[:1], values=values)
    given = [{"numFiles": "1", "totalSize": "99", **doubtful} for doubtful in DOUBTFUL]
    known = (store.get_partition("shop", "sales", one) for one in values)
    store.alter_partitions(
        "shop", "sales", [replace(one, parameters=said) for one, said in zip(known, given, strict=True)]
    )
    assert analyze_table(spark, store, "shop.sales", only_missing=True).partitions == len(values)
    for number, one in enumerate(values, 1):
        found = parameters(store)[Partition(one).values]
        assert (found["numRows"], "rawDataSize" in found) == (str(30 * number), False)
    assert analyze_table(spark, store, "shop.sales", only_missing=True).passed_over == len(values)


def test_analyzing_again_changes_nothing(spark, store, filled):
    filled()
    analyze_table(spark, store, "shop.sales", columns="all")
    payloads = store.get_payloads("shop", "sales", VALUES)
    table = store.get_table("shop", "sales")
    analyze_table(spark, store, "shop.sales", columns="all")
    assert store.get_payloads("shop", "sales", VALUES) == payloads
    assert store.get_table("shop", "sales") == table


def test_a_table_that_has_lost_its_partitions_has_no_rows(spark, store, filled):
    filled()
    analyze_table(spark, store, "shop.sales")
    store.drop_partitions("shop", "sales", VALUES)
    done = analyze_table(spark, store, "shop.sales")
    assert (done.partitions, done.rows, done.files, done.size) == (0, 0, 0, 0)
    assert table_parameters(store)["numRows"] == "0"


def test_what_is_known_of_other_columns_stays_while_it_is_true(spark, store, filled, tmp_path):
    filled()
    analyze_table(spark, store, "shop.sales", columns=["id"])
    analyze_table(spark, store, "shop.sales", columns=["name"])
    assert {name.split(".")[1] for name in table_parameters(store) if "." in name} == {"id", "name", "ds", "region"}
    assert statistics(store, VALUES[0]).keys() == {"id", "name"}
    analyze_table(spark, store, "shop.sales")
    assert json.loads(parameters(store)[VALUES[0]]["COLUMN_STATS_ACCURATE"])["COLUMN_STATS"].keys() == {"id", "name"}
    rows_of(spark, 0, 5).write.mode("append").parquet(str(tmp_path / "sales/ds=2013-01-01/region=eu"))
    analyze_table(spark, store, "shop.sales")
    assert table_parameters(store).keys() == {"numRows", "totalSize"}
    assert json.loads(parameters(store)[VALUES[0]]["COLUMN_STATS_ACCURATE"]) == {"BASIC_STATS": "true"}
