"""One table of all public changes of a store: the tests strike and interleave each change that is added to `CHANGES`.

A change is named by the method that makes it, as `tests.calls.OBJECTS` names these, and what is special about it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from hbstore import Column, Database, DatabaseNotFound, HbstoreError, Partition, TableNotFound, connect
from hbstore.errors import ConstraintNotFound, GrantNotFound
from hbstore.model.constraints import Constraint, ConstraintKind, References
from hbstore.model.objects import Grant, Privileges
from hbstore.model.service_objects import (
    ColumnStatistic,
    Function,
    LockComponent,
    LockLevel,
    LockType,
    Membership,
    ObjectGrant,
    ObjectRef,
    ObjectType,
    PrincipalType,
    Role,
)
from hbstore.store.check import repair_catalog
from hbstore.store.hive.lock_table import LockTableRow
from hbstore.store.hive.locks import Locks
from hbstore.store.hive.transactions import HiveTransactions
from hbstore.store.manifest import Manifest, PartitionWrite
from hbstore.store.partition_store import PartitionStore
from hbstore.store.puts import partition_key
from hbstore.store.stream_batches import Stream, StreamBatch
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.payloads import PAYLOAD_KEYS
from tests.calls import TIMED
from tests.services.documents import put, remove
from tests.store import moves
from tests.store.conftest import sales_table
from tests.store.copies import copies_of
from tests.store.strikes import LOCK_TIME
from tests.store.timelines import texts

SALES, RETURNS, BOOKS = ("shop", "sales"), ("shop", "returns"), ("shop", "books")
FIRST, SECOND = ("2013-01-01", "0"), ("2013-01-01", "2")
SPEC = {"ds": "2013-01-01", "hour": "2"}
STREAM = Stream("4e5f", "shop.books")
TAX = Function("shop", "tax", "org.shop.Tax", create_time=5)
KEY = References("shop", "returns", ("hour",))
EXCLUSIVE = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "shop", "sales")
ANN = ("ann", PrincipalType.USER)
FAR = 4e9
"""A time that no lease reaches."""

_ROWS = {}
"""The rows of tables as jobs have read them, by the store's URL; copies of a store have the same."""


def table(name=SALES, **fields):
    return replace(sales_table(), database=name[0], name=name[1], **{"create_time": 5, "parameters": TIMED, **fields})


def partition(day, hour, mark="new"):
    return Partition((f"2013-01-{day:02}", str(hour)), parameters={"mark": mark, "numRows": "5"}, create_time=7)


def about(column, count=1):
    return ColumnStatistic(column, "int", b"%d" % count)


def granted(principal, *names, kind=PrincipalType.USER):
    object_type = ObjectType.DATABASE if len(names) == 1 else ObjectType.TABLE
    return [ObjectGrant(ObjectRef(object_type, *names), principal, kind, Grant("SELECT"))]


@copies_of
def fresh():
    """A store in which each change has something to change."""
    return prepared(connect("memory://?atomic=false"))


def prepared(store):
    """A table with all that a table can have, another one with one partition, one with jobs, and an empty database."""
    for database in ("shop", "attic"):
        store.create_database(database)
    for name in (SALES, RETURNS):
        store.create_table(table(name))
        store.timelines.read(".".join(name))
    store.create_table(table(BOOKS))
    store.timelines.read("shop.books")
    _ROWS[store.rows.url] = {name: store.table_row(*name) for name in (BOOKS, RETURNS)}
    store.add_partitions(*SALES, [partition(1, 0, "old"), partition(1, 2, "old"), partition(2, 4, "old")])
    store.add_partitions(*RETURNS, [partition(1, 5, "old")])
    store.column_statistics.write_table(*SALES, [about("price")])
    store.column_statistics.write_partitions(*SALES, {SECOND: [about("price"), about("note")]})
    store.hive.marks.mark(*SALES, SPEC)
    store.hive.constraints.add(*RETURNS, [Constraint(ConstraintKind.PRIMARY_KEY, ["hour"], "key")])
    put(store, "shop", "fact", "old", "{}")
    store.records.create("note", "old", "{}")
    for function in (TAX, replace(TAX, database="attic", name="levy")):
        store.hive.functions.create(function)
    store.hive.roles.create(Role("old"))
    store.hive.roles.grant(Membership("old", "ann"))
    store.hive.grants.grant([*granted("ann", "shop"), *granted("ann", *SALES)])
    store.hive.grants.grant(granted("old", "shop", kind=PrincipalType.ROLE))
    lock_table = LockTableRow(store._tables.transactions, clock=lambda: LOCK_TIME - 60)  # a check is due, but not late
    Locks(lock_table).lock([EXCLUSIVE])
    HiveTransactions(lock_table).open()
    lease(store, "p0", 19, batch=7)
    publish(store, "decide", "p0")
    publish(store, "close", "p0")
    lease(store, "p1", 20, batch=8)
    lease(store, "p2", 21, of=RETURNS, until=1.0)
    publish(store, "decide", "p2", of=RETURNS)
    return store


