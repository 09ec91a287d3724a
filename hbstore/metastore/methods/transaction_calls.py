"""Transactions: numbers that clients open, commit and abort. Nothing is compacted."""

from __future__ import annotations

from typing import Any, Final

from hbstore.errors import InvalidInput
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.methods.write_ids import aborted_bits
from hbstore.metastore.protocol import THRIFT
from hbstore.model.service_objects import HiveTransaction

handlers = Handlers()
_ABORTED: Final = 2
_OPEN: Final = 3
"""States of a transaction, as Hive numbers them."""


@handlers.answers("open_txns", writes=True)
def open_txns(call: Call) -> Any:
    """Open some transactions. Raises InvalidInput as `commit_txn`."""
    request = call.arguments.rqst
    _refuse_copies(request)
    opened = call.store.hive.transactions.open(request.num_txns or 0, request.user, request.hostname, request.agentInfo)
    return THRIFT.OpenTxnsResponse(txn_ids=opened)


@handlers.answers("commit_txn", writes=True)
def commit_txn(call: Call) -> None:
    """Commit a transaction and release its locks.

    Raises:
        NoSuchTxnException, TxnAbortedException: there is none of that number, or it was aborted.
        InvalidInput: the number is that of another metastore, or a parameter of a table is to be set as well.
    """
    request = call.arguments.rqst
    _refuse_copies(request)
    if request.keyValue is not None:
        hint = "Alter the table, such as with an expected value of the parameter"
        raise InvalidInput("a commit sets no parameter of a table", key=request.keyValue.key, hint=hint)
    call.store.hive.transactions.commit(request.txnid or 0)


@handlers.answers("abort_txn", writes=True)
def abort_txn(call: Call) -> None:
    """Abort a transaction and release its locks. Raises InvalidInput as `commit_txn`."""
    request = call.arguments.rqst
    _refuse_copies(request)
    call.store.hive.transactions.abort(request.txnid or 0)


@handlers.answers("abort_txns", writes=True)
def abort_txns(call: Call) -> None:
    """Abort those of some transactions that are open."""
    call.store.hive.transactions.abort_all(call.arguments.rqst.txn_ids or ())


@handlers.answers("add_dynamic_partitions", writes=True)
def add_dynamic_partitions(call: Call) -> None:
    """Note that a transaction has written new partitions; which, only a compactor would ask."""
    call.store.hive.transactions.allocate_write_ids([call.arguments.rqst.txnid or 0], None)


@handlers.answers("get_open_txns", "get_open_txns_req")
def get_open_txns(call: Call) -> Any:
    """The ids of all transactions that are open or were aborted, and the largest id given."""
    transactions = call.store.hive.transactions.list()
    opened = [transaction.id for transaction in transactions.open]
    unusable = sorted([*opened, *transactions.aborted])
    return THRIFT.GetOpenTxnsResponse(
        txn_high_water_mark=transactions.high_water_mark,
        open_txns=unusable,
        min_open_txn=min(opened, default=None),
        abortedBits=aborted_bits(unusable, transactions.aborted),
    )


@handlers.answers("heartbeat_txn_range", writes=True)
def heartbeat_txn_range(call: Call) -> Any:
    """Say that the holder of some transactions is alive; those that were aborted or do not exist come back."""
    request = call.arguments.txns
    aborted, missing = call.store.hive.transactions.heartbeat_range(request.min or 0, request.max or 0)
    return THRIFT.HeartbeatTxnRangeResponse(aborted=sorted(aborted), nosuch=sorted(missing))


@handlers.answers("get_open_txns_info")
def get_open_txns_info(call: Call) -> Any:
    """The same with what is known of each."""
    transactions = call.store.hive.transactions.list()
    aborted = [THRIFT.TxnInfo(id=number, state=_ABORTED, user="", hostname="") for number in transactions.aborted]
    infos = sorted([*map(_info, transactions.open), *aborted], key=lambda info: info.id)
    return THRIFT.GetOpenTxnsInfoResponse(txn_high_water_mark=transactions.high_water_mark, open_txns=infos)


@handlers.answers("show_compact")
def show_compact(_: Call) -> Any:
    """Compactions: none."""
    return THRIFT.ShowCompactResponse(compacts=[])


def _refuse_copies(request: Any) -> None:
    """See that a request is about transactions of this store: with a policy of replication it has another's numbers."""
    if request.replPolicy is not None:
        hint = "Replicate databases without transactional tables"
        raise InvalidInput("transactions of another metastore are not copied", policy=request.replPolicy, hint=hint)


def _info(transaction: HiveTransaction) -> Any:
    return THRIFT.TxnInfo(
        id=transaction.id,
        state=_OPEN,
        user=transaction.user or "",
        hostname=transaction.host or "",
        agentInfo=transaction.agent,
        heartbeatCount=transaction.heartbeats,
        startedTime=transaction.started,
        lastHeartbeatTime=transaction.heartbeat,
    )
