"""How long adding 10,000 partitions keeps all other writers of an SQLite file waiting."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from statistics import median
from unittest.mock import patch

from benchmarks.data import BATCH, load, sales_partitions, sales_table
from benchmarks.timing import Figure, Report
from hbstore import Partition, connect
from hbstore.rows.sqlite.rows import SqliteRows
from hbstore.store.changes import Change
from hbstore.store.table_row import TableRow
from hbstore.store.writer import Writer

_ADDED = 10 * BATCH
_RUNS = 9


def run() -> list[Report]:
    """The time for which the write lock is held, beside that of a step that encodes the partitions itself."""
    report = Report(
        f"SQLite: how long the write lock is held while {_ADDED:,} partitions are added",
        headings=("encoded before", "within the step"),
    )
    plain = sales_partitions()[:_ADDED]
    storage = sales_table().storage
    own = [replace(one, storage=replace(storage, num_buckets=at)) for at, one in enumerate(plain)]
    for name, partitions in (("the table's storage", plain), ("a storage of their own", own)):
        before, within = [], []
        for _ in range(_RUNS):
            before.append(_held(partitions))
            with patch.object(Writer, "_make_of", _make_within):
                within.append(_held(partitions))
        report.figures.append(Figure(name, median(before), median(within), target=""))
    return [report]


def _make_within(self: Writer, row: TableRow, change: Callable[[TableRow], Change]) -> Change:
    return self._make(row, lambda now, _: change(now))


def _held(partitions: list[Partition]) -> float:
    """Seconds from the lock to the end of the commit."""
    times: list[float] = []
    begin = SqliteRows.transaction

    @contextmanager
    def timed(self: SqliteRows) -> Iterator[None]:
        began = time.perf_counter()
        with begin(self):
            yield
        times.append(time.perf_counter() - began)

    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as folder, connect(f"sqlite://{folder}/a.db") as store:
        load(store, sales_table(), [])
        with patch.object(SqliteRows, "transaction", timed):
            store.add_partitions("bench", "sales", partitions)
    (held,) = times
    return held
