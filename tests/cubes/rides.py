"""A cube of rides: one fact with a fare and a bike, a Parquet folder for each day."""

from __future__ import annotations

from hbstore.cubes import parse_documents

_MODEL = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {{start_time: dt}}
measures: [{{name: fare, type: bigint, default_aggregate: sum}}]
dim_attributes: [{{name: start_time, type: timestamp}}, {{name: bike, type: string}}]
---
kind: fact
name: daily
cube: rides
columns: [{{name: fare, type: bigint}}, {{name: bike, type: string}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{folder}", format: parquet}}
"""


def rides(folder):
    """The documents of the cube; the days of its fact have their folders below this one."""
    return parse_documents(_MODEL.format(folder=folder), "yaml")
