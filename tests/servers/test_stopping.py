"""Requests to stop are heard whatever the main thread is doing."""

from __future__ import annotations

import hashlib
import os
import select
import signal
import threading
import time

import pytest

from hbstore.servers.stopping import StopRequests

BOTH = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])


@BOTH
def test_a_signal_is_a_request_before_the_main_thread_has_a_look(number):
    """Between its last look at signals and its wait for the pipe, a handler in Python would come too late."""
    with StopRequests() as requests:
        heard = []

        def ask():
            time.sleep(0.1)
            os.kill(os.getpid(), number)
            heard.append((bool(select.select([requests.fileno()], (), (), 10)[0]), time.monotonic()))

        other = threading.Thread(target=ask)
        other.start()
        hashlib.pbkdf2_hmac("sha256", b"one", b"call", 4_000_000)  # which no signal interrupts, nor runs handlers in
        busy_until = time.monotonic()
        other.join()
        ((was_heard, at),) = heard
        assert was_heard
        assert at < busy_until
        assert requests.wait(0)
        assert not requests.wait(0)


@BOTH
def test_each_signal_is_one_request_and_afterwards_none(number):
    before = signal.getsignal(number)
    with StopRequests() as requests:
        assert not requests.wait(0)
        for _ in range(2):
            os.kill(os.getpid(), number)
            assert requests.wait(10)
        assert not requests.wait(0)
    assert signal.getsignal(number) is before
    assert signal.set_wakeup_fd(-1) == -1
