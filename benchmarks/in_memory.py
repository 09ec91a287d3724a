"""A million partitions in ``memory://``: seconds and memory, in batches as `hbstore load` adds them, and as one.

Each runs in a process of its own, whose largest size is the figure.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import islice

from benchmarks.timing import Figure, Report
from hbstore import Column, Partition, Table, connect

SIZE = 1_000_000
REGIONS = ("af", "ap", "eu", "us")
FIRST = date(2000, 1, 1)


def run() -> Report:
    """A line for each way."""
    report = Report(f"In memory: {SIZE:,} partitions of three columns, with a location each")
    for name, batch in (("in batches of 10,000", 10_000), ("in one batch", SIZE)):
        command = [sys.executable, "-m", "benchmarks.in_memory", str(batch)]
        seconds, megabytes = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        report.figures.append(Figure(name, float(seconds), None, "20 s, 700 MB", f"{megabytes} MB"))
    return report


def partitions() -> Iterator[Partition]:
    """Days, with 25 hours of four regions each."""
    for number in range(SIZE):
        day, rest = divmod(number, 100)
        hour, region = divmod(rest, len(REGIONS))
        yield Partition(((FIRST + timedelta(day)).isoformat(), str(hour), REGIONS[region]))


def main() -> None:
    """Add them in batches of the size that is given; print the seconds and the megabytes that it took."""
    store = connect("memory://")
    store.create_database("shop")
    columns = [Column("ds", "date"), Column("hour", "int"), Column("region", "string")]
    store.create_table(Table("shop", "sales", location="s3://bucket/sales", partition_columns=columns))
    sales, left = store.table("shop.sales"), partitions()
    began = time.perf_counter()
    while batch := list(islice(left, int(sys.argv[1]))):
        sales.add(batch)
    seconds = time.perf_counter() - began
    assert store.count_partitions("shop", "sales") == SIZE
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    sys.stdout.write(f"{seconds} {size:.0f}\n")


if __name__ == "__main__":
    main()
