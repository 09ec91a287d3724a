"""What the functions of hbstore.spark are given: what is of another type is named, before anything is done."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from hbstore import Column, Table, connect
from hbstore.errors import InvalidInput
from hbstore.spark import (
    PartitionCommit,
    analyze_table,
    folders_frame,
    pruned_read,
    read_table,
    rebuild_timelines,
    register_partitions,
    register_source,
    sql,
    stream_to_table,
    write_batch,
    write_table,
)

FUNCTIONS = {
    one.__name__: one
    for one in (
        analyze_table,
        folders_frame,
        pruned_read,
        read_table,
        rebuild_timelines,
        register_partitions,
        register_source,
        sql,
        stream_to_table,
        write_batch,
        write_table,
    )
}
WRONG = {
    "read_table": {
        "spark": [None],
        "store": [None, Path("catalog.db"), ""],
        "table": [("shop", "sales"), None, "", Path("shop.sales")],
        "filter": [{"ds": "2013-01-01"}, ("ds = 'a'",), 5, b"ds = 'a'"],
        "options": ["mergeSchema", {"mergeSchema": True}, [("a", "b")]],
    },
    "write_table": {
        "frame": [None, [(1, "a")]],
        "store": [None, {}],
        "table": [None, {"shop": "sales"}, ""],
        "static": ["ds=a", [("ds", "a")], {1: "a"}],
        "writer": [["single"], ""],
        "parameters": [{"a": 1}, "a"],
    },
    "stream_to_table": {
        "stream": [None],
        "store": [Path("/catalog.db")],
        "table": [None],
        "checkpoint": ["", None, Path("/checkpoint")],
        "static": [("ds", "a")],
        "sink_id": ["", 5],
        "trigger": ["1 minute", {"often": True}, {"processingTime": 5}],
        "parameters": [{"a": None}],
    },
    "write_batch": {"query_id": [None, ""], "batch_id": ["1", None, True], "frame": [None]},
    "analyze_table": {
        "spark": [None],
        "store": [5],
        "table": [b"shop.sales"],
        "filter": [{"ds": "a"}],
        "columns": ["id", b"id", {"id": 1}, [1], ""],
        "only_missing": ["no"],
        "progress": ["bar"],
        "batch": ["7", None],
    },
    "rebuild_timelines": {
        "spark": [None],
        "url": [None, Path("/catalog.db"), ""],
        "table": [("shop", "sales"), None, ""],
        "slices": ["8"],
    },
    "register_partitions": {
        "partitions": [None],
        "url": [None],
        "table": [("shop", "sales"), None, ""],
        "batch": ["7"],
        "if_not_exists": ["no"],
    },
    "pruned_read": {"store": [None, "catalog.db"], "table": [None, ""], "filter": [5]},
    "folders_frame": {"spark": [None], "root": [None, 5, ""], "columns": [None, "ds", 5]},
    "register_source": {"spark": [None, "local"]},
    "sql": {"spark": [None], "text": [None, ["SHOW TABLES"], ""], "store": [5, ""], "warehouse": [Path("/data"), ""]},
}


@pytest.fixture(scope="module")
def given(spark, tmp_path_factory):
    """Right arguments for all functions, and the store's partitions."""
    folder = tmp_path_factory.mktemp("arguments")
    url = f"sqlite://{folder}/catalog.db"
    with connect(url) as store:
        store.create_database("shop")
        parameters = {"spark.sql.sources.provider": "parquet"}
        columns = [Column("ds", "string")], [Column("id", "bigint")]
        store.create_table(Table("shop", "sales", *columns, location=f"file:{folder}/sales", parameters=parameters))
        (folder / "source").mkdir()
        frame = spark.createDataFrame([(1, "a")], "id long, ds string")
        stream = spark.readStream.schema("id long, ds string").json(f"{folder}/source")
        into = {"store": store, "table": "shop.sales"}
        by_url = {"url": url, "table": "shop.sales"}
        batch = {"query_id": "q", "batch_id": 0}
        arguments = {
            "read_table": {"spark": spark, **into},
            "write_table": {"frame": frame, **into},
            "stream_to_table": {"stream": stream, "checkpoint": f"{folder}/checkpoint", **into},
            "write_batch": {"frame": frame, **into, **batch},
            "analyze_table": {"spark": spark, **into},
            "rebuild_timelines": {"spark": spark, **by_url},
            "register_partitions": {"partitions": frame.select("ds"), **by_url},
            "pruned_read": into,
            "folders_frame": {"spark": spark, "root": f"{folder}/source", "columns": ["ds"]},
            "register_source": {"spark": spark},
            "sql": {"spark": spark, "text": "SHOW PARTITIONS shop.sales", "store": store},
        }
        yield arguments, lambda: store.partition_names("shop", "sales")


@pytest.mark.parametrize(
    ("function", "argument", "value"),
    [(function, name, value) for function, wrong in WRONG.items() for name, some in wrong.items() for value in some],
)
def test_a_wrong_argument_is_named_and_nothing_is_done(given, function, argument, value):
    arguments, partitions = given
    with pytest.raises(InvalidInput) as raised:
        FUNCTIONS[function](**{**arguments[function], argument: value})
    assert raised.value.fields["argument"] == argument
    assert raised.value.hint
    assert partitions() == []


@pytest.mark.parametrize("name", ["sales", "shop.sales.a", "."])
@pytest.mark.parametrize("function", ["rebuild_timelines", "register_partitions", "read_table", "write_table"])
def test_a_table_is_named_with_its_database(given, function, name):
    arguments, partitions = given
    with pytest.raises(InvalidInput, match=r"not a table name.*Write it as database\.table"):
        FUNCTIONS[function](**{**arguments[function], "table": name})
    assert partitions() == []


@pytest.mark.parametrize(
    ("commit", "argument"),
    [
        ("process-time", "commit"),
        (PartitionCommit(delay=3600), "delay"),
        (PartitionCommit(policies="metastore"), "policies"),
        (PartitionCommit("partition-time", timedelta(0), 5), "extractor"),
    ],
)
def test_a_wrong_commit_is_named(given, commit, argument):
    arguments, _ = given
    with pytest.raises(InvalidInput) as raised:
        stream_to_table(**arguments["stream_to_table"], commit=commit)
    assert raised.value.fields["argument"] == argument
