"""The files of dropped tables and databases where the process dies that deletes them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest

from hbstore import Column, Database, Partition, Table, connect
from hbstore.errors import StoreBusy
from hbstore.files.warehouse import Warehouse
from hbstore.publishing.dropped_files import finish_drops, unfinished_drops
from hbstore.publishing.open_publications import abandon_publication, finish_publications, open_publications
from hbstore.transactions.waiting import Patience
from hbstore.warehouse.databases import create_database, drop_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.partition_changes import change_partitions, drop_partitions
from hbstore.warehouse.tables import change_table, create_table, drop_table
from tests.files.warehouses import LocalWorld, world
from tests.publishing.dying import dying, much_later

SALES = Table("shop", "sales", [Column("id", "int")], [Column("ds", "string")])
DROPS = {
    "table": lambda store, warehouse: drop_table(store, warehouse, "shop", "sales", delete=True),
    "database": lambda store, warehouse: drop_database(store, warehouse, "shop", cascade=True, delete=True),
}


def prepare(store, place):
    """shop.sales with two partitions in its folder and one elsewhere; a file in each but one."""
    warehouse = place.warehouse
    create_database(store, warehouse, Database("shop"))
    create_table(store, warehouse, SALES)
    far = Partition(("c",), location=f"{warehouse.root}/far/c")
    add_partitions(store, warehouse, store.get_table("shop", "sales"), [Partition(("a",)), Partition(("b",)), far])
    for at in ("shop.db/sales/ds=a/one", "shop.db/sales/ds=a/_deep/two", "far/c/three"):
        place.write(f"{warehouse.root}/{at}")


def died(tmp_path, drop, kind="local"):
    """Every state that a dead process leaves of a drop."""
    for at in count():
        folder = tmp_path / str(at)
        folder.mkdir()
        with connect("memory://") as store:
            place = world(kind, folder)
            prepare(store, place)
            with dying(store, at) as process:
                drop(process.store, place.warehouse)
            if not process.died:
                assert at > 3
                assert place.files() == {}
                assert unfinished_drops(store) == []
                return
            yield store, place


@pytest.mark.parametrize("kind", ["local", "memory"])
@pytest.mark.parametrize("drop", DROPS)
def test_whatever_a_dead_process_left_is_deleted_later(tmp_path, drop, kind):
    finished = 0
    for store, place in died(tmp_path, DROPS[drop], kind):
        before = place.files()
        assert finish_drops(store) == 0  # as the process might be alive
        assert place.files() == before
        with much_later():
            finished += finish_drops(store)
            assert finish_drops(store) == 0
        if "shop" in store.database_names() and store.table_names("shop"):
            assert len(place.files()) == 3, "nothing is deleted of what was not dropped"
        else:
            assert place.files() == {}
            if kind == "local":
                assert not (place.folder / "wh/shop.db/sales").exists()
    assert finished > 1


def test_files_that_others_write_there_meanwhile_stay(tmp_path):
    """Spark writes files before it creates a table."""
    for store, place in died(tmp_path, DROPS["table"]):
        if store.table_names("shop"):
            continue
        place.write(f"{place.warehouse.root}/shop.db/sales/ds=a/new")
        with much_later():
            finish_drops(store)
        assert list(place.files()) == ["wh/shop.db/sales/ds=a/new"]


def test_a_table_comes_to_the_place_when_the_files_are_gone(tmp_path, monkeypatch):
    blocked = 0
    for store, place in died(tmp_path, DROPS["table"]):
        if store.table_names("shop"):
            continue
        monkeypatch.setattr(type(store), "patience", Patience(total=0))
        for one in (Table("shop", "other", [Column("id", "int")]), replace(SALES, name="others")):
            create_table(store, place.warehouse, one)
        other, others = (store.get_table("shop", name) for name in ("other", "others"))
        if unfinished_drops(store):
            blocked += 1
            with pytest.raises(StoreBusy, match=r"dropped=shop\.sales"):
                create_table(store, place.warehouse, SALES)
            gone = f"{place.warehouse.root}/shop.db/sales"
            for change in ({"name": "sales"}, {"location": gone}):
                with pytest.raises(StoreBusy):
                    change_table(store, place.warehouse, "shop", "other", replace(other, **change))
            far = Partition(("x",), location=f"{gone}/ds=a")
            with pytest.raises(StoreBusy, match=r"location=.*ds=a"):
                add_partitions(store, place.warehouse, others, [far])
            add_partitions(store, place.warehouse, others, [replace(far, location=None)])
            with pytest.raises(StoreBusy):
                change_partitions(store, place.warehouse, others, [far])
        with much_later():
            create_table(store, place.warehouse, SALES)
        assert place.files() == {}
        assert place.warehouse.exists(store.get_table("shop", "sales").location)
    assert blocked > 1


def test_they_go_to_the_trash_where_there_is_one(tmp_path):
    with connect("memory://") as store:
        place = LocalWorld(tmp_path, trash=str(tmp_path / "trash"))
        prepare(store, place)
        with pytest.MonkeyPatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(Warehouse, "delete", _interrupt)
            DROPS["table"](store, place.warehouse)
        assert len(place.files()) == 3
        with much_later():
            assert finish_drops(store) == 1
    assert sorted(path.rpartition("/")[2] for path in place.files()) == ["one", "three", "two"]
    assert all(path.startswith("trash/") for path in place.files())


def _interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("drop", "name"), [("table", "shop.sales"), ("database", "shop")])
def test_people_see_it_and_finish_it_or_give_it_up(tmp_path, drop, name):
    for is_given_up, folder in ((True, "one"), (False, "two")):
        (tmp_path / folder).mkdir()
        with connect("memory://") as store:
            place = LocalWorld(tmp_path / folder)
            prepare(store, place)
            with pytest.MonkeyPatch.context() as patch, suppress(KeyboardInterrupt):
                patch.setattr(Warehouse, "delete", _interrupt)
                DROPS[drop](store, place.warehouse)
            (one,) = open_publications(store)
            typed = name.title()  # names are the same in any case
            assert open_publications(store, typed) == [one]
            assert (one.table, one.state) == (name, "deleting")
            if is_given_up:
                left = abandon_publication(store, typed, one.publication)
                assert f"{place.warehouse.root}/far/c" in left
                assert len(place.files()) == 3
            else:
                with much_later():
                    assert finish_publications(store, typed) == 1
                assert place.files() == {}
            assert open_publications(store) == []


def test_a_folder_at_which_the_system_does_not_look_keeps_no_partition(tmp_path):
    """As where hbstore may not look into the folder around it."""
    with connect("memory://") as store:
        place = world("local", tmp_path)
        prepare(store, place)
        sales = store.get_table("shop", "sales")
        far = f"{sales.location}/{'x' * 300}"
        store.add_partitions("shop", "sales", [Partition(("x",), location=far)], invalid_values="keep")
        payloads = store.get_payloads("shop", "sales", [("x",)])
        assert drop_partitions(store, place.warehouse, sales, payloads, delete=True) == (far,)
        assert store.publications.of(store.table_row("shop", "sales")) == []


def test_partitions_at_one_place_are_dropped_together(tmp_path):
    """Named twice, or by a link: who holds its folder does not wait for itself."""
    place = LocalWorld(tmp_path)
    warehouse = place.warehouse
    with connect("memory://", patience=0.01) as store:
        prepare(store, place)
        sales = store.get_table("shop", "sales")
        (tmp_path / "wh/link").symlink_to(tmp_path / "wh/far")
        for value, folder in (("again", "far/c"), ("linked", "link/c")):
            add_partitions(store, warehouse, sales, [Partition((value,), location=f"{warehouse.root}/{folder}")])
        payloads = store.get_payloads("shop", "sales", [("again",), ("c",), ("linked",)])
        assert drop_partitions(store, warehouse, sales, payloads, delete=True) == ()
        assert not (tmp_path / "wh/far/c").exists()
        assert store.publications.of(store.table_row("shop", "sales")) == []
