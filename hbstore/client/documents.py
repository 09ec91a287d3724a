"""Databases, tables and partitions as the documents of docs/rest.md, read and written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hbstore.model import (
    Column,
    Database,
    Partition,
    PartitionValues,
    StorageDescriptor,
    Table,
    partition_value_texts,
)


def database_of(document: Mapping[str, Any]) -> Database:
    """The database in a document.

    >>> database_of({"name": "shop", "owner": "ann"}).owner
    'ann'
    """
    return Database(**document)


def database_document(database: Database) -> dict[str, Any]:
    """The document of a new database.

    >>> database_document(Database("shop"))["name"]
    'shop'
    """
    names = ("name", "description", "location", "owner", "owner_type")
    return {**{name: getattr(database, name) for name in names}, "parameters": dict(database.parameters)}


def table_document(table: Table) -> dict[str, Any]:
    """The document of a new table."""
    names = ("name", "location", "owner", "table_type", "retention", "view_original_text", "view_expanded_text")
    return {
        **{name: getattr(table, name) for name in names},
        "columns": [_column(one) for one in table.columns],
        "partition_columns": [_column(one) for one in table.partition_columns],
        "parameters": dict(table.parameters),
        "storage": _storage(table.storage),
    }


def partition_document(partition: PartitionValues) -> dict[str, Any]:
    """The document of a new partition, or of one that is named: values, a spec, or a `Partition`.

    Raises:
        InvalidPartitionValue: it is none of these.

    >>> partition_document({"ds": "2013-01-01", "hour": "5"}), partition_document(["2013-01-01", None])["values"]
    ({'spec': {'ds': '2013-01-01', 'hour': '5'}}, ['2013-01-01', '__HIVE_DEFAULT_PARTITION__'])
    """
    if isinstance(partition, Mapping):
        return {"spec": dict(partition)}
    if not isinstance(partition, Partition):
        return {"values": list(partition_value_texts(partition))}
    storage = partition.storage
    return {
        "values": list(partition.values),
        "location": partition.location,
        "parameters": dict(partition.parameters),
        "last_access_time": partition.last_access_time,
        "storage": None if storage is None else _storage(storage),
    }


def _column(column: Column) -> dict[str, Any]:
    return {"name": column.name, "type": column.type, "comment": column.comment}


def _storage(storage: StorageDescriptor) -> dict[str, Any]:
    serde = storage.serde
    return {
        "columns": [_column(column) for column in storage.columns],
        "input_format": storage.input_format,
        "output_format": storage.output_format,
        "compressed": storage.compressed,
        "num_buckets": storage.num_buckets,
        "serde": {"name": serde.name, "library": serde.library, "parameters": dict(serde.parameters)},
        "bucket_columns": list(storage.bucket_columns),
        "sort_columns": [{"column": order.column, "order": order.order} for order in storage.sort_columns],
        "parameters": dict(storage.parameters),
        "stored_as_sub_directories": storage.stored_as_sub_directories,
    }
