"""Cube queries read the columns that they name: what stands in others keeps no query from being answered."""

from __future__ import annotations

import pytest

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from hbstore.errors import InvalidInput
from hbstore.spark import cube

MODEL = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {{start_time: dt}}
measures: [{{name: fare, type: bigint, default_aggregate: sum}}]
dim_attributes:
  - {{name: start_time, type: timestamp}}
  - {{name: stops, type: "array<int>"}}
  - {{name: city_id, type: int}}
join_chains: [{{name: city, paths: [["rides.city_id = city.id"]]}}]
---
kind: dimension
name: city
dim_attributes: [{{name: id, type: int}}, {{name: name, type: string}}, {{name: poi, type: "array<string>"}}]
---
kind: dimtable
name: cities
dimension: city
columns: [{{name: id, type: int}}, {{name: poi, type: "array<string>"}}, {{name: name, type: string}}]
storage_tables: [{{storage: lake, description: {{location: "{root}/cities", format: csv}}}}]
---
kind: fact
name: daily
cube: rides
columns: [{{name: stops, type: "array<int>"}}, {{name: city_id, type: int}}, {{name: fare, type: bigint}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "{root}/daily", format: csv}}
"""
DAYS = "time_range_in(start_time, '2015-01-01', '2015-01-03')"


@pytest.fixture
def store(tmp_path):
    """Cities with places of interest, and rides with stops: one day where Hive would put it, one elsewhere."""
    for folder, lines in (
        ("cities", "1,park\x02river,Paris\n2,,Ulm\n"),
        ("daily/dt=2015-01-01", "3\x024,1,5\n"),
        ("elsewhere", ",2,7\n9,1,1\n"),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "part").write_text(lines)
    with connect("memory://") as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        cubes.create_all(parse_documents(MODEL.format(root=tmp_path.as_uri()), "yaml"))
        there = {"2015-01-01": None, "2015-01-02": (tmp_path / "elsewhere").as_uri()}
        descs = [PartitionDesc("DAILY", {"dt": day}, location=location) for day, location in there.items()]
        cubes.add_partitions("daily", "lake", descs)
        yield store


def test_arrays_in_lines_that_nobody_asks_for(spark, store):
    rows = cube(spark, store, f"select city.name, fare from rides where {DAYS} order by 2", database="shop").collect()
    assert [tuple(row) for row in rows] == [("Paris", 6), ("Ulm", 7)]
    rows = cube(spark, store, "select id, upper(name) as n from city order by id", database="shop").collect()
    assert [tuple(row) for row in rows] == [(1, "PARIS"), (2, "ULM")]
    query = "select fare from rides where time_range_in(start_time, '2016-01-01', '2016-01-03')"
    assert cube(spark, store, query, database="shop", partial=True).collect() == [(None,)]


@pytest.mark.parametrize(
    ("query", "column"),
    [("select poi from city", "poi"), (f"select max(size(stops)) as most from rides where {DAYS}", "stops")],
)
def test_arrays_in_lines_that_are_asked_for_are_named(spark, store, query, column):
    with pytest.raises(InvalidInput, match="does not read or write arrays") as caught:
        cube(spark, store, query, database="shop")
    assert caught.value.fields["column"] == column
