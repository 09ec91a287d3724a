"""Processes of the development servers: started, watched, ended by their pid, and known again by a later program."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

_WATCHDOG = """
import os, signal, sys, time
alive = set()
for line in sys.stdin:
    sign, pid = line[0], int(line[1:])
    alive.add(pid) if sign == "+" else alive.discard(pid)
for number in map(int, sys.argv[1:]):
    for pid in alive:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
    if number != signal.SIGKILL:
        time.sleep(3)
"""
"""Ends processes when its standard input ends, which is when whoever started them is gone, however it went."""


class NotStarted(RuntimeError):
    """A server did not come up; the text ends with the last lines of its logs."""


@dataclass
class Process:
    """A process, known by its pid and the time it began, so that a pid used again is not taken for it."""

    pid: int
    began: str
    child: subprocess.Popen[bytes] | None = None

    def alive(self) -> bool:
        """Whether it still runs; a child that ended is reaped."""
        if self.child is not None:
            return self.child.poll() is None
        return bool(self.began) and began(self.pid) == self.began

    def signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def wait(self, seconds: float) -> bool:
        """Whether it ended within this time."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True


def spawned(
    command: list[str], log: Path, folder: Path, leave_out: tuple[str, ...], user: str | None = None
) -> Process:
    """Start a process in a session of its own, with nothing to read.

    Args:
        command: what to run.
        log: the file that its output is appended to.
        folder: where it runs.
        leave_out: how the names of environment variables begin that it does not get.
        user: as whom it runs, if not as this one.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith(leave_out)}
    with log.open("ab") as output:
        child = subprocess.Popen(  # noqa: S603
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            user=user,
            extra_groups=[] if user else None,
        )
    return Process(child.pid, began(child.pid), child)


@dataclass
class Watchdog:
    """A small process that ends others when this one is gone, even by SIGKILL.

    Attributes:
        signals: what it sends, one after the other.
    """

    signals: tuple[int, ...] = (signal.SIGKILL,)
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def watch(self, pid: int) -> None:
        """End a process when this one is gone."""
        self._say(f"+{pid}\n")

    def forget(self, pid: int) -> None:
        """Leave a process alone that has ended."""
        self._say(f"-{pid}\n")

    def close(self) -> None:
        """End the watchdog; nothing is sent."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            self._process = None

    def _say(self, line: str) -> None:
        if self._process is None:
            command = [sys.executable, "-I", "-c", _WATCHDOG, *(str(int(number)) for number in self.signals)]
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True
            )
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()


def began(pid: int) -> str:
    """When a process began, in whatever form the system tells; empty if it is gone (or a zombie)."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            return ""
        return "" if fields[0] == "Z" else fields[19]
    shown = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607
    return shown.stdout.strip()


def free(port: int) -> bool:
    """Whether nothing listens on this port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_ports(count: int) -> list[int]:
    """Free ports below those that outgoing connections take, so that a restart finds them free again."""
    candidates = random.SystemRandom().sample(range(20_000, 32_000), 400)
    return [port for port in candidates if free(port)][:count]


def first_reply(port: int, method: bytes, host: str, timeout: float) -> bool:
    """Whether a Thrift service answers a call without arguments with a list: the first bytes of its reply tell.

    A port opens seconds before a server is ready, so a connection says nothing.
    """
    call = len(method).to_bytes(4, "big") + method + bytes(4) + b"\x00"
    success = len(method).to_bytes(4, "big") + method + bytes(4) + b"\x0f\x00\x00"
    reply = b""
    try:
        with socket.create_connection((host, port), timeout) as server:
            server.sendall(b"\x80\x01\x00\x01" + call)
            while len(reply) < 4 + len(success):
                data = server.recv(4096)
                if not data:
                    return False
                reply += data
    except OSError:
        return False
    return reply.startswith(b"\x80\x01\x00\x02" + success)
