"""A local Spark for the tests of this folder, and a table to register partitions in."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

import hbstore

ATTEMPTS = 3
STOP_SECONDS = 20


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Spark on two cores, which runs a failed task up to three times."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    place = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(place / "warehouse"),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        # Many short jobs: compiling well costs more than it gains, a third of the processor's time.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.local.dir": str(place),
    }
    builder = SparkSession.builder.master(f"local[2,{ATTEMPTS}]").appName("hbstore tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # tasks that fail on purpose fill the screen
    yield session
    session.stop()
    end_java()


def end_java():
    """Java ends with Python by itself, but a moment later, and would look like a process that was left behind."""
    gateway = SparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None


@pytest.fixture
def url(tmp_path):
    """The URL of a new SQLite store."""
    return f"sqlite://{tmp_path / 'catalog.db'}"


@pytest.fixture
def make_table(url):
    """Creates shop.sales with partition columns given as name="type"; gives the open store."""
    opened = []

    def make(at=url, **columns):
        store = hbstore.connect(at)
        opened.append(store)
        store.create_database("shop", if_not_exists=True)
        store.drop_table("shop", "sales", if_exists=True)
        partitioned = [hbstore.Column(name, kind) for name, kind in columns.items()]
        store.create_table(hbstore.Table("shop", "sales", partition_columns=partitioned, location="/warehouse/sales"))
        return store

    yield make
    for store in opened:
        store.close()
