"""Partitions as resources: by filter, by name, as names, as a count, and the plans behind that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import chain
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.convertors import StringConvertor, register_url_convertor

from hbstore.keys.partition_names import name_reader
from hbstore.model.objects import Partition
from hbstore.texts.like import LikeDialect
from hbstore.warehouse.service import Service
from hbstore.web.asked_form import asked_form
from hbstore.web.catalog.catalog_documents import Count, NamesPage, PartitionDocument, PartitionsPage, PlanDocument
from hbstore.web.catalog.catalog_routes import STORED_FORMS, StoredFormQuery, also
from hbstore.web.catalog.partition_csv import csv_lines
from hbstore.web.catalog.partition_listing import PartitionListing, PartitionPage
from hbstore.web.catalog.partition_writing import arrow, fields_of, json_page, names_of, names_text, ndjson
from hbstore.web.versions import tag_of, tagged


class PartitionInAddress(StringConvertor):
    """A partition's name in an address, with the slashes in it; what has an address of its own is none."""

    regex = "(?!(?:names|count|drop)$).+"


register_url_convertor("partition", PartitionInAddress())
PARTITIONS: Final = "/databases/{database}/tables/{table}/partitions"
PARTITION: Final = PARTITIONS + "/{name:partition}"
_MEDIA_TYPES: Final = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "arrow": "application/vnd.apache.arrow.stream",
    "csv": "text/csv",
}
_NAMES_TYPES: Final = {"json": "application/json", "text": "text/plain"}
_PAGE: Final = 1_000
"""Partitions of a page, where the request does not say how many."""

_MOST: Final = 10_000
"""Partitions of a page, which is made before its reply begins."""


class Form(StrEnum):
    """How partitions are written."""

    JSON = "json"
    NDJSON = "ndjson"
    ARROW = "arrow"
    CSV = "csv"


class NamesForm(StrEnum):
    """How names are written."""

    JSON = "json"
    TEXT = "text"


FilterQuery = Annotated[
    str | None,
    Query(description="in the filter language; none selects all", examples=["ds >= '2013-01-01' and hour in (5, 6)"]),
]
SpecQuery = Annotated[
    str | None,
    Query(
        description="a partial spec as in a partition's name: of the columns that it names, those texts and no others,"
        " where a filter compares values",
        examples=["ds=2013-01-01"],
    ),
]
DialectQuery = Annotated[LikeDialect, Query(description="sql has % and _ in LIKE, hive2 has .* and .")]
PageQuery = Annotated[str | None, Query(description="the page token that came with the page before")]
LimitQuery = Annotated[
    int | None, Query(ge=1, description="how many at most; of a page 1,000 if not said, and at most 10,000")
]
FieldsQuery = Annotated[
    str | None,
    Query(
        description="of each partition, separated by commas: name, values, location, parameters, create_time,"
        " last_access_time, storage, thrift; all but the last two if not said",
        examples=["name,location"],
    ),
]


