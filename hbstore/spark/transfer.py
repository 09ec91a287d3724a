"""Copying from and to a Hive Metastore by Spark jobs: the pages of partitions are dealt out to tasks.

Each task opens the store and a connection to the metastore of its own. The driver lists names, tables and databases.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark import Accumulator, InheritableThread
from pyspark.sql import SparkSession

from hbstore.errors import HbstoreError
from hbstore.spark.shared_url import shared_url
from hbstore.store.partition_store import PartitionStore, connect
from hbstore.transfer import Transfer
from hbstore.transfer import export_metastore as export_with
from hbstore.transfer import import_metastore as import_with
from hbstore.transfer.connection import Address
from hbstore.transfer.work import Outcome, Page, Told, Work, each_page, portable

_TASKS_FOR_EACH_CORE: Final = 4
"""Pages take as long as they happen to, and progress is told when a task ends: several for each core."""

_EVERY: Final = 0.2
"""Seconds between two looks at how far the tasks are."""


def import_metastore(spark: SparkSession, url: str, uri: str, **options: Any) -> Transfer:
    """As `hbstore.transfer.import_metastore`, with the partitions copied by tasks.

    A machine that runs tasks must have hbstore installed, and must reach the store and the metastore.

    Args:
        spark: where the job runs.
        url: the store's URL.
        uri: the metastore, as ``thrift://host:9083``.
        **options: as there, but for ``threads`` and ``workers``.

    Raises:
        InvalidUrl: ``memory://``, which tasks cannot share; or as `hbstore.transfer.import_metastore` does.
    """
    shared = shared_url(url)
    address = Address.of(uri)
    with connect(shared) as store:
        return import_with(store, uri, workers=lambda kind: SparkTasks(lambda: spark, shared, address, kind), **options)


def export_metastore(spark: SparkSession, url: str, uri: str, **options: Any) -> Transfer:
    """As `hbstore.transfer.export_metastore`, with the partitions copied by tasks.

    Args:
        spark: where the job runs.
        url: the store's URL.
        uri: the metastore, as ``thrift://host:9083``.
        **options: as there, but for ``threads`` and ``workers``.

    Raises:
        InvalidUrl: ``memory://``, which tasks cannot share; or as `hbstore.transfer.export_metastore` does.
    """
    shared = shared_url(url)
    address = Address.of(uri)
    with connect(shared, create=False) as store:
        return export_with(store, uri, workers=lambda kind: SparkTasks(lambda: spark, shared, address, kind), **options)


@dataclass(frozen=True, slots=True)
class SparkTasks:
    """`Workers` that are tasks of Spark.

    Attributes:
        session: gives the session; it is asked when there is something to do.
        url: the store's, as tasks open it.
        address: the metastore.
        by_requests: of which kind it is.
    """

    session: Callable[[], SparkSession]
    url: str
    address: Address
    by_requests: bool

    def run(self, work: Work, pages: Sequence[Page], told: Told) -> Outcome:
        """See `Workers.run`."""
        if not pages:
            return Outcome()
        context = self.session().sparkContext
        number = min(len(pages), _TASKS_FOR_EACH_CORE * context.defaultParallelism)
        done = context.accumulator(0)
        task = _Task(work, self.url, self.address, self.by_requests, done)
        # Neighbours go to one task, as they are in one place in the store.
        job = context.parallelize(list(pages), number).mapPartitions(task)
        outcomes: list[Outcome] = []
        failures: list[BaseException] = []

        def collect() -> None:
            try:
                outcomes.extend(job.collect())
            except BaseException as error:  # noqa: BLE001  it is raised by the thread that waits
                failures.append(error)

        thread = InheritableThread(target=collect, name="hbstore-transfer", daemon=True)
        _wait(thread, done, told)
        if failures:
            raise failures[0]
        return sum(outcomes, Outcome())


def _wait(thread: threading.Thread, done: Accumulator[int], told: Told) -> None:
    """Let a thread come to its end, and tell how far the tasks are."""
    known = 0
    thread.start()
    while True:
        thread.join(_EVERY)
        over = not thread.is_alive()
        number = done.value
        if number > known:
            told(number - known)
            known = number
        if over:
            return


@dataclass(frozen=True, slots=True)
class _Task:
    """Does work with its pages; an error is a value, as Spark would run it again and show it in the midst of its own.

    Attributes:
        work: what is done.
        url: the store's.
        address: the metastore.
        by_requests: of which kind it is.
        done: counts partitions.
    """

    work: Work
    url: str
    address: Address
    by_requests: bool
    done: Accumulator[int]

    def __call__(self, pages: Iterable[Page]) -> Iterator[Outcome]:
        found = Outcome()
        try:
            with connect(self.url, create=False) as store:
                found = self._served(store, iter(pages))
        except HbstoreError as error:
            found += Outcome(error=portable(error))
        yield found

    def _served(self, store: PartitionStore, pages: Iterator[Page]) -> Outcome:
        found = Outcome()
        for outcome, number in each_page(self.work, store, self.address, pages, by_requests=self.by_requests):
            found += outcome
            self.done.add(number)
            if found.error is not None or found.conflicts:
                break
        return found
