"""The servers that are compared: hbstore's endpoint on SQLite and on HBase, and a real Hive Metastore."""

from __future__ import annotations

import importlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import happybase

ROOT = Path(__file__).parents[2]
START_SECONDS = 60
STOP_SECONDS = 30
_AS_SENT = {"metastore.metadata.transformer.class": " "}
"""Tables stay as clients send them, as in a Hive Metastore 2.3 and in hbstore."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server.

    Attributes:
        name: in the table.
        port: on this machine.
        pid: its process.
        warehouse: a URI.
        version: of what it is made.
        postgres: what can fill it by SQL.
    """

    name: str
    port: int
    pid: int
    warehouse: str
    version: str = ""
    postgres: Any = None


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that goes away with all that is in it; other users may pass through it, as PostgreSQL's has to."""
    folder = Path(tempfile.mkdtemp(prefix="hbstore-bench-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def hive_metastore(folder: Path, database: str, release: str = "2.3") -> Iterator[Server]:
    """A Hive Metastore of dev/hms in a folder, of a release, on PostgreSQL or Derby."""
    more: dict[str, Any] = (
        {} if release == "2.3" else {"settings": _AS_SENT, "jars": [_of_dev("hive_jars").planner(release)]}
    )
    hms = _of_dev("dev_hms").DevHms(folder / "hms", database=database, guarded=True, release=release, **more)
    try:
        hms.start()
        pid = hms.processes["metastore"].pid
        yield Server("Hive Metastore", hms.port, pid, hms.warehouse, hms.version(), hms.postgres)
    finally:
        hms.remove()


def _of_dev(name: str) -> Any:
    """A module of dev/hms or dev/hive, which are no packages."""
    folders = [str(ROOT / "dev" / folder) for folder in ("hms", "hive")]
    sys.path += folders
    try:
        return importlib.import_module(name)
    finally:
        for folder in folders:
            sys.path.remove(folder)


@contextmanager
def hbstore(folder: Path, name: str, store: str) -> Iterator[Server]:
    """`hbstore serve` over a store, as a process of its own."""
    warehouse = folder / f"{name}-warehouse"
    warehouse.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / f"{name}.log").open("wb") as log:
        options = ["--store", store, "--host", "127.0.0.1", "--port", str(port), "--warehouse", str(warehouse)]
        process = subprocess.Popen([sys.executable, "-m", "hbstore", "serve", *options], stdout=log, stderr=log)
        try:
            _wait(process, port, folder / f"{name}.log")
            yield Server(f"hbstore on {name}", port, process.pid, f"file:{warehouse}", f"hbstore {version('hbstore')}")
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def hbstore_on(kind: str, folder: Path) -> Iterator[Server]:
    """hbstore's endpoint on SQLite or on HBase, with an empty store."""
    with ExitStack() as stack:
        store = f"sqlite://{folder / 'catalog.db'}" if kind == "SQLite" else stack.enter_context(_hbase_store())
        yield stack.enter_context(hbstore(folder, kind, store))


@contextmanager
def _hbase_store() -> Iterator[str]:
    """A store URL with a prefix of its own on the HBase of HBSTORE_TEST_HBASE; without one, on one of dev/hbase."""
    given = os.environ.get("HBSTORE_TEST_HBASE")
    program = [sys.executable, str(ROOT / "dev" / "hbase" / "server.py")]
    instance = ["--name", "bench-metastore"]
    if given is None:
        started = subprocess.run([*program, "up", *instance], check=True, capture_output=True, text=True)
        given = started.stdout.split()[-1]
    prefix = f"bench_{uuid.uuid4().hex[:8]}"
    parts = urlsplit(given)
    try:
        yield f"hbase://{parts.hostname}:{parts.port}/{prefix}"
    finally:
        raw = happybase.Connection(parts.hostname, parts.port, timeout=60_000)
        for name in raw.tables():
            if name.startswith(prefix.encode()):
                raw.delete_table(name, disable=True)
        raw.close()
        if "HBSTORE_TEST_HBASE" not in os.environ:
            subprocess.run([*program, "down", *instance], check=True, capture_output=True)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"`hbstore serve` did not start:\n{log.read_text()}") from None
            time.sleep(0.1)
        else:
            return
