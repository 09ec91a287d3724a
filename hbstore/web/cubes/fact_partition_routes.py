"""The partitions of facts and dimension tables: registered, altered and dropped, each request wholly or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, TypeAlias

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool

from hbstore.cubes import Cubes, PartitionDesc, parse_partitions
from hbstore.cubes.partition_files import descs_of
from hbstore.errors import PartitionNotFound
from hbstore.times.clock import Clock, utc_now
from hbstore.warehouse.service import Service
from hbstore.web.asked_form import asked_form
from hbstore.web.catalog.catalog_documents import PartitionDocument
from hbstore.web.catalog.catalog_routes import DATABASE, STORED_FORMS, StoredFormQuery, also
from hbstore.web.catalog.changing import writable
from hbstore.web.cubes.fact_routes import FACT
from hbstore.web.cubes.model_forms import body_of, text_of

_PARTITIONS: Final = f"{FACT}/partitions"
_BODY: Final[dict[str, Any]] = body_of(
    "partitions as `hbstore fact partitions add --file` reads them; `table` may be left out",
    [{"update_period": "DAILY", "time": {"dt": "2015-02-02"}, "parameters": {"numRows": "7"}}],
)
_StorageQuery = Annotated[str | None, Query(description="on which storage; required if there are several")]
_Descs: TypeAlias = list[PartitionDesc]


class Registered(BaseModel):
    """How many partitions of which storage table were added, altered or dropped."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"table": "shop.lake_rides_daily", "partitions": 1}]})

    table: str
    partitions: int


def fact_partition_routes(service: Service) -> APIRouter:
    """The routes that read partitions of facts and dimension tables."""
    router, store = APIRouter(tags=["facts"]), service.store

    @router.get(_PARTITIONS, status_code=307, response_class=RedirectResponse)
    def partitions(request: Request, database: str, fact: str, *, storage: _StorageQuery = None) -> Response:
        """Where the partitions are: at the address of the storage table, with all else that the request says."""
        cubes = Cubes(store, database)
        table = cubes.storage_table(fact, storage or cubes.only_storage(fact))
        address = request.url.include_query_params().remove_query_params(["storage"])
        query = f"?{address.query}" if address.query else ""
        return RedirectResponse(f"/databases/{cubes.database}/tables/{table}/partitions{query}")

    @router.get(
        f"{DATABASE}/dimtables/{{dimtable}}/latest", response_model=PartitionDocument, responses=also(STORED_FORMS)
    )
    def latest(
        request: Request,
        database: str,
        dimtable: str,
        *,
        storage: _StorageQuery = None,
        other: Annotated[
            list[str] | None, Query(description="column=value, of each partition column that holds no time")
        ] = None,
        format: StoredFormQuery = None,
    ) -> Response:
        """The newest partition of a dimension table."""
        cubes = Cubes(store, database)
        chosen = storage or cubes.only_storage(dimtable)
        values = dict[str, str | None](text.partition("=")[::2] for text in other or ())
        newest = cubes.latest(dimtable, chosen, values)
        if newest is None:
            raise PartitionNotFound("there is no partition yet", name=dimtable, storage=chosen, hint="Register one")
        if asked_form(request, format, STORED_FORMS) == "thrift":
            return Response(newest.payload, media_type=STORED_FORMS["thrift"], headers={"Vary": "Accept"})
        table = store.get_table(cubes.database, cubes.storage_table(dimtable, chosen))
        return Response(PartitionDocument.of(table, newest).model_dump_json(), media_type="application/json")

    return router


def fact_partition_change_routes(service: Service, clock: Clock = utc_now) -> APIRouter:
    """The routes that change partitions of facts and dimension tables."""
    router, store = APIRouter(tags=["facts"], dependencies=[Depends(writable(service))]), service.store

    async def changed(
        request: Request, database: str, fact: str, storage: str | None, change: Callable[[Cubes, str, _Descs], int]
    ) -> Registered:
        """Make a change of the partitions in a request's body."""
        body = await text_of(request)

        def changing() -> Registered:
            cubes = Cubes(store, database, clock)
            chosen = storage or cubes.only_storage(fact)
            descs = descs_of(parse_partitions(*body, file="body", table=fact), fact, "body").get(fact.lower(), [])
            partitions = change(cubes, chosen, descs)
            return Registered(table=f"{cubes.database}.{cubes.storage_table(fact, chosen)}", partitions=partitions)

        return await run_in_threadpool(changing)

    @router.post(_PARTITIONS, openapi_extra=_BODY)
    async def add(
        request: Request,
        database: str,
        fact: str,
        *,
        storage: _StorageQuery = None,
        if_not_exists: Annotated[bool, Query(description="pass over those that are there")] = False,
    ) -> Registered:
        """Register partitions, all of the request or none."""

        def adding(cubes: Cubes, chosen: str, descs: _Descs) -> int:
            return cubes.add_partitions(fact, chosen, descs, if_not_exists=if_not_exists)

        return await changed(request, database, fact, storage, adding)

    @router.patch(_PARTITIONS, openapi_extra=_BODY)
    async def alter(request: Request, database: str, fact: str, *, storage: _StorageQuery = None) -> Registered:
        """Give partitions other parameters and, where one is said, another location, all of the request or none."""
        return await changed(
            *(request, database, fact, storage),
            lambda cubes, chosen, descs: cubes.alter_partitions(fact, chosen, descs),
        )

    @router.delete(_PARTITIONS, openapi_extra=_BODY)
    async def drop(request: Request, database: str, fact: str, *, storage: _StorageQuery = None) -> Registered:
        """Drop partitions, all of the request or none. Files are not touched."""
        return await changed(
            *(request, database, fact, storage),
            lambda cubes, chosen, descs: cubes.drop_partitions(fact, chosen, descs),
        )

    return router
