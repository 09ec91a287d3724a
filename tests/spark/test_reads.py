"""Pruned reads give what Spark gives when it reads everything and filters, from the selected folders alone."""

from __future__ import annotations

import datetime as dt
import shutil
from dataclasses import replace

import pytest
from pyspark.sql import functions as f

from hbstore import Column, Partition, StorageDescriptor, Table, col, connect
from hbstore.errors import (
    FileOperationFailed,
    InvalidInput,
    InvalidName,
    TableNotPartitioned,
    UnknownColumnError,
    WriteFailed,
)
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import SerDe
from hbstore.model.stored_as import stored_as
from hbstore.spark import read_table, write_table
from hbstore.spark.formats import data_schema
from hbstore.spark.reads import pruned_read

COLUMNS = [Column("ds", "date"), Column("region", "string")]
DATA = [Column("id", "int"), Column("name", "string")]
VALUES = [(f"2013-01-0{day}", region) for day in (1, 2, 3) for region in ("eu", "us=1/a b", None)]
FORMATS = ["parquet", "orc", "csv", "json"]


def provider(form):
    return {"spark.sql.sources.provider": form}


@pytest.fixture
def store():
    with connect("memory://") as store:
        store.create_database("shop")
        yield store


def rows(frame):
    return sorted(map(tuple, frame.collect()), key=repr)


def write(spark, folder, form, ids, columns="id int, name string"):
    data = [(number, f"n{number}") for number in ids]
    spark.createDataFrame(data, columns).coalesce(1).write.format(form).save(str(folder))


