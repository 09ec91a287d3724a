"""The page of a table: its columns, how its partitions spread over the first two columns, and what changed last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hbstore.console.drawings.axis import text
from hbstore.console.plans.bin_filters import range_filter
from hbstore.console.plans.partition_grid import Bin, PartitionGrid, partition_grid
from hbstore.console.plans.sampled_values import sampled_values
from hbstore.console.rendering import page, table_address
from hbstore.ddl.constraint_texts import constraint_state, constraint_text
from hbstore.errors import TimelineError
from hbstore.keys.row_key import successor
from hbstore.keys.types import ColumnType
from hbstore.model.name_lists import partition_names
from hbstore.model.objects import Table
from hbstore.pictures.drawing import Drawing
from hbstore.pictures.heat_map import draw_heat_map
from hbstore.plans.notation import cell_notation
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Rows
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import DEFINITION, TableRow, id_and_version, statistics_of
from hbstore.texts.wording import clipped, plural
from hbstore.warehouse.change_times import DDL_TIME, changed_by
from hbstore.warehouse.locations import located
from hbstore.warehouse.service import Service
from hbstore.web.catalog.quick_fields import quick_fields
from hbstore.web.catalog.timeline_routes import TimelineDocument

_LOOKED: Final = 5_000
"""Partitions that are looked at, to see which changed last: of as many, times are read in hundredths of a second."""
_NEWEST: Final = 10
"""Partitions that changed last."""
_LAST_VALUES: Final = 64
"""Values of the first column among which the last are sought."""
_WIDTH: Final = 1180
_LABEL: Final = 22
_VALUE: Final = 14
"""Characters of a line's name, and of a value, on the heat map."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A partition that changed lately.

    Attributes:
        name: its name.
        time: seconds since 1970.
        user: who altered it last; None: no client said so.
    """

    name: str
    time: int
    user: str | None


@dataclass(frozen=True, slots=True)
class LastChanges:
    """What changed last, among the partitions that were looked at.

    Attributes:
        newest: the newest first.
        looked_at: among how many.
        since: the value of the first column from which on they were looked at; None: all were.
    """

    newest: list[Changed]
    looked_at: int
    since: str | None


def table_pages(service: Service) -> list[Route]:
    """The page of a table."""
    store = service.store

    def one_table(request: Request) -> Response:
        row = store.table_row(request.path_params["database"], request.path_params["table"])
        table = located(service.store, service.warehouse, row.table)
        own = store.hive.constraints.of(row.table.database, row.table.name)
        shown: dict[str, Any] = {
            "table": table,
            "id_and_version": id_and_version(row.cells[DEFINITION]),
            "constraints": [(one.name, constraint_text(one), constraint_state(one)) for one in own],
            "referring": store.hive.constraints.referring(row.table.database, row.table.name),
        }
        if not table.partition_columns:
            return page(request, "table.html", title=table.name, totals=None, timelines=[], **shown)
        totals = store.totals(table.database, table.name)
        timelines, damage = _timelines(store, table)
        with store.rows.snapshot():
            grid, drawing = _grid(store, row)
            last = _last_changes(row.unpacked(store.rows), row.definition.schema, statistics_of(row), totals.partitions)
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
    """How many partitions there are, and their heat map: the first column across, the second down. O(cells)."""
    schema, table = row.definition.schema, row.table
    grid = partition_grid(store.rows, schema, statistics_of(row))
    if not grid.counts:
        return grid, Markup()

    def partitions(place: int, line: int) -> str | None:
        bins = [grid.across[place], grid.down[line]]
        parts = [
            range_filter(name, values.start, values.stop, column_type)
            for name, values, column_type in zip(schema.names, bins, schema.types, strict=False)
        ]
        if None in parts:
            return None
        return table_address(table, "partitions", filter=" and ".join(part for part in parts if part))

    first, first_type = schema.names[0], schema.types[0]
    drawing = Drawing(_WIDTH, f"{plural(sum(grid.counts.values()), 'partition')} by {first}", styled=False)
    across = [_bin_name(values, first, first_type, whole=grid.complete) for values in grid.across]
    marks = [clipped(text((values.cells or (values.start,))[0], first_type), _VALUE) for values in grid.across]
    if len(schema.names) > 1:
        down = [_bin_name(values, schema.names[1], schema.types[1], whole=True) for values in grid.down]
    else:
        down = [first]
    draw_heat_map(drawing, _WIDTH, 0, grid.counts, across, down, _LABEL, marks, partitions)
    return grid, Markup(drawing)  # noqa: S704  it escapes its texts


def _bin_name(values: Bin, column: str, column_type: ColumnType, *, whole: bool) -> str:
    """The values of a bin: the only one, or the first and the last."""
    cells = values.cells or (values.start,)
    first, last = (clipped(text(cells[at], column_type), _VALUE) for at in (0, -1))
    return f"{column}={first}" if first == last or not whole else f"{column}={first}–{last}"


def _last_changes(rows: Rows, schema: KeySchema, statistics: Statistics, partitions: int) -> LastChanges | None:
    """Which partitions changed last, of all or of those with the last values of the first column; None: there are none.

    Most tables grow at that end. O(`_LOOKED`), however many there are.
    """
    start, stop = schema.prefix, successor(schema.prefix)
    since = None
    if partitions > _LOOKED:
        values = sampled_values(rows, schema, (), _LAST_VALUES, statistics.values_below(0)).cells
        for cell in reversed(values):
            if since is not None and rows.count(schema.prefix + cell, stop) > _LOOKED:
                break
            since, start = cell_notation(cell, schema.types[0]), schema.prefix + cell
    payloads = list(chain.from_iterable(rows.payloads(start, stop, limit=_LOOKED)))
    if not payloads:
        return None
    read = quick_fields(payloads)
    newest = nlargest(_NEWEST, range(len(read)), key=lambda at: _changed(read[at][1], read[at][2]))
    names = partition_names(schema.names, [payloads[at] for at in newest])
    named = [
        Changed(name, _changed(read[at][1], read[at][2]), changed_by(read[at][1]))
        for name, at in zip(names, newest, strict=True)
    ]
    return LastChanges(named, len(payloads), since)


def _changed(parameters: Mapping[str, str], create_time: int) -> int:
    """When a partition was created or last changed, as it says; 0 where it does not say."""
    time = parameters.get(DDL_TIME, "")
    return max(create_time, int(time) if time.isascii() and time.isdigit() and len(time) <= _DIGITS else 0)


_DIGITS: Final = 10
"""Digits of seconds since 1970 before the year 2286."""
