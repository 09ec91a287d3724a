"""HBase: hbstore beside happybase on the same server and rows."""

from __future__ import annotations

import time
import uuid
from urllib.parse import urlsplit

import happybase

from benchmarks.data import BATCH, Filters, load, sales_partitions, sales_table
from benchmarks.timing import Report
from hbstore import Column, Partition, PartitionStore, Table, connect


def run(url: str) -> list[Report]:
    """The figures on the HBase of a URL; tables with a prefix of their own are made and removed."""
    prefix = f"bench_{uuid.uuid4().hex[:8]}"
    parts = urlsplit(url)
    store = connect(f"hbase://{parts.hostname}:{parts.port}/{prefix}")
    raw = happybase.Connection(parts.hostname, parts.port, timeout=60_000, transport="buffered", protocol="binary")
    try:
        added = load(store, sales_table(), sales_partitions())
        size = len(store.get_partitions_by_filter("bench", "sales", None, 1)[0].payload or b"")
        report = Report(f"HBase: 100,000 partitions, payloads of {size} bytes; raw = happybase on the same rows")
        table = raw.table(f"{prefix}_partitions")
        _reads(report, store, table)
        _skip_scan(report, store, table)
        report.rate(
            f"add_partitions in batches of {BATCH:,}",
            added,
            _raw_put(raw, table, prefix),
            target="5,000 /s",
            note="raw: puts",
        )
        return [report]
    finally:
        store.close()
        for name in raw.tables():
            if name.startswith(prefix.encode()):
                raw.delete_table(name, disable=True)
        raw.close()


def _reads(report: Report, store: PartitionStore, table: happybase.Table) -> None:
    filters = Filters()
    points = [filters.point() for _ in range(300)]
    hundreds = [filters.hundred() for _ in range(300)]
    keys = {text: store.plan("bench", "sales", text).get_plans()[0] for text in (*points, *hundreds)}
    fresh = [Filters() for _ in range(4)]

    def ask(text: str | None) -> int:
        return len(store.get_partitions_by_filter("bench", "sales", text))

    def raw_scan(text: str) -> int:
        scan = table.scan(keys[text].start.key, keys[text].stop.key, columns=[b"p:p"])
        return sum(1 for _ in scan)

    report.compare(
        "point filter",
        lambda _: ask(fresh[0].point()),
        lambda at: table.row(keys[points[at]].start.key, columns=[b"p:p"]),
        target="3 x raw get",
    )
    report.compare(
        "100 contiguous hits",
        lambda _: ask(fresh[1].hundred()),
        lambda at: raw_scan(hundreds[at]),
        target="1.5 x raw scan",
    )
    report.compare(
        "200 ORed triples",
        lambda _: ask(fresh[2].triples()),
        lambda _: table.rows([keys[text].start.key for text in points[:200]], columns=[b"p:p"]),
        target="",
        runs=30,
        note="raw: one multi-get",
    )

    def raw_region(at: int) -> int:
        text = f"SingleColumnValueFilter('k','2',=,'binary:\x02r{at % 25:02d}\x00',true,true)".encode()
        scan = table.scan(
            b"bench\0sales\0", b"bench\0sales\1", columns=[b"p:p", b"k:2"], filter=text, batch_size=10_000
        )
        return sum(1 for _ in scan)

    report.compare(
        "region alone (third column), 4,000 hits",
        lambda at: ask(f"region = 'r{at % 25:02d}'"),
        raw_region,
        target="1.3 x raw scan",
        runs=12,
    )
    report.compare(
        "three ORed lists of 5,000 values, 4,384 hits",
        lambda _: ask(fresh[3].lists()),
        lambda _: sum(1 for _ in table.scan(b"bench\0sales\0", b"bench\0sales\1", batch_size=10_000)),
        target="must work",
        runs=5,
        note="raw: all rows",
    )


def _skip_scan(report: Report, store: PartitionStore, table: happybase.Table) -> None:
    visits = Table("bench", "visits", partition_columns=[Column("country", "string"), Column("day", "int")])
    load(store, visits, [Partition((f"c{one:02d}", str(day))) for one in range(20) for day in range(5_000)])
    explained = store.explain("bench", "visits", "day = 77", analyze=True).to_dict()
    note = f"{explained['scans'][0]['kind']}, {explained['rows_read']} rows read, {explained['rows_returned']} hits"

    def raw_day(at: int) -> int:
        value = (at * 7 % 5000 + (1 << 63)).to_bytes(8, "big").replace(b"'", b"''")
        text = b"SingleColumnValueFilter('k','1',=,'binary:\x02" + value + b"',true,true)"
        scan = table.scan(
            b"bench\0visits\0", b"bench\0visits\1", columns=[b"p:p", b"k:1"], filter=text, batch_size=10_000
        )
        return sum(1 for _ in scan)

    report.compare(
        "second column alone, 20 leading values",
        lambda at: store.get_partitions_by_filter("bench", "visits", f"day = {at * 7 % 5000}"),
        raw_day,
        target="skip scan where cheaper",
        runs=12,
        note=note,
    )


def _raw_put(raw: happybase.Connection, table: happybase.Table, prefix: str) -> float:
    """The same rows by happybase's batches into a table of the same families."""
    rows = list(table.scan(b"bench\0sales\0", b"bench\0sales\1", limit=20_000, batch_size=5_000))
    raw.create_table(f"{prefix}_raw", {"p": {"max_versions": 1}, "k": {"max_versions": 1}})
    target = raw.table(f"{prefix}_raw")
    began = time.perf_counter()
    for at in range(0, len(rows), BATCH):
        with target.batch() as batch:
            for key, cells in rows[at : at + BATCH]:
                batch.put(key, cells)
    return len(rows) / (time.perf_counter() - began)
