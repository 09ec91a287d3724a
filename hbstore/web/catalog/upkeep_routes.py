"""Check and repair of a table: GET says what is wrong and what would be done, POST does it."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from hbstore.errors import TimelineError, TimelineNotFound
from hbstore.repair import Mode, Repair, sync_partitions
from hbstore.warehouse.service import Service
from hbstore.web.catalog.catalog_routes import TABLE
from hbstore.web.catalog.changing import writable

_SHOWN: Final = 1_000
"""Problems of rows that a reply has at most."""


class RowProblem(BaseModel):
    """A row that is not what it should be."""

    key: str = Field(description="the row key in hex")
    text: str


class Checked(BaseModel):
    """What is wrong with the rows and the timelines of a table; of many problems the first."""

    rows: int
    problems: int
    first: list[RowProblem]
    timelines: list[str]


class ForeignFolder(BaseModel):
    """A folder that is not taken for a partition's."""

    folder: str
    why: str


class Differences(BaseModel):
    """What folders and partitions say of each other, and what was done about it."""

    add: list[str] = Field(description="partitions of folders that are not in the store")
    drop: list[str] = Field(description="partitions whose folders are gone")
    foreign: list[ForeignFolder]
    busy: list[str] = Field(description="partitions that jobs are writing, which are left alone")
    added: int
    dropped: int

    @classmethod
    def of(cls, done: Repair) -> Differences:
        """What a repair found and did."""
        return cls(
            add=done.names(done.add),
            drop=done.names(done.drop),
            foreign=[ForeignFolder(folder=one.folder, why=one.why) for one in done.foreign],
            busy=list(done.busy),
            added=done.added,
            dropped=done.dropped,
        )


class Finished(BaseModel):
    """What a repair of rows did: changes of dead writers that it finished, and whether the totals were wrong."""

    finished: int
    miscounted: bool


ModeQuery = Annotated[Mode, Query(description="add partitions for folders, drop those without one, or both (sync)")]
ForceQuery = Annotated[bool, Query(description="drop partitions even where the table's own folder is missing or empty")]


def upkeep_routes(service: Service) -> APIRouter:
    """The routes of check and repair."""
    router, store = APIRouter(tags=["upkeep"]), service.store
    changing = [Depends(writable(service))]

    @router.get(f"{TABLE}/check")
    def check(database: str, table: str) -> Checked:
        """Look at every row of a table. Nothing is changed."""
        rows, problems = 0, []
        for problem in store.check(database, table):
            rows += 1
            if problem is not None:
                problems.append(RowProblem(key=problem.key, text=problem.text))
        timelines = _timeline_problems(service, database, table)
        return Checked(rows=rows, problems=len(problems), first=problems[:_SHOWN], timelines=timelines)

    @router.post(f"{TABLE}/check", dependencies=changing)
    def finish(database: str, table: str) -> Finished:
        """Finish what dead writers left unfinished, and count the partitions anew."""
        done = store.repair(database, table)
        return Finished(finished=done.finished, miscounted=done.miscounted)

    @router.get(f"{TABLE}/repair")
    def differences(database: str, table: str, *, mode: ModeQuery = "sync", force: ForceQuery = False) -> Differences:
        """Compare the table's folders with its partitions. Nothing is changed."""
        return Differences.of(sync_partitions(store, f"{database}.{table}", mode, dry_run=True, force=force))

    @router.post(f"{TABLE}/repair", dependencies=changing)
    def repair(database: str, table: str, *, mode: ModeQuery = "add", force: ForceQuery = False) -> Differences:
        """Add partitions for folders, drop those whose folders are gone, or both."""
        return Differences.of(sync_partitions(store, f"{database}.{table}", mode, force=force))

    return router


def _timeline_problems(service: Service, database: str, table: str) -> list[str]:
    try:
        return service.store.timelines.check(f"{database}.{table}")
    except TimelineNotFound:
        return []  # it keeps none
    except TimelineError as error:
        return [str(error)]
