"""The endpoint's memory while it lists all partitions: once, and to 16 clients at once.

Resident memory and its peak are the kernel's own numbers (VmRSS and VmHWM in /proc/PID/status); the peak is set back
before each measurement. Each connection to a SQLite file maps it, and its pages count for each mapping though they are
there once; so memory that is the process's own is shown beside it (RssAnon, looked at a hundred times a second).
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.metastore.calls import message
from benchmarks.metastore.client import Client
from benchmarks.metastore.measuring import Asker, reply_bytes
from benchmarks.metastore.questions import ALL
from benchmarks.metastore.sales import DATABASE, TABLE

CLIENTS = 16
_MIB = 1 << 20
_SETTLE_SECONDS = 1.0
_LOOK_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of a process.

    Attributes:
        now: resident.
        own: of them those that are no page of a file, which the system could drop.
        peak: the most that were resident since the peak was set back.
    """

    now: int
    own: int
    peak: int


def memory_of(pid: int) -> Memory:
    """What /proc says of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    sizes = dict(re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE))
    now, own, peak = (int(sizes[name]) * 1024 for name in ("VmRSS", "RssAnon", "VmHWM"))
    return Memory(now, own, peak)


def set_back_peak(pid: int) -> None:
    """Let the peak begin anew; allowed for processes of the same user."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def listing(port: int, clients: int, size: int) -> None:
    """Ask for all partitions by so many connections at once, and read the replies as fast as they come."""
    call = message("get_partitions", db_name=DATABASE, tbl_name=TABLE, max_parts=ALL)
    failures: list[BaseException] = []

    def ask() -> None:
        client = Client(port)
        try:
            got = client.drain(call, size)
        except OSError as error:
            failures.append(error)
        else:
            if got != size:
                failures.append(RuntimeError(f"{got} bytes instead of {size}"))
        finally:
            client.close()

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def run(console: Console, askers: list[Asker]) -> None:
    """Print the memory of each server before, during and after."""
    table = Table("server", title="Memory of the server while it lists all partitions, in MiB", title_justify="left")
    for heading in ("clients", "reply", "before", "peak", "more, in replies", "own, before", "own, peak", "after"):
        table.add_column(heading, justify="right")
    for asker in askers:
        size = reply_bytes(asker)
        for clients in (1, CLIENTS):
            time.sleep(_SETTLE_SECONDS)
            before = memory_of(asker.server.pid)
            set_back_peak(asker.server.pid)
            own = _own_while(asker.server.pid, partial(listing, asker.server.port, clients, size))
            peak = memory_of(asker.server.pid).peak
            time.sleep(_SETTLE_SECONDS)
            after = memory_of(asker.server.pid).now
            sizes = (size, before.now, peak)
            cells = [f"{one / _MIB:,.0f}" for one in sizes] + [f"{(peak - before.now) / size:.2f}"]
            cells += [f"{one / _MIB:,.0f}" for one in (before.own, own, after)]
            table.add_row(asker.server.name, str(clients), *cells)
    console.print(table)


def _own_while(pid: int, work: Callable[[], object]) -> int:
    """The most memory of its own that a process is seen to have while something is done."""
    done = threading.Event()
    seen = [memory_of(pid).own]

    def look() -> None:
        while not done.wait(_LOOK_SECONDS):
            seen.append(memory_of(pid).own)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        work()
    finally:
        done.set()
        looking.join()
    return max(seen)