def filled(spark, store, root, form="parquet", values=VALUES):
    """A table with ten rows in each partition; its rows."""
    store.create_table(Table("shop", "sales", COLUMNS, DATA, location=f"file:{root}", parameters=provider(form)))
    written = [(at, f"n{at}", *values[at // 10]) for at in range(10 * len(values))]
    frame = spark.createDataFrame(written, "id int, name string, ds string, region string").coalesce(1)
    frame.write.format(form).partitionBy("ds", "region").save(str(root))
    store.add_partitions("shop", "sales", [Partition(one) for one in values])
    return [(at, name, dt.date.fromisoformat(ds), region) for at, name, ds, region in written]


@pytest.mark.parametrize("form", FORMATS)
def test_a_read_gives_the_rows_of_the_selected_partitions(spark, store, tmp_path, form):
    expected = filled(spark, store, tmp_path / "sales", form)
    found = read_table(spark, store, "shop.sales", "ds >= '2013-01-02' and region = 'eu'")
    assert rows(found) == sorted(
        (row for row in expected if row[2] >= dt.date(2013, 1, 2) and row[3] == "eu"), key=repr
    )
    assert [(field.name, field.dataType.simpleString()) for field in found.schema.fields] == [
        ("id", "int"),
        ("name", "string"),
        ("ds", "date"),
        ("region", "string"),
    ]


def test_a_read_without_a_filter_gives_all_rows_and_null_partitions_are_null(spark, store, tmp_path):
    expected = filled(spark, store, tmp_path / "sales")
    found = read_table(spark, store, "shop.sales")
    assert rows(found) == sorted(expected, key=repr)
    assert found.where(f.col("region").isNull()).count() == 30


def test_only_the_selected_folders_are_opened(spark, store, tmp_path):
    filled(spark, store, tmp_path / "sales")
    for folder in (tmp_path / "sales").glob("ds=2013-01-0[13]"):
        shutil.rmtree(folder)
    found = read_table(spark, store, "shop.sales", col("ds") == "2013-01-02")
    assert found.count() == 30
    assert len(found.inputFiles()) == 3


def test_text_files_are_lines(spark, store, tmp_path):
    root = tmp_path / "lines"
    table = Table(
        "shop", "lines", COLUMNS, [Column("value", "string")], location=str(root), parameters=provider("text")
    )
    store.create_table(table)
    store.add_partitions("shop", "lines", [Partition(["2013-01-01", "eu"])])
    (root / "ds=2013-01-01/region=eu").mkdir(parents=True)
    (root / "ds=2013-01-01/region=eu/a.txt").write_text("one\ntwo\n")
    assert rows(read_table(spark, store, "shop.lines")) == [
        ("one", dt.date(2013, 1, 1), "eu"),
        ("two", dt.date(2013, 1, 1), "eu"),
    ]


def test_a_hive_text_table_has_hives_separators_and_nulls(spark, store, tmp_path):
    serde = SerDe(library="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", parameters={"field.delim": "|"})
    root = tmp_path / "hive"
    storage = StorageDescriptor(serde=serde)
    store.create_table(Table("shop", "hive", COLUMNS, DATA, location=str(root), storage=storage))
    store.add_partitions("shop", "hive", [Partition(["2013-01-01", "eu"])])
    (root / "ds=2013-01-01/region=eu").mkdir(parents=True)
    (root / "ds=2013-01-01/region=eu/000000_0").write_text('1|a"b\n\\N|c\n')
    assert rows(read_table(spark, store, "shop.hive")) == [
        (1, 'a"b', dt.date(2013, 1, 1), "eu"),
        (None, "c", dt.date(2013, 1, 1), "eu"),
    ]


def test_hives_text_elsewhere_with_escapes_nulls_and_too_few_values(spark, store, tmp_path):
    parameters = {"field.delim": "|", "escape.delim": "\\", "serialization.null.format": "nil"}
    data = [Column("id", "int"), Column("name", "varchar(9)"), Column("note", "string")]
    storage = stored_as("text", StorageDescriptor(serde=SerDe(parameters=parameters)))
    store.create_table(Table("shop", "hive", COLUMNS, data, location=str(tmp_path / "hive"), storage=storage))
    store.add_partitions("shop", "hive", [Partition(["2013-01-01", "eu"], location=str(tmp_path / "other"))])
    (tmp_path / "other").mkdir()
    (tmp_path / "other/a").write_text('1|a\\|b|\\\\|more\n2|"x"\nseven|nil|\\\\\\|\n')
    day = dt.date(2013, 1, 1)
    assert sorted(map(tuple, read_table(spark, store, "shop.hive").collect()), key=repr) == [
        (1, "a|b", "\\", day, "eu"),
        (2, '"x"', None, day, "eu"),
        (None, None, "\\|", day, "eu"),
    ]


def test_hives_text_is_not_written_where_nobody_could_read_it(spark, store, tmp_path):
    storage = stored_as("text", StorageDescriptor(serde=SerDe(parameters={"field.delim": "|"})))
    store.create_table(Table("shop", "hive", COLUMNS, DATA, location=str(tmp_path / "hive"), storage=storage))
    for text in ("a|b", "a\nb", "a\rb"):
        frame = spark.createDataFrame(
            [(1, text, dt.date(2013, 1, 1), "eu")], "id int, name string, ds date, region string"
        )
        with pytest.raises(WriteFailed, match="unescaped line end or delimiter, in the column name"):
            write_table(frame, store, "shop.hive")
    assert store.partition_names("shop", "hive") == []
    nested = replace(store.get_table("shop", "hive"), name="nested", columns=[Column("tags", "array<string>")])
    store.create_table(nested)
    store.add_partitions("shop", "nested", [Partition(["2013-01-01", "eu"], location=str(tmp_path))])
    with pytest.raises(InvalidInput, match=r"column=tags, type=array<string>"):
        read_table(spark, store, "shop.nested")


def test_a_table_without_a_format_says_who_gives_it_one(spark, store, tmp_path):
    fact = {"cube.storagetable.fact": "sold"}
    for name, parameters, hint in (("plain", {}, "stored_as"), ("lake_sold", fact, "fact sold: hbstore model alter")):
        store.create_table(Table("shop", name, COLUMNS, DATA, location=str(tmp_path), parameters=parameters))
        store.add_partitions("shop", name, [Partition(["2013-01-01", "eu"])])
        with pytest.raises(InvalidInput, match="format of the table's files is unknown") as caught:
            read_table(spark, store, f"shop.{name}")
        assert hint in caught.value.hint


def test_partitions_elsewhere_keep_their_values(spark, store, tmp_path):
    expected = filled(spark, store, tmp_path / "sales", values=VALUES[:2])
    for number, place in enumerate(("plain", "with space", "st*r[1]{a}?", "per%20cent", "ümlaut")):
        ids = [100 + number]
        write(spark, tmp_path / "other" / place, "parquet", ids)
        one = Partition(
            [f"2014-01-0{number + 1}", None if number == 1 else place], location=f"{tmp_path}/other/{place}"
        )
        store.add_partitions("shop", "sales", [one])
        region = None if number == 1 else place
        expected.append((ids[0], f"n{ids[0]}", dt.date(2014, 1, number + 1), region))
    assert rows(read_table(spark, store, "shop.sales")) == sorted(expected, key=repr)


def test_folders_in_a_partitions_folder_are_read_wherever_that_is(spark, store, tmp_path):
    filled(spark, store, tmp_path / "sales", values=[("2014-01-01", "eu")])
    write(spark, tmp_path / "sales/ds=2014-01-01/region=eu/below", "parquet", [50])
    for place, one in (("a b%", 60), ("a b%/below", 61), ("a b%/x=1/y", 62), ("a b%/_left/y", 63)):
        write(spark, tmp_path / "other" / place, "parquet", [one])
    places = [f"file:{tmp_path}/other/{place}" for place in ("a b%", "a b%/below")]
    store.add_partitions(
        "shop", "sales", [Partition([f"2014-02-0{day}", "eu"], location=place) for day, place in enumerate(places, 1)]
    )
    found = [(row.id, str(row.ds)) for row in read_table(spark, store, "shop.sales").collect()]
    below = [(60, "2014-02-01"), (61, "2014-02-01"), (62, "2014-02-01"), (61, "2014-02-02")]
    assert sorted(one for one in found if one[0] >= 50) == sorted([(50, "2014-01-01"), *below])


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}/"])
def test_partitions_below_the_table_are_read_by_their_names_however_its_location_is_written(
    spark, store, tmp_path, form
):
    expected = filled(spark, store, tmp_path / "sales", values=VALUES[:2])
    location = form.format(tmp_path / "sales")
    store.create_table(Table("shop", "same", COLUMNS, DATA, location=location, parameters=provider("parquet")))
    names = [partition_name(("ds", "region"), Partition(one).values) for one in VALUES[:2]]
    places = (f"{location.rstrip('/')}/{names[0]}", f"file:{tmp_path}/sales/{names[1]}")
    given = [Partition(one, location=place) for one, place in zip(VALUES[:2], places, strict=True)]
    store.add_partitions("shop", "same", given)
    found = read_table(spark, store, "shop.same")
    assert rows(found) == sorted(expected, key=repr)
    assert "Join" not in found._jdf.queryExecution().optimizedPlan().toString()


def test_two_partitions_may_share_a_folder(spark, store, tmp_path):
    filled(spark, store, tmp_path / "sales", values=VALUES[:1])
    write(spark, tmp_path / "shared", "parquet", [7])
    both = [Partition([f"2014-01-0{day}", "eu"], location=f"file:{tmp_path}/shared") for day in (1, 2)]
    store.add_partitions("shop", "sales", both)
    assert rows(read_table(spark, store, "shop.sales", "ds >= '2014-01-01'")) == [
        (7, "n7", dt.date(2014, 1, day), "eu") for day in (1, 2)
    ]


@pytest.mark.parametrize("form", ["parquet", "orc", "json", "csv"])
def test_columns_that_were_added_later_are_null_in_old_files(spark, store, tmp_path, form):
    filled(spark, store, tmp_path / "sales", form, values=VALUES[:1])
    table = store.get_table("shop", "sales")
    more = [*DATA, Column("price", "decimal(10,2)")]
    store.alter_table(Table("shop", "sales", COLUMNS, more, location=table.location, parameters=table.parameters))
    found = read_table(spark, store, "shop.sales")
    assert {row.price for row in found.collect()} == {None}
    assert found.columns == ["id", "name", "price", "ds", "region"]


def test_a_partition_in_another_format_is_read_in_that(spark, store, tmp_path):
    serde = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
    table = Table(
        "shop",
        "mixed",
        COLUMNS,
        DATA,
        location=str(tmp_path / "mixed"),
        storage=StorageDescriptor(serde=SerDe(library=serde)),
    )
    store.create_table(table)
    orc = StorageDescriptor(serde=SerDe(library="org.apache.hadoop.hive.ql.io.orc.OrcSerde"))
    added = [Partition(["2013-01-01", "eu"]), Partition(["2013-01-02", "eu"], storage=orc)]
    store.add_partitions("shop", "mixed", added)
    write(spark, tmp_path / "mixed/ds=2013-01-01/region=eu", "parquet", [1])
    write(spark, tmp_path / "mixed/ds=2013-01-02/region=eu", "orc", [2])
    assert [row[0] for row in rows(read_table(spark, store, "shop.mixed"))] == [1, 2]


def test_text_that_does_not_fit_its_type_is_null(spark, store, tmp_path):
    filled(spark, store, tmp_path / "sales", values=VALUES[:1])
    store.add_partitions("shop", "sales", [Partition(["someday", "eu"])], invalid_values="keep")
    write(spark, tmp_path / "sales/ds=someday/region=eu", "parquet", [7])
    assert (7, "n7", None, "eu") in rows(read_table(spark, store, "shop.sales"))


def test_no_partitions_is_no_rows_with_the_tables_columns(spark, store, tmp_path):
    filled(spark, store, tmp_path / "sales", values=VALUES[:1])
    found = read_table(spark, store, "shop.sales", "ds = '1999-01-01'")
    assert found.collect() == []
    assert found.columns == ["id", "name", "ds", "region"]


def test_a_table_that_spark_made_through_the_endpoint_has_its_own_schema():
    schema = (
        '{"type":"struct","fields":[{"name":"Id","type":"long","nullable":true,"metadata":{}},'
        '{"name":"ds","type":"date","nullable":true,"metadata":{}}]}'
    )
    whole = {"spark.sql.sources.schema": schema}
    parts = {
        "spark.sql.sources.schema.numParts": "2",
        **{f"spark.sql.sources.schema.part.{n}": text for n, text in enumerate((schema[:50], schema[50:]))},
    }
    for parameters in (whole, parts):
        table = Table("shop", "t", [Column("ds", "date")], [Column("id", "bigint")], parameters=parameters)
        assert [(field.name, field.dataType.simpleString()) for field in data_schema(table)] == [("Id", "bigint")]


@pytest.mark.parametrize(
    "schema",
    [
        {"spark.sql.sources.schema": '{"type": "struct", "fields"'},
        {"spark.sql.sources.schema": "[]"},
        {"spark.sql.sources.schema": '{"type": "struct", "fields": [{"name": "n"}]}'},
        {"spark.sql.sources.schema": '{"type": "struct", "fields": [{"name": "n", "type": "x", "nullable": true}]}'},
        {"spark.sql.sources.schema.numParts": "2", "spark.sql.sources.schema.part.0": "{"},
        {"spark.sql.sources.schema.numParts": "many"},
    ],
)
def test_a_schema_of_sparks_that_does_not_parse_is_named(schema):
    with pytest.raises(InvalidInput, match=r"does not parse: table=shop\.sales, reason="):
        data_schema(Table("shop", "sales", COLUMNS, DATA, parameters=schema))


def test_rows_whose_columns_cannot_be_told_apart_are_refused():
    """A Hive Metastore's table may have a partition column that is named like a data column."""
    with pytest.raises(InvalidName, match="two columns have the same name: name=ds"):
        data_schema(Table("shop", "sales", [Column("ds", "string")], [Column("DS", "int")]))


def test_the_read_says_what_it_keeps_of_how_much(spark, store, tmp_path, capsys):
    filled(spark, store, tmp_path / "sales", values=VALUES[:3])
    store.alter_partitions("shop", "sales", [Partition(VALUES[0], parameters={"totalSize": "1234"})])
    one = "ds = '2013-01-01' and region = 'eu'"
    unknown = " (as far as known: 2 partitions do not say)"
    assert str(pruned_read(store, "shop.sales")) == f"shop.sales: 3 of 3 partitions, 1,234 of 1,234 bytes{unknown}"
    sized = [Partition(values, parameters={"totalSize": "5000"}) for values in VALUES[1:3]]
    store.alter_partitions("shop", "sales", sized)
    kept = "shop.sales: 1 of 3 partitions, 1,234 of 11,234 bytes"
    assert str(pruned_read(store, "shop.sales", one)) == kept
    read_table(spark, store, "shop.sales", one).where("id > 3").explain(extended=True)
    assert kept in capsys.readouterr().out
    assert str(pruned_read(store, "shop.sales", "region = 'none'")) == (
        "shop.sales: 0 of 3 partitions, 0 of 11,234 bytes"
    )


def test_without_statistics_the_read_says_how_many_partitions_it_keeps(spark, store, tmp_path):
    filled(spark, store, tmp_path / "sales", values=VALUES[:2])
    assert str(pruned_read(store, "shop.sales", "region = 'eu'")) == "shop.sales: 1 of 2 partitions"


def test_bad_input_is_named(spark, store, tmp_path):
    filled(spark, store, tmp_path / "sales", values=VALUES[:1])
    store.create_table(Table("shop", "plain", columns=DATA))
    store.create_table(Table("shop", "unknown", COLUMNS, DATA))
    store.add_partitions("shop", "unknown", [Partition(["2013-01-01", "eu"])])
    with pytest.raises(InvalidInput, match=r"database\.table"):
        read_table(spark, store, "sales")
    with pytest.raises(TableNotPartitioned):
        read_table(spark, store, "shop.plain")
    with pytest.raises(UnknownColumnError):
        read_table(spark, store, "shop.sales", "dsx = 1")
    with pytest.raises(InvalidInput, match="format"):
        read_table(spark, store, "shop.unknown")
    store.create_table(Table("shop", "nowhere", COLUMNS, DATA, parameters=provider("orc")))
    store.add_partitions("shop", "nowhere", [Partition(["2013-01-01", "eu"])])
    with pytest.raises(InvalidInput, match=r"no location: table=shop\.nowhere, partition=ds=2013-01-01/region=eu"):
        read_table(spark, store, "shop.nowhere")
    odd = [Column("either", "uniontype<int,string>")]
    store.create_table(Table("shop", "odd", COLUMNS, odd, parameters={"spark.sql.sources.provider": "orc"}))
    with pytest.raises(
        InvalidInput, match=r"support the type of a column: table=shop\.odd, column=either, type=uniontype<int,string>"
    ):
        read_table(spark, store, "shop.odd")
    store.add_partitions("shop", "sales", [Partition(VALUES[1], location="nosuch://bucket/a b")])
    with pytest.raises(FileOperationFailed, match=r"location=nosuch://bucket/a b, .*No FileSystem"):
        read_table(spark, store, "shop.sales", f"region = '{VALUES[1][1]}'")
    shutil.rmtree(tmp_path / "sales/ds=2013-01-01")
    with pytest.raises(InvalidInput, match="folder of a partition does not exist"):
        read_table(spark, store, "shop.sales")
