"""Locks, as Iceberg's and Hive's clients ask for them; they are kept in the store, so any server can answer."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from hbstore.errors import NoSuchLock
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.naming import without_catalog
from hbstore.metastore.protocol import THRIFT
from hbstore.model.service_objects import Lock, LockComponent

handlers = Handlers()
_READING: Final = frozenset({1, 6})
"""Hive's ``DataOperationType`` SELECT and NO_TXN; what says nothing may write."""


@handlers.answers("lock", writes=True)
def lock(call: Call) -> Any:
    """Ask for a lock on databases, tables and partitions: it is given, or waits for its turn."""
    request = call.arguments.rqst
    components = request.component or ()
    hive_lock = call.store.hive.locks.lock(
        [
            LockComponent(part.type, part.level, without_catalog(part.dbname) or "", part.tablename, part.partitionname)
            for part in components
        ],
        request.user,
        request.hostname,
        request.agentInfo,
        transaction=request.txnid or 0,
        reads_only=all(part.operationType in _READING for part in components),
    )
    return _response(hive_lock)


@handlers.answers("check_lock", writes=True)
def check_lock(call: Call) -> Any:
    """Whether a lock has been given by now."""
    return _response(call.store.hive.locks.check(call.arguments.rqst.lockid))


@handlers.answers("unlock", writes=True)
def unlock(call: Call) -> None:
    """Give a lock back; one that is not there has been given back, perhaps by a call whose answer was lost."""
    with suppress(NoSuchLock):
        call.store.hive.locks.release(call.arguments.rqst.lockid)


@handlers.answers("heartbeat", writes=True)
def heartbeat(call: Call) -> None:
    """Say that the holder of a lock, or of a transaction, is alive."""
    ids = call.arguments.ids
    if ids.lockid:
        call.store.hive.locks.heartbeat(ids.lockid)
    if ids.txnid:
        call.store.hive.transactions.heartbeat(ids.txnid)


@handlers.answers("show_locks")
def show_locks(call: Call) -> Any:
    """The locks on a database, a table or a partition, or all there are: an element for each such thing locked."""
    request = call.arguments.rqst
    names = without_catalog(request.dbname) or None, request.tablename or None, request.partname or None
    locks = call.store.hive.locks.show(*names)
    if request.txnid:
        locks = [hive_lock for hive_lock in locks if hive_lock.transaction == request.txnid]
    elements = [
        _element(hive_lock, component, at)
        for hive_lock in locks
        for at, component in enumerate(hive_lock.components, start=1)
        if component.is_of(*names)
    ]
    return THRIFT.ShowLocksResponse(locks=elements)


def _response(hive_lock: Lock) -> Any:
    return THRIFT.LockResponse(lockid=hive_lock.id, state=hive_lock.state)


def _element(hive_lock: Lock, component: LockComponent, at: int) -> Any:
    return THRIFT.ShowLocksResponseElement(
        lockid=hive_lock.id,
        dbname=component.database,
        tablename=component.table,
        partname=component.partition,
        state=hive_lock.state,
        type=component.type,
        txnid=hive_lock.transaction,
        lastheartbeat=hive_lock.heartbeat,
        acquiredat=hive_lock.acquired,
        user=hive_lock.user,
        hostname=hive_lock.host,
        heartbeatCount=hive_lock.heartbeats,
        agentInfo=hive_lock.agent,
        blockedByExtId=hive_lock.blocked_by,
        blockedByIntId=None if hive_lock.blocked_by is None else 1,
        lockIdInternal=at,
    )
