"""What Prometheus may ask of a store, of the machine under it, and of the health of a server: numbers to be looked for.

Each function here is a look of `hbstore.servers.watching.Watch`. Kinds and states are labels that always have a series,
so that an alert can wait for a 1.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from hbstore.files.locations import LOCAL, parse_location
from hbstore.files.warehouse import Warehouse
from hbstore.model.service_objects import LockState
from hbstore.rows.sqlite.file import parse_sqlite_url
from hbstore.rows.urls import parse_url
from hbstore.store.counts import store_counts
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.health import Health

SPARK_STATE: Final = "hbstore_spark_state"
"""The gauge by which the process that takes queries says how its Spark is; its label is the state."""

PROBLEMS: Final = ("store", "warehouse", "disk", "clock", "processes")
"""The kinds of problems that a server has; what is wrong with Spark, `SPARK_STATE` says."""

_OWN: Final = "hbstore-"
"""What the names of temporary files and folders begin with."""


def look_at_store(store: PartitionStore) -> Iterator[Metric]:
    """What the store holds, by the numbers that its tables keep, and its locks. O(tables and locks)."""
    counts = store_counts(store.rows, time.time())
    yield GaugeMetricFamily("hbstore_store_tables", "Tables of the store.", counts.tables)
    yield GaugeMetricFamily("hbstore_store_partitions", "Partitions of all tables.", counts.partitions)
    yield _by(
        "hbstore_store_publications",
        "Publications that are not finished: leased, decided, or overdue, as their jobs died.",
        "state",
        {"leased": counts.leased, "decided": counts.decided, "overdue": counts.overdue},
    )
    locks = store.hive.locks.show()
    held = [lock.acquired / 1000 for lock in locks if lock.acquired is not None]
    waiting = sum(lock.state is LockState.WAITING for lock in locks)
    yield _by("hbstore_store_locks", "Locks of Hive's clients.", "state", {"held": len(held), "waiting": waiting})
    yield GaugeMetricFamily(
        "hbstore_store_oldest_lock_seconds",
        "Seconds for which the oldest lock has been held.",
        max(0.0, time.time() - min(held)) if held else 0.0,
    )


def look_at_machine(store: PartitionStore, warehouse: Warehouse, pids: Callable[[], Iterable[int]]) -> Iterator[Metric]:
    """Bytes of the store's files, room on disks, threads, and temporary files. O(temporary files)."""
    sizes = file_sizes(store)
    if sizes:
        yield _by("hbstore_store_file_bytes", "Bytes of the store's files.", "file", sizes)
    disks = disk_usages(store, warehouse)
    free = {disk.place: disk.free for disk in disks}
    yield _by("hbstore_disk_free_bytes", "Free bytes of the disk that has a folder.", "folder", free)
    total = {disk.place: disk.size for disk in disks}
    yield _by("hbstore_disk_size_bytes", "Bytes of the disk that has a folder.", "folder", total)
    threads = [_threads(pid) for pid in pids()]
    if any(threads):
        yield GaugeMetricFamily("hbstore_server_threads", "Threads of the server's processes.", sum(threads))
    yield GaugeMetricFamily(
        "hbstore_temporary_bytes",
        "Bytes of the temporary files of all hbstore servers of this machine, also of those that died.",
        sum(map(_bytes_below, Path(tempfile.gettempdir()).glob(f"{_OWN}*"))),
    )


def look_at_health(health: Callable[[], Health]) -> Iterator[Metric]:
    """Whether the server is ready, and which problems it has."""
    now = health()
    yield GaugeMetricFamily("hbstore_server_ready", "1 if the server can use its store, and serves.", int(now.ready))
    problems = {kind: int(kind in now.problems) for kind in PROBLEMS}
    yield _by("hbstore_server_problems", "1 for what is wrong.", "kind", problems)


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """How full the disk of a folder is.

    Attributes:
        place: what the folder is for: ``store``, ``warehouse`` or ``temporary``.
        folder: its path.
        free: bytes that are free.
        size: all bytes.
    """

    place: str
    folder: str
    free: int
    size: int


def disk_usages(store: PartitionStore, warehouse: Warehouse) -> list[DiskUsage]:
    """The disks of this machine that fill up. A look at each of three folders at most."""
    usages = []
    for place, folder in _local_folders(_file_of(store), warehouse).items():
        if folder.exists():  # the warehouse is made with the first table
            usage = shutil.disk_usage(folder)
            usages.append(DiskUsage(place, str(folder), usage.free, usage.total))
    return usages


def file_sizes(store: PartitionStore) -> dict[str, int]:
    """Bytes of the store's files: ``store`` and ``wal``; nothing where it is in none. Two looks."""
    file = _file_of(store)
    if file is None:
        return {}
    wal = file.with_name(f"{file.name}-wal")
    return {"store": file.stat().st_size, "wal": wal.stat().st_size if wal.exists() else 0}


def _by(name: str, text: str, label: str, values: dict[str, int]) -> Metric:
    """A gauge with a series for each value of a label."""
    gauge = GaugeMetricFamily(name, text, labels=[label])
    for value, number in values.items():
        gauge.add_metric([value], number)
    return gauge


def _file_of(store: PartitionStore) -> Path | None:
    """The store's file; None where it is in none."""
    url = parse_url(store.rows.url)
    return Path(parse_sqlite_url(url).path).absolute() if url.scheme == "sqlite" else None


def _local_folders(file: Path | None, warehouse: Warehouse) -> dict[str, Path]:
    """The folders of this machine that fill up."""
    folders = {"temporary": Path(tempfile.gettempdir())}
    if file is not None:
        folders["store"] = file.parent
    root = parse_location(warehouse.root)
    if root.scheme == LOCAL:
        folders["warehouse"] = Path(root.path)
    return folders


def _threads(pid: int) -> int:
    """The threads of a process; 0 where it is gone, and where the system does not say."""
    try:
        return len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208  names are enough
    except OSError:
        return 0


def _bytes_below(path: Path) -> int:
    """The bytes of a file, or of all files in a folder; what vanishes or is another user's counts as nothing."""
    try:
        if path.is_dir() and not path.is_symlink():
            return sum(map(_bytes_below, path.iterdir()))
        return path.lstat().st_size
    except OSError:
        return 0
