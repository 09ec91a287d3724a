"""Pages of timelines: of one table, and of all tables of a database under one axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hbstore.console.drawings.timelines import CELLS, TimelineLane, timelines_drawing
from hbstore.console.rendering import page
from hbstore.console.table_times import TableTimes, times_of, times_of_database
from hbstore.console.time_view import View, range_texts
from hbstore.errors import HbstoreError
from hbstore.query_service.query import QueryProblem
from hbstore.timelines.picture import TimelineAxis
from hbstore.warehouse.service import Service
from hbstore.web.problems import status_of


def timeline_pages(service: Service) -> list[Route]:
    """The pages of timelines."""
    store = service.store

    def of_table(request: Request) -> Response:
        table = store.get_table(request.path_params["database"], request.path_params["table"])
        return _page(request, table.database, table.name, [times_of(store, table.database, table.name)])

    def of_database(request: Request) -> Response:
        database = store.get_database(request.path_params["database"]).name
        return _page(request, database, None, list(times_of_database(store, database)))

    return [
        Route("/databases/{database}/timelines", of_database),
        Route("/databases/{database}/tables/{table}/timelines", of_table),
    ]


def _page(request: Request, database: str, table: str | None, tables: Sequence[TableTimes]) -> Response:
    shown = range_shown(request, tables, datetime.now(UTC))
    axis = None if shown["view"] is None else shown["view"].axis(CELLS)
    title = f"Timelines of {table or database}"
    return page(
        request,
        "table_timelines.html",
        title=title,
        database=database,
        table=table,
        tables=tables,
        axis=axis,
        drawing=None if axis is None else drawn(request, axis, list(lanes_of(axis, tables)), title),
        **shown,
    )


def range_shown(request: Request, tables: Sequence[TableTimes], now: datetime) -> dict[str, Any]:
    """What a page shows of the range that its address asks for: all there is, if that is none, and why it is none."""
    timelines = [row.timeline for table in tables for row in table.rows]
    texts = {name: request.query_params.get(name, "") for name in ("from", "to")}
    try:
        view, problem, status = View.of(timelines, texts["from"], texts["to"], now), None, 200
    except HbstoreError as error:
        view, problem, status = View.of(timelines, "", "", now), QueryProblem.of(error), status_of(error)
    return {"view": view, "problem": problem, "status": status, "texts": texts}


def lanes_of(axis: TimelineAxis, tables: Sequence[TableTimes]) -> Iterator[TimelineLane]:
    """A lane for each timeline; the time partition column is named where there are several."""
    periods = {row.timeline.update_period for table in tables for row in table.rows}
    cells = {period: axis.cells_of(period) for period in periods}
    several = len({row.timeline.partition_column for table in tables for row in table.rows}) > 1
    for table in tables:
        for number, row in enumerate(table.rows):
            timeline, period = row.timeline, row.timeline.update_period
            label = f"{timeline.partition_column} {period.name}" if several else period.name
            name = "" if number else table.table
            yield TimelineLane(name, label, list(cells[period].stretches(timeline.range_ahead)))


def drawn(request: Request, axis: TimelineAxis, lanes: Sequence[TimelineLane], title: str) -> Markup:
    """The drawing of some lanes; its units lead to the same page of their range."""

    def address(start: int, stop: int) -> str:
        begin, end = range_texts(start, stop)
        return f"?{request.url.include_query_params(**{'from': begin, 'to': end}).query}"

    return Markup(timelines_drawing(axis, lanes, address, title))  # noqa: S704  a drawing escapes its texts
