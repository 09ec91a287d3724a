"""Tables in other file systems than the machine's own."""

from __future__ import annotations

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from hbstore import Column, Partition, Table, connect
from hbstore.errors import FileOperationFailed, TableFolderMissing
from hbstore.repair import sync_partitions


@pytest.fixture
def files():
    files = MemoryFileSystem()
    yield files
    for path in list(files.store) + list(files.pseudo_dirs):
        files.store.pop(path, None)
    files.pseudo_dirs[:] = [""]


@pytest.fixture
def store():
    with connect("memory://") as store:
        store.create_database("shop")
        columns = [Column("ds", "string"), Column("hour", "int")]
        store.create_table(Table("shop", "sales", columns, location="memory://bucket/sales"))
        yield store


def test_a_remote_table_is_repaired(files, store):
    with pytest.raises(TableFolderMissing):
        sync_partitions(store, "shop.sales")
    for path in ("ds=a/hour=1", "ds=b%3A/hour=02", "ds=a/hour=x", "_hbstore/job"):
        files.pipe(f"/bucket/sales/{path}/file", b"x")
    given = [Partition(("gone", "1")), Partition(("x", "2"), location="memory://bucket/elsewhere")]
    store.add_partitions("shop", "sales", given)
    files.pipe("/bucket/elsewhere/file", b"x")
    repair = sync_partitions(store, "shop.sales", "sync")
    assert (repair.added, repair.dropped) == (2, 1)
    assert [one.folder for one in repair.foreign] == ["ds=a/hour=x"]
    assert [one.location for one in repair.staging] == ["memory://bucket/sales/_hbstore/job"]
    found = store.get_partitions_by_filter("shop", "sales", None)
    assert {one.values: one.location for one in found} == {
        ("a", "1"): "memory://bucket/sales/ds=a/hour=1",
        ("b:", "02"): "memory://bucket/sales/ds=b%3A/hour=02",
        ("x", "2"): "memory://bucket/elsewhere",
    }
    again = sync_partitions(store, "shop.sales", "sync")
    assert (again.add, again.drop) == ((), ())


def test_a_file_system_that_is_not_there(store):
    columns = [Column("ds", "string")]
    store.create_table(Table("shop", "odd", columns, location="nosuch://bucket/sales"))
    with pytest.raises(FileOperationFailed):
        sync_partitions(store, "shop.odd", "sync")
