"""The small cube that tests of cube queries ask: rides that begin at stations. A test says which facts it has."""

from __future__ import annotations

import datetime as dt
from contextlib import contextmanager

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from hbstore.cubes.logical_tables import Column, DimTable, Fact, StorageTable

NOW = dt.datetime(2015, 3, 1, tzinfo=dt.UTC)
CUBE = parse_documents(
    """
kind: storage
name: lake
---
kind: storage
name: vault
---
kind: cube
name: rides
time_dimensions: {start_time: dt, paid_time: pt}
measures:
  - {name: minutes, type: bigint, default_aggregate: sum}
  - {name: fare, type: double, default_aggregate: sum}
  - {name: tip, type: double, default_aggregate: sum, start_time: 2015-01-05}
  - {name: longest, type: bigint, default_aggregate: max}
  - {name: odd, type: bigint}
dim_attributes:
  - {name: start_time, type: timestamp}
  - {name: paid_time, type: timestamp}
  - {name: station_id, type: int}
  - {name: bike, type: string}
  - {name: name, type: string}
  - {name: station_name, type: string, chain: [{chain: city, field: name}]}
expressions:
  - {name: pace, type: double, specs: [{expression: fare / minutes}]}
  - name: dated
    type: double
    specs:
      - {expression: fare, end_time: 2015-01-15}
      - {expression: fare * 2, start_time: 2015-01-15}
join_chains:
  - {name: city, paths: [["rides.station_id = station.id"]]}
  - {name: nowhere, paths: [["rides.station_id = missing.id"]]}
---
kind: dimension
name: station
dim_attributes: [{name: id, type: int}, {name: name, type: string}, {name: district, type: string}]
""",
    "yaml",
)
"""Two storages, the cube, and the dimension of stations: without tables."""
TYPES = {field.name: field.type for field in (*CUBE[2].measures, *CUBE[2].dim_attributes)}


@contextmanager
def opened(*documents, now=NOW):
    """The cubes of these documents, in a store of their own."""
    with connect("memory://") as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop", lambda: now)
        cubes.create_all(documents)
        yield cubes


def table(storage, *periods, kind="string", others=()):
    """A storage table with the partition column `dt`, and perhaps others behind it."""
    columns = [Column(name="dt", type=kind), *(Column(name=name, type=of) for name, of in others)]
    return StorageTable(
        storage=storage, update_periods=periods, partition_columns=columns, time_partition_columns=["dt"]
    )


def fact(name, columns, *tables, **fields):
    """A fact of the cube with the columns that a text lists; on the storage `lake` by days, unless it says which."""
    own = [Column(name=column, type=TYPES[column]) for column in columns.split()]
    return Fact(name=name, cube="rides", columns=own, storage_tables=tables or [table("lake", "DAILY")], **fields)


def stations(*tables):
    """The dimension table of stations, which lacks their districts."""
    columns = [Column(name="id", type="int"), Column(name="name", type="string")]
    return DimTable(name="stations", dimension="station", columns=columns, storage_tables=tables)


def partitions(period, times):
    """Partitions of the column `dt`."""
    return [PartitionDesc(period, {"dt": time}) for time in times]


DAILY = fact("daily", "minutes fare tip station_id", table("lake", "DAILY", "MONTHLY"), weight=10)
RAW = fact(
    "raw",
    "minutes fare longest station_id bike start_time paid_time",
    table("lake", "HOURLY"),
    weight=100,
    properties={"cube.fact.is.aggregated": "false"},
)
MODEL = (*CUBE, DAILY, RAW, stations(table("lake", "DAILY")))
"""The cube with days and months of sums, hours of rows, and dumps of the stations."""
