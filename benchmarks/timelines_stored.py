"""Timelines on the table's row: what they add to adds and drops, and what reading them costs."""

from __future__ import annotations

import random
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks.data import BATCH, batches, sales_table
from benchmarks.timing import Report
from hbstore import Column, Partition, PartitionStore, Table, connect
from hbstore.cubes import Cover, cover
from hbstore.store.table_row import table_key
from hbstore.store.tables import Tables
from hbstore.store.time_columns import TimeColumns, timeline_name
from hbstore.store.timeline_cell import Stored, cell_name, encode_state, state_of
from hbstore.store.timelines.stored_timelines import StoredTimelines
from hbstore.timelines import (
    EndsAndHolesPartitionTimeline,
    PartitionTimeline,
    RangesPartitionTimeline,
    StoreAllPartitionTimeline,
    UpdatePeriod,
    convert,
)
from hbstore.timelines.declaration import PARTITION_UPDATE_PERIOD, TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions

_PARAMETERS: Final = {"numRows": "100000", "totalSize": "12345678", "transient_lastDdlTime": "1390000000"}
_BEGIN: Final = datetime(2015, 1, 1, tzinfo=UTC)
_RUNS: Final = 15
_MILLION: Final = 1_000_000
_FIVE: Final = tuple(UpdatePeriod[name] for name in ("YEARLY", "MONTHLY", "DAILY", "HOURLY", "MINUTELY"))
_PLAIN, _KEPT = "plain", "kept"


@dataclass(frozen=True, slots=True)
class _Case:
    """Batches of 1,000 partitions that are added to two tables, one of which keeps timelines.

    Attributes:
        name: for people.
        columns: the partition columns.
        times: which of them hold times.
        periods: the update periods of the table that keeps timelines.
        batch: the partitions of a batch by its number.
        before: how many batches both tables have already.
    """

    name: str
    columns: tuple[str, ...]
    times: str
    periods: str
    batch: Callable[[int], list[Partition]]
    before: int = 0


def _day(number: int) -> str:
    return (_BEGIN + timedelta(days=number)).strftime("%Y-%m-%d")


def _hour(number: int) -> str:
    return (_BEGIN + timedelta(hours=number)).strftime("%Y-%m-%d-%H")


def _partition(*values: str, period: str = "") -> Partition:
    named = {PARTITION_UPDATE_PERIOD: period} if period else {}
    return Partition(values, parameters={**_PARAMETERS, **named})


def _of_a_day(number: int) -> list[Partition]:
    return [_partition(_day(number), f"r{at:03}") for at in range(BATCH)]


def _of_a_day_behind(number: int) -> list[Partition]:
    return [_partition(f"r{at:03}", _day(number)) for at in range(BATCH)]


def _hours(number: int) -> list[Partition]:
    return [_partition(_hour(number * BATCH + at), "eu") for at in range(BATCH)]


def _two_columns(number: int) -> list[Partition]:
    return [_partition(_hour(number * BATCH + at), _hour(number * BATCH + at + 1), "eu") for at in range(BATCH)]


