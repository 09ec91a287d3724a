"""What requests say that change the catalog: new databases, tables and partitions, and what is to be changed of them.

A change is as JSON's merge patch (RFC 7396) has it: what it does not name stays, and a parameter that is null goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hbstore.client.documents import ColumnDocument, StorageDocument
from hbstore.errors import InvalidInput, InvalidPartitionValue
from hbstore.keys.partition_names import name_reader
from hbstore.model.objects import (
    Database,
    Partition,
    StorageDescriptor,
    Table,
    check_columns_apart,
    partition_value_texts,
)
from hbstore.model.stored_as import FileFormat, stored_as

B = TypeVar("B", bound=BaseModel)
_KEYS: Final[Any] = [{"name": "ds", "type": "date"}, {"name": "hour", "type": "int"}]


class _Request(BaseModel):
    """A request's body: what it says that is not known here is a mistake."""

    model_config = ConfigDict(extra="forbid")

    def said(self, *names: str) -> dict[str, Any]:
        """Those of some fields that the request names."""
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


class NewDatabase(_Request):
    """A database to create; without a location its folder is below the warehouse."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "shop", "owner": "ann"}]})

    name: str
    description: str | None = None
    location: str | None = None
    owner: str | None = None
    owner_type: int | None = None
    parameters: Mapping[str, str] = Field(default_factory=dict)

    def database(self) -> Database:
        """The database."""
        return Database(**self.model_dump())


class DatabaseChange(_Request):
    """What is to be changed of a database. No files are moved: a location is for tables that are created later."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"owner": "bob", "parameters": {"team": "sales"}}]})

    description: str | None = None
    location: str | None = None
    owner: str | None = None
    owner_type: int | None = None
    parameters: Mapping[str, str | None] = Field(default_factory=dict)

    def applied(self, old: Database) -> Database:
        """The database after the change."""
        fields = self.said("description", "location", "owner", "owner_type")
        return replace(old, **fields, parameters=_patched(old.parameters, self.parameters))


class NewTable(_Request):
    """A table to create; without a location its folder is below its database's.

    ``format`` says how its files are stored, ``storage`` says it in full; give one of them.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "sales",
                    "columns": [{"name": "amount", "type": "decimal(10,2)"}],
                    "partition_columns": _KEYS,
                    "format": "parquet",
                }
            ]
        }
    )

    name: str
    columns: list[ColumnDocument] = Field(default_factory=list)
    partition_columns: list[ColumnDocument] = Field(default_factory=list)
    location: str | None = None
    parameters: Mapping[str, str] = Field(default_factory=dict)
    owner: str | None = None
    table_type: str = "MANAGED_TABLE"
    format: FileFormat | None = None
    storage: StorageDocument | None = None
    retention: int = 0
    view_original_text: str | None = None
    view_expanded_text: str | None = None

    def table(self, database: str) -> Table:
        """The table.

        Raises:
            InvalidInput: both format and storage are given.
            InvalidName: a column has no name, or two have one.
        """
        if self.format is not None and self.storage is not None:
            raise InvalidInput("the request says twice how files are stored", hint="Give format or storage")
        storage = stored_as(self.format or "text")
        if self.storage is not None:
            storage = StorageDescriptor(**self.storage.fields())
        return check_columns_apart(
            Table(
                database,
                self.name,
                [one.column() for one in self.partition_columns],
                [one.column() for one in self.columns],
                storage=storage,
                **self.said(
                    "location",
                    "parameters",
                    "owner",
                    "table_type",
                    "retention",
                    "view_original_text",
                    "view_expanded_text",
                ),
            )
        )


class TableChange(_Request):
    """What is to be changed of a table; another name or database renames it, with its folder as in Hive."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"parameters": {"comment": "all sales", "draft": None}}, {"name": "sold"}]}
    )

    name: str | None = None
    database: str | None = None
    columns: list[ColumnDocument] | None = None
    location: str | None = None
    parameters: Mapping[str, str | None] = Field(default_factory=dict)
    owner: str | None = None
    table_type: str | None = None
    storage: StorageDocument | None = None
    retention: int | None = None
    view_original_text: str | None = None
    view_expanded_text: str | None = None

    def applied(self, old: Table) -> Table:
        """The table after the change."""
        fields = {name: value for name, value in self.said("name", "database", "table_type").items() if value}
        fields |= self.said("location", "owner", "view_original_text", "view_expanded_text")
        if self.retention is not None:
            fields["retention"] = self.retention
        if self.columns is not None:
            fields["columns"] = [one.column() for one in self.columns]
        storage = old.storage if self.storage is None else _storage(old.storage, self.storage)
        new = replace(old, **fields, storage=storage, parameters=_patched(old.parameters, self.parameters))
        return new if self.columns is None else check_columns_apart(new)


