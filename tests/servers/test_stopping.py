"""Requests to stop are heard whatever the main thread is doing."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading

import pytest

from hbstore.servers.stopping import StopRequests
from tests.pauses import SECONDS

BOTH = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])


@BOTH
def test_a_signal_is_a_request_before_the_main_thread_has_a_look(number):
    """Between its last look at signals and its wait for the pipe, a handler in Python would come too late."""
    with StopRequests() as requests:
        was_heard = []
        busy, over = os.pipe()

        def ask():
            os.kill(os.getpid(), number)
            was_heard.append(bool(select.select([requests.fileno()], (), (), SECONDS)[0]))
            os.write(over, b"x")

        other = threading.Thread(target=ask)
        other.start()
        signal.pthread_sigmask(signal.SIG_BLOCK, {number})
        try:
            os.read(busy, 1)  # which no signal interrupts that another thread gets, and which runs no handlers
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
            os.close(busy)
            os.close(over)
        other.join()
        assert was_heard == [True]
        assert requests.wait(0)
        assert not requests.wait(0)


@BOTH
def test_each_signal_is_one_request_and_afterwards_none(number):
    before = signal.getsignal(number)
    with StopRequests() as requests:
        assert not requests.wait(0)
        for _ in range(2):
            os.kill(os.getpid(), number)
            assert requests.wait(SECONDS)
        assert not requests.wait(0)
    assert signal.getsignal(number) is before
    assert signal.set_wakeup_fd(-1) == -1


@BOTH
def test_the_next_signal_ends_a_process_that_does_not_wait_for_requests_any_more(number):
    program = """
import sys, threading
from hbstore.servers.stopping import StopRequests
with StopRequests() as requests:
    print("ready", flush=True)
    requests.wait()
    requests.end_at_next()
    print("stopping", flush=True)
    threading.Event().wait()
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        for word in ("ready", "stopping"):
            assert process.stdout.readline().strip() == word
            process.send_signal(number)
        assert process.wait(SECONDS) == -number
