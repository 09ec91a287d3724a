"""`hbstore serve` as a process, and everything that may happen to it: bad input, bad readers, kill -9, HBase away."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from random import Random

import pytest
from thriftpy2.thrift import TApplicationException
from thriftpy2.transport import TTransportException

from hbstore import Column, Partition, Table, connect
from hbstore.servers.memory import FREE, weight
from hbstore.thrift.walker import MAX_ELEMENTS
from tests.hbase_server import own_tables
from tests.metastore.client import HOST, STORED, TYPES, client, message
from tests.metastore.serving import Serve
from tests.pauses import SECONDS, idle, let_go_on, until

MEGA = 1024 * 1024
BASE = 100 * MEGA
"""What a server has that nobody asks for anything, and a little more; docs/metastore.md says 70."""

EACH = MEGA // 2
"""What one more connection costs at most; docs/metastore.md says 0.3 MB."""

OF_A_LISTING = 9 * MEGA
"""What a listing of partitions costs at most, however large it is; docs/metastore.md says so."""

TIMEOUT = 8
"""Seconds that the server gives HBase, when that goes away."""

HEAD = message("getName")[:-1]
TROUBLE = {
    "garbage": (Random(1).randbytes(10_000), "the message is not in Thrift's binary protocol"),
    "text": (b"hello, is this the metastore?\n" * 10, "the message does not begin like a call"),
    "http": (b"GET /metrics HTTP/1.1\r\nHost: metastore\r\n\r\n", "the message does not begin like a call"),
    "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500), "the message does not begin like a call"),
    "frame of 2 GB": (struct.pack(">i", (1 << 31) - 1) + HEAD, "the size of a frame is not allowed"),
    "text of 2 GB": (HEAD + b"\x0b\x00\x01\x7f\xff\xff\xff", "the size of a text is invalid"),
    "text below zero": (HEAD + b"\x0b\x00\x01\xff\xff\xff\xff", "the size of a text is invalid"),
    "list of 10^9": (HEAD + b"\x0f\x00\x01\x0b\x3b\x9a\xca\x00", "a container claims more than a message can hold"),
    "map of 10^9": (HEAD + b"\x0d\x00\x01\x0b\x0b\x3b\x9a\xca\x00", "a container claims more than a message can hold"),
    "100,000 deep": (HEAD + b"\x0c\x00\x01" * 100_000, "values are nested too deeply"),
    "lists 100,000 deep": (HEAD + b"\x0f\x00\x01" + b"\x0f\x00\x00\x00\x01" * 100_000, "values are nested too deeply"),
    "elements": (HEAD + b"\x0f\x00\x01\x03" + struct.pack(">i", MAX_ELEMENTS + 1), "a message has too many elements"),
}


@pytest.fixture
def serve(tmp_path):
    """Starts `hbstore serve`: ``serve("--read-only")``."""
    with ExitStack() as stack:

        def start(*options, store=f"sqlite://{tmp_path}/store.db"):
            return stack.enter_context(Serve(store, tmp_path, *options))

        yield start


@contextmanager
def connection(server):
    """A socket, and its address as the server's log has it."""
    with socket.create_connection((HOST, server.port), timeout=SECONDS) as sock:
        yield sock, "{}:{}".format(*sock.getsockname())


def is_over(sock):
    """Whether the server has closed the connection without a word."""
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:  # it did not read all that was sent
        return True


def create_table(metastore, database="shop", table="sales"):
    """An external table by ds and hour; its storage descriptor."""
    metastore.create_database(STORED.Database(name=database))
    storage = STORED.StorageDescriptor(
        cols=[STORED.FieldSchema(name="amount", type="double")],
        inputFormat="in",
        outputFormat="out",
        serdeInfo=STORED.SerDeInfo(serializationLib="serde"),
    )
    metastore.create_table(
        STORED.Table(
            dbName=database,
            tableName=table,
            tableType="EXTERNAL_TABLE",
            parameters={"EXTERNAL": "TRUE"},
            sd=storage,
            partitionKeys=[STORED.FieldSchema(name="ds", type="string"), STORED.FieldSchema(name="hour", type="int")],
        )
    )


def batch(ds, size, text="", location=None):
    """Partitions of one day."""
    return [
        STORED.Partition(
            dbName="shop",
            tableName="sales",
            values=[ds, str(hour)],
            sd=STORED.StorageDescriptor(location=location),
            parameters={"text": text},
        )
        for hour in range(size)
    ]


def check(store):
    """`hbstore check`: its exit code, and what it says."""
    result = subprocess.run(
        [sys.executable, "-m", "hbstore", "--store", store, "check"], capture_output=True, text=True, check=False
    )
    return result.returncode, result.stdout + result.stderr


# Bad input


