"""Locks and transactions through the endpoint, as PyIceberg, Trino and the Java client use them."""

from __future__ import annotations

import pytest
from thriftpy2.thrift import TApplicationException

from tests.metastore.client import TYPES

EXCLUSIVE, SHARED_READ = 3, 1
TABLE = 2
ACQUIRED, WAITING = 1, 2


def request(kind=EXCLUSIVE, table="sales", **fields):
    component = TYPES.LockComponent(type=kind, level=TABLE, dbname="shop", tablename=table, isAcid=True)
    return TYPES.LockRequest(component=[component], user="ann", hostname="here", **fields)


def release_all(asking):
    for one in asking.show_locks(TYPES.ShowLocksRequest()).locks:
        asking.unlock(TYPES.UnlockRequest(one.lockid))


def test_a_commit_under_a_lock_as_iceberg_does_it(asking):
    first = asking.lock(request())
    assert first.state == ACQUIRED
    second = asking.lock(request())
    assert second.state == WAITING
    assert asking.check_lock(TYPES.CheckLockRequest(lockid=second.lockid)).state == WAITING
    asking.heartbeat(TYPES.HeartbeatRequest(lockid=first.lockid))
    asking.unlock(TYPES.UnlockRequest(first.lockid))
    assert asking.check_lock(TYPES.CheckLockRequest(lockid=second.lockid)).state == ACQUIRED
    asking.unlock(TYPES.UnlockRequest(second.lockid))
    assert asking.show_locks(TYPES.ShowLocksRequest()).locks == []


def test_readers_share_and_others_are_shown_waiting(asking):
    readers = [asking.lock(request(SHARED_READ)) for _ in range(2)]
    writer = asking.lock(request(EXCLUSIVE))
    other = asking.lock(request(EXCLUSIVE, table="flights"))
    assert [one.state for one in (*readers, writer, other)] == [ACQUIRED, ACQUIRED, WAITING, ACQUIRED]
    shown = asking.show_locks(TYPES.ShowLocksRequest(dbname="shop", tablename="sales")).locks
    assert [(one.lockid, one.state, one.type) for one in shown] == [
        (readers[0].lockid, ACQUIRED, SHARED_READ),
        (readers[1].lockid, ACQUIRED, SHARED_READ),
        (writer.lockid, WAITING, EXCLUSIVE),
    ]
    assert shown[2].blockedByExtId == readers[0].lockid
    assert (shown[0].user, shown[0].hostname, shown[0].agentInfo) == ("ann", "here", "Unknown")
    release_all(asking)


def test_of_a_lock_those_things_are_shown_that_are_asked_for(asking):
    sales, flights = (request(table=table).component[0] for table in ("sales", "flights"))
    asking.lock(TYPES.LockRequest(component=[sales, flights], user="ann", hostname="here"))

    def shown(*names):
        return [(one.tablename, one.lockIdInternal) for one in asking.show_locks(TYPES.ShowLocksRequest(*names)).locks]

    assert shown("Shop", "Flights") == [("flights", 2)]
    assert shown("shop") == shown("", "", "") == [("sales", 1), ("flights", 2)]
    release_all(asking)


def test_a_lock_that_is_not_there_is_named_so(asking):
    for method, sent in (
        ("check_lock", TYPES.CheckLockRequest(lockid=77_777)),
        ("heartbeat", TYPES.HeartbeatRequest(lockid=77_777)),
    ):
        with pytest.raises(TYPES.NoSuchLockException):
            getattr(asking, method)(sent)


def test_a_lock_can_be_given_back_again(asking):
    held = asking.lock(request())
    asking.unlock(TYPES.UnlockRequest(held.lockid))
    asking.unlock(TYPES.UnlockRequest(held.lockid))
    asking.unlock(TYPES.UnlockRequest(77_777))


def test_a_lock_of_nothing_is_refused(asking):
    with pytest.raises(TApplicationException, match="the lock request has no components"):
        asking.lock(TYPES.LockRequest(component=[], user="ann", hostname="here"))


def test_transactions_are_opened_committed_and_aborted(asking):
    opened_ids = asking.open_txns(TYPES.OpenTxnRequest(num_txns=3, user="ann", hostname="here")).txn_ids
    first, second, third = opened_ids
    asking.heartbeat(TYPES.HeartbeatRequest(txnid=third))
    asking.add_dynamic_partitions(TYPES.AddDynamicPartitions(first))
    asking.commit_txn(TYPES.CommitTxnRequest(first))
    with pytest.raises(TYPES.NoSuchTxnException):
        asking.add_dynamic_partitions(TYPES.AddDynamicPartitions(first))
    asking.abort_txn(TYPES.AbortTxnRequest(second))
    found = asking.get_open_txns()
    assert {second, third} <= set(found.open_txns)
    assert first not in found.open_txns
    info = {one.id: one for one in asking.get_open_txns_info().open_txns}
    still_open = [number for number, one in info.items() if one.state == info[third].state]  # others' on HBase, too
    assert (found.txn_high_water_mark, found.min_open_txn) == (third, min(still_open))
    assert second not in still_open
    assert (info[third].state, info[third].user, info[third].hostname, info[second].state) == (3, "ann", "here", 2)
    asking.abort_txns(TYPES.AbortTxnsRequest([third]))
    asking.commit_txn(TYPES.CommitTxnRequest(first))  # once more, as after a lost answer
    assert first not in asking.get_open_txns().open_txns
    with pytest.raises(TYPES.NoSuchTxnException):
        asking.commit_txn(TYPES.CommitTxnRequest(third + 1000))
    with pytest.raises(TYPES.NoSuchTxnException):
        asking.abort_txn(TYPES.AbortTxnRequest(first))
    with pytest.raises(TYPES.TxnAbortedException):
        asking.commit_txn(TYPES.CommitTxnRequest(third))


def test_a_transaction_of_another_metastore_is_none_of_this_one(asking):
    """Replication sends the numbers that transactions have there."""
    (own,) = asking.open_txns(TYPES.OpenTxnRequest(1, "ann", "here")).txn_ids
    for method, sent in (
        ("open_txns", TYPES.OpenTxnRequest(1, "ann", "here", replPolicy="shop.*")),
        ("commit_txn", TYPES.CommitTxnRequest(own, replPolicy="shop.*")),
        ("abort_txn", TYPES.AbortTxnRequest(own, replPolicy="shop.*")),
        ("commit_txn", TYPES.CommitTxnRequest(own, keyValue=TYPES.CommitTxnKeyValue(1, "_metakey", "7"))),
    ):
        with pytest.raises(TApplicationException, match=r"not copied|sets no parameter"):
            getattr(asking, method)(sent)
    assert own in [one.id for one in asking.get_open_txns_info().open_txns if one.state == 3]
    asking.commit_txn(TYPES.CommitTxnRequest(own))


def test_locks_end_with_their_transaction(asking):
    (number,) = asking.open_txns(TYPES.OpenTxnRequest(num_txns=1, user="ann", hostname="here")).txn_ids
    held = asking.lock(request(txnid=number))
    with pytest.raises(TYPES.TxnOpenException):
        asking.unlock(TYPES.UnlockRequest(held.lockid))
    asking.commit_txn(TYPES.CommitTxnRequest(number))
    assert asking.lock(request()).state == ACQUIRED
    release_all(asking)


def test_nothing_is_compacted(asking):
    assert asking.show_compact(TYPES.ShowCompactRequest()).compacts == []
