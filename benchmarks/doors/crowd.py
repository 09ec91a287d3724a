"""Thousands of silent, half and slow clients at a door, while one asks: its times beside those of a quiet door."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from benchmarks.doors.asking import Door, doors
from benchmarks.doors.serving import Ports, served
from hbstore import connect
from hbstore.servers.threads import beside

KINDS = ("silent", "half", "slow")
ASKED = 40
PAUSE = 0.25
"""Seconds between two questions."""

PATIENCE = 10.0
_LATE = """
import select, sys, time
late = 0.0
while True:
    began = time.perf_counter()
    if select.select([sys.stdin], [], [], 0.005)[0]:
        break
    late = max(late, time.perf_counter() - began - 0.005)
print(late)
"""
"""A program that sleeps 5 ms again and again, and tells by how much it came too late at most."""

_EVERY = 1.0
"""Seconds between two bytes of a slow client."""


@dataclass(slots=True)
class Answers:
    """What one client met.

    Attributes:
        seconds: of each answered question.
        refused: how many were refused or not answered.
        machine: seconds that a program which has nothing to do with the server was late meanwhile, at most.
    """

    seconds: list[float]
    refused: int = 0
    machine: float = 0.0

    def shown(self) -> list[str]:
        """Cells of the table."""
        machine = f"{self.machine * 1e3:.1f}"
        if not self.seconds:
            return ["–", "–", str(self.refused), machine]
        return [f"{median(self.seconds) * 1e3:.1f}", f"{max(self.seconds) * 1e3:.1f}", str(self.refused), machine]


def run(console: Console, folder: Path, clients: int, names: list[str], options: list[str]) -> None:
    """Print the table: at each door each kind of crowd in turn, on a server of its own."""
    table = Table("door", "crowd", title=f"{clients:,} clients at one door, and one who asks", title_justify="left")
    asked = ("median, ms", "longest, ms", "refused", "machine, ms")
    for heading in (*asked, f"quiet: {asked[0]}", *asked[1:]):
        table.add_column(heading, justify="right")
    store = f"sqlite://{folder / 'catalog.db'}"
    with connect(store):
        pass
    most = ["--max-connections", str(clients + 100)]
    every = [door.name for door in doors(Ports(0, 0, 0, 0, 0), PATIENCE)]
    for number, name in enumerate(every):
        for kind in KINDS if not names or name in names else ():
            with served(folder, store, *most, *options) as ports:
                door = doors(ports, PATIENCE)[number]
                door.ask()
                quiet = _asked(door)
                with _crowd(door, clients, kind):
                    busy = _asked(door)
                table.add_row(door.name, kind, *busy.shown(), *quiet.shown())
                console.print(f"{door.name}, {kind}: {busy.shown()}", style="dim")
    console.print(table)


def _asked(door: Door) -> Answers:
    """What one client meets that asks again and again, each time on a new connection."""
    answers = Answers([])
    with subprocess.Popen([sys.executable, "-c", _LATE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sleeper:
        for _ in range(ASKED):
            began = time.perf_counter()
            try:
                door.ask()
            except (OSError, RuntimeError):
                answers.refused += 1
            else:
                answers.seconds.append(time.perf_counter() - began)
            time.sleep(PAUSE)
        answers.machine = float(sleeper.communicate()[0])
    return answers


@contextmanager
def _crowd(door: Door, clients: int, kind: str) -> Iterator[None]:
    """Within, so many clients are connected; those that are cut off come again, as strangers do."""
    socks = [_joined(door, kind) for _ in range(clients)]
    try:
        with beside(partial(_go_on, door, kind, socks), "crowd"):
            yield
    finally:
        for sock in socks:
            sock.close()


def _joined(door: Door, kind: str) -> socket.socket:
    sock = socket.socket()
    sock.settimeout(PATIENCE)
    with suppress(OSError):
        sock.connect(("127.0.0.1", door.port))
        if kind != "silent":
            sock.sendall(door.half)
    sock.setblocking(False)
    return sock


def _go_on(door: Door, kind: str, socks: list[socket.socket], over: threading.Event) -> None:
    """Send a byte of each slow client from time to time, and put another in the place of each that was cut off."""
    while not over.wait(_EVERY):
        for number, sock in enumerate(socks):
            if over.is_set():
                return
            try:
                if kind == "slow":
                    sock.send(door.more)
                if sock.recv(1) == b"":
                    raise ConnectionResetError
            except BlockingIOError:
                continue
            except OSError:
                sock.close()
                socks[number] = _joined(door, kind)