@cache
def stored(values):
    """The bytes of one of its partitions before any change."""
    return fresh().get_payloads(*SALES, [values])[0]


def publish(store, method, *arguments, of=BOOKS):
    """Call a method of publications for a table that has some, as a job does that has read its row before."""
    return getattr(store.publications, method)(_ROWS[store.rows.url][of], *arguments)


def lease(store, publication_id, day, until=FAR, of=BOOKS, batch=None):
    """Lease a partition that is not there yet."""
    write = PartitionWrite((f"2013-01-{day}", "0"), "s3://shop/sales/new", statistics={"numRows": 5})
    written = None if batch is None else StreamBatch(STREAM, batch, f"of {batch}")
    manifest = Manifest(publication_id, f"s3://shop/sales/_hbstore/{publication_id}", (write,), written)
    names = {partition_key(_ROWS[store.rows.url][of], write.values): f"ds=2013-01-{day}/hour=0"}
    return publish(store, "lease", publication_id, names, manifest.encode(), until, written, of=of)


PRICED = [Column("price", "int")]
CHANGES = {
    "store.create_database": lambda s: s.create_database("new"),
    "store.alter_database": lambda s: s.alter_database(Database("shop", owner="bob")),
    "store.drop_database": lambda s: s.drop_database("attic"),
    "store.drop_database with all": lambda s: s.drop_database("shop", cascade=True),
    "store.create_table": lambda s: s.create_table(table(("shop", "new"))),
    "store.create_table elsewhere": lambda s: s.create_table(table(("attic", "sales"))),
    "store.alter_table": lambda s: s.alter_table(table(owner="bob")),
    "store.alter_table of what it was": lambda s: s.alter_table(table(owner="ann"), replaces=fresh().get_table(*SALES)),
    "store.alter_table and partitions": lambda s: s.alter_table(table(columns=PRICED), cascade=True),
    "store.alter_table without timelines": lambda s: s.alter_table(table(parameters={})),
    "store.rename_table": lambda s: s.rename_table(*SALES, table(("shop", "new"))),
    "store.rename_table and places": lambda s: s.rename_table(  # to places below those that they had
        *SALES,
        table(("shop", "new"), location="s3://shop/sales/v2"),
        relocated=("s3://shop/sales", "s3://shop/sales/v2"),
    ),
    "store.rename_table away": lambda s: s.rename_table(*SALES, table(("attic", "sales"))),
    "store.drop_table": lambda s: s.drop_table(*SALES),
    "store.add_partitions": lambda s: s.add_partitions(*SALES, [partition(1, 7), partition(3, 7)]),
    "store.add_partitions if missing": lambda s: s.add_partitions(*SALES, [partition(1, 2), partition(3, 7)], True),
    "store.add_partitions respelled": lambda s: s.add_partitions(
        *SALES, [partition("01 00:00", "2.0"), partition(3, "7.0")], invalid_values="keep"
    ),
    "store.drop_partitions": lambda s: s.drop_partitions(*SALES, [FIRST, ("2013-01-02", "4")]),
    "store.drop_partitions if there": lambda s: s.drop_partitions(
        *SALES, [SECOND, ("2013-01-03", "7")], if_exists=True
    ),
    "store.alter_partitions": lambda s: s.alter_partitions(*SALES, [partition(1, 0), partition(1, 2)]),
    "store.create_table with grants": lambda s: s.create_table(
        table(("shop", "new")),
        grants=Privileges(users={"ann": [Grant("SELECT", 5)]}, roles={"old": [Grant("INSERT", 5)]}),
    ),
    "store.alter_partitions of stored bytes": lambda s: s.alter_partitions(
        *SALES, [partition(1, 0)], expected={SECOND: stored(SECOND), ("2013-01-03", "7"): None}
    ),
    "store.rename_partition of stored bytes": lambda s: s.rename_partition(
        *SALES, SECOND, ("2013-01-03", "7"), expected={SECOND: stored(SECOND)}
    ),
    "store.rename_partition": lambda s: s.rename_partition(*SALES, SECOND, ("2013-01-03", "7")),
    "store.rename_partition in words": lambda s: s.rename_partition(*SALES, SECOND, ("2013-01-01", "02")),
    "store.exchange_partitions": lambda s: len(s.exchange_partitions(SALES, RETURNS, [FIRST, SECOND])),
    "store.exchange_partitions back": lambda s: len(s.exchange_partitions(RETURNS, SALES, [("2013-01-01", "5")])),
    "store.change_partitions": lambda s: s.change_partitions(
        *SALES, add=[partition(3, 7)], put=[partition(1, 0)], drop=[SECOND]
    ),
    "store.change": lambda s: s.change(
        "shop.sales",
        lambda sales: sales.change(
            put=[replace(one, parameters={"mark": "seen"}) for one in sales.partitions([FIRST, ("2013-01-03", "7")])],
            drop=sales.select("ds = '2013-01-02'"),
        ),
    ),
    "store.change of the table": lambda s: s.change(
        "shop.sales", lambda sales: sales.alter(replace(sales.table, owner="bob"))
    ),
    "column_statistics.write_table": lambda s: s.column_statistics.write_table(*SALES, [about("price", 2)]),
    "column_statistics.write_partitions": lambda s: s.column_statistics.write_partitions(
        *SALES, {FIRST: [about("price")], SECOND: [about("price", 2)]}
    ),
    "column_statistics.delete_table": lambda s: s.column_statistics.delete_table(*SALES),
    "column_statistics.delete_partition": lambda s: s.column_statistics.delete_partition(*SALES, SECOND, "note"),
    "marks.mark of no partition": lambda s: s.hive.marks.mark(*SALES, {"ds": "2013-01-03", "hour": "7"}),
    "marks.mark": lambda s: s.hive.marks.mark(*SALES, {"ds": FIRST[0], "hour": FIRST[1]}),
    "timelines.convert": lambda s: str(
        s.timelines.convert("shop.sales", UpdatePeriod.DAILY, "ds", "RangesPartitionTimeline")
    ),
    "timelines.rebuild": lambda s: s.timelines.rebuild("shop.sales") and None,
    "timelines.take_over": lambda s: s.timelines.take_over("shop.sales", fresh().timelines.export("shop.sales")),
    "documents.put": lambda s: put(s, "shop", "fact", "new", "{}"),
    "documents.put otherwise": lambda s: put(s, "shop", "fact", "old", "[1]"),
    "documents.remove": lambda s: remove(s, "shop", "fact", "old"),
    "records.create": lambda s: s.records.create("note", "new", "{}"),
    "records.change": lambda s: s.records.change("note", "old", lambda text: text + "!"),
    "records.drop": lambda s: s.records.drop("note", "old"),
    "records.drop of what it was": lambda s: s.records.drop("note", "old", expected="{}"),
    "constraints.add": lambda s: s.hive.constraints.add(
        *SALES, [Constraint(ConstraintKind.FOREIGN_KEY, ["hour"], "to_key", references=KEY)]
    ),
    "constraints.drop": lambda s: s.hive.constraints.drop(*RETURNS, "key"),
    "functions.create": lambda s: s.hive.functions.create(replace(TAX, name="new")),
    "functions.alter": lambda s: s.hive.functions.alter("shop", "tax", replace(TAX, owner="ann")),
    "functions.alter to a name": lambda s: s.hive.functions.alter("shop", "tax", replace(TAX, name="new")),
    "functions.alter to a database": lambda s: s.hive.functions.alter("shop", "tax", replace(TAX, database="attic")),
    "functions.alter to another's name": lambda s: s.hive.functions.alter("attic", "levy", replace(TAX, name="new")),
    "functions.drop": lambda s: s.hive.functions.drop("shop", "tax"),
    "roles.create": lambda s: s.hive.roles.create(Role("new")),
    "roles.drop": lambda s: s.hive.roles.drop("old"),
    "roles.grant": lambda s: s.hive.roles.grant(Membership("old", "bob")),
    "roles.revoke": lambda s: s.hive.roles.revoke("old", *ANN),
    "grants.grant": lambda s: s.hive.grants.grant(granted("bob", "shop")),
    "grants.grant on a table": lambda s: s.hive.grants.grant(granted("bob", *SALES)),
    "grants.revoke": lambda s: s.hive.grants.revoke(granted("ann", "shop")),
    "grants.forget_role": lambda s: s.hive.grants.forget_role("old"),
    "locks.lock": lambda s: s.hive.locks.lock([EXCLUSIVE]).state.name,
    "locks.check": lambda s: s.hive.locks.check(1).state.name,
    "locks.heartbeat": lambda s: s.hive.locks.heartbeat(1),
    "locks.release": lambda s: s.hive.locks.release(1),
    "transactions.open": lambda s: tuple(s.hive.transactions.open(2)),
    "transactions.commit": lambda s: s.hive.transactions.commit(1),
    "transactions.abort": lambda s: s.hive.transactions.abort(1),
    "transactions.abort_all": lambda s: s.hive.transactions.abort_all([1]),
    "transactions.allocate_write_ids": lambda s: s.hive.transactions.allocate_write_ids([1], "4f1d"),
    "transactions.heartbeat": lambda s: s.hive.transactions.heartbeat(1),
    "transactions.heartbeat_range": lambda s: str(s.hive.transactions.heartbeat_range(1, 2)),
    "publications.lease": lambda s: lease(s, "p3", 22),
    "publications.lease of the same": lambda s: lease(s, "p4", 22),
    "publications.extend": lambda s: publish(s, "extend", "p1", FAR + 1),
    "publications.decide": lambda s: publish(s, "decide", "p1"),
    "publications.withdraw": lambda s: publish(s, "withdraw", "p1"),
    "publications.close": lambda s: publish(s, "close", "p2", of=RETURNS),
    "store.rename_table of a job": lambda s: s.rename_table(*BOOKS, table(("shop", "read"))),
    "store.drop_table of a job": lambda s: s.drop_table(*BOOKS),
}
"""The changes; what each returns is the same in each store."""

