"""What belongs to a database goes with it, whatever happens meanwhile: altered, created again, writers that die."""

from __future__ import annotations

from contextlib import suppress

import pytest

from hbstore import (
    AlreadyExists,
    Database,
    DatabaseNotEmpty,
    DatabaseNotFound,
    StoreUnavailable,
    connect,
)
from hbstore.model.objects import Grant
from hbstore.model.service_objects import Function, ObjectGrant, ObjectRef, ObjectType, PrincipalType
from hbstore.store.partition_store import PartitionStore
from tests.services.documents import put as put_document
from tests.store.conftest import hours, sales_table
from tests.store.faults import Fault, FaultyRows
from tests.store.stepping import play, schedules
from tests.store.strikes import check_outcome, make_impatient, struck

SHOP = ObjectRef(ObjectType.DATABASE, "shop")
GRANT = ObjectGrant(SHOP, "ann", PrincipalType.USER, Grant("SELECT", create_time=1))
TABLE_GRANT = ObjectGrant(ObjectRef(ObjectType.TABLE, "shop", "sales"), "ann", PrincipalType.USER, Grant("SELECT"))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    make_impatient(monkeypatch)


def furnished(url="memory://?atomic=false", *, tables=True):
    """A database to which something of every kind belongs."""
    store = connect(url)
    store.create_database(Database("shop", owner="old"))
    furnish(store, "old")
    if tables:
        store.create_table(sales_table())
        store.add_partitions("shop", "sales", hours(1, 5, 6))
        store.hive.grants.grant([TABLE_GRANT])
    return store


def furnish(store, name):
    store.hive.functions.create(Function("shop", name, "org.C"))
    put_document(store, "shop", "cube", name, "{}")
    store.hive.grants.grant([GRANT])


def seen(store):
    """All that can be seen of the database, once a repair or nobody has finished what is open."""
    if "shop" not in store.database_names():
        return None
    return (
        store.get_database("shop").owner,
        store.table_names("shop"),
        store.hive.functions.names("shop"),
        store.documents.names("shop", "cube"),
        len(store.hive.grants.list(target=SHOP)),
    )


BARE = ("new", [], [], [], 0)
NEW = ("new", [], ["new"], ["new"], 1)


def drop(store):
    store.drop_database("shop", cascade=True)


def drop_empty(store):
    store.drop_database("shop")


@pytest.mark.parametrize("url", ["memory://", "memory://?atomic=false", "sqlite://{}/store.db"])
def test_what_belongs_to_a_database_goes_with_it(url, tmp_path):
    store = furnished(url.format(tmp_path))
    with pytest.raises(DatabaseNotEmpty):
        drop_empty(store)
    assert seen(store) == ("old", ["sales"], ["old"], ["old"], 1)
    drop(store)
    store.create_database(Database("shop", owner="new"))
    assert seen(store) == BARE
    assert list(store.rows.whole_rows(b"\0", b"\xff")) == []


@pytest.mark.parametrize("tables", [True, False])
@pytest.mark.parametrize("fault", [one for one in Fault if one is not Fault.LATE])
def test_nothing_of_a_dropped_database_is_seen_on_the_next(fault, tables):
    """The one who drops it dies at some write; the next one of the name finishes that, or finds the old one whole."""
    change = drop if tables else drop_empty
    before = seen(furnished(tables=tables))
    gone = 0
    for store, _, ended in struck(lambda: furnished(tables=tables), change, fault, least=4):
        check_outcome(seen(store), ended, before, None)
        try:
            store.create_database(Database("shop", owner="new"))
        except AlreadyExists:
            assert seen(store) == before
        else:
            gone += 1
            assert seen(store) == BARE
            store.repair_catalog()
            assert list(store.rows.whole_rows(b"\0", b"\xff")) == []
            furnish(store, "new")
            assert seen(store) == NEW
    assert gone


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.GONE])
def test_a_repair_finishes_a_drop(fault):
    left = 0
    for store, _, _ in struck(furnished, drop, fault, least=4):
        dropped = seen(store) is None
        left += bool(store.repair_catalog())
        assert store.repair_catalog() == 0
        if dropped:
            assert [cells for _, cells in store.rows.scan_catalog(b"D", b"N") if cells.get("d:def")] == []
    assert left


