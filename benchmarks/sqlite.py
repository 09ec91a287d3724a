"""SQLite: hbstore beside plain SQL on the same file."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.data import BATCH, Filters, batches, load, sales_partitions, sales_table
from benchmarks.timing import WARM_UP, Report
from hbstore import Column, Partition, PartitionStore, Table, connect
from hbstore.plans.scan_plan import ScanPlan

_RANGE = "SELECT key, payload FROM partitions WHERE key >= ? AND key < ?"
_GET = "SELECT key, payload FROM partitions WHERE key = ?"


def run() -> list[Report]:
    """The figures on SQLite."""
    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as folder:
        path = Path(folder) / "catalog.db"
        store = connect(f"sqlite://{path}")
        partitions = sales_partitions()
        added = load(store, sales_table(), partitions)
        size = len(store.get_partitions_by_filter("bench", "sales", None, 1)[0].payload or b"")
        report = Report(f"SQLite: 100,000 partitions, payloads of {size} bytes; raw = plain SQL on the same file")
        raw = sqlite3.connect(path)
        raw.execute("PRAGMA mmap_size = 1073741824")
        _reads(report, store, raw)
        _skip_scan(report, store)
        raw_rate = _raw_insert(Path(folder) / "raw.db", raw)
        report.rate(f"add_partitions in batches of {BATCH:,}", added, raw_rate, target="20,000 /s")
        raw.close()
        store.close()
    return [report]


def _only_scan(store: PartitionStore, text: str) -> ScanPlan:
    scans = store.plan("bench", "sales", text).get_plans()
    assert len(scans) == 1, text
    return scans[0]


def _reads(report: Report, store: PartitionStore, raw: sqlite3.Connection) -> None:
    filters = Filters()

    def ask(text: str | None) -> int:
        return len(store.get_partitions_by_filter("bench", "sales", text))

    def raw_get(text: str) -> int:
        return len(raw.execute(_GET, (_keys[text].start.key,)).fetchall())

    def raw_range(text: str) -> int:
        return len(raw.execute(_RANGE, (_keys[text].start.key, _keys[text].stop.key)).fetchall())

    points = [filters.point() for _ in range(400)]
    hundreds = [filters.hundred() for _ in range(400)]
    _keys = {text: _only_scan(store, text) for text in (*points, *hundreds)}
    new_points = _unseen(Filters().point, 200)
    new_hundreds = _unseen(Filters().hundred, 200)
    new_triples = _unseen(filters.triples, 50)
    report.compare(
        "point filter, new literals", lambda _: ask(next(new_points)), lambda at: raw_get(points[at]), target="0.5 ms"
    )
    report.compare("point filter, seen before", lambda _: ask(points[0]), lambda _: raw_get(points[0]), target="")
    report.compare(
        "100 contiguous hits, new literals",
        lambda _: ask(next(new_hundreds)),
        lambda at: raw_range(hundreds[at]),
        target="2.5 x raw",
    )
    report.compare(
        "100 contiguous hits, seen before",
        lambda _: ask(hundreds[0]),
        lambda _: raw_range(hundreds[0]),
        target="2.5 x raw",
    )
    report.compare(
        "200 ORed triples, new literals",
        lambda _: ask(next(new_triples)),
        lambda _: [raw.execute(_GET, (_keys[text].start.key,)).fetchall() for text in points[:200]],
        target="8 ms",
        runs=50,
        note="raw: 200 gets",
    )
    start, stop = b"bench\0sales\0", b"bench\0sales\1"
    report.compare(
        "region alone (third column), 4,000 hits",
        lambda at: ask(f"region = 'r{at % 25:02d}'"),
        lambda at: len(raw.execute(f"{_RANGE} AND k2 = ?", (start, stop, b"\x02r%02d\0" % (at % 25))).fetchall()),
        target="15 ms",
        runs=30,
    )
    report.compare(
        "all 100,000",
        lambda _: ask(None),
        lambda _: len(raw.execute(_RANGE, (start, stop)).fetchall()),
        target="",
        runs=5,
    )
    report.compare(
        "all names",
        lambda _: len(store.partition_names("bench", "sales")),
        lambda _: len(raw.execute(_RANGE, (start, stop)).fetchall()),
        target="",
        runs=5,
        note="raw: read all rows",
    )


def _unseen(make: Callable[[], str], runs: int) -> Iterator[str]:
    """Texts for so many runs and those that warm up, made before the clock is started."""
    return iter([make() for _ in range(runs + WARM_UP)])


def _skip_scan(report: Report, store: PartitionStore) -> None:
    """100,000 partitions whose leading column has 20 values, filtered on the second alone: 20 hits."""
    table = Table("bench", "visits", partition_columns=[Column("country", "string"), Column("day", "int")])
    load(store, table, [Partition((f"c{one:02d}", str(day))) for one in range(20) for day in range(5_000)])
    explained = store.explain("bench", "visits", "day = 77", analyze=True).to_dict()
    note = f"{explained['scans'][0]['kind']}, {explained['rows_read']} rows read, {explained['rows_returned']} hits"
    report.compare(
        "second column alone, 20 leading values",
        lambda at: store.get_partitions_by_filter("bench", "visits", f"day = {at * 7 % 5000}"),
        target="2 ms, 60 rows read",
        note=note,
    )


def _raw_insert(path: Path, source: sqlite3.Connection) -> float:
    """The same rows into the same table by plain SQL, in the same batches and with the same durability."""
    rows = source.execute(
        "SELECT key, k0, k1, k2, payload FROM partitions WHERE key < ?", (b"bench\0sales\1",)
    ).fetchall()
    raw = sqlite3.connect(path, isolation_level=None)
    raw.executescript(
        "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE partitions (key BLOB PRIMARY KEY, k0 BLOB, k1 BLOB, k2 BLOB, payload BLOB) WITHOUT ROWID"
    )
    began = time.perf_counter()
    for batch in batches(rows):
        raw.execute("BEGIN IMMEDIATE")
        raw.executemany("INSERT INTO partitions VALUES (?, ?, ?, ?, ?)", batch)
        raw.execute("COMMIT")
    seconds = time.perf_counter() - began
    raw.close()
    return len(rows) / seconds
