"""Storage tables: what facts and dimension tables are in the store, ``<storage>_<fact>``.

They are tables like others, which Spark reads as well. Their parameters say what they belong to, what their time
partition columns are, and for facts the update periods, by which the store keeps their timelines. A document and its
tables are changed in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from hbstore.cubes.document import Named
from hbstore.cubes.logical_tables import Fact, LogicalTable, StorageTable, TableDescription
from hbstore.errors import AlreadyExists, InvalidModel
from hbstore.keys.row_key import successor
from hbstore.model.objects import Column, Order, SerDe, StorageDescriptor, Table
from hbstore.model.spark_schema import SCHEMA
from hbstore.model.stored_as import FILE_FORMATS, PROVIDER, FileFormat, format_of_classes, reader_of, stored_as
from hbstore.model.structs import partition_from_payload
from hbstore.store.leases import check_no_deletions
from hbstore.store.puts import Puts
from hbstore.store.table_changes import check_alterable, redefine
from hbstore.store.table_parameters import check_parameters
from hbstore.store.table_row import TableRow
from hbstore.store.tables import add_table, remove_table, table_in
from hbstore.timelines.declaration import TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.transactions.transaction import RowView, Transaction

PREFIX: Final = "cube.storagetable."
STORAGE: Final = f"{PREFIX}storage"


def table_of(database: str, logical: LogicalTable, on: StorageTable) -> Table:
    """The table of a fact or a dimension table on one storage.

    A column that is a partition column as well is that alone.
    """
    partition_columns = {column.name for column in on.partition_columns}
    described = on.description
    return Table(
        database,
        logical.table_name(on.storage),
        partition_columns=[Column(one.name, one.type, one.comment) for one in on.partition_columns],
        columns=[
            Column(one.name, one.type, one.comment) for one in logical.columns if one.name not in partition_columns
        ],
        location=described.location,
        table_type="EXTERNAL_TABLE" if described.external else "MANAGED_TABLE",
        parameters=_parameters(logical, on),
        storage=_storage(described),
    )


def unreadable(on: StorageTable) -> str | None:
    """What the files of a storage table are that `hbstore.spark` cannot read; None for those that it can."""
    described, serde = on.description, on.description.serde
    provider = described.table_properties.get(PROVIDER)
    what = {"storage handler": described.storage_handler, "provider": provider, "serde": serde.library or serde.name}
    named = {name: value for name, value in what.items() if value}
    if not named or reader_of(described.table_properties, _storage(described)) is not None:
        return None
    return ", ".join(f"{name} {value}" for name, value in named.items())


@dataclass(frozen=True, slots=True)
class StorageTableChanges:
    """What becomes of tables so that they follow a document.

    Attributes:
        create: those that are created.
        alter: those that are altered, as they are to be.
        drop: the names of those that are dropped.
    """

    create: tuple[Table, ...]
    alter: tuple[Table, ...]
    drop: tuple[str, ...]


def table_changes(
    database: str, before: Named | None, after: Named | None, find: Callable[[str], Table | None]
) -> StorageTableChanges:
    """What becomes of storage tables where a document takes the place of another one. Nothing is changed.

    Tables of the names that belong to no or to another document stay what they are. What others gave a table as
    parameters stays, too.

    Args:
        database: in which they are.
        before: what the document was; None: nothing.
        after: what it is to be; None: nothing.
        find: the table of a name, or None.

    Raises:
        AlreadyExists: there is a table of such a name that is none of this document's.
        InvalidModel: partition columns of a table that stays would be others.
        UnknownTimelineClass: a table names a class for its timelines that there is not.
    """
    was, then = _by_storage(before), _by_storage(after)
    create, alter, drop = list[Table](), list[Table](), list[str]()
    if isinstance(after, LogicalTable):
        if isinstance(before, LogicalTable):
            check_partition_columns(after, before)
        for on in after.storage_tables:
            table = table_of(database, after, on)
            existing = find(table.name)
            if existing is not None and not _is_of(existing, after):
                raise AlreadyExists(
                    "the name of the storage table is taken by another table",
                    table=existing,
                    kind=after.kind,
                    name=after.name,
                    hint="Rename that table, or the fact or dimension table",
                )
            check_parameters(table, existing)
            if existing is None:
                create.append(table)
                continue
            old: Mapping[str, str] = {}
            if isinstance(before, LogicalTable) and on.storage in was:
                old = table_of(database, before, was[on.storage]).parameters
            alter.append(_altered(existing, table, old))
    if isinstance(before, LogicalTable):
        for storage in was.keys() - then.keys():
            name = before.table_name(storage)
            existing = find(name)
            if existing is not None and _is_of(existing, before):
                drop.append(name)
    return StorageTableChanges(tuple(create), tuple(alter), tuple(drop))


def follow(
    transaction: Transaction, database: str, before: Named | None, after: Named | None, created: dict[str, Table]
) -> None:
    """Create, alter and drop storage tables in a transaction that has created some. Raises as `table_changes`."""

    def find(name: str) -> Table | None:
        if name in created:
            return created[name]
        row = table_in(transaction, database, name)[1]
        return None if row is None else row.table

    changes = table_changes(database, before, after, find)
    for table in changes.create:
        add_table(transaction, table)
        created[table.name] = table
    for table in changes.alter:
        view, row = table_in(transaction, database, table.name)
        assert row is not None
        check_alterable(row, table)
        assert table.storage is not None
        if table.partition_columns and _is_formless(row.table.storage) and not _is_formless(table.storage):
            _give_formats(view, row, table.storage)
        redefine(transaction, view, row, table)
    for name in changes.drop:
        view, row = table_in(transaction, database, name)
        if row is not None:
            check_no_deletions(row)
        remove_table(transaction, view)


def check_partition_columns(logical: LogicalTable, before: LogicalTable) -> None:
    """See that storage tables that stay keep their partition columns, which all their partitions are made of.

    Raises:
        InvalidModel: one does not.
    """
    was = {
        one.storage: [(column.name, column.type) for column in one.partition_columns] for one in before.storage_tables
    }
    for number, on in enumerate(logical.storage_tables):
        columns = [(column.name, column.type) for column in on.partition_columns]
        if was.get(on.storage, columns) != columns:
            raise InvalidModel(
                "partition columns of a storage table cannot be altered",
                kind=logical.kind,
                name=logical.name,
                at=f"storage_tables.{number}.partition_columns",
                expected=", ".join(f"{name} {kind}" for name, kind in was[on.storage]),
                hint="Remove the storage and add it again, which drops its partitions",
            )


def _by_storage(document: Named | None) -> dict[str, StorageTable]:
    tables = document.storage_tables if isinstance(document, LogicalTable) else ()
    return {table.storage: table for table in tables}


def _altered(existing: Table, wanted: Table, old: Mapping[str, str]) -> Table:
    """A table as it is to be, with parameters that others gave it.

    Args:
        existing: as it is.
        wanted: what the document says.
        old: the parameters that the document gave it before.
    """
    others = {key: value for key, value in existing.parameters.items() if old.get(key) != value}
    return replace(
        existing,
        columns=wanted.columns,
        location=wanted.location,
        table_type=wanted.table_type,
        parameters={**others, **wanted.parameters},
        storage=wanted.storage,
    )


def _is_of(table: Table, logical: LogicalTable) -> bool:
    return table.parameters.get(f"{PREFIX}{logical.kind}") == logical.name


def _parameters(logical: LogicalTable, on: StorageTable) -> dict[str, str]:
    described = on.description
    parameters = dict(described.table_properties)
    if _provided(described) is not None:
        del parameters[PROVIDER]
    if described.external:
        parameters["EXTERNAL"] = "TRUE"
    if described.storage_handler is not None:
        parameters["storage_handler"] = described.storage_handler
    parameters |= {f"{PREFIX}{logical.kind}": logical.name, STORAGE: on.storage}
    if on.time_partition_columns:
        parameters[TIME_PARTITION_COLUMNS] = ",".join(on.time_partition_columns)
    if isinstance(logical, Fact):
        parameters[f"{PREFIX}cube"] = logical.cube
        if on.time_partition_columns:
            parameters[UPDATE_PERIODS] = ",".join(period.name for period in on.update_periods)
    else:
        parameters[f"{PREFIX}dimension"] = logical.dimension
    return parameters


def _storage(described: TableDescription) -> StorageDescriptor:
    """How the files are stored: what a description leaves out is of the format that it names, else of text, as in Lens.

    Lens has one name for a serde, its class.
    """
    serde = described.serde
    library = serde.library or (serde.name if serde.name is not None and "." in serde.name else None)
    storage = StorageDescriptor(
        input_format=described.input_format,
        output_format=described.output_format,
        compressed=described.compressed,
        num_buckets=described.buckets,
        serde=SerDe(serde.name, library, serde.parameters),
        bucket_columns=described.bucket_columns,
        sort_columns=[Order(column.name, 0 if column.descending else 1) for column in described.sort_columns],
    )
    if described.storage_handler is not None:
        return storage
    return stored_as(described.format or format_of_classes(storage) or _provided(described) or "text", storage)


def _provided(described: TableDescription) -> FileFormat | None:
    """The format of a table whose parameters name that alone; Spark reads such a table by the classes of its files."""
    properties = described.table_properties
    if any(name.startswith(SCHEMA) for name in properties):
        return None
    return next((name for name in FILE_FORMATS if properties.get(PROVIDER, "").lower() == name), None)


def _give_formats(view: RowView, row: TableRow, wanted: StorageDescriptor) -> None:
    """Give partitions a format that were added when their table had none. O(partitions)."""
    puts = Puts(row, "keep")
    for _, payload in view.partition_rows(row.definition.prefix, successor(row.definition.prefix)):
        one = partition_from_payload(payload)
        if one.storage is not None and _is_formless(one.storage):
            formed = replace(one, storage=replace(wanted, columns=one.storage.columns))
            puts.put(formed, may_be_untimed=True)
    view.write(puts.rows.values(), ())


def _is_formless(storage: StorageDescriptor) -> bool:
    return storage.input_format is None and storage.serde.library is None
