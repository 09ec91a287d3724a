"""What replies say of the times of facts: covers, and whether something is missing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from hbstore.cubes import Cover, CoverPartitions, CoverRun
from hbstore.timelines.factory import table_properties
from hbstore.timelines.timeline import PartitionTimeline
from hbstore.times.moments import time_at
from hbstore.web.catalog.timeline_routes import TimelineDocument

_DAY: Final[Any] = "2015-01-31T00:00:00Z"
_RUN: Final[Any] = {
    "storage_table": "lake_rides_daily",
    "update_period": "DAILY",
    "from": "2015-01-29",
    "to": "2015-01-31",
    "partitions": 2,
}
_MOST_MISSING: Final = 100


class FactTimeline(TimelineDocument):
    """A timeline of one of the storage tables."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "update_period": "DAILY",
                    "partition_column": "dt",
                    "kind": "EndsAndHolesPartitionTimeline",
                    "first": "2015-01-29",
                    "latest": "2015-02-01",
                    "times": 3,
                    "missing": 1,
                    "holes": [{"start": "2015-01-31", "end": "2015-02-01"}],
                    "storage_table": "lake_rides_daily",
                }
            ]
        }
    )

    storage_table: str
    properties: dict[str, str] | None = Field(
        default=None, description="all of it, as properties of a table of Apache Lens; with properties=true"
    )

    @classmethod
    def within(cls, timeline: PartitionTimeline, most: int, *, properties: bool) -> FactTimeline:
        """The document of a timeline. O(ranges of the timeline)."""
        return cls(
            **TimelineDocument.of(timeline, most).model_dump(),
            storage_table=timeline.storage_table,
            properties=table_properties(timeline) if properties else None,
        )


class FactTimelines(BaseModel):
    """The timelines of a fact: of all storages in its order, the smallest period first."""

    timelines: list[FactTimeline]


class RangeDocument(BaseModel):
    """Times from the first up to the second, which is not part of it."""

    start: datetime = Field(alias="from")
    end: datetime = Field(alias="to")

    @staticmethod
    def all_of(ranges: Iterable[tuple[datetime, datetime]]) -> list[RangeDocument]:
        """The documents of some ranges."""
        return [RangeDocument.model_validate({"from": start, "to": end}) for start, end in ranges]


class RunDocument(BaseModel):
    """Partitions that follow one another; times are written as partitions of the update period are."""

    storage_table: str
    update_period: str
    start: str = Field(alias="from")
    end: str = Field(alias="to")
    partitions: int

    @classmethod
    def of(cls, run: CoverRun) -> RunDocument:
        """The document of a run."""
        return cls.model_validate(run.to_dict())


class CoverDocument(BaseModel):
    """A cover: runs of partitions, and what is missing. A page of it ends where ``next`` says."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "fact": "rides_daily",
                    "complete": False,
                    "partitions": 2,
                    "runs": [_RUN],
                    "missing": [{"from": _DAY, "to": "2015-02-01T00:00:00Z"}],
                    "next": None,
                }
            ]
        }
    )

    fact: str
    complete: bool = Field(description="whether nothing of the range is missing from this page on")
    partitions: int = Field(description="of this page")
    runs: list[RunDocument]
    missing: list[RangeDocument]
    next: datetime | None = Field(description="where the next page begins: ``page`` of the request for it")

    @classmethod
    def of(cls, fact: str, cover: Cover, limit: int) -> CoverDocument:
        """The first runs of a cover, and what is missing before and between them. O(runs)."""
        assert isinstance(cover.partitions, CoverPartitions)  # cover makes no others
        runs, missing, after = cover.partitions.runs[:limit], cover.missing, None
        if len(cover.partitions.runs) > limit:
            later = cover.partitions.runs[limit]
            after = time_at(later.period.moment(later.start))
            missing = [one for one in missing if one[1] <= after]
        return cls(
            fact=fact,
            complete=not cover.missing,
            partitions=sum(run.stop - run.start for run in runs),
            runs=[RunDocument.of(run) for run in runs],
            missing=RangeDocument.all_of(missing),
            next=after,
        )


class WaitDocument(BaseModel):
    """Whether nothing of a range is missing, and the first ranges that are."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "fact": "rides_daily",
                    "complete": False,
                    "missing": [{"from": _DAY, "to": "2015-02-01T00:00:00Z"}],
                    "ranges_missing": 1,
                }
            ]
        }
    )

    fact: str
    complete: bool
    missing: list[RangeDocument] = Field(description="the first 100")
    ranges_missing: int

    @classmethod
    def of(cls, fact: str, cover: Cover) -> WaitDocument:
        """The document of a cover."""
        return cls(
            fact=fact,
            complete=not cover.missing,
            missing=RangeDocument.all_of(islice(cover.missing, _MOST_MISSING)),
            ranges_missing=len(cover.missing),
        )
