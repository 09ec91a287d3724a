"""Timelines and holes of a table, for reading."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from hbstore.timelines.timeline import PartitionTimeline
from hbstore.warehouse.service import Service
from hbstore.web.catalog.catalog_routes import TABLE


class HoleDocument(BaseModel):
    """Times that are missing: from the first of them to the next that is there."""

    start: str
    end: str


class TimelineDocument(BaseModel):
    """A timeline; times are written as partitions of its update period are."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "update_period": "DAILY",
                    "partition_column": "dt",
                    "kind": "EndsAndHolesPartitionTimeline",
                    "first": "2015-01-01",
                    "latest": "2015-01-04",
                    "times": 3,
                    "missing": 1,
                    "holes": [{"start": "2015-01-03", "end": "2015-01-04"}],
                }
            ]
        }
    )

    update_period: str
    partition_column: str
    kind: str = Field(description="the timeline class")
    first: str | None
    latest: str | None
    times: int = Field(description="how many times are there")
    missing: int = Field(description="how many times are missing between the first and the latest")
    holes: list[HoleDocument] = Field(description="the first so many")

    @classmethod
    def of(cls, timeline: PartitionTimeline, most: int) -> TimelineDocument:
        """The document of a timeline. O(ranges of the timeline)."""
        period = timeline.update_period
        ranges, text = list(timeline.index_ranges(0, period.limit)), period.format_index
        times = sum(stop - start for start, stop in ranges)
        holes = ((before[1], after[0]) for before, after in pairwise(ranges))
        return cls(
            update_period=period.name,
            partition_column=timeline.partition_column,
            kind=type(timeline).__name__,
            first=text(ranges[0][0]) if ranges else None,
            latest=text(ranges[-1][1] - 1) if ranges else None,
            times=times,
            missing=ranges[-1][1] - ranges[0][0] - times if ranges else 0,
            holes=[HoleDocument(start=text(start), end=text(end)) for start, end in islice(holes, most)],
        )


class TimelinesDocument(BaseModel):
    """The timelines of a table, those of the smallest update period first; none where it keeps none."""

    timelines: list[TimelineDocument]


def timeline_routes(service: Service) -> APIRouter:
    """The routes of timelines."""
    router, store = APIRouter(tags=["timelines"]), service.store

    @router.get(f"{TABLE}/timelines")
    def timelines(
        database: str,
        table: str,
        *,
        holes: Annotated[int, Query(ge=0, le=10_000, description="holes of each timeline at most")] = 1_000,
    ) -> TimelinesDocument:
        """The timelines of a table, and their holes."""
        definition = store.get_table(database, table)
        found = store.table(str(definition)).timelines
        return TimelinesDocument(timelines=[TimelineDocument.of(one, holes) for one in found])

    return router
