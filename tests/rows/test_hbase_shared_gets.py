"""Shared gets: one request at a time, no read shares one that was sent before it began, nobody waits for ever."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from threading import Event, Thread
from traceback import walk_stack

import pytest

from hbstore.errors import StoreUnavailable
from hbstore.rows.hbase.shared_gets import SharedGets
from tests.pauses import SECONDS, idle, until


class Fetch:
    """Requests that wait until they are let go; what was asked is in ``asked``."""

    def __init__(self):
        self.asked = []
        self.state = {}
        self.began = [Event() for _ in range(10)]
        self.go = [Event() for _ in range(10)]
        self.failures = {}

    def __call__(self, keys):
        number = len(self.asked)
        self.asked.append(keys)
        found = {key: self.state[key] for key in keys if key in self.state}
        self.began[number].set()
        assert self.go[number].wait(SECONDS)
        if number in self.failures:
            raise self.failures[number]
        return found


@pytest.fixture
def fetch():
    return Fetch()


def asking(gets, key, outcomes):
    def ask():
        try:
            outcomes.append((key, gets.get(key)))
        except BaseException as error:  # noqa: BLE001
            outcomes.append((key, error))

    thread = Thread(target=ask)
    thread.start()
    return thread


def frame_of(thread):
    return sys._current_frames()[thread.ident]


def waiting(threads):
    """Return when these threads wait for one another: each has its key in a batch, and is in a wait or a lock."""
    names = {"wait", "_send"}

    def wait():
        frames = sys._current_frames()
        innermost = [frames[thread.ident].f_code.co_name for thread in threads if thread.ident in frames]
        return len(innermost) == len(threads) and names.issuperset(innermost)

    until(wait, look=0.002)


def ended(threads):
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()


def test_one_thread_alone_asks_for_its_row(fetch):
    fetch.go[0].set()
    fetch.go[1].set()
    fetch.state[b"a"] = {"d:def": b"1"}
    gets = SharedGets(fetch)
    assert gets.get(b"a") == {"d:def": b"1"}
    assert gets.get(b"b") is None
    assert fetch.asked == [[b"a"], [b"b"]]


def test_those_who_wait_share_the_next_request_and_see_what_came_before_they_began(fetch):
    gets, outcomes = SharedGets(fetch), []
    fetch.state[b"a"] = "old"
    threads = [asking(gets, b"a", outcomes)]
    assert fetch.began[0].wait(SECONDS)
    fetch.state |= {b"a": "new", b"b": "there"}
    threads += [asking(gets, key, outcomes) for key in (b"b", b"a", b"a", b"c")]
    waiting(threads[1:])
    fetch.go[0].set()
    fetch.go[1].set()
    ended(threads)
    assert fetch.asked == [[b"a"], [b"a", b"b", b"c"]]
    assert sorted(outcomes, key=str) == [(b"a", "new"), (b"a", "new"), (b"a", "old"), (b"b", "there"), (b"c", None)]


def test_an_error_is_that_of_all_who_were_part_of_the_request_and_of_nobody_else(fetch):
    gets, outcomes = SharedGets(fetch), []
    fetch.failures[1] = StoreUnavailable("away", host="h", hint="Start it")
    threads = [asking(gets, b"a", outcomes)]
    assert fetch.began[0].wait(SECONDS)
    threads += [asking(gets, b"b", outcomes) for _ in range(2)]
    waiting(threads[1:])
    fetch.go[0].set()
    assert fetch.began[1].wait(SECONDS)
    threads.append(asking(gets, b"c", outcomes))
    waiting(threads[3:])
    for event in fetch.go:
        event.set()
    ended(threads)
    failures = [outcome for key, outcome in outcomes if isinstance(outcome, StoreUnavailable) and key == b"b"]
    assert [str(failure) for failure in failures] == ["away: host=h. Start it"] * 2
    assert failures[0] is not failures[1], "a thread's traceback is its own"
    assert sorted(key for key, outcome in outcomes if outcome is None) == [b"a", b"c"]


def test_an_interrupt_is_one_threads_alone(fetch):
    gets, outcomes = SharedGets(fetch), []
    fetch.failures[1] = KeyboardInterrupt()
    fetch.state[b"b"] = "there"
    threads = [asking(gets, b"a", outcomes)]
    assert fetch.began[0].wait(SECONDS)
    threads += [asking(gets, b"b", outcomes) for _ in range(3)]
    waiting(threads[1:])
    for event in fetch.go:
        event.set()
    ended(threads)
    assert sum(isinstance(outcome, KeyboardInterrupt) for _, outcome in outcomes) == 1
    assert outcomes.count((b"b", "there")) == 2


class Stop(BaseException):
    """As KeyboardInterrupt, for threads that are not the main one."""


def interrupted(thread):
    """Raise `Stop` in a thread, as soon as it runs again; a thread that waits runs when its wait ends."""
    assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stop)) == 1


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="`with` that is interrupted as it takes a lock keeps it")
def test_those_that_wait_go_on_when_the_one_that_would_send_for_them_is_interrupted(fetch):
    gets, outcomes = SharedGets(fetch), []
    threads = [asking(gets, b"a", outcomes)]
    assert fetch.began[0].wait(SECONDS)
    for key in (b"b", b"c", b"d"):
        threads.append(asking(gets, key, outcomes))
        waiting(threads[1:])
    interrupted(threads[1])
    for event in fetch.go:
        event.set()
    ended(threads)
    assert [(key, type(outcome)) for key, outcome in outcomes if outcome is not None] == [(b"b", Stop)]
    assert gets.get(b"e") is None


@pytest.mark.parametrize("others", [0, 1])
def test_ctrl_c_while_it_waits_is_one_threads_alone(fetch, others):
    """A real signal interrupts the main thread, which waits in a batch of its own or in another thread's."""
    gets, outcomes = SharedGets(fetch), []
    threads = [asking(gets, b"a", outcomes)]
    assert fetch.began[0].wait(SECONDS)
    for _ in range(others):
        threads.append(asking(gets, b"b", outcomes))
        waiting(threads[1:])
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    main = threading.current_thread()

    def interrupt():
        """Once it waits for its row: in code that looks for garbage, say, an exception would be lost."""
        until(lambda: SharedGets.get.__code__ in {frame.f_code for frame, _ in walk_stack(frame_of(main))})
        waiting([main])
        signal.pthread_kill(main.ident, signal.SIGALRM)

    interrupting = Thread(target=interrupt)
    interrupting.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            gets.get(b"c")
    finally:
        signal.signal(signal.SIGALRM, before)
    ended([interrupting])
    threads.append(asking(gets, b"d", outcomes))
    for event in fetch.go:
        event.set()
    ended(threads)
    assert [outcome for _, outcome in outcomes] == [None] * len(threads)


def test_many_threads_get_what_they_ask_for():
    def fetch(keys):
        idle(0.0005)
        return {key: {"d:def": key} for key in keys if key != b"none"}

    gets, wrong = SharedGets(fetch), []

    def ask(name):
        for number in range(300):
            key = b"none" if number % 7 == 0 else f"{name}-{number % 5}".encode()
            found = gets.get(key)
            if found != (None if key == b"none" else {"d:def": key}):
                wrong.append((key, found))

    threads = [Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    ended(threads)
    assert wrong == []


def test_a_forked_child_asks_for_itself(fetch):
    gets, outcomes = SharedGets(fetch), []
    threads = [asking(gets, b"a", outcomes)]
    assert fetch.began[0].wait(SECONDS)
    threads.append(asking(gets, b"b", outcomes))
    waiting(threads[1:])
    fetch.go[1].set()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            os._exit(0 if gets.get(b"z") is None and fetch.asked == [[b"a"], [b"z"]] else 1)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    fetch.go[0].set()
    ended(threads)
