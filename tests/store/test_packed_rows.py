"""Packed rows in a store: small in the backend, and whole for all who read, whatever became of the table meanwhile."""

from __future__ import annotations

import pickle
import sqlite3
from contextlib import closing, nullcontext
from copy import copy
from dataclasses import replace
from itertools import chain, count

import pytest

from hbstore import Column, CorruptRow, NotAStore, Partition, connect
from hbstore.keys.row_key import successor
from hbstore.model.structs import encode_partition
from hbstore.rows import connect as connect_rows
from hbstore.rows.interface import CatalogCell
from hbstore.store.copying import back_up, restore
from hbstore.store.packing import pack_store
from hbstore.store.partition_store import PartitionStore
from hbstore.transactions.templates import TEMPLATES, number_of
from tests.store.conftest import hours, sales_table
from tests.store.faults import Crash, FaultyRows

WIDE = tuple(Column(f"amount_{at}", "double") for at in range(30))
OTHER = tuple(Column(f"{at} elsewhere", "array<string>") for at in range(30))


def rows_of(store, name="sales"):
    """What the backend has."""
    prefix = store.table_row("shop", name).definition.prefix
    return {row.key: row.payload for row in store.rows.whole_rows(prefix, successor(prefix))}


def bytes_of(store, name="sales"):
    """What is read in one of two ways: payloads, and partitions that are unpacked when they are looked at."""
    listed = store.get_partitions_by_filter("shop", name, None)
    payloads = store.read_payloads("shop", name, None, lambda _row, _plan, batches: list(chain.from_iterable(batches)))
    assert [one.payload for one in listed] == payloads
    return payloads


def made(table, partitions):
    return [encode_partition(table, replace(one, create_time=7)) for one in partitions]


def added(store, table, *numbers):
    partitions = [replace(one, create_time=7) for one in hours(1, *numbers)]
    store.add_partitions("shop", table.name, partitions)
    return made(table, partitions)


@pytest.fixture
def wide(store):
    store.create_database("shop")
    table = sales_table(columns=WIDE)
    store.create_table(table)
    return table


def test_a_row_holds_what_is_its_own(store, wide):
    expected = added(store, wide, *range(10, 20))
    assert max(map(len, rows_of(store).values())) < 90 < min(map(len, expected)) // 10
    assert bytes_of(store) == expected
    rows = store.table_row("shop", "sales").unpacked(store.rows)
    assert [row.payload for row in rows.whole_rows(b"shop", b"shoq")] == expected
    assert [payload for _, payload in rows.multi_get(sorted(rows_of(store)))] == expected
    store.alter_partitions("shop", "sales", [Partition(("2013-01-01", "11"), location="s3://else", create_time=7)])
    assert store.get_partition("shop", "sales", ("2013-01-01", "11")).location == "s3://else"
    assert max(map(len, rows_of(store).values())) < 90


def test_a_listing_is_whole_when_its_table_is_gone(store, wide):
    added(store, wide, 1, 2)
    expected = list(hours(1, 1, 2))
    listed = [store.table("shop.sales").partitions() for _ in range(4)]
    store.drop_table("shop", "sales")
    store.create_table(sales_table(columns=OTHER))
    store.close()
    assert [one.values for one in listed[0]] == [one.values for one in expected]
    assert [one.location for one in listed[0]] == [
        "s3://shop/sales/ds=2013-01-01/hour=1",
        "s3://shop/sales/ds=2013-01-01/hour=2",
    ]
    assert [one.payload for one in listed[0]] == made(wide, expected)
    assert [one.payload for one in listed[1]] == made(wide, expected)
    assert pickle.loads(pickle.dumps(list(listed[2]))) == listed[3] == copy(listed[3])  # noqa: S301  its own
    assert replace(listed[3][0], create_time=8).payload is None


def test_a_process_that_knows_an_earlier_table_of_the_name_reads_and_writes_the_later_one(store, wide):
    other = PartitionStore(store.rows)
    first = added(store, wide, 1, 2)
    assert bytes_of(other) == first
    store.drop_table("shop", "sales")
    later = sales_table(columns=OTHER)
    store.create_table(later)
    expected = added(store, later, 3) + added(other, later, 4)
    assert bytes_of(other) == bytes_of(store) == expected
    assert bytes_of(PartitionStore(store.rows)) == expected


def test_a_table_that_is_renamed_or_altered_with_its_partitions_stays_small(store, wide):
    added(store, wide, 1, 2)
    renamed = replace(wide, name="sold", location="s3://shop/sold")
    store.rename_table("shop", "sales", renamed, relocated=("s3://shop/sales", "s3://shop/sold"))
    assert bytes_of(store, "sold") == made(renamed, hours(1, 1, 2))
    altered = replace(renamed, columns=(*WIDE, Column("more", "string")))
    store.alter_table(altered, cascade=True)
    assert bytes_of(store, "sold") == made(altered, hours(1, 1, 2))
    assert max(map(len, rows_of(store, "sold").values())) < 130
    assert not store.rows.get_all(b"Tshop\0sales").get(TEMPLATES)


