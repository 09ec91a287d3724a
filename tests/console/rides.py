"""A cube with descriptions, for the editor: rides by day and bike, whose stations a join chain reaches."""

from __future__ import annotations

import datetime as dt

from hbstore.cubes import parse_documents

DAYS = [dt.date(2015, 1, 1) + dt.timedelta(days=number) for number in range(31)]
ASKED = """\
cube select day, minutes, fare
from rides
where time_range_in(start_time, '2015-01-01', '2015-02-01')"""
MODEL = """
kind: storage
name: lake
---
kind: storage
name: vault
---
kind: cube
name: rides
description: Rides of rented bikes
time_dimensions: {start_time: dt}
measures:
  - {name: minutes, type: bigint, default_aggregate: sum, description: How long rides took}
  - {name: fare, type: double, default_aggregate: sum, description: What they cost in euros}
dim_attributes:
  - {name: start_time, type: timestamp, description: When the ride began}
  - {name: day, type: date, description: The day of its beginning}
  - {name: bike, type: string}
  - {name: station_id, type: int}
expressions:
  - {name: pace, type: double, description: Euros for a minute, specs: [{expression: fare / minutes}]}
join_chains:
  - {name: station, paths: [["rides.station_id = station.id"]]}
---
kind: dimension
name: station
dim_attributes: [{name: id, type: int}, {name: name, type: string, description: As on the map}]
---
kind: fact
name: daily
cube: rides
weight: 1
columns: [{name: day, type: date}, {name: minutes, type: bigint}, {name: fare, type: double}]
storage_tables:
  - storage: lake
    update_periods: [DAILY, MONTHLY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
    description: {location: "FOLDER", format: parquet}
---
kind: fact
name: raw
cube: rides
weight: 50
columns:
  - {name: day, type: date}
  - {name: minutes, type: bigint}
  - {name: fare, type: double}
  - {name: bike, type: string}
  - {name: station_id, type: int}
storage_tables:
  - storage: vault
    update_periods: [HOURLY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""


def rides(folder="s3://lake/daily"):
    """The documents of the cube; the days of its daily fact have their folders below this one."""
    return parse_documents(MODEL.replace("FOLDER", str(folder)), "yaml")
