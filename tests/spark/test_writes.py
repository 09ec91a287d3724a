"""Writing DataFrames: the files and partitions that Spark's own write would make, seen at once, and nothing else."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from urllib.parse import unquote

import pytest
from pyspark.sql import functions as f

from hbstore import Column, Partition, Table, connect
from hbstore.errors import InvalidInput, InvalidPartitionValue, WriteConflict, WriteFailed
from hbstore.publishing import Publisher
from hbstore.spark import read_table, write_table
from hbstore.timelines import UpdatePeriod

DATA = [Column("id", "bigint"), Column("name", "string")]
COLUMNS = [Column("ds", "date"), Column("region", "string")]
SCHEMA = "id long, name string, ds date, region string"
DAYS = [dt.date(2013, 1, day) for day in (1, 2, 3)]
REGIONS = ["eu", "us=1/a b", None, "ümlaut"]


@pytest.fixture
def store(tmp_path):
    with connect("memory://") as store:
        store.create_database("shop")
        store.create_table(table(tmp_path))
        yield store


def table(tmp_path, name="sales", form="parquet", **parameters):
    provider = {"spark.sql.sources.provider": form}
    return Table("shop", name, COLUMNS, DATA, location=f"file:{tmp_path}/{name}", parameters=provider | parameters)


def rows_of(start=0):
    return [(start + at, f"n{at}", DAYS[at % 3], REGIONS[at % 4]) for at in range(48)]


def found(spark, store, name="shop.sales"):
    return sorted(map(tuple, read_table(spark, store, name).collect()), key=repr)


def expected(*rows):
    return sorted((tuple(row) for some in rows for row in some), key=repr)


@pytest.mark.parametrize(
    ("form", "writer"), [("parquet", None), ("orc", "ungrouped"), ("csv", None), ("json", "ungrouped")]
)
def test_rows_that_are_written_are_read_again(spark, store, tmp_path, form, writer):
    store.create_table(table(tmp_path, "other", form))
    frame = spark.createDataFrame(rows_of(), SCHEMA)
    written = write_table(frame, store, "shop.other", writer=writer)
    assert found(spark, store, "shop.other") == expected(rows_of())
    assert len(written.partitions) == 12
    assert written.rows == (48 if form in {"parquet", "orc"} else None)
    assert not list((tmp_path / "other" / "_hbstore").iterdir())
    statistics = store.get_partition("shop", "other", ["2013-01-01", "eu"]).parameters
    assert int(statistics["totalSize"]) > 0
    assert statistics.get("numRows") == ("4" if form in {"parquet", "orc"} else None)


def test_appending_adds_files_and_statistics(spark, store):
    for start in (0, 100):
        write_table(spark.createDataFrame(rows_of(start), SCHEMA).coalesce(1), store, "shop.sales")
    assert found(spark, store) == expected(rows_of(), rows_of(100))
    statistics = store.get_partition("shop", "sales", ["2013-01-01", "eu"]).parameters
    assert (statistics["numRows"], statistics["numFiles"]) == ("8", "2")


def test_overwriting_replaces_the_partitions_that_get_rows(spark, store):
    write_table(spark.createDataFrame(rows_of(), SCHEMA), store, "shop.sales")
    new = [row for row in rows_of(100) if row[2] == DAYS[0] and row[3] == "eu"]
    written = write_table(spark.createDataFrame(new, SCHEMA), store, "shop.sales", "overwrite")
    kept = [row for row in rows_of() if not (row[2] == DAYS[0] and row[3] == "eu")]
    assert found(spark, store) == expected(kept, new)
    assert written.dropped == ()
    assert store.get_partition("shop", "sales", ["2013-01-01", "eu"]).parameters["numRows"] == "4"


def test_overwriting_all_that_match_static_values_drops_the_others(spark, store, tmp_path):
    write_table(spark.createDataFrame(rows_of(), SCHEMA), store, "shop.sales")
    new = [(7, "new", "eu")]
    frame = spark.createDataFrame(new, "id long, name string, region string")
    written = write_table(frame, store, "shop.sales", "overwrite", {"ds": dt.date(2013, 1, 1)}, overwrite="static")
    kept = [row for row in rows_of() if row[2] != DAYS[0]]
    assert found(spark, store) == expected(kept, [(7, "new", DAYS[0], "eu")])
    assert len(written.dropped) == 3
    assert [path.name for path in (tmp_path / "sales/ds=2013-01-01").iterdir()] == ["region=eu"]


def test_a_static_null_partition_is_one(spark, store):
    frame = spark.createDataFrame([(1, "a")], "id long, name string")
    write_table(frame, store, "shop.sales", static={"DS": "2013-01-01", "region": None})
    assert found(spark, store) == [(1, "a", DAYS[0], None)]


def test_overwriting_with_nothing_drops_what_matches(spark, store):
    write_table(spark.createDataFrame(rows_of(), SCHEMA), store, "shop.sales")
    nothing = spark.createDataFrame([], "id long, name string, region string")
    write_table(nothing, store, "shop.sales", "overwrite", {"ds": "2013-01-01"}, overwrite="static")
    assert found(spark, store) == expected([row for row in rows_of() if row[2] != DAYS[0]])


def test_nothing_appended_changes_nothing(spark, store, tmp_path):
    written = write_table(spark.createDataFrame([], SCHEMA), store, "shop.sales")
    assert (written.partitions, written.files, written.rows) == ((), 0, 0)
    assert store.partition_names("shop", "sales") == []
    assert not list((tmp_path / "sales").rglob("*.parquet"))


def test_a_partition_elsewhere_is_written_where_it_is(spark, store, tmp_path):
    place = tmp_path / "elsewhere"
    store.add_partitions("shop", "sales", [Partition(["2013-01-01", "eu"], location=f"file:{place}")])
    frame = spark.createDataFrame([(1, "a")], "id long, name string").coalesce(1)
    write_table(frame, store, "shop.sales", static={"ds": "2013-01-01", "region": "eu"})
    assert len(list(place.glob("*.parquet"))) == 1
    assert found(spark, store) == [(1, "a", DAYS[0], "eu")]


def test_types_that_hold_less_are_widened(spark, store):
    frame = spark.createDataFrame([(1, "a", "2013-01-01", 5)], "id int, name string, ds string, region string")
    write_table(frame, store, "shop.sales")
    assert found(spark, store) == [(1, "a", DAYS[0], "5")]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_values_of_partition_columns_are_the_texts_that_hive_writes(spark, store, tmp_path, ansi):
    columns = [Column("price", "decimal(20,7)"), Column("at", "timestamp"), Column("big", "boolean")]
    provider = {"spark.sql.sources.provider": "parquet"}
    store.create_table(Table("shop", "odd", columns, DATA, location=f"file:{tmp_path}/odd", parameters=provider))
    row = [(1, "a", Decimal("1E-7"), dt.datetime(2013, 1, 1, 5, 0, 0, 120_000), True)]  # noqa: DTZ001
    frame = spark.createDataFrame(row, "id long, name string, price decimal(20,7), at timestamp_ntz, big boolean")
    frame = frame.withColumn("at", f.col("at").cast("timestamp"))
    name = "price=0.0000001/at=2013-01-01 05%3A00%3A00.12/big=true"
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        assert write_table(frame, store, "shop.odd").partitions == (name,)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    static = dict(zip(("price", "at", "big"), row[0][2:], strict=True))
    assert write_table(frame.select("id", "name"), store, "shop.odd", static=static).partitions == (name,)


def test_timelines_are_brought_up_to_what_is_written(spark, store, tmp_path):
    declared = {"cube.storagetable.time.partcols": "ds", "cube.storagetable.update.periods": "DAILY"}
    store.create_table(table(tmp_path, "timed", **declared))
    write_table(spark.createDataFrame(rows_of(), SCHEMA), store, "shop.timed")
    (timeline,) = store.timelines.of("shop.timed")
    assert list(map(UpdatePeriod.DAILY.format, timeline.iterate())) == ["2013-01-01", "2013-01-02", "2013-01-03"]
    monthly = {"cube.storagetable.partition.update.period": "MONTHLY"}
    with pytest.raises(Exception, match="update period"):
        write_table(spark.createDataFrame(rows_of(), SCHEMA), store, "shop.timed", parameters=monthly)
    assert store.publications.of(store.publications.row("shop", "timed")) == []


@pytest.mark.parametrize(
    ("schema", "row", "text"),
    [
        ("id long, ds date, region string", (1, DAYS[0], "eu"), "missing=name"),
        ("id long, name string, ds date, region string, more int", (1, "a", DAYS[0], "eu", 1), "unknown=more"),
        ("id string, name string, ds date, region string", ("1", "a", DAYS[0], "eu"), "column=id"),
        ("id long, name string, ds double, region string", (1, "a", 1.0, "eu"), "column=ds"),
    ],
)
def test_columns_that_do_not_fit_are_named(spark, store, schema, row, text):
    with pytest.raises(InvalidInput, match=text):
        write_table(spark.createDataFrame([row], schema), store, "shop.sales")


def test_values_that_do_not_fit_change_nothing(spark, store, tmp_path):
    frame = spark.createDataFrame([(1, "a", "someday", "eu")], "id long, name string, ds string, region string")
    with pytest.raises(InvalidPartitionValue, match=r"someday.*Nothing was changed\. Correct the rows") as raised:
        write_table(frame, store, "shop.sales")
    assert "invalid_values" not in str(raised.value), "write_table has no such argument"
    assert store.partition_names("shop", "sales") == []
    assert not list((tmp_path / "sales").rglob("*.parquet"))


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_texts_of_one_value_go_into_one_partition(spark, store, tmp_path, mode):
    columns = [Column("hour", "int")], [Column("id", "bigint")]
    parameters = {"spark.sql.sources.provider": "parquet"}
    store.create_table(Table("shop", "hours", *columns, location=f"file:{tmp_path}/hours", parameters=parameters))
    store.add_partitions("shop", "hours", [Partition(["5"])])
    frame = spark.createDataFrame([(1, "05"), (2, "06"), (3, "5")], "id long, hour string")
    written = write_table(frame, store, "shop.hours", mode)
    assert written.partitions == ("hour=5", "hour=6")
    assert store.partition_names("shop", "hours") == ["hour=5", "hour=6"]
    assert found(spark, store, "shop.hours") == [(1, 5), (2, 6), (3, 5)]


def test_bad_plans_are_named(spark, store):
    frame = spark.createDataFrame(rows_of(), SCHEMA)
    store.create_table(Table("shop", "nowhere", COLUMNS, DATA))
    with pytest.raises(InvalidInput, match="no location"):
        write_table(frame, store, "shop.nowhere")
    with pytest.raises(InvalidInput, match="not a partition column"):
        write_table(frame, store, "shop.sales", static={"name": "a"})
    with pytest.raises(InvalidInput, match="cannot write"):
        write_table(frame, store, "shop.sales", writer="single")


def test_a_job_of_spark_that_fails_leaves_nothing(spark, store, tmp_path):
    broken = spark.createDataFrame(rows_of(), SCHEMA).withColumn("name", f.raise_error(f.lit("broken on purpose")))
    with pytest.raises(WriteFailed, match="broken on purpose"):
        write_table(broken.withColumn("name", f.col("name").cast("string")), store, "shop.sales")
    assert store.partition_names("shop", "sales") == []
    assert not [path for path in (tmp_path / "sales").rglob("*") if path.is_file()]


def test_a_partition_that_another_job_writes_is_a_conflict(spark, store, tmp_path, monkeypatch):
    frame = spark.createDataFrame(rows_of(), SCHEMA)
    leased = []
    real = Publisher.lease

    def twice(self, table, manifest):
        row = real(self, table, manifest)
        if not leased:
            leased.append(manifest.id)
            with pytest.raises(WriteConflict):
                write_table(frame, store, "shop.sales")
        return row

    monkeypatch.setattr(Publisher, "lease", twice)
    write_table(frame, store, "shop.sales")
    assert found(spark, store) == expected(rows_of())
    assert len(list((tmp_path / "sales" / "_hbstore").iterdir())) == 0


def test_a_read_shows_first_the_files_of_what_is_decided(spark, store, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        write_table(spark.createDataFrame(rows_of(), SCHEMA), store, "shop.sales")
    assert store.totals("shop", "sales").rows == len(rows_of())
    assert found(spark, store) == expected(rows_of())


@pytest.mark.parametrize("asked", [{"mode": "appnd"}, {"mode": "overwrite", "overwrite": "statik"}, {"mode": None}])
def test_a_mode_that_is_none_changes_nothing(spark, store, asked):
    frame = spark.createDataFrame(rows_of(), SCHEMA)
    write_table(frame, store, "shop.sales")
    with pytest.raises(InvalidInput, match="the mode of writing is unknown"):
        write_table(frame.limit(1), store, "shop.sales", **asked)
    assert found(spark, store) == expected(rows_of())


def test_a_partition_at_its_tables_own_folder_is_not_overwritten(spark, store):
    """Its files are those of all partitions."""
    write_table(spark.createDataFrame(rows_of()[:2], SCHEMA), store, "shop.sales")
    first = store.table("shop.sales").partitions()[0]
    home = store.get_table("shop", "sales").location
    store.alter_partitions("shop", "sales", [Partition(first.values, location=home)])
    with pytest.raises(InvalidInput, match="the files of the whole table"):
        write_table(spark.createDataFrame(rows_of()[:2], SCHEMA), store, "shop.sales", mode="overwrite")
    store.drop_partitions("shop", "sales", [first.values])
    assert len(found(spark, store)) == 1


def test_an_empty_static_value_is_the_null_partition_as_in_a_dataframe(spark, store):
    rows = spark.createDataFrame([(1, "a", DAYS[0], "")], SCHEMA)
    write_table(rows, store, "shop.sales")
    write_table(rows.drop("region"), store, "shop.sales", static={"region": ""})
    assert store.partition_names("shop", "sales") == ["ds=2013-01-01/region=__HIVE_DEFAULT_PARTITION__"]
    assert found(spark, store) == [(1, "a", DAYS[0], None)] * 2


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ([1], InvalidInput, "cannot be written"),
        ({}, InvalidInput, "cannot be written"),
        ("\ud800", InvalidPartitionValue, "UTF-8"),
    ],
)
def test_a_static_value_that_has_no_text_is_refused(spark, store, value, error, text):
    frame = spark.createDataFrame(rows_of(), SCHEMA).drop("region")
    with pytest.raises(error, match=text):
        write_table(frame, store, "shop.sales", static={"region": value})
    assert store.partition_names("shop", "sales") == []


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("int", ["05", "+7", "8"]),
        ("double", ["1e7", "10000000", "1e-5", "0.25", "-0.0"]),
        ("float", ["16777217", "1.5"]),
        ("decimal(10,2)", ["1.5", "7"]),
        ("date", ["2024-1-8", "2024-01-08"]),
        ("timestamp", ["2024-01-08", "2024-01-08T05:06:07.5", "2024-01-08 05:06:07.500"]),
        ("boolean", ["TRUE", "false"]),
    ],
)
def test_texts_become_the_partitions_that_insert_makes(spark, store, tmp_path, kind, texts):
    spark.sql(
        f"CREATE TABLE inserted (id INT, p {kind}) USING parquet PARTITIONED BY (p) LOCATION '{tmp_path}/inserted'"
    )
    try:
        for text in texts:
            spark.sql(f"INSERT INTO inserted PARTITION (p = '{text}') VALUES (1)")
        expected = sorted(unquote(folder.name) for folder in tmp_path.glob("inserted/p=*"))
    finally:
        spark.sql("DROP TABLE inserted")
    parameters = {"spark.sql.sources.provider": "parquet"}
    for name in ("rows", "static"):
        location = f"file:{tmp_path}/{name}"
        columns = [Column("p", kind)], [Column("id", "int")]
        store.create_table(Table("shop", name, *columns, location=location, parameters=parameters))
    write_table(spark.createDataFrame([(1, text) for text in texts], "id int, p string"), store, "shop.rows")
    for text in texts:
        write_table(spark.createDataFrame([(1,)], "id int"), store, "shop.static", static={"p": text})
    for name in ("rows", "static"):
        assert sorted(map(unquote, store.partition_names("shop", name))) == expected, name
