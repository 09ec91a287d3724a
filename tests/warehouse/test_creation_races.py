"""Two clients create the same at once: whatever comes between, what the catalog names has its folder afterwards."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest

from hbstore import Column, Database, Partition, Table, connect
from hbstore.errors import HbstoreError, StoreUnavailable
from hbstore.files import new_folders
from hbstore.files.local_files import LocalFiles
from hbstore.files.warehouse import Warehouse
from hbstore.store.partition_store import PartitionStore
from hbstore.store.publications import Publications
from hbstore.warehouse.databases import create_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.partition_changes import drop_partitions
from hbstore.warehouse.tables import change_table, create_table
from tests.interleaved import Between
from tests.publishing.dying import much_later
from tests.store.faults import Crash

COLUMNS = {"columns": [Column("a", "int")], "partition_columns": [Column("ds", "string")]}
SALES, OTHER = Table("shop", "sales", **COLUMNS), Table("shop", "other", **COLUMNS)


def crash(*_):
    raise Crash


def add(store, warehouse):
    add_partitions(store, warehouse, store.get_table("shop", "sales"), [Partition(("1",)), Partition(("2",))])


CREATIONS = {
    "database": lambda store, warehouse: create_database(store, warehouse, Database("attic")),
    "table": lambda store, warehouse: create_table(store, warehouse, OTHER),
    "partitions": add,
}
STEPS = (
    (Warehouse, "make_all"),
    (new_folders, "_remove_empty"),
    (new_folders, "_named"),
    *((PartitionStore, name) for name in ("create_database", "create_table", "add_partitions")),
    (LocalFiles, "delete_empty"),
)
"""What a creation does, before and after each of which the other one may come."""


def without_folders(store, warehouse):
    """The locations that the catalog names and that are not there."""
    named = [*store.databases(), *store.tables("shop")]
    if "sales" in store.table_names("shop"):
        named += store.get_partitions_by_filter("shop", "sales", None)
    return [one.location for one in named if not warehouse.exists(one.location)]


def away(call, between):
    """A call that fails, unless the other client makes it."""

    def called(*arguments, **options):
        if between.in_other:
            return call(*arguments, **options)
        raise StoreUnavailable("the store does not answer", hint="Nothing was changed")

    return called


def test_a_table_that_is_created_under_the_new_name_of_another_has_its_folder(tmp_path):
    """Whatever the rename has done by then; the one that is refused leaves the other's folder."""
    steps = [*STEPS[:4], (Warehouse, "move"), (PartitionStore, "create_table"), (PartitionStore, "rename_table")]
    for at in count():
        with connect("memory://") as store, pytest.MonkeyPatch.context() as patch:
            warehouse = Warehouse(str(tmp_path / str(at)))
            create_database(store, warehouse, Database("shop"))
            create_table(store, warehouse, SALES)
            old = store.get_table("shop", "sales")

            def create(store=store, warehouse=warehouse):
                with suppress(HbstoreError):
                    create_table(store, warehouse, OTHER)

            between = Between(at, create)
            for owner, name in steps:
                patch.setattr(owner, name, between.around(getattr(owner, name)))
            with suppress(HbstoreError):
                change_table(store, warehouse, "shop", "sales", replace(old, name="other"))
            assert without_folders(store, warehouse) == [], f"the other came at step {at}"
            assert len({table.location for table in store.tables("shop")}) == len(store.tables("shop"))
        if between.left >= 0:
            break
    assert at > 3


def test_a_partition_that_is_added_while_files_of_a_dropped_one_are_deleted_has_its_folder(tmp_path, monkeypatch):
    """Its folder is made, and then who goes on after a dead process removes it, as it is empty."""
    warehouse = Warehouse(str(tmp_path))
    with connect("memory://") as store:
        create_database(store, warehouse, Database("shop"))
        create_table(store, warehouse, SALES)
        add(store, warehouse)
        table = store.get_table("shop", "sales")
        (tmp_path / "shop.db/sales/ds=1/rows").write_text("rows")
        payloads = [one.payload for one in store.get_partitions_by_filter("shop", "sales", None)]
        with monkeypatch.context() as patch, suppress(Crash):
            patch.setattr(Publications, "close", crash)
            drop_partitions(store, warehouse, table, payloads, delete=True)
        with much_later():
            add(store, warehouse)
        assert without_folders(store, warehouse) == []


@pytest.mark.parametrize("is_away", [False, True], ids=["", "and the store goes away"])
@pytest.mark.parametrize("kind", CREATIONS)
def test_what_another_client_creates_at_any_step_has_its_folder(tmp_path, kind, is_away):
    """The first one fails where the other was faster, or loses its store before it has created anything."""
    create, at = CREATIONS[kind], 0
    while True:
        with connect("memory://") as store, pytest.MonkeyPatch.context() as patch:
            warehouse = Warehouse(str(tmp_path / f"{kind}-{at}"))
            create_database(store, warehouse, Database("shop"))
            create_table(store, warehouse, SALES)
            between = Between(at, lambda store=store, warehouse=warehouse: create(store, warehouse))
            for owner, name in STEPS:
                call = getattr(owner, name)
                fails = is_away and owner is PartitionStore
                patch.setattr(owner, name, between.around(away(call, between) if fails else call))
            with suppress(HbstoreError):
                create(store, warehouse)
            assert without_folders(store, warehouse) == [], f"the other came at step {at}"
        if between.left >= 0:
            break
        at += 1
    assert at > (7 if is_away else 3)
