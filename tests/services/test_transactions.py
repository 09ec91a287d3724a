"""Transactions: opened, committed, aborted, listed, and forgotten by their clients."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import CorruptRow, InvalidInput, connect
from hbstore.errors import NoSuchTxn, TxnAborted
from hbstore.model.service_objects import HiveTransaction, TransactionList
from hbstore.store.hive.lock_table import LockTable
from hbstore.store.hive.transactions import LONGEST_RANGE, MOST_AT_ONCE


def test_ids_rise_from_one(services):
    assert services.transactions.list() == TransactionList(0, (), ())
    assert services.transactions.open() == [1]
    assert services.transactions.open(3, "ann", "here", "me") == [2, 3, 4]
    found = services.transactions.list()
    assert found.high_water_mark == 4
    assert [one.id for one in found.open] == [1, 2, 3, 4]
    assert found.open[3] == HiveTransaction(4, "ann", "here", "me", 1_000_000, 1_000_000, 0)


def test_no_more_are_opened_at_once_than_hive_opens(services):
    assert services.transactions.open(MOST_AT_ONCE + 5) == list(range(1, MOST_AT_ONCE + 1))
    for count in (0, -1):
        with pytest.raises(InvalidInput):
            services.transactions.open(count)


def test_what_is_committed_is_gone_and_may_be_committed_again(services):
    one, two = services.transactions.open(2)
    services.transactions.commit(one)
    after = TransactionList(2, (HiveTransaction(two, None, None, None, 10**6, 10**6),), ())
    assert services.transactions.list() == after
    services.transactions.commit(one)
    assert services.transactions.list() == after
    calls = (services.transactions.commit, services.transactions.abort, services.transactions.heartbeat)
    for call in calls:
        for number in (one, two + 1, 0):
            if (call, number) != (calls[0], one):
                with pytest.raises(NoSuchTxn) as caught:
                    call(number)
                assert caught.value.fields == {"transaction": number}


def test_what_is_aborted_is_remembered(services):
    one, two = services.transactions.open(2)
    services.transactions.abort(two)
    services.transactions.abort(two)
    assert services.transactions.list().aborted == (two,)
    for call in (services.transactions.commit, services.transactions.heartbeat):
        with pytest.raises(TxnAborted) as caught:
            call(two)
        assert caught.value.fields == {"transaction": two}
    services.transactions.commit(one)


def test_some_are_aborted_at_once(services):
    services.transactions.open(5)
    services.transactions.commit(3)
    services.transactions.abort_all([2, 3, 4, 9])
    found = services.transactions.list()
    assert (found.aborted, [one.id for one in found.open]) == ((2, 4), [1, 5])


def test_those_that_are_not_heard_of_are_aborted(services):
    one, two = services.transactions.open(2)
    services.clock.now += 200
    services.transactions.heartbeat(two)
    services.clock.now += 101
    found = services.transactions.list()
    assert (found.aborted, [(open_one.id, open_one.heartbeats) for open_one in found.open]) == ((one,), [(two, 1)])
    with pytest.raises(TxnAborted):
        services.transactions.commit(one)
    services.transactions.commit(two)


def test_heartbeats_of_a_range(services):
    services.transactions.open(6)
    services.transactions.commit(2)
    services.transactions.abort(3)
    services.clock.now += 200
    assert services.transactions.heartbeat_range(2, 5) == ({3}, {2})
    assert services.transactions.heartbeat_range(6, 8) == (set(), {7, 8})
    assert services.transactions.heartbeat_range(5, 4) == (set(), set())
    services.clock.now += 101
    assert [one.id for one in services.transactions.list().open] == [4, 5, 6]
    with pytest.raises(InvalidInput):
        services.transactions.heartbeat_range(1, LONGEST_RANGE + 1)


def test_no_id_is_given_twice(url):
    with connect(url) as store, ThreadPoolExecutor(6) as pool:
        transactions = store.hive.transactions
        given_ids = [number for some in pool.map(lambda _: transactions.open(2), range(30)) for number in some]
    assert len(set(given_ids)) == 60


@given(
    st.lists(st.tuples(st.integers(1, 20), st.sampled_from(["writes a", "writes b", "locks", "abort", "commit"]))),
)
def test_who_was_aborted_is_kept_by_what_it_wrote(steps):
    lock_table = LockTable().with_transactions(HiveTransaction(number) for number in range(1, 21))
    wrote, aborted, ended = {number: set() for number in range(1, 21)}, set(), set()
    for number, step in steps:
        if number in ended:
            continue
        match step.split():
            case ["writes", table]:
                wrote[number].add(table)
                lock_table = lock_table.writing([lock_table.transaction(number)], table, 0)
            case ["locks"]:
                wrote[number].add("")
                lock_table = lock_table.writing([lock_table.transaction(number)], None, 0)
            case [end]:
                ended.add(number)
                aborted |= {number} if end == "abort" else set()
                lock_table = lock_table.without_transactions([number], aborted=end == "abort")
        lock_table = LockTable.decode(lock_table.encode())
    assert lock_table.aborted.ids() == tuple(sorted(aborted))
    assert {number for number in range(22) if number in lock_table.aborted} == aborted
    for table in "ab":
        assert lock_table.aborted.of_table(table) == tuple(sorted(n for n in aborted if table in wrote[n]))
    assert lock_table.aborted.of_table("") == tuple(sorted(number for number in aborted if wrote[number] == {""}))
    for runs in lock_table.aborted.by_table.values():
        assert all(last + 1 < first for (_, last), (first, _) in pairwise(runs))
    assert set(lock_table.transactions) == set(range(1, 21)) - ended


def test_of_aborted_ones_that_wrote_nothing_the_last_are_kept(services):
    """So the lock table, which each lock changes, does not grow with the years."""
    first, *others = services.transactions.open(1_000)
    services.transactions.allocate_write_ids([first], "4f1d")
    services.transactions.abort_all([first, *others])
    more = services.transactions.open(1_000)
    services.transactions.abort_all(more)
    kept = services.transactions.list()
    assert (kept.aborted, kept.aborted_in) == ((first, *more), {"4f1d": (first,)})
    services.transactions.abort(more[0])
    with pytest.raises(TxnAborted):
        services.transactions.commit(more[0])
    for forgotten in (others[0], others[-1]):  # whether it was committed is not known any more
        with pytest.raises(NoSuchTxn):
            services.transactions.commit(forgotten)
    (later,) = services.transactions.open()
    services.transactions.commit(later)
    services.transactions.commit(later)


def test_what_older_stores_hold_may_have_been_written_anywhere():
    old = LockTable.decode(b'[0,9,[],[[7,"ann",null,null,1,1,0],[8,"ann",null,null,1,1,0]],[[2,4]]]')
    after = LockTable.decode(old.without_transactions([7], aborted=True).encode())
    assert (after.aborted.ids(), after.aborted.of_table("")) == ((2, 3, 4, 7), (2, 3, 4, 7))
    assert after.was_committed(5)


@pytest.mark.parametrize(
    "data",
    [b"x", b"[]", b"[1,2,3,4,5]", b'[0,0,[[1,[[9,1,"a"]]]],[],[]]', b"[0,0,[],[],[1]]", b"[0,0,[],[],[],[1],[],0]"],
)
def test_bytes_that_are_no_lock_table_are_refused(data):
    with pytest.raises(CorruptRow):
        LockTable.decode(data)
