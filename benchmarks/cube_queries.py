"""Rewriting cube queries of a year: in whole, and by its stages."""

from __future__ import annotations

import gc
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from benchmarks.timing import WARM_UP, Figure, Report
from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc
from hbstore.cubes.concepts import Cube, Storage
from hbstore.cubes.fields import DimAttribute, Measure
from hbstore.cubes.logical_tables import Column, Fact, StorageTable, TableDescription
from hbstore.model.totals import Totals
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import table_key, totals_state
from hbstore.store.time_columns import TimeColumns, timeline_name
from hbstore.store.timeline_cell import cell_name, empty_timeline, encode_state, state_of
from hbstore.timelines.runs import Runs
from hbstore.times.moments import moment
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions

_ALL = ("HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_MINUTES = ("MINUTELY", "HOURLY", "DAILY", "MONTHLY", "YEARLY")
_HOLES = 0.01
_MEASURES = tuple(f"m{number}" for number in range(6))
_STAGES = {
    "documents": ("hbstore.cubes.query.answer.read_ranges", "hbstore.cubes.query.star.Star.facts"),
    "timelines": ("hbstore.store.timelines.stored_timelines.StoredTimelines.read_with_totals",),
    "rates": ("hbstore.cubes.query.rates.Rates.between",),
    "parsing": ("hbstore.cubes.query.rewriting.parse_query",),
    "resolving": ("hbstore.cubes.query.answer.resolve",),
    "choosing": ("hbstore.cubes.query.answer.best_blocks",),
    "writing": ("hbstore.cubes.query.rewriting.answer_query", "hbstore.cubes.query.rewriting.written"),
}
"""The functions of each stage; none of a stage calls another one of it."""


def run() -> Iterator[Report]:
    """The figures, and then where the time of each goes."""
    report = Report("Rewriting a cube query of a year (SQLite; a hundredth of the partitions is missing)")
    stages = []
    every = [_MEASURES] * 500
    pairs = [(one, other) for one in _MEASURES for other in _MEASURES if one != other] * 2
    cases: dict[str, tuple[Sequence[Sequence[str]], Sequence[str], Sequence[str], str, int]] = {
        "10 facts with five update periods": (every[:10], _ALL, _MEASURES[:2], "50 ms", 50),
        "10 facts with five update periods, minutes among them": (every[:10], _MINUTES, _MEASURES[:2], "50 ms", 50),
        "10 facts with nothing but minutes": (every[:10], _MINUTES[:1], _MEASURES[:2], "", 5),
        "6 measures, 50 facts with two each": (pairs[:50], _ALL[1:4], _MEASURES, "", 20),
        "4 measures, 50 facts with two each": (pairs[:50], _ALL[1:4], _MEASURES[:4], "", 20),
        "500 facts with two update periods": (every, ("DAILY", "MONTHLY"), _MEASURES[:2], "", 5),
    }
    for name, (facts, periods, measures, target, runs) in cases.items():
        with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as folder:
            cubes = _cubes(f"sqlite://{Path(folder) / 'cubes.db'}", facts, periods)

            def ask(_: int, cubes: Cubes = cubes, measures: Sequence[str] = measures) -> Any:
                return cubes.rewrite(
                    f"cube select region, {', '.join(measures)} from rides where region != 'x{random.random()}'"
                    " and time_range_in(ts, '2014-01-09-05:07', '2015-01-08-17:13')",
                    partial=True,
                )

            found = ask(0)
            read = sum(map(len, found.partitions.values()))
            report.compare(name, ask, target=target, runs=runs, note=f"{read:,} partitions chosen")
            if periods in (_ALL, _MINUTES):
                report.compare(f"{name}, with explain()", lambda at, ask=ask: ask(at).explain(), target="", runs=runs)
            stages.append(_by_stage(name, ask, runs))
            cubes.store.close()
    yield report
    yield from stages


def _by_stage(name: str, ask: Any, runs: int) -> Report:
    report = Report(f"{name}: where the time goes")
    times: dict[str, list[float]] = {stage: [] for stage in (*_STAGES, "all else")}
    gc.collect()
    for number in range(runs + WARM_UP):
        with _watched() as spent:
            began = time.perf_counter()
            ask(number)
            spent["all else"] = time.perf_counter() - began - sum(spent.values())
        if number >= WARM_UP:
            for stage, some in times.items():
                some.append(spent.get(stage, 0.0))
    report.figures += [Figure(stage, median(some), None, "") for stage, some in times.items()]
    return report


@contextmanager
def _watched() -> Iterator[dict[str, float]]:
    """Inside, the seconds that each stage takes are added up; a stage within another one counts for the outer one."""
    spent: dict[str, float] = {}
    running: list[str] = []

    def timed(stage: str, call: Any) -> Any:
        def watched(*given: Any, **named: Any) -> Any:
            if running:
                return call(*given, **named)
            running.append(stage)
            began = time.perf_counter()
            try:
                return call(*given, **named)
            finally:
                spent[stage] = spent.get(stage, 0.0) + time.perf_counter() - began
                running.pop()

        return watched

    with ExitStack() as stack:
        for stage, names in _STAGES.items():
            for name in names:
                replaced = patch(name)
                original, _ = replaced.get_original()
                stack.enter_context(patch(name, timed(stage, original)))
        yield spent


def _cubes(url: str, facts: Sequence[Sequence[str]], periods: Sequence[str]) -> Cubes:
    """Facts of a cube with these measures, and the partitions of a year."""
    pick = random.Random(1)
    store = connect(url)
    store.create_database("shop")
    cubes = Cubes(store, "shop")
    cube = Cube(
        name="rides",
        time_dimensions={"ts": "dt"},
        measures=tuple(Measure(name=name, type="bigint", default_aggregate="sum") for name in _MEASURES),
        dim_attributes=(DimAttribute(name="ts", type="timestamp"), DimAttribute(name="region", type="string")),
    )
    cubes.create_all([Storage(name="lake"), cube])
    first, last = (moment(datetime(year, 1, 1, tzinfo=UTC)) for year in (2014, 2016))
    for number, measures in enumerate(facts):
        fact = Fact(
            name=f"f{number}",
            cube="rides",
            weight=1.0 + number % 7,
            columns=(Column(name="region", type="string"), *(Column(name=one, type="bigint") for one in measures)),
            storage_tables=(
                StorageTable(
                    storage="lake",
                    update_periods=tuple(UpdatePeriod[period] for period in periods),
                    partition_columns=(Column(name="dt", type="string"),),
                    time_partition_columns=("dt",),
                    description=TableDescription(location=f"s3://lake/f{number}"),
                ),
            ),
        )
        cubes.create(fact)
        there = {
            period: [
                index for index in range(period.floor_index(first), period.ceil_index(last)) if pick.random() >= _HOLES
            ]
            for period in map(UpdatePeriod.named, periods)
        }
        if UpdatePeriod.MINUTELY in there:  # ten million partitions of which a query reads none
            _put_timelines(store, fact.table_name("lake"), there, pick.randrange(1 << 30))
        else:
            descs = [
                PartitionDesc(
                    period.name,
                    {"dt": period.format_index(index)},
                    parameters={"totalSize": str(pick.randrange(1 << 20))},
                )
                for period, indexes in there.items()
                for index in indexes
            ]
            cubes.add_partitions(fact.name, "lake", descs)
    return cubes


def _put_timelines(store: PartitionStore, table: str, there: Mapping[UpdatePeriod, Sequence[int]], size: int) -> None:
    """Give a table's row what it would have with partitions of these times: timelines and totals."""
    key = table_key("shop", table)
    store.timelines.read(f"shop.{table}")
    columns = TimeColumns.of(store.get_table("shop", table))
    assert columns is not None

    def put(transaction: Transaction) -> None:
        view = transaction.row(key)
        cells = view.all_cells()
        for period, indexes in there.items():
            timeline = empty_timeline(columns, period, "dt")
            timeline.add_index_ranges(Runs.of(indexes))
            view.put_cell(cell_name(timeline_name(period, "dt")), encode_state(cells, columns, state_of(timeline)))
        view.set_state(totals_state(Totals(sum(map(len, there.values())), size=size)))

    Transactions(store.rows).run(put)
