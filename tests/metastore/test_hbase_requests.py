"""How many requests calls of the metastore send to HBase: they take most of a call's time."""

from __future__ import annotations

import pytest

from hbstore import connect
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.endpoint import metastore
from hbstore.warehouse.service import Service
from tests.metastore.client import STORED, TYPES
from tests.metastore.direct import Direct
from tests.metastore.writing import external, partition_of

pytestmark = pytest.mark.hbase


@pytest.fixture
def asking(hbase_url, tmp_path):
    with connect(f"{hbase_url}&pool=1") as store:
        direct = Direct(metastore(Service(store, Warehouse(str(tmp_path))), lambda _: None))
        direct.store = store
        for database in store.database_names():  # of other tests
            store.drop_database(database, cascade=True)
        direct.create_database(STORED.Database(name="shop", locationUri=f"file:{tmp_path}/shop.db"))
        direct.create_table(external())
        direct.add_partitions([partition_of("2013-01-01", str(hour)) for hour in range(5)])
        yield direct
        store.drop_database("shop", cascade=True)


def statistics(hour):
    data = TYPES.ColumnStatisticsData(doubleStats=TYPES.DoubleColumnStatsData(numNulls=0, numDVs=7))
    described = TYPES.ColumnStatisticsDesc(False, "shop", "sales", partName=f"ds=2013-01-01/hour={hour}")
    return TYPES.ColumnStatistics(described, [TYPES.ColumnStatisticsObj("amount", "double", data)])


def renamed(asking):
    table = asking.get_table("shop", "sales")
    table.tableName = "sold"
    return table


CALLS = {
    "get_all_tables": (4, lambda asking: asking.get_all_tables("shop")),
    "add_partition": (8, lambda asking: asking.add_partition(partition_of("2013-01-01", "9"))),
    "update_partition_column_statistics": (
        7,
        lambda asking: asking.update_partition_column_statistics(statistics(3)),
    ),
    "create_table": (15, lambda asking: asking.create_table(external("other"))),
    "alter_table": (24, lambda asking: asking.alter_table("shop", "sales", renamed(asking))),
}


@pytest.mark.parametrize("call", CALLS)
def test_requests(asking, call):
    requests, ask = CALLS[call]
    asking.get_all_tables("shop")
    asking.update_partition_column_statistics(statistics(2))
    asking.store.rows.get(b"T x")  # closes what a scan left
    before = asking.store.rows.round_trips()
    ask(asking)
    assert asking.store.rows.round_trips() - before <= requests
