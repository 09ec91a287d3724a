"""Two databases, tables between which partitions move, the operations that move them, and all that can be seen."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from hbstore import Column, Partition, TableNotFound, connect
from hbstore.model.layouts import PARTITION
from hbstore.store.check import repair_catalog
from hbstore.store.table_row import TABLE_KEYS
from hbstore.transactions.log import LOG, Log
from tests.store.conftest import sales_table
from tests.store.copies import copies_of
from tests.store.operations import DAY, payloads

COLUMNS = [Column("price", "int"), Column("note", "string")]
SALES, RETURNS = ("shop", "sales"), ("shop", "returns")
MOVED = ("s3://shop/sales", "s3://attic/old")


def table(database, name, **fields):
    return replace(sales_table(), database=database, name=name, create_time=5, **fields)


def marked(hour, mark="first"):
    return Partition((DAY, hour), parameters={"mark": mark}, create_time=7)


def prepared(url="memory://?atomic=false"):
    """Sales with five partitions, returns with two, an empty attic, and a name in it that was once another table's."""
    store = connect(url)
    store.create_database("shop")
    store.create_database("attic")
    store.create_table(table("attic", "sales", location="s3://attic/sales"))
    store.add_partitions("attic", "sales", [marked(hour, "gone") for hour in ("2", "3", "77")])
    store.drop_partitions("attic", "sales", [(DAY, "3")])
    store.drop_table("attic", "sales")
    store.create_table(table(*SALES))
    store.create_table(table(*RETURNS, location="s3://shop/returns"))
    store.add_partitions(*SALES, [marked(hour) for hour in "02345"])
    store.add_partitions(*RETURNS, [marked("5", "returned"), marked("9", "returned")])
    return store


fresh = copies_of(prepared)


def rename(store):
    store.rename_table(*SALES, table("shop", "old", location="s3://attic/old"), relocated=MOVED)


def rename_below(store):
    """To a folder below the old one: a location that is changed twice shows."""
    new = table("shop", "old", location="s3://shop/sales/v2")
    store.rename_table(*SALES, new, relocated=("s3://shop/sales", "s3://shop/sales/v2"))


def rename_away(store):
    """To a name where other partitions were dropped, with greater sequence numbers than these have."""
    store.rename_table(*SALES, table("attic", "sales"))


def exchange(store):
    return [one.values for one in store.exchange_partitions(SALES, RETURNS, [(DAY, "4"), (DAY, "2")])]


def exchange_back(store):
    moved = store.exchange_partitions(RETURNS, SALES, [(DAY, "9")], relocated=("s3://shop/returns", "s3://shop/sales"))
    return [one.values for one in moved]


def cascade(store):
    store.alter_table(table(*SALES, columns=COLUMNS, parameters={"a": "b"}), cascade=True)


def declare(store):
    """Timelines, only in the place of the very table that was read."""
    declared = {"cube.storagetable.time.partcols": "ds", "cube.storagetable.update.periods": "DAILY"}
    store.alter_table(table(*SALES, parameters=declared), replaces=store.get_table(*SALES))


MOVES = [rename, rename_below, rename_away, exchange, exchange_back, cascade, declare]


def seen(store):
    """Every table with what it is, and every partition with all of its fields and the names in its bytes."""
    found = {}
    for database in store.database_names():
        for name in store.table_names(database):
            known = store.get_table(database, name)
            found[database, name] = known, tuple(partitions(store, database, name))
    return found


def partitions(store, database, name):
    for payload in store.read_payloads(
        database, name, None, lambda _row, _plan, batches: [one for batch in batches for one in batch]
    ):
        fields = PARTITION.read(payload, 0)[0]
        storage, location = fields["storage"]
        yield fields["values"], fields["database"], fields["table"], location, storage.columns, fields["parameters"]


def places(store):
    """Where each partition is, by its values and its mark."""
    found = {}
    for (database, name), (_, listed) in seen(store).items():
        for one in listed:
            found.setdefault((one[0], one[5]["mark"]), []).append((database, name))
    return found


def repair(store):
    """What `hbstore repair` does."""
    repair_catalog(store._tables.transactions)
    for database in store.database_names():
        for name in store.table_names(database):
            with suppress(TableNotFound):  # it has another name by now
                assert not store.repair(database, name).miscounted
    repair_catalog(store._tables.transactions)


def assert_clean(store):
    """Nothing is unfinished, reserved or left behind, and all rows are those of a table."""
    names = [(database, name) for database in store.database_names() for name in store.table_names(database)]
    for key, cells in store.rows.scan_catalog(*TABLE_KEYS):
        log = Log.decode(cells.get(LOG))
        assert (log.commits, log.intent) == ((), None), key
    assert payloads(store) == []
    for name in names:
        assert [problem for problem in store.check(*name) if problem is not None] == []
    assert sum(1 for _ in store.rows.whole_rows(b"\0", b"\xff")) == sum(store.count_partitions(*one) for one in names)
