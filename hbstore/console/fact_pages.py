"""Pages of facts: the timelines of all storage tables under one axis, a cover below them, candidates of a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hbstore.console.drawings.timelines import CELLS, TimelineLane
from hbstore.console.registering import MissingRange, missing_ranges
from hbstore.console.rendering import page
from hbstore.console.table_times import TableTimes, times_of_fact
from hbstore.console.time_view import View
from hbstore.console.timeline_pages import drawn, lanes_of, range_shown
from hbstore.cubes import Candidate, Cover, CoverPartitions, CoverRun, Cubes, DerivedCube, Fact
from hbstore.cubes.fact_times import FactTimes
from hbstore.cubes.registration import validity
from hbstore.cubes.stored_model import Model
from hbstore.errors import HbstoreError, NoCandidate, UnknownTimeDimension
from hbstore.pictures.drawing import MISSING
from hbstore.query_service.query import QueryProblem
from hbstore.timelines.picture import CellStretch, TimelineAxis
from hbstore.timelines.runs import Runs
from hbstore.times.moments import moment
from hbstore.times.update_period import UpdatePeriod
from hbstore.warehouse.service import Service
from hbstore.web.problems import status_of

_FACT: Final = "/databases/{database}/facts/{fact}"
_SHOWN_RUNS: Final = 50
_SHOWN_RANGES: Final = 20
"""Runs of a cover, and ranges that it lacks, in a list at most."""


@dataclass(frozen=True, slots=True)
class CoverShown:
    """A cover on a page.

    Attributes:
        runs: the first runs of partitions.
        partitions: how many partitions there are in all.
        more_runs: how many more runs.
        missing: the first ranges that are missing, with the commands that register them.
        more_missing: how many more ranges.
    """

    runs: Sequence[CoverRun]
    partitions: int
    more_runs: int
    missing: Sequence[MissingRange]
    more_missing: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A cube query on a page.

    Attributes:
        text: what is asked.
        candidates: the storage tables of the cube, taken or with their cause.
        problem: why it cannot be answered.
        sql: what Spark would run.
        status: of the reply.
    """

    text: str
    candidates: Sequence[Candidate] = ()
    problem: QueryProblem | None = None
    sql: str | None = None
    status: int = 200


def fact_pages(service: Service) -> list[Route]:
    """The pages of facts."""
    store = service.store

    def fact_page(request: Request) -> Response:
        now = datetime.now(UTC)
        cubes = Cubes(store, request.path_params["database"], lambda: now)
        times = FactTimes.of(Model(store, cubes.database), request.path_params["fact"])
        fact, parameters = times.fact, request.query_params
        tables = list(times_of_fact(store, cubes.database, fact))
        columns = list(dict.fromkeys(name for one in fact.storage_tables for name in one.time_partition_columns))
        column = parameters.get("column") or (columns[0] if columns else None)
        shown = {"drawing": None, "cover": None, **range_shown(request, tables, now)}
        view: View | None = shown["view"]
        if view is not None:
            shown |= _seen(request, cubes, fact, tables, view, column, now)
        query = parameters.get("query", "").strip()
        answer = _answered(cubes, query) if query else Asked(_example(cubes, fact, column, view))
        return page(
            request,
            "fact.html",
            title=fact.name,
            database=cubes.database,
            fact=fact,
            tables=tables,
            columns=columns,
            column=column,
            asked=answer,
            is_asked=bool(query),
            kept={name: parameters[name] for name in ("column", "query") if parameters.get(name)},
            kept_range={name: parameters[name] for name in ("column", "from", "to") if parameters.get(name)},
            **{**shown, "status": max(shown["status"], answer.status)},
        )

    return [Route(path, fact_page) for path in (_FACT, f"{_FACT}/timelines", f"{_FACT}/cover")]


