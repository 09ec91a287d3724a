"""Functions of test modules as processes of their own, which may be killed at any moment."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.pauses import SECONDS

ROOT = Path(__file__).parents[1]
OWN_MACHINE = {"127.0.0.1", "::ffff:127.0.0.1"}
"""Addresses at which no other machine reaches a port."""

_LISTENS = "0A"


def runs(pid):
    """Whether a process runs: one that only has not been reaped does not."""
    return state(pid)[1] not in ("", "Z")


def state(pid):
    """The name of a process, its state and the id of its group, or empty texts if it is gone."""
    name, _, rest = text_of(pid, "stat").partition(" (")[2].rpartition(") ")
    if not rest:
        return "", "", ""
    letter, _, group = rest.split()[:3]
    return name, letter, group


def text_of(pid, file):
    """A file that the system has of a process or its threads, such as ``cmdline``; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/{file}").read_text()
    except (FileNotFoundError, ProcessLookupError):  # gone before the file is opened, or before it is read
        return ""


def threads(pid):
    """The ids of a process's threads; none where it is gone."""
    try:
        return [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def children(pid):
    """The ids of the processes that any of a process's threads started."""
    return [int(child) for thread in threads(pid) for child in text_of(pid, f"task/{thread}/children").split()]


def tree(pid):
    """A process, those that it started, and so on: also while threads end that started some, unlike `children`."""
    stats = {int(folder.name): text_of(folder.name, "stat") for folder in Path("/proc").glob("[0-9]*")}
    parents = {one: int(stat.rpartition(") ")[2].split()[1]) for one, stat in stats.items() if stat}
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def listening(pid):
    """The addresses and ports at which a process and those below it listen: names of programs by them."""
    sockets = {inode: name for one in tree(pid) for name, inode in _sockets(one)}
    return {
        address: sockets[inode] for table in ("tcp", "tcp6") for address, inode in _listeners(table) if inode in sockets
    }


def _sockets(pid):
    """The program's name with each number of a socket that a process has open."""
    name = text_of(pid, "comm").strip()
    with suppress(OSError):  # it has ended
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):  # it was closed
                target = str(entry.readlink())
                if target.startswith("socket:["):
                    yield name, target.removeprefix("socket:[").removesuffix("]")


def _listeners(table):
    """Address, port and number of each socket of the machine's that listens."""
    for line in text_of("self", f"net/{table}").splitlines()[1:]:
        _, local, _, state, *_, inode = line.split()[:10]
        if state == _LISTENS:
            yield _address(*local.split(":")), inode


def _address(host, port):
    words = b"".join(bytes.fromhex(host[at : at + 8])[::-1] for at in range(0, len(host), 8))
    return socket.inet_ntop(socket.AF_INET if len(words) == 4 else socket.AF_INET6, words), int(port, 16)


@contextmanager
def locked(path):
    """One process at a time has the lock that a file stands for; others wait."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def say(*words):
    """Called in the process: one line to whoever started it, at once."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Process:
    """A module's function, run with text arguments in a process of its own.

    Args:
        module: the module's name.
        function: the function's name.
        arguments: become texts.
    """

    def __init__(self, module, function, *arguments):
        code = f"import sys; from {module} import {function} as run; run(*sys.argv[1:])"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._said = threading.Condition()
        self._over = False
        self.lines = []
        self._errors = []
        self._listeners = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=self._keep_errors, daemon=True),
        ]
        for listener in self._listeners:
            listener.start()

    def heard(self, number):
        """Wait until it has said so many lines, or ended; those that it has said so far."""
        with self._said:
            self._said.wait_for(lambda: self._over or len(self.lines) >= number, timeout=SECONDS)
            assert self._over or len(self.lines) >= number, "the process says nothing"
            return list(self.lines)

    def kill(self):
        """End it where it stands; all that it said."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(SECONDS)
        for listener in self._listeners:
            listener.join(SECONDS)
        assert not self._errors, "".join(self._errors)
        return self.lines

    def end(self):
        """Wait until it has ended, by itself or killed; its exit code."""
        return self._process.wait(SECONDS)

    def wait(self):
        """Let it come to its own end; all that it said."""
        status = self._process.wait(SECONDS)
        for listener in self._listeners:
            listener.join(SECONDS)
        assert status == 0, "".join(self._errors)
        return self.lines

    def _listen(self):
        for line in self._process.stdout:
            if line.endswith("\n"):
                with self._said:
                    self.lines.append(line.split())
                    self._said.notify_all()
        with self._said:
            self._over = True
            self._said.notify_all()

    def _keep_errors(self):
        self._errors.extend(self._process.stderr)
