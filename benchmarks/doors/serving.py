"""`hbstore serve` with all its doors as a process of its own, and what the system says of it and of what it started."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

STOP_SECONDS = 60
_BLOCK = 512
_DELETED = " (deleted)"
"""Behind the names of open files that have none any more, such as temporary ones."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the doors are, and the process that looks after all others.

    Attributes:
        pid: its id.
        metastore, http, sql, metrics: the ports.
    """

    pid: int
    metastore: int
    http: int
    sql: int
    metrics: int


@contextmanager
def served(folder: Path, store: str, *options: str) -> Iterator[Ports]:
    """A server of a store with all doors at free ports of the loopback; its log is in the folder."""
    doors = [word for name in ("port", "http-port", "sql-port", "metrics-port") for word in (f"--{name}", "0")]
    kept = ["--warehouse", str(folder / "warehouse"), "--results", str(folder / "results")]
    log = ["--log-file", str(folder / "serve.log")]
    command = [sys.executable, "-m", "hbstore", "--store", store, "serve", "--json", *doors, *kept, *log, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        ports = (urlsplit(ready[name].removeprefix("jdbc:")).port for name in ("uri", "http", "sql", "metrics"))
        yield Ports(process.pid, *(port or 0 for port in ports))
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(frozen=True, slots=True)
class State:
    """What the system says of a tree of processes.

    Attributes:
        processes: how many there are.
        threads: of all of them.
        files: that they have open.
        memory: bytes that are resident and no pages of files.
        temporary: bytes of replies that are in temporary files.
        listening: the ports at which they listen.
    """

    processes: int
    threads: int
    files: int
    memory: int
    temporary: int
    listening: frozenset[int]


def state_of(pid: int) -> State:
    """What the system says of a process and those below it now."""
    pids = tree(pid)
    targets = [target for one in pids for target in _open_files(one)]
    sockets = {target[0].removeprefix("socket:[").removesuffix("]") for target in targets}
    return State(
        len(pids),
        sum(_status(one, "Threads") for one in pids),
        len(targets),
        1024 * sum(_status(one, "RssAnon") for one in pids),
        sum(size for name, size in targets if name.startswith(tempfile.gettempdir()) and name.endswith(_DELETED)),
        frozenset(port for port, inode in _listeners() if inode in sockets),
    )


def tree(pid: int) -> list[int]:
    """A process and all that it started, and so on."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def name_of(pid: int) -> str:
    """What a process's program is called, or nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _open_files(pid: int) -> Iterator[tuple[str, int]]:
    """What a process has open, with the bytes of each."""
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                yield str(entry.readlink()), entry.stat().st_blocks * _BLOCK


def _status(pid: int, name: str) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
    return 0


def _listeners() -> Iterator[tuple[int, str]]:
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A":
                yield int(words[1].rpartition(":")[2], 16), words[9]
