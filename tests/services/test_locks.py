"""Locks: who waits for whom, in which order, until when."""

from __future__ import annotations

import pytest

from hbstore import InvalidInput
from hbstore.errors import NoSuchLock, NoSuchTxn, TxnAborted, TxnOpen
from hbstore.model.service_objects import LockComponent, LockState, LockType
from hbstore.store.hive.lock_table import KEY
from hbstore.transactions.log import LOG
from tests.services.lock_clients import on

READ, WRITE, EXCLUSIVE, EXCL_WRITE = LockType
HELD, WAITING = LockState


def states(locks, ids):
    return [locks.check(one).state for one in ids]


@pytest.mark.parametrize(
    ("held", "asked", "expected"),
    [
        (READ, READ, HELD),
        (READ, WRITE, HELD),
        (READ, EXCLUSIVE, WAITING),
        (WRITE, READ, HELD),
        (WRITE, WRITE, WAITING),
        (WRITE, EXCLUSIVE, WAITING),
        (EXCLUSIVE, READ, WAITING),
        (EXCLUSIVE, WRITE, WAITING),
        (EXCLUSIVE, EXCLUSIVE, WAITING),
        (EXCL_WRITE, READ, HELD),
        (READ, EXCL_WRITE, HELD),
        (EXCL_WRITE, WRITE, WAITING),
        (WRITE, EXCL_WRITE, WAITING),
        (EXCL_WRITE, EXCL_WRITE, WAITING),
        (EXCL_WRITE, EXCLUSIVE, WAITING),
        (EXCLUSIVE, EXCL_WRITE, WAITING),
    ],
)
def test_which_types_go_together(services, held, asked, expected):
    first = services.locks.lock([on(held, table="sales")], "ann", "here")
    assert first.state is HELD
    second = services.locks.lock([on(asked, table="sales")], "bob", "there")
    assert second.state is expected
    assert second.blocked_by == (first.id if expected is WAITING else None)
    assert services.locks.check(second.id).state is expected
    services.locks.release(first.id)
    assert services.locks.check(second.id).state is HELD


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        (("shop",), ("shop",), True),
        (("shop",), ("other",), False),
        (("shop",), ("shop", "sales"), True),
        (("shop", "sales", "ds=1"), ("shop",), True),
        (("shop", "sales"), ("shop", "sales", "ds=1"), True),
        (("shop", "sales"), ("shop", "other"), False),
        (("shop", "sales", "ds=1"), ("shop", "sales", "ds=2"), False),
        (("shop", "sales", "ds=1"), ("shop", "sales", "ds=1"), True),
        (("shop", "sales", "ds=1"), ("shop", "other", "ds=1"), False),
        (("SHOP", "Sales"), ("shop", "sALES"), True),
        (("shop", "sales", "DS=a/Hour=5"), ("shop", "sales", "ds=a/hour=5"), True),
        (("shop", "sales", "ds=A"), ("shop", "sales", "ds=a"), False),
    ],
)
def test_where_locks_meet(services, first, second, meet):
    services.locks.lock([on(EXCLUSIVE, *first)])
    assert services.locks.lock([on(EXCLUSIVE, *second)]).state is (WAITING if meet else HELD)


def test_naming_a_database_goes_with_locking_its_tables(services):
    services.locks.lock([on(READ)])
    assert services.locks.lock([on(EXCLUSIVE, table="sales")]).state is HELD
    assert services.locks.lock([on(EXCLUSIVE, table="other", partition="ds=1")]).state is HELD
    assert services.locks.lock([on(READ)]).state is HELD
    assert services.locks.lock([on(WRITE)]).state is WAITING
    assert services.locks.lock([on(EXCLUSIVE)]).state is WAITING


def test_a_lock_is_all_of_its_components_or_none(services):
    first = services.locks.lock([on(EXCLUSIVE, table="a")])
    both = services.locks.lock([on(EXCLUSIVE, table="b"), on(EXCLUSIVE, table="a")])
    third = services.locks.lock([on(EXCLUSIVE, table="b")])
    assert states(services.locks, [first.id, both.id, third.id]) == [HELD, WAITING, WAITING]
    assert third.blocked_by == both.id
    services.locks.release(first.id)
    assert states(services.locks, [third.id, both.id]) == [WAITING, HELD]
    services.locks.release(both.id)
    assert states(services.locks, [third.id]) == [HELD]


def test_components_of_one_lock_do_not_conflict(services):
    assert services.locks.lock([on(EXCLUSIVE, table="a"), on(WRITE, table="a"), on(READ)]).state is HELD


def test_nobody_overtakes_those_he_is_in_the_way_of(services):
    reader = services.locks.lock([on(READ, table="a")])
    writer = services.locks.lock([on(EXCLUSIVE, table="a")])
    late_reader = services.locks.lock([on(READ, table="a")])
    assert late_reader.state is WAITING
    assert late_reader.blocked_by == writer.id
    services.locks.release(writer.id)
    assert states(services.locks, [reader.id, late_reader.id]) == [HELD, HELD]


def test_what_is_not_there_cannot_be_checked_renewed_or_released(services):
    lock = services.locks.lock([on(EXCLUSIVE)])
    services.locks.release(lock.id)
    for number in (lock.id, lock.id + 1, 0, -1):
        for call in (services.locks.check, services.locks.heartbeat, services.locks.release):
            with pytest.raises(NoSuchLock) as caught:
                call(number)
            assert caught.value.fields == {"lock": number}