def test_bad_input_is_refused_and_logged_once_while_others_are_served(serve):
    server = serve()
    expected = {}
    with client(server.port) as other:
        for sent, why in TROUBLE.values():
            with connection(server) as (sock, address):
                sock.sendall(sent)
                assert is_over(sock)
                expected[address] = [("warning", why)]
            assert other.getName() == "hbstore"
        with connection(server) as (sock, address):
            sock.sendall(message("get_table", "shop", "sales")[:-5])
            expected[address] = [("info", "the connection ended within a call")]
        until(lambda: len(server.log()) >= len(expected))
    assert server.peak_memory() < BASE
    assert server.terminate() == 0
    told = {}
    for line in server.log():
        told.setdefault(line["client"], []).append((line["level"], line["why"]))
    assert told == expected


def test_500_idle_connections_and_a_stopped_call_in_each(serve):
    server = serve()
    with ExitStack() as stack:
        socks = [stack.enter_context(connection(server))[0] for _ in range(500)]
        for sock in socks:
            sock.sendall(message("get_all_databases"))
            assert b"default" in sock.recv(1000)
        with client(server.port) as other:
            assert other.get_all_databases() == ["default"]
        for sock in socks:
            sock.sendall(HEAD)
        with client(server.port) as other:
            assert other.get_all_databases() == ["default"]
        assert server.log() == []
        assert server.peak_memory() < BASE + 500 * EACH
    until(lambda: len(server.log("cut off")) == 500)
    assert len({line["client"] for line in server.log()}) == 500


def test_large_messages_of_many_clients_share_a_budget(serve):
    shared, largest, clients = 64 * MEGA, 32 * MEGA, 60
    server = serve("--message-memory", shared, "--max-message", largest)
    names = ["x" * 1000] * 30_000
    call = message("get_partitions_by_names", "shop", "sales", names)
    assert len(call) < largest
    with ExitStack() as stack:
        threads = []
        for _ in range(clients):
            sock, _ = stack.enter_context(connection(server))
            threads.append(threading.Thread(target=send_all_but_the_end, args=(sock, call)))
            threads[-1].start()
        with client(server.port) as other:
            until(lambda: server.peak_memory() > shared)
            for _ in range(20):
                assert other.get_all_databases() == ["default"]
                idle(0.05)
        assert server.log() == []
        bound = BASE + shared + weight(largest, len(names)) + clients * (EACH + FREE)
        assert server.peak_memory() < bound
        stack.close()
        for thread in threads:
            thread.join(SECONDS)
    with client(server.port) as other, pytest.raises(TYPES.NoSuchObjectException):
        other.get_partitions_by_names("shop", "sales", names)
    assert server.peak_memory() < bound


def send_all_but_the_end(sock, call):
    """As far as the server takes it."""
    try:
        sock.sendall(call[:-1])
    except OSError:  # the test is over
        return


def test_a_message_of_nothing_but_elements(serve):
    """The smallest elements make the largest objects: a partition without fields is one byte on the wire."""
    server = serve()
    number = 300_000
    call = HEAD.replace(b"\x00\x00\x00\x07getName", b"\x00\x00\x00\x0eadd_partitions")
    with connection(server) as (sock, _):
        sock.sendall(call + b"\x0f\x00\x01\x0c" + struct.pack(">i", number) + bytes(number) + b"\0")
        assert sock.recv(1000)
        assert server.peak_memory() < BASE + 2 * weight(number, number)
        sock.sendall(message("getName"))
        assert b"hbstore" in sock.recv(1000)


# Slow readers


def test_a_slow_reader_of_a_big_listing(serve):
    server = serve("--processes", 2)
    with client(server.port) as metastore:
        create_table(metastore)
        for day in range(10):
            metastore.add_partitions(batch(f"d{day}", 2000, "x" * 1000, f"file:{server.folder}/warehouse/shop.db/same"))
    with connection(server) as (sock, _):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        sock.sendall(message("get_partitions", "shop", "sales", -1))
        received = len(sock.recv(1000))
        for _ in range(8):  # of which some come to the same process
            with client(server.port) as other:
                for _ in range(10):
                    assert other.get_table("shop", "sales").tableName == "sales"
        with client(server.port) as other:
            assert len(other.get_partition_names("shop", "sales", -1)) == 20_000
        stopping = threading.Thread(target=server.terminate)
        stopping.start()
        idle(0.5)
        while data := sock.recv(1 << 20):
            received += len(data)
        stopping.join(SECONDS)
    assert received > 20_000 * 1000
    assert server.process.returncode == 0
    assert server.log() == []


