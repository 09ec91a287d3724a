"""The examples in docstrings that need Spark; pytest leaves those out where it collects others."""

from __future__ import annotations

import doctest
import json
from importlib import import_module
from pkgutil import walk_packages

import pytest

import hbstore
import hbstore.spark
from hbstore import Column, Partition, Table, connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from tests.examples import uses
from tests.spark.written_rows import write_rows

EXAMPLES = [
    test
    for module in walk_packages(hbstore.spark.__path__, "hbstore.spark.")
    for test in doctest.DocTestFinder().find(import_module(module.name))
    if uses("spark", test.examples)
]
CUBE = """
kind: storage
name: lake
---
kind: cube
name: sold
time_dimensions: {{day: ds}}
measures: [{{name: amount, type: double, default_aggregate: sum}}]
dim_attributes: [{{name: day, type: timestamp}}]
---
kind: fact
name: daily
cube: sold
columns: [{{name: amount, type: double}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: ds, type: string}}]
    time_partition_columns: [ds]
    description: {{location: "file:{folder}/daily", format: parquet}}
"""


@pytest.fixture
def names(spark, url, tmp_path):
    """What examples go on from: shop.sales with three partitions of a row each, a cube of them, and a file."""
    with connect(url) as store:
        store.create_database("shop")
        parameters = {
            "spark.sql.sources.provider": "parquet",
            "cube.storagetable.time.partcols": "ds",
            "cube.storagetable.update.periods": "DAILY",
        }
        columns = [Column("ds", "date"), Column("hour", "int")], [Column("amount", "double")]
        store.create_table(Table("shop", "sales", *columns, location=f"file:{tmp_path}/sales", parameters=parameters))
        Cubes(store, "shop").create_all(parse_documents(CUBE.format(folder=tmp_path), "yaml"))
        for amount, ds, hour in ((1.0, "2013-01-01", 0), (2.0, "2013-01-01", 1), (3.0, "2013-01-02", 5)):
            write_rows(tmp_path / f"sales/ds={ds}/hour={hour}", [(amount,)], amount="float64")
            store.add_partitions("shop", "sales", [Partition((ds, str(hour)))])
        for ds, amounts in (("2013-01-01", [(1.0,), (2.0,)]), ("2013-01-02", [(3.0,)])):
            write_rows(tmp_path / f"daily/ds={ds}", amounts, amount="float64")
            Cubes(store, "shop").add_partitions("daily", "lake", [PartitionDesc("DAILY", {"ds": ds})])
        (tmp_path / "incoming").mkdir()
        (tmp_path / "incoming/1.json").write_text(json.dumps({"amount": 5.0, "ds": "2013-01-04", "hour": 0}))
        yield {"spark": spark, "store": store, "url": url, "folder": tmp_path}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_runs(names, example):
    example.globs.update(names)
    said = []
    doctest.DocTestRunner().run(example, out=said.append)
    assert said == []


def test_the_examples_are_those_of_most_functions():
    assert len(EXAMPLES) >= 11
