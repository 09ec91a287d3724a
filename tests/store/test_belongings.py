"""What belongs to tables and databases: check looks at it, it goes with its table, and repair removes leftovers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Database, Partition, Table, connect
from hbstore.model.objects import Grant, Privileges
from hbstore.model.service_objects import ColumnStatistic, Function, LockComponent, LockLevel, LockType, Role
from hbstore.publishing import Manifest, PartitionWrite, Stream, StreamBatch
from hbstore.rows.interface import CatalogCell, PartitionRow
from hbstore.store import belongings
from hbstore.store.companion_keys import table_companion_key
from hbstore.store.grants_row import grants_key, mark_of
from hbstore.store.hive.functions import function_key
from hbstore.store.manifest_rows import manifest_key
from hbstore.store.stream_batches import StreamRecord, record_key
from hbstore.store.table_row import table_key
from hbstore.transactions.log import LOG, Log
from tests.services.documents import put as put_document
from tests.store.conftest import sales_table

SALES = ("shop", "sales")
STREAM = Stream("4e5f", "shop.sales")
GRANTS = Privileges(users={"ann": [Grant("SELECT", 5)]})
BATCHES = b'{"query":"4e5f","sink":"shop.sales","batches":[7]}'
LATER = 2**40
"""A sequence number behind all that a store here has used."""


@pytest.fixture(params=["memory", "nonatomic", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def store(request, tmp_path):
    """A store with a row of each kind."""
    urls = {"memory": "memory://", "nonatomic": "memory://?atomic=false", "sqlite": f"sqlite://{tmp_path}/store.db"}
    with connect(urls.get(request.param) or request.getfixturevalue("hbase_url")) as store:
        for database in store.database_names():
            store.drop_database(database, cascade=True)
        store.repair_catalog()
        for name in set(store.hive.roles.names()) - {"admin", "public"}:
            store.hive.roles.drop(name)
        store.create_database("shop")
        fill(store)
        yield store


def fill(store):
    store.create_table(replace(sales_table(), location="s3://shop/sales"), grants=GRANTS)
    store.add_partitions(*SALES, [Partition(("2013-01-01", "0"))])
    store.column_statistics.write_table(*SALES, [ColumnStatistic("price", "int", b"1")])
    store.hive.functions.create(Function("shop", "tax", "org.shop.Tax"))
    store.hive.roles.create(Role("sales"))
    store.hive.locks.lock([LockComponent(LockType.SHARED_READ, LockLevel.TABLE, "shop", "sales")])
    if not dict(store.records.list("note")):
        store.records.create("note", "milk", "{}")
    put_document(store, "shop", "fact", "sales", "{}")
    publish(store, "shown", StreamBatch(STREAM, 7, "d7"))
    store.publications.close(store.table_row(*SALES), "shown")
    publish(store, "open", None)


def publish(store, name, batch):
    row = store.table_row(*SALES)
    write = PartitionWrite(("2013-01-02", "0"), "s3://shop/sales/x")
    manifest = Manifest(name, f"s3://shop/sales/_hbstore/{name}", (write,), batch)
    store.publications.lease(row, name, {}, manifest.encode(), 4e9, batch)
    store.publications.decide(row, name)


def problems(store):
    """What check says: of the catalog, and of the table."""
    found = [problem for _, _, problem in store.check_catalog()]
    if "sales" in store.table_names("shop"):
        found += store.check(*SALES)
    return [problem for problem in found if problem is not None]


def put_state(store, key, state):
    """Give a row another state, past all that the store sees to."""
    cell = (store.rows.get(key) or {}).get(LOG)
    assert store.rows.compare_and_put(key, LOG, cell, replace(Log.decode(cell), state=state).encode())


def row_of_stream(store):
    return record_key(store.table_row(*SALES).table_id, STREAM)


def copied(store, key, other):
    put_state(store, other, Log.decode(store.rows.get(key)[LOG]).state)
    return other


DAMAGES = {
    "a function": lambda s: put_state(s, function_key("shop", "tax"), b"\x0b"),
    "a function under another name": lambda s: copied(s, function_key("shop", "tax"), function_key("shop", "levy")),
    "grants": lambda s: put_state(s, grants_key(s.table_row(*SALES).key), b"[1"),
    "grants on another table": lambda s: copied(s, grants_key(s.table_row(*SALES).key), b"Gshop\0books"),
    "the lock table": lambda s: put_state(s, b"L", b"[]"),
    "another lock table": lambda s: copied(s, b"L", b"L2"),
    "the roles": lambda s: put_state(s, b"R", b"{}"),
    "other roles": lambda s: copied(s, b"R", b"R2"),
    "a stream": lambda s: put_state(s, row_of_stream(s), b"{}"),
    "a stream's batches": lambda s: put_state(s, row_of_stream(s), BATCHES),
    "another stream": lambda s: copied(s, row_of_stream(s), record_key(s.table_row(*SALES).table_id, Stream("1", "2"))),
    "a document": lambda s: put_state(s, b"Mshop\0fact\0sales", b"\xff"),
    "a record": lambda s: put_state(s, b"Qnote\0milk", b"\xff"),
    "statistics": lambda s: s.rows.write([PartitionRow(table_companion_key(s.table_row(*SALES)), (), b"x")], (), LATER),
    "a manifest": lambda s: s.rows.write(
        [PartitionRow(manifest_key(s.table_row(*SALES), "open"), (), b"x")], (), LATER
    ),
    "no manifest": lambda s: s.rows.write((), (manifest_key(s.table_row(*SALES), "open"),), LATER),
    "a manifest too many": lambda s: s.rows.write(
        [PartitionRow(manifest_key(s.table_row(*SALES), "none"), (), b"x\x9c\xab\xae\x05\x00\x01u\x00\xf9")], (), LATER
    ),
    "the publications": lambda s: s.rows.put_cells([cell_of_writes(s, b"{")], LATER),
}


def cell_of_writes(store, value):
    return CatalogCell(store.table_row(*SALES).key, "i:writes", value)


def test_a_store_in_which_all_is_well(store):
    assert problems(store) == []


@pytest.mark.parametrize("store", ["memory", "nonatomic", "sqlite"], indirect=True)
@pytest.mark.parametrize("damage", DAMAGES)
def test_check_names_each_kind_of_row_that_is_damaged(store, damage):
    DAMAGES[damage](store)
    found = problems(store)
    assert found, damage
    assert all(problem.text for problem in found)


def left(store):
    """The keys of rows of streams, grants on tables, and companions that hold something."""
    keys = [
        key
        for start, stop in ((b"S", b"T"), (b"Gshop\0", b"Gshop\1"))
        for key, cells in store.rows.scan_catalog(start, stop)
        if Log.decode(cells.get(LOG)).state
    ]
    return keys + [row.key for row in store.rows.whole_rows(b"\1", b"\2")]


@pytest.mark.parametrize("drop", ["the table", "the database"])
def test_what_belongs_to_a_table_goes_with_it(store, drop):
    assert len(left(store)) == 4
    if drop == "the table":
        store.drop_table(*SALES)
    else:
        store.drop_database("shop", cascade=True)
        store.create_database(Database("shop"))
    assert left(store) == []
    assert problems(store) == []


def test_repair_removes_what_outlived_its_table(store):
    """As older versions left it."""
    row = store.table_row(*SALES)
    keys = row_of_stream(store), grants_key(row.key)
    record, granted = (Log.decode(store.rows.get(key)[LOG]).state for key in keys)
    store.drop_table(*SALES)
    put_state(store, record_key(row.table_id, STREAM), record)
    put_state(store, grants_key(row.key), granted)
    store.create_table(Table("shop", "books"), grants=GRANTS)
    assert len(problems(store)) == 2
    assert all("outlived its table" in problem.text for problem in problems(store))
    assert store.repair_catalog() == 2
    assert problems(store) == []
    assert len(left(store)) == 1, "what the other table has stays"
    assert StreamRecord.decode(STREAM, record).last == 7


def test_what_a_new_table_has_meanwhile_stays(store, monkeypatch):
    """A row outlived its table; between the look and the removal a table of the name gets one of its own."""
    key = grants_key(table_key(*SALES))
    was = store._tables.transactions.state(key)
    store.drop_table(*SALES)
    store._tables.transactions.change_state(key, lambda _: (was, None))
    look = belongings.outlived

    def slow(tables):
        seen = list(look(tables))
        assert [one for one, _ in seen] == [key]
        store.create_table(sales_table(), grants=GRANTS)
        return seen

    monkeypatch.setattr(belongings, "outlived", slow)
    store.repair_catalog()
    assert mark_of(store._tables.transactions.state(key)) == store.table_row(*SALES).table_id
