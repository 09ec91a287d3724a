"""Shared gets: one request at a time, no read shares one that was sent before it began, nobody waits for ever."""

from __future__ import annotations

import os
import time
from threading import Event, Thread

import pytest

from hbstore.errors import StoreUnavailable
from hbstore.rows.hbase_shared_gets import SharedGets


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
        assert self.go[number].wait(10)
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


def waiting(gets, count):
    """Return when so many threads wait for their turn."""
    for _ in range(1000):
        if len(gets._waiting) == count:
            return
        time.sleep(0.002)
    raise AssertionError(f"{len(gets._waiting)} threads wait")


def ended(threads):
    for thread in threads:
        thread.join(10)
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
    assert fetch.began[0].wait(10)
    fetch.state |= {b"a": "new", b"b": "there"}
    threads += [asking(gets, key, outcomes) for key in (b"b", b"a", b"a", b"c")]
    waiting(gets, 4)
    fetch.go[0].set()
    fetch.go[1].set()
    ended(threads)
    assert fetch.asked == [[b"a"], [b"a", b"b", b"c"]]
    assert sorted(outcomes, key=str) == [(b"a", "new"), (b"a", "new"), (b"a", "old"), (b"b", "there"), (b"c", None)]


def test_an_error_is_that_of_all_who_were_part_of_the_request_and_of_nobody_else(fetch):
    gets, outcomes = SharedGets(fetch), []
    fetch.failures[1] = StoreUnavailable("away")
    threads = [asking(gets, b"a", outcomes)]
    assert fetch.began[0].wait(10)
    threads += [asking(gets, b"b", outcomes) for _ in range(2)]
    waiting(gets, 2)
    fetch.go[0].set()
    assert fetch.began[1].wait(10)
    threads.append(asking(gets, b"c", outcomes))
    waiting(gets, 1)
    for event in fetch.go:
        event.set()
    ended(threads)
    assert [key for key, outcome in outcomes if isinstance(outcome, StoreUnavailable)] == [b"b", b"b"]
    assert sorted(key for key, outcome in outcomes if outcome is None) == [b"a", b"c"]


def test_an_interrupt_is_one_threads_alone(fetch):
    gets, outcomes = SharedGets(fetch), []
    fetch.failures[1] = KeyboardInterrupt()
    fetch.state[b"b"] = "there"
    threads = [asking(gets, b"a", outcomes)]
    assert fetch.began[0].wait(10)
    threads += [asking(gets, b"b", outcomes) for _ in range(3)]
    waiting(gets, 3)
    for event in fetch.go:
        event.set()
    ended(threads)
    assert sum(isinstance(outcome, KeyboardInterrupt) for _, outcome in outcomes) == 1
    assert outcomes.count((b"b", "there")) == 2


def test_many_threads_get_what_they_ask_for():
    def fetch(keys):
        time.sleep(0.0005)
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
    assert fetch.began[0].wait(10)
    child = os.fork()
    if child == 0:
        fetch.go[1].set()
        os._exit(0 if gets.get(b"z") is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    fetch.go[0].set()
    ended(threads)
