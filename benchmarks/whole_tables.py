"""Changes of whole tables: renames, alterations of all partitions and drops of a large table beside a small one."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import happybase

from benchmarks.data import load, sales_partitions, sales_table
from benchmarks.timing import Report, seconds
from hbstore import PartitionStore, connect

SMALL = 1_000
ROUNDS = 10


def run(url: str) -> Iterator[Report]:
    """A table of 100,000 partitions beside one of 1,000, on SQLite and on the HBase of a URL."""
    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as folder:
        yield _compared("SQLite", f"sqlite://{Path(folder) / 'whole.db'}")
    with on_hbase(url) as place:
        yield _compared("HBase", place)


@contextmanager
def on_hbase(url: str) -> Iterator[str]:
    """The URL of a store with a prefix of its own, whose tables are removed behind it."""
    parts, prefix = urlsplit(url), f"bench_{uuid.uuid4().hex[:8]}"
    try:
        yield f"hbase://{parts.hostname}:{parts.port}/{prefix}"
    finally:
        raw = happybase.Connection(parts.hostname, parts.port)
        for name in raw.tables():
            if name.startswith(prefix.encode()):
                raw.delete_table(name, disable=True)
        raw.close()


def _compared(backend: str, url: str) -> Report:
    partitions = sales_partitions()
    report = Report(f"Whole tables on {backend}", headings=(f"{len(partitions):,}", f"{SMALL:,}"))
    with connect(url) as store:
        for name, some in (("large", partitions), ("small", partitions[:SMALL])):
            load(store, sales_table(name), some)

        def both(title: str, call: str, target: str = "", runs: int = ROUNDS) -> None:
            act = getattr(_Table, call)
            large, small = _Table(store, "large"), _Table(store, "small")
            report.compare(title, lambda _: act(large), lambda _: act(small), target=target, runs=runs)

        both("names of all partitions", "names")
        both("all partitions", "list")
        both("rename, there and back", "rename", "20 ms each on SQLite, 50 on HBase")
        both("alter with all partitions", "cascade")
        both("names after that", "names")
        both("all partitions after that", "list")
        both("one partition after that", "get")
        _drop(report, store)
    return report


def _drop(report: Report, store: PartitionStore) -> None:
    took = {name: seconds(store.drop_table, "bench", name) for name in ("large", "small")}
    report.compare("drop, until the call returns", lambda _: None, target="20 ms on SQLite, 50 on HBase", runs=1)
    report.figures[-1].ours, report.figures[-1].reference = took["large"], took["small"]
    began = time.perf_counter()
    store.repair_catalog()
    report.figures[-1].note = f"its rows are gone after {time.perf_counter() - began:.1f} s"


class _Table:
    def __init__(self, store: PartitionStore, name: str) -> None:
        self._store = store
        self._name = name

    def names(self) -> None:
        self._store.partition_names("bench", self._name)

    def list(self) -> None:
        self._store.get_partitions_by_filter("bench", self._name, None)

    def get(self) -> None:
        self._store.get_partition("bench", self._name, ("2013-01-02", "5", "r07"))

    def rename(self) -> None:
        table = self._store.get_table("bench", self._name)
        other = replace(table, name=f"{self._name}_2", location=f"{table.location}_2")
        self._store.rename_table("bench", self._name, other, relocated=(table.location or "", other.location or ""))
        self._store.rename_table("bench", other.name, table, relocated=(other.location or "", table.location or ""))

    def cascade(self) -> None:
        table = self._store.get_table("bench", self._name)
        self._store.alter_table(replace(table, columns=table.columns[::-1]), cascade=True)
