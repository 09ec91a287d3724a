"""A Spark in this process that says nothing, and leaves no process behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from hbstore.spark.starting import start_spark

CORES = 2
STOP_SECONDS = 20
SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",  # so that the plan that is shown is the one that ran
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": str(CORES),
    "spark.driver.memory": "1g",
}


@contextmanager
def local_spark(name: str, log: Path, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session on two cores; what Spark and Java have to say goes into the log file."""
    own = {"spark.master": f"local[{CORES}]", "spark.app.name": name}
    with _stderr_into(log):  # Java inherits it and keeps it; for Python it is only for now
        spark = start_spark({**own, **SETTINGS, **settings})
    try:
        spark.sparkContext.setLogLevel("ERROR")
        yield spark
    finally:
        spark.stop()
        _end_java()


def _end_java() -> None:
    """Spark's Java would end with Python, a moment later; whoever looks at once should find nothing."""
    gateway = SparkContext._gateway  # noqa: SLF001  there is no public way to it
    java: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if gateway is None or java is None:
        return
    gateway.shutdown()
    if java.stdin is not None:
        java.stdin.close()  # the sign to end
    try:
        java.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        java.kill()
        java.wait()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001  so that another session can be made


@contextmanager
def _stderr_into(log: Path) -> Iterator[None]:
    sys.stderr.flush()
    kept = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
