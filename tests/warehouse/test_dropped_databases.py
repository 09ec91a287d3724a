"""A database that is dropped takes the files of its own tables along, and no others."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from hbstore import Column, Database, Partition, Table, connect
from hbstore.errors import HbstoreError
from hbstore.warehouse.databases import create_database, drop_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.tables import change_table, create_table
from tests.files.warehouses import world
from tests.interleaved import Between
from tests.pauses import without_pauses
from tests.publishing.interrupted import STEPS

COLUMNS = {"partition_columns": [Column("ds", "string")], "columns": [Column("id", "int")]}


@pytest.fixture
def store(monkeypatch):
    without_pauses(monkeypatch)
    with connect("memory://") as store:
        yield store


def prepare(store, here):
    """shop.sales and other.visits, with a file each."""
    for database, name in (("shop", "sales"), ("other", "visits")):
        create_database(store, here.warehouse, Database(database))
        create_table(store, here.warehouse, Table(database, name, **COLUMNS))
        table = store.get_table(database, name)
        add_partitions(store, here.warehouse, table, [Partition(("a",))])
        here.write(f"{table.location}/ds=a/{name}", name.encode())


def move(store, here, old, new):
    """A table to another database."""
    table = store.get_table(*old)
    change_table(store, here.warehouse, *old, replace(table, database=new))


def read(store, here):
    """The files of all partitions, where the catalog says that they are."""
    start, files = here.warehouse.root.rpartition("/")[0] + "/", here.files()
    return {
        (table.name, content.decode())
        for database in store.database_names()
        for table in store.tables(database)
        for one in store.get_partitions_by_filter(database, table.name, None)
        for path, content in files.items()
        if path.startswith(one.location.removeprefix(start) + "/")
    }


@pytest.mark.parametrize("kind", ["local", "memory"])
def test_a_table_that_was_renamed_into_another_database_keeps_its_files(store, tmp_path, kind):
    here = world(kind, tmp_path)
    prepare(store, here)
    move(store, here, ("shop", "sales"), "other")
    create_table(store, here.warehouse, Table("shop", "own", **COLUMNS))
    here.write(f"{store.get_table('shop', 'own').location}/ds=a/own", b"own")
    assert drop_database(store, here.warehouse, "shop", cascade=True, delete=True) == ()
    assert read(store, here) == {("sales", "sales"), ("visits", "visits")}
    assert not any(path.endswith("own") for path in here.files()), "its own tables' files are deleted"


def test_files_of_others_stay_wherever_they_are_in_the_databases_folder(store, tmp_path):
    """Of a table at the folder itself, and of tables without locations, as Python makes them, where the name says."""
    here = world("local", tmp_path)
    home = f"{here.warehouse.root}/shop.db"
    table = Table("other", "here", [Column("ds", "string")], location=home)
    no_location = Table("inner", "visits", columns=[Column("id", "int")])
    external = replace(no_location, database="shop", name="external", parameters={"EXTERNAL": "TRUE"})
    for others, file in ((table, "ds=a/x"), (no_location, "inner/visits/x"), (external, "external/x")):
        for database in (Database("shop"), Database("other"), Database("inner", location=f"{home}/inner")):
            create_database(store, here.warehouse, database)
        create_table(store, here.warehouse, Table("shop", "own", **COLUMNS))
        here.write(f"{store.get_table('shop', 'own').location}/ds=a/own")
        store.create_table(others)
        here.write(f"{home}/{file}", file.encode())
        assert drop_database(store, here.warehouse, "shop", cascade=True, delete=True) == ()
        assert {f"wh/shop.db/{file}"} == here.files().keys()
        for name in ("other", "inner"):
            drop_database(store, here.warehouse, name, cascade=True, delete=True)
        here.warehouse.delete(home, inside=[home], purge=True)


def test_files_of_a_table_without_a_location_go_where_the_databases_folder_stays(store, tmp_path):
    here = world("local", tmp_path)
    create_database(store, here.warehouse, Database("shop"))
    external = Table("shop", "external", columns=[Column("id", "int")], parameters={"EXTERNAL": "TRUE"})
    create_table(store, here.warehouse, external)
    store.create_table(Table("shop", "own", columns=[Column("id", "int")]))
    here.write(f"{here.warehouse.root}/shop.db/own/x")
    assert drop_database(store, here.warehouse, "shop", cascade=True, delete=True) == ()
    assert here.files() == {}, "a later table of the name would read them"


@pytest.mark.parametrize("kind", ["local", "memory"])
@pytest.mark.parametrize(("old", "new"), [(("shop", "sales"), "other"), (("other", "visits"), "shop")])
def test_a_table_that_leaves_or_comes_meanwhile_has_its_files_or_is_dropped(store, tmp_path, kind, old, new):
    moves = 0
    for at in count():
        folder = tmp_path / str(at)
        folder.mkdir()
        here = world(kind, folder)
        for name in ("shop", "other"):
            if name in store.database_names():
                drop_database(store, here.warehouse, name, cascade=True, delete=False)
        prepare(store, here)
        moved = []

        def other(here=here, moved=moved):
            try:
                move(store, here, old, new)
            except HbstoreError:
                return
            moved.append(old)

        between = Between(at, other)
        with pytest.MonkeyPatch.context() as patch:
            for owner, method in (*STEPS, (type(store), "table_names"), (type(store), "tables")):
                patch.setattr(owner, method, between.around(getattr(owner, method)))
            drop_database(store, here.warehouse, "shop", cascade=True, delete=True)
        if between.left >= 0:
            break
        moves += len(moved)
        left = {(table.name, table.name) for name in store.database_names() for table in store.tables(name)}
        assert read(store, here) == left, f"at step {at}, moved: {moved}"
    assert moves
