"""`hbstore serve` in a process of its own, and what it logs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import hbstore

READY_SECONDS: Final = 30
STOP_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running server.

    Attributes:
        store: its store's URL.
        uri: where it answers, ``thrift://127.0.0.1:port``.
        warehouse: the folder of databases and tables.
        calls: its log of calls, a JSON document in each line.
        http: where it takes queries over HTTP, if it does.
        sql: where it takes statements of JDBC drivers, if it does.
    """

    store: str
    uri: str
    warehouse: Path
    calls: Path
    http: str = ""
    sql: str = ""

    @property
    def spark_settings(self) -> Mapping[str, str]:
        """What Spark must be told to use it; `hbstore spark-conf` prints these and some more."""
        return {
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.hive.metastore.uris": self.uri,
            "spark.sql.warehouse.dir": self.warehouse.as_uri(),
        }

    def calls_after(self, position: int) -> list[dict[str, Any]]:
        """The calls that were logged after a position in the log."""
        with self.calls.open("rb") as log:
            log.seek(position)
            return [json.loads(line) for line in log]

    def position(self) -> int:
        """Where the log ends now."""
        return self.calls.stat().st_size


@contextmanager
def serving(store: str, warehouse: Path, log: Path, *options: str) -> Iterator[Endpoint]:
    """Start a server on free ports, and end it in the end.

    Args:
        store: a URL.
        warehouse: the folder of databases and tables.
        log: the file of its calls; what its Spark says goes into a file beside it.
        options: more of the command line.
    """
    log.write_bytes(b"")
    hbstore.connect(store).close()  # else the server says that it created it
    command = [sys.executable, "-m", "hbstore", "--store", store, "serve", "--json", "--port", "0"]
    command += ["--warehouse", str(warehouse), "--log-calls", "--log-file", str(log), *options]
    with (
        log.with_suffix(".err").open("wb") as errors,
        subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as server,
    ):
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            if not line:
                raise SystemExit(f"hbstore serve did not start: {log.with_suffix('.err').read_text(encoding='utf-8')}")
            ready = json.loads(line)
            doors = {name: ready[name] for name in ("http", "sql") if ready.get(name)}
            yield Endpoint(store, ready["uri"], warehouse, log, **doors)
        finally:
            server.terminate()
            try:
                server.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
