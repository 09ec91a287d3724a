"""SHOW PARTITIONS and DESCRIBE beside what Spark SQL 4 prints on its own metastore: spark_output.json.

Of DESCRIBE EXTENDED the names of the rows are compared, as its values are times and places.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbstore import Column, Table, connect
from hbstore.ddl import execute
from hbstore.model.objects import SerDe, StorageDescriptor

SPARK = json.loads((Path(__file__).parent / "spark_output.json").read_text(encoding="utf-8"))
ADD = (
    "ALTER TABLE p ADD PARTITION (ds = '2020-01-02', hr = 10) PARTITION (ds = '2020-01-01', hr = 9)"
    " PARTITION (ds = '2020-01-01', hr = 10) PARTITION (ds = 'a b/c=d%e', hr = -3) PARTITION (ds = NULL, hr = 1)"
    " PARTITION (ds = 'Z', hr = 1) PARTITION (ds = 'é', hr = 2)"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("warehouse")
    with connect("memory://") as store:
        store.create_database("d")
        columns = [Column("ds", "string"), Column("hr", "int", "of the day")]
        properties = {"b": "1", "a": "x"}
        storage = StorageDescriptor(
            input_format="MapredParquetInputFormat",
            output_format="MapredParquetOutputFormat",
            serde=SerDe(library="ParquetHiveSerDe", parameters={"serialization.format": "1"}),
        )
        store.create_table(
            Table(
                "d",
                "p",
                columns,
                [Column("x", "int", "a number")],
                location=f"file:{root}/p",
                parameters=properties,
                storage=storage,
            )
        )
        store.create_table(Table("d", "flat", (), [Column("x", "int"), Column("y z", "array<int>")]))
        execute(store, ADD, "d", str(root))
        yield store


@pytest.mark.parametrize("text", SPARK)
def test_ours_is_sparks(store, text):
    (result,) = execute(store, text, "d")
    if "EXTENDED" in text:
        assert [name for name, _, _ in result.rows] == SPARK[text]
    else:
        assert [list(row) for row in result.rows] == SPARK[text]
