"""What examples in docstrings go on from: a store, a table's handle, a timeline, and the model of a few cubes.

The docstring of `hbstore.PartitionStore` shows how the store is made, docs/cubes.md the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from hbstore.timelines import RangesPartitionTimeline, UpdatePeriod
from tests.examples import other_metastore, uses

collect_ignore = ["hbstore/airflow.py", "tests/airflow/dags/covers.py", "tests/web/description_hooks.py"]
"""What cannot be imported here: tests/airflow/test_sensor.py runs it where Airflow is, `make describe` the last one."""

DAY = UpdatePeriod.DAILY
MODEL = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {start_time: dt}
measures:
  - {name: minutes, type: bigint, default_aggregate: sum}
dim_attributes:
  - {name: start_time, type: timestamp}
---
kind: fact
name: rides_daily
cube: rides
columns:
  - {name: minutes, type: bigint}
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
    description: {location: "s3://lake/rides_daily"}
---
kind: dimension
name: station
dim_attributes:
  - {name: id, type: int}
---
kind: dimtable
name: stations
dimension: station
columns:
  - {name: id, type: int}
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
    description: {location: "s3://lake/stations"}
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the examples that need Spark: tests/spark/test_examples.py runs them, with one Spark for all."""
    items[:] = [
        item for item in items if not (isinstance(item, pytest.DoctestItem) and uses("spark", item.dtest.examples))
    ]


@pytest.fixture(autouse=True)
def _example_objects(request: pytest.FixtureRequest, doctest_namespace: dict[str, object]) -> Iterator[None]:
    """Three days of the table shop.sales, a timeline with a hole, and a fact with three days of partitions.

    Examples that use the name ``uri`` have a metastore, too.
    """
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    store = connect("memory://")
    store.create_database("shop")
    keys = [Column("ds", "date"), Column("hour", "int")]
    amounts = [Column("amount", "decimal(10,2)")]
    store.create_table(Table("shop", "sales", location="s3://shop/sales", columns=amounts, partition_columns=keys))
    days, said = ("2013-01-01", "2013-01-02", "2013-01-03"), {"numRows": "100", "totalSize": "5000"}
    sales = store.table("shop.sales")
    sales.add([Partition((day, str(hour)), parameters=said) for day in days for hour in range(24)])

    timeline = RangesPartitionTimeline("s1_orders", DAY, "dt")
    timeline.add_all(map(DAY.parse, ("2015-01-29", "2015-01-30", "2015-02-01")))

    lake = connect("memory://")
    lake.create_database("shop")
    cubes = Cubes(lake, "shop")
    cubes.create_all(parse_documents(MODEL, "yaml"))
    rides = [PartitionDesc("DAILY", {"dt": day}) for day in ("2015-01-29", "2015-01-30", "2015-02-01")]
    cubes.add_partitions("rides_daily", "lake", rides)
    cubes.add_partitions("stations", "lake", rides[:1])

    doctest_namespace.update(
        store=store, sales=sales, timeline=timeline, cubes=cubes, rides=lake.table("shop.lake_rides_daily")
    )
    if uses("rewritten", request.node.dtest.examples):
        where = "time_range_in(start_time, '2015-01-29', '2015-01-31')"
        doctest_namespace["rewritten"] = cubes.rewrite(f"cube select minutes from rides where {where}")
    with other_metastore() if uses("uri", request.node.dtest.examples) else nullcontext() as uri:
        doctest_namespace["uri"] = uri
        yield
