"""Several processes that serve one port, and the parent that looks after them.

Each child is a fresh interpreter, which listens at the port with SO_REUSEPORT: the system spreads connections over
them. The parent holds the port, starts a child anew when it dies, and ends them all when it is asked to. Between the
parent and each child is a pair of sockets, the lifeline: over it the child says that it is ready, and at its end each
learns that the other is gone, however that happened.
"""

from __future__ import annotations

import logging
import os
import select
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.servers.server import GRACE
from hbstore.servers.stopping import StopRequests

LIFELINE: Final = "HBSTORE_SERVE_LIFELINE"
"""The environment's name of a child's end of the lifeline: the number of its file."""

METRICS_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The environment's name of the folder where children keep their metrics; prometheus_client looks at it."""

_LOG: Final = logging.getLogger("hbstore.servers.processes")
_READY: Final = b"ready"
_FIRST_PAUSE, _LAST_PAUSE = 0.5, 30.0
"""Seconds before a child is started anew: twice as many each time that it dies soon."""

_SOON: Final = 60.0
_TICK: Final = 0.1
_LATE: Final = 5.0
"""Seconds that a child has to end by itself, beyond the grace or after it has closed its lifeline."""


def own_lifeline() -> socket.socket | None:
    """This process's end of the lifeline, if a parent looks after it."""
    number = os.environ.pop(LIFELINE, None)
    return None if number is None else socket.socket(fileno=int(number))


def say_ready(lifeline: socket.socket) -> None:
    """Tell the parent that this process serves."""
    lifeline.sendall(_READY)


@dataclass(frozen=True, slots=True)
class ProcessCounts:
    """How many of the children serve.

    Attributes:
        serving: how many.
        wanted: how many there are when all do.
        complete: whether each command is run by one that serves.
    """

    serving: int
    wanted: int
    complete: bool


class Processes:
    """Children, each of which runs a command.

    Args:
        commands: what each of them runs.
        environment: theirs, to which the lifeline is added.
        ended: hears the process id of each that is gone.
    """

    def __init__(
        self,
        commands: Sequence[Sequence[str]],
        environment: Mapping[str, str],
        ended: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._commands = commands
        self._environment = dict(environment)
        self._ended = ended
        self._children: dict[socket.socket, _Child] = {}
        self._due: list[_Due] = []

    def run(self, requests: StopRequests, ready: Callable[[], None]) -> int:
        """Look after the children until a request to stop comes; the exit code.

        Args:
            requests: to stop.
            ready: called once all of them serve.
        """
        self._due = [_Due(command, time.monotonic(), _FIRST_PAUSE) for command in self._commands]
        announced = False
        while True:
            self._start_due()
            pause = min((due.at - time.monotonic() for due in self._due), default=_LAST_PAUSE)
            sources: list[int | socket.socket] = [requests.fileno(), *self._children]
            heard, _, _ = select.select(sources, (), (), max(0.0, pause))
            if requests.wait(0):
                return self._stop(requests)
            for lifeline in [child for child in self._children if child in heard]:
                code = self._hear(lifeline)
                if code is not None and not announced:
                    self._stop(requests)
                    return code or 1  # it has said why
            if not announced and all(child.ready for child in self._children.values()):
                announced = True
                ready()

    def pids(self) -> list[int]:
        """The process ids of the children that run. Called in any thread."""
        return [child.process.pid for child in list(self._children.values())]

    def counts(self) -> ProcessCounts:
        """How many children serve. Called in any thread."""
        serving = [child.command for child in list(self._children.values()) if child.ready]
        return ProcessCounts(len(serving), len(self._commands), all(command in serving for command in self._commands))

    def _start_due(self) -> None:
        now = time.monotonic()
        for due in [due for due in self._due if due.at <= now]:
            self._due.remove(due)
            ours, theirs = socket.socketpair()
            with theirs:
                process = subprocess.Popen(  # noqa: S603  the command is our own
                    due.command,
                    env={**self._environment, LIFELINE: str(theirs.fileno())},
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,  # what a terminal's ^C means is the parent's to say
                )
            self._children[ours] = _Child(due.command, process, now, due.pause)

    def _hear(self, lifeline: socket.socket) -> int | None:
        """What a child says: that it is ready, or its exit code by its silence."""
        child = self._children[lifeline]
        if lifeline.recv(len(_READY)):
            child.ready = True
            return None
        del self._children[lifeline]
        lifeline.close()
        code = _end_of(child.process)
        self._ended(child.process.pid)
        now = time.monotonic()
        lasted = now - child.started
        pause = child.pause if lasted < _SOON else _FIRST_PAUSE
        self._due.append(_Due(child.command, now + pause, min(_LAST_PAUSE, 2 * pause)))
        if child.ready:
            fields = {"process": child.process.pid, "code": code, "lasted": round(lasted, 1), "again_in": pause}
            _LOG.warning("a process ended", extra={"fields": fields})
        return code

    def _stop(self, requests: StopRequests) -> int:
        """End all children: by SIGTERM, once more at the next request, and in the end by force."""
        for child in self._children.values():
            child.process.terminate()
        until = time.monotonic() + GRACE + _LATE
        while (alive := [child for child in self._children.values() if child.process.poll() is None]) and (
            time.monotonic() < until
        ):
            if requests.wait(_TICK):
                for child in alive:
                    child.process.terminate()
        for lifeline, child in self._children.items():
            if child.process.poll() is None:
                child.process.kill()
                child.process.wait()
            self._ended(child.process.pid)
            lifeline.close()
        return 0


def _end_of(process: subprocess.Popen[bytes]) -> int:
    """The exit code of a child that has closed its lifeline: it is about to end, and is killed if it does not."""
    try:
        return process.wait(_LATE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


@dataclass(slots=True)
class _Child:
    """A child that runs.

    Attributes:
        command: what it runs.
        process: it.
        started: when, by the monotonic clock.
        pause: seconds before another takes its place, if it dies soon.
        ready: whether it serves.
    """

    command: Sequence[str]
    process: subprocess.Popen[bytes]
    started: float
    pause: float
    ready: bool = False


@dataclass(frozen=True, slots=True)
class _Due:
    """A child that is to be started: what it runs, when, and how long the pause is if it dies soon as well."""

    command: Sequence[str]
    at: float
    pause: float
