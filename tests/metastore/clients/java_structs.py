"""Structs as Hive sends them: tables, partitions, statistics."""

from __future__ import annotations

TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
TEXT_OUTPUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
TEXT_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"


def columns(ask, **types):
    """Columns by name and type."""
    return [ask.struct("FieldSchema", name=name, type=kind) for name, kind in types.items()]


def storage(ask, **fields):
    """A storage descriptor of a text table; without a location, unless one is given."""
    serde = ask.struct("SerDeInfo", serializationLib=TEXT_SERDE, parameters={"serialization.format": "1"})
    return ask.struct(
        "StorageDescriptor",
        **{
            "cols": columns(ask, amount="double", note="string"),
            "inputFormat": TEXT_INPUT,
            "outputFormat": TEXT_OUTPUT,
            "numBuckets": -1,
            "serdeInfo": serde,
            "bucketCols": [],
            "sortCols": [],
            "parameters": {},
            **fields,
        },
    )


def table(ask, database, name, keys=None, *, sd=None, **fields):
    """A managed table, by default partitioned by ds and hour."""
    keys = {"ds": "string", "hour": "int"} if keys is None else keys
    return ask.struct(
        "Table",
        **{
            "dbName": database,
            "tableName": name,
            "owner": "ann",
            "sd": sd or storage(ask),
            "partitionKeys": columns(ask, **keys),
            "parameters": {},
            "tableType": "MANAGED_TABLE",
            **fields,
        },
    )


def partition(ask, database, name, *values, sd=None, **fields):
    """A partition with these values."""
    return ask.struct(
        "Partition",
        **{
            "dbName": database,
            "tableName": name,
            "values": list(values),
            "sd": sd or storage(ask),
            "parameters": {},
            **fields,
        },
    )


def filled(ask, database, name, *values):
    """A database with a table of these partitions, each given as values."""
    ask("createDatabase", ask.struct("Database", name=database))
    ask("createTable", table(ask, database, name))
    ask("add_partitions", [partition(ask, database, name, *one) for one in values])
