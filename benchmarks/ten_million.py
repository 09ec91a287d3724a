"""Ten million partitions in SQLite, and a million in HBase: what they take, and what filters and whole changes cost.

1,000 days x 100 shards x 100 regions, so a filter on shard and region, which do not lead, has a hit for each day.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.data import sales_table
from benchmarks.timing import Report, seconds
from benchmarks.whole_tables import on_hbase
from hbstore import Column, Partition, PartitionStore, Table, connect

SHARDS = REGIONS = 100
BATCH = 20_000


def run(url: str) -> Iterator[Report]:
    """A table for each backend."""
    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as folder:
        path = Path(folder) / "ten_million.db"
        with connect(f"sqlite://{path}") as store:
            report = Report("Ten million partitions on SQLite")
            _load(report, store, days=1_000)
            size = path.stat().st_size / 10_000_000
            report.figures[-1].note += f"; {size:.0f} bytes each in the file"
            yield _asked(report, store, days=1_000)
    with on_hbase(url) as place, connect(place) as store:
        report = Report("A million partitions on HBase")
        _load(report, store, days=100)
        yield _asked(report, store, days=100)


def _table() -> Table:
    columns = [Column("day", "int"), Column("shard", "int"), Column("region", "string")]
    return replace(sales_table("grown"), partition_columns=tuple(columns))


def _load(report: Report, store: PartitionStore, days: int) -> None:
    """Add the partitions in key order, with six parameters each, five of which are random numbers."""
    store.create_database("bench")
    store.create_table(_table())
    pick, began, made = random.Random(1), time.perf_counter(), []
    names = ("numRows", "numFiles", "totalSize", "rawDataSize", "transient_lastDdlTime")
    for at in range(days * SHARDS * REGIONS):
        values = (str(at // (SHARDS * REGIONS)), str(at // REGIONS % SHARDS), f"r{at % REGIONS:02d}")
        said = {name: str(pick.randrange(10**7)) for name in names}
        made.append(Partition(values, parameters={"COLUMN_STATS_ACCURATE": "true", **said}, create_time=1_390_000_000))
        if len(made) == BATCH:
            store.add_partitions("bench", "grown", made)
            made = []
    took = time.perf_counter() - began
    number = days * SHARDS * REGIONS
    report.rate("add in batches of 20,000", number / took, None, target="", note=f"{took:.0f} s")


def _asked(report: Report, store: PartitionStore, days: int) -> Report:
    pick = random.Random(2)

    def ask(text: str, hits: int) -> None:
        assert len(store.get_partitions_by_filter("bench", "grown", text)) == hits

    def point(_: int) -> None:
        ask(f"day = {pick.randrange(days)} and shard = {pick.randrange(SHARDS)} and region = 'r07'", 1)

    def day(_: int) -> None:
        ask(f"day = {pick.randrange(days)} and shard = {pick.randrange(SHARDS)}", REGIONS)

    def behind(_: int) -> None:
        ask(f"shard = {pick.randrange(SHARDS)} and region = 'r{pick.randrange(REGIONS):02d}'", days)

    def rename(_: int) -> None:
        other = replace(_table(), name="other", location="hdfs://namenode:8020/other")
        store.rename_table("bench", "grown", other, relocated=(_table().location or "", other.location or ""))
        store.rename_table("bench", "other", _table(), relocated=(other.location or "", _table().location or ""))

    report.compare("one partition by all columns", point, target="not slower", runs=200)
    report.compare("100 by the leading two", day, target="not slower", runs=100)
    report.compare(f"{days:,} by two columns that do not lead", behind, target="60 ms for 1,000", runs=20)
    report.compare("rename, there and back", rename, target="50 ms each", runs=5)
    report.compare(f"{days:,} by two columns, after that", behind, target="", runs=20)
    report.compare("drop, until the call returns", lambda _: None, target="50 ms", runs=1)
    report.figures[-1].ours = seconds(store.drop_table, "bench", "grown")
    began = time.perf_counter()
    store.repair_catalog()
    report.figures[-1].note = f"its rows are gone after {time.perf_counter() - began:.0f} s"
    return report
