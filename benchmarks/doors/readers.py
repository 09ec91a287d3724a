"""Slow readers of one large table: what the server holds for them, in memory and in temporary files."""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from benchmarks.data import load, sales_partitions, sales_table
from benchmarks.doors.asking import doors
from benchmarks.doors.serving import served, state_of
from benchmarks.metastore.calls import message
from hbstore import connect

CLIENTS = 60
RATE = 256 * 1024
"""Bytes a second that a slow client takes."""

WAIT = 100.0
"""Seconds that a reader waits for bytes."""

_REFUSED = b"no room for the reply"
_LOOK = 0.1
_MIB = 1 << 20


@dataclass(slots=True)
class _Reader:
    """A client that lists the table, and takes the reply slowly.

    Attributes:
        port: the metastore's.
        rate: bytes a second.
        over: set when it shall go.
        got: bytes of it.
        end: how its reply ended; empty: it has not.
        first: seconds until its first byte.
        head: the first bytes of its reply.
    """

    port: int
    rate: int
    over: threading.Event
    got: int = 0
    end: str = ""
    first: float | None = None
    head: bytes = b""
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self) -> None:
        began = time.monotonic()
        try:
            with socket.socket() as sock:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
                sock.settimeout(WAIT)
                sock.connect(("127.0.0.1", self.port))
                sock.sendall(message("get_partitions", db_name="bench", tbl_name="sales", max_parts=-1))
                while not self.over.wait(0.1):
                    data = sock.recv(self.rate // 10)
                    if not data:
                        self.end = "cut off"
                        return
                    if self.first is None:
                        self.first = time.monotonic() - began
                    self.head = self.head or data[:400]
                    self.got += len(data)
                    if _REFUSED in self.head:
                        self.end = "refused: no room"
                        return
        except OSError as error:
            self.end = self.end or f"{type(error).__name__}"


def run(console: Console, folder: Path, seconds: float, clients: int, rate: int, options: list[str]) -> None:
    """Print what was seen."""
    url = f"sqlite://{folder / 'catalog.db'}"
    with connect(url) as store:
        load(store, sales_table(), sales_partitions())
    with served(folder, url, *options) as ports:
        door = doors(ports, 60.0)[0]
        door.ask()
        before = state_of(ports.pid)
        over = threading.Event()
        readers = [_Reader(ports.metastore, rate, over) for _ in range(clients)]
        until = time.monotonic() + seconds
        peaks, together, files, longest = 0, 0, 0, 0.0
        while time.monotonic() < until and any(not one.end for one in readers):
            now = state_of(ports.pid)
            peaks, files = max(peaks, now.memory), max(files, now.temporary)
            together = max(together, now.memory + now.temporary)
            began = time.perf_counter()
            door.ask()
            longest = max(longest, time.perf_counter() - began)
            time.sleep(_LOOK)
        over.set()
        for one in readers:
            one.thread.join()
        time.sleep(3)
        after = state_of(ports.pid)
    ends: dict[str, int] = {}
    for one in readers:
        ends[one.end or "still reading"] = ends.get(one.end or "still reading", 0) + 1
    console.print(f"{clients} readers of {rate // 1024} KiB/s each for {seconds:.0f} s: {ends}")
    console.print(f"bytes that they got: {sum(one.got for one in readers) / _MIB:,.0f} MiB")
    console.print(f"memory of the server before {before.memory / _MIB:.0f}, peak {peaks / _MIB:.0f} MiB")
    console.print(f"temporary bytes, peak {files / _MIB:.0f} MiB; together, peak {together / _MIB:.0f} MiB")
    console.print(f"after: memory {after.memory / _MIB:.0f}, temporary {after.temporary / _MIB:.0f} MiB")
    console.print(f"threads {before.threads} before, {after.threads} after")
    console.print(f"another client's longest answer meanwhile: {longest * 1e3:.0f} ms")
