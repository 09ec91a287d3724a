"""Building a table's timelines by a Spark job: each task reads a slice of the table's keys, the driver unites them.

It is the build of `hbstore.store.timelines.build`, whose second step, reading all partitions, is the long one. While
the job runs the driver reports every few seconds that it lives; when it has died, others build in its place.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import reduce
from threading import Event
from typing import Final

from pyspark.sql import SparkSession

from hbstore.errors import ConcurrentChange, CorruptTimeline, HbstoreError
from hbstore.keys.partition_names import table_name
from hbstore.keys.row_key import successor
from hbstore.rows.interface import Rows
from hbstore.rows.urls import shared_url
from hbstore.servers.threads import beside
from hbstore.spark.arguments import check_arguments
from hbstore.spark.key_slices import KeyRange, key_slices
from hbstore.spark.tasks import number_of_slices, run_tasks
from hbstore.store.partition_store import connect
from hbstore.store.table_row import DEFINITION, TableRow
from hbstore.store.tables import Tables
from hbstore.store.timeline_cell import Building, decode_state
from hbstore.store.timelines.build import PATIENCE, Build, Collected, TimelineBuilder, time_columns
from hbstore.transactions.log import Log
from hbstore.transactions.resolving import Resolver
from hbstore.transactions.templates import TEMPLATES
from hbstore.transactions.transactions import Transactions

_BEAT: Final = PATIENCE / 4
_POLL: Final = 0.2


def rebuild_timelines(spark: SparkSession, url: str, table: str, slices: int | None = None) -> Collected:
    """Build all timelines of a table anew from its partitions, read in parallel. O(partitions), over all cores.

    Others may go on adding and dropping partitions meanwhile; readers of the timelines wait. A machine that runs
    tasks must have hbstore installed and must reach the store; for SQLite it is the machine of the file.

    Args:
        spark: where the job runs.
        url: the store's URL.
        table: ``database.table``.
        slices: how many tasks at most; by default four for each core.

    Returns:
        What was found: the number of partitions, their times, and which were left out as their times cannot be told.

    Raises:
        InvalidInput: an argument is of another type.
        InvalidUrl: ``memory://``, which tasks cannot share.
        TableNotFound, DatabaseNotFound: there is no such table.
        TimelineNotFound: the table keeps no timelines.
        StoreBusy: others kept beginning to build as well.
        StoreUnavailable: the store does not answer.

    >>> rebuild_timelines(spark, url, "shop.sales").partitions
    3
    """
    check_arguments(spark=spark, url=url, table=table, slices=slices)
    names = table_name(table)
    number = number_of_slices(spark, slices)
    shared = shared_url(url)
    with connect(shared) as store:
        builder = TimelineBuilder(Tables(Transactions(store.rows, store.patience)))
        unknown = builder.without_unknown_classes(*names)

        def build() -> Collected:
            begun = builder.begin(*names)
            try:
                with _reporting(builder, begun):
                    collected = _collect(spark, shared, begun, key_slices(store.rows, *_keys(begun), number))
                    builder.finish(begun, collected)
            except ConcurrentChange:
                _wait_for_others(store.rows, begun)
                raise
            return replace(collected, unknown_classes=unknown)

        text = "other processes kept building the table's timelines"
        return store.patience.retry(build, text=text, table=table)


@dataclass(frozen=True, slots=True)
class _Task:
    """What every task is sent: the table as it was when the build began, so that all read it alike."""

    url: str
    key: bytes
    cells: dict[str, bytes]

    def run(self, keys: KeyRange) -> Collected:
        """Read one slice."""
        row = TableRow.of(self.key, Log(), self.cells)
        assert row is not None
        with connect(self.url, create=False) as store:
            return TimelineBuilder(Tables(Transactions(store.rows))).collect(row, time_columns(row), *keys)


def _collect(spark: SparkSession, url: str, begun: Build, slices: list[KeyRange]) -> Collected:
    cells = {name: value for name, value in begun.row.cells.items() if name in (DEFINITION, TEMPLATES)}
    task = _Task(url, begun.row.key, cells)
    return reduce(Collected.united, run_tasks(spark, task.run, slices))


def _keys(begun: Build) -> KeyRange:
    prefix = begun.row.definition.prefix
    return prefix, successor(prefix)


@contextmanager
def _reporting(builder: TimelineBuilder, begun: Build) -> Iterator[None]:
    """Ask others to wait as long as this goes on; not a moment longer where it fails."""

    def report(over: Event) -> None:
        while not over.wait(_BEAT):
            with suppress(HbstoreError):  # the next one may get through
                builder.beat(begun, PATIENCE)

    try:
        with beside(report, "timelines"):
            yield
    except BaseException:
        with suppress(HbstoreError):
            builder.beat(begun, 0)
        raise


def _wait_for_others(rows: Rows, begun: Build) -> None:
    """Let the present builder finish, as long as it reports: taking turns at beginning, no builder would."""
    while _is_being_built(rows, begun):
        time.sleep(_POLL)


def _is_being_built(rows: Rows, begun: Build) -> bool:
    row = TableRow.of(begun.row.key, *Resolver(rows).read(begun.row.key, timelines=True))
    columns = None if row is None else row.definition.time_columns
    if row is None or columns is None:
        return False
    for name, _, _ in columns.names():
        with suppress(CorruptTimeline):
            state = decode_state(row.cells, columns, name)
            if isinstance(state, Building) and state.builder != begun.builder and state.until > time.time():
                return True
    return False
