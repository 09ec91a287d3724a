"""Messages become calls of handlers, and what these answer or raise becomes a reply."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from thriftpy2.thrift import TApplicationException, TMessageType

from hbstore.errors import TableNotFound, UnsupportedCall
from hbstore.hiveserver2.calls import Client, DriverEndpoint
from hbstore.hiveserver2.protocol import METHODS, RESPONSES, THRIFT, StatusCode, lacking
from hbstore.hiveserver2.quick_replies import MAX_FORMS, MAX_SIZE, QuickReplies
from hbstore.hiveserver2.sql_port import HANDLERS
from hbstore.thrift.messages import Refusal
from tests.hiveserver2.messages import OPEN, OPERATION, SESSION, every_call, message, request, response, status_call
from tests.hiveserver2.serving import frame

CLIENT = Client("here:1", user="ann")


def answering(answer, *methods, **given):
    """An endpoint whose handlers of some methods are one function."""
    return DriverEndpoint(SimpleNamespace(name="the service"), dict.fromkeys(methods or METHODS, answer), **given)


def raising(error):
    def answer(_):
        raise error

    return answering(answer)


def refused(reply):
    with pytest.raises(TApplicationException) as caught:
        response(reply)
    return caught.value


def test_a_handler_has_what_was_sent_and_its_answer_succeeds():
    calls = []

    def answer(call):
        calls.append(call)
        return THRIFT.TOpenSessionResp(serverProtocolVersion=9, sessionHandle=SESSION, configuration={"a": "b"})

    reply = response(answering(answer).answer(CLIENT, message("OpenSession", OPEN, sequence=7)), sequence=7)
    assert reply.status.statusCode == StatusCode.SUCCESS
    assert reply.sessionHandle == SESSION
    (call,) = calls
    assert (call.service.name, call.client, call.method.name) == ("the service", CLIENT, "OpenSession")
    assert vars(call.request) == vars(OPEN)


@pytest.mark.parametrize("method", METHODS)
def test_every_request_arrives_as_it_was_sent(method):
    asked = []

    def answer(call):
        asked.append(call.request)
        raise UnsupportedCall("no")

    answering(answer).answer(CLIENT, every_call()[method])
    sent = request(method)
    assert plain(asked[0]) == plain(sent)


def plain(value):
    if hasattr(value, "thrift_spec"):
        return {name: plain(one) for name, one in vars(value).items()}
    return list(value) if isinstance(value, tuple) else value


def test_defaults_of_what_was_not_sent():
    asked = []

    def answer(call):
        asked.append(call.request)
        return RESPONSES[call.method.name]()

    some = answering(answer)
    some.answer(CLIENT, message("ExecuteStatement", THRIFT.TExecuteStatementReq(SESSION, "select 1", None, None, None)))
    some.answer(CLIENT, message("FetchResults", THRIFT.TFetchResultsReq(OPERATION, None, 10, None)))
    some.answer(CLIENT, message("GetTables", THRIFT.TGetTablesReq(SESSION)))
    assert (asked[0].runAsync, asked[0].queryTimeout, asked[0].confOverlay) == (False, 0, None)
    assert (asked[1].orientation, asked[1].fetchType) == (0, 0)
    assert (asked[2].schemaName, asked[2].tableTypes) == (None, None)


@pytest.mark.parametrize("method", METHODS)
def test_an_error_is_the_status_of_every_response(method):
    some = raising(TableNotFound("the table does not exist", table="shop.sales"))
    reply = some.answer(CLIENT, every_call()[method])
    if method == "GetQueryId":  # it has no status
        assert refused(reply).type == Refusal.INTERNAL_ERROR
        return
    status = response(reply).status
    assert (status.statusCode, status.sqlState, status.errorCode) == (StatusCode.ERROR, "42S02", 10001)
    assert status.infoMessages is None
    assert lacking(response(reply)) is None, "drivers refuse a reply without its required fields"


@pytest.mark.parametrize("error", [ZeroDivisionError("secret"), TypeError("secret"), KeyError("secret")])
def test_a_bug_is_logged_and_tells_nothing(error, caplog):
    status = response(raising(error).answer(CLIENT, every_call()["GetTables"])).status
    assert (status.statusCode, status.sqlState) == (StatusCode.ERROR, "HY000")
    assert "internal error" in status.errorMessage
    assert "secret" not in status.errorMessage
    assert "secret" in caplog.text


def test_an_answer_that_cannot_be_written_is_a_bug(caplog):
    some = answering(lambda _: THRIFT.TOpenSessionResp(serverProtocolVersion="nine"))
    assert "internal error" in response(some.answer(CLIENT, message("OpenSession", OPEN))).status.errorMessage
    assert "OpenSession failed" in caplog.text


def test_what_the_system_refuses_is_told():
    status = response(raising(OSError(28, "No space left on device")).answer(CLIENT, every_call()["GetTables"])).status
    assert "No space left" in status.errorMessage


@pytest.mark.parametrize("method", ["GetLog", "CloseImpalaOperation", "nothing"])
def test_methods_that_are_not_there_are_unknown(method):
    given = message("GetTables", request("GetTables")).replace(b"\0\0\0\x09GetTables", named(method))
    assert refused(answering(print).answer(CLIENT, given)).type == Refusal.UNKNOWN_METHOD


def named(method):
    return len(method).to_bytes(4, "big") + method.encode()


def test_methods_without_a_handler_are_unknown():
    some = answering(print, "GetTables")
    assert refused(some.answer(CLIENT, every_call()["GetSchemas"])).type == Refusal.UNKNOWN_METHOD


def test_replies_are_no_calls():
    given = message("OpenSession", OPEN, kind=TMessageType.REPLY)
    assert refused(answering(print).answer(CLIENT, given)).type == Refusal.INVALID_MESSAGE_TYPE


@pytest.mark.parametrize(
    ("method", "given", "missing"),
    [
        ("OpenSession", None, "req"),
        ("OpenSession", THRIFT.TOpenSessionReq(), "client_protocol"),
        ("CloseSession", THRIFT.TCloseSessionReq(), "sessionHandle"),
        ("CloseSession", THRIFT.TCloseSessionReq(THRIFT.TSessionHandle()), "sessionHandle.sessionId"),
        (
            "CloseSession",
            THRIFT.TCloseSessionReq(THRIFT.TSessionHandle(THRIFT.THandleIdentifier(guid=b""))),
            "sessionHandle.sessionId.secret",
        ),
        ("ExecuteStatement", THRIFT.TExecuteStatementReq(SESSION), "statement"),
    ],
)
def test_what_is_required_must_be_sent(method, given, missing):
    error = refused(answering(print).answer(CLIENT, message(method, given)))
    assert (error.type, error.message) == (Refusal.PROTOCOL_ERROR, f"{method}: no {missing} was sent")


def test_bytes_of_schemas_and_rows_are_answers_as_they_are():
    rows = bytes.fromhex("0a 0001 0000000000000007 0f 0002 0c 00000000 00")
    some = answering(lambda _: THRIFT.TFetchResultsResp(hasMoreRows=False, results=rows))
    reply = response(some.answer(CLIENT, every_call()["FetchResults"]))
    assert (reply.results.startRowOffset, reply.results.rows, reply.hasMoreRows) == (7, [], False)
    some = answering(lambda _: THRIFT.TGetResultSetMetadataResp(schema=bytes.fromhex("0f 0001 0c 00000000 00")))
    assert response(some.answer(CLIENT, every_call()["GetResultSetMetadata"])).schema.columns == []


def test_every_method_has_a_handler():
    assert set(HANDLERS) == set(METHODS)


def test_the_end_of_a_connection_is_told(caplog):
    gone = []
    answering(print, on_closed=gone.append).closed(CLIENT)
    assert gone == [CLIENT]
    answering(print, on_closed=lambda _: 1 / 0).closed(CLIENT)
    assert "ZeroDivisionError" in caplog.text
    assert "secret" not in repr(Client("here:1", user="ann", password="secret"))  # noqa: S106


# Replies that are kept


def counting(quick, key="operation"):
    """An endpoint that says how often it was asked for the state of an operation, and keeps its answers."""
    asked = []

    def answer(call):
        asked.append(call)
        call.kept_for = key
        return THRIFT.TGetOperationStatusResp(operationState=2, numModifiedRows=len(asked))

    return answering(answer, quick=quick)


def test_a_kept_reply_is_sent_again_with_the_number_of_the_call():
    quick = QuickReplies()
    some = counting(quick)
    assert [response(some.answer(CLIENT, status_call())).numModifiedRows for _ in range(2)] == [1, 2]
    quick.allow("operation")
    for number in (1, 2, -1, 2**31 - 1):
        reply = response(some.answer(CLIENT, status_call(number)), sequence=number)
        assert (reply.numModifiedRows, reply.operationState) == (3, 2)
    quick.remove("operation")
    assert response(some.answer(CLIENT, status_call())).numModifiedRows == 4


def test_a_kept_reply_to_a_call_in_a_frame_is_in_a_frame():
    quick = QuickReplies()
    quick.allow("operation")
    some = counting(quick)
    some.answer(CLIENT, status_call(1))
    assert quick.in_frames(frame(status_call(7))) == frame(quick(status_call(7)))
    assert quick.in_frames(frame(status_call(7))) == frame(some.answer(CLIENT, status_call(7)))
    right = frame(status_call(7))
    for wrong in (status_call(7), right + b"!", right[:-1], bytes(4) + right[4:], right[:20], b""):
        assert quick.in_frames(wrong) is None
    quick.remove("operation")
    assert quick.in_frames(right) is None


def test_nothing_is_kept_of_an_operation_that_was_closed_meanwhile():
    quick = QuickReplies()
    quick.allow("operation")
    some = counting(quick)
    quick.remove("operation")
    some.answer(CLIENT, status_call())
    assert quick(status_call()) is None


def test_another_handle_has_no_kept_reply():
    quick = QuickReplies()
    quick.allow("operation")
    counting(quick).answer(CLIENT, status_call())
    for at in range(len(status_call())):
        changed = bytearray(status_call())
        changed[at] ^= 1
        kept = [quick(bytes(changed)), quick.in_frames(frame(bytes(changed)))]
        assert [one is not None for one in kept] == [26 <= at < 30] * 2, "only the sequence number may differ"


def test_few_forms_of_a_call_are_kept_and_no_large_ones():
    quick = QuickReplies()
    quick.allow("operation")
    some = counting(quick)
    calls = [status_call()[:-2] + b"\x0b\0\x09" + bytes(3) + bytes((n,)) + bytes(n) + b"\0\0" for n in range(10)]
    for call in calls:
        response(some.answer(CLIENT, call))
    assert sum(quick(call) is not None for call in calls) == MAX_FORMS
    quick.remove("operation")
    quick.allow("operation")
    large = status_call()[:-2] + b"\x0b\0\x09" + MAX_SIZE.to_bytes(4, "big") + bytes(MAX_SIZE) + b"\0\0"
    assert response(some.answer(CLIENT, large)).operationState == 2
    assert quick(large) is None
