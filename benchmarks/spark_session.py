"""A Spark in this process, with a Java of its own that is gone afterwards, and the metastore that is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

STOP_SECONDS = 30


@contextmanager
def spark_session(master: str, folder: Path, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Spark, one at a time; ``master`` as Spark has it, such as ``local[2]``."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    given = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.local.dir": str(folder),
        **settings,
    }
    builder = SparkSession.builder.master(master).appName("hbstore")
    for name, value in given.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()
        _end_java()


def endpoint_settings(port: int, warehouse: str) -> dict[str, str]:
    """Of a Spark whose metastore is hbstore's endpoint on this machine."""
    return {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": f"thrift://127.0.0.1:{port}",
        "spark.sql.warehouse.dir": warehouse,
    }


def derby_settings(folder: Path) -> dict[str, str]:
    """Of a Spark with a Hive Metastore in an embedded Derby, as it comes with Spark."""
    return {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/derby;create=true",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
    }


def _end_java() -> None:
    """Java would end with Python, a moment later, and the next session of this process would have its settings."""
    gateway: Any = SparkContext._gateway  # noqa: SLF001  there is no public way to it
    gateway.shutdown()
    gateway.proc.stdin.close()  # the sign to end
    try:
        gateway.proc.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
