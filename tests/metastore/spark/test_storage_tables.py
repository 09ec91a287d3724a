"""Storage tables of every format: what Spark SQL writes through the endpoint `read_table` reads, and the reverse."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import pytest

from hbstore import Column, Table, connect
from hbstore.cubes import Cubes, parse_documents
from hbstore.model.stored_as import stored_as
from tests.metastore.serving import Serve
from tests.metastore.spark.process import tell

pytestmark = [pytest.mark.spark]
MODEL = """
kind: storage
name: lake
---
kind: cube
name: sales
dim_attributes: [{name: id, type: bigint}]
"""
COLUMNS = {
    "id": "bigint",
    "name": "string",
    "short": "varchar(5)",
    "price": "decimal(10,2)",
    "ratio": "double",
    "many": "boolean",
    "day": "date",
    "at": "timestamp",
    "bytes": "binary",
}
FACT = """
<x_fact_table cube_name="sales" name="{name}">
  <columns>{columns}</columns>
  <storage_tables><storage_table>
    <update_periods><update_period>DAILY</update_period></update_periods>
    <storage_name>lake</storage_name>
    <table_desc external="true" table_location="file:{root}/{name}" {attributes}>
      <part_cols><column name="dt" _type="STRING"/><column name="n" _type="INT"/></part_cols>
      <time_part_cols>dt</time_part_cols>
      {parameters}
    </table_desc>
  </storage_table></storage_tables>
</x_fact_table>
"""
PARQUET = "org.apache.hadoop.hive.ql.io.parquet."
NULL = '<serde_parameters><property name="serialization.null.format" value="nil"/></serde_parameters>'
LENS = {
    "plain": ("", ""),
    "delimited": ('field_delimiter="|" escape_char="\\"', NULL),
    "line_ends": (
        'field_delimiter="," escape_char="\\"',
        '<serde_parameters><property name="serialization.escape.crlf" value="true"/></serde_parameters>',
    ),
    "by_serde": (f'serde_class_name="{PARQUET}serde.ParquetHiveSerDe"', ""),
    "by_input": (f'input_format="{PARQUET}MapredParquetInputFormat"', ""),
}
"""Attributes and elements of the tables that Lens's XML describes."""

FORMATS = ("text", "csv", "parquet", "orc")
TEXTS = {
    "plain": ["a|b,c", "with \\ and \\N", '"quoted"', "", " spaces ", "größe", None],
    "delimited": ["a|b\\|c", "\\", "a\\\\|", "\\N", '"quoted"', "", " spaces ", "new\\n|r\\r", None],
    "line_ends": ["a,b\\", "one\ntwo\r\nthree\r", "\\n", ",", "", None],
}
TEXTS |= dict.fromkeys(("text", "by_serde", "by_input", "parquet", "orc"), TEXTS["plain"])
TEXTS |= {"csv": [*TEXTS["plain"], "a,b\\,c", "\\,", '"a,b"']}
NULLS = (None,) * (len(COLUMNS) - 2)
WRITERS = ("sql", "table", "dynamic_sql", "dynamic_table")


def rows_of(name):
    """Some rows of each text; of the other columns, values that take care to write."""
    kept = (
        *("abcde", Decimal("-12345678.90"), 1.5e-7, True, dt.date(1969, 12, 31)),
        *(dt.datetime.fromisoformat("2015-01-01T23:59:59.123456"), bytearray(b"\x00|,\\\xff")),
    )
    return [(number, text, *(NULLS if number % 3 == 2 else kept)) for number, text in enumerate(TEXTS[name])]


def xml_of(name, root):
    attributes, parameters = LENS[name]
    columns = "".join(
        f'<column name="{column}" _type="{kind}" extra="{json.dumps(column != "id")}"/>'
        for column, kind in COLUMNS.items()
    )
    return FACT.format(name=name, root=root, columns=columns, attributes=attributes, parameters=parameters)


def yaml_of(name, root):
    columns = [{"name": column, "type": kind, "extra": column != "id"} for column, kind in COLUMNS.items()]
    table = {
        "storage": "lake",
        "update_periods": ["DAILY"],
        "partition_columns": [{"name": "dt", "type": "string"}, {"name": "n", "type": "int"}],
        "time_partition_columns": ["dt"],
        "description": {"location": f"file:{root}/{name}", "format": name},
    }
    return json.dumps({"kind": "fact", "name": name, "cube": "sales", "columns": columns, "storage_tables": [table]})


