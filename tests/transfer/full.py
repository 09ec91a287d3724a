"""A database with every field that Hive 2.3 has, for both ways."""

from __future__ import annotations

from dataclasses import replace

from hbstore import Column, Database, Partition, Table
from hbstore.model.objects import Order, SerDe, Skew, StorageDescriptor
from hbstore.model.service_objects import ColumnStatistic, Function

DDL_TIME = "transient_lastDdlTime"
COLUMNS = [Column("ds", "date", "the day"), Column("hour", "int"), Column("region", "string")]
LONGS = bytes.fromhex("0c0002 0a0001 0000000000000001 0a0002 0000000000000009 0a0003 0000000000000000")
"""ColumnStatisticsData of a bigint: from 1 to 9, no nulls; without its number of distinct values and its end."""


def longs(distinct):
    """The data of statistics of a bigint."""
    return LONGS + bytes.fromhex("0a0004") + distinct.to_bytes(8, "big") + b"\0\0"


def storage():
    return StorageDescriptor(
        input_format="org.apache.hadoop.mapred.TextInputFormat",
        output_format="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        compressed=True,
        num_buckets=16,
        serde=SerDe("serde", "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", {"format": "1", "empty": ""}),
        bucket_columns=["number"],
        sort_columns=[Order("number", 1), Order("amount", 0)],
        parameters={"key": "value", "ünïcode": "é"},
        skew=Skew(["number"], [["1"], ["2"]], {("1",): "file:/one", ("2",): "file:/two"}),
        stored_as_sub_directories=True,
    )


def tables(database, root):
    """A partitioned table, a view, and a table without partitions."""
    data = [Column("number", "bigint", "what for"), Column("amount", "decimal(10,2)"), Column("items", "array<int>")]
    times = {"create_time": 1_500_000_000, "last_access_time": 1_600_000_000}
    yield Table(
        database,
        "sales",
        COLUMNS,
        data,
        location=f"{root}/{database}/sales",
        parameters={DDL_TIME: "1500000001", "comment": "tab\there", "EXTERNAL": "TRUE", "empty": ""},
        owner="ann",
        table_type="EXTERNAL_TABLE",
        storage=storage(),
        retention=7,
        **times,
    )
    yield Table(
        database,
        "seen",
        columns=data,
        parameters={DDL_TIME: "5"},
        owner="bob",
        table_type="VIRTUAL_VIEW",
        view_original_text="select * from sales",
        view_expanded_text="select `a` from `shop`.`sales`",
        **times,
    )
    yield Table(
        database,
        "plain",
        columns=data,
        location=f"{root}/{database}/plain",
        parameters={DDL_TIME: "5", "EXTERNAL": "TRUE"},
        table_type="EXTERNAL_TABLE",
        **times,
    )


def partitions(root):
    """Partitions of ``sales``: plain ones, odd values, locations and a storage of their own."""
    made = [
        Partition(
            (f"2013-01-0{day}", str(hour), "a b/c=d%"),
            parameters={DDL_TIME: str(day), "numRows": str(hour)},
            create_time=1000 + day,
            last_access_time=hour,
        )
        for day in (1, 2)
        for hour in (5, 10)
    ]
    older = [Column("number", "int"), Column("gone", "string")]
    made.append(
        Partition(
            ("2013-01-03", None, "ünïcode"),
            location=f"{root}/elsewhere/x",
            parameters={DDL_TIME: "9"},
            create_time=5,
            storage=replace(storage(), columns=older, num_buckets=2, bucket_columns=[], sort_columns=[], skew=None),
        )
    )
    return made


def fill(store, database, root):
    """Put all of it into a store."""
    described = {"description": "what is sold", "parameters": {"a": "b", "é": "ü"}, "owner": "ann", "owner_type": 1}
    store.create_database(Database(database, location=f"{root}/{database}", **described))
    for table in tables(database, root):
        store.create_table(table)
    found = partitions(root)
    store.add_partitions(database, "sales", found)
    store.column_statistics.write_table(database, "plain", [ColumnStatistic("number", "bigint", longs(3))])
    statistics = {one.values: [ColumnStatistic("number", "bigint", longs(at))] for at, one in enumerate(found[:3])}
    store.column_statistics.write_partitions(database, "sales", statistics)
    store.hive.functions.create(
        Function(database, "tax", "org.shop.Tax", "ann", 1, resources=[(1, "s3://shop/tax.jar")])
    )


def assert_same(one, other, database):
    """That two stores hold the same database; when tables and functions were created is a metastore's own business."""
    first, second = whole(one, database), whole(other, database)
    assert first.keys() == second.keys()
    for what in first:
        assert first[what] == second[what], what


def whole(store, database):
    """All of a database that a metastore keeps as it is."""
    found = {
        "database": replace(store.get_database(database), later_fields=b""),
        "functions": [replace(one, create_time=0, later_fields=b"") for one in store.hive.functions.list(database)],
    }
    for name in store.table_names(database):
        table = comparable(store.get_table(database, name))
        found[name] = table, undated(store.column_statistics.read_table(database, name))
        if table.partition_columns:
            partitions = store.get_partitions_by_filter(database, name, None)
            values = [one.values for one in partitions]
            statistics = store.column_statistics.read_partitions(database, name, values)
            found[f"{name}: partitions"] = [plain_partition(one) for one in partitions]
            found[f"{name}: statistics"] = {one: undated(some) for one, some in statistics.items()}
    return found


def undated(statistics):
    return [replace(one, analyzed=0) for one in statistics]


def comparable(table):
    """A table without when it was created and later fields, and with what is not set as a metastore sets it."""
    return replace(
        table,
        create_time=0,
        rewrite_enabled=bool(table.rewrite_enabled),
        storage=plain_storage(table.storage),
        later_fields=b"",
    )


def plain_partition(partition):
    return replace(partition, storage=plain_storage(partition.storage), later_fields=b"")


def plain_storage(given):
    """A Hive Metastore does not tell no skew from an empty one."""
    return replace(given, skew=given.skew or Skew(), serde=replace(given.serde, later_fields=b""), later_fields=b"")
