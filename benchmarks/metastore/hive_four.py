"""What Hive 4's clients ask, on hbstore and a Hive Metastore 4.0 in a run: `python -m benchmarks.metastore.hive_four`.

The Hive Metastore runs on PostgreSQL and has 100,000 partitions, and so has hbstore on SQLite; another hbstore on
SQLite has a million, of which those 100,000 are the hours from 0 to 15. So all are asked the same, and answer the same.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

from rich.console import Console

from benchmarks.data import DAYS, HOURS, REGIONS
from benchmarks.metastore.__main__ import machine
from benchmarks.metastore.calls import SERVICE, message
from benchmarks.metastore.client import Client
from benchmarks.metastore.figures import Figure, show
from benchmarks.metastore.loading import load
from benchmarks.metastore.measuring import Asker, WrongAnswer, compare
from benchmarks.metastore.questions import ALL, Asked, Question, int_range, ored_days, point
from benchmarks.metastore.sales import DATABASE, TABLE, Spec, specs
from benchmarks.metastore.servers import Server, hbstore, hive_metastore, scratch
from tests.hive_expressions.writing import call, column, constant, written

_ADDED: Final = 5_000
_MANY_HOURS: Final = 160
_NAMES: Final = 1_000
_DROPPED_DAYS: Final = 25
_DROPS: Final = 3
_RUNS: Final = 5
_HERE: Final = f"hour < {len(HOURS)}"
_PLACE: Final = {"dbName": DATABASE, "tblName": TABLE}
_BY_EXPR: Final = 2
"""Hive's number of the mode in which a filter of get_partitions_with_specs is a text."""


def one_hour(pick: random.Random, days: int) -> Asked:
    """An hour of all days."""
    hour = pick.choice(HOURS)
    hits = tuple(Spec(day, hour, region) for day in DAYS[:days] for region in REGIONS)
    text = f"hour = {hour}"
    return Asked(
        message("get_partitions_by_filter", db_name=DATABASE, tbl_name=TABLE, filter=text, max_parts=ALL), hits
    )


def by_names(pick: random.Random, days: int) -> Asked:
    """Some partitions by their names."""
    hits = pick.sample(specs(days), _NAMES)
    names = [one.name for one in hits]
    return Asked(message("get_partitions_by_names", db_name=DATABASE, tbl_name=TABLE, names=names), tuple(hits))


def by_expression(pick: random.Random, days: int) -> Asked:
    """Four hours of a day, as Hive 4 sends them."""
    day, first = pick.choice(DAYS[:days]), pick.randrange(13)
    hits = [Spec(day, hour, region) for hour in range(first, first + 4) for region in REGIONS]
    hour = column("hour", "int")
    root = call(
        "and",
        call("=", column("ds"), constant(day)),
        call(">=", hour, constant(first)),
        call("<", hour, constant(first + 4)),
    )
    request = SERVICE.PartitionsByExprRequest(**_PLACE, expr=written(root, kryo5=True), maxParts=ALL)
    return Asked(message("get_partitions_by_expr", req=request), tuple(hits))


QUESTIONS: Final = (
    Question("filter of three equalities", point, aim=0, runs=100),
    Question("filter: int range", int_range, aim=0),
    Question("filter: 200 ORs of ds, and hour, region", ored_days, aim=0, runs=30),
    Question("filter: an hour of all days", one_hour, aim=0, runs=10),
    Question("serialized expression: int range", by_expression, aim=0),
    Question(f"{_NAMES:,} partitions by names", by_names, aim=0, runs=20),
)


def _with_specs(*fields: str) -> bytes:
    request = SERVICE.GetPartitionsRequest(
        **_PLACE,
        projectionSpec=SERVICE.GetProjectionsSpec(list(fields)),
        filterSpec=SERVICE.GetPartitionsFilterSpec(filterMode=_BY_EXPR, filters=[_HERE]),
    )
    return message("get_partitions_with_specs", request=request)


BIG: Final = {
    "names of all": message("get_partition_names", db_name=DATABASE, tbl_name=TABLE, max_parts=ALL),
    "100,000 whole partitions": message(
        "get_partitions_by_filter", db_name=DATABASE, tbl_name=TABLE, filter=_HERE, max_parts=ALL
    ),
    "100,000: values, locations": _with_specs("values", "sd.location"),
    "100,000: values, locations, parameters": _with_specs("values", "sd.location", "parameters"),
}


