"""Storage tables: what facts and dimension tables are in the store, ``<storage>_<fact>``.

They are tables like others, which Spark reads as well. Their parameters say what they belong to, what their time
partition columns are, and for facts the update periods, by which the store keeps their timelines. One of them is the
stamp of the document that the table was last made to fit. A process that alters a table has seen its stamp, then that
the document is still the same, and alters the table only if the stamp is: so no late process brings back an old state.
Other update periods come in a second step, which the store does not guard like that; a process that finds afterwards
that the document has changed meanwhile settles it anew.

A table that is to go is first altered in the same way, to say that it leaves. Nobody takes that back: a process that
wants a table of the name drops it, and makes another. A late process drops only the very table that it saw, and so
takes nothing from others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from hbstore.cubes.logical_tables import Fact, LogicalTable, StorageTable, TableDescription
from hbstore.errors import AlreadyExists, ConcurrentChange, InvalidInput, InvalidModel, TableNotFound
from hbstore.model import Column, Order, Partition, SerDe, StorageDescriptor, Table
from hbstore.store.partition_store import PartitionStore
from hbstore.store.timeline_classes import check_classes
from hbstore.stored_as import FILE_FORMATS, FileFormat, format_of_classes, stored_as
from hbstore.timelines.declaration import TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.timelines.factory import PRESENT

PREFIX: Final = "cube.storagetable."
STORAGE: Final = f"{PREFIX}storage"
STAMP: Final = f"{PREFIX}stamp"
LEAVING: Final = f"{PREFIX}leaving"
_DECLARED: Final = (TIME_PARTITION_COLUMNS, UPDATE_PERIODS)
PROVIDER: Final = "spark.sql.sources.provider"
SCHEMA: Final = "spark.sql.sources.schema"
_ATTEMPTS: Final = 50
_BATCH: Final = 1_000


class OvertakenError(Exception):
    """A table was made or altered as its document was some time ago; it has to be settled anew."""


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


def settle_tables(
    store: PartitionStore,
    database: str,
    logical: LogicalTable,
    before: LogicalTable | None,
    stamp: str,
    still: Callable[[], None],
) -> None:
    """Make, alter and drop tables until they are as a fact or a dimension table says. Idempotent.

    Args:
        store: where they are.
        database: in which.
        logical: the fact or the dimension table.
        before: what it was.
        stamp: of the document.
        still: raises ConcurrentChange if the document is another by now.

    Raises:
        AlreadyExists: there is a table of such a name that is none of this one's.
        ConcurrentChange: the document is another by now.
        OvertakenError: it is, and a table may have been made or altered as it was before.
    """
    was = {} if before is None else {one.storage: one for one in before.storage_tables}
    for on in logical.storage_tables:
        known = was.get(on.storage)
        old = {} if before is None or known is None else table_of(database, before, known).parameters
        wanted = table_of(database, logical, on)
        wanted = replace(wanted, parameters={**wanted.parameters, STAMP: stamp})
        _settle_table(store, logical, wanted, old, still)
    for storage in was.keys() - {one.storage for one in logical.storage_tables}:
        drop_table(store, database, logical, storage, still)


def drop_table(
    store: PartitionStore, database: str, logical: LogicalTable, storage: str, still: Callable[[], None]
) -> None:
    """Drop a storage table, if it is there and is this one's.

    Raises:
        ConcurrentChange: the document is another by now.
    """
    name = logical.table_name(storage)
    for _ in range(_ATTEMPTS):
        seen = _Seen.of(store, database, name)
        if seen is None or not _is_of(seen.table, logical):
            return
        still()
        with suppress(ConcurrentChange, TableNotFound):
            seen.drop(store)
            return
    raise _busy(f"{database}.{name}")


def check_names_free(store: PartitionStore, database: str, logical: LogicalTable) -> None:
    """See that no other table has the name of a storage table.

    Raises:
        AlreadyExists: one has.
    """
    for on in logical.storage_tables:
        try:
            found = store.get_table(database, logical.table_name(on.storage))
        except TableNotFound:
            continue
        if not _is_of(found, logical):
            raise _taken(found, logical)


def check_timeline_classes(store: PartitionStore, database: str, logical: LogicalTable) -> None:
    """See that the classes that storage tables name for their timelines are there; those that tables have may stay.

    Raises:
        UnknownTimelineClass: one is not.
    """
    for on in logical.storage_tables:
        wanted, known = table_of(database, logical, on), None
        with suppress(TableNotFound):
            known = store.get_table(database, wanted.name)
        check_classes(wanted, known)


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


def _settle_table(
    store: PartitionStore,
    logical: LogicalTable,
    wanted: Table,
    old: Mapping[str, str],
    still: Callable[[], None],
) -> None:
    for _ in range(_ATTEMPTS):
        seen = _Seen.of(store, wanted.database, wanted.name)
        if seen is None:
            still()
            store.create_table(wanted, if_not_exists=True, invalid_types="keep")  # looked at in the document
            _check_not_late(still)
            continue
        found = seen.table
        if not _is_of(found, logical):
            raise _taken(found, logical)
        claimed = found.parameters.get(STAMP) == wanted.parameters[STAMP]
        if claimed and not seen.is_leaving and _declaration(found) == _declaration(wanted):
            return
        still()
        if found.partition_columns and _is_formless(found.storage) and not _is_formless(wanted.storage):
            _give_formats(store, found, wanted.storage)
        others = {key: value for key, value in found.parameters.items() if old.get(key) != value}
        altered = replace(
            found,
            columns=wanted.columns,
            location=wanted.location,
            table_type=wanted.table_type,
            parameters={**others, **wanted.parameters},
            storage=wanted.storage,
        )
        with suppress(ConcurrentChange, TableNotFound):
            if seen.is_leaving:
                seen.drop(store)
            elif claimed:
                store.alter_table(altered, invalid_types="keep")
                _check_not_late(still)
            else:
                _claim(store, found, altered)
    raise _busy(str(wanted))


@dataclass(frozen=True, slots=True)
class _Seen:
    """A table, and what tells it from any other of its name."""

    table: Table
    incarnation: bytes

    @staticmethod
    def of(store: PartitionStore, database: str, name: str) -> _Seen | None:
        """The table of a name; None if there is none. If another comes between the two reads, it is not dropped."""
        with suppress(TableNotFound):
            incarnation = store.table_incarnation(database, name)
            return _Seen(store.get_table(database, name), incarnation)
        return None

    @property
    def is_leaving(self) -> bool:
        """Whether somebody said that it goes, and so nobody keeps it."""
        return LEAVING in self.table.parameters

    def drop(self, store: PartitionStore) -> None:
        """Drop the table, if nobody made it fit another document since it was seen, or made another one."""
        if not self.is_leaving:
            _claim(store, self.table, replace(self.table, parameters={**self.table.parameters, LEAVING: "true"}))
        store.drop_table(self.table.database, self.table.name, if_exists=True, incarnation=self.incarnation)


def _claim(store: PartitionStore, found: Table, altered: Table) -> None:
    """Alter all of a table but its declaration, if it is still what was found."""
    parameters = {**_without_declaration(altered), **_declaration(found)}
    seen = {key: found.parameters.get(key) for key in (STAMP, PRESENT)}
    try:
        store.alter_table(replace(altered, parameters=parameters), expected_parameters=seen, invalid_types="keep")
    except InvalidInput:
        now = store.get_table(found.database, found.name)
        if _declaration(now) == _declaration(found):
            raise
        raise ConcurrentChange("another writer changed the update periods", table=found, hint="Try again") from None


def _check_not_late(still: Callable[[], None]) -> None:
    try:
        still()
    except ConcurrentChange:
        raise OvertakenError from None


def _busy(table: str) -> ConcurrentChange:
    return ConcurrentChange("other writers kept changing the storage table", table=table, hint="Try again")


def _declaration(table: Table) -> dict[str, str]:
    """What makes the store keep timelines of a table; to change it takes a change of the whole table."""
    return {key: table.parameters[key] for key in _DECLARED if key in table.parameters}


def _without_declaration(table: Table) -> dict[str, str]:
    return {key: value for key, value in table.parameters.items() if key not in _DECLARED}


def _is_of(table: Table, logical: LogicalTable) -> bool:
    return table.parameters.get(f"{PREFIX}{logical.kind}") == logical.name


def _taken(table: Table, logical: LogicalTable) -> AlreadyExists:
    return AlreadyExists(
        "the name of the storage table is taken by another table",
        table=table,
        kind=logical.kind,
        name=logical.name,
        hint="Rename that table, or the fact or dimension table",
    )


def _parameters(logical: LogicalTable, on: StorageTable) -> dict[str, str]:
    described = on.description
    found = dict(described.table_properties)
    if _provided(described) is not None:
        del found[PROVIDER]
    if described.external:
        found["EXTERNAL"] = "TRUE"
    if described.storage_handler is not None:
        found["storage_handler"] = described.storage_handler
    found |= {f"{PREFIX}{logical.kind}": logical.name, STORAGE: on.storage}
    if on.time_partition_columns:
        found[TIME_PARTITION_COLUMNS] = ",".join(on.time_partition_columns)
    if isinstance(logical, Fact):
        found[f"{PREFIX}cube"] = logical.cube
        if on.time_partition_columns:
            found[UPDATE_PERIODS] = ",".join(period.name for period in on.update_periods)
    else:
        found[f"{PREFIX}dimension"] = logical.dimension
    return found


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
        sort_columns=[Order(one.name, 0 if one.descending else 1) for one in described.sort_columns],
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


def _give_formats(store: PartitionStore, table: Table, wanted: StorageDescriptor) -> None:
    """Give partitions a format that were added when their table had none. O(partitions)."""
    batch: list[Partition] = []
    for one in store.get_partitions_by_filter(table.database, table.name, None):
        if one.storage is not None and _is_formless(one.storage):
            batch.append(replace(one, storage=replace(wanted, columns=one.storage.columns)))
            if len(batch) == _BATCH:
                store.alter_partitions(table.database, table.name, batch)
                batch = []
    store.alter_partitions(table.database, table.name, batch)


def _is_formless(storage: StorageDescriptor) -> bool:
    return storage.input_format is None and storage.serde.library is None