def test_all_directions_give_the_same_rows(tmp_path, spark_process):
    url = f"sqlite://{tmp_path}/catalog.db"
    with connect(url) as store, Serve(url, tmp_path) as server:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        documents = parse_documents(MODEL, "yaml")
        documents += [one for name in LENS for one in parse_documents(xml_of(name, tmp_path), "xml")]
        documents += [one for name in FORMATS for one in parse_documents(yaml_of(name, tmp_path), "json")]
        cubes.create_all(documents)
        assert spark_process.run(run, tmp_path / "spark", server.ready["uri"], url) == []
        for name in (*LENS, *FORMATS):
            assert len(store.partition_names("shop", f"lake_{name}")) == len(WRITERS)


def test_a_table_without_a_location_takes_partitions_and_rows(tmp_path, spark_process):
    url = f"sqlite://{tmp_path}/catalog.db"
    with connect(url) as store, Serve(url, tmp_path) as server:
        store.create_database("shop")
        for form in ("text", "parquet"):
            table = Table("shop", form, [Column("ds", "string")], [Column("id", "int")], storage=stored_as(form))
            store.create_table(table)
        store.create_table(Table("shop", "flat", columns=[Column("id", "int")], storage=stored_as("orc")))
        spark_process.run(fill, tmp_path / "spark", server.ready["uri"])
        for form in ("text", "parquet"):
            assert store.partition_names("shop", form) == ["ds=a", "ds=b", "ds=c"]
        assert sorted(one.name for one in (tmp_path / "warehouse/shop.db").iterdir()) == ["parquet", "text"]


def fill(folder, uri):
    """In Spark's process: rows for the tables of the test above, of which one is dropped."""
    from tests.metastore.spark.session import start_session

    spark = start_session(folder, uri)
    spark.sql("SET hive.exec.dynamic.partition.mode = nonstrict")
    elsewhere = Path(folder) / "elsewhere"
    for form in ("text", "parquet"):
        spark.sql(f"ALTER TABLE shop.{form} ADD PARTITION (ds = 'a') LOCATION 'file:{elsewhere}/{form}'")
        spark.sql(f"ALTER TABLE shop.{form} ADD PARTITION (ds = 'b')")
        for day in "ab":
            spark.sql(f"INSERT INTO shop.{form} PARTITION (ds = '{day}') VALUES (1)")
        spark.sql(f"INSERT INTO shop.{form} VALUES (2, 'b'), (3, 'c')")
        found = sorted(map(tuple, spark.sql(f"SELECT * FROM shop.{form}").collect()))
        assert found == [(1, "a"), (1, "b"), (2, "b"), (3, "c")], found
        assert list((elsewhere / form).iterdir())
    spark.sql("INSERT INTO shop.flat VALUES (7)")
    assert [tuple(row) for row in spark.sql("SELECT * FROM shop.flat").collect()] == [(7,)]
    spark.sql("DROP TABLE shop.flat")
    spark.stop()


def run(folder, uri, url):
    """In Spark's process: each way of writing, then each way of reading; what differs is told."""
    from hbstore.spark import read_table, write_table
    from tests.metastore.spark.session import start_session

    spark = start_session(folder, uri)
    spark.sql("SET hive.exec.dynamic.partition.mode = nonstrict")
    schema = ", ".join(f"{column} {'string' if '(5' in kind else kind}" for column, kind in COLUMNS.items())
    for name in (*LENS, *FORMATS):
        table = f"shop.lake_{name}"
        rows = rows_of(name)
        frame = spark.createDataFrame(rows, schema).coalesce(1)
        frame.createOrReplaceTempView("given")
        spark.sql(f"INSERT INTO {table} PARTITION (dt = '2015-01-01', n = 1) SELECT * FROM given")
        write_table(frame, url, table, static={"dt": "2015-01-02", "n": 2})
        spark.sql(f"INSERT INTO {table} SELECT *, '2015-01-03', 3 FROM given")
        write_table(frame.selectExpr("*", "'2015-01-04' dt", "4 n"), url, table)
        by_sql = spark.sql(f"SELECT * FROM {table} ORDER BY n, id")
        by_table = read_table(spark, url, table).orderBy("n", "id")
        for reader, read in (("sql", by_sql), ("table", by_table)):
            every = [tuple(row) for row in read.collect()]
            for number, way in enumerate(WRITERS, 1):
                expected = [(*one, f"2015-01-0{number}", number) for one in rows]
                found = [one for one in every if one[-1] == number]
                for one, other in zip(expected, found, strict=False):
                    if one != other:
                        tell(f"{name}: {way} -> {reader}: {one} is {other}")
                if len(found) != len(expected):
                    tell(f"{name}: {way} -> {reader}: {len(found)} rows of {len(expected)}")
    spark.stop()
