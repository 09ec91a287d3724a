"""A thousand requests that wait for covers: what they cost a server while they wait, and how soon they are told.

The server is a process of its own. Its processor time is measured while a thousand requests wait for ten seconds, and
while none do. Then a day is registered over HTTP, which is the server's own process, and by
another process on the store, as the metastore's processes are. The clock runs from when the commit
returns to when the last of the thousand has its answer; the reference is one waiting request, told by the same commits.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, Self

from benchmarks.rest import served
from benchmarks.timing import Figure, Report
from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents

WAITERS: Final = 1_000
SECONDS: Final = 10.0
RUNS: Final = 5
ROUNDS: Final = ("in the server's process", "by another process")
TAKEN: Final = 6.0
"""Seconds until all requests are taken."""

MODEL: Final = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {dt: dt}
measures: [{name: minutes, type: bigint}]
---
kind: fact
name: daily
cube: rides
columns: [{name: minutes, type: bigint}]
storage_tables:
  - storage: lake
    update_periods: [HOURLY, DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""


def run() -> Iterator[Report]:
    """The tables."""
    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as root, ExitStack() as stack:
        folder = Path(root)
        url = f"sqlite://{folder}/catalog.db"
        with connect(url) as store:
            store.create_database("bench")
            Cubes(store, "bench").create_all(parse_documents(MODEL, "yaml"))
        port = stack.enter_context(served(url, folder))
        writer = stack.enter_context(_Writer(url))
        register = {ROUNDS[0]: lambda day: _register_over_http(port, day), ROUNDS[1]: writer.register}
        yield asyncio.run(_costs(port))
        yield asyncio.run(_told(port, register))


async def _costs(port: int) -> Report:
    """Processor time of the server with waiting requests, and without."""
    report = Report(f"Processor time of a server in {SECONDS:.0f} s", headings=(f"{WAITERS:,} waiting", "none waiting"))
    process = _server_process(port)
    idle = await _processor_time(process)
    waiters = await _waiting(port, WAITERS, "2014-01-01", "2014-01-02")
    busy = await _processor_time(process)
    for _, stream in waiters:
        stream.close()
    report.figures.append(Figure("one range of a fact", busy, idle, "next to nothing"))
    streams = []
    for number in range(WAITERS):
        streams += await _waiting(port, 1, "2014-01-01", f"2014-02-01-{number // 60:02}:{number % 60:02}")
    busy = await _processor_time(process)
    for _, stream in streams:
        stream.close()
    report.figures.append(Figure("a range of its own for each", busy, idle, "next to nothing"))
    return report


async def _told(port: int, register: Mapping[str, Callable[[str], float]]) -> Report:
    """From the commit to the last answer."""
    report = Report(
        "From the commit to the last of those who wait being told", headings=(f"{WAITERS:,} waiting", "one waiting")
    )
    day = 0
    for name, commit in register.items():
        took: dict[int, list[float]] = {WAITERS: [], 1: []}
        for _ in range(RUNS):
            for number, times in took.items():
                day += 1
                text, after = f"2015-{1 + day // 28:02}-{1 + day % 28:02}", f"2015-{1 + day // 28:02}-{2 + day % 28:02}"
                waiters = await _waiting(port, number, text, after)
                await asyncio.sleep(TAKEN)
                committed = asyncio.get_running_loop().run_in_executor(None, commit, text)
                await asyncio.gather(committed, *(_answer(reader) for reader, _ in waiters))
                times.append(time.time() - committed.result())
                for _, stream in waiters:
                    stream.close()
        middle = {number: sorted(times)[RUNS // 2] for number, times in took.items()}
        worst = max(took[1])
        report.figures.append(
            Figure(name, middle[WAITERS], middle[1], "100 ms", f"the slowest of {RUNS}: {worst * 1e3:.0f} ms for one")
        )
    return report


async def _waiting(
    port: int, number: int, start: str, end: str
) -> list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Requests that wait: sent, and taken by the server."""
    request = (
        f"GET /databases/bench/facts/daily/wait?from={start}&to={end}&seconds=600 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    )
    found = []
    for _ in range(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request.encode())
        found.append((reader, writer))
    return found


async def _answer(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().splitlines() if line.startswith(b"content-length"))
    body = await reader.readexactly(int(length.partition(b":")[2]))
    assert json.loads(body)["complete"], body


async def _processor_time(process: int) -> float:
    await asyncio.sleep(TAKEN)
    before = _ticks(process)
    await asyncio.sleep(SECONDS)
    return (_ticks(process) - before) / os.sysconf("SC_CLK_TCK")


def _ticks(process: int) -> int:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _server_process(port: int) -> int:
    """The one child of this process that serves; it was started before the writer."""
    assert port
    return min(child.pid or 0 for child in multiprocessing.active_children())


def _register_over_http(port: int, day: str) -> float:
    """Register a day, and say when the commit had returned."""
    body = json.dumps([{"update_period": "DAILY", "time": {"dt": day}}])
    connection = http.client.HTTPConnection("127.0.0.1", port)
    path = "/databases/bench/facts/daily/partitions"
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    reply = connection.getresponse().read()
    connection.close()
    assert json.loads(reply).get("partitions") == 1, reply
    return time.time()


class _Writer:
    """Another process that has the store open, as the metastore's have."""

    def __init__(self, url: str) -> None:
        self._pipe, there = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=_write, args=(url, there))

    def __enter__(self) -> Self:
        self._process.start()
        self._pipe.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.send(None)
        self._process.join()

    def register(self, day: str) -> float:
        self._pipe.send(day)
        took: float = self._pipe.recv()
        return took


def _write(url: str, pipe: Connection) -> None:
    with connect(url) as store:
        cubes = Cubes(store, "bench")
        pipe.send(None)
        while (day := pipe.recv()) is not None:
            cubes.add_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": day})])
            pipe.send(time.time())
