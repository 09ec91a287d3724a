"""What a server runs on: its Spark, its disks and its versions."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.installed import java_version, spark_version
from hbstore.query_service.observing import SparkState
from hbstore.query_service.query import QueryProblem
from hbstore.query_service.runner import Runner
from hbstore.release import versions
from hbstore.warehouse.health import LITTLE_ROOM
from hbstore.warehouse.metrics import DiskUsage, disk_usages, file_sizes
from hbstore.warehouse.service import Service

_SPARK: Final[Mapping[SparkState, str]] = {
    SparkState.ABSENT: "No Spark runs: it starts when a query comes.",
    SparkState.STARTING: "Spark starts.",
    SparkState.RUNNING: "Spark runs.",
    SparkState.FAILED: "Spark did not start: the next query is another attempt.",
}


@dataclass(frozen=True, slots=True)
class SparkNow:
    """How the Spark of a server is.

    Attributes:
        state: how it is.
        text: the same in words.
        problem: why it did not start last; None: it did, or was not asked to.
    """

    state: SparkState
    text: str
    problem: QueryProblem | None

    @staticmethod
    def of(runner: Runner) -> SparkNow:
        """That of the server of a runner, as it says itself."""
        problem = None if runner.problem is None else QueryProblem.of(runner.problem)
        return SparkNow(runner.state, _SPARK[runner.state], problem)


@dataclass(frozen=True, slots=True)
class Disks:
    """The room that a server has.

    Attributes:
        usages: of the disks of this machine that fill up.
        files: bytes of the store's files; nothing where it is in none.
    """

    usages: Sequence[DiskUsage]
    files: Mapping[str, int]

    @staticmethod
    def of(catalog: Service) -> Disks:
        """Those of a server. A look at each of five paths at most."""
        return Disks(disk_usages(catalog.store, catalog.warehouse), file_sizes(catalog.store))

    @property
    def tightest(self) -> DiskUsage | None:
        """The disk with the fewest free bytes; None: there is none to look at."""
        return min(self.usages, key=lambda usage: usage.free, default=None)

    @staticmethod
    def is_short(usage: DiskUsage) -> bool:
        """Whether a disk has so little room that it is a problem of the server's health."""
        return usage.free < LITTLE_ROOM


def server_facts(catalog: Service) -> dict[str, str | None]:
    """What a server is and which versions it runs on; None: it is not known, or not installed."""
    return {
        **versions(),
        "PySpark": spark_version(),
        "Java": java_version(),
        "system": f"{platform.system()} {platform.release()}",
        "process": f"{os.getpid()} on {socket.gethostname()}",
        "store": catalog.store.rows.url,
        "warehouse": catalog.warehouse.root,
    }
