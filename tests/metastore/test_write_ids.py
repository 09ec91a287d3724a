"""Transactions as Hive 3 has them: lists of open ones in two forms, write ids, heartbeats of many."""

from __future__ import annotations

import pytest
from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TType
from thriftpy2.transport import TMemoryBuffer

from hbstore.errors import InvalidInput
from hbstore.metastore.methods.write_ids import aborted_bits, parse_snapshot
from tests.metastore.asking import opened as new_store
from tests.metastore.asking import table_of
from tests.metastore.client import TYPES


@pytest.fixture(params=["memory", "nonatomic", "sqlite"])
def asking(request, tmp_path):
    """A new store, in which numbers begin at 1."""
    with new_store(request, tmp_path) as made:
        yield made


@pytest.fixture
def opened(asking):
    """Transactions 1 to 5: 2 and 4 were aborted, 3 was committed."""
    asking.store.create_table(table_of("sales", ds="date"))
    asking.open_txns(TYPES.OpenTxnRequest(5, "ann", "here"))
    asking.abort_txns(TYPES.AbortTxnsRequest([2, 4]))
    asking.commit_txn(TYPES.CommitTxnRequest(3))
    return asking


def fields_of(data):
    """The fields of a reply's struct, in order: number, type, value."""
    protocol = TBinaryProtocol(TMemoryBuffer(data))
    protocol.read_message_begin()
    read = {TType.I64: lambda: int.from_bytes(protocol.trans.read(8)), TType.STRING: lambda: text(protocol)}
    read |= dict.fromkeys((TType.SET, TType.LIST), lambda: items(protocol))
    assert field(protocol) == (TType.STRUCT, 0)
    while (head := field(protocol))[0] != TType.STOP:
        yield head[1], head[0], read[head[0]]()


def field(protocol):
    code = protocol.trans.read(1)[0]
    return (code, 0) if code == TType.STOP else (code, int.from_bytes(protocol.trans.read(2)))


def text(protocol):
    return protocol.trans.read(int.from_bytes(protocol.trans.read(4)))


def items(protocol):
    assert protocol.trans.read(1)[0] == TType.I64
    return [int.from_bytes(protocol.trans.read(8)) for _ in range(int.from_bytes(protocol.trans.read(4)))]


def test_open_transactions_are_a_set_for_old_clients_and_a_list_for_new_ones(opened):
    for method, arguments in (("get_open_txns", ()), ("get_open_txns_req", (TYPES.GetOpenTxnsRequest(),))):
        assert list(fields_of(opened.raw(method, *arguments))) == [
            (1, TType.I64, 5),
            (2, TType.SET, [1, 2, 4, 5]),
            (3, TType.I64, 1),
            (4, TType.STRING, bytes([0b0110])),
            (2, TType.LIST, [1, 2, 4, 5]),
        ]
    assert set(opened.get_open_txns().open_txns) == {1, 2, 4, 5}


def test_without_open_transactions_there_is_no_least_one(asking):
    assert list(fields_of(asking.raw("get_open_txns"))) == [
        (1, TType.I64, 0),
        (2, TType.SET, []),
        (4, TType.STRING, b""),
        (2, TType.LIST, []),
    ]


def test_write_ids_are_the_transactions_numbers(opened):
    request = TYPES.AllocateTableWriteIdsRequest("shop", "sales", [5, 1])
    answer = opened.allocate_table_write_ids(request)
    assert [(one.txnId, one.writeId) for one in answer.txnToWriteIds] == [(1, 1), (5, 5)]
    for missing, error in ((4, TYPES.TxnAbortedException), (9, TYPES.NoSuchTxnException)):
        with pytest.raises(error):
            opened.allocate_table_write_ids(TYPES.AllocateTableWriteIdsRequest("shop", "sales", [missing]))
    for database, table in (("shop", "new"), ("nowhere", "new")):  # CREATE TABLE AS asks before the table is there
        answer = opened.allocate_table_write_ids(TYPES.AllocateTableWriteIdsRequest(database, table, [1]))
        assert [(one.txnId, one.writeId) for one in answer.txnToWriteIds] == [(1, 1)]
    copied = TYPES.AllocateTableWriteIdsRequest("shop", "sales", srcTxnToWriteIdList=[TYPES.TxnToWriteId(1, 7)])
    with pytest.raises(TYPES.MetaException, match="cannot be copied"):
        opened.allocate_table_write_ids(copied)
    largest = opened.get_max_allocated_table_write_id(TYPES.MaxAllocatedTableWriteIdRequest("shop", "sales"))
    assert largest.maxWriteId == 5


