"""The parent of several processes, with children that do not do what they should."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from hbstore.servers import processes
from hbstore.servers.processes import LIFELINE, Processes
from hbstore.servers.stopping import StopRequests

HANGS_AT_ITS_END = f"""
import os, signal, socket
signal.signal(signal.SIGTERM, signal.SIG_IGN)
lifeline = socket.socket(fileno=int(os.environ[{LIFELINE!r}]))
lifeline.sendall(b"ready")
lifeline.close()
signal.pause()
"""


def test_a_child_that_hangs_at_its_end_is_killed_and_the_parent_hears_requests_to_stop(monkeypatch):
    monkeypatch.setattr(processes, "_LATE", 0.1)
    gone = []

    def ended(pid):
        gone.append(pid)
        os.kill(os.getpid(), signal.SIGTERM)

    with StopRequests() as requests:
        children = Processes([[sys.executable, "-c", HANGS_AT_ITS_END]], os.environ, ended)
        assert children.run(requests, lambda: None) == 0
    (pid,) = gone
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