class NamedPartition(_Request):
    """Which partition: its values in column order, its spec, or its name."""

    values: list[str | None] | None = None
    spec: Mapping[str, str | None] | None = None
    name: str | None = None


class NewPartition(NamedPartition):
    """A partition to add: its values in column order, its spec, or its name. What is left out is the table's."""

    location: str | None = None
    parameters: Mapping[str, str] = Field(default_factory=dict)
    last_access_time: int = 0
    storage: StorageDocument | None = None

    def partition(self, table: Table) -> Partition:
        """The partition.

        Raises:
            InvalidPartitionValue: the request says its values not at all or twice, or the table has other columns.
        """
        return Partition(
            whole_values(table, self.values, self.spec, self.name),
            location=self.location,
            parameters=self.parameters,
            last_access_time=self.last_access_time,
            storage=None if self.storage is None else StorageDescriptor(**self.storage.fields()),
        )


def whole_schema(kind: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a document with those of its parts in their places, as it stands alone in a description."""

    def placed(value: Any) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return placed(parts[value["$ref"].rpartition("/")[2]])
            return {name: placed(one) for name, one in value.items()}
        return [placed(one) for one in value] if isinstance(value, list) else value

    schema = kind.model_json_schema()
    parts = schema.pop("$defs", {})
    whole: dict[str, Any] = placed(schema)
    return whole


class NewPartitions(_Request):
    """Partitions to add, all or none."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "partitions": [
                        {"values": ["2013-01-04", "5"], "parameters": {"numRows": "100"}},
                        {"name": "ds=2013-01-04/hour=6", "location": "s3://shop/imported/6"},
                    ]
                }
            ]
        }
    )

    partitions: list[NewPartition]

    @staticmethod
    def of_lines(body: bytes) -> NewPartitions:
        """The partitions of NDJSON: an object in each line.

        Raises:
            InvalidInput: a line is none.
        """
        made = []
        for number, line in enumerate(body.splitlines(), 1):
            if line.strip():
                made.append(parsed(NewPartition, line, at=f"line {number}"))
        return NewPartitions(partitions=made)


class NamedPartitions(_Request):
    """Some partitions."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"partitions": [{"name": "ds=2013-01-01/hour=5"}, {"values": ["2013-01-01", "6"]}]}]
        }
    )

    partitions: list[NamedPartition]


class PartitionChange(_Request):
    """What is to be changed of a partition; other values rename it, with its folder as in Hive."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"parameters": {"numRows": "7"}}, {"values": ["2013-01-09", "5"]}]}
    )

    values: list[str | None] | None = None
    spec: Mapping[str, str | None] | None = None
    location: str | None = None
    parameters: Mapping[str, str | None] = Field(default_factory=dict)
    last_access_time: int | None = None
    storage: StorageDocument | None = None

    def applied(self, old: Partition) -> Partition:
        """The partition after the change, with its old values.

        Raises:
            InvalidInput: it is to have another location and other values, which say where its files go.
        """
        if self.location is not None and (self.values is not None or self.spec is not None):
            raise InvalidInput(
                "a partition that is renamed takes its folder along, or leaves it",
                location=self.location,
                hint="Rename it first, and change its location in a second request",
            )
        fields = {name: value for name, value in self.said("location", "last_access_time").items() if value is not None}
        if self.storage is not None:
            fields["storage"] = _storage(old.storage or StorageDescriptor(), self.storage)
        return replace(old, **fields, parameters=_patched(old.parameters, self.parameters))


def whole_values(
    table: Table, values: Sequence[str | None] | None, spec: Mapping[str, str | None] | None, name: str | None
) -> tuple[str, ...]:
    """The values of a partition, which a request says in one of three ways.

    Raises:
        InvalidPartitionValue: it says them not at all or twice, or the table has other columns.
    """
    if [values, spec, name].count(None) != 2:  # noqa: PLR2004  the other two
        raise InvalidPartitionValue(
            "a partition's values are said once", table=table, hint="Give values, a spec, or a name"
        )
    if name is not None:
        return name_reader(table.partition_column_names)(name)
    said: Any = values if spec is None else spec
    return partition_value_texts(said, table.partition_column_names)


def parsed(kind: type[B], body: bytes, *, at: str = "body") -> B:
    """The document in a request's body.

    Raises:
        InvalidInput: it is none.
    """
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join([at, *map(str, first["loc"])])
        raise InvalidInput(
            "the request is not valid", at=place, reason=first["msg"], hint="See /docs for what the request may hold"
        ) from None


def _patched(old: Mapping[str, str], change: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in {**old, **change}.items() if value is not None}


def _storage(old: StorageDescriptor, change: StorageDocument) -> StorageDescriptor:
    """A storage with the fields that a request names."""
    fields = {name: value for name, value in change.fields().items() if name in change.model_fields_set}
    return replace(old, **fields)