def test_what_is_valid_now_or_in_a_snapshot(opened):
    (now,) = opened.get_valid_write_ids(TYPES.GetValidWriteIdsRequest(["shop.sales"])).tblValidWriteIds
    assert (now.fullTableName, now.writeIdHighWaterMark, now.minOpenWriteId) == ("shop.sales", 5, 1)
    assert (now.invalidWriteIds, now.abortedBits) == ([1, 5], b"")  # the aborted wrote nothing
    before = opened.get_valid_write_ids(TYPES.GetValidWriteIdsRequest(["a.b", "c.d"], "3:1:1:2")).tblValidWriteIds
    assert [one.fullTableName for one in before] == ["a.b", "c.d"]
    assert {(one.writeIdHighWaterMark, one.minOpenWriteId, *one.invalidWriteIds) for one in before} == {(3, 1, 1)}
    (strange,) = opened.get_valid_write_ids(TYPES.GetValidWriteIdsRequest(["a.b"], "9:5:5:7")).tblValidWriteIds
    assert strange.invalidWriteIds == [5, 7]  # 5 is open by now, and of 7 nothing is known
    with pytest.raises(TYPES.MetaException, match="cannot be read"):
        opened.get_valid_write_ids(TYPES.GetValidWriteIdsRequest(["a.b"], "nonsense"))


INSERT, SELECT = 2, 1


def invalid(asking, table, snapshot=None):
    """The write ids of a table that a reader passes over, and which of them are said to be aborted."""
    (answer,) = asking.get_valid_write_ids(TYPES.GetValidWriteIdsRequest([table], snapshot)).tblValidWriteIds
    bits = int.from_bytes(answer.abortedBits, "little")
    return answer.invalidWriteIds, [number for at, number in enumerate(answer.invalidWriteIds) if bits >> at & 1]


def test_an_aborted_write_is_passed_over_where_it_was_written(asking):
    for table in ("sales", "returns"):
        asking.store.create_table(table_of(table, ds="date"))
    asking.open_txns(TYPES.OpenTxnRequest(6, "ann", "here"))

    def lock(number, operation):
        component = TYPES.LockComponent(type=1, level=2, dbname="shop", tablename="returns", operationType=operation)
        asking.lock(TYPES.LockRequest([component], txnid=number, user="ann", hostname="here"))

    asking.allocate_table_write_ids(TYPES.AllocateTableWriteIdsRequest("shop", "sales", [1, 2]))
    lock(2, INSERT)  # Hive 3 locks what it writes, too
    lock(3, INSERT)  # Hive 2.3 does no more
    lock(4, SELECT)
    asking.add_dynamic_partitions(TYPES.AddDynamicPartitions(txnid=5, dbname="shop", tablename="returns"))
    before = "6:1:1,2,3,4,5,6:"
    asking.abort_txns(TYPES.AbortTxnsRequest([1, 2, 3, 4, 5]))
    assert invalid(asking, "shop.sales") == ([1, 2, 3, 5, 6], [1, 2, 3, 5])
    assert invalid(asking, "shop.returns") == ([3, 5, 6], [3, 5])
    assert invalid(asking, "shop.returns", "6:6:6:1,2,3,4,5") == ([3, 5, 6], [3, 5])
    assert invalid(asking, "shop.returns", before) == ([1, 2, 3, 4, 5, 6], [])  # as that reader's moment was
    asking.store.rename_table("shop", "sales", table_of("sold", ds="date"))
    assert invalid(asking, "shop.sold") == ([1, 2, 3, 5, 6], [1, 2, 3, 5])
    assert invalid(asking, "shop.sales") == ([3, 5, 6], [3, 5])


