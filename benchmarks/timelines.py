"""Timelines of one million hourly partitions, and covers of a year; beside them what Apache Lens was measured at."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from benchmarks import timelines_stored
from benchmarks.timing import Figure, Report
from hbstore.cubes import cover
from hbstore.timelines import (
    EndsAndHolesPartitionTimeline,
    PartitionTimeline,
    RangesPartitionTimeline,
    StoreAllPartitionTimeline,
    UpdatePeriod,
)

_MILLION = 1_000_000
_BEGIN = datetime(1950, 1, 1, tzinfo=UTC)
_HOURS = [_BEGIN + timedelta(hours=number) for number in range(_MILLION)]
_PROBES = 100_000
_YEAR = datetime(2015, 1, 1, tzinfo=UTC), datetime(2016, 1, 1, tzinfo=UTC)
_COMPACT = (EndsAndHolesPartitionTimeline, RangesPartitionTimeline)
_LENS_ADD = {EndsAndHolesPartitionTimeline: 1.9e-6, RangesPartitionTimeline: 1.6e-6}
_LENS_EXISTS = {EndsAndHolesPartitionTimeline: 0.4e-6, RangesPartitionTimeline: 0.28e-6}


def run(url: str | None = None) -> Iterator[Report]:
    """The figures of timelines and of covers, and of timelines in a store: on SQLite, and on the HBase of a URL."""
    stores = (None,) if url is None else (None, url)
    yield _timelines()
    yield _covers()
    yield from map(timelines_stored.writes, stores)
    yield from map(timelines_stored.reads, stores)


def _timelines() -> Report:
    report = Report(
        "Timelines: one million hourly partitions (raw: Lens, in Java on another machine, by the partition)"
    )
    for cls in _COMPACT:
        report.compare(
            f"{_name(cls)}, contiguous: add_all of all",
            lambda _, cls=cls: _timeline(cls).add_all(_HOURS),
            target="1 s",
            runs=3,
            note=f"Lens: {_LENS_ADD[cls] * _MILLION:.1f} s; {_megabytes(cls, _HOURS)}, aim 5 MB",
        )
        made = _timeline(cls)
        began = time.perf_counter()
        for hour in _HOURS:
            made.add(hour)
        add = (time.perf_counter() - began) / _MILLION
        report.figures.append(Figure(f"{_name(cls)}, contiguous: add", add, _LENS_ADD[cls], ""))
        exists = _exists(made, _MILLION)
        report.figures.append(Figure(f"{_name(cls)}, contiguous: exists", exists, _LENS_EXISTS[cls], "1 µs"))
    halves = _HOURS[::2]
    for cls in _COMPACT:
        made = _timeline(cls)
        made.add_all(halves)
        lens = 6_300e-6 if cls is RangesPartitionTimeline else None
        aim = "2 µs" if cls is RangesPartitionTimeline else ""
        figure = Figure(f"{_name(cls)}, every second hour: exists", _exists(made, _MILLION), lens, aim)
        report.figures.append(figure)
    report.compare(
        f"{_name(StoreAllPartitionTimeline)}: add_all of all",
        lambda _: _timeline(StoreAllPartitionTimeline).add_all(_HOURS),
        target="",
        runs=1,
        note=f"{_megabytes(StoreAllPartitionTimeline, _HOURS)}; Lens: 139 MB",
    )
    return report


def _covers() -> Report:
    report = Report("Covers of one year (raw: probing each part of the range)")
    minutes = _minutes(1)
    whole = {UpdatePeriod.MINUTELY: [minutes]}
    report.compare(
        "minutes, 1 % missing",
        lambda _: cover(whole, *_YEAR, partial=True),
        lambda _: [minutes.exists(minute) for minute in UpdatePeriod.MINUTELY.iterate(*_YEAR)],
        target="50 ms",
        runs=5,
        note=f"{len(cover(whole, *_YEAR, partial=True).missing):,} ranges missing",
    )
    two = {UpdatePeriod.MINUTELY: [minutes, _minutes(2)], UpdatePeriod.HOURLY: [_timeline(RangesPartitionTimeline)]}
    two[UpdatePeriod.HOURLY][0].add_all(UpdatePeriod.HOURLY.times(*_part(UpdatePeriod.HOURLY)))
    two[UpdatePeriod.HOURLY][0].drop_all(random.Random(3).sample(list(UpdatePeriod.HOURLY.iterate(*_YEAR)), 2_000))
    report.compare(
        "hours, 2,000 missing; minutes of two tables, 1 % missing in each",
        lambda _: cover(two, *_YEAR, partial=True),
        target="",
        runs=5,
        note=f"{len(cover(two, *_YEAR, partial=True).partitions):,} partitions",
    )
    names = ("YEARLY", "MONTHLY", "DAILY", "HOURLY", "MINUTELY")
    nothing = {UpdatePeriod[name]: [RangesPartitionTimeline("s1_f", UpdatePeriod[name], "dt")] for name in names}
    report.compare(
        "five periods, nothing there",
        lambda _: cover(nothing, *_YEAR, partial=True),
        target="instant",
        note="534,738 probes part by part",
    )
    return report


def _name(cls: type[PartitionTimeline]) -> str:
    return cls.__name__.removesuffix("PartitionTimeline")


def _timeline(cls: type[PartitionTimeline]) -> PartitionTimeline:
    return cls("s1_fact1", UpdatePeriod.HOURLY, "dt")


def _part(period: UpdatePeriod) -> tuple[int, int]:
    return period.index(_YEAR[0]), period.index(_YEAR[1])


def _minutes(seed: int) -> PartitionTimeline:
    """The minutes of the year but one in a hundred."""
    pick = random.Random(seed)
    made = RangesPartitionTimeline(f"s{seed}_fact1", UpdatePeriod.MINUTELY, "dt")
    made.add_all(minute for minute in UpdatePeriod.MINUTELY.iterate(*_YEAR) if pick.randrange(100))
    return made


def _exists(made: PartitionTimeline, span: int) -> float:
    """Seconds for each question, about hours picked at random."""
    pick = random.Random(1)
    probes = [_HOURS[pick.randrange(span)] for _ in range(_PROBES)]
    exists: Callable[[datetime], bool] = made.exists
    began = time.perf_counter()
    for hour in probes:
        exists(hour)
    return (time.perf_counter() - began) / _PROBES


def _megabytes(cls: type[PartitionTimeline], hours: list[datetime]) -> str:
    """What a timeline of these hours takes, and the most that adding them took."""
    tracemalloc.start()
    made = _timeline(cls)
    made.add_all(hours)
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return f"{now / 1e6:.1f} MB, at most {peak / 1e6:.1f} MB meanwhile"
