"""Run the benchmarks and print a table for each: `python -m benchmarks [planning sqlite …]`; --help names them all.

Those on Spark take minutes each and run when they are named: `spark` (writes and reads), `source`, `repair`,
`cube-rows` (answers from roll-ups) and `sql-port` (JDBC drivers and PyHive, beside Spark's own Thrift server). So does
`ten-million`, which takes half an hour.
HBase's run on the server of --hbase or HBSTORE_TEST_HBASE; without one, on a server of dev/hbase started for them.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from benchmarks import (
    console_plan,
    console_queries,
    console_timelines,
    cube_queries,
    files,
    growth,
    hbase,
    hive_expressions,
    in_memory,
    listings,
    planning,
    rest,
    results,
    sqlite,
    ten_million,
    timelines,
    waiters,
    whole_tables,
    write_lock,
    writers,
)
from benchmarks.timing import Report

ONE_TABLE = {
    "planning": planning.run,
    "growth": growth.run,
    "in-memory": in_memory.run,
    "expressions": hive_expressions.run,
    "console-queries": console_queries.run,
    "console-timelines": console_timelines.run,
}
SEVERAL: Mapping[str, Callable[[], Iterable[Report]]] = {
    "console-plan": console_plan.run,
    "cubes": cube_queries.run,
    "files": files.run,
    "sqlite": sqlite.run,
    "results": results.run,
    "listings": listings.run,
    "rest": rest.run,
    "waiters": waiters.run,
    "write-lock": write_lock.run,
}
ON_HBASE: dict[str, Callable[[str], Iterable[Report]]] = {
    "timelines": timelines.run,
    "hbase": hbase.run,
    "writers": writers.run,
    "whole-tables": whole_tables.run,
}
PARTS = (*ONE_TABLE, *SEVERAL, *ON_HBASE)
LONG_ON_HBASE: dict[str, Callable[[str], Iterable[Report]]] = {"ten-million": ten_million.run}
ON_SPARK = ("spark", "source", "repair", "cube-rows", "sql-port")
_ALL = (*PARTS, *LONG_ON_HBASE, *ON_SPARK)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", type=_part, metavar="PART", help=f"of {', '.join((*PARTS, *LONG_ON_HBASE, *ON_SPARK))}"
    )
    parser.add_argument(
        "--hbase", default=os.environ.get("HBSTORE_TEST_HBASE"), help="URL of an HBase; see make hbase-up"
    )
    arguments = parser.parse_args()
    console = Console(width=150)
    console.print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians\n"
    )
    for part in arguments.parts or PARTS:
        for report in _reports(part, arguments.hbase):
            report.show(console)
            console.print()


def _part(text: str) -> str:
    if text not in _ALL:
        raise argparse.ArgumentTypeError(f"there is no part {text}")
    return text


def _reports(part: str, url: str | None) -> Iterator[Report]:
    if part in ONE_TABLE:
        yield ONE_TABLE[part]()
    elif part in SEVERAL:
        yield from SEVERAL[part]()
    elif part in ON_SPARK:
        yield from _on_spark(part)
    else:
        with _server(url) as server:
            yield from (ON_HBASE | LONG_ON_HBASE)[part](server)


def _on_spark(part: str) -> Iterator[Report]:
    from benchmarks import cube_rows, repair, source, spark_writes, sql_port  # which need PySpark

    runs: dict[str, Callable[[], Iterator[Report]]] = {
        "spark": spark_writes.run,
        "source": source.run,
        "repair": repair.run,
        "cube-rows": cube_rows.run,
        "sql-port": sql_port.run,
    }
    yield from runs[part]()


@contextmanager
def _server(url: str | None) -> Iterator[str]:
    if url is not None:
        yield url
        return
    program = [sys.executable, str(Path(__file__).parents[1] / "dev" / "hbase" / "server.py")]
    started = subprocess.run([*program, "up", "--name", "bench"], check=True, capture_output=True, text=True)
    try:
        yield started.stdout.split()[-1]
    finally:
        subprocess.run([*program, "down", "--name", "bench"], check=True, capture_output=True)


if __name__ == "__main__":
    main()
