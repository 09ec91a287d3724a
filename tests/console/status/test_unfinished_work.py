"""What the page about a server takes for stuck: what is past its lease, and no work of the living."""

from __future__ import annotations

from hbstore.console.status.unfinished_work import stuck_work, waiting_locks
from hbstore.model.service_objects import LockComponent, LockLevel, LockType
from hbstore.store.catalog_logs import CatalogObject
from hbstore.store.publications_cell import Publication
from hbstore.transactions.log import Commit, Intent, Log

NOW = 10_000.0
SALES = ("shop", "sales")


def stuck(*objects):
    return [(work.name, work.kind, work.since.total_seconds(), work.by) for work in stuck_work(objects, (), NOW)]


THERE = Log(state=b"[]")


def table(log, *publications):
    return CatalogObject("table", SALES, log, publications)


def publication(until, *, decided=False):
    return Publication("7", decided, until, frozenset({"a", "b"}))


def test_publications_are_stuck_when_their_leases_have_ended_the_longest_first():
    living, leased, decided = publication(NOW + 1), publication(NOW - 60), publication(NOW - 90, decided=True)
    assert stuck(table(THERE, living, leased, decided)) == [
        ("shop.sales", "publication, decided", 90, "2 partitions, id 7"),
        ("shop.sales", "publication, overdue", 60, "2 partitions, id 7"),
    ]


def test_those_of_a_dropped_table_are_not():
    assert stuck(table(Log(), publication(NOW - 60))) == []


def test_changes_are_stuck_ten_minutes_after_they_began():
    old, new = f"{int(NOW) - 700}/lake1/4711/5e0f", f"{int(NOW) - 500}/lake1/4711/5e0f"
    commits = tuple(Commit(one, 1, b"T", stored=True) for one in (old, new))
    intent = Intent(old, b"T", 0, 0)
    fact = CatalogObject("fact", ("shop", "hires"), Log(intent=intent, state=b"{}"))
    assert stuck(table(Log(commits=commits, state=b"[]")), fact) == [
        ("shop.sales", "change, decided and not written", 700, "process 4711 on lake1"),
        ("shop.hires", "row, locked for a change", 700, "process 4711 on lake1"),
    ]
    assert [work.table for work in stuck_work([table(Log(commits=commits, state=b"[]")), fact], (), NOW)] == [
        SALES,
        None,
    ]


def test_a_change_whose_id_says_nothing_is_left_out():
    assert stuck(table(Log(commits=(Commit("damaged", 1, b"T", stored=True),), state=b"[]"))) == []


def test_locks_that_wait_say_for_whom(catalog):
    locks, component = catalog.store.hive.locks, LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, *SALES)
    taken = [locks.lock([component], user=user) for user in ("ann", "bob", "eve")]
    since = locks.show()[0].acquired / 1000
    first, second = waiting_locks(locks.show(), since + 65)
    assert (first.lock.user, first.blocker.user, first.held.total_seconds(), first.names) == (
        "bob",
        "ann",
        65,
        "shop.sales",
    )
    assert (second.lock.user, second.blocker.user) == ("eve", "ann")
    for lock in taken:
        locks.release(lock.id)
    assert waiting_locks(locks.show(), since) == []
