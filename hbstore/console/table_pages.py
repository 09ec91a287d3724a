"""The page of a table: its columns, how its partitions spread over the first two columns, and what changed last."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hbstore.console.drawings.grid_drawing import grid_drawing
from hbstore.console.rendering import page, table_address
from hbstore.errors import TimelineError
from hbstore.keys import successor
from hbstore.model import Partition, Table
from hbstore.names import partition_name
from hbstore.plans.bin_filters import range_filter
from hbstore.plans.notation import cell_notation
from hbstore.plans.partition_grid import PartitionGrid, partition_grid
from hbstore.plans.sampled_values import sampled_values
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Rows
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import DEFINITION, TableRow, id_and_version, statistics_of
from hbstore.structs import partitions_from_payloads
from hbstore.warehouse.change_times import DDL_TIME
from hbstore.warehouse.locations import located
from hbstore.warehouse.service import Service
from hbstore.web.catalog.timeline_routes import TimelineDocument

_LOOKED: Final = 500
"""Partitions that are looked at, to see which changed last."""
_NEWEST: Final = 10
"""Partitions that changed last."""
_LAST_VALUES: Final = 64
"""Values of the first column among which the last are sought."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A partition that changed lately.

    Attributes:
        name: its name.
        time: seconds since 1970.
    """

    name: str
    time: int


@dataclass(frozen=True, slots=True)
class LastChanges:
    """What changed last, among the partitions that were looked at.

    Attributes:
        newest: the newest first.
        looked_at: among how many.
        since: the value of the first column from which on they were looked at.
    """

    newest: list[Changed]
    looked_at: int
    since: str


def table_pages(service: Service) -> list[Route]:
    """The page of a table."""
    store = service.store

    def one_table(request: Request) -> Response:
        row = store.table_row(request.path_params["database"], request.path_params["table"])
        table = located(service.store, service.warehouse, row.table)
        shown: dict[str, Any] = {"table": table, "id_and_version": id_and_version(row.cells[DEFINITION])}
        if not table.partition_columns:
            return page(request, "table.html", title=table.name, totals=None, timelines=[], **shown)
        totals = store.totals(table.database, table.name)
        timelines, damage = _timelines(store, table)
        with store.rows.snapshot():
            grid, drawing = _grid(store, row)
            last = _last_changes(store.rows, row.definition.schema, statistics_of(row))
        return page(
            request,
            "table.html",
            title=table.name,
            totals=totals,
            timelines=timelines,
            damage=damage,
            grid=grid,
            drawing=drawing,
            last=last,
            **shown,
        )

    return [Route("/databases/{database}/tables/{table}", one_table)]


def _timelines(store: PartitionStore, table: Table) -> tuple[list[TimelineDocument], str | None]:
    """The table's timelines, and why they cannot be shown."""
    try:
        return [TimelineDocument.of(one, 0) for one in store.table(str(table)).timelines], None
    except TimelineError as error:
        return [], str(error)


def _grid(store: PartitionStore, row: TableRow) -> tuple[PartitionGrid, Markup]:
    """How many partitions there are, and the drawing of that."""
    schema, table = row.definition.schema, row.table
    grid = partition_grid(store.rows, schema, statistics_of(row))
    if not grid.counts:
        return grid, Markup()

    def partitions(place: int, line: int) -> str | None:
        bins = [grid.across[place], grid.down[line]]
        parts = [
            range_filter(name, one.start, one.stop, column_type)
            for name, one, column_type in zip(schema.names, bins, schema.types, strict=False)
        ]
        if None in parts:
            return None
        text = " and ".join(part for part in parts if part)
        return table_address(table, "partitions", filter=text)

    return grid, Markup(grid_drawing(grid, schema, partitions))  # noqa: S704  it escapes its texts


def _last_changes(rows: Rows, schema: KeySchema, statistics: Statistics) -> LastChanges | None:
    """Which partitions changed last, of those with the last values of the first column; None where there are none.

    Most tables grow at that end. O(`_LOOKED`), however many there are.
    """
    values = sampled_values(rows, schema, (), _LAST_VALUES, statistics.values_below(0)).cells
    if not values:
        return None
    stop = successor(schema.prefix)
    since = values[-1]
    for cell in reversed(values):
        if rows.count(schema.prefix + cell, stop) > _LOOKED:
            break
        since = cell
    payloads = chain.from_iterable(rows.payloads(schema.prefix + since, stop, limit=_LOOKED))
    looked = partitions_from_payloads(payloads)
    newest = sorted(looked, key=_changed, reverse=True)[:_NEWEST]
    named = [Changed(partition_name(schema.names, one.values), _changed(one)) for one in newest]
    return LastChanges(named, len(looked), cell_notation(since, schema.types[0]))


def _changed(partition: Partition) -> int:
    """When a partition was created or last changed, as it says; 0 where it does not say."""
    said = partition.parameters.get(DDL_TIME, "")
    return max(partition.create_time, int(said) if said.isascii() and said.isdigit() and len(said) <= _DIGITS else 0)


_DIGITS: Final = 10
"""Digits of seconds since 1970 before the year 2286."""