def main() -> None:
    console = Console(width=170)
    console.print(machine())
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        servers = [
            replace(stack.enter_context(_on_sqlite(folder / size)), name=f"hbstore, {size}")
            for size in ("1,000,000", "100,000")
        ]
        servers.append(stack.enter_context(hive_metastore(folder, "postgresql", "4.0")))
        for server in servers:
            console.print(f"{server.name}: {server.version}")
        askers = [Asker(server) for server in servers]
        rates = []
        for asker, hours in zip(askers, (_MANY_HOURS, len(HOURS), len(HOURS)), strict=True):
            console.print(f"loading: {asker.server.name} …", style="dim")
            rates.append(load(asker.server, asker.client, specs(hours=hours), _ADDED))
            asker.learn()
        figures = [*_small(console, askers), *_big(console, askers), _drops(console, askers)]
        figures.append(Figure("add_partitions, batches of 1,000", tuple(rates), rate=True))
        console.print(f"load {os.getloadavg()[0]:.1f}")
        title = "Medians of the time to the last byte of the reply"
        show(console, title, [server.name for server in servers], figures, reference=True)


def _on_sqlite(folder: Path) -> AbstractContextManager[Server]:
    folder.mkdir()
    return hbstore(folder, "SQLite", f"sqlite://{folder / 'catalog.db'}")


def _small(console: Console, askers: list[Asker]) -> Iterator[Figure]:
    """What selects some partitions: each with new literals every time."""
    for question in QUESTIONS:
        console.print(f"asking: {question.name} …", style="dim")
        times = compare(askers, question, len(DAYS))
        yield Figure(f"{question.name}, {times[0].count:,} hit(s)", tuple(one.medians[1] for one in times))


def _big(console: Console, askers: list[Asker]) -> Iterator[Figure]:
    """What all partitions answer; a first time to warm up."""
    for name, asked in BIG.items():
        console.print(f"asking: {name} …", style="dim")
        times: list[list[float]] = [[] for _ in askers]
        sizes = [len(asker.client.ask(asked).data) for asker in askers]
        for _ in range(_RUNS):
            for asker, seconds in zip(askers, times, strict=True):
                seconds.append(asker.client.ask(asked).last)
        console.print(f"{name}: {', '.join(f'{size:,}' for size in sizes)} bytes", style="dim")
        yield Figure(name, tuple(map(median, times)))


def _drops(console: Console, askers: list[Asker]) -> Figure:
    """DROP PARTITION of 10,000 by an expression, each time of others; folders stay.

    Raises:
        WrongAnswer: a server dropped more, or fewer.
    """
    times: list[list[float]] = [[] for _ in askers]
    for number in range(_DROPS):
        console.print(f"dropping: {number + 1} of {_DROPS} …", style="dim")
        for asker, seconds in zip(askers, times, strict=True):
            before = _names(asker)
            seconds.append(asker.client.ask(_drop(number * _DROPPED_DAYS)).last)
            dropped = before - _names(asker)
            if dropped != _DROPPED_DAYS * len(HOURS) * len(REGIONS):
                raise WrongAnswer(f"{asker.server.name} dropped {dropped:,} partitions")
    return Figure("drop of 10,000 by expression", tuple(map(median, times)))


def _drop(first: int) -> bytes:
    ds = column("ds")
    root = call(
        "and",
        call(">=", ds, constant(DAYS[first])),
        call("<", ds, constant(DAYS[first + _DROPPED_DAYS])),
        call("<", column("hour", "int"), constant(len(HOURS))),
    )
    expression = SERVICE.DropPartitionsExpr(expr=written(root, kryo5=True), partArchiveLevel=0)
    request = SERVICE.DropPartitionsRequest(
        **_PLACE, parts=SERVICE.RequestPartsSpec(exprs=[expression]), deleteData=False, ifExists=True, needResult=False
    )
    return message("drop_partitions_req", req=request)


def _names(asker: Asker) -> int:
    """How many there are, by a client that does not know how long the reply was before."""
    client = Client(asker.server.port)
    try:
        return client.ask(BIG["names of all"]).count
    finally:
        client.close()


if __name__ == "__main__":
    main()
