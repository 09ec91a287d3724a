"""Which threads wait for clients: one while calls are short, another one when a call is long, and none in the end."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack

import pytest
from thriftpy2.transport import TTransportException

from hbstore.metastore import server as servers
from hbstore.metastore import turns
from hbstore.metastore.calls import Handlers
from hbstore.metastore.connection import ConnectionLimits
from hbstore.metastore.framing import ReadLimits
from hbstore.metastore.server import ServerLimits
from hbstore.metastore.turns import Alarm, Lead, SideBySide
from tests.metastore.client import HOST, client, message
from tests.metastore.serving import SECONDS, in_process, until

CLIENTS = 8
MODES = pytest.mark.parametrize("side_by_side", [False, True])


class Answering:
    """Handlers: getName tells the thread, getVersion is held up, getStatus ends its thread."""

    def __init__(self):
        self.go_on = threading.Event()
        self.begun = threading.Semaphore(0)
        self.handlers = Handlers()
        self.handlers.answers("getName")(lambda _: str(threading.get_ident()))
        self.handlers.answers("getVersion")(self.held_up)
        self.handlers.answers("getStatusDetails")(self.die)

    def held_up(self, _):
        self.begun.release()
        assert self.go_on.wait(SECONDS)
        return "at last"

    def die(self, _):
        raise SystemExit


@pytest.fixture
def answering():
    made = Answering()
    yield made
    made.go_on.set()


def begin_held_up_calls(server, answering, stack, number=1):
    """Sockets whose calls are under way."""
    socks = []
    for _ in range(number):
        sock = stack.enter_context(socket.create_connection((HOST, server.port), timeout=SECONDS))
        sock.sendall(message("getVersion"))
        assert answering.begun.acquire(timeout=SECONDS)
        socks.append(sock)
    return socks


def ask_at_once(server, calls):
    """The threads that some clients meet who all ask at once."""
    met = set()

    def ask():
        with client(server.port) as metastore:
            met.update(metastore.getName() for _ in range(calls))

    clients = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for one in clients:
        one.start()
    for one in clients:
        one.join(SECONDS)
    return met


def test_one_thread_answers_all_short_calls(answering, monkeypatch):
    monkeypatch.setattr(servers, "Lead", lambda add_thread: Lead(add_thread, patience=SECONDS))
    with in_process(answering.handlers) as server:
        assert len(ask_at_once(server, 50)) == 1


@MODES
def test_nobody_waits_for_calls_that_are_long(answering, side_by_side):
    with in_process(answering.handlers, side_by_side=side_by_side) as server, ExitStack() as stack:
        held = begin_held_up_calls(server, answering, stack, 2 * turns.SPARE)
        assert ask_at_once(server, 5)
        answering.go_on.set()
        assert all(b"at last" in sock.recv(1000) for sock in held)
        for sock in held:
            sock.sendall(message("getName"))
            assert sock.recv(1000)


def test_a_long_call_after_a_pause_is_noticed(answering):
    with in_process(answering.handlers) as server, ExitStack() as stack:
        for _ in range(3):
            time.sleep(10 * turns.PATIENCE)
            begin_held_up_calls(server, answering, stack)
            with client(server.port) as metastore:
                assert metastore.getName()
        answering.go_on.set()


@MODES
def test_few_threads_stay_and_none_when_the_server_has_stopped(answering, side_by_side):
    before = set(threading.enumerate())  # among them those of servers that other tests have stopped, which are ending

    def started():
        return len(set(threading.enumerate()) - before)

    with in_process(answering.handlers, side_by_side=side_by_side) as server, ExitStack() as stack:
        held = begin_held_up_calls(server, answering, stack, 3 * turns.SPARE)
        assert started() >= 3 * turns.SPARE
        answering.go_on.set()
        assert all(sock.recv(1000) for sock in held)
        until(lambda: started() <= turns.SPARE + 2)
    until(lambda: not started())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@MODES
def test_the_server_outlives_a_thread(answering, side_by_side):
    with in_process(answering.handlers, side_by_side=side_by_side) as server, client(server.port) as other:
        for _ in range(3):
            with client(server.port) as metastore, pytest.raises((OSError, TTransportException)):
                metastore.getStatusDetails()
            assert other.getName()
        until(lambda: server.connections == 1)


@MODES
def test_without_another_thread_calls_wait_for_the_one_that_is_there(answering, side_by_side, monkeypatch, caplog):
    with in_process(answering.handlers, side_by_side=side_by_side) as server, ExitStack() as stack:
        with client(server.port) as metastore:
            metastore.getName()
        until(lambda: not server.connections)
        start = threading.Thread.start

        def refuse(thread):
            if thread.name == "hbstore-calls":
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", refuse)
        while not caplog.records:  # the threads that are there already
            begin_held_up_calls(server, answering, stack)
            time.sleep(5 * turns.PATIENCE)
        with socket.create_connection((HOST, server.port), timeout=SECONDS) as sock:
            sock.sendall(message("getName"))
            answering.go_on.set()
            assert sock.recv(1000)
    assert [record.getMessage() for record in caplog.records] == ["cannot start a thread"]


def test_idle_clients_go_and_busy_ones_stay(answering):
    limits = ServerLimits(connection=ConnectionLimits(ReadLimits(idle_timeout=0.5)))
    with in_process(answering.handlers, limits=limits) as server, ExitStack() as stack:
        (held,) = begin_held_up_calls(server, answering, stack)
        busy = stack.enter_context(client(server.port))
        silent = stack.enter_context(socket.create_connection((HOST, server.port), timeout=SECONDS))
        met_end = threading.Event()
        threading.Thread(target=lambda: silent.recv(1) == b"" and met_end.set()).start()
        while not met_end.wait(0.01):
            busy.getName()
        busy.getName()
        answering.go_on.set()
        assert b"at last" in held.recv(1000)


def test_a_thread_leads_only_until_it_is_replaced():
    added = []
    lead = Lead(lambda: not added.append(1))
    lead.start()
    assert (added, lead.wait()) == ([1], True)
    lead.begin()
    assert lead._replace()
    other = threading.Thread(target=lambda: added.append(lead.wait()))
    other.start()
    other.join(SECONDS)
    assert added == [1, 1, True]
    assert lead.end() is False
    lead.close()
    assert lead.wait() is False


def test_an_alarm_waits_since_it_was_last_set():
    alarm = Alarm(0.2)
    rung = []
    alarm.set()
    began = time.monotonic()
    thread = threading.Thread(target=lambda: rung.append(alarm.wait()))
    thread.start()
    while time.monotonic() < began + 0.6:
        alarm.set()
        last = time.monotonic()
        time.sleep(0.01)
    assert not rung
    thread.join(SECONDS)
    assert rung
    assert time.monotonic() - last >= 0.19
    alarm.close()
    alarm.set()


def test_side_by_side_one_waits_whoever_serves():
    added = []
    together = SideBySide(lambda: not added.append(1))
    together.start()
    assert (added, together.wait()) == ([1], True)
    together.begin()
    assert added == [1, 1]
    assert together.wait()
    assert together.end() is True
    together.begin()
    assert added == [1, 1]
    together.close()
    assert together.end() is False