@pytest.mark.slow
def test_clients_that_list_a_big_table_at_once(serve, tmp_path):
    """As many as there is room for, of which none reads before all could: more would wait (tests/servers)."""
    store, clients, number = f"sqlite://{tmp_path}/store.db", 8, 40_000
    with connect(store) as made:
        made.create_database("shop")
        made.create_table(Table("shop", "sales", partition_columns=[Column("n", "int")], location="/sales"))
        long = {"text": "x" * 1000}
        made.add_partitions("shop", "sales", [Partition([str(n)], parameters=long) for n in range(number)])
    server = serve()
    with ExitStack() as stack:
        socks = [stack.enter_context(connection(server))[0] for _ in range(clients)]
        for sock in socks:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
            sock.sendall(message("get_partitions", "shop", "sales", -1))
        for sock in socks:
            sock.recv(1, socket.MSG_PEEK)  # its reply is ready, and cannot be sent as long as nobody takes it
        assert server.own_memory() < BASE + clients * OF_A_LISTING
        with ThreadPoolExecutor(clients) as threads:
            sizes = set(threads.map(read_to_the_stop, socks))
    assert min(sizes) > number * 1000
    assert len(sizes) == 1
    assert server.own_memory() < BASE + clients * OF_A_LISTING // 2
    assert server.log() == []


def read_to_the_stop(sock):
    """How many bytes come until the server has written all it had to say."""
    sock.shutdown(socket.SHUT_WR)
    return sum(len(data) for data in iter(lambda: sock.recv(1 << 20), b""))


# kill -9


def add_until_killed(server, acknowledged, size, begun):
    """Add batches, and remember each that the server has acknowledged."""
    with client(server.port) as metastore:
        try:
            while True:
                ds = f"d{len(acknowledged):05d}"
                metastore.add_partitions(batch(ds, size))
                acknowledged.append(ds)
                begun.set()
        except (OSError, TTransportException):
            return


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def test_kill_9_in_the_middle_of_add_partitions(serve, backend, request, tmp_path):
    with ExitStack() as tables:
        store = f"sqlite://{tmp_path}/store.db"
        if backend == "hbase":
            store = tables.enter_context(own_tables(request.getfixturevalue("hbase_server_url")))
        add_and_kill(serve, store, Random(backend))


def add_and_kill(serve, store, random):
    size = 200
    acknowledged = []
    server = serve(store=store)
    with client(server.port) as metastore:
        create_table(metastore)
    for _ in range(2):
        begun = threading.Event()
        adding = threading.Thread(target=add_until_killed, args=(server, acknowledged, size, begun))
        adding.start()
        assert begun.wait(SECONDS)
        let_go_on(random, 0.5)
        server.kill()
        adding.join(SECONDS)
        server = serve(store=store)
        with client(server.port) as metastore:
            names = metastore.get_partition_names("shop", "sales", -1)
            assert len(names) == len(set(names))
            expected = {f"ds={ds}/hour={hour}" for ds in acknowledged for hour in range(size)}
            assert expected <= set(names)
            unknown = f"d{len(acknowledged):05d}"
            assert {name.split("/")[0] for name in set(names) - expected} <= {f"ds={unknown}"}
            code, told = check(store)
            assert code == 0, told
            # The next writer meets what the dead one left: the batch is there wholly, or not at all.
            with suppress(TYPES.AlreadyExistsException):
                metastore.add_partitions(batch(unknown, size))
            acknowledged.append(unknown)
            assert len(metastore.get_partitions_ps("shop", "sales", [unknown], -1)) == size


# HBase away


@pytest.mark.slow
@pytest.mark.hbase
def test_hbase_goes_away_and_comes_back(serve, own_hbase):
    store = own_hbase.url("away")
    with connect(f"{store}?timeout={SECONDS}"):  # creates the tables of HBase, which may take a while
        pass
    server = serve(store=f"{store}?timeout={TIMEOUT}")
    with client(server.port, timeout=TIMEOUT + 30) as metastore:  # so that no answer is late
        create_table(metastore)
        metastore.add_partitions(batch("d1", 10))
        own_hbase.kill()
        for call in (
            lambda: metastore.get_table("shop", "sales"),
            lambda: metastore.get_partitions_by_filter("shop", "sales", "hour = 5", -1),
            lambda: metastore.add_partitions(batch("d2", 10)),
            lambda: metastore.create_database(STORED.Database(name="more")),
        ):
            assert "HBase" in error_of(call)
        with client(server.port) as other:
            assert other.getName() == "hbstore"
        own_hbase.start()
        until(lambda: answers(metastore))
        assert metastore.get_partition_names("shop", "sales", -1) == [f"ds=d1/hour={hour}" for hour in range(10)]
        metastore.add_partitions(batch("d2", 10))
        assert len(metastore.get_partitions("shop", "sales", -1)) == 20
        own_hbase.kill_one("hbase")  # and its gateway waits for it
        assert "HBase" in error_of(lambda: metastore.get_partitions("shop", "sales", -1))
        own_hbase.start()
        until(lambda: answers(metastore))
    failed = server.log("failed call")
    methods = ["get_table", "get_partitions_by_filter", "add_partitions", "create_database"]
    assert [line["method"] for line in failed[:4]] == methods
    assert {line["error"] for line in failed} == {"MetaException"}


def error_of(call):
    """The text of the MetaException that a call is answered with."""
    with pytest.raises(TYPES.MetaException) as told:
        call()
    return told.value.message


def answers(metastore):
    try:
        return metastore.get_table("shop", "sales")
    except (TYPES.MetaException, TApplicationException):
        return None
