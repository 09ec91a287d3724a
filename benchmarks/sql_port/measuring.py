"""The figures: one statement, a million rows, sixteen clients, and the metastore beside them."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final
from urllib.parse import urlsplit

from pyhive import hive

from benchmarks.metastore.calls import message
from benchmarks.metastore.client import Client
from benchmarks.metastore.servers import ROOT, scratch
from benchmarks.sql_port.servers import hbstore_serve, spark_thrift_server, sql_options
from benchmarks.timing import Figure, Report, seconds

RELEASES: Final = ("2.3", "3.1", "4.0")
ONE: Final = "SELECT 1"
ROWS: Final = 1_000_000
TABLE: Final = f"""\
CREATE TABLE bench.sold USING parquet AS
SELECT id, concat('customer ', pmod(hash(id), 1000000)) AS customer, rand(1) * 100 AS price,
  timestamp '2013-01-01' + make_interval(0, 0, 0, 0, 0, 0, id * 1.001) AS sold FROM range(0, {ROWS}, 1, 4)"""
ALL: Final = "SELECT * FROM bench.sold"
RUNS: Final = 50
ROWS_RUNS: Final = 2
CLIENTS: Final = 16
SECONDS: Final = 10
AIM: Final = "1.2"
DAYS: Final = 365
PARTITIONED: Final = f"""\
INSERT INTO bench.days PARTITION (ds) SELECT id, string(date_add(date '2013-01-01', int(id))) FROM range({DAYS})"""


def run() -> Iterator[Report]:
    """The tables."""
    with scratch() as folder, hbstore_serve(folder, *sql_options(folder)) as ready:
        with spark_thrift_server(folder, ready["uri"]) as reference:
            urls = [ready["sql"], reference]
            _fill(reference)
            yield _latency(folder, urls)
            yield _rows(folder, urls)
            yield _clients(folder, urls)
        yield _metastore(folder, ready["uri"], ready["sql"])


def _fill(url: str) -> None:
    settings = {"hive.exec.dynamic.partition.mode": "nonstrict"}
    with _connected(url) as cursor:
        for name, value in settings.items():
            cursor.execute(f"SET {name} = {value}")
        cursor.execute("CREATE DATABASE bench")
        cursor.execute(TABLE)
        cursor.execute("CREATE TABLE bench.days (id BIGINT) PARTITIONED BY (ds STRING) STORED AS parquet")
        cursor.execute(PARTITIONED)


def _latency(folder: Path, urls: Sequence[str]) -> Report:
    report = Report(f"{ONE} on one connection, {RUNS} times (raw: Spark's Thrift server)")
    for release in RELEASES:
        report.figures.append(_figure(f"JDBC {release}", drive(folder, release, "times", 10, RUNS, ONE, *urls)))
    report.figures.append(_figure("PyHive", _pyhive(urls, ONE, 1, 10, RUNS)))
    return report


def _rows(folder: Path, urls: Sequence[str]) -> Report:
    report = Report(f"{ROWS:,} rows of a bigint, a string, a double and a timestamp (raw: Spark's Thrift server)")
    for release in RELEASES:
        report.figures.append(_figure(f"JDBC {release}", drive(folder, release, "times", 5, ROWS_RUNS, ALL, *urls)))
    report.figures.append(_figure("PyHive", _pyhive(urls, ALL, ROWS, 0, ROWS_RUNS)))
    return report


def _clients(folder: Path, urls: Sequence[str]) -> Report:
    report = Report(f"{ONE} from {CLIENTS} clients at once, statements a second (raw: Spark's Thrift server)")
    for release in RELEASES:
        ours, reference = drive(folder, release, "clients", CLIENTS, SECONDS, ONE, *urls)
        report.rate(f"JDBC {release}", ours, reference, target="0.83")
    return report


def _metastore(folder: Path, metastore: str, url: str) -> Report:
    """The metastore's processes share nothing with the others but the machine."""
    report = Report("The metastore while queries run (raw: without them)")
    call = message(
        "get_partitions_by_filter", db_name="bench", tbl_name="days", filter="ds >= '2013-12-01'", max_parts=-1
    )
    client = Client(urlsplit(metastore).port or 0)
    client.ask(call)
    alone = median(seconds(client.ask, call) for _ in range(RUNS))
    for clients in (1, CLIENTS):
        command = _command(folder, "2.3", "clients", clients, SECONDS, ONE, url)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
            time.sleep(4)  # Java starts, and the first statements warm it up
            beside = median(seconds(client.ask, call) for _ in range(RUNS))
            driver.wait()
        name = f"get_partitions_by_filter, 31 of {DAYS} days, beside {clients} × {ONE}"
        report.figures.append(Figure(name, beside, alone, ""))
    client.close()
    return report


def _figure(name: str, times: Sequence[float]) -> Figure:
    ours, reference = times
    return Figure(name, ours, reference, AIM)


def drive(folder: Path, release: str, *words: object) -> list[float]:
    """What the program of Driver.java says with the driver of a release."""
    done = subprocess.run(_command(folder, release, *words), check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the driver {release} failed:\n{done.stderr[-3000:]}")
    return [float(line) for line in done.stdout.split()]


def _command(folder: Path, release: str, *words: object) -> list[str]:
    classes = folder / "classes"
    if not classes.exists():
        subprocess.run(["javac", "-d", str(classes), str(Path(__file__).parent / "Driver.java")], check=True)
    sys.path.append(str(ROOT / "dev" / "jdbc"))
    try:
        class_path = importlib.import_module("jdbc_jars").class_path
    finally:
        sys.path.remove(str(ROOT / "dev" / "jdbc"))
    jars = ":".join([str(classes), *class_path(release)])
    return ["java", "-Xmx1g", "-cp", jars, "Driver", *map(str, words)]


def _pyhive(urls: Sequence[str], text: str, rows: int, warm_up: int, runs: int) -> list[float]:
    """The median for each server, asked in turn."""
    cursors = [hive.connect(host="127.0.0.1", port=urlsplit(url[5:]).port, username="ann").cursor() for url in urls]
    times: list[list[float]] = [[] for _ in urls]

    def ask(cursor: hive.Cursor) -> None:
        cursor.execute(text)
        got = len(cursor.fetchall())
        assert got == rows

    for run in range(-warm_up, runs):
        for took, cursor in zip(times, cursors, strict=True):
            one = seconds(ask, cursor)
            if run >= 0:
                took.append(one)
    return [median(took) for took in times]


@contextmanager
def _connected(url: str) -> Iterator[hive.Cursor]:
    connection = hive.connect(host="127.0.0.1", port=urlsplit(url[5:]).port, username="ann")
    try:
        yield connection.cursor()
    finally:
        connection.close()
