"""Databases, tables and partitions as the documents of docs/rest.md, read and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field

from hbstore.model.objects import (
    Column,
    Database,
    Order,
    Partition,
    PartitionValues,
    SerDe,
    Table,
    partition_value_texts,
)

_NOT_SENT: Final = frozenset({"create_time", "later_fields", "payload", "privileges", "skew"})
"""Fields of the model that no request has: the server says them, or the stored bytes alone have them."""

_OF_TABLES: Final = frozenset({"database", "last_access_time", "rewrite_enabled", "temporary"})
"""Those of tables alone; the database stands in the address."""


class ValueDocument(BaseModel):
    """A document whose fields are called as the attributes of a value of the catalog."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, value: object) -> Self:
        """The document of a value."""
        return cls.model_validate(value)


class _Part(ValueDocument):
    """A part of requests as well: what it says that is not known here is a mistake."""

    model_config = ConfigDict(extra="forbid")


class ColumnDocument(_Part):
    """A column; the type is Hive's text, such as ``array<struct<a:int>>``."""

    name: str
    type: str
    comment: str | None = None

    def column(self) -> Column:
        """The column."""
        return Column(self.name, self.type, self.comment)


class SerDeDocument(_Part):
    """The class that reads and writes rows."""

    name: str | None = None
    library: str | None = None
    parameters: Mapping[str, str] = Field(default_factory=dict)


class OrderDocument(_Part):
    """A column that the files are sorted by: 1 is ascending, 0 descending."""

    column: str
    order: int


class StorageDocument(_Part):
    """How files are stored."""

    columns: list[ColumnDocument] = Field(
        default_factory=list, description="of a partition: those that the table had when its files were written"
    )
    input_format: str | None = None
    output_format: str | None = None
    compressed: bool = False
    num_buckets: int = -1
    serde: SerDeDocument = Field(default_factory=SerDeDocument)
    bucket_columns: list[str] = Field(default_factory=list)
    sort_columns: list[OrderDocument] = Field(default_factory=list)
    parameters: Mapping[str, str] = Field(default_factory=dict)
    stored_as_sub_directories: bool = False

    def fields(self) -> dict[str, Any]:
        """What replaces the fields of a storage descriptor, or makes one."""
        return {
            **self.model_dump(exclude={"columns", "serde", "sort_columns"}),
            "columns": [document.column() for document in self.columns],
            "serde": SerDe(self.serde.name, self.serde.library, self.serde.parameters),
            "sort_columns": [Order(order.column, order.order) for order in self.sort_columns],
        }


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
