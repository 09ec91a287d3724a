"""One thread answers short calls; long ones, slow clients and threads that are missing hold none of them up."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import ExitStack

import pytest
from thriftpy2.transport import TTransportException

from hbstore.metastore.calls import Handlers
from hbstore.metastore.endpoint import MODULES
from hbstore.metastore.short_calls import SHORT_CALLS, leave_selector
from hbstore.servers import threads
from hbstore.servers.framing import ReadLimits
from hbstore.servers.limits import ServerLimits
from tests.metastore.client import HOST, client, message
from tests.metastore.serving import QUICK, in_process
from tests.pauses import SECONDS, until

CLIENTS = 8
LARGE = "x" * 50_000
HUGE = "x" * 32_000_000
"""No socket's buffers hold it."""

MODES = pytest.mark.parametrize("short", [QUICK, frozenset()])


class Answering:
    """Handlers: getName tells the thread, getVersion is held up, getStatusDetails ends its thread."""

    def __init__(self):
        self.go_on = threading.Event()
        self.begun = threading.Semaphore(0)
        self.handlers = Handlers()
        self.handlers.answers("getName")(lambda _: threading.current_thread().name)
        self.handlers.answers("getVersion")(self.held_up)
        self.handlers.answers("getStatusDetails")(self.die)
        self.handlers.answers("get_config_value")(lambda _: LARGE)

    def held_up(self, _):
        leave_selector()
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


def connected(server, stack):
    return stack.enter_context(socket.create_connection((HOST, server.port), timeout=SECONDS))


def begin_held_up_calls(server, answering, stack, number=1):
    """Sockets whose calls are under way."""
    socks = []
    for _ in range(number):
        sock = connected(server, stack)
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

    asking = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(SECONDS)
    return met


def test_short_calls_are_reads_that_somebody_answers():
    writing = frozenset().union(*(handlers.writing for handlers in MODULES.values()))
    answered = {method for handlers in MODULES.values() for method in handlers.by_method}
    assert answered >= SHORT_CALLS
    assert not writing & SHORT_CALLS


def test_one_thread_answers_all_short_calls(answering):
    with in_process(answering.handlers) as server:
        assert ask_at_once(server, 50) == {"hbstore-selector"}


def test_without_short_calls_other_threads_answer_all(answering):
    with in_process(answering.handlers, short=frozenset()) as server:
        assert ask_at_once(server, 50) == {"hbstore-calls"}


@MODES
def test_nobody_waits_for_calls_that_are_long(answering, short):
    with in_process(answering.handlers, short=short) as server, ExitStack() as stack:
        held = begin_held_up_calls(server, answering, stack, 2 * threads.IDLE)
        assert ask_at_once(server, 5)
        answering.go_on.set()
        assert all(b"at last" in sock.recv(1000) for sock in held)
        for sock in held:
            sock.sendall(message("getName"))
            assert sock.recv(1000)


def test_a_short_call_that_turns_out_to_be_long_holds_up_nobody(answering):
    with in_process(answering.handlers, short=QUICK | {"getVersion"}) as server, ExitStack() as stack:
        (held,) = begin_held_up_calls(server, answering, stack)
        assert ask_at_once(server, 5) == {"hbstore-selector"}
        answering.go_on.set()
        assert b"at last" in held.recv(1000)


@MODES
def test_nobody_waits_for_clients_that_send_a_part_of_a_call(answering, short):
    with in_process(answering.handlers, short=short) as server, ExitStack() as stack:
        call = message("getName")
        slow = [connected(server, stack) for _ in range(2 * threads.IDLE)]
        for number, sock in enumerate(slow):
            sock.sendall(call[: 1 + number % (len(call) - 1)])
        assert ask_at_once(server, 5)
        for number, sock in enumerate(slow):
            sock.sendall(call[1 + number % (len(call) - 1) :])
        assert all(b"hbstore-" in sock.recv(1000) for sock in slow)


def test_nobody_waits_for_clients_that_do_not_read(answering):
    with in_process(answering.handlers, short=QUICK | {"get_config_value"}) as server, ExitStack() as stack:
        call, asked = message("get_config_value"), 1000
        silent = [connected(server, stack) for _ in range(3)]
        for sock in silent:
            sender = threading.Thread(target=sock.sendall, args=(call * asked,), daemon=True)
            sender.start()
        assert ask_at_once(server, 5) == {"hbstore-selector"}
        for sock in silent:
            left = asked
            while left:
                left -= sock.recv(1 << 20).count(b"get_config_value")


