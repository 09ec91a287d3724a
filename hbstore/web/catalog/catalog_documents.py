"""Databases, tables and partitions as documents: what requests and replies of the catalog hold.

Privileges, skew, and fields of later versions of the Hive Metastore are in no document. A change leaves them as they
are; the stored bytes (`thrift`) have them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from hbstore.client.documents import ColumnDocument, StorageDocument, ValueDocument
from hbstore.keys.partition_names import partition_name
from hbstore.model.constraints import ConstraintKind
from hbstore.model.objects import Partition, Table

_SALES: Final[dict[str, Any]] = {
    "columns": [{"name": "amount", "type": "decimal(10,2)"}],
    "partition_columns": [{"name": "ds", "type": "date"}, {"name": "hour", "type": "int"}],
}
_FIVE: Final[dict[str, Any]] = {
    "name": "ds=2013-01-01/hour=5",
    "values": ["2013-01-01", "5"],
    "location": "s3://shop/sales/ds=2013-01-01/hour=5",
    "parameters": {"numRows": "100"},
    "create_time": 1356998400,
    "last_access_time": 0,
}


class DatabaseDocument(ValueDocument):
    """A database; the owner's type is 1 for a user, 2 for a role, 3 for a group."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "shop", "location": "s3://shop", "owner": "ann", "parameters": {}}]}
    )

    name: str
    description: str | None = None
    location: str | None = None
    owner: str | None = None
    owner_type: int | None = None
    parameters: Mapping[str, str] = Field(default_factory=dict)


class DatabasesDocument(BaseModel):
    """All databases in order of their names."""

    databases: list[DatabaseDocument]


class TableDocument(ValueDocument):
    """A table; times are seconds since 1970."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"database": "shop", "name": "sales", **_SALES, "location": "s3://shop/sales", "owner": "ann"}]
        }
    )

    database: str
    name: str
    columns: list[ColumnDocument] = Field(default_factory=list)
    partition_columns: list[ColumnDocument] = Field(default_factory=list)
    location: str | None = None
    parameters: Mapping[str, str] = Field(default_factory=dict)
    owner: str | None = None
    table_type: str = "MANAGED_TABLE"
    storage: StorageDocument = Field(default_factory=StorageDocument)
    create_time: int = 0
    last_access_time: int = 0
    retention: int = 0
    view_original_text: str | None = None
    view_expanded_text: str | None = None


class ReferencesDocument(ValueDocument):
    """What a foreign key refers to; the rules are numbers of Hive's clients."""

    database: str
    table: str
    columns: list[str]
    key: str
    update_rule: int
    delete_rule: int


class ConstraintDocument(ValueDocument):
    """What is said about the rows of a table. It is kept, and enforced by nobody."""

    kind: Literal["primary key", "foreign key", "unique", "not null", "default", "check"]
    name: str
    columns: list[str]
    text: str | None = Field(description="the value of a default, the condition of a check")
    references: ReferencesDocument | None
    enabled: bool
    validated: bool
    relied: bool

    @field_validator("kind", mode="before")
    @classmethod
    def _kind(cls, kind: ConstraintKind | str) -> str:
        return kind.value if isinstance(kind, ConstraintKind) else kind


class ForeignKeyDocument(ValueDocument):
    """A foreign key with the table that has it."""

    database: str
    table: str
    constraint: ConstraintDocument


class ConstraintsDocument(BaseModel):
    """The constraints of a table in the order in which they came, and the foreign keys that refer to it."""

    constraints: list[ConstraintDocument]
    referring: list[ForeignKeyDocument]


class ListedTable(ValueDocument):
    """A table among those of its database."""

    name: str
    table_type: str
    partition_columns: list[ColumnDocument]
    location: str | None


class TablesDocument(BaseModel):
    """The tables of a database in order of their names."""

    tables: list[ListedTable]


class PartitionDocument(BaseModel):
    """A partition; times are seconds since 1970. Fields that a request does not name are not there."""

    model_config = ConfigDict(json_schema_extra={"examples": [_FIVE]})

    name: str | None = None
    values: list[str] | None = None
    location: str | None = None
    parameters: Mapping[str, str] | None = None
    create_time: int | None = None
    last_access_time: int | None = None
    storage: StorageDocument | None = None
    thrift: str | None = Field(default=None, description="the stored bytes, Hive's Partition struct, in base64")

    @classmethod
    def of(cls, table: Table, partition: Partition) -> Self:
        """The document of a partition of a table."""
        return cls(
            name=partition_name(table.partition_column_names, partition.values),
            values=list(partition.values),
            location=partition.location,
            parameters=partition.parameters,
            create_time=partition.create_time,
            last_access_time=partition.last_access_time,
            storage=None if partition.storage is None else StorageDocument.of(partition.storage),
        )


class PartitionsPage(BaseModel):
    """Partitions in key order, and the token of the next page; null behind the last."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"partitions": [_FIVE], "next": None}]})

    partitions: list[PartitionDocument]
    next: str | None


class NamesPage(BaseModel):
    """Names in key order, and the token of the next page; null behind the last."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"names": ["ds=2013-01-01/hour=5"], "next": None}]})

    names: list[str]
    next: str | None


class Count(BaseModel):
    """How many partitions a filter selects."""

    count: int


class TotalsDocument(BaseModel):
    """What the partitions of a table say together, and of each figure how many do not say it."""

    partitions: int
    rows: int
    files: int
    size: int
    without_rows: int
    without_files: int
    without_size: int


class ScanDocument(BaseModel):
    """One scan of a plan: keys in hex, ranges and residuals in words; measured ones have figures."""

    kind: str
    start: str
    stop: str
    range: str
    residual: str | None
    column: str | None = Field(default=None, description="of a skip scan: whose values it visits")
    below: str | None = Field(default=None, description="of a skip scan: what it reads below each of them")
    note: str | None = Field(default=None, description="why it reads this way, where there was a choice")
    rows_read: int | None = None
    rows_returned: int | None = None
    round_trips: int | None = None
    seconds: float | None = None


class AlternativeDocument(BaseModel):
    """One way to read what a filter selects; without figures where too little is known of the table."""

    way: str
    taken: bool = Field(description="whether it is the plan")
    scans: str
    seeks: int | None = None
    gets: int | None = None
    rows: int | None = Field(default=None, description="that are looked at")
    seconds: float | None = Field(default=None, description="by the backend's costs")


class PlanDocument(BaseModel):
    """What a filter becomes; with ``analyze`` what running it costs, and what of the table it leaves out."""

    table: str
    filter: str | None
    tree: str | None
    scans: list[ScanDocument]
    alternatives: list[AlternativeDocument] = Field(description="the cheapest first")
    text: str = Field(description="as `hbstore explain` prints it")
    rows_read: int | None = None
    rows_returned: int | None = None
    round_trips: int | None = None
    seconds: float | None = None
    kept: TotalsDocument | None = None
    of: TotalsDocument | None = None
