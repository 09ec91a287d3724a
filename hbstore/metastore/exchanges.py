"""Exchanging partitions: they leave one table and come to another, with their folders.

Folders are moved first, and moved back if the catalog refuses. A crash between leaves some folders in the other table's
folder and the partitions in the first table; the same call again finds nothing to move there and goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from hbstore.errors import DatabaseNotFound, TableNotFound
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.listing import Batches, read_partitions
from hbstore.metastore.naming import database_name
from hbstore.metastore.partial_values import partial_values
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.spelling import respelt
from hbstore.model import Column, Partition, Table
from hbstore.names import spec_values
from hbstore.structs import partitions_from_payloads

handlers = Handlers()


@handlers.answers("exchange_partition", writes=True)
def exchange_partition(call: Call) -> bytes:
    """Move partitions from one table to another, all or none; the first of them comes back.

    Raises:
        MetaException: no partition has these values, a table is not there, or their columns differ.
        InvalidObjectException: a partition is in the other table already.
    """
    return _exchanged(call)[0]


@handlers.answers("exchange_partitions", writes=True)
def exchange_partitions(call: Call) -> list[bytes]:
    """Move partitions from one table to another, all or none; they come back as they are there.

    Raises:
        MetaException: no partition has these values, a table is not there, or their columns differ.
        InvalidObjectException: a partition is in the other table already.
    """
    return _exchanged(call)


@dataclass(frozen=True, slots=True)
class _Move:
    """A folder and where it goes."""

    source: str
    target: str


def _exchanged(call: Call) -> list[bytes]:
    given = call.arguments
    target = _table(call, "destination", given.dest_db, given.dest_table_name)
    source = _table(call, "source", given.source_db, given.source_table_name)
    if not (_alike(source.columns, target.columns) and _alike(source.partition_columns, target.partition_columns)):
        raise THRIFT.MetaException("The tables have different schemas. Their partitions cannot be exchanged.")
    spec = {column: value for column, value in (given.partitionSpecs or {}).items() if value}
    values = spec_values(source.partition_column_names, spec)
    found = _matching(call, source, [value or "" for value in values])
    if not found:
        raise THRIFT.MetaException(f"No partition is found with the values {spec} for the table {source.name}")
    odd = {one.values: one for one in respelt(found, source)}
    call.store.alter_partitions(source.database, source.name, odd.values())
    found = [odd.get(one.values, one) for one in found]
    home, new_home = source.location, target.location
    relocated = None if home is None or new_home is None else (home, new_home)
    inside = [place for place in (home, new_home) if place is not None]
    moves = _moves(found, relocated)
    with ExitStack() as moved:
        for move in moves:
            moved.enter_context(call.warehouse.moving(move.source, move.target, inside=inside))
        done = call.store.exchange_partitions(
            (source.database, source.name),
            (target.database, target.name),
            [one.values for one in found],
            relocated=relocated,
        )
    if home is not None:
        for move in moves:
            call.warehouse.delete_empty_parents(move.source, below=home)
    call.note(table=str(source), partitions=len(done))
    return [one.payload for one in done if one.payload is not None]


def _table(call: Call, role: str, database: str | None, name: str | None) -> Table:
    try:
        return call.store.get_table(database_name(database), name or "")
    except (TableNotFound, DatabaseNotFound) as error:
        raise THRIFT.MetaException(f"The {role} table {database}.{name} not found") from error


def _alike(left: Sequence[Column], right: Sequence[Column]) -> bool:
    """Whether columns have the same names and types, whatever their case and their comments."""
    one, other = ([(column.name.lower(), column.type.lower()) for column in columns] for columns in (left, right))
    return one == other


def _matching(call: Call, table: Table, values: Sequence[str]) -> list[Partition]:
    partial = partial_values(table, values)

    def collect(_: Table, batches: Batches) -> list[Partition]:
        selected = partial.select(batches) if partial.others else batches
        return partitions_from_payloads(payload for batch in selected for payload in batch)

    return read_partitions(call, table.database, table.name, partial.where, collect)


def _moves(partitions: Sequence[Partition], relocated: tuple[str, str] | None) -> list[_Move]:
    """The folders that go along: those below the table's."""
    if relocated is None:
        return []
    old, new = (place.rstrip("/") for place in relocated)
    inside = [one.location for one in partitions if one.location is not None and one.location.startswith(old + "/")]
    return [_Move(place, new + place.removeprefix(old)) for place in inside]
