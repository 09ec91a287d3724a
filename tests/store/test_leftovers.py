"""Rows of no table, as a restore or HBase's forgotten deletes leave them: no table takes them for its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.rows.interface import PartitionRow
from hbstore.store.companion_keys import table_companion_key
from hbstore.store.leftovers import leftovers
from tests.backends import BACKENDS, backend_url

SALES = Table("shop", "sales", [Column("ds", "date")], location="s3://shop/sales")
LATE = 10**6
"""How much greater the number of the row is than those of the name: it comes from a store that counted further."""


@pytest.fixture(params=BACKENDS)
def store(request, tmp_path):
    with connect(backend_url(request, tmp_path)) as store:
        store.drop_database("shop", cascade=True, if_exists=True)
        store.repair_catalog()
        store.create_database("shop")
        yield store
        store.drop_database("shop", cascade=True)
        store.repair_catalog()


@pytest.fixture
def left(store):
    """The row of a table that was dropped, which is there again."""
    store.create_table(SALES)
    store.add_partitions("shop", "sales", [Partition(["2013-01-01"])])
    (row,) = store.rows.whole_rows(b"shop\0", b"shop\1")
    late = store.table_row("shop", "sales").log.sequence + LATE
    store.drop_table("shop", "sales")
    store.rows.write([row], [], late)
    return row


def problems(store):
    return [str(problem) for _, _, problem in store.check_catalog() if problem]


def works(store):
    """See that the table is empty, and that partitions come and go, also that of the row that was left."""
    assert store.partition_names("shop", "sales") == []
    assert store.totals("shop", "sales").partitions == 0
    assert store.add_partitions("shop", "sales", [Partition(["2013-01-01"]), Partition(["2013-01-02"])]) == 2
    assert store.partition_names("shop", "sales") == ["ds=2013-01-01", "ds=2013-01-02"]
    assert store.drop_partitions("shop", "sales", [["2013-01-01"]]) == 1
    assert store.partition_names("shop", "sales") == ["ds=2013-01-02"]
    assert [problem for problem in store.check("shop", "sales") if problem] == []
    store.repair_catalog()
    assert problems(store) == []
    assert store.partition_names("shop", "sales") == ["ds=2013-01-02"]


def test_a_table_that_is_created_does_not_take_them(store, left):  # noqa: ARG001
    store.create_table(SALES)
    works(store)


def test_a_table_that_is_renamed_does_not_take_them(store, left):  # noqa: ARG001
    store.create_table(replace(SALES, name="sold"))
    store.rename_table("shop", "sold", SALES)
    works(store)


def test_check_names_them_and_repair_removes_them(store, left):  # noqa: ARG001
    (problem,) = problems(store)
    assert problem.startswith("shop.sales: rows are left that belong to no table")
    assert store.repair_catalog() == 1
    assert problems(store) == []
    assert list(store.rows.whole_rows(b"shop\0", b"shop\1")) == []
    assert store.repair_catalog() == 0
    store.create_table(SALES)
    works(store)


def test_companions_and_keys_that_no_table_can_have_are_removed_as_well(store):
    store.create_table(SALES)
    row = store.table_row("shop", "sales")
    own, other = table_companion_key(row), b"\x01" + bytes(8)
    store.rows.write([PartitionRow(key, (), b"{}") for key in (own, other, other + b"x")], [], 1)
    store.rows.write([PartitionRow(key, (b"\1",), b"?") for key in (b"sh", b"sh\xff\0y\0")], [], 5)
    store.add_partitions("shop", "sales", [Partition(["2013-01-01"])])
    assert len(problems(store)) == 3
    assert store.repair_catalog() == 3
    assert problems(store) == []
    assert [key for batch in store.rows.scan(b"\1", b"\2") for key, _ in batch] == [own]
    assert store.partition_names("shop", "sales") == ["ds=2013-01-01"]
    store.drop_table("shop", "sales")
    assert list(leftovers(store._tables.transactions)) == []
