"""Databases, tables and partitions as the documents of docs/rest.md that create them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from hbstore.model import Database, Partition, PartitionValues, Table, partition_value_texts

_NOT_SENT: Final = frozenset({"create_time", "later_fields", "payload", "privileges", "skew"})
"""Fields of the model that no request has: the server says them, or the stored bytes alone have them."""

_OF_TABLES: Final = frozenset({"database", "last_access_time", "rewrite_enabled", "temporary"})
"""Those of tables alone; the database stands in the address."""


def document_of(value: Database | Table | Partition) -> dict[str, Any]:
    """The document of a new database, table or partition.

    >>> document_of(Database("shop", owner="ann"))["owner"]
    'ann'
    """
    document: dict[str, Any] = _sent(value)
    if isinstance(value, Table):
        return {name: sent for name, sent in document.items() if name not in _OF_TABLES}
    return document


def partition_document(partition: PartitionValues) -> dict[str, Any]:
    """The document of a new partition, or of one that is named: values, a spec, or a `Partition`.

    Raises:
        InvalidPartitionValue: it is none of these.

    >>> partition_document({"ds": "2013-01-01", "hour": "5"}), partition_document(["2013-01-01", None])["values"]
    ({'spec': {'ds': '2013-01-01', 'hour': '5'}}, ['2013-01-01', '__HIVE_DEFAULT_PARTITION__'])
    """
    if isinstance(partition, Mapping):
        return {"spec": dict(partition)}
    if isinstance(partition, Partition):
        return document_of(partition)
    return {"values": list(partition_value_texts(partition))}


def _sent(value: Any) -> Any:
    """A value of the model as JSON has it."""
    if is_dataclass(value):
        names = [field.name for field in fields(value) if field.name not in _NOT_SENT]
        return {name: _sent(getattr(value, name)) for name in names}
    return list(map(_sent, value)) if isinstance(value, tuple) else value