def test_a_lock_expires_without_heartbeats_and_not_before(services):
    first = services.locks.lock([on(EXCLUSIVE)])
    second = services.locks.lock([on(EXCLUSIVE)])
    services.clock.now += 300
    assert services.locks.check(second.id).state is WAITING
    services.clock.now += 0.001
    assert services.locks.check(second.id).state is HELD
    for call in (services.locks.check, services.locks.heartbeat, services.locks.release):
        with pytest.raises(NoSuchLock):
            call(first.id)


def test_heartbeats_and_checks_keep_a_lock(services):
    first = services.locks.lock([on(EXCLUSIVE)])
    second = services.locks.lock([on(EXCLUSIVE)])
    for _ in range(10):
        services.clock.now += 200
        services.locks.heartbeat(first.id)
        assert services.locks.check(second.id).state is WAITING
    assert services.locks.check(first.id).state is HELD
    assert services.locks.show()[0].heartbeats == 10


def test_ids_rise_and_never_come_again(services):
    first = services.locks.lock([on(READ)])
    services.locks.release(first.id)
    assert services.locks.lock([on(READ)]).id == first.id + 1


def test_locks_are_shown(services):
    first = services.locks.lock([on(EXCLUSIVE, table="a"), on(READ, "other", "b")], "ann", "here", "me")
    second = services.locks.lock([on(READ, table="a", partition="ds=1")], "bob", "there")
    shown = services.locks.show()
    assert [(one.id, one.user, one.host, one.agent, one.blocked_by) for one in shown] == [
        (first.id, "ann", "here", "me", None),
        (second.id, "bob", "there", None, first.id),
    ]
    assert shown[0].acquired == shown[0].heartbeat == 1_000_000
    assert shown[1].acquired is None
    assert [one.id for one in services.locks.show("SHOP", "A")] == [first.id, second.id]
    assert [one.id for one in services.locks.show("other")] == [first.id]
    assert [one.id for one in services.locks.show("shop", "a", "DS=1")] == [second.id]
    assert services.locks.show("shop", "b") == []
    services.clock.now += 301
    assert services.locks.show() == []


def test_locks_that_name_nothing_are_refused(services):
    with pytest.raises(InvalidInput):
        services.locks.lock([])
    for fields in [
        (EXCLUSIVE, 2, "shop"),
        (EXCLUSIVE, 3, "shop", "a", ""),
        (EXCLUSIVE, 1, ""),
        (EXCLUSIVE, 1, None),
        (5, 1, "shop"),
        (EXCLUSIVE, 0, "shop"),
        (None, 1, "shop"),
    ]:
        with pytest.raises(InvalidInput):
            LockComponent(*fields)
    assert services.locks.show() == []


def test_a_check_that_changes_nothing_writes_nothing(services):
    held = services.locks.lock([on(EXCLUSIVE)])
    waiting = services.locks.lock([on(EXCLUSIVE)])
    before = services.rows.get(KEY)[LOG]
    for lock in (held, waiting):
        services.locks.check(lock.id)
    assert services.rows.get(KEY)[LOG] == before
    services.clock.now += 31
    services.locks.check(held.id)
    assert services.rows.get(KEY)[LOG] != before


class TestTransactions:
    def test_their_locks_end_with_them(self, services):
        one, two = services.transactions.open(2)
        first = services.locks.lock([on(EXCLUSIVE)], transaction=one)
        second = services.locks.lock([on(EXCLUSIVE)], transaction=two)
        third = services.locks.lock([on(EXCLUSIVE)])
        with pytest.raises(TxnOpen) as caught:
            services.locks.release(first.id)
        assert caught.value.fields == {"lock": first.id, "transaction": one}
        assert services.locks.check(second.id).state is WAITING
        services.transactions.commit(one)
        assert services.locks.check(second.id).state is HELD
        services.transactions.abort(two)
        assert services.locks.check(third.id).state is HELD
        with pytest.raises(NoSuchLock):
            services.locks.check(first.id)

    def test_one_that_waits_may_be_released(self, services):
        (one,) = services.transactions.open()
        services.locks.lock([on(EXCLUSIVE)])
        waiting = services.locks.lock([on(EXCLUSIVE)], transaction=one)
        services.locks.release(waiting.id)
        with pytest.raises(NoSuchLock):
            services.locks.check(waiting.id)

    def test_locks_of_one_transaction_do_not_conflict(self, services):
        one, two = services.transactions.open(2)
        assert services.locks.lock([on(READ, table="a")], transaction=one).state is HELD
        assert services.locks.lock([on(EXCLUSIVE, table="a")], transaction=one).state is HELD
        assert services.locks.lock([on(READ, table="a")], transaction=two).state is WAITING

    def test_a_lock_needs_an_open_transaction(self, services):
        one, two = services.transactions.open(2)
        services.transactions.commit(one)
        services.transactions.abort(two)
        with pytest.raises(NoSuchTxn):
            services.locks.lock([on(READ)], transaction=one)
        with pytest.raises(TxnAborted):
            services.locks.lock([on(READ)], transaction=two)
        with pytest.raises(NoSuchTxn):
            services.locks.lock([on(READ)], transaction=two + 1)

    def test_their_locks_live_as_long_as_they_do(self, services):
        (one,) = services.transactions.open()
        held = services.locks.lock([on(EXCLUSIVE)], transaction=one)
        other = services.locks.lock([on(EXCLUSIVE)])
        for _ in range(3):
            services.clock.now += 200
            services.transactions.heartbeat(one)
            assert services.locks.check(other.id).state is WAITING
        for _ in range(3):
            services.clock.now += 200
            services.locks.heartbeat(held.id)
            assert services.locks.check(other.id).state is WAITING
        services.clock.now += 200
        assert services.locks.check(other.id).state is WAITING
        services.clock.now += 200
        assert services.locks.check(other.id).state is HELD
        assert services.transactions.list().aborted == (one,)