@pytest.mark.parametrize("url", ["memory://", "sqlite://{}/store.db"])
def test_where_there_are_transactions_a_drop_is_one(url, tmp_path):
    refused = 0
    for at in range(20):
        store = furnished(url.format(tmp_path))
        before = seen(store)
        faulty = FaultyRows(store.rows, Fault.REFUSED, at)
        try:
            drop(PartitionStore(faulty))
        except StoreUnavailable:
            assert seen(store) == before
            refused += 1
        else:
            assert seen(store) is None
        if not faulty.struck:
            assert refused > 4
            return
        store.drop_database("shop", cascade=True, if_exists=True)
        store.close()


def test_a_database_that_is_altered_meanwhile_is_dropped_all_the_same():
    for schedule in schedules([20, 3], step=1):
        store = furnished()
        results, _ = play(
            store.rows, [drop, lambda store: store.alter_database(Database("shop", owner="ann"))], schedule
        )
        assert results[0] is None, (schedule, results)
        assert results[1] in (None, "DatabaseNotFound"), (schedule, results)
        assert seen(store) is None
        store.create_database(Database("shop", owner="new"))
        assert seen(store) == BARE, schedule


def creating_again(name):
    """A process that creates the database again as soon as it can, with a function and a document of a name."""

    def create_again(store):
        for _ in range(3):
            with suppress(AlreadyExists):
                store.create_database(Database("shop", owner="new"))
                furnish(store, name)
                return "made"
        return "never"

    return create_again


@pytest.mark.parametrize("tables", [True, False])
def test_a_database_that_is_created_again_meanwhile_keeps_what_is_its_own(tables):
    made = 0
    for schedule in schedules([30, 40], step=3):
        store = furnished(tables=tables)
        results, _ = play(store.rows, [drop if tables else drop_empty, creating_again("new")], schedule)
        assert results[0] is None, (schedule, results)
        assert results[1] in ("made", "never"), (schedule, results)
        assert seen(store) == (NEW if results[1] == "made" else None), schedule
        made += results[1] == "made"
    assert made > 20


def test_an_equal_function_of_the_next_database_stays(monkeypatch):
    """Created in the same second, so that nothing but random bytes tells the one from the other."""
    monkeypatch.setattr("hbstore.store.hive.functions.time.time", lambda: 1_000.0)

    made = 0
    for schedule in schedules([30, 40], step=2):
        store = furnished(tables=False)
        results, _ = play(store.rows, [drop_empty, creating_again("old")], schedule)
        assert results[0] is None, (schedule, results)
        if results[1] == "made":
            made += 1
            assert seen(store) == ("new", [], ["old"], ["old"], 1), schedule
    assert made > 20


def test_two_that_drop_one_database():
    for schedule in schedules([30, 30], step=2):
        store = furnished()
        results, _ = play(store.rows, [drop, drop], schedule)
        assert sorted(map(str, results)) == ["DatabaseNotFound", "None"], (schedule, results)
        store.create_database(Database("shop", owner="new"))
        assert seen(store) == BARE, schedule


def test_a_table_that_is_created_stops_a_drop_that_is_not_decided():
    """The one who drops the database dies at some write; the one who creates a table gets it, or no database."""
    kept = 0
    for store, _, _ in struck(lambda: furnished(tables=False), drop_empty, Fault.CRASH, least=3):
        before = seen(store)
        try:
            store.create_table(sales_table())
        except DatabaseNotFound:
            store.create_database(Database("shop", owner="new"))
            assert seen(store) == BARE
        else:
            kept += 1
            assert before == ("old", [], ["old"], ["old"], 1)
            assert seen(store) == ("old", ["sales"], ["old"], ["old"], 1)
    assert kept


@pytest.mark.parametrize("what", ["function", "document", "grant"])
def test_what_is_put_while_its_database_goes_is_not_seen_on_the_next(what):
    put = {
        "function": lambda store: store.hive.functions.create(Function("shop", "late", "org.C")),
        "document": lambda store: put_document(store, "shop", "cube", "late", "{}"),
        "grant": lambda store: store.hive.grants.grant([ObjectGrant(SHOP, "bob", PrincipalType.USER, Grant("ALL"))]),
    }[what]
    for schedule in schedules([8, 30], step=1):
        store = furnished(tables=False)
        results, _ = play(store.rows, [put, drop], schedule)
        assert results[0] in (None, "DatabaseNotFound"), (schedule, results)
        assert results[1] is None
        store.create_database(Database("shop", owner="new"))
        assert seen(store) == BARE, (schedule, results)