def _several_periods(number: int) -> list[Partition]:
    days = [_partition(_day(number * BATCH // 2 + at), "eu", period="DAILY") for at in range(BATCH // 2)]
    return days + [_partition(_hour(number * BATCH // 2 + at), "us", period="HOURLY") for at in range(BATCH // 2)]


def _guessed_periods(number: int) -> list[Partition]:
    days = [_partition(_day(number * BATCH // 2 + at), "eu") for at in range(BATCH // 2)]
    return days + [_partition(_hour(number * BATCH // 2 + at), "us") for at in range(BATCH // 2)]


_CASES: Final = (
    _Case("one new day", ("dt", "region"), "dt", "DAILY", _of_a_day),
    _Case("one new day, 100,000 there already", ("dt", "region"), "dt", "DAILY", _of_a_day, 100),
    _Case("one new day, behind another column", ("region", "dt"), "dt", "DAILY", _of_a_day_behind),
    _Case("1,000 new hours", ("dt", "region"), "dt", "HOURLY", _hours),
    _Case("1,000 new hours, 100,000 there already", ("dt", "region"), "dt", "HOURLY", _hours, 100),
    _Case("two time columns, 1,000 new hours in each", ("dt", "pt", "region"), "dt,pt", "HOURLY", _two_columns),
    _Case("days and hours that say so", ("dt", "region"), "dt", "MINUTELY,HOURLY,DAILY,MONTHLY", _several_periods),
    _Case("days and hours that do not say so", ("dt", "region"), "dt", "MINUTELY,HOURLY,DAILY", _guessed_periods),
)


def writes(url: str | None = None) -> Report:
    """Adds and drops of 1,000 partitions with timelines beside the same without, on SQLite or on the HBase of a URL."""
    with _store(url) as (store, name):
        report = Report(f"{name}: 1,000 partitions with timelines; raw = the same in a table without")
        for case in _CASES:
            _adds_and_drops(report, store, case)
        return report


def _adds_and_drops(report: Report, store: PartitionStore, case: _Case) -> None:
    for name in (_PLAIN, _KEPT):
        _create(store, case, name)
        for batch in batches([one for number in range(case.before) for one in case.batch(number)]):
            store.add_partitions("bench", name, batch)
    numbers = {name: iter(range(case.before, 1_000)) for name in (_PLAIN, _KEPT)}
    made = {name: iter(map(case.batch, numbers[name])) for name in numbers}
    added: dict[str, list[list[Partition]]] = {_PLAIN: [], _KEPT: []}
    ready = {name: [next(made[name]) for _ in range(_RUNS + 5)] for name in made}

    def add(name: str) -> None:
        batch = ready[name].pop(0)
        store.add_partitions("bench", name, batch)
        added[name].append(batch)

    report.compare(f"add: {case.name}", lambda _: add(_KEPT), lambda _: add(_PLAIN), target="1.5", runs=_RUNS)
    left = {name: [[one.values for one in batch] for batch in added[name]] for name in added}

    def drop(name: str) -> None:
        store.drop_partitions("bench", name, left[name].pop())

    report.compare(f"drop: {case.name}", lambda _: drop(_KEPT), lambda _: drop(_PLAIN), target="", runs=_RUNS)


def _create(store: PartitionStore, case: _Case, name: str) -> None:
    """A table with the storage of the other benchmarks' tables."""
    declared = {TIME_PARTITION_COLUMNS: case.times, UPDATE_PERIODS: case.periods} if name == _KEPT else {}
    columns = [Column(column, "string") for column in case.columns]
    store.create_database("bench", if_not_exists=True)
    store.drop_table("bench", name, if_exists=True)
    made: Table = replace(sales_table(name), partition_columns=tuple(columns), parameters=declared)
    store.create_table(made)
    if declared:
        store.timelines.read(f"bench.{name}")


def reads(url: str | None = None) -> Report:
    """Questions to stored timelines, on SQLite or on the HBase of a URL."""
    with _store(url) as (store, name):
        report = Report(f"{name}: stored timelines of one million hours, 1 % missing; raw = reading the table's row")
        hours = RangesPartitionTimeline("kept", UpdatePeriod.HOURLY, "dt")
        first = UpdatePeriod.HOURLY.parse("1950-01-01-00")
        hours.add_all(_holed(UpdatePeriod.HOURLY.times(*_indexes(UpdatePeriod.HOURLY, first, _MILLION))))
        for cls in (EndsAndHolesPartitionTimeline, RangesPartitionTimeline, StoreAllPartitionTimeline):
            timeline = convert(hours, cls)
            _put(store, [timeline])
            stored = state_of(timeline)
            assert isinstance(stored, Stored)
            size = sum(map(len, stored.properties.values()))
            kept = stored.properties["storage.class"].rpartition(".")[2].removesuffix("PartitionTimeline")
            note = f"{size / 1e6:.2f} MB as {kept}"
            _questions(report, store, cls.__name__.removesuffix("PartitionTimeline"), note)
        _put(store, [_year(period) for period in _FIVE])
        year = datetime(2015, 1, 1, tzinfo=UTC), datetime(2016, 1, 1, tzinfo=UTC)

        def covered() -> Cover:
            known = store.timelines.read(f"bench.{_KEPT}")
            return cover({period: [timeline] for (period, _), timeline in known.items()}, *year, partial=True)

        report.compare(
            "cover of a year at five periods, from the store",
            lambda _: covered(),
            target="",
            runs=20,
            note=f"{len(covered().partitions):,} partitions, {len(covered().missing):,} ranges missing",
        )
        return report


def _questions(report: Report, store: PartitionStore, name: str, note: str) -> None:
    row = table_key("bench", _KEPT)
    report.compare(
        f"{name}: read, known",
        lambda _: store.timelines.read(f"bench.{_KEPT}"),
        lambda _: store.rows.get(row),
        target="one read",
    )
    report.compare(
        f"{name}: read, not known yet",
        lambda _: StoredTimelines(Tables(Transactions(store.rows))).read(f"bench.{_KEPT}"),
        lambda _: store.rows.get_all(row),
        target="",
        runs=5,
        note=note,
    )


def _put(store: PartitionStore, timelines: list[PartitionTimeline]) -> None:
    """Make a table whose row holds these timelines, without partitions."""
    periods = ",".join(timeline.update_period.name for timeline in timelines)
    _create(store, _Case("", ("dt", "region"), "dt", periods, _hours), _KEPT)
    put_timelines(store, _KEPT, timelines)


def put_timelines(store: PartitionStore, table: str, timelines: Iterable[PartitionTimeline]) -> None:
    """Let the row of a table of the database bench hold these timelines of its column dt, without partitions."""
    store.timelines.read(f"bench.{table}")
    columns = TimeColumns.of(store.get_table("bench", table))
    assert columns is not None

    def put(transaction: Transaction) -> None:
        view = transaction.row(table_key("bench", table))
        cells = view.all_cells()
        for timeline in timelines:
            cell = cell_name(timeline_name(timeline.update_period, "dt"))
            view.put_cell(cell, encode_state(cells, columns, state_of(timeline)))

    Transactions(store.rows).run(put)


def _year(period: UpdatePeriod) -> PartitionTimeline:
    """A hundred years of a period but minutes, of which there is one; one in a hundred is missing."""
    start = UpdatePeriod.YEARLY.parse("2015" if period is UpdatePeriod.MINUTELY else "1950")
    end = UpdatePeriod.YEARLY.parse("2016" if period is UpdatePeriod.MINUTELY else "2050")
    made = RangesPartitionTimeline(_KEPT, period, "dt")
    made.add_all(_holed(period.iterate(start, end)))
    if period.rank > UpdatePeriod.DAILY.rank:  # so that the smaller ones have to do
        made.drop_all(period.iterate(UpdatePeriod.YEARLY.parse("2015"), UpdatePeriod.YEARLY.parse("2016")))
    return made


def _holed(times: Iterable[datetime]) -> Iterator[datetime]:
    pick = random.Random(1)
    return (time for time in times if pick.randrange(100))


def _indexes(period: UpdatePeriod, first: datetime, count: int) -> tuple[int, int]:
    return period.index(first), period.index(first) + count


@contextmanager
def _store(url: str | None) -> Iterator[tuple[PartitionStore, str]]:
    if url is None:
        with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as folder:
            store = connect(f"sqlite://{Path(folder) / 'catalog.db'}")
            yield store, "SQLite"
            store.close()
        return
    store = connect("/".join([*url.split("/")[:3], f"bench_{uuid.uuid4().hex[:8]}"]))
    yield store, "HBase"
    store.close()