@pytest.mark.parametrize("earlier", [[], ["getVersion"]], ids=["first", "after a long call"])
def test_nobody_waits_for_a_client_that_reads_a_huge_reply_later(earlier):
    handlers = Handlers()
    handlers.answers("getName")(lambda _: threading.current_thread().name)
    handlers.answers("getVersion")(lambda _: "long")
    handlers.answers("get_config_value")(lambda _: HUGE)
    with in_process(handlers, short=QUICK | {"get_config_value"}) as server, ExitStack() as stack:
        silent = connected(server, stack)
        for method in earlier:
            silent.sendall(message(method))
            assert b"long" in silent.recv(1000)
        silent.sendall(message("get_config_value"))
        reply = silent.recv(1)  # the server has begun to send
        assert ask_at_once(server, 5) == {"hbstore-selector"}
        while len(reply) < len(HUGE):
            reply += silent.recv(1 << 20)
        assert reply.count(b"x") == len(HUGE)


def test_calls_of_a_connection_are_answered_in_their_order(answering):
    answering.go_on.set()
    with in_process(answering.handlers) as server, ExitStack() as stack:
        sock = connected(server, stack)
        names = ["getName", "getVersion", "getName", "getName", "getVersion"] * 20
        sock.sendall(b"".join(map(message, names)))
        replies = b""
        while replies.count(b"get") < len(names):
            replies += sock.recv(1 << 16)
        assert [name.decode() for name in re.findall(b"getName|getVersion", replies)] == names


@MODES
def test_few_threads_stay_and_none_when_the_server_has_stopped(answering, short):
    before = set(threading.enumerate())  # among them those of servers that other tests have stopped, which are ending

    def started():
        return len(set(threading.enumerate()) - before)

    with in_process(answering.handlers, short=short) as server, ExitStack() as stack:
        held = begin_held_up_calls(server, answering, stack, 3 * threads.IDLE)
        assert started() >= 3 * threads.IDLE
        answering.go_on.set()
        assert all(sock.recv(1000) for sock in held)
        until(lambda: started() <= threads.IDLE + 2)
    until(lambda: not started())


@pytest.mark.parametrize("short", [QUICK | {"getStatusDetails"}, QUICK, frozenset()])
def test_the_server_outlives_what_ends_a_thread(answering, short):
    with in_process(answering.handlers, short=short) as server, client(server.port) as other:
        for _ in range(3):
            with client(server.port) as metastore, pytest.raises((OSError, TTransportException)):
                metastore.getStatusDetails()
            assert other.getName()
        until(lambda: server.connections == 1)


@MODES
def test_without_another_thread_long_calls_wait_for_one_that_is_there(answering, short, monkeypatch, caplog):
    with in_process(answering.handlers, short=short) as server, ExitStack() as stack:
        start = threading.Thread.start

        def refuse(thread):
            if thread.name == "hbstore-calls":
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", refuse)
        held = begin_held_up_calls(server, answering, stack)  # by the thread that is there from the beginning
        waiting = [connected(server, stack) for _ in range(3)]
        for sock in waiting:
            sock.sendall(message("getVersion"))
        until(lambda: caplog.records)
        answering.go_on.set()
        assert all(b"at last" in sock.recv(1000) for sock in held + waiting)
    assert [record.getMessage() for record in caplog.records] == ["cannot start a thread"]


def test_idle_clients_go_and_busy_ones_stay(answering):
    limits = ServerLimits(read=ReadLimits(idle_timeout=1.0))
    with in_process(answering.handlers, limits=limits) as server, ExitStack() as stack:
        (held,) = begin_held_up_calls(server, answering, stack)
        busy = stack.enter_context(client(server.port))
        silent = connected(server, stack)
        met_end = threading.Event()
        threading.Thread(target=lambda: silent.recv(1) == b"" and met_end.set()).start()
        while not met_end.wait(0.01):
            busy.getName()
        busy.getName()
        answering.go_on.set()
        assert b"at last" in held.recv(1000)