def _seen(
    request: Request,
    cubes: Cubes,
    fact: Fact,
    tables: Sequence[TableTimes],
    view: View,
    column: str | None,
    now: datetime,
) -> dict[str, Any]:
    """What a page shows of a view: the drawing, with the cover in it."""
    axis = view.axis(CELLS)
    lanes = list(lanes_of(axis, tables))
    shown: dict[str, Any] = {"view": view, "cover": None, "cover_problem": None}
    if column is not None:
        try:
            cover = cubes.cover(fact.name, view.begin, view.end, time_dimension=column, partial=True)
        except HbstoreError as error:
            shown["cover_problem"] = QueryProblem.of(error)
            if isinstance(error, UnknownTimeDimension):  # what was asked for, not what is stored, is wrong
                shown["status"] = status_of(error)
        else:
            lanes += _cover_lanes(axis, cover)
            shown["cover"] = _shown(cubes.database, fact, column, cover, now)
    return shown | {"axis": axis, "drawing": drawn(request, axis, lanes, f"timelines of {fact.name}")}


def _cover_lanes(axis: TimelineAxis, cover: Cover) -> Iterator[TimelineLane]:
    """A lane for each storage table and update period that answers a part, and one for what is missing."""
    assert isinstance(cover.partitions, CoverPartitions)
    sources: dict[tuple[str, UpdatePeriod], list[tuple[int, int]]] = {}
    for run in cover.partitions.runs:
        sources.setdefault((run.storage_table, run.period), []).append((run.start, run.stop))
    heading: str | None = "Cover: what a query of this range reads"
    for (table, period), ranges in sorted(sources.items(), key=lambda source: (source[0][1].rank, source[0][0])):
        stretches = axis.cells_of(period).stretches(Runs.of_ranges(ranges).ahead)
        there = [stretch for stretch in stretches if stretch.colour is not MISSING]
        yield TimelineLane(table, period.name, there, heading)
        heading = None
    second = UpdatePeriod.SECONDLY
    lost = Runs()
    for start, end in cover.missing:
        lost.unite(Runs([second.floor_index(moment(start))], [second.ceil_index(moment(end))]))
    touched = (stretch for stretch in axis.cells_of(second).stretches(lost.ahead) if stretch.colour is not MISSING)
    yield TimelineLane(
        "", "missing", [CellStretch(MISSING, stretch.start, stretch.stop) for stretch in touched], heading
    )


def _shown(database: str, fact: Fact, column: str, cover: Cover, now: datetime) -> CoverShown:
    assert isinstance(cover.partitions, CoverPartitions)
    runs, missing = cover.partitions.runs, cover.missing
    return CoverShown(
        runs[:_SHOWN_RUNS],
        len(cover.partitions),
        max(len(runs) - _SHOWN_RUNS, 0),
        list(missing_ranges(database, fact, column, validity(fact, now), missing[:_SHOWN_RANGES])),
        max(len(missing) - _SHOWN_RANGES, 0),
    )


def _answered(cubes: Cubes, text: str) -> Asked:
    """The candidates of a cube query."""
    try:
        found = cubes.rewrite(text)
        return Asked(text, found.candidates, sql=found.sql)
    except NoCandidate as error:
        candidates = [one for one in error.candidates if isinstance(one, Candidate)]
        return Asked(text, candidates, QueryProblem.of(error))
    except HbstoreError as error:
        return Asked(text, problem=QueryProblem.of(error), status=status_of(error))


def _example(cubes: Cubes, fact: Fact, column: str | None, view: View | None) -> str:
    """A query of the fact's cube in the range that is shown."""
    cube = cubes.cube(fact.cube)
    if isinstance(cube, DerivedCube) or view is None:
        return ""
    dimension = next((name for name, own in cube.time_dimensions.items() if own == column), None)
    measures = {one.name for one in cube.measures}
    field = next((one.name for one in fact.columns if one.name in measures), None)
    if dimension is None or field is None:
        return ""
    start, end = view.texts
    return f"cube select {field} from {cube.name} where time_range_in({dimension}, '{start}', '{end}')"
