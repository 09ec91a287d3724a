"""A database that gets another location: its tables stay where they are."""

from __future__ import annotations

from hbstore import Column, Database, Table, connect
from hbstore.files.warehouse import Warehouse
from hbstore.warehouse.databases import change_database, create_database
from hbstore.warehouse.locations import located
from hbstore.warehouse.table_kinds import VIEW


def test_tables_without_locations_get_those_at_which_they_are(tmp_path):
    """As Python creates them: or else their files would be read no more."""
    warehouse = Warehouse(str(tmp_path / "wh"))
    with connect("memory://") as store:
        create_database(store, warehouse, Database("shop"))
        columns = [Column("id", "int")]
        store.create_table(Table("shop", "sales", columns=columns))
        store.create_table(Table("shop", "seen", columns=columns, table_type=VIEW))
        sales, seen = store.tables("shop")
        home = located(store, warehouse, sales).location
        change_database(store, warehouse, "shop", Database("shop", location=f"{warehouse.root}/moved"))
        assert located(store, warehouse, store.get_table("shop", "sales")).location == home
        assert store.get_table("shop", "seen") == seen
        store.create_table(Table("shop", "later", columns=columns))
        assert located(store, warehouse, store.get_table("shop", "later")).location == f"{warehouse.root}/moved/later"
