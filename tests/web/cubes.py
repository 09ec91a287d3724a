"""A model that is served over HTTP: a fact on two storages with days and hours, and a dimension table."""

from __future__ import annotations

from hbstore.cubes import Cubes, PartitionDesc, parse_documents

MODEL = """
kind: storage
name: lake
---
kind: storage
name: archive
---
kind: cube
name: rides
time_dimensions: {start_time: dt}
measures: [{name: minutes, type: bigint, default_aggregate: sum}]
dim_attributes: [{name: start_time, type: timestamp}]
---
kind: fact
name: rides_daily
cube: rides
columns: [{name: minutes, type: bigint}]
storage_tables:
  - storage: lake
    update_periods: [HOURLY, DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
    description: {location: "s3://lake/rides_daily"}
  - storage: archive
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
---
kind: dimension
name: station
dim_attributes: [{name: id, type: int}]
---
kind: dimtable
name: stations
dimension: station
columns: [{name: id, type: int}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}, {name: country, type: string}]
    time_partition_columns: [dt]
"""
HTTP_MODEL = "/databases/shop/model"
FACT = "/databases/shop/facts/rides_daily"


def modelled(store, lake="s3://lake"):
    """The cubes of a store that has the database shop, with two days and an hour on the lake."""
    cubes = Cubes(store, "shop")
    cubes.create_all(parse_documents(MODEL.replace("s3://lake", lake), "yaml"))
    cubes.add_partitions("rides_daily", "lake", days("2015-01-29", "2015-01-30"))
    cubes.add_partitions("rides_daily", "lake", [PartitionDesc("HOURLY", {"dt": "2015-01-31-00"})])
    return cubes


def days(*texts):
    """Daily partitions."""
    return [PartitionDesc("DAILY", {"dt": text}) for text in texts]
