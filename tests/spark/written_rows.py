"""Files of a few rows without Spark: a job that writes them costs more than most queries of the rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import parquet


def write_rows(folder, rows, **columns):
    """Put a Parquet file with these rows into a folder, whose columns are given as name="type", as PyArrow has it."""
    folder.mkdir(parents=True, exist_ok=True)
    values = zip(*rows, strict=True)
    table = pa.table({name: pa.array(of, kind) for (name, kind), of in zip(columns.items(), values, strict=True)})
    parquet.write_table(table, folder / "rows.parquet")


def rows_of_files(partition, column):
    """The values of a column in the files of a partition that readers see."""
    files = Path(partition.location.removeprefix("file:")).glob("[!._]*")
    return [value for file in files for value in parquet.ParquetFile(file).read()[column].to_pylist()]
