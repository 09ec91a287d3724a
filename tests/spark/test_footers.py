"""Rows of files by their footers: on disks, and on file systems of hbstore's own opening."""

from __future__ import annotations

import uuid

import fsspec
import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from hbstore.spark.footers import row_counts

ROWS = pa.table({"n": list(range(5))})


@pytest.fixture
def write():
    """Writes five rows into a file of fsspec's memory; gives its location."""
    bucket = uuid.uuid4().hex
    memory = fsspec.filesystem("memory")
    memory.mkdir(f"/{bucket}")

    def write(name, writer=parquet):
        with memory.open(f"/{bucket}/{name}", "wb") as file:
            writer.write_table(ROWS, file)
        return f"memory://{bucket}/{name}"

    return write


def test_remote_files_say_how_many_rows_they_hold(write):
    names = ["plain.parquet", "ds=a%2Fb/part 1.parquet", "x#y?z.parquet"]
    assert row_counts("parquet", [write(name) for name in names]) == [5, 5, 5]
    assert row_counts("orc", [write("some.orc", orc)]) == [5]


def test_what_cannot_be_read_is_not_known(write, tmp_path):
    parquet.write_table(ROWS, tmp_path / "good.parquet")
    (tmp_path / "bad.parquet").write_text("this is no Parquet")
    files = [f"file:{tmp_path}/good.parquet", f"{tmp_path}/bad.parquet", f"{tmp_path}/none.parquet"]
    others = ["nosuch://bucket/x.parquet", write("plain.parquet") + ".gone", "no location"]
    assert row_counts("parquet", [*files, *others]) == [5, None, None, None, None, None]
    assert row_counts("csv", files) == [None, None, None]