UNSEEN = {
    *("locks.check", "locks.heartbeat", "transactions.heartbeat", "transactions.heartbeat_range"),
    *("timelines.rebuild", "publications.extend"),
}
"""Those that change nothing but times, or nothing where all is right."""


def seen(rows):
    """All that the changes change, but for times."""
    store = PartitionStore(rows)
    hive = store.hive
    names = [(database, name) for database in store.database_names() for name in store.table_names(database)]
    timed = [name for name in names if store.get_table(*name).parameters]
    return {  # who reads timelines for the first time has them built, which the table's parameters say
        "timelines": {name: texts(store.timelines.read(".".join(name))) for name in timed},
        "databases": store.databases(),
        "tables": {name: store.get_table(*name) for name in names},
        "partitions": {name: list(moves.partitions(store, *name)) for name in names},
        "totals": {name: store.totals(*name) for name in names},
        "constraints": {name: (hive.constraints.of(*name), hive.constraints.referring(*name)) for name in names},
        "statistics": {name: _statistics(store, *name) for name in names},
        "documents": [store.documents.all(database, "fact") for database in store.database_names()],
        "records": list(store.records.list("note")),
        "functions": [replace(one, create_time=0) for one in hive.functions.all()],
        "roles": [(role, [one.principal for one in hive.roles.members(role)]) for role in hive.roles.names()],
        "grants": [(str(one.target), one.principal) for one in hive.grants.list()],
        "locks": [(one.id, one.state) for one in hive.locks.show()],
        "transactions": (
            hive.transactions.list().high_water_mark,
            [(one.id, one.tables, one.writes) for one in hive.transactions.list().open],
            hive.transactions.list().aborted_in,
        ),
        "publications": {name: _publications(store, name) for name in names},
    }


