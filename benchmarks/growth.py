"""Growth: the same point filter in tables of 1,000 to 1,000,000 partitions on SQLite."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from benchmarks.data import load
from benchmarks.timing import Report
from hbstore import Column, Partition, Table, connect


def run() -> Report:
    """A line for each size; the bar shows the time."""
    report = Report("Growth: a point filter by the size of its table (SQLite, new literals each time)")
    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as folder:
        store = connect(f"sqlite://{Path(folder) / 'growth.db'}")
        for size in (1_000, 10_000, 100_000, 1_000_000):
            table = Table("bench", f"t{size}", partition_columns=[Column("day", "int"), Column("hour", "int")])
            load(store, table, [Partition((str(at // 24), str(at % 24))) for at in range(size)])
            pick = random.Random(1)

            def ask(_: int, size: int = size, pick: random.Random = pick) -> None:
                at = pick.randrange(size)
                found = store.get_partitions_by_filter("bench", f"t{size}", f"day = {at // 24} and hour = {at % 24}")
                assert len(found) == 1

            report.compare(f"{size:>9,} partitions", ask, target="the same", runs=1_000)
        store.close()
    for one in report.figures:
        one.note = "▇" * round(one.ours * 1e6 / 5)
    return report
