"""Selected partitions as tables of Arrow, pandas and polars: types, nulls, names; and packages that are not there."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pyarrow as pa
import pytest

import hbstore.extras
from hbstore import Column, MissingPackage, Partition, Table, connect

TYPES = {
    "tinyint": (pa.int8(), 5),
    "smallint": (pa.int16(), 5),
    "int": (pa.int32(), 5),
    "bigint": (pa.int64(), 5),
    "string": (pa.string(), "eu"),
    "varchar(5)": (pa.string(), "eu"),
    "date": (pa.date32(), dt.date(2013, 1, 1)),
    "timestamp": (pa.timestamp("us"), dt.datetime.fromisoformat("2013-01-01 05:00:00.12")),
    "boolean": (pa.bool_(), True),
    "decimal(10,2)": (pa.decimal128(10, 2), Decimal("5.50")),
    "float": (pa.float32(), 0.5),
    "double": (pa.float64(), 0.1),
}
OWN = ["location", "create_time", "num_rows", "total_size", "num_files"]


@pytest.fixture
def table():
    """A table with a column of each type."""
    with connect("memory://") as store:
        store.create_database("d")
        keys = [Column(f"p{at}", name) for at, name in enumerate(TYPES)]
        store.create_table(Table("d", "t", partition_columns=keys, location="s3://d/t"))
        yield store.table("d.t")


def test_values_have_the_types_of_their_columns(table):
    table.add([[value for _, value in TYPES.values()], [None] * len(TYPES)])
    rows = table.partitions().to_arrow()
    assert rows.schema.types[: len(TYPES)] == [kind for kind, _ in TYPES.values()]
    assert rows.column_names[len(TYPES) :] == OWN
    null, full = (list(row.values())[: len(TYPES)] for row in rows.to_pylist())
    assert null == [None] * len(TYPES)
    assert full == [value for _, value in TYPES.values()]


def test_none_has_the_same_schema(table):
    nothing = table.partitions()
    assert (len(nothing), nothing.to_arrow().num_rows) == (0, 0)
    empty = nothing.to_arrow().schema
    table.add([[None] * len(TYPES)])
    assert table.partitions().to_arrow().schema == empty
    assert list(nothing.to_pandas().columns) == empty.names


def test_what_partitions_say_stands_behind_their_values():
    with connect("memory://") as store:
        store.create_database("d")
        store.create_table(Table("d", "t", partition_columns=[Column("Location", "int")], location="s3://d/t"))
        table = store.table("d.t")
        said = {"numRows": "7", "totalSize": "-1", "numFiles": "many"}
        table.add([Partition([5], parameters=said, create_time=60)])
        table.add([Partition(["five"], location="s3://elsewhere")], invalid_values="keep")
        first, second = table.partitions().to_arrow().to_pylist()
        assert first == {
            "Location": 5,
            "hbstore_location": "s3://d/t/Location=5",
            "create_time": dt.datetime(1970, 1, 1, 0, 1, tzinfo=dt.UTC),
            "num_rows": 7,
            "total_size": None,
            "num_files": None,
        }
        assert (second["Location"], second["hbstore_location"]) == (None, "s3://elsewhere")
        frame = table.partitions("Location = 5").to_pandas()
        assert frame["num_rows"].tolist() == [7]


def test_polars_has_the_same_rows(table):
    pytest.importorskip("polars")
    table.add([[value for _, value in TYPES.values()], [None] * len(TYPES)])
    selected = table.partitions()
    assert [tuple(row.values()) for row in selected.to_arrow().to_pylist()] == selected.to_polars().rows()


@pytest.mark.parametrize(
    ("missing", "method", "hint"),
    [("pyarrow", "to_arrow", "client"), ("pandas", "to_pandas", "pandas"), ("polars", "to_polars", "polars")],
)
def test_a_package_that_is_not_there_is_named(table, monkeypatch, missing, method, hint):
    there = hbstore.extras.find_spec
    monkeypatch.setattr(hbstore.extras, "find_spec", lambda name: None if name == missing else there(name))
    with pytest.raises(MissingPackage, match=missing) as caught:
        getattr(table.partitions(), method)()
    assert hint in caught.value.hint


def test_a_plan_is_json(table):
    document = table.plan("p0 = 5 and p1 != 3").to_dict()
    assert json.loads(json.dumps(document)) == document == table.plan("p0 = 5 and p1 != 3").to_dict()
    assert [list(scan) for scan in document["scans"]] == [["kind", "start", "stop", "range", "residual"]] * 2
    assert document["scans"] == table.explain("p0 = 5 and p1 != 3").to_dict()["scans"]
    assert table.plan("p0 = 1 and p0 = 2").to_dict() == {"scans": []}