def partition_routes(service: Service) -> APIRouter:
    """The routes that read partitions."""
    router, store = APIRouter(tags=["partitions"]), service.store

    @router.get(PARTITIONS, response_model=PartitionsPage, responses=also(_MEDIA_TYPES))
    def partitions(
        request: Request,
        database: str,
        table: str,
        *,
        filter: FilterQuery = None,
        spec: SpecQuery = None,
        fields: FieldsQuery = None,
        limit: LimitQuery = None,
        page: PageQuery = None,
        like_dialect: DialectQuery = "sql",
        format: Annotated[Form | None, Query(description="json, ndjson, arrow or csv; or say it by Accept")] = None,
    ) -> Response:
        """The partitions that a filter and a partial spec select, in key order.

        JSON comes in pages, and the token of the next page in the header X-Next-Page as well. The other forms are
        streams of all of them, of which each 2,000 are as they were at one moment. CSV has its own columns.
        """
        names, form = fields_of(fields), asked_form(request, format, _MEDIA_TYPES)
        listing = PartitionListing(service, database, table, filter, like_dialect, spec)
        if form == "json":
            current = listing.page(page, min(limit or _PAGE, _MOST))
            return Response(json_page(current, names), headers=_headers(current), media_type=_MEDIA_TYPES[form])
        if form == "csv":
            return _written(listing.pages(page, limit), csv_lines, _MEDIA_TYPES[form])
        written = arrow if form == "arrow" else ndjson
        return _written(listing.pages(page, limit), lambda pages: written(pages, names), _MEDIA_TYPES[form])

    @router.get(f"{PARTITIONS}/names", response_model=NamesPage, responses=also(_NAMES_TYPES))
    def names(
        request: Request,
        database: str,
        table: str,
        *,
        filter: FilterQuery = None,
        spec: SpecQuery = None,
        limit: LimitQuery = None,
        page: PageQuery = None,
        like_dialect: DialectQuery = "sql",
        format: Annotated[NamesForm | None, Query(description="json or text; or say it by Accept")] = None,
    ) -> Response:
        """The names of partitions, selected and in order as above: a page, or as text all, one in each line."""
        listing, form = (
            PartitionListing(service, database, table, filter, like_dialect, spec),
            asked_form(request, format, _NAMES_TYPES),
        )
        if form == "text":
            return _written(listing.pages(page, limit), names_text, "text/plain; charset=utf-8")
        current = listing.page(page, min(limit or _PAGE, _MOST))
        document = NamesPage(names=names_of(current.table, current.payloads), next=current.next)
        return Response(document.model_dump_json(), headers=_headers(current), media_type="application/json")

    @router.get(f"{PARTITIONS}/count")
    def count(database: str, table: str, *, filter: FilterQuery = None, like_dialect: DialectQuery = "sql") -> Count:
        """How many partitions a filter selects. They are not read where the backend can count them."""
        return Count(count=store.count_partitions(database, table, filter, like_dialect))

    @router.get("/databases/{database}/tables/{table}/plan", response_model_exclude_unset=True)
    def plan(
        database: str,
        table: str,
        *,
        filter: FilterQuery = None,
        analyze: Annotated[bool, Query(description="run the scans, and measure each")] = False,
        like_dialect: DialectQuery = "sql",
    ) -> PlanDocument:
        """What a filter becomes: its tree, and the scans with their ranges and residuals."""
        explained = store.explain(database, table, filter, analyze, like_dialect)
        return PlanDocument.model_validate({**explained.to_dict(), "text": str(explained)})

    @router.get(PARTITION, response_model=PartitionDocument, responses=also(STORED_FORMS))
    def partition(
        request: Request, database: str, table: str, name: str, *, format: StoredFormQuery = None
    ) -> Response:
        """One partition by its name, such as ds=2013-01-01/hour=5."""
        stored, tag = named_partition(service, database, table, name)
        if asked_form(request, format, STORED_FORMS) == "thrift":
            return Response(stored.payload, media_type=STORED_FORMS["thrift"], headers={"Vary": "Accept"})
        return tagged(request, PartitionDocument.of(store.get_table(database, table), stored), tag)

    return router


def named_partition(service: Service, database: str, table: str, name: str) -> tuple[Partition, str]:
    """A partition by its name, and its ETag.

    Raises:
        PartitionNotFound: there is none.
        InvalidPartitionValue: it is no name of a partition of the table.
    """
    definition = service.store.get_table(database, table)
    stored = service.store.get_partition(database, table, name_reader(definition.partition_column_names)(name))
    assert stored.payload is not None  # as it was read
    return stored, tag_of(stored.payload)


def _written(
    pages: Iterator[PartitionPage], written: Callable[[Iterator[PartitionPage]], Iterator[bytes]], media_type: str
) -> Response:
    """The reply with some pages: a stream, or in one piece where the first is all, as a stream takes its time.

    The first is read here: an error of it is the reply, not the end of a stream.
    """
    first, headers = next(pages), {"Vary": "Accept"}
    if first.next is None:
        return Response(b"".join(written(iter([first]))), headers=headers, media_type=media_type)
    return StreamingResponse(written(chain([first], pages)), headers=headers, media_type=media_type)


def _headers(page: PartitionPage) -> dict[str, Any]:
    return {"Vary": "Accept"} | ({} if page.next is None else {"X-Next-Page": page.next})
