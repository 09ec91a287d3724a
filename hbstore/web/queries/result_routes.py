"""Results of queries, as streams and in pages."""

from __future__ import annotations

from email.utils import format_datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from hbstore.query_service.formats import MEDIA_TYPES, arrow, csv, json_page, ndjson
from hbstore.query_service.service import QueryService
from hbstore.web.versions import has_it


class RowFormat(StrEnum):
    """How rows are written."""

    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"
    ARROW = "arrow"


_WRITERS: Final = {RowFormat.NDJSON: ndjson, RowFormat.CSV: csv, RowFormat.ARROW: arrow}
_FORMATS: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "content": {
            kind: {"schema": {"type": "object" if name == "json" else "string"}} for name, kind in MEDIA_TYPES.items()
        }
    }
}
_MOST_ROWS: Final = 10_000
"""Rows of a page, which is made before its reply begins."""

_PAGE: Final = 1_000
"""Rows of a page of JSON, where the request does not say how many."""

_NAMED: Final = 12
"""Digits of a query's id in the name of a file: those of its time."""


def result_routes(service: QueryService) -> APIRouter:
    """The routes of results."""
    router = APIRouter(tags=["queries"])

    @router.get("/queries/{id_}/results", response_class=StreamingResponse, responses=_FORMATS)
    def results(
        request: Request,
        id_: str,
        format: Annotated[RowFormat, Query(description="json, ndjson, csv or arrow")] = RowFormat.JSON,
        page: Annotated[str | None, Query(description="the page token that came with the page before")] = None,
        page_size: Annotated[int | None, Query(ge=1, le=_MOST_ROWS, description="rows of a page")] = None,
    ) -> Response:
        """The rows of a query that has succeeded, any number of times.

        JSON comes in pages. The other formats hold all rows, unless ``page_size`` asks for pages. The token of the next
        page is in the header X-Next-Page, and in JSON also in ``next``. A result never changes: a request with its ETag
        in If-None-Match, or with If-Modified-Since, is answered 304.
        """
        rows = page_size or (_PAGE if format is RowFormat.JSON else None)
        query, batches = service.fetch(id_, page=page, rows=rows)
        assert query.result is not None  # as there is one to fetch
        ended = query.ended_at or query.submitted_at
        tag = f'W/"{id_}-{format}-{page or ""}-{rows or ""}"'  # weak, as the texts may be packed
        columns, headers = query.result.columns, {"ETag": tag, "Last-Modified": format_datetime(ended, usegmt=True)}
        headers["Cache-Control"] = "private, no-cache"  # kept by who may read it, and asked for again
        if has_it(request, tag, ended):
            return Response(status_code=304, headers=headers)
        if rows is not None:
            some = list(batches)
            behind = some[-1][1] if some else None
            if behind is not None:
                headers["X-Next-Page"] = behind.token(id_)
            batches = iter(some)
        if format is not RowFormat.JSON:  # which browsers show; the others are files to them
            headers["Content-Disposition"] = f'attachment; filename="query-{id_[:_NAMED]}.{format}"'
        if format is RowFormat.JSON:
            written = json_page(columns, batches, lambda position: position.token(id_))
        else:
            written = _WRITERS[format](columns, (batch for batch, _ in batches))
        return StreamingResponse(written, media_type=MEDIA_TYPES[format], headers=headers)

    return router
