"""Queries that end as a test says, with the rows that it says: a script plays Spark."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from hbstore.query_service.messages import Done, Failed, Planned, Progressed, Started
from hbstore.query_service.query import QueryProgress, QueryResult, Request, ResultColumn

TYPES = {
    "int64": "bigint",
    "double": "double",
    "string": "string",
    "date32[day]": "date",
    "timestamp[us, tz=UTC]": "timestamp",
}


def submitted(service, text="select 1", user="ann", **fields):
    """A query that is taken a second after the one before, so that the order of queries is certain."""
    service.clock.now += dt.timedelta(seconds=1)
    return service.submit(Request(text=text, user=user, **fields)).id


def started(service, id_, plan=None, warnings=(), **progress):
    """Let a query run, as far as the numbers of its progress say."""
    service.runner.heard(Started(id_))
    if plan is not None:
        service.runner.heard(Planned(id_, plan, tuple(warnings)))
    service.runner.heard(Progressed(id_, QueryProgress(**progress)))


def done(service, id_, names, columns, types=None):
    """Let a query that runs succeed, with columns of these names; they may repeat."""
    table = pa.table(
        [pa.array(column) if isinstance(column, list) else column for column in columns],
        names=[f"c{at}" for at in range(len(columns))],
    )
    folder = Path(service.results.location(id_).removeprefix("file:"))
    folder.mkdir(parents=True)
    parquet.write_table(table, folder / "part-00000.snappy.parquet", row_group_size=1_000)
    (folder / "_SUCCESS").touch()
    types = types or [TYPES.get(str(field.type), str(field.type)) for field in table.schema]
    described = tuple(ResultColumn(name=name, type=kind) for name, kind in zip(names, types, strict=True))
    size = (folder / "part-00000.snappy.parquet").stat().st_size
    service.clock.now += dt.timedelta(seconds=2.4)
    service.runner.heard(Done(id_, QueryResult(columns=described, rows=table.num_rows, size=size)))


def succeeded(service, names, columns, types=None, plan=None, warnings=(), **asked):
    """A query that has succeeded."""
    id_ = submitted(service, **asked)
    started(service, id_, plan, warnings, stages=3, stages_done=3, tasks=24, tasks_done=24, rows=125_000)
    done(service, id_, names, columns, types)
    return id_


def failed(service, problem, **asked):
    """A query that has failed."""
    id_ = submitted(service, **asked)
    service.runner.heard(Started(id_))
    service.clock.now += dt.timedelta(seconds=0.3)
    service.runner.heard(Failed(id_, problem))
    return id_
