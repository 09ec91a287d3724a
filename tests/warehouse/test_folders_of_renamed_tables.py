"""A table that is renamed and keeps its folder shares it with no later table of its old name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Column, Database, Partition, Table, connect
from hbstore.errors import FileOperationFailed
from hbstore.warehouse.databases import create_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.tables import change_table, create_table, drop_table
from tests.files.warehouses import world

SALES = Table("shop", "sales", [Column("ds", "string")], [Column("id", "int")])


@pytest.mark.parametrize("database", ["shop", "other"])
@pytest.mark.parametrize(("kind", "parameters"), [("memory", {}), ("local", {}), ("local", {"EXTERNAL": "TRUE"})])
def test_a_table_of_the_old_name_has_a_folder_of_its_own(tmp_path, kind, parameters, database):
    here = world(kind, tmp_path)
    with connect("memory://") as store:
        for name in ("shop", "other"):
            create_database(store, here.warehouse, Database(name))
        create_table(store, here.warehouse, replace(SALES, parameters=parameters))
        first = store.get_table("shop", "sales")
        if kind == "memory":  # as s3a does, which removes the empty object that stands for a folder
            here.warehouse.delete(first.location, inside=[first.location], purge=True)
        change_table(store, here.warehouse, "shop", "sales", replace(first, database=database, name="sold"))
        create_table(store, here.warehouse, SALES)
        sold, sales = store.get_table(database, "sold"), store.get_table("shop", "sales")
        assert sold.location != sales.location
        add_partitions(store, here.warehouse, sold, [Partition(("a",))])
        here.write(f"{sold.location}/ds=a/x", b"of the first")
        drop_table(store, here.warehouse, "shop", "sales", delete=True)
        assert b"of the first" in here.files().values()


def test_no_table_is_renamed_into_the_folder_of_another(tmp_path):
    """Nor one that has no folder yet, as Python makes it, so that none has to move."""
    here = world("local", tmp_path)
    with connect("memory://") as store:
        create_database(store, here.warehouse, Database("shop"))
        create_table(store, here.warehouse, replace(SALES, parameters={"EXTERNAL": "TRUE"}))
        change_table(store, here.warehouse, "shop", "sales", replace(store.get_table("shop", "sales"), name="sold"))
        store.create_table(replace(SALES, name="later"))
        with pytest.raises(FileOperationFailed, match="the new folder already exists"):
            change_table(store, here.warehouse, "shop", "later", SALES)
        assert store.table_names("shop") == ["later", "sold"]


def test_partitions_are_where_their_files_are_however_they_are_spelt(tmp_path):
    """One at the table's own folder, one in it, and one whose way leads out of it."""
    here = world("local", tmp_path)
    with connect("memory://") as store:
        for name in ("shop", "other"):
            create_database(store, here.warehouse, Database(name))
        create_table(store, here.warehouse, SALES)
        home = store.get_table("shop", "sales").location
        spellings = {"all": home.replace("file:", "file://"), "in": f"{home}/./in", "out": f"{home}/../far/out"}
        for value, location in spellings.items():
            store.add_partitions("shop", "sales", [Partition((value,), location=location)])
            here.write(f"{location}/of {value}")
        sales = store.get_table("shop", "sales")
        change_table(store, here.warehouse, "shop", "sales", replace(sales, database="other"))
        there = {one.values[0]: one.location for one in store.get_partitions_by_filter("other", "sales", None)}
        assert [here.warehouse.exists(f"{there[value]}/of {value}") for value in spellings] == [True] * 3
