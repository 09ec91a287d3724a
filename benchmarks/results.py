"""Fetching results of queries: each format from Parquet files as Spark writes them, beside what is simplest to write.

Both sides read the same files. The simplest is: Python's json row by row, pyarrow's own writers of CSV and of streams.
Pages of HiveServer2's protocol are made of columns in memory, beside loops over their values.
"""

from __future__ import annotations

import io
import json
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from benchmarks.timing import Report
from hbstore.hiveserver2.row_sets import row_set
from hbstore.query_service.formats import arrow, csv, json_page, ndjson
from hbstore.query_service.page_tokens import Position
from hbstore.query_service.query import ResultColumn
from hbstore.query_service.results import Results

ROWS: Final = 1_000_000
FILES: Final = 4
RUNS: Final = 3
PAGE: Final = 1_000
ROW_SET: Final = 10_000
ID: Final = "5f" * 16
TYPES: Final = {
    "id": "bigint",
    "customer": "string",
    "price": "decimal(22,2)",
    "weight": "double",
    "day": "date",
    "sold": "timestamp",
    "paid": "boolean",
}
COLUMNS: Final = [ResultColumn(name=name, type=kind) for name, kind in TYPES.items()]


def run() -> Iterator[Report]:
    """The tables."""
    with tempfile.TemporaryDirectory() as root:
        results = Results(root)
        table = _table()
        size = _write(Path(root) / ID, table)
        yield _formats(results, size)
        yield _pages(results)
        yield _row_sets()


def _formats(results: Results, size: int) -> Report:
    report = Report(f"Results: {ROWS:,} rows of {len(COLUMNS)} columns, {size / 1e6:.0f} MB of Parquet; rows a second")

    def tables() -> Iterator[pa.Table]:
        for file in sorted((Path(results.location(ID).removeprefix("file:"))).glob("part-*")):
            for batch in parquet.ParquetFile(file).iter_batches(8_192):
                yield pa.Table.from_batches([batch])

    def batches() -> Iterator[pa.RecordBatch]:
        return (batch for batch, _ in results.batches(ID))

    def rows() -> Iterator[tuple[Any, ...]]:
        for one in tables():
            yield from zip(*(column.to_pylist() for column in one.columns), strict=True)

    both: list[tuple[str, Callable[[], Iterable[bytes]], Callable[[], Iterable[object]]]] = [
        ("reading alone", lambda: (b"" for _ in batches()), tables),
        ("json", lambda: json_page(COLUMNS, results.batches(ID), str), lambda: (_dumped(list(row)) for row in rows())),
        (
            "ndjson",
            lambda: ndjson(COLUMNS, batches()),
            lambda: (_dumped(dict(zip(TYPES, row, strict=True))) for row in rows()),
        ),
        ("csv", lambda: csv(COLUMNS, batches()), lambda: (arrow_csv.write_csv(one, io.BytesIO()) for one in tables())),
        ("arrow", lambda: arrow(COLUMNS, batches()), lambda: [_stream(tables())]),
    ]
    for name, ours, reference in both:
        written = sum(map(len, ours()))
        note = f"{written / 1e6:.0f} MB"

        def drain(_: int, ours: Callable[[], Iterable[bytes]] = ours) -> None:
            _drained(ours())

        def drain_reference(_: int, reference: Callable[[], Iterable[object]] = reference) -> None:
            _drained(reference())

        report.compare(name, drain, drain_reference, target="", runs=RUNS, rows=ROWS, note=note)
    return report


