"""A store with a cube, and the endpoint over it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from tests.metastore.serving import Serve

MODEL = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {{start_time: dt}}
measures: [{{name: fare, type: bigint, default_aggregate: sum}}]
dim_attributes: [{{name: start_time, type: timestamp}}, {{name: station, type: int}}]
---
kind: fact
name: daily
cube: rides
columns: [{{name: fare, type: bigint}}, {{name: station, type: int}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/daily", format: parquet}}
"""
DAYS = ("2015-01-28", "2015-01-29", "2015-01-30")


@dataclass
class Place:
    """Where a store is, and its endpoint."""

    url: str
    uri: str
    folder: Path


@pytest.fixture(scope="package")
def place(tmp_path_factory):
    """A store whose database shop has the cube rides: three days, whose fares are 1 and 10, 2 and 20, 3 and 30."""
    folder = tmp_path_factory.mktemp("query_service")
    url = f"sqlite://{folder}/catalog.db"
    with connect(url) as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        cubes.create_all(parse_documents(MODEL.format(root=folder), "yaml"))
        for number, day in enumerate(DAYS, 1):
            path = folder / "daily" / f"dt={day}"
            path.mkdir(parents=True)
            rows = {"fare": [number, 10 * number], "station": pa.array([1, 2], pa.int32())}
            parquet.write_table(pa.table(rows), path / "a.parquet")
        cubes.add_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": day}) for day in DAYS])
    with Serve(url, folder) as server:
        yield Place(url, server.ready["uri"], folder)
