"""Sessions of drivers and their operations."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hbstore.errors import OperationNotFound, SessionLost, SessionNotFound, TooManyQueries
from hbstore.hiveserver2 import sessions as under_test
from hbstore.hiveserver2.operations import ListingOperation
from hbstore.hiveserver2.protocol import Handle
from hbstore.hiveserver2.sessions import MAX_OPERATIONS, Sessions
from hbstore.query_service.query import ResultColumn
from tests.pauses import idle


@pytest.fixture
def sessions():
    return Sessions()


def listing():
    return ListingOperation(
        (ResultColumn(name="n", type="int"),), pa.record_batch({"n": pa.array([1, 2, 3], pa.int32())})
    )


def opened(sessions, *, held=True):
    return sessions.open("ann", "shop", {"a": "1"}, held=held)


def test_a_session_is_named_by_its_whole_handle(sessions):
    session = opened(sessions)
    assert sessions.get(session.handle) is session
    for wrong in (Handle(session.handle.guid, bytes(16)), Handle(bytes(16), session.handle.secret), Handle(b"", b"")):
        with pytest.raises(SessionNotFound) as caught:
            sessions.get(wrong)
        assert caught.value.text == "Invalid SessionHandle"


def test_an_operation_is_named_by_its_whole_handle(sessions):
    session, operation = opened(sessions), listing()
    sessions.add(session, operation)
    assert sessions.operation(operation.handle) == (session, operation)
    with pytest.raises(OperationNotFound):
        sessions.operation(Handle(operation.handle.guid, bytes(16)))
    sessions.close_operation(operation.handle)
    with pytest.raises(OperationNotFound):
        sessions.operation(operation.handle)


def test_operations_end_with_their_session(sessions):
    first, second = opened(sessions), opened(sessions)
    operations = [listing() for _ in range(4)]
    for number, operation in enumerate(operations):
        sessions.add((first, second)[number % 2], operation)
    sessions.close(first)
    with pytest.raises(SessionNotFound):
        sessions.get(first.handle)
    for operation in operations[::2]:
        with pytest.raises(OperationNotFound):
            sessions.operation(operation.handle)
        assert not operation.page(9, from_start=False).arrays
    assert sessions.operation(operations[1].handle)[0] is second
    sessions.close(first)


def test_there_are_limits(sessions, monkeypatch):
    monkeypatch.setattr(under_test, "MAX_SESSIONS", 2)
    session, _ = opened(sessions), opened(sessions)
    with pytest.raises(TooManyQueries):
        opened(sessions)
    for _ in range(MAX_OPERATIONS):
        sessions.add(session, listing())
    with pytest.raises(TooManyQueries):
        sessions.add(session, listing())


def test_only_sessions_that_ran_something_are_lost_with_their_spark(sessions):
    used, new = opened(sessions), opened(sessions)
    used.fresh = False
    sessions.lose()
    new.check()
    with pytest.raises(SessionLost):
        used.check()
    sessions.lose()
    assert used.lost
    assert not new.lost


def test_sessions_without_a_connection_end_when_nobody_uses_them(sessions, monkeypatch):
    monkeypatch.setattr(under_test, "IDLE", 0.0)
    held, free = opened(sessions), opened(sessions, held=False)
    idle(0.001)
    assert sessions.idle() == [free]
    monkeypatch.setattr(under_test, "IDLE", 60.0)
    assert sessions.idle() == []
    assert sessions.get(held.handle) is held


def test_what_spark_learns_of_a_session(sessions):
    session = opened(sessions)
    told = session.in_spark()
    assert (told.id, told.database, told.settings, told.fresh) == (session.handle.text, "shop", {"a": "1"}, True)
