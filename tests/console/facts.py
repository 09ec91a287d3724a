"""A database with a model for the pages of facts: bicycles that are hired, on three storages."""

from __future__ import annotations

import http.client

from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from hbstore.timelines import UpdatePeriod

HOUR, DAY, MONTH = UpdatePeriod.HOURLY, UpdatePeriod.DAILY, UpdatePeriod.MONTHLY
MODEL = """
kind: storage
name: lake
endpoint: s3://lake
---
kind: storage
name: vault
description: what is rolled up, for dashboards
---
kind: cube
name: rides
description: What was ridden
time_dimensions: {start_time: dt}
measures:
  - {name: minutes, type: bigint, default_aggregate: sum, unit: minute}
  - {name: fare, type: double, default_aggregate: sum}
dim_attributes:
  - {name: start_time, type: timestamp}
  - {name: station_id, type: int}
  - {name: bike, type: string}
  - {name: station_name, type: string, chain: [{chain: station, field: name}]}
expressions:
  - {name: pace, type: double, specs: [{expression: fare / minutes}]}
join_chains:
  - {name: station, paths: [["rides.station_id = station.id"]]}
---
kind: derived_cube
name: fares
parent: rides
measures: [fare]
dim_attributes: [start_time]
---
kind: dimension
name: station
dim_attributes: [{name: id, type: int}, {name: name, type: string}]
---
kind: fact
name: hires
cube: rides
description: Every hire, and sums of a day and of a month
weight: 10
columns:
  - {name: minutes, type: bigint}
  - {name: fare, type: double}
  - {name: station_id, type: int}
storage_tables:
  - storage: lake
    update_periods: [HOURLY, DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
  - storage: vault
    update_periods: [DAILY, MONTHLY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
---
kind: fact
name: bikes
cube: rides
weight: 90
columns: [{name: minutes, type: bigint}, {name: bike, type: string}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
---
kind: dimtable
name: stations
dimension: station
columns: [{name: id, type: int}, {name: name, type: string}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""


def descs(period, start, stop, *, but=()):
    """The partitions of a period from one time up to another, without some."""
    indexes = range(period.parse_index(start), period.parse_index(stop))
    texts = [period.format_index(index) for index in indexes]
    return [PartitionDesc(period, {"dt": text}) for text in texts if text not in but]


def hired(store, database="city"):
    """The cubes of a new database: hours of March and April with holes, days, and months."""
    store.create_database(database)
    cubes = Cubes(store, database)
    cubes.create_all(parse_documents(MODEL, "yaml"))
    lost = {f"2015-03-18-{hour:02}" for hour in range(5, 9)}
    lost |= {f"2015-04-0{day}-{hour:02}" for day in (7, 8) for hour in range(24)}
    hours = descs(HOUR, "2015-03-01-00", "2015-04-21-09", but={*lost, "2015-03-11-13", "2015-04-15-02"})
    days = descs(DAY, "2015-01-05", "2015-04-15", but={"2015-02-20", "2015-03-18", "2015-04-07"})
    cubes.add_partitions("hires", "lake", [*hours, *days])
    late = {"2015-02-20", "2015-03-18", "2015-04-06", "2015-04-07", "2015-04-08"}
    days = descs(DAY, "2014-12-10", "2015-04-12", but=late)
    cubes.add_partitions("hires", "vault", [*days, *descs(MONTH, "2014-11", "2015-02")])
    cubes.add_partitions("bikes", "lake", descs(DAY, "2015-03-01", "2015-04-01", but={"2015-03-09"}))
    return cubes


def got(url, path, status=200):
    """The page at an address, as a browser asks for it."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    connection.request("GET", path.partition("#")[0], headers={"Accept": "text/html"})
    reply = connection.getresponse()
    found = reply.status, reply.read().decode()
    connection.close()
    assert found[0] == status, f"{path}: {found}"
    return found[1]
