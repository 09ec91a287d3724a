"""The two servers of SQL: `hbstore serve --sql-port`, and Spark's own Thrift server on the metastore of the first."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyspark

ROOT: Final = Path(__file__).parents[2]
MASTER: Final = "local[2]"
CLASS: Final = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
START_SECONDS: Final = 120
STOP_SECONDS: Final = 30
SETTINGS: Final = {
    "spark.driver.memory": "3g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
}
"""What both Sparks are told."""
_OF_THRIFT: Final = {
    "spark.log.level": "ERROR",
    "spark.scheduler.mode": "FAIR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""What hbstore tells its own Spark, too."""


@contextmanager
def hbstore_serve(folder: Path, *options: str) -> Iterator[dict[str, Any]]:
    """`hbstore serve` as a process; what it says when it is ready."""
    command = [sys.executable, "-m", "hbstore", "--store", f"sqlite://{folder / 'catalog.db'}", "serve", "--json"]
    command += ["--port", "0", "--warehouse", str(folder / "warehouse"), "--log-file", str(folder / "serve.log")]
    with subprocess.Popen([*command, *options], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline()
            if not ready:
                raise SystemExit("hbstore serve did not start")
            yield json.loads(ready)
        finally:
            _end(process)


def sql_options(folder: Path) -> list[str]:
    """Of `hbstore serve`: the SQL port, and the Spark behind it."""
    options = ["--sql-port", "0", "--results", str(folder / "results"), "--spark-master", MASTER]
    options += ["--max-running", "16", "--max-running-of-user", "16"]
    return [*options, *(word for name, value in SETTINGS.items() for word in ("--spark-conf", f"{name}={value}"))]


@contextmanager
def spark_thrift_server(folder: Path, metastore: str) -> Iterator[str]:
    """Spark's own server; its URL for JDBC."""
    home = Path(pyspark.__file__).parent
    port = _free_port()
    conf = {
        **_OF_THRIFT,
        **SETTINGS,
        "spark.local.dir": str(folder),
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": metastore,
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
    }
    command = [str(home / "bin" / "spark-submit"), "--master", MASTER, "--class", CLASS]
    command += [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    command += ["spark-internal", "--hiveconf", f"hive.server2.thrift.port={port}"]
    command += ["--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1"]
    environment = {**os.environ, "SPARK_HOME": str(home)}
    with (
        (folder / "thrift-server.log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as process,
    ):
        try:
            _wait_for(port, process)
            yield f"jdbc:hive2://127.0.0.1:{port}"
        finally:
            _end(process)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit("Spark's Thrift server did not start")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
