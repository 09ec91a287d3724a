"""Partitions are added, altered, renamed and dropped, each request wholly or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from hbstore.errors import AlreadyExists, InvalidInput, PartitionNotFound
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import Partition, Table
from hbstore.store.puts import InvalidValues, cells_of, no_such_partition
from hbstore.store.table_row import Definition
from hbstore.store.writer import partitioned
from hbstore.texts.like import LikeDialect
from hbstore.warehouse.locations import located
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.partition_changes import change_partitions, drop_partitions, rename_partition
from hbstore.warehouse.service import Service
from hbstore.web.catalog.catalog_change_routes import DeleteDataQuery, PurgeQuery
from hbstore.web.catalog.catalog_documents import PartitionDocument
from hbstore.web.catalog.catalog_requests import (
    NamedPartitions,
    NewPartitions,
    PartitionChange,
    parsed,
    whole_schema,
    whole_values,
)
from hbstore.web.catalog.changing import Dropped, writable
from hbstore.web.catalog.partition_routes import PARTITION, PARTITIONS, DialectQuery, named_partition
from hbstore.web.versions import matching, tagged

_LINES: Final = "application/x-ndjson"
_OUTRUN: Final = "other writers kept dropping the partitions"
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": whole_schema(NewPartitions)},
            _LINES: {"schema": {"type": "string", "description": "an object of `partitions` in each line"}},
        },
    }
}


class Added(BaseModel):
    """How many partitions were added; with ``if_not_exists`` fewer than were sent, where some were there."""

    added: int


def partition_change_routes(service: Service) -> APIRouter:
    """The routes that change partitions."""
    router = APIRouter(tags=["partitions"], dependencies=[Depends(writable(service))])

    @router.post(PARTITIONS, openapi_extra=_BODY)
    async def add(
        request: Request,
        database: str,
        table: str,
        *,
        if_not_exists: Annotated[bool, Query(description="pass over those that are there")] = False,
        invalid_values: Annotated[
            InvalidValues, Query(description="keep takes values that do not fit their column's type")
        ] = "reject",
    ) -> Added:
        """Add partitions and make their folders: all of the request or none."""
        body = await request.body()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()

        def adding() -> Added:
            new = NewPartitions.of_lines(body) if kind == _LINES else parsed(NewPartitions, body)
            return _add(service, database, table, new, if_not_exists=if_not_exists, invalid_values=invalid_values)

        return await run_in_threadpool(adding)

    @router.delete(PARTITIONS)
    def drop_selected(
        database: str,
        table: str,
        *,
        filter: Annotated[str, Query(description="which partitions are dropped")],
        like_dialect: DialectQuery = "sql",
        delete_data: DeleteDataQuery = True,
        purge: PurgeQuery = False,
    ) -> Dropped:
        """Drop the partitions that a filter selects, all or none."""
        if not filter.strip():
            raise InvalidInput("an empty filter would drop all partitions", hint="Say which, or drop the table")
        return _drop_selected(service, database, table, filter, like_dialect, delete=delete_data, purge=purge)

    @router.post(f"{PARTITIONS}/drop")
    def drop_named(
        database: str,
        table: str,
        named: NamedPartitions,
        *,
        if_exists: Annotated[bool, Query(description="pass over those that are not there")] = False,
        delete_data: DeleteDataQuery = True,
        purge: PurgeQuery = False,
    ) -> Dropped:
        """Drop the partitions that the request names, all or none."""
        return _drop_named(service, database, table, named, if_exists=if_exists, delete=delete_data, purge=purge)

    return router


def named_partition_change_routes(service: Service) -> APIRouter:
    """The routes that change one partition by its name."""
    router = APIRouter(tags=["partitions"], dependencies=[Depends(writable(service))])

    @router.patch(PARTITION, response_model=PartitionDocument)
    def alter(request: Request, database: str, table: str, name: str, change: PartitionChange) -> Response:
        """Change what the request names of a partition."""

        def alter() -> Response:
            old, tag = named_partition(service, database, table, name)
            with matching(request, tag):
                definition = located(service.store, service.warehouse, service.store.get_table(database, table))
                new = change.applied(old)
                if change.values is not None or change.spec is not None:
                    values = whole_values(definition, change.values, change.spec, None)
                    _rename(service, definition, old, new, values)
                else:
                    values, replaces = old.values, [old.payload or b""]
                    change_partitions(service.store, service.warehouse, definition, [new], replaces=replaces)
            return _reply(request, service, definition, values)

        text = "other writers kept changing the partition"
        return service.store.patience.retry(alter, text=text, table=f"{database}.{table}", partition=name)

    @router.delete(PARTITION)
    def drop(
        request: Request,
        database: str,
        table: str,
        name: str,
        *,
        delete_data: DeleteDataQuery = True,
        purge: PurgeQuery = False,
    ) -> Dropped:
        """Drop a partition."""
        found, tag = named_partition(service, database, table, name)
        with matching(request, tag) as matched:
            definition = located(service.store, service.warehouse, service.store.get_table(database, table))
            return _drop(service, definition, [found], delete=delete_data, purge=purge, unchanged=matched)

    return router


def _add(
    service: Service,
    database: str,
    name: str,
    new: NewPartitions,
    *,
    if_not_exists: bool,
    invalid_values: InvalidValues,
) -> Added:
    table = partitioned(service.store.get_table(database, name))
    definition = Definition(table, b"")
    by_cells: dict[tuple[bytes, ...], Partition] = {}
    for named in new.partitions:
        partition = named.partition(table)
        cells = cells_of(definition, partition.values, invalid_values)
        if cells in by_cells and not if_not_exists:
            raise _exists(table, partition.values, "Name each partition once")
        by_cells.setdefault(cells, partition)
    if not by_cells:
        return Added(added=0)
    store, warehouse = service.store, service.warehouse
    table = located(store, warehouse, table)
    added = add_partitions(store, warehouse, table, by_cells.values(), if_not_exists=if_not_exists)
    return Added(added=added.number)


def _rename(service: Service, table: Table, old: Partition, new: Partition, values: tuple[str, ...]) -> None:
    """Give a partition other values; its folder follows if it is where its old name says."""
    cells_of(Definition(table, b""), values, "reject")
    there = service.store.get_partitions(table.database, table.name, [values])
    if there:
        raise _exists(table, there[0].values, "Drop that partition first, or rename to other values")
    renamed = replace(new, values=values)
    rename_partition(service.store, service.warehouse, table, old.values, renamed, replaces=old.payload)


def _drop_selected(
    service: Service, database: str, name: str, where: str, dialect: LikeDialect, *, delete: bool, purge: bool
) -> Dropped:
    """Drop what a filter selects; where others drop some of it in the same moment, what is left of it."""
    store = service.store
    table = located(service.store, service.warehouse, partitioned(store.get_table(database, name)))

    def drop() -> Dropped:
        partitions = store.get_partitions_by_filter(database, name, where, like_dialect=dialect)
        return _drop(service, table, partitions, delete=delete, purge=purge) if partitions else Dropped(dropped=0)

    return store.patience.retry(drop, PartitionNotFound, text=_OUTRUN, table=table)


def _drop_named(
    service: Service,
    database: str,
    name: str,
    named: NamedPartitions,
    *,
    if_exists: bool,
    delete: bool,
    purge: bool,
) -> Dropped:
    """Drop partitions that a request names; with ``if_exists`` what others leave of them."""
    store = service.store
    table = located(service.store, service.warehouse, partitioned(store.get_table(database, name)))
    definition = Definition(table, b"")
    values = [whole_values(table, partition.values, partition.spec, partition.name) for partition in named.partitions]
    by_cells = {cells_of(definition, whole, "keep"): whole for whole in values}

    def drop() -> Dropped:
        partitions = store.get_partitions(database, name, list(by_cells.values()))
        if len(partitions) < len(by_cells) and not if_exists:
            present = {cells_of(definition, partition.values, "keep") for partition in partitions}
            raise no_such_partition(table, next(whole for cells, whole in by_cells.items() if cells not in present))
        return _drop(service, table, partitions, delete=delete, purge=purge) if partitions else Dropped(dropped=0)

    outrun = (PartitionNotFound,) if if_exists else ()
    return store.patience.retry(drop, *outrun, text=_OUTRUN, table=table)


def _drop(
    service: Service,
    table: Table,
    partitions: Sequence[Partition],
    *,
    delete: bool,
    purge: bool,
    unchanged: bool = False,
) -> Dropped:
    payloads = [one.payload for one in partitions if one.payload is not None]
    left = drop_partitions(
        service.store, service.warehouse, table, payloads, delete=delete, purge=purge, unchanged=unchanged
    )
    return Dropped.of(len(payloads), left)


def _reply(request: Request, service: Service, table: Table, values: tuple[str, ...]) -> Response:
    """The reply with a partition, and its address."""
    name = partition_name(table.partition_column_names, values)
    found, tag = named_partition(service, table.database, table.name, name)
    reply = tagged(request, PartitionDocument.of(table, found), tag)
    reply.headers["Location"] = f"/databases/{table.database}/tables/{table.name}/partitions/{quote(name, safe='/=')}"
    return reply


def _exists(table: Table, values: Sequence[str], hint: str) -> AlreadyExists:
    name = partition_name(table.partition_column_names, values)
    return AlreadyExists("a partition already exists", table=table, partition=name, hint=hint)
