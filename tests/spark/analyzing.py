"""Tables to analyze: files whose columns have all types and nulls, and what is to be said of them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from pyarrow import parquet
from pyspark.sql import functions as f

from hbstore import Column, Partition
from hbstore.keys.partition_names import partition_name
from hbstore.metastore.protocol import THRIFT, struct_kind

COLUMNS = [Column("ds", "date"), Column("region", "string")]
DATA = [
    Column("id", "int"),
    Column("big", "bigint"),
    Column("name", "string"),
    Column("price", "decimal(10,2)"),
    Column("total", "decimal(30,3)"),
    Column("ratio", "double"),
    Column("ok", "boolean"),
    Column("day", "date"),
    Column("moment", "timestamp"),
    Column("code", "binary"),
    Column("never", "int"),
]
VALUES = [(f"2013-01-0{day}", region) for day in (1, 2) for region in ("eu", "us=1/a b", None)]
STATISTICS = "spark.sql.statistics."
DATA_OF = struct_kind(THRIFT.ColumnStatisticsData)
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  as Spark's times come


def rows_of(spark, start, stop):
    """Rows with some nulls of every type."""
    some = f.col("id") % 7 != 0
    return (
        spark.range(start, stop)
        .select(
            f.col("id").cast("int").alias("id"),
            f.when(some, f.col("id") * -(10**12)).alias("big"),
            f.when(f.col("id") % 5 != 0, f.concat(f.lit("nä"), f.col("id") % 40)).alias("name"),
            f.when(some, f.col("id") / 3).cast("decimal(10,2)").alias("price"),
            (-f.col("id").cast("decimal(30,3)") * f.expr("1000000000000000BD")).cast("decimal(30,3)").alias("total"),
            f.when(f.col("id") % 9 == 0, float("nan")).when(some, f.col("id") / 7 - 3).alias("ratio"),
            f.when(some, f.col("id") % 3 == 0).alias("ok"),
            f.when(some, f.date_add(f.lit(dt.date(1965, 1, 1)), f.col("id").cast("int"))).alias("day"),
            f.when(some, f.timestamp_seconds(f.col("id") * 1000.5 - 90_000)).alias("moment"),
            f.when(some, f.concat(f.lit("c"), f.col("id")).cast("binary")).alias("code"),
            f.lit(None).cast("int").alias("never"),
        )
        .coalesce(2)
    )


def parameters(store, table="sales"):
    """The parameters of all partitions, by their values."""
    return {one.values: dict(one.parameters) for one in store.get_partitions_by_filter("shop", table, None)}


def table_parameters(store):
    return {
        name.removeprefix(STATISTICS): text
        for name, text in store.get_table("shop", "sales").parameters.items()
        if name.startswith(STATISTICS)
    }


def statistics(store, values, table="sales"):
    """What Hive's clients get of a partition's columns: the one struct that is there."""
    found = store.column_statistics.read_partitions("shop", table, [Partition(values).values])
    kinds = {}
    for one in found.get(Partition(values).values, ()):
        data, _ = DATA_OF.read(one.data, 0)
        (kinds[one.column],) = (kind for kind in vars(data).values() if kind is not None)
    return kinds


def on_disk(folder):
    """Files and bytes of data in a folder, as Hive counts them."""
    files = [
        one
        for one in Path(folder).rglob("*")
        if one.is_file() and not any(part.startswith(("_", ".")) for part in one.relative_to(folder).parts)
    ]
    return len(files), sum(one.stat().st_size for one in files)


def assert_counted(store, root):
    """Every partition has the numbers of a naive count."""
    for values, found in parameters(store).items():
        folder = root / partition_name(("ds", "region"), values)
        files, size = on_disk(folder)
        rows = sum(map(rows_in, folder.glob("[!._]*")))
        numbers = {"numRows": rows, "numFiles": files, "totalSize": size}
        numbers |= {f"{STATISTICS}numRows": rows, f"{STATISTICS}totalSize": size}
        assert numbers == {name: int(found[name]) for name in numbers}


def rows_in(file):
    """Those that come out of a file when it is read."""
    if file.suffix == ".csv":
        return len(file.read_text(encoding="utf-8").splitlines())
    return parquet.ParquetFile(file).read().num_rows
