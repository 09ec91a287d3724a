"""All public changes of catalog rows that hold one state, struck by every fault at each write, and two at once.

A change that is added to `CHANGES` is covered by both tests.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement

import pytest

from hbstore import HbstoreError, connect
from hbstore.model import Grant
from hbstore.service_model import (
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
from hbstore.store.hive.functions import FUNCTION_KEYS
from hbstore.store.partition_store import PartitionStore
from hbstore.store.stream_batches import Stream, StreamBatch
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.payloads import PAYLOAD_KEYS
from tests.store.conftest import sales_table
from tests.store.copies import copies_of
from tests.store.faults import Fault
from tests.store.stepping import play, schedules
from tests.store.strikes import check_outcome, make_impatient, struck

STREAM = Stream("4e5f", "shop.sales")
TAX = Function("shop", "tax", "org.shop.Tax")
SALES = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "shop", "sales")


def granted(principal, kind=ObjectType.DATABASE, *names):
    return [ObjectGrant(ObjectRef(kind, *names), principal, PrincipalType.USER, Grant("SELECT"))]


def record(store, number):
    store.publications.record(store.table_row("shop", "sales"), StreamBatch(STREAM, number, f"of {number}"))


CHANGES = {
    "create a document": lambda store: store.documents.create("shop", "fact", "new", "{}"),
    "create it otherwise": lambda store: store.documents.create("shop", "fact", "new", "[]"),
    "replace a document": lambda store: store.documents.replace("shop", "fact", "old", "{}", "[1]"),
    "drop a document": lambda store: store.documents.drop("shop", "fact", "old"),
    "drop what a document was": lambda store: store.documents.drop("shop", "fact", "old", expected="{}"),
    "create a function": lambda store: store.hive.functions.create(replace(TAX, name="new")),
    "alter a function": lambda store: store.hive.functions.alter("shop", "tax", replace(TAX, owner="ann")),
    "rename a function": lambda store: store.hive.functions.alter("shop", "tax", replace(TAX, name="new")),
    "move a function": lambda store: store.hive.functions.alter("shop", "tax", replace(TAX, database="other")),
    "move a function here": lambda store: store.hive.functions.alter("other", "levy", replace(TAX, name="new")),
    "drop a function": lambda store: store.hive.functions.drop("shop", "tax"),
    "create a record": lambda store: store.records.create("note", "new", "{}"),
    "change a record": lambda store: store.records.change("note", "old", lambda text: text + "!"),
    "drop a record": lambda store: store.records.drop("note", "old"),
    "drop what a record was": lambda store: store.records.drop("note", "old", expected="{}"),
    "create a role": lambda store: store.hive.roles.create(Role("new")),
    "drop a role": lambda store: store.hive.roles.drop("old"),
    "give a role": lambda store: store.hive.roles.grant(Membership("old", "bob")),
    "take a role": lambda store: store.hive.roles.revoke("old", "ann", PrincipalType.USER),
    "grant on a database": lambda store: store.hive.grants.grant(granted("bob", ObjectType.DATABASE, "shop")),
    "grant on a table": lambda store: store.hive.grants.grant(granted("bob", ObjectType.TABLE, "shop", "sales")),
    "revoke": lambda store: store.hive.grants.revoke(granted("ann", ObjectType.DATABASE, "shop")),
    "lock": lambda store: store.hive.locks.lock([SALES]).state.name,
    "release": lambda store: store.hive.locks.release(1),
    "open transactions": lambda store: tuple(store.hive.transactions.open(2)),
    "commit": lambda store: store.hive.transactions.commit(1),
    "record a batch": lambda store: record(store, 8),
}
DROPS = {name: lambda store, name=name: store.drop_database(name, cascade=True) for name in ("shop", "other")}
BESIDE_DROPS = ("create a document", "create a function", "move a function", "move a function here")
PAIRS = [
    *(pair for pair in combinations_with_replacement(CHANGES, 2) if pair[0].split()[-1] == pair[1].split()[-1]),
    *((name, drop) for name in BESIDE_DROPS for drop in DROPS),
]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    make_impatient(monkeypatch)


@copies_of
def fresh():
    """A store in which each change has something to change."""
    store = connect("memory://?atomic=false")
    for database in ("shop", "other"):
        store.create_database(database)
    store.create_table(sales_table())
    store.documents.create("shop", "fact", "old", "{}")
    store.records.create("note", "old", "{}")
    for function in (TAX, replace(TAX, database="other", name="levy")):
        store.hive.functions.create(function)
    store.hive.roles.create(Role("old"))
    store.hive.roles.grant(Membership("old", "ann"))
    store.hive.grants.grant(granted("ann", ObjectType.DATABASE, "shop"))
    store.hive.locks.lock([SALES])
    store.hive.transactions.open()
    record(store, 7)
    return store


def seen(rows):
    """All that the changes change, but for times."""
    store = PartitionStore(rows)
    hive = store.hive
    is_there = "sales" in store.table_names("shop") if "shop" in store.database_names() else False
    return (
        store.database_names(),
        store.documents.all("shop", "fact"),
        list(store.records.list("note")),
        [replace(one, create_time=0) for one in hive.functions.all()],
        [(role, [one.principal for one in hive.roles.members(role)]) for role in hive.roles.names()],
        [(str(one.target), one.principal) for one in hive.grants.list()],
        [(one.id, one.state) for one in hive.locks.show()],
        (hive.transactions.list().high_water_mark, [one.id for one in hive.transactions.list().open]),
        store.publications.batches(store.table_row("shop", "sales"), STREAM).digests if is_there else None,
    )


def after(*acts):
    """What is seen after some changes, of which the last may be refused."""
    rows = fresh().rows
    for act in acts:
        result_of(act, rows)
    return seen(rows)


def result_of(act, rows):
    try:
        return act(PartitionStore(rows))
    except HbstoreError as error:
        return type(error).__name__


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name)
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_made_or_not_and_its_answer_says_so(name, fault):
    act = CHANGES[name]
    nothing, once, twice = after(), after(act), after(act, act)
    assert once != nothing
    for store, faulty, ended in struck(fresh, act, fault):
        found = seen(store.rows)
        check_outcome(found, ended, nothing, once)
        result_of(act, store.rows)
        again = seen(store.rows)
        assert again == (once if found == nothing else twice), "the next writer sees what is there"
        faulty.arrive()
        assert seen(store.rows) == again, "a late write undoes a later one"


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name)
def test_a_repair_leaves_a_function_under_one_name(fault):
    act = CHANGES["move a function"]
    nothing, everything = after(), after(act)
    for store, _, ended in struck(fresh, act, fault, least=5):
        PartitionStore(store.rows).repair_catalog()
        logs = [Log.decode(cells.get(LOG)) for _, cells in store.rows.scan_catalog(*FUNCTION_KEYS)]
        assert not any(log.intent or log.commits for log in logs)
        assert [cells for _, cells in store.rows.scan_catalog(*PAYLOAD_KEYS) if cells] == []
        check_outcome(seen(store.rows), ended, nothing, everything)


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_two_at_once_do_as_one_behind_the_other(pair):
    acts = [(CHANGES | DROPS)[name] for name in pair]

    def outcome(schedule):
        rows = fresh().rows
        results, calls = play(rows, acts, schedule)
        return (results, seen(rows)), calls

    serial = [outcome([(number, 10_000)]) for number in (0, 1)]
    lengths = [max(calls[number] for _, calls in serial) + 2 for number in (0, 1)]
    for schedule in schedules(lengths, step=1 if lengths[0] * lengths[1] < 200 else 3):
        assert outcome(schedule)[0] in [found for found, _ in serial], schedule