def _statistics(store, *name):
    values = [one.values for one in store.get_partitions_by_filter(*name, None)]
    specs = [dict(zip(("ds", "hour"), one, strict=True)) for one in (*values, ("2013-01-03", "7"))]
    marked = [(spec, store.hive.marks.is_marked(*name, spec)) for spec in specs]
    return store.column_statistics.read_table(*name), store.column_statistics.read_partitions(*name, values), marked


def _publications(store, name):
    row = store.table_row(*name)
    publications = [
        (one.id, one.decided, store.publications.manifest(row, one.id)) for one in store.publications.of(row)
    ]
    return sorted(publications), store.publications.batches(row, STREAM).digests


def result_of(act, rows):
    """What a change returns, or the name of its error; that nothing is there may be said of this or of that."""
    try:
        return act(PartitionStore(rows))
    except (DatabaseNotFound, TableNotFound, GrantNotFound, ConstraintNotFound):
        return "not there"
    except HbstoreError as error:
        return type(error).__name__


def repair(rows):
    """What `hbstore repair` does with all tables; nothing is unfinished, wrong or left behind afterwards."""
    store = PartitionStore(rows)
    repair_catalog(store._tables.transactions)
    names = [(database, name) for database in store.database_names() for name in store.table_names(database)]
    for name in names:
        assert not store.repair(*name).miscounted
        assert [problem for problem in store.check(*name) if problem is not None] == []
    repair_catalog(store._tables.transactions)
    assert [str(problem) for _, _, problem in store.check_catalog() if problem is not None] == []
    for key, cells in rows.scan_catalog(b"", b"\xff"):
        log = Log.decode(cells.get(LOG))
        assert (log.commits, log.intent) == ((), None), key
    assert [key for key, cells in rows.scan_catalog(*PAYLOAD_KEYS) if any(cells.values())] == []
    assert sum(1 for _ in rows.whole_rows(b"\2", b"\xff")) == sum(store.count_partitions(*name) for name in names)
