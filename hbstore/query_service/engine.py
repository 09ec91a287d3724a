"""The Spark process as its parent has it: started for the first query, spoken to, heard, started again when it dies.

The process leads a group of its own, to which its Java belongs. Between parent and process is a pair of sockets, at
whose end each learns that the other is gone, however that happened: the parent then ends the group by force, and the
process ends itself with its Java.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from threading import Event, Lock, Thread
from typing import Any, Final

from hbstore.errors import HbstoreError, MissingPackage
from hbstore.files.warehouse import Warehouse
from hbstore.installed import check_spark
from hbstore.metastore.spark_conf import spark_settings
from hbstore.model.frozen import FrozenDict
from hbstore.query_service.messages import Alive, Cancel, CloseSession, FromSpark, Ready, Run, Start, ToSpark, read
from hbstore.rows.urls import shared_url
from hbstore.servers.logs import Complaints
from hbstore.servers.processes import METRICS_FOLDER

_LOG: Final = logging.getLogger("hbstore.query_service")
_MODULE: Final = "hbstore.query_service.spark_process"
_FIRST_PAUSE, _LAST_PAUSE = 0.5, 30.0
"""Seconds before another process is started: twice as many each time that one dies soon."""

_SOON: Final = 60.0
_GRACE: Final = 15.0
"""Seconds that the process has to end in order."""

SILENT: Final = 60.0
"""Seconds without a word of a Spark that says every few that it is alive, after which it is taken for dead."""

_STARTING: Final = 5
"""Times these seconds that Spark has to start, without a word."""

_LOOKS: Final = 10
"""In which these seconds are waited for: of a machine that stood still, only a part of them counts."""

_LONGEST: Final = 256 << 20
"""Bytes of a message that is heard; that of a large plan takes a few MB."""

LINES: Final = 1_000
"""Lines on stderr of a Spark process that are logged in a minute."""

LONGEST_LINE: Final = 16_384
"""Bytes of such a line; what is longer is logged in pieces."""

_OWN: Final = frozenset({"SPARK_REMOTE", METRICS_FOLDER})
"""What the process does not get: what would make PySpark one of Spark Connect, which has no jobs to cancel here; the
folder of the server's metrics, as functions of users would write theirs there."""


@dataclass(frozen=True, slots=True)
class _Child:
    """A Spark process.

    Attributes:
        process: it, the leader of its group.
        pipe: to it and from it.
        socket: the same, to end what is said to it while another thread hears.
        saying: held while something is said.
    """

    process: subprocess.Popen[bytes]
    pipe: Connection[Any, Any]
    socket: socket.socket
    saying: Lock

    def say(self, message: ToSpark) -> None:
        """Say something; what is said to a process that dies is lost with it."""
        with self.saying:
            try:
                self.pipe.send(message)
            except OSError:
                _LOG.debug("the Spark process does not hear any more")

    def kill(self) -> None:
        """End the process and what it started by force. It is not reaped yet: its group has its number."""
        with suppress(ProcessLookupError, PermissionError):  # what macOS says of a group that has ended
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> int:
        """End by force what is left of the process and of what it started; its exit code."""
        self.kill()
        with self.saying:
            self.pipe.close()
        self.socket.close()
        return self.process.wait()


