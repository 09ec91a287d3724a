"""HBase URLs, and addresses where there is no HBase."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest

from hbstore.errors import CommitStateUnknown, InvalidUrl, StoreUnavailable
from hbstore.rows.hbase.pool import Pool, Repeat
from hbstore.rows.hbase.rows import connect_hbase
from hbstore.rows.hbase.url import parse_hbase_url


def test_everything_but_the_host_has_a_default():
    address = parse_hbase_url("hbase://gateway")
    assert (address.host, address.port, address.prefix) == ("gateway", 9090, "hbstore")
    assert (address.timeout, address.pool, address.retries) == (10, 8, 3)
    assert (address.catalog, address.partitions) == (b"hbstore_catalog", b"hbstore_partitions")


def test_all_parts():
    address = parse_hbase_url("hbase://[::1]:1234/shop_2?timeout=0.5&pool=2&retries=0")
    assert (address.host, address.port, address.prefix) == ("::1", 1234, "shop_2")
    assert (address.timeout, address.pool, address.retries) == (0.5, 2, 0)


@pytest.mark.parametrize(
    "url",
    [
        "hbase://",
        "hbase:///prefix",
        "hbase://host:port/p",
        "hbase://host:0/p",
        "hbase://host:70000/p",
        "hbase://host/a/b",
        "hbase://host/a-b",
        "hbase://host/a b",
        "hbase://host/a'b",
        "hbase://host/" + "a" * 65,
        "hbase://user:secret@host/p",
        "hbase://host/p#x",
        "hbase://host/p?timeout=0",
        "hbase://host/p?timeout=nan",
        "hbase://host/p?timeout=inf",
        "hbase://host/p?timeout=",
        "hbase://host/p?pool=0",
        "hbase://host/p?pool=1.5",
        "hbase://host/p?retries=-1",
        "hbase://host/p?tiemout=3",
        "hbase://[::1/p",
        "sqlite://x.db",
    ],
)
def test_bad_urls(url):
    with pytest.raises(InvalidUrl):
        parse_hbase_url(url)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_nothing_listens():
    port = free_port()
    with pytest.raises(StoreUnavailable, match=f"nothing listens.*host=127.0.0.1, port={port}"):
        connect_hbase(f"hbase://127.0.0.1:{port}/p?timeout=2")


def test_an_unknown_host():
    with pytest.raises(StoreUnavailable, match="host name of HBase's Thrift gateway"):
        connect_hbase("hbase://no-such-host.invalid/p?retries=0")


@contextlib.contextmanager
def server(answer):
    """A server that handles each connection with a function; its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    open_sockets = []

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                open_sockets.append(connection)
                with contextlib.suppress(OSError):
                    answer(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for one in open_sockets:
            one.close()


def reply(data):
    def answer(connection):
        connection.recv(1000)
        connection.sendall(data)

    return answer


ANOTHER_SERVICE = b"\x80\x01\x00\x03\x00\x00\x00\x0dgetTableNames\x00\x00\x00\x00\x08\x00\x02\x00\x00\x00\x01\x00"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (reply(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "does not speak HBase's Thrift protocol"),
        (reply(b"SSH-2.0-OpenSSH_9.2\r\n"), "does not speak HBase's Thrift protocol"),
        (reply(b"\xff" * 100), "does not speak HBase's Thrift protocol"),
        (reply(ANOTHER_SERVICE), "could not process a request"),
        (lambda connection: connection.close(), "connection to HBase's Thrift gateway broke"),
        (lambda connection: None, "did not answer in time"),  # noqa: ARG005
        (reply(b"\x80\x01\x00\x02\x00\x00"), "did not answer in time"),
    ],
    ids=["http", "ssh", "noise", "another service", "closes", "silence", "half a reply"],
)
def test_a_port_of_something_else(answer, words):
    with server(answer) as port:
        with pytest.raises(StoreUnavailable, match=words) as caught:
            connect_hbase(f"hbase://127.0.0.1:{port}/p?timeout=1&retries=1")
        assert caught.value.fields["port"] == port
        assert caught.value.hint


@pytest.mark.parametrize(
    ("kind", "sent", "error"),
    [(Repeat.READ, 3, StoreUnavailable), (Repeat.WRITE, 3, CommitStateUnknown), (Repeat.ONCE, 1, CommitStateUnknown)],
)
def test_only_what_is_safe_to_repeat_is_sent_again(kind, sent, error):
    calls = []

    def answer(connection):
        calls.append(connection.recv(1000))
        connection.close()

    with server(answer) as port:
        pool = Pool(parse_hbase_url(f"hbase://127.0.0.1:{port}/p?timeout=10&retries=2"))
        with pytest.raises(error) as caught:
            pool.run(lambda link: link.client.getTableNames(), kind)
        pool.close()
    assert type(caught.value) is error
    assert len(calls) == sent
    assert all(calls)


def test_what_could_not_be_sent_is_in_no_doubt():
    pool = Pool(parse_hbase_url(f"hbase://127.0.0.1:{free_port()}/p?timeout=10&retries=1"))
    with pytest.raises(StoreUnavailable):
        pool.run(lambda link: link.client.getTableNames(), Repeat.ONCE)
    pool.close()


def test_the_pool_is_bounded():
    with server(lambda connection: None) as port:  # noqa: ARG005
        pool = Pool(parse_hbase_url(f"hbase://127.0.0.1:{port}/p?timeout=0.5&pool=2"))
        inside, leave = threading.Barrier(3), threading.Event()

        def hold(_link):
            inside.wait()
            leave.wait()

        threads = [threading.Thread(target=pool.run, args=(hold, Repeat.READ)) for _ in range(2)]
        for thread in threads:
            thread.start()
        inside.wait()
        with pytest.raises(StoreUnavailable, match="no connection to HBase became free"):
            pool.run(lambda link: None, Repeat.READ)  # noqa: ARG005
        leave.set()
        for thread in threads:
            thread.join()
        assert pool.run(lambda link: 7, Repeat.READ) == 7  # noqa: ARG005
        pool.close()


def test_an_error_of_ours_gives_the_connection_up():
    with server(lambda connection: None) as port:  # noqa: ARG005
        pool = Pool(parse_hbase_url(f"hbase://127.0.0.1:{port}/p?timeout=0.5&pool=1"))
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                pool.run(lambda link: 1 / 0, Repeat.READ)  # noqa: ARG005
        pool.close()