def test_partitions_that_go_to_another_table_are_packed_like_its_own(store, wide):
    expected = added(store, wide, 1)
    returns = replace(wide, name="returns", columns=OTHER, location="s3://shop/returns")
    store.create_table(returns)
    added(store, returns, 2)
    store.exchange_partitions(("shop", "sales"), ("shop", "returns"), [("2013-01-01", "1")])
    assert store.get_partition("shop", "returns", ("2013-01-01", "1")).storage.columns == WIDE
    assert bytes_of(store, "sales") == []
    assert len(bytes_of(store, "returns")) == 2
    assert len(expected[0]) > 1_000


def test_readers_see_no_packed_row_without_its_template():
    """At each write of the change that brings both, by a process that dies there."""
    table = sales_table(columns=WIDE)
    for at in count():
        rows = connect_rows("memory://?atomic=false")
        PartitionStore(rows).create_database("shop")
        PartitionStore(rows).create_table(table)
        faulty = FaultyRows(rows, at=at)
        try:
            expected = added(PartitionStore(faulty), table, 1, 2, 3)
        except Crash:
            expected = made(table, hours(1, 1, 2, 3))
        seen = bytes_of(PartitionStore(rows))
        assert seen == expected[: len(seen)]
        if not faulty.struck:
            break
    assert at > 5
    assert seen == expected


def test_rows_of_an_earlier_version_are_read_and_packed(store, wide):
    expected = added(store, wide, *range(10, 20))
    backend = store.rows
    whole = list(store.table_row("shop", "sales").unpacked(backend).whole_rows(b"shop", b"shoq"))
    damaged = whole[0]._replace(key=whole[0].key[:-1] + b"\xff\xff")  # with the others in one batch
    for rows in (whole, whole[::2]):  # all, then some
        backend.write(rows, [], store.table_row("shop", "sales").log.sequence)
        assert sum(number_of(payload) is None for payload in rows_of(store).values()) == len(rows)
        assert bytes_of(store) == expected
        assert pack_store(store._tables) == len(rows)
        assert pack_store(store._tables) == 0
        backend.write([damaged], [], store.table_row("shop", "sales").log.sequence)
        backend.write(rows, [], store.table_row("shop", "sales").log.sequence)
        assert pack_store(store._tables) == len(rows)
        backend.write([], [damaged.key], store.table_row("shop", "sales").log.sequence)
        assert max(map(len, rows_of(store).values())) < 90
        assert bytes_of(store) == expected
        assert [problem for problem in store.check("shop", "sales") if problem is not None] == []
        assert store.totals("shop", "sales").partitions == len(expected)


def test_a_row_that_lost_its_template_is_named(store, wide):
    added(store, wide, 1)
    (row,) = store.rows.whole_rows(b"shop", b"shoq")
    size = row.payload[-1]
    damaged = row.payload[:size] + b"gone" + row.payload[size + 4 :]
    store.rows.write([row._replace(payload=damaged)], [], store.table_row("shop", "sales").log.sequence)
    assert "cannot be decoded" in str(next(problem for problem in store.check("shop", "sales") if problem is not None))


def test_a_table_whose_templates_are_damaged_is_named_and_can_be_dropped(store, wide):
    added(store, wide, 1)
    row = store.table_row("shop", "sales")
    store.rows.put_cells([CatalogCell(row.key, TEMPLATES, b"\0\0\1")], row.log.sequence)
    fresh = PartitionStore(store.rows)
    assert "cannot be decoded" in str(next(problem for problem in fresh.check("shop", "sales") if problem is not None))
    with pytest.raises(CorruptRow, match="the templates of a table"):
        fresh.add_partitions("shop", "sales", hours(1, 2))
    fresh.drop_table("shop", "sales")
    assert fresh.table_names("shop") == []


def test_a_backup_of_whole_rows_is_restored(tmp_path):
    """A version that knew no packed rows took it; one that had other keys has to be brought up first."""
    with connect(f"sqlite://{tmp_path}/store.db") as store:
        store.create_database("shop")
        store.create_table(sales_table(columns=WIDE))
        expected = added(store, sales_table(columns=WIDE), 1, 2)
        whole = list(store.table_row("shop", "sales").unpacked(store.rows).whole_rows(b"shop", b"shoq"))
        store.rows.write(whole, [], 1)
        backup = back_up(store._tables.transactions, "shop", tmp_path / "backup.db").path
    for number, error in ((3, NotAStore), (4, None)):
        with closing(sqlite3.connect(backup)) as file:
            file.execute(f"PRAGMA user_version = {number}")
        target = connect_rows("memory://?atomic=false")
        with pytest.raises(error) if error else nullcontext():
            restore(backup, target)
    assert bytes_of(PartitionStore(target)) == expected
