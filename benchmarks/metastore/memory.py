"""The endpoint's memory while it lists all partitions: once, and to 16 clients at once.

Resident memory and its peak are the kernel's own numbers (VmRSS and VmHWM in /proc/PID/status); the peak is set back
before each measurement.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that a process has in memory now, and had at the most since the peak was set back."""

    now: int
    peak: int


def memory_of(pid: int) -> Memory:
    """What /proc says of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    sizes = dict(re.findall(r"^(Vm\w+):\s+(\d+) kB$", text, re.MULTILINE))
    return Memory(int(sizes["VmRSS"]) * 1024, int(sizes["VmHWM"]) * 1024)


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
    """Print the memory of each server of hbstore before, during and after, in MiB and in replies."""
    table = Table("server", title=f"Memory of the server while listing all partitions, MiB ({CLIENTS} clients at once)")
    headings = ("reply", "before", "peak, 1 client", "in replies", "after", f"peak, {CLIENTS}", "in replies", "after")
    for heading in headings:
        table.add_column(heading, justify="right")
    for asker in askers:
        size = reply_bytes(asker)
        pid = asker.server.pid
        time.sleep(_SETTLE_SECONDS)
        before = memory_of(pid).now
        cells = [asker.server.name, _mib(size), _mib(before)]
        for clients in (1, CLIENTS):
            set_back_peak(pid)
            listing(asker.server.port, clients, size)
            peak = memory_of(pid).peak
            time.sleep(_SETTLE_SECONDS)
            cells += [_mib(peak), f"{(peak - before) / size:.2f}", _mib(memory_of(pid).now)]
        table.add_row(*cells)
    console.print(table)


def _mib(size: int) -> str:
    return f"{size / _MIB:,.0f}"
