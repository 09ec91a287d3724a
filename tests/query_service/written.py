"""Results as Spark writes them: part files of several row groups, with what else lies in such a folder."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pyarrow as pa
from pyarrow import parquet

from hbstore.query_service.results import Results

ID = "0123456789abcdef" * 2
JOB = "3f1c0f5e-8f5f-4c55-a3a5-0a0d5a3f6d07"


def parquet_bytes(table: pa.Table, row_group: int = 100, *, int96: bool = False) -> bytes:
    """A file as Spark writes it: Snappy, and nothing of Arrow's own schema in it."""
    sink = io.BytesIO()
    parquet.write_table(
        table,
        sink,
        row_group_size=row_group,
        compression="snappy",
        store_schema=False,
        use_deprecated_int96_timestamps=int96,
    )
    return sink.getvalue()


def part(number: int) -> str:
    return f"part-{number:05}-{JOB}-c000.snappy.parquet"


def write(here, results: Results, files: Sequence[bytes], id_: str = ID, *, complete: bool = True) -> None:
    """A folder of a result.

    Args:
        here: a world of tests/files/warehouses.py.
        results: where.
        files: the content of each part file.
        id_: the query's id.
        complete: whether Spark has finished.
    """
    location = results.location(id_)
    for number, content in reversed(list(enumerate(files))):
        here.write(f"{location}/{part(number)}", content)
        here.write(f"{location}/.{part(number)}.crc", b"crc")
    here.write(f"{location}/_temporary/0/{part(99)}", parquet_bytes(pa.table({"c0": [-1]})))
    if complete:
        here.write(f"{location}/_SUCCESS", b"")


def numbers(first: int, count: int) -> pa.Table:
    """Rows that tell where they are: a number and a text."""
    values = range(first, first + count)
    return pa.table(
        {"c0": pa.array(values, pa.int64()), "c1": pa.array([f"row {value}" for value in values], pa.string())}
    )


def sized(counts: Sequence[int], row_group: int = 100) -> list[bytes]:
    """Files of so many rows each, numbered through."""
    firsts = [sum(counts[:at]) for at in range(len(counts))]
    return [parquet_bytes(numbers(*one), row_group) for one in zip(firsts, counts, strict=True)]