def _pages(results: Results) -> Report:
    report = Report(f"A page of {PAGE:,} rows as JSON, by where it begins in a row group of {ROWS // FILES:,} rows")
    for name, row in (
        ("at its beginning", 0),
        ("in the middle", ROWS // FILES // 2),
        ("at its end", ROWS // FILES - PAGE),
    ):

        def page(_: int, row: int = row) -> None:
            _drained(json_page(COLUMNS, results.batches(ID, start=Position(1, row), rows=PAGE), str))

        report.compare(name, page, target="", runs=20)
    return report


def _row_sets() -> Report:
    columns = [ResultColumn(name=kind, type=kind) for kind in ("bigint", "double", "string", "timestamp")]
    random = np.random.default_rng(1)
    letters = np.frombuffer(random.bytes(20 * ROWS), "u1") % 26 + ord("a")
    texts = pa.FixedSizeBinaryArray.from_buffers(pa.binary(20), ROWS, [None, pa.py_buffer(letters)])
    arrays = [
        pa.array(random.integers(0, 2**40, ROWS)),
        pa.array(random.random(ROWS)),
        texts.cast(pa.binary()).cast(pa.string()),
        pa.array(random.integers(10**15, 2 * 10**15, ROWS)).cast(pa.timestamp("us", "UTC")),
    ]
    pages = [[one.slice(first, ROW_SET) for one in arrays] for first in range(0, ROWS, ROW_SET)]
    size = sum(len(row_set(0, columns, page, "UTC")) for page in pages)
    report = Report(f"HiveServer2: {ROWS:,} rows in pages of {ROW_SET:,}, {size / 1e6:.0f} MB; rows a second")
    for zone in ("UTC", "Europe/Berlin"):

        def ours(_: int, zone: str = zone) -> None:
            _drained(row_set(0, columns, page, zone) for page in pages)

        def loops(_: int, zone: str = zone) -> None:
            _drained(_looped(page, ZoneInfo(zone)) for page in pages)

        report.compare(f"timestamps in {zone}", ours, loops, target="", runs=RUNS, rows=ROWS)
    return report


def _looped(page: Sequence[pa.Array], zone: ZoneInfo) -> list[bytes]:
    """The values of columns, one by one."""
    numbers, doubles, texts, moments = (column.to_pylist() for column in page)
    encoded = [text.encode() for text in [*texts, *(str(one.astimezone(zone).replace(tzinfo=None)) for one in moments)]]
    return [
        *(struct.pack(">q", one) for one in numbers),
        *(struct.pack(">d", one) for one in doubles),
        *(len(text).to_bytes(4, "big") + text for text in encoded),
    ]


def _table() -> pa.Table:
    random = np.random.default_rng(1)
    cents = pa.array(random.integers(0, 10**8, ROWS)).cast(pa.decimal128(19, 0))
    columns = [
        pa.array(np.arange(ROWS)),
        pa.array(np.char.add("customer ", random.integers(0, 10**6, ROWS).astype(str))),
        cents.cast(pa.decimal128(22, 2)),
        pa.array(random.random(ROWS)),
        pa.array(random.integers(0, 20_000, ROWS).astype("int32")).cast(pa.date32()),
        pa.array(random.integers(0, 2 * 10**15, ROWS)).cast(pa.timestamp("us", "UTC")),
        pa.array(random.random(ROWS) < 0.5),
    ]
    return pa.table(columns, names=[f"c{at}" for at in range(len(columns))])


def _write(folder: Path, table: pa.Table) -> int:
    """Files of one row group each, as Spark writes results of this size."""
    folder.mkdir()
    ends = [ROWS * at // FILES for at in range(FILES + 1)]
    for number, (first, end) in enumerate(pairwise(ends)):
        part = table.slice(first, end - first)
        parquet.write_table(part, folder / f"part-{number:05}.snappy.parquet", row_group_size=ROWS, store_schema=False)
    (folder / "_SUCCESS").touch()
    return sum(file.stat().st_size for file in folder.iterdir())


def _stream(tables: Iterable[pa.Table]) -> bytes:
    sink, writer = io.BytesIO(), None
    for table in tables:
        writer = writer or pa.ipc.new_stream(sink, table.schema)
        writer.write_table(table)
    return sink.getvalue()


def _dumped(row: object) -> str:
    return json.dumps(row, default=str)


def _drained(chunks: Iterable[object]) -> None:
    for _ in chunks:
        pass
