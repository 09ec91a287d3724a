"""hbstore's endpoint beside a real Hive Metastore 2.3, side by side in one run: `python -m benchmarks.metastore`.

The Hive Metastore is that of pyspark's jars, on PostgreSQL where it is installed, else on Derby. hbstore's endpoint
runs on SQLite and on HBase (that of HBSTORE_TEST_HBASE; without one, one of dev/hbase). All are started for the run,
hold the same 100,000 partitions, and are gone after it.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
from contextlib import ExitStack
from importlib.metadata import version

from rich.console import Console

from benchmarks.data import DAYS
from benchmarks.metastore import memory, projections
from benchmarks.metastore.figures import Figure, show
from benchmarks.metastore.loading import load
from benchmarks.metastore.measuring import THREADS, Asker, calls_a_second, compare, reply_bytes, warm_up
from benchmarks.metastore.questions import QUESTIONS, get_table, point
from benchmarks.metastore.sales import specs
from benchmarks.metastore.servers import hbstore_on, hive_metastore, scratch

PARTS = ("calls", "projections", "memory")
DERBY_DAYS = 5
"""A table on Derby is filled by calls alone, some tens of partitions a second."""


def main() -> None:
    arguments = _arguments()
    console = Console(width=170)
    console.print(machine())
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        servers = [stack.enter_context(hbstore_on(kind, folder)) for kind in arguments.on]
        reference = arguments.hms != "none"
        if reference:
            servers.append(stack.enter_context(hive_metastore(folder, arguments.hms)))
        for server in servers:
            console.print(f"{server.name}: {server.version}")
        filled = not reference or servers[-1].postgres is not None
        days = arguments.days or (len(DAYS) if filled else DERBY_DAYS)
        askers = [Asker(server) for server in servers]
        rates = []
        for asker in askers:
            console.print(f"loading: {asker.server.name} …", style="dim")
            rates.append(load(asker.server, asker.client, specs(days), arguments.added))
            asker.learn()
        if "calls" in arguments.parts:
            for asker in askers:
                console.print(f"warming up: {asker.server.name} …", style="dim")
                warm_up(asker, QUESTIONS, days, arguments.warm)
            _calls(console, askers, rates, days, reference=reference)
        if "projections" in arguments.parts:
            projections.run(console, askers[: len(arguments.on)])
        if "memory" in arguments.parts:
            memory.run(console, askers[: len(arguments.on)])


def _calls(console: Console, askers: list[Asker], rates: list[float], days: int, *, reference: bool) -> None:
    figures = []
    for question in QUESTIONS:
        console.print(f"asking: {question.name} …", style="dim")
        found = compare(askers, question, days)
        first, last = zip(*(times.medians for times in found), strict=True)
        count = found[0].count
        name = f"{question.name}, {count:,} hit{'s' * (count > 1)}" if count else question.name
        if question.first_byte:
            figures.append(Figure(f"{name}, first byte", first, aim=question.aim))
        figures.append(Figure(name, last, aim=0 if question.first_byte else question.aim))
    for what, make, least in (("get_table", get_table, 5_000), ("point filter", point, 0)):
        throughput = tuple(calls_a_second(askers, make, days))
        figures.append(Figure(f"{what}, {THREADS} clients in one process", throughput, at_least=least, rate=True))
    figures.append(Figure("add_partitions, batches of 1,000", tuple(rates), aim=10, rate=True))
    sizes = ", ".join(f"{reply_bytes(asker) / days / 400:.0f}" for asker in askers)
    title = (
        f"{days * 400:,} partitions of {sizes} bytes; medians of the time to the last byte of the reply, or the first"
    )
    show(console, title, [asker.server.name for asker in askers], figures, reference=reference)


def machine() -> str:
    """What the run is on, and its load."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    parts = (
        f"{os.cpu_count()} cores",
        f"{memory_bytes / (1 << 30):.0f} GiB",
        f"load {os.getloadavg()[0]:.1f}",
        f"Python {platform.python_version()}",
        f"SQLite {sqlite3.sqlite_version}",
        f"thriftpy2 {version('thriftpy2')}",
    )
    return ", ".join(parts)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.metastore", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which parts; all by default")
    parser.add_argument("--on", nargs="*", choices=["SQLite", "HBase"], help="what hbstore runs on; both by default")
    choices = ("auto", "postgresql", "derby", "none")
    parser.add_argument("--hms", choices=choices, default="auto", help="what the Hive Metastore runs on")
    days = f"days of 400 partitions each (default: {len(DAYS)}; with Derby {DERBY_DAYS})"
    parser.add_argument("--days", type=int, help=days)
    parser.add_argument(
        "--added",
        type=int,
        default=5_000,
        help="partitions added to the Hive Metastore by calls (default: %(default)s)",
    )
    parser.add_argument(
        "--warm", type=float, default=60.0, help="seconds of questions before the first figure (default: %(default)s)"
    )
    arguments = parser.parse_args()
    arguments.parts = arguments.parts or PARTS
    arguments.on = arguments.on if arguments.on is not None else ["SQLite", "HBase"]
    return arguments


if __name__ == "__main__":
    main()
