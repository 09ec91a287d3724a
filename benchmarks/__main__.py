"""Run the benchmarks and print a table for each: `python -m benchmarks [planning sqlite growth hbase]`."""

from __future__ import annotations

import argparse
import os
import platform

from rich.console import Console

from benchmarks import growth, hbase, planning, sqlite
from benchmarks.timing import Report

PARTS = ("planning", "sqlite", "growth", "hbase")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which parts; all by default")
    parser.add_argument(
        "--hbase", default=os.environ.get("HBSTORE_TEST_HBASE"), help="URL of an HBase; see make hbase-up"
    )
    arguments = parser.parse_args()
    console = Console(width=150)
    console.print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians\n"
    )
    for part in arguments.parts or PARTS:
        if part == "hbase" and not arguments.hbase:
            console.print("hbase: left out, as no URL was given (make hbase-up prints one)")
            continue
        for report in _reports(part, arguments.hbase):
            report.show(console)
            console.print()


def _reports(part: str, url: str) -> list[Report]:
    if part == "planning":
        return [planning.run()]
    if part == "sqlite":
        return sqlite.run()
    return [growth.run()] if part == "growth" else hbase.run(url)


if __name__ == "__main__":
    main()
