"""Eight processes that add partitions to one table of an HBase at the same time, beside one process alone."""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.data import sales_table
from benchmarks.timing import Report
from hbstore import Partition, connect

_WRITERS = 8
_BATCHES = 20
_SIZES = (1, 100)
_PARAMETERS = {"numRows": "100000", "totalSize": "12345678", "transient_lastDdlTime": "1390000000"}


def run(url: str) -> list[Report]:
    """How many partitions they add in a second, in batches of one and of a hundred."""
    report = Report("Adds to one table of HBase, partitions a second", headings=("8 processes", "1 process"))
    for size in _SIZES:
        several = _rate(url, _WRITERS, size)
        report.rate(f"batches of {size}", several, _rate(url, 1, size), target="no fewer than by one process")
    return [report]


def _rate(url: str, writers: int, size: int) -> float:
    with connect(url) as store:
        store.create_database("bench", if_not_exists=True)
        store.drop_table("bench", "added", if_exists=True)
        store.create_table(sales_table("added"))
        command = [sys.executable, "-m", "benchmarks.writers", url, str(size)]
        running = [
            subprocess.Popen([*command, f"w{number:02}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for number in range(writers)
        ]
        for one in running:
            assert one.stdout is not None
            one.stdout.readline()  # it is ready
        began = time.perf_counter()
        for one in running:  # all of them before the first is waited for
            assert one.stdin is not None
            one.stdin.write(b"go\n")
            one.stdin.flush()
        for one in running:
            one.communicate()
        took = time.perf_counter() - began
        assert all(one.returncode == 0 for one in running)
        assert store.count_partitions("bench", "added") == writers * _BATCHES * size
        store.drop_table("bench", "added")
    return writers * _BATCHES * size / took


def _write(url: str, size: int, region: str) -> None:
    with connect(url) as store:
        store.table_names("bench")
        print("ready", flush=True)
        sys.stdin.readline()
        for batch in range(_BATCHES):
            store.add_partitions(
                "bench",
                "added",
                [Partition((f"d{batch}", str(hour), region), parameters=_PARAMETERS) for hour in range(size)],
            )


if __name__ == "__main__":
    _write(sys.argv[1], int(sys.argv[2]), sys.argv[3])
