"""The times of facts: timelines of all storage tables, and covers."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Query

from hbstore.cubes import Cubes
from hbstore.cubes.fact_times import FactTimes
from hbstore.cubes.stored_model import Model
from hbstore.times.clock import Clock, utc_now
from hbstore.times.time_range import TimeRange, read_time
from hbstore.warehouse.service import Service
from hbstore.web.catalog.catalog_routes import DATABASE
from hbstore.web.cubes.fact_documents import CoverDocument, FactTimeline, FactTimelines

FromQuery: TypeAlias = Annotated[
    str,
    Query(
        alias="from",
        description="where the range begins: 2015-01-29-06, now.day-3days, or an ISO time",
        examples=["2015-01-29"],
    ),
]
ToQuery: TypeAlias = Annotated[
    str, Query(alias="to", description="where it ends; the end is not part of it", examples=["2015-02-01"])
]
TimeDimensionQuery: TypeAlias = Annotated[
    str | None, Query(description="the cube's time dimension, or its partition column, that the range is of")
]


def asked_range(start: str, end: str, clock: Clock) -> TimeRange:
    """The range between two times, as people or programs write them.

    Raises:
        InvalidTime, TimeRangeSyntaxError: one is no time.

    >>> from hbstore.times.clock import utc_now
    >>> [time.isoformat() for time in asked_range("2015-01-29-06", "2015-01-29T08:00:00+01:00", utc_now)]
    ['2015-01-29T06:00:00+00:00', '2015-01-29T07:00:00+00:00']
    """
    now = clock()
    return TimeRange(*(read_time(text, now) for text in (start, end)))


FACT: Final = f"{DATABASE}/facts/{{fact}}"
_PAGE: Final = 1_000
"""Runs of a page, where the request does not say how many."""

_MOST: Final = 10_000


def fact_routes(service: Service, clock: Clock = utc_now) -> APIRouter:
    """The routes of the times of facts."""
    router, store = APIRouter(tags=["facts"]), service.store

    @router.get(f"{FACT}/timelines", response_model_exclude_none=True)
    def timelines(
        database: str,
        fact: str,
        *,
        storage: Annotated[str | None, Query(description="only on this storage")] = None,
        update_period: Annotated[str | None, Query(description="only of this update period, such as DAILY")] = None,
        time_dimension: TimeDimensionQuery = None,
        holes: Annotated[int, Query(ge=0, le=10_000, description="holes of each timeline at most")] = 1_000,
        properties: Annotated[bool, Query(description="say each timeline wholly, by its properties")] = False,
    ) -> FactTimelines:
        """The timelines of all storage tables of a fact and all their update periods."""
        fact_timelines = Cubes(store, database).timelines(
            fact, storage=storage, update_period=update_period, time_dimension=time_dimension
        )
        return FactTimelines(
            timelines=[FactTimeline.within(timeline, holes, properties=properties) for timeline in fact_timelines]
        )

    @router.get(f"{FACT}/cover")
    def cover(
        database: str,
        fact: str,
        *,
        start: FromQuery,
        end: ToQuery,
        time_dimension: TimeDimensionQuery = None,
        partial: Annotated[bool, Query(description="answer also where something is missing, and say what")] = False,
        limit: Annotated[int, Query(ge=1, le=_MOST, description="runs of partitions of a page")] = _PAGE,
        page: Annotated[str | None, Query(description="what was ``next`` in the page before")] = None,
    ) -> CoverDocument:
        """The partitions that hold a range, as few and as large as there are, in the order of time.

        They come as runs of partitions that follow one another. If there are more than ``limit`` of them, ``next``
        is the ``page`` of the others. Each page is as the store was at one moment.
        """
        range_ = asked_range(start, end, clock)
        coverable = FactTimes.of(Model(store, database), fact).coverable(time_dimension, clock())
        since = range_.start if page is None else read_time(page, clock())
        return CoverDocument.of(fact.lower(), coverable.cover_since(since, *range_, partial=partial), limit)

    return router
