"""The client against a server whose Spark is a script."""

import io
import select
import socket
import threading

import pyarrow as pa
import pytest

import hbstore.client
from hbstore.client.transport import Transport
from hbstore.errors import (
    AccessRefused,
    CubeSyntaxError,
    InvalidInput,
    InvalidUrl,
    NoCandidate,
    QueryCancelled,
    QueryNotFound,
    ServerUnavailable,
    TooManyQueries,
)
from hbstore.query_service.access import Access
from hbstore.query_service.messages import Cancelled, Done, Failed, Started
from hbstore.query_service.query import QueryProblem
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.query_service.test_service import ROWS
from tests.web.conftest import served

__all__ = ["served"]
TOKEN = "0123456789abcdef"  # noqa: S105  that of the test


@pytest.fixture
def server(served):
    with (
        http_served(application(served[0], Access()), "127.0.0.1", 0) as port,
        hbstore.client.connect(f"http://127.0.0.1:{port}") as connection,
    ):
        yield connection


def later(*calls):
    def run():
        for call in calls:
            call()

    threading.Timer(0.3, run).start()


def test_a_query_is_submitted_waited_for_and_looked_at_again(server, served):
    service, _ = served
    query = server.query("select 1", user="ann", name="one", database="default")
    assert (query.state, query.is_final, query.error) == ("queued", False, None)
    later(lambda: service.runner.heard(Started(query.id)), lambda: service.runner.heard(Done(query.id, ROWS)))
    assert query.wait().state == "succeeded"
    again = server.get(query.id)
    assert again.to_dict() == query.to_dict()
    assert [one.id for one in server.queries(user="ann")] == [query.id]
    assert server.queries(state="running") == []


def test_the_error_of_a_query_is_raised_as_what_it_is(server, served):
    service, _ = served
    query = server.query("cube select fare from rides")
    problem = QueryProblem(error="NoCandidate", text="no fact has it", fields={"cause": "X"}, hint="Ask for less")
    later(lambda: service.runner.heard(Started(query.id)), lambda: service.runner.heard(Failed(query.id, problem)))
    with pytest.raises(NoCandidate, match="no fact has it: cause=X"):
        query.wait()


def test_a_query_is_cancelled(server, served):
    service, _ = served
    query = server.query("select 1")
    service.runner.heard(Started(query.id))
    assert query.cancel().state == "running"
    service.runner.heard(Cancelled(query.id))
    with pytest.raises(QueryCancelled):
        query.wait()
    assert query.cancel().state == "cancelled"


def test_what_the_server_refuses_is_raised(server):
    with pytest.raises(InvalidInput, match="join_typ"):
        server.query("select 1", options={"join_typ": "inner"})
    with pytest.raises(QueryNotFound):
        server.get("5f")
    with pytest.raises(CubeSyntaxError) as caught:
        server.explain("cube select (")
    assert "^" in caught.value.highlight


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../queries", "5f/../..", "5f/results", "5f?wait=1", "#", "é", "a b", "\0"]
)
def test_an_id_leads_to_nothing_but_a_query(server, name):
    with pytest.raises(QueryNotFound) as caught:
        server.get(name)
    assert caught.value.fields == {"query": name}


def test_a_request_that_is_sent_again_is_one_query(server):
    assert server.query("select 1", key="k").id == server.query("select 1", key="k").id
    assert server.query("select 1").id != server.query("select 1").id


def test_a_full_queue_is_asked_again_for_a_while(server, served):
    service, _ = served
    service.runner.limits = type(service.runner.limits)(running=1, queued=0)
    later(lambda: setattr(service.runner, "limits", type(service.runner.limits)(running=1, queued=5)))
    assert server.query("select 1").state == "queued"


def test_who_does_not_answer_is_named():
    with (
        hbstore.client.connect("http://127.0.0.1:1") as connection,
        pytest.raises(ServerUnavailable, match=r"does not answer: .*reason=Connection refused"),
    ):
        connection.get("5f")


@pytest.mark.parametrize("url", ["127.0.0.1:80", "ftp://x", "http://", ""])
def test_what_is_no_url_of_a_server_is_refused(url):
    with pytest.raises(InvalidUrl):
        hbstore.client.connect(url)


@pytest.mark.parametrize("argument", [{"url": None}, {"url": 5}, {"url": "http://x", "token": 5}])
def test_wrong_types_are_named(argument):
    with pytest.raises(InvalidInput):
        hbstore.client.connect(**argument)


def test_wrong_types_of_ids_are_named(server):
    with pytest.raises(InvalidInput, match="id_"):
        server.get(5)


def test_tokens_are_sent(served, tmp_path):
    file = tmp_path / "tokens"
    file.write_text(f"ann {TOKEN}")
    file.chmod(0o600)
    app = application(served[0], Access.of("127.0.0.1", str(file)))
    with http_served(app, "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        with hbstore.client.connect(url) as nobody, pytest.raises(AccessRefused):
            nobody.queries()
        with hbstore.client.connect(url, token=TOKEN) as ann:
            assert ann.query("select 1").to_dict()["request"]["user"] == "ann"


def test_too_many_queries_in_the_end(server, served):
    service, _ = served
    service.runner.limits = type(service.runner.limits)(running=1, queued=0)
    with pytest.raises(TooManyQueries):
        server.query("select 1")


def test_the_end_of_a_reply_is_not_the_beginning_of_the_next():
    """A reader of Arrow stops where Arrow's stream ends, and the end of the message may come later."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, pa.schema([("n", pa.int32())])):
        pass
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    asked = []

    def serve(listening):
        sock, _ = listening.accept()
        listening.close()
        with sock:
            for _ in range(2):
                asked.append(sock.recv(65536).split()[1])
                sock.sendall(head + b"%x\r\n%s\r\n" % (len(sink.getvalue()), sink.getvalue()))
                select.select([sock], [], [], 0.3)  # a request would come before the end
                sock.sendall(b"0\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=[listening])
        thread.start()
        transport = Transport(f"http://127.0.0.1:{listening.getsockname()[1]}", None)
        for path in ("/one", "/two"):
            with transport.reply("GET", path) as reply, pa.ipc.open_stream(reply) as reader:
                assert reader.read_all().num_rows == 0
        transport.close()
        thread.join()
    assert asked == [b"/one", b"/two"]
