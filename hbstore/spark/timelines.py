"""Building a table's timelines by a Spark job: each task reads a slice of the table's keys, the driver unites them.

It is the build of `hbstore.store.timeline_build`, whose second step, reading all partitions, is the long one. While the
job runs the driver reports every few seconds that it lives; when it has died, others build in its place.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from threading import Event, Thread
from typing import Final, NamedTuple

from pyspark.sql import SparkSession

from hbstore.errors import ConcurrentChange, CorruptTimeline, HbstoreError, InvalidInput
from hbstore.keys import successor
from hbstore.rows.interface import Rows
from hbstore.spark.shared_url import shared_url
from hbstore.store.partition_store import connect
from hbstore.store.table_row import DEFINITION
from hbstore.store.tables import Tables
from hbstore.store.timeline_build import PATIENCE, Build, Collected, TimelineBuilder, time_columns
from hbstore.store.timeline_cell import Building, decode_state
from hbstore.store.timeline_updates import table_row

_BUILDS: Final = 10
_BEAT: Final = PATIENCE / 4
_POLL: Final = 0.2
_SLICES_FOR_EACH_CORE: Final = 4
"""Slices hold as many keys as they happen to: several for each core even that out."""

_BYTES: Final = 256


def rebuild_timelines(spark: SparkSession, url: str, database: str, table: str, slices: int | None = None) -> Collected:
    """Build all timelines of a table anew from its partitions, read in parallel. O(partitions), over all cores.

    Others may go on adding and dropping partitions meanwhile; whoever wants the timelines waits. A machine that runs
    tasks must have hbstore installed and must reach the store; for SQLite it is the machine of the file.

    Args:
        spark: where the job runs.
        url: the store's URL.
        database: the database's name.
        table: the table's name.
        slices: how many tasks at most; by default four for each core.

    Returns:
        What was found: the number of partitions, their times, and which were left out as their times cannot be told.

    Raises:
        InvalidUrl: ``memory://``, which tasks cannot share.
        TableNotFound, DatabaseNotFound: there is no such table.
        TimelineNotFound: the table keeps no timelines.
        UnknownTimelineClass: its parameters name a class that there is not; nothing was changed.
        ConcurrentChange: others kept beginning to build as well.
        StoreUnavailable: the store does not answer.
    """
    if slices is not None and slices < 1:
        raise InvalidInput("a job has at least one slice", slices=slices)
    shared = shared_url(url)
    number = slices or _SLICES_FOR_EACH_CORE * spark.sparkContext.defaultParallelism
    with connect(shared) as store:
        builder = TimelineBuilder(store.rows, Tables(store.rows))
        for _ in range(_BUILDS):
            begun = builder.begin(database, table)
            with _reporting(builder, begun):
                found = _collect(spark, shared, begun, key_slices(store.rows, *_keys(begun), number))
                if builder.finish(begun, found):
                    return found
            _wait_for_others(store.rows, begun)
    raise ConcurrentChange("others kept building the table's timelines", table=begun.row.table, hint="Try again")


def key_slices(rows: Rows, start: bytes, stop: bytes, number: int) -> list[tuple[bytes, bytes]]:
    """Cut the keys from ``start`` up to ``stop`` into slices, each with at least one partition.

    Each cut is in the middle of the values of the first byte in which the keys of a slice differ: of ten digits, at the
    sixth. So slices may hold any number of partitions, but where there are many keys there are many slices. Some 15
    seeks for each cut.

    Args:
        rows: where the partitions are.
        start: the first key.
        stop: the key behind the last.
        number: how many slices at most; there are fewer only if there are fewer partitions.

    Returns:
        Ranges that touch, sorted, from ``start`` up to ``stop``.
    """
    uncut, whole = deque([(start, stop)]), list[tuple[bytes, bytes]]()
    while uncut and len(uncut) + len(whole) < number:
        low, high = uncut.popleft()
        cut = _cut(rows, low, high)
        if cut is None:
            whole.append((low, high))
        else:
            uncut += [(low, cut), (cut, high)]
    return sorted([*whole, *uncut])


def _cut(rows: Rows, start: bytes, stop: bytes) -> bytes | None:
    """A key that is not the first of its range; None if there is none."""
    first = rows.first_key(start, stop)
    if first is None or rows.first_key(first + b"\0", stop) is None:
        return None

    def after(prefix: bytes) -> bytes | None:
        """The first key behind all that begin so."""
        return rows.first_key(successor(prefix), stop) if prefix.rstrip(b"\xff") else None

    shared = _last(0, len(first), lambda size: after(first[:size]) is None)
    prefix = first[:shared]
    least = first[shared] if shared < len(first) else -1
    most = _last(least, _BYTES - 1, lambda byte: byte == least or _at(rows, prefix, byte, stop) is not None)
    return _at(rows, prefix, (least + most + 1) // 2, stop)


def _at(rows: Rows, prefix: bytes, byte: int, stop: bytes) -> bytes | None:
    return rows.first_key(prefix + bytes((byte,)), stop)


def _last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The last number that something holds for: it does for the first one, and from some number on no more."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


class _Outcome(NamedTuple):
    """What a task gives back."""

    found: Collected
    error: HbstoreError | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    """What every task is sent: the table as it was when the build began, so that all read it alike."""

    url: str
    key: bytes
    definition: bytes

    def run(self, keys: tuple[bytes, bytes]) -> _Outcome:
        """Read one slice. An error of hbstore comes back as a value, as Spark would show it in the midst of its own."""
        row = table_row(self.key, {DEFINITION: self.definition})
        assert row is not None
        try:
            with connect(self.url, create=False) as store:
                builder = TimelineBuilder(store.rows, Tables(store.rows))
                return _Outcome(builder.collect(row, time_columns(row), *keys))
        except HbstoreError as error:
            return _Outcome(Collected(), error)


def _collect(spark: SparkSession, url: str, begun: Build, slices: list[tuple[bytes, bytes]]) -> Collected:
    task = _Task(url, begun.row.key, begun.row.cells[DEFINITION])
    outcomes = spark.sparkContext.parallelize(slices, len(slices)).map(task.run).collect()
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return reduce(Collected.united, (outcome.found for outcome in outcomes))


def _keys(begun: Build) -> tuple[bytes, bytes]:
    prefix = begun.row.definition.prefix
    return prefix, successor(prefix)


@contextmanager
def _reporting(builder: TimelineBuilder, begun: Build) -> Iterator[None]:
    """Ask others to wait as long as this goes on; not a moment longer where it fails."""
    over = Event()

    def report() -> None:
        while not over.wait(_BEAT):
            with suppress(HbstoreError):  # the next one may get through
                builder.beat(begun, PATIENCE)

    thread = Thread(target=report, name="hbstore-timelines", daemon=True)
    thread.start()
    try:
        yield
    except BaseException:
        over.set()
        thread.join()
        with suppress(HbstoreError):
            builder.beat(begun, 0)
        raise
    finally:
        over.set()
        thread.join()


def _wait_for_others(rows: Rows, begun: Build) -> None:
    """Whoever builds now gets to the end, as long as they report: taking turns at beginning, nobody would."""
    while _is_being_built(rows, begun):
        time.sleep(_POLL)


def _is_being_built(rows: Rows, begun: Build) -> bool:
    row = table_row(begun.row.key, rows.get_all(begun.row.key))
    columns = None if row is None else row.definition.time_columns
    if row is None or columns is None:
        return False
    for name, _, _ in columns.names():
        with suppress(CorruptTimeline):
            state = decode_state(row.cells, columns, name)
            if isinstance(state, Building) and state.builder != begun.builder and state.until > time.time():
                return True
    return False
