"""Folders that Arrow, DuckDB, pandas and Polars write: registered by the values that were written, where they are."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hbstore import NULL_PARTITION, Column, Partition, Table, col, connect
from hbstore.keys.types import parse_type, read_value
from hbstore.repair import sync_partitions

TEXTS = (
    *("café", "a b", " a", "a ", "x|y", "a/b", "a=b", "50%", "%41", "caf%C3%A9", "Ã©", "ü%C3", "a:b", "it's", 'q"q'),
    *(
        "null",
        "NULL",
        "None",
        "nan",
        "😀",
        "tab\t",
        "line\n",
        "\x7f",
        "a\\b",
        "{x}",
        "[x]^",
        "#?*",
        "a+b",
        "&",
        ".",
        "..",
    ),
)
VALUES = {
    "string": (*TEXTS, None),
    "date": (dt.date(2024, 1, 8), None),
    "timestamp": (dt.datetime(2024, 1, 8), dt.datetime(2024, 1, 8, 5, 6, 7, 120_000)),  # noqa: DTZ001  without a zone
    "bigint": (5, -7, None),
    "double": (1.0, 0.1, 1e20),
    "boolean": (True, False),
    "decimal(5,2)": (Decimal("1.50"), Decimal("-0.01"), None),
}


def with_pyarrow(table, folder):
    pq.write_to_dataset(table, folder, partition_cols=["p"])


def with_duckdb(table, folder):
    with duckdb.connect() as connection:
        connection.register("written", table)
        connection.execute(f"COPY written TO '{folder}' (FORMAT parquet, PARTITION_BY (p))")


def with_pandas(table, folder):
    table.to_pandas().to_parquet(folder, partition_cols=["p"])


def with_polars(table, folder):
    pl.from_arrow(table).write_parquet(f"{folder}/", partition_by=["p"])


writers = pytest.mark.parametrize("write", [with_pyarrow, with_duckdb, with_pandas, with_polars])


@pytest.fixture
def repaired(tmp_path):
    """Writes values by a writer, and repairs a table of their folders: the repair, and the store."""
    with connect("memory://") as store:
        store.create_database("shop")

        def repair(write, kind, values):
            folder = tmp_path / "written"
            write(pa.table({"row": range(len(values)), "p": pa.array(values)}), str(folder))
            store.create_table(Table("shop", "t", [Column("p", kind)], location=f"file:{folder}"))
            return sync_partitions(store, "shop.t"), store

        yield repair


def rows_at(partition):
    """The rows of the files in a partition's folder."""
    files = Path(partition.location.removeprefix("file:")).iterdir()
    return [row for file in files for row in pq.ParquetFile(file).read(["row"]).column(0).to_pylist()]


@writers
@pytest.mark.parametrize("kind", VALUES)
def test_partitions_have_the_values_that_were_written_and_are_where_their_rows_are(repaired, write, kind):
    values = VALUES[kind]
    repair, store = repaired(write, kind, values)
    assert (repair.foreign, repair.added) == ((), len(values))
    for row, value in enumerate(values):
        (partition,) = store.table("shop.t").partitions(col("p").is_null() if value is None else col("p") == value)
        assert rows_at(partition) == [row]
        if kind == "string":
            assert partition.values == (value or NULL_PARTITION,)
    again = sync_partitions(store, "shop.t")
    assert (again.add, again.drop, again.foreign) == ((), (), ())


@writers
@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [("date", dt.datetime(2024, 1, 8), dt.date(2024, 1, 8)), ("int", 9.0, 9)],  # noqa: DTZ001
)
def test_folders_of_another_type_are_partitions_of_what_engines_read(repaired, write, kind, value, read):
    repair, _ = repaired(write, kind, [value])
    (partition,) = repair.add
    assert read_value(parse_type(kind), partition.values[0]) == read
    assert rows_at(partition) == [0]


@writers
def test_the_empty_text_is_not_the_null_partition(repaired, write):
    repair, store = repaired(write, "string", ["", None])
    assert [(one.folder, one.why) for one in repair.foreign] == [("p=", "no value")]
    assert [rows_at(partition) for partition in store.table("shop.t").partitions()] == [[1]]


@pytest.mark.parametrize(
    ("text", "spelling"), [("cafÃ©", "file:{}"), ("other", "file:{}"), ("other", "file://{}"), ("other", "{}//.")]
)
def test_a_folder_that_holds_another_partition_is_not_registered_again(tmp_path, text, spelling):
    """Spark's MSCK takes each escaped byte for a character."""
    (tmp_path / "p=caf%C3%A9").mkdir()
    with connect("memory://") as store:
        store.create_database("shop")
        store.create_table(Table("shop", "t", [Column("p", "string")], location=f"file:{tmp_path}"))
        store.add_partitions("shop", "t", [Partition([text], location=spelling.format(f"{tmp_path}/p=caf%C3%A9"))])
        repair = sync_partitions(store, "shop.t", "sync")
        assert (repair.add, repair.drop) == ((), ())
        (foreign,) = repair.foreign
        assert foreign.folder == "p=caf%C3%A9"
        assert f"p={text}" in foreign.why
        store.drop_partitions("shop", "t", [[text]])
        assert sync_partitions(store, "shop.t").names(store.table("shop.t").partitions()) == ["p=café"]
