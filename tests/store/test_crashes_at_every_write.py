"""One write goes wrong, for every write of every operation, in every way: all or nothing is left.

What the operation said must be true: it returned, so all is there; it raised StoreUnavailable, so nothing was changed;
a dead process and CommitStateUnknown leave either. Afterwards a repair, or the next writer, finishes what is open.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from hbstore import CommitStateUnknown, StoreUnavailable, connect
from hbstore.store.partition_store import PartitionStore
from hbstore.transactions import attempt
from tests.store import operations, strikes
from tests.store.conftest import sales_table
from tests.store.copies import copies_of
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.strikes import MOST, check_outcome, ids, make_impatient


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    make_impatient(monkeypatch)
    monkeypatch.setattr(attempt, "MAX_LISTED", 0)  # few rows stand for many, which payload rows hold


@copies_of
def fresh():
    return operations.prepared(connect("memory://?atomic=false"))


def struck(operation, fault):
    return strikes.struck(fresh, operation, fault, least=4)


def before_and_after(operation):
    store = fresh()
    before = operations.seen(store)
    operation(store)
    return before, operations.seen(store)


def repair(store):
    operations.repair(store)
    assert operations.payloads(store) == []


def next_writer(store):
    """Somebody else writes to the same keys, and takes it back; what was decided before is finished first."""
    writer = PartitionStore(store.rows)
    passing = [operations.marked(hour, "passing") for hour in ("1", "2", "3", "4", "7", "8", "9")]
    writer.add_partitions("shop", "sales", passing, if_not_exists=True)
    added = [
        one.values
        for one in writer.get_partitions_by_filter("shop", "sales", None)
        if "passing" in one.parameters.values()
    ]
    writer.drop_partitions("shop", "sales", added)


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.GONE, Fault.LOST_ANSWER])
@pytest.mark.parametrize("operation", [operations.add, operations.rename], **ids)
def test_the_next_writer_leaves_all_or_nothing(operation, fault):
    before, after = before_and_after(operation)
    for store, _, ended in struck(operation, fault):
        next_writer(store)
        assert operations.is_clean(store)
        check_outcome(operations.seen(store), ended, before, after)


@pytest.mark.parametrize("fault", [Fault.LATE, Fault.CRASH, Fault.LOST_ANSWER])
@pytest.mark.parametrize("operation", operations.CHANGES, **ids)
def test_writes_that_arrive_late_change_nothing(operation, fault):
    """After repair and newer changes of the same partitions, the lost write arrives, and all of it once more."""
    for store, faulty, _ in struck(operation, fault):
        store.repair("shop", "sales")
        affected = [(operations.DAY, hour) for hour in ("1", "2", "3", "4", "7", "8", "9")]
        store.drop_partitions("shop", "sales", affected, if_exists=True)
        store.add_partitions("shop", "sales", [operations.marked(hour, "newer") for hour in ("2", "3", "7")])
        newest = operations.seen(store)
        faulty.arrive()
        assert operations.seen(store) == newest
        store.repair("shop", "sales")
        assert operations.seen(store) == newest
        assert operations.is_clean(store)


@pytest.mark.parametrize("fault", [one for one in Fault if one is not Fault.LATE])
def test_a_table_is_dropped_wholly_or_not_at_all(fault):
    before, _ = before_and_after(operations.drop_table)
    for store, _, ended in struck(operations.drop_table, fault):
        seen = operations.seen(store)
        if ended is None:
            assert seen is None
        elif ended is StoreUnavailable:
            assert seen == before, "StoreUnavailable promises that nothing was changed"
        else:
            assert seen in (before, None)
        if seen is None:
            store.create_table(sales_table())
            assert operations.seen(store) == ()
        assert store.add_partitions("shop", "sales", [operations.marked("8", "newer")]) == 1
        store.repair("shop", "sales")
        assert operations.is_clean(store)
        assert operations.payloads(store) == []


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.GONE])
def test_an_interrupted_drop_leaves_no_rows_behind(fault):
    """The next one who drops the table finishes that; rows of a large table are noted to be removed."""
    for store, _, _ in struck(operations.drop_table, fault):
        store.drop_table("shop", "sales", if_exists=True)
        store.purge_dropped_tables()
        assert list(store.rows.whole_rows(b"shop", b"shoq")) == []


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.GONE, Fault.LOST_ANSWER])
def test_a_table_made_over_one_that_is_being_dropped_is_empty(fault):
    """Whoever drops it dies at some write, and whoever makes it anew has a fault at some write as well."""
    half_dropped = 0
    for drop_at in range(MOST):
        for create_at in range(MOST):
            store = fresh()
            dropping = FaultyRows(store.rows, Fault.CRASH, drop_at)
            with suppress(Crash):
                operations.drop_table(PartitionStore(dropping))
            if operations.seen(store) is not None:
                break
            creating = FaultyRows(store.rows, fault, create_at)
            with suppress(Crash, StoreUnavailable, CommitStateUnknown):
                PartitionStore(creating).create_table(sales_table())
            store.create_table(sales_table(), if_not_exists=True)
            assert operations.seen(store) == ()
            assert store.add_partitions("shop", "sales", [operations.marked("2", "newer")]) == 1
            store.repair("shop", "sales")
            assert operations.is_clean(store)
            half_dropped += dropping.struck
            if not creating.struck:
                break
        if not dropping.struck:
            assert half_dropped > 10
            return
    raise AssertionError("dropping does not end")
