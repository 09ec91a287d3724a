"""Drivers over HTTP: who may call, what a request must be, and what people see who come with a browser."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace

import pytest

from hbstore.hiveserver2.calls import DriverEndpoint
from hbstore.hiveserver2.http_transport import MAX_HEAD
from hbstore.hiveserver2.protocol import THRIFT
from hbstore.hiveserver2.server import LIMITS, driver_server
from hbstore.query_service.access import Access
from hbstore.servers.framing import ReadLimits
from tests.hiveserver2.messages import OPEN, SESSION, message, request, response
from tests.hiveserver2.serving import SECONDS, FakeService, connected, post, read_response, serving
from tests.pauses import until

CALL = message("GetInfo", request("GetInfo"))
TOKEN = "0123456789abcdef"  # noqa: S105


@pytest.fixture
def service():
    return FakeService()


@pytest.fixture
def server(service):
    with serving(service) as server:
        yield server


def asked(server, data):
    with connected(server.port) as sock:
        sock.sendall(data)
        return read_response(sock)


def test_requests_share_a_connection(server):
    with connected(server.port) as sock:
        for _ in range(3):
            sock.sendall(post(CALL))
            status, headers, body = read_response(sock)
            assert (status, headers["content-type"]) == (200, "application/x-thrift")
            assert response(body).infoValue.stringValue == "hbstore"


def test_requests_that_come_at_once_are_answered_in_turn(server):
    with connected(server.port) as sock:
        sock.sendall(post(CALL) * 3)
        assert [read_response(sock)[0] for _ in range(3)] == [200] * 3


def test_a_body_in_chunks(server):
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in (CALL[:10], CALL[10:11], CALL[11:])) + b"0\r\n\r\n"
    head = post(b"", Content_Length=None, Transfer_Encoding="chunked")
    assert response(asked(server, head + chunks)[2]).infoValue.stringValue == "hbstore"


def test_a_client_that_waits_to_be_asked_for_the_body(server):
    with connected(server.port) as sock:
        sock.sendall(post(CALL, Expect="100-continue")[: -len(CALL)])
        assert read_response(sock)[0] == 100
        sock.sendall(CALL)
        assert read_response(sock)[0] == 200


def test_a_client_that_shall_not_send_its_body_is_told_before(server):
    with connected(server.port) as sock:
        sock.sendall(post(CALL, Expect="100-continue", Content_Type="text/plain")[: -len(CALL)])
        assert read_response(sock)[0] == 415


@pytest.mark.parametrize("last", [post(CALL, Connection="close"), post(CALL).replace(b"HTTP/1.1", b"HTTP/1.0")])
def test_a_connection_ends_if_its_client_wants_it(last, server):
    with connected(server.port) as sock:
        sock.sendall(last)
        assert read_response(sock)[0] == 200
        assert sock.recv(1) == b""


def test_each_request_has_a_login_of_its_own(service):
    access = Access(tokens={TOKEN: "ann", TOKEN[::-1]: "bob"})
    with serving(service, access) as server, connected(server.port) as sock:
        for user, password in (("ann", TOKEN), ("bob", TOKEN[::-1])):
            sock.sendall(post(message("OpenSession", OPEN), user=user, password=password))
            assert read_response(sock)[0] == 200
        sock.sendall(post(message("OpenSession", OPEN), user="ann", password="x"))  # noqa: S106
        assert read_response(sock)[0] == 401
    assert [call.client.user for call in service.calls] == ["ann", "bob"]


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Basic", "Basic !", "Basic YW5u", "Basic /w==", "Bearer 0123456789abcdef", "Negotiate x"],
)
def test_a_request_without_a_login_is_refused_where_there_are_tokens(authorization, service):
    with serving(service, Access(tokens={TOKEN: "ann"})) as server:
        status, headers, body = asked(server, post(CALL, Authorization=authorization))
    assert (status, headers["www-authenticate"]) == (401, 'Basic realm="hbstore"')
    assert b"needs a login" in body
    assert not service.calls


def test_without_tokens_no_login_is_needed(server, service):
    assert asked(server, post(CALL, Authorization=None))[0] == 200
    assert service.calls[0].client.user is None


@pytest.mark.parametrize("host", ["evil.example", "evil.example:10000", "127.0.0.1.evil.example"])
def test_a_name_that_is_not_the_servers_is_refused(host, server, service):
    assert asked(server, post(CALL, host=host))[0] == 403
    assert not service.calls
    with serving(service, Access(tokens={TOKEN: "ann"})) as other:
        assert asked(other, post(CALL, user="ann", password=TOKEN, host=host))[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost"])
def test_no_page_of_a_browser_may_call(origin, server, service):
    assert asked(server, post(CALL, Origin=origin))[0] == 403
    assert not service.calls


@pytest.mark.parametrize("kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/x-thriftx"])
def test_another_type_is_refused(kind, server, service):
    assert asked(server, post(CALL, Content_Type=kind))[0] == 415
    assert not service.calls


def test_the_type_may_have_a_parameter(server):
    assert asked(server, post(CALL, Content_Type="Application/X-Thrift; charset=utf-8"))[0] == 200


@pytest.mark.parametrize("method", [b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"TRACE"])
def test_other_methods_are_refused(method, server):
    status, headers, _ = asked(server, post(CALL).replace(b"POST", method, 1))
    assert (status, headers["allow"]) == (405, "POST")


def test_a_person_is_told_what_this_port_is(server):
    status, headers, body = asked(server, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (status, headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert b"jdbc:hive2://" in body
    with connected(server.port) as sock:
        sock.sendall(b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert b"".join(iter(lambda: sock.recv(4096), b"")).endswith(b"\r\n\r\n")


def small(service):
    return serving(service, limits=replace(LIMITS, read=ReadLimits(message=100_000)))


def test_a_body_that_is_too_large_is_refused_whether_its_size_is_said_or_not(service):
    call = message("ExecuteStatement", THRIFT.TExecuteStatementReq(SESSION, "x" * 200_000))
    with small(service) as server:
        status, _, body = asked(server, post(call))
        assert (status, body) == (413, b"the request is larger than 100000 bytes\n")
        chunked = post(b"", Content_Length=None, Transfer_Encoding="chunked") + b"%x\r\n%s\r\n0\r\n\r\n" % (
            len(call),
            call,
        )
        assert asked(server, chunked)[0] == 413
        assert asked(server, post(b"", Content_Length=str(10**15)))[0] == 413
    assert not service.calls


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"select 1",
        CALL[:-1],
        CALL + b"x",
        CALL * 2,
        b"\x80\1\0\1",
        b"\0" * 100,
        CALL[:-1] + b"\x0f\0\7\x0b\x7f\xff\xff\xff\0",
    ],
)
def test_a_body_that_is_no_call_is_refused(body, server, service):
    assert asked(server, post(body))[0] == 400
    assert not service.calls


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system has no such limit")
def test_a_client_that_does_not_read_its_reply_is_cut_off():
    answered = threading.Event()

    def fetch(_):
        answered.set()
        return THRIFT.TFetchResultsResp(hasMoreRows=False, results=bytes(50_000_000))  # which no buffers hold

    endpoint = DriverEndpoint(None, {"FetchResults": fetch})
    limits = replace(LIMITS, write_timeout=0.5)
    with driver_server(endpoint, Access(), limits=limits) as server, connected(server.port) as sock:
        sock.sendall(post(message("FetchResults", request("FetchResults"))))
        assert answered.wait(SECONDS)
        until(lambda: not server.connections)


@pytest.mark.parametrize(
    "data",
    [
        b"POST /\r\n\r\n",
        b"POST / HTTP/1.1\r\n\r\n",  # no Host
        b"POST / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 2 * MAX_HEAD,
        b"hello\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused(data, server):
    assert asked(server, data)[0] in (400, 405)
