"""Servers for tests: in this process over handlers of a test's own, and `hbstore serve` as a process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from hbstore import connect
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.calls import Handlers, endpoint
from hbstore.metastore.server import metastore_server
from hbstore.servers.bounds import UNWATCHED
from hbstore.servers.limits import ServerLimits
from hbstore.warehouse.service import Service
from tests.pauses import SECONDS
from tests.processes import children, text_of

ROOT = Path(__file__).parents[2]
QUICK = frozenset({"getName", "set_ugi"})
"""What servers of this process take for short calls; tests hold up others."""


@contextmanager
def in_process(handlers=None, *, limits=None, observe=lambda _: None, watch=UNWATCHED, grace=SECONDS, short=QUICK):
    """A server of this process that answers by a test's own handlers."""
    service = Service(connect("memory://"), Warehouse("/nowhere"))
    server = metastore_server(
        endpoint(service, {"test": handlers or Handlers()}, observe),
        limits=limits or ServerLimits(),
        short=short,
        watch=watch,
    )
    server.start()
    try:
        yield server
    finally:
        server.stop(grace)


def refused(port):
    """Whether nobody listens."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=SECONDS).close()
    except ConnectionRefusedError:
        return True
    return False


class Serve:
    """`hbstore serve` as a process, ready when this is made; ``with`` ends it.

    On a busy machine any call may be slow: no call is logged as that, unless an option says how slow one has to be.

    Args:
        store: a URL.
        folder: for the warehouse and the log.
        options: more of the command line.
    """

    def __init__(self, store, folder, *options, environment=None):
        self.folder = Path(folder)
        self.log_file = self.folder / "serve.log"
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "hbstore", "--store", store, "serve", "--json"),
                *("--warehouse", str(self.folder / "warehouse"), "--log-file", str(self.log_file)),
                *([] if {"--port", "--without-metastore"} & set(options) else ["--port", "0"]),
                *([] if "--slow-seconds" in options else ["--slow-seconds", "1000"]),
                *map(str, options),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        self.ready = json.loads(line)
        self.port = int(self.ready["uri"].rpartition(":")[2]) if self.ready["uri"] else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.process.stdout.close()
        self.process.stderr.close()

    @property
    def pid(self):
        return self.process.pid

    def log(self, event=None):
        """The lines of the log so far but its first; or those of one event."""
        lines = [json.loads(line) for line in self.log_file.read_text(encoding="utf-8").splitlines()]
        if event is None:
            return [line for line in lines if line["event"] != "the server is ready"]
        return [line for line in lines if line["event"] == event]

    def peak_memory(self):
        """The most bytes that were resident, of the process or of all its children together."""
        return sum(_memory(pid, "VmHWM") for pid in [self.pid, *self.children()])

    def own_memory(self):
        """The bytes that are resident and no pages of a file."""
        return _memory(self.pid, "RssAnon")

    def children(self):
        """The process ids of its children."""
        return children(self.pid)

    def terminate(self):
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS)

    def kill(self):
        """SIGKILL."""
        self.process.kill()
        self.process.wait(SECONDS)


def numbers(server):
    """The metrics by their names and labels, as Prometheus reads them."""
    with urllib.request.urlopen(server.ready["metrics"], timeout=SECONDS) as page:  # noqa: S310  our own
        lines = page.read().decode().splitlines()
    return {name: float(value) for name, _, value in (one.rpartition(" ") for one in lines if not one.startswith("#"))}


def _memory(pid, kind):
    """Bytes; none of a process that is gone, or has only not been reaped."""
    line = re.search(rf"{kind}:\s+(\d+)", text_of(pid, "status"))
    return 1024 * int(line[1]) if line else 0
