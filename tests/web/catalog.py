"""A catalog that is served over HTTP: a store with a table of 72 partitions, and a warehouse."""

from __future__ import annotations

from hbstore import Column, Database, Partition, Table
from hbstore.files.warehouse import Warehouse
from hbstore.warehouse.service import Service

KEYS = [Column("ds", "date"), Column("hour", "int")]
DAYS = ("2013-01-01", "2013-01-02", "2013-01-03")
SALES = "/databases/shop/tables/sales"


def filled(store, folder, **options):
    """The store with its catalog in it, and the warehouse."""
    warehouse = Warehouse(str(folder), also_under=())
    store.create_database(Database("shop", owner="ann", location=warehouse.database_location("shop")))
    columns = [Column("amount", "decimal(10,2)", "in euros")]
    location = warehouse.table_location(None, "shop", "sales")
    store.create_table(Table("shop", "sales", KEYS, columns, location=location, owner="ann"))
    said = {"numRows": "100", "totalSize": "5000"}
    store.table("shop.sales").add(
        [Partition((day, str(hour)), parameters=said, create_time=1) for day in DAYS for hour in range(24)]
    )
    return Service(store, warehouse, **options)