def test_a_table_that_is_created_later_may_hold_what_was_aborted_before(asking):
    """A transaction that also writes into a table that is there already."""
    asking.store.create_table(table_of("sales", ds="date"))
    asking.open_txns(TYPES.OpenTxnRequest(1, "ann", "here"))
    for table in ("sales", "copied"):
        asking.allocate_table_write_ids(TYPES.AllocateTableWriteIdsRequest("shop", table, [1]))
    asking.abort_txns(TYPES.AbortTxnsRequest([1]))
    asking.store.create_table(table_of("copied", ds="date"))
    assert invalid(asking, "shop.copied") == ([1], [1])


def test_the_reply_does_not_grow_with_aborted_transactions_that_wrote_nothing(asking):
    asking.store.create_table(table_of("sales", ds="date"))
    for _ in range(3):
        opened = asking.open_txns(TYPES.OpenTxnRequest(1_000, "ann", "here")).txn_ids
        asking.abort_txns(TYPES.AbortTxnsRequest(opened))
    names = [f"shop.t{number}" for number in range(100)]
    assert len(asking.raw("get_valid_write_ids", TYPES.GetValidWriteIdsRequest(names))) < 100 * 100


@pytest.mark.parametrize("text", ["", "1", "a:b:c:d", "1:2:3", "1,2:::", f"{1 << 63}:::", "-1:::"])
def test_what_is_no_snapshot(text):
    with pytest.raises(InvalidInput):
        parse_snapshot(text)


def test_bits_are_javas():
    assert aborted_bits([], []) == b""
    assert aborted_bits(range(1, 20), [1, 9, 10]) == bytes([0b1, 0b11])


def test_heartbeats_of_many(opened):
    answer = opened.heartbeat_txn_range(TYPES.HeartbeatTxnRangeRequest(1, 7))
    assert (set(answer.aborted), set(answer.nosuch)) == ({2, 4}, {3, 6, 7})


def test_locks_of_a_transaction(opened):
    component = TYPES.LockComponent(type=1, level=2, dbname="shop", tablename="sales")
    for number in (1, 5):
        opened.lock(TYPES.LockRequest([component], txnid=number, user="ann", hostname="here"))
    assert [one.txnid for one in opened.show_locks(TYPES.ShowLocksRequest(txnid=5)).locks] == [5]
    assert len(opened.show_locks(TYPES.ShowLocksRequest()).locks) == 2


SHARED_READ, SHARED_WRITE, EXCLUSIVE, EXCLUSIVE_WRITE = 1, 2, 3, 4


@pytest.mark.parametrize(
    ("held", "wanted", "given"),
    [
        (EXCLUSIVE_WRITE, SHARED_READ, True),
        (SHARED_READ, EXCLUSIVE_WRITE, True),
        (EXCLUSIVE_WRITE, EXCLUSIVE_WRITE, False),
        (EXCLUSIVE_WRITE, SHARED_WRITE, False),
        (EXCLUSIVE_WRITE, EXCLUSIVE, False),
        (EXCLUSIVE, EXCLUSIVE_WRITE, False),
        (SHARED_WRITE, SHARED_WRITE, False),
        (SHARED_READ, SHARED_WRITE, True),
    ],
)
def test_locks_that_let_others_read(asking, held, wanted, given):
    states = [
        asking.lock(
            TYPES.LockRequest(
                [TYPES.LockComponent(type=kind, level=2, dbname="shop", tablename="sales")],
                user="ann",
                hostname="here",
            )
        ).state
        for kind in (held, wanted)
    ]
    assert states == [1, 1 if given else 2]
