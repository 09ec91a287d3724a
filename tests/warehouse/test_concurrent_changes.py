"""What another writer changes of a partition between a change's read and its write is not lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Column, Partition, StoreBusy, Table, connect
from hbstore.ddl import execute
from hbstore.errors import ConcurrentChange, WriteConflict
from hbstore.files.warehouse import Warehouse
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_step import TableStep
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.partition_changes import change_partitions, exchange_partitions, rename_partition
from hbstore.warehouse.tables import spell_partitions_alike
from hbstore.warehouse.truncation import truncate_table

EU, US = ("eu",), ("us",)
COUNTS = {"numRows": "5", "numFiles": "1", "totalSize": "9"}


@pytest.fixture(params=["memory://", "memory://?atomic=false"])
def store(request):
    with connect(request.param, patience=2) as store:
        yield store


@pytest.fixture
def warehouse(tmp_path):
    return Warehouse(str(tmp_path / "warehouse"))


@pytest.fixture
def sales(store, warehouse):
    """A table with a partition, whose folder has a file."""
    store.create_database("shop")
    for name in ("sales", "sold"):
        location = f"{warehouse.root}/{name}"
        store.create_table(Table("shop", name, [Column("region", "string")], [Column("id", "int")], location=location))
    table = store.get_table("shop", "sales")
    add_partitions(store, warehouse, table, [Partition(EU, parameters=COUNTS)], if_not_exists=False)
    return table


@pytest.fixture
def meanwhile(store, monkeypatch):
    """Has another writer change the partition, just before a method of the store or of a step writes."""

    def change(method, *, always=False, of=PartitionStore, **fields):
        write, left = getattr(of, method), [True]

        def writing(self, *arguments, **options):
            if left and not writing.inside:
                writing.inside = True
                left[:] = [True] if always else []
                here = store.get_partition("shop", "sales", EU)
                count = int(here.parameters.get("count", "0")) + 1
                new = {"parameters": {**here.parameters, "count": str(count)}, **fields}
                store.change_partitions("shop", "sales", put=[replace(here, **new)])
                writing.inside = False
            return write(self, *arguments, **options)

        writing.inside = False
        monkeypatch.setattr(of, method, writing)

    return change


def test_an_alteration_keeps_what_the_caller_left_out(store, warehouse, sales, meanwhile, tmp_path):
    meanwhile("alter_partitions", location=f"file:{tmp_path}/other", create_time=77)
    change_partitions(store, warehouse, sales, [Partition(EU, parameters={"a": "1"})])
    there = store.get_partition("shop", "sales", EU)
    assert (there.location, there.create_time, there.parameters["a"]) == (f"file:{tmp_path}/other", 77, "1")


def test_an_alteration_of_stored_bytes_says_that_they_are_others(store, warehouse, sales, meanwhile):
    meanwhile("alter_partitions")
    payload = store.get_partition("shop", "sales", EU).payload
    with pytest.raises(ConcurrentChange):
        change_partitions(store, warehouse, sales, [Partition(EU, parameters={"a": "1"})], replaces=[payload])
    assert store.get_partition("shop", "sales", EU).parameters == {**COUNTS, "count": "1"} | _dated(store)


def test_a_partition_gets_no_other_location_while_its_folder_moves(store, warehouse, sales, monkeypatch, tmp_path):
    rename, refusals = PartitionStore.rename_partition, []

    def relocated_meanwhile(self, *arguments, **options):
        here = store.get_partition("shop", "sales", EU)
        try:
            store.change_partitions("shop", "sales", put=[replace(here, location=f"file:{tmp_path}/other")])
        except WriteConflict as error:
            refusals.append(error.text)
        return rename(self, *arguments, **options)

    monkeypatch.setattr(PartitionStore, "rename_partition", relocated_meanwhile)
    rename_partition(store, warehouse, sales, EU, Partition(US))
    assert refusals == ["a partition of the table is being renamed"]
    there = f"{sales.location}/region=us"
    assert [one.location for one in store.get_partitions_by_filter("shop", "sales", None)] == [there]
    assert [warehouse.exists(f"{sales.location}/region={region}") for region in ("eu", "us")] == [False, True]


def test_a_renamed_partition_keeps_what_changes_meanwhile_by_statement(store, warehouse, sales, meanwhile):
    meanwhile("rename_partition")
    statement = "ALTER TABLE shop.sales PARTITION (region='eu') RENAME TO PARTITION (region='us')"
    execute(store, statement, warehouse=warehouse)
    assert store.get_partition("shop", "sales", US).parameters["count"] == "1"
    assert warehouse.exists(f"{sales.location}/region=us")


def test_a_truncated_partition_keeps_other_parameters(store, warehouse, sales, meanwhile):
    meanwhile("change", of=TableStep)
    assert truncate_table(store, warehouse, sales, None) == 1
    there = store.get_partition("shop", "sales", EU).parameters
    assert (there["count"], there["numFiles"], there["totalSize"]) == ("1", "0", "0")


def test_locations_are_spelt_alike_without_other_changes(store, sales, meanwhile):
    here = store.get_partition("shop", "sales", EU)
    spelt = here.location.replace("file:/", "file:///")
    store.alter_partitions("shop", "sales", [replace(here, location=spelt)])
    meanwhile("change", of=TableStep)
    spell_partitions_alike(store, sales)
    there = store.get_partition("shop", "sales", EU)
    assert (there.location, there.parameters["count"]) == (here.location, "1")


def test_an_exchanged_partition_keeps_what_changes_while_its_location_is_spelt(store, warehouse, sales, meanwhile):
    here = store.get_partition("shop", "sales", EU)
    odd = replace(here, location=here.location.replace("file:/", "file:///"))
    store.alter_partitions("shop", "sales", [odd])
    read = store.get_partitions("shop", "sales", [EU])
    meanwhile("change", of=TableStep)
    exchange_partitions(store, warehouse, sales, store.get_table("shop", "sold"), read)
    there = store.get_partition("shop", "sold", EU)
    assert there.parameters["count"] == "1"
    assert there.location == f"{warehouse.root}/sold/region=eu"
    assert warehouse.exists(there.location)


def test_a_partition_that_keeps_changing_is_left_and_its_folder_is_where_it_was(store, warehouse, sales, meanwhile):
    meanwhile("rename_partition", always=True)
    with pytest.raises(StoreBusy, match="other writers kept changing the partitions"):
        rename_partition(store, warehouse, sales, EU, Partition(US))
    assert store.partition_names("shop", "sales") == ["region=eu"]
    assert [warehouse.exists(f"{sales.location}/region={region}") for region in ("eu", "us")] == [True, False]


def _dated(store):
    parameters = store.get_partition("shop", "sales", EU).parameters
    return {name: parameters[name] for name in parameters if name == "transient_lastDdlTime"}
