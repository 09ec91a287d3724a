"""Importing a table of a Hive Metastore 2.3: `python -m benchmarks.transfer [--days 250] [--hms auto]`.

Beside it a bare client asks for the same pages of the same metastore by as many processes, and throws the replies away:
what the metastore gives at most. Both take turns. The Hive Metastore is that of pyspark's jars, on PostgreSQL where it
is installed, else on Derby, where the table is smaller. The store is a new SQLite file each time.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path

from rich.console import Console

import hbstore
from benchmarks.data import DAYS
from benchmarks.metastore.calls import message
from benchmarks.metastore.client import Client
from benchmarks.metastore.loading import load
from benchmarks.metastore.sales import DATABASE, TABLE, specs
from benchmarks.metastore.servers import Server, hive_metastore, scratch
from benchmarks.timing import Report
from hbstore.transfer import Transfer, import_metastore

WORKERS = 4
PAGE = 1000
DERBY_DAYS = 2
AIM = "5,000 /s or the source's own limit"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.transfer", description=__doc__)
    parser.add_argument("--days", type=int, help="days of 400 partitions each (default: 250; on Derby 2)")
    parser.add_argument("--hms", choices=["auto", "postgresql", "derby"], default="auto")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    console = Console(width=150)
    console.print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; best\n")
    with scratch() as folder, hive_metastore(folder, arguments.hms) as server:
        days = arguments.days or (len(DAYS) if server.postgres else DERBY_DAYS)
        console.print(f"loading {days * 400:,} partitions into {server.version} …", style="dim")
        with closing(Client(server.port)) as client:
            load(server, client, specs(days), PAGE)
        run(server, folder, days, arguments.rounds).show(console)


def run(server: Server, folder: Path, days: int, rounds: int) -> Report:
    """Each way in turn, beside the bare client right before and after it."""
    number = days * 400
    pages = [[one.name for one in specs(days)[at : at + PAGE]] for at in range(0, number, PAGE)]
    calls = [message("get_partitions_by_names", db_name=DATABASE, tbl_name=TABLE, names=page) for page in pages]
    sizes = learn(server.port, calls)
    uri = f"thrift://127.0.0.1:{server.port}"
    times: dict[str, list[float]] = {}

    def take(name: str, call: Callable[[], object]) -> None:
        began, used = time.perf_counter(), time.process_time()
        call()
        times.setdefault(name, []).append(time.perf_counter() - began)
        times.setdefault(f"{name}, processor", []).append(time.process_time() - used)
        print(f"{name}: {number / times[name][-1]:,.0f} /s, load {os.getloadavg()[0]:.1f}", file=sys.stderr)

    with ProcessPoolExecutor(WORKERS) as pool:
        list(pool.map(abs, range(WORKERS * 4)))
        for at in range(rounds):
            with hbstore.connect(f"sqlite://{folder}/copy{at}.db") as store:
                take("bare", lambda: drain(pool, server.port, calls, sizes))
                take("import", lambda store=store: complete(copied(store, uri), number))
                take("bare", lambda: drain(pool, server.port, calls, sizes))
                take("again", lambda store=store: complete(copied(store, uri), number))
    bare = number / min(times["bare"])
    report = Report(
        f"{number:,} partitions of {sum(sizes) / number:,.0f} bytes from {server.version}; raw: the same pages of "
        f"{PAGE:,} asked for by {WORKERS} processes and thrown away"
    )
    whole = "names, table, statistics and verification included"
    report.rate(f"import by {WORKERS} threads", number / min(times["import"]), bare, target=AIM, note=whole)
    report.rate("import again, nothing new", number / min(times["again"]), bare, target="", note=whole)
    alone = "of this process alone: what a core of its own would do"
    report.rate("the same, by processor time", number / min(times["import, processor"]), None, target="", note=alone)
    return report


def copied(store: hbstore.PartitionStore, uri: str) -> Transfer:
    return import_metastore(store, uri, database=DATABASE, threads=WORKERS)


def complete(done: Transfer, number: int) -> None:
    assert done.is_complete
    assert sum(table.target.count for table in done.tables) == number


def learn(port: int, calls: Sequence[bytes]) -> list[int]:
    """How long the reply to each call is."""
    with closing(Client(port)) as client:
        return [len(client.ask(call).data) for call in calls]


def drain(pool: ProcessPoolExecutor, port: int, calls: Sequence[bytes], sizes: Sequence[int]) -> None:
    parts = [(port, calls[at::WORKERS], sizes[at::WORKERS]) for at in range(WORKERS)]
    assert sum(pool.map(_drain, parts)) == sum(sizes)


def _drain(part: tuple[int, Sequence[bytes], Sequence[int]]) -> int:
    port, calls, sizes = part
    with closing(Client(port)) as client:
        return sum(client.drain(call, size) for call, size in zip(calls, sizes, strict=True))


if __name__ == "__main__":
    main()
