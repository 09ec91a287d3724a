"""`hbstore serve` in a process of its own, and what it logs."""

from __future__ import annotations

import json
import re
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
_ADDRESS: Final = re.compile(r"thrift://[^\s,]+")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running server.

    Attributes:
        store: its store's URL.
        uri: where it answers, ``thrift://127.0.0.1:port``.
        warehouse: the folder of databases and tables.
        calls: its log of calls, a JSON document in each line.
    """

    store: str
    uri: str
    warehouse: Path
    calls: Path

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
def serving(store: str, warehouse: Path, log: Path) -> Iterator[Endpoint]:
    """Start a server on a free port, and end it in the end."""
    log.write_bytes(b"")
    hbstore.connect(store).close()  # else the server says that it created it
    command = [sys.executable, "-m", "hbstore", "--store", store, "serve", "--port", "0"]
    command += ["--warehouse", str(warehouse), "--log-calls", "--log-file", str(log)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
        try:
            assert server.stdout is not None
            ready = server.stdout.readline()
            address = _ADDRESS.search(ready)
            if address is None:
                raise SystemExit(f"hbstore serve did not start: {ready}")
            yield Endpoint(store, address[0], warehouse, log)
        finally:
            server.terminate()
            try:
                server.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
