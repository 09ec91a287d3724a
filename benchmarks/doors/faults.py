"""Minutes of random faults: clients that vanish, killed processes and Sparks, a store away. Then all is as before.

Before and after, the server has answered a query and nobody asks anything: the same processes, threads, open files,
memory and ports are to be there.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import sqlite3
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.data import load, sales_partitions, sales_table
from benchmarks.doors.asking import Door, doors
from benchmarks.doors.serving import Ports, State, name_of, served, state_of, tree
from benchmarks.metastore.calls import message
from benchmarks.metastore.client import Client
from hbstore import connect

PARTITIONS = 20_000
CLIENTS = 8
_PAUSE = (5.0, 25.0)
"""Seconds between two faults."""

_AWAY = 8.0
_SETTLED = 60.0
_CROWD = 40
"""Clients that ask at once."""

_WAIT = 600.0
_MIB = 1 << 20
_RESET = struct.pack("ii", 1, 0)
_FINAL = ("succeeded", "failed", "cancelled")
_LONG = "SELECT count(*) FROM range(0, 100000000000, 1, 4) AS a WHERE id % 7 = 3"


def run(console: Console, folder: Path, seconds: float, options: list[str]) -> None:
    """Print what was there before and after, and which faults there were."""
    url = f"sqlite://{folder / 'catalog.db'}"
    with connect(url) as store:
        load(store, sales_table(), sales_partitions()[:PARTITIONS])
    with served(folder, url, "--spark-master", "local[2]", *options) as ports:
        before = _at_rest(ports)
        counted: Counter[str] = Counter()
        over = threading.Event()
        seed = random.Random(1)
        clients = [
            threading.Thread(target=_vanish_again_and_again, args=(ports, random.Random(number), over, counted))
            for number in range(CLIENTS)
        ]
        clients.append(threading.Thread(target=_query_again_and_again, args=(ports, over, counted)))
        for thread in clients:
            thread.start()
        faults: tuple[Callable[[], str], ...] = (
            lambda: _kill(ports, "java", signal.SIGKILL),
            lambda: _kill(ports, "java", signal.SIGSTOP),
            lambda: _kill_process(ports, seed),
            lambda: _lock_store(folder / "catalog.db"),
            lambda: _move_store(folder / "catalog.db"),
        )
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(min(seed.uniform(*_PAUSE), max(0.0, until - time.monotonic())))
            fault = seed.choice(faults)()
            counted[fault] += 1
            console.print(fault, style="dim")
        over.set()
        for thread in clients:
            thread.join()
        after = _at_rest(ports)
    _show(console, before, after, counted)


def _show(console: Console, before: State, after: State, counted: Counter[str]) -> None:
    table = Table("", "before", "after", title="A server at rest that has run a query", title_justify="left")
    for name in ("processes", "threads", "files"):
        table.add_row(name, str(getattr(before, name)), str(getattr(after, name)))
    table.add_row("memory, MiB", f"{before.memory / _MIB:.0f}", f"{after.memory / _MIB:.0f}")
    table.add_row("temporary bytes", str(before.temporary), str(after.temporary))
    table.add_row("ports", str(len(before.listening)), str(len(after.listening)))
    console.print(table)
    for what, number in sorted(counted.items()):
        console.print(f"{number:,} × {what}")


def _at_rest(ports: Ports) -> State:
    """The state after a query and a crowd, once nothing has gone on for a while.

    Each door keeps up to 16 threads that wait for calls, and each of those its connection to the store: two files. How
    many there are depends on how many calls came together; the crowd makes it as many as are kept.
    """
    until = time.monotonic() + _WAIT
    while _query(ports, "SELECT 1", 120.0) != "succeeded":
        if time.monotonic() > until:
            raise RuntimeError("no query succeeds any more")
        time.sleep(1.0)
    with ThreadPoolExecutor(_CROWD) as crowd:
        for door in doors(ports, 60.0):
            listing = partial(_listed, ports) if door.name == "metastore" else door.ask
            for asked in [crowd.submit(listing) for _ in range(_CROWD * 5)]:
                asked.result()
    time.sleep(_SETTLED)
    return state_of(ports.pid)


def _listed(ports: Ports) -> None:
    """Ask for so much that a thread of its own answers."""
    client = Client(ports.metastore, 60.0)
    try:
        client.ask(message("get_partition_names", db_name="bench", tbl_name="sales", max_parts=-1))
    finally:
        client.close()


# Clients


def _vanish_again_and_again(ports: Ports, seed: random.Random, over: threading.Event, counted: Counter[str]) -> None:
    """Begin or send a question, read some of the answer or nothing, and be gone without a word."""
    all_doors = doors(ports, 10.0)
    listing = message("get_partitions", db_name="bench", tbl_name="sales", max_parts=-1)
    while not over.wait(seed.uniform(0.0, 0.2)):
        door = seed.choice(all_doors)
        with suppress(OSError, RuntimeError):
            if seed.random() < 0.3:
                door.ask()
                counted["questions answered"] += 1
                continue
            counted["clients that vanished"] += 1
            _vanish(door, listing if door.name == "metastore" and seed.random() < 0.5 else door.half, seed)


def _vanish(door: Door, sent: bytes, seed: random.Random) -> None:
    with socket.create_connection(("127.0.0.1", door.port), 10.0) as sock:
        sock.settimeout(0.3)
        sock.sendall(sent[: seed.randint(1, len(sent))] if seed.random() < 0.5 else sent)
        with suppress(TimeoutError):
            sock.recv(seed.choice((1, 1000, 100_000)))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


def _query_again_and_again(ports: Ports, over: threading.Event, counted: Counter[str]) -> None:
    number = 0
    while not over.wait(1.0):
        number += 1
        end = _query(ports, _LONG if number % 3 == 0 else f"SELECT {number}", 20.0)
        counted[f"queries: {end}"] += 1


def _query(ports: Ports, text: str, seconds: float) -> str:
    """Run a query; its state, that it was cancelled as it took too long, or that the server did not answer."""
    try:
        query = _asked(ports, "POST", "/queries", {"text": text, "database": "bench"})
        until = time.monotonic() + seconds
        while query["state"] not in _FINAL and time.monotonic() < until:
            time.sleep(0.3)
            query = _asked(ports, "GET", f"/queries/{query['id']}")
        if query["state"] not in _FINAL:
            _asked(ports, "DELETE", f"/queries/{query['id']}")
            return "cancelled"
        error = (query.get("problem") or query.get("error") or {}) if query["state"] == "failed" else {}
        return str(query["state"]) + (f" ({error.get('error')})" if error else "")
    except (OSError, http.client.HTTPException, KeyError, ValueError):
        return "not answered, or refused"


def _asked(ports: Ports, method: str, path: str, body: object = None) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", ports.http, timeout=30)
    try:
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, sent, {"Content-Type": "application/json", "Accept": "application/json"})
        document: dict[str, Any] = json.loads(connection.getresponse().read())
        return document
    finally:
        connection.close()


# Faults


def _kill(ports: Ports, program: str, how: signal.Signals) -> str:
    victims = [pid for pid in tree(ports.pid) if name_of(pid) == program]
    for pid in victims:
        with suppress(ProcessLookupError):
            os.kill(pid, how)
    return f"Spark's Java: {how.name}" if victims else "Spark's Java: not there"


def _kill_process(ports: Ports, seed: random.Random) -> str:
    victims = [pid for pid in tree(ports.pid)[1:] if name_of(pid) != "java"]
    with suppress(ProcessLookupError, IndexError):  # where the last one has not been replaced yet
        os.kill(seed.choice(victims), signal.SIGKILL)
    return "a process of the server: SIGKILL"


def _lock_store(path: Path) -> str:
    """Another program holds the file's lock."""
    with suppress(sqlite3.Error):
        other = sqlite3.connect(path, isolation_level=None, timeout=5.0)
        other.execute("BEGIN IMMEDIATE")
        time.sleep(_AWAY)
        other.execute("ROLLBACK")
        other.close()
    return f"the store is locked for {_AWAY:.0f} s"


def _move_store(path: Path) -> str:
    """The file is not where it was, as on a disk that is away; what has it open goes on."""
    moved = path.with_suffix(".away")
    path.rename(moved)
    time.sleep(_AWAY)
    moved.rename(path)
    return f"the store is away for {_AWAY:.0f} s"