class Engine:
    """A Spark in a process of its own, which is started when it is woken, and again when it dies.

    Args:
        store_url: the store's URL.
        metastore_uri: the URI of the metastore's endpoint over that store.
        warehouse: the endpoint's warehouse, whose bounds and trash hold for statements, too.
        read_only: whether the endpoint, and so statements of hbstore's own, refuse what changes anything.
        master: where Spark runs, as Spark has it.
        conf: more of Spark's settings, which count more than the engine's.
        silent: seconds without a word after which Spark is taken for dead.
        heard: called with each message of Spark's, by one thread.
        lost: called by that thread when a process ended that had not been closed, or could not be started: then with
            the reason. Nothing is heard of its queries any more, and `Ready` is heard when another runs: one is started
            at once if the last one was ready, and otherwise when the engine is woken again.

    Raises:
        InvalidUrl: no store URL, or ``memory://``, which another process cannot open.
        InvalidInput: the URI is not that of an endpoint.
    """

    def __init__(
        self,
        store_url: str,
        metastore_uri: str,
        warehouse: Warehouse,
        *,
        read_only: bool = False,
        master: str = "local[*]",
        conf: Mapping[str, str] = FrozenDict(),
        silent: float = SILENT,
        heard: Callable[[FromSpark], None],
        lost: Callable[[HbstoreError | None], None],
    ) -> None:
        spark_settings([metastore_uri], warehouse.root)  # errors come here rather than from the process
        bounds = warehouse.root, warehouse.trash, warehouse.also_under, read_only
        self._start = (shared_url(store_url), metastore_uri, *bounds, master, dict(conf))
        self._silent = silent
        self._heard = heard
        self._lost = lost
        self._child: _Child | None = None
        self._wanted = Event()
        self._was_ready = False
        self._said = ""
        self._closed = Event()
        self._changing = Lock()
        self._keeper = Thread(target=self._keep, name="hbstore-engine", daemon=True)
        self._keeper.start()

    def __repr__(self) -> str:
        return f"<Engine of {self._start[0]}>"

    @property
    def pid(self) -> int | None:
        """The process's id, which is also that of its group; None while there is none."""
        child = self._child
        return None if child is None else child.process.pid

    def wake(self) -> None:
        """Start Spark, unless it runs."""
        self._wanted.set()

    def run(self, run: Run) -> None:
        """Have a statement run. What comes of it is heard, or else the process is lost."""
        self._say(run)

    def cancel(self, cancel: Cancel) -> None:
        """Have a query's jobs cancelled."""
        self._say(cancel)

    def close_session(self, close: CloseSession) -> None:
        """Have a session forgotten."""
        self._say(close)

    def close(self) -> None:
        """End the process, with the queries that it runs, in order or after a grace by force."""
        with self._changing:
            self._closed.set()
            self._wanted.set()
            if self._child is not None:
                with suppress(OSError):  # it has ended by itself
                    self._child.socket.shutdown(socket.SHUT_WR)  # it hears the end, and may still be heard
        self._keeper.join(_GRACE)
        with self._changing:
            if self._child is not None:
                self._child.kill()
        self._keeper.join()

    def _say(self, message: ToSpark) -> None:
        child = self._child
        if child is not None:
            child.say(message)

    # The keeper

    def _keep(self) -> None:
        """Start the process when it is wanted, hear it to its end, and start another."""
        pause = _FIRST_PAUSE
        while self._wanted.wait() and not self._closed.is_set():
            missing = _missing()
            if missing is not None:
                self._rest()
                if str(missing) != self._said:  # once, however many queries come
                    self._said = str(missing)
                    _LOG.warning("Spark cannot be started", extra={"fields": {"error": self._said}})
                self._lose(missing)
                continue
            began = time.monotonic()
            code = self._one_process()
            if self._closed.is_set():
                return
            lasted = time.monotonic() - began
            if lasted >= _SOON:
                pause = _FIRST_PAUSE
            fields = {"code": code, "lasted": round(lasted, 1), "again_in": pause}
            _LOG.warning("the Spark process ended", extra={"fields": fields})
            if not self._was_ready:
                self._rest()
            self._lose(None)
            self._closed.wait(pause)
            pause = min(_LAST_PAUSE, 2 * pause)

    def _rest(self) -> None:
        """Let the keeper wait until the process is wanted again, unless the engine was closed meanwhile."""
        self._wanted.clear()
        if self._closed.is_set():  # `close` sets this first, so that its other call was not lost
            self._wanted.set()

    def _one_process(self) -> int | None:
        """Start a process and hear it to its end; its exit code, or None if there was none."""
        self._was_ready = False
        scratch = tempfile.mkdtemp(prefix="hbstore-spark-")
        try:
            with self._changing:
                if self._closed.is_set():
                    return None
                self._child = child = _started()
            Thread(target=_log_lines, args=(child,), name="hbstore-engine-log", daemon=True).start()
            child.say(Start(*self._start, scratch))
            self._hear(child)
            with self._changing:
                self._child = None
            return child.end()
        except OSError as error:  # the system has no process or no file left
            _LOG.warning("the Spark process cannot be started", extra={"fields": {"error": str(error)}})
            return None
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _hear(self, child: _Child) -> None:
        """Pass on what the process says, until it ends, or is taken for dead."""
        speaks, silent = False, 0  # speaks: it says that it is alive
        while True:
            try:
                if not child.pipe.poll(self._silent / _LOOKS):
                    silent += 1
                    if silent == (_LOOKS if speaks else _STARTING * _LOOKS):
                        seconds = self._silent * silent / _LOOKS
                        _LOG.warning("Spark does not answer", extra={"fields": {"seconds": seconds}})
                        child.kill()
                    continue
                message, silent = read(child.pipe.recv_bytes(_LONGEST)), 0
            except (EOFError, OSError):
                return
            except ValueError:
                _LOG.exception("the Spark process says what is no message")
                return
            self._was_ready = self._was_ready or isinstance(message, Ready)
            speaks = speaks or isinstance(message, Alive)
            try:
                self._heard(message)
            except Exception:  # noqa: BLE001  Spark goes on, whatever the service made of it
                _LOG.exception("a message of the Spark process was not taken")

    def _lose(self, reason: HbstoreError | None) -> None:
        try:
            self._lost(reason)
        except Exception:  # noqa: BLE001  another Spark is started, whatever the service made of it
            _LOG.exception("the end of the Spark process was not taken")


def _log_lines(child: _Child) -> None:
    """Log what the process and its Java say on stderr, a record for each line, until both have ended.

    A Spark in trouble repeats itself hundreds of times a second: of each minute only the first lines are logged.
    """
    assert child.process.stderr is not None
    log = Complaints(_LOG, LINES, logging.INFO)
    with child.process.stderr as lines:
        while line := lines.readline(LONGEST_LINE):
            text = line.decode(errors="backslashreplace").rstrip()
            if text:
                log.say("the Spark process says", line=text)


def _missing() -> HbstoreError | None:
    """What has to be installed before Spark can start."""
    try:
        check_spark("the server's Spark", extra="service")
    except MissingPackage as error:
        return error
    return None


def _started() -> _Child:
    ours, theirs = socket.socketpair()
    environment = {name: value for name, value in os.environ.items() if name not in _OWN}
    with theirs:
        process = subprocess.Popen(  # noqa: S603  the command is our own
            [sys.executable, "-m", _MODULE, str(theirs.fileno())],
            env=environment,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # what a terminal's ^C means is the parent's to say
        )
    return _Child(process, Connection(os.dup(ours.fileno())), ours, Lock())
