"""Copying from and to a Hive Metastore by Spark jobs: the pages of partitions are dealt out to tasks.

Each task opens the store and a connection to the metastore of its own. The driver lists names, tables and databases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Final

from pyspark import Accumulator, inheritable_thread_target
from pyspark.sql import SparkSession

from hbstore.errors import HbstoreError, portable
from hbstore.spark.arguments import check_arguments
from hbstore.spark.opening import opened
from hbstore.spark.shared_url import shared_url
from hbstore.spark.tasks import number_of_slices
from hbstore.store.partition_store import PartitionStore, connect
from hbstore.transfer import Transfer
from hbstore.transfer import export_metastore as export_with
from hbstore.transfer import import_metastore as import_with
from hbstore.transfer.connection import Address
from hbstore.transfer.work import MakeWorkers, Outcome, Page, Told, Work, each_page

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

    The ``uri`` of this example is that of a metastore whose database web has one table, visits:

    >>> done = import_metastore(spark, url, uri, database="web", page=10)
    >>> done.is_complete, store.table("web.visits").count()
    (True, 31)
    """
    check_arguments(spark=spark, url=url, uri=uri)
    workers = spark_workers(lambda: spark, url, uri)
    with connect(url) as store:
        return import_with(store, uri, workers=workers, **options)


def export_metastore(spark: SparkSession, url: str, uri: str, **options: Any) -> Transfer:
    """As `hbstore.transfer.export_metastore`, with the partitions copied by tasks.

    Args:
        spark: where the job runs.
        url: the store's URL.
        uri: the metastore, as ``thrift://host:9083``.
        **options: as there, but for ``threads`` and ``workers``.

    Raises:
        InvalidUrl: ``memory://``, which tasks cannot share; or as `hbstore.transfer.export_metastore` does.

    The ``uri`` of this example is that of a metastore:

    >>> done = export_metastore(spark, url, uri, database="shop", table="sales", page=1)
    >>> done.is_complete, done.tables
    (True, (<TableTransfer of shop.sales: created, 3 partitions>,))
    """
    check_arguments(spark=spark, url=url, uri=uri)
    workers = spark_workers(lambda: spark, url, uri)
    with opened(url) as store:
        return export_with(store, uri, workers=workers, **options)


def spark_workers(session: Callable[[], SparkSession], url: str, uri: str) -> MakeWorkers:
    """Makes workers that are tasks of Spark.

    Args:
        session: gives the session; it is asked when there is something to do.
        url: the store's URL.
        uri: the metastore, as ``thrift://host:9083``.

    Raises:
        InvalidUrl: ``memory://``, which tasks cannot share, or no address of a metastore.
    """
    shared, address = shared_url(url), Address.of(uri)
    return lambda by_requests: SparkTasks(session, shared, address, by_requests)


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
        session = self.session()
        context, number = session.sparkContext, min(len(pages), number_of_slices(session, None))
        done = context.accumulator(0)
        task = _Task(work, self.url, self.address, self.by_requests, done)
        # Neighbours go to one task, as they are in one place in the store.
        job = context.parallelize(list(pages), number).mapPartitions(task)
        pool = ThreadPoolExecutor(1, "hbstore-transfer")
        try:
            collected = pool.submit(inheritable_thread_target(session)(job.collect))
            _tell(collected, done, told)
            return sum(collected.result(), Outcome())
        finally:
            pool.shutdown(wait=False)  # after an interrupt, as Spark cancels the job, the thread ends by itself


def _tell(job: Future[Any], done: Accumulator[int], told: Told) -> None:
    """Tell how far the tasks are until the job is over."""
    told_so_far, over = 0, False
    while not over:
        over = bool(wait([job], _EVERY).done)
        number = done.value
        if number > told_so_far:
            told(number - told_so_far)
            told_so_far = number


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
        outcome = Outcome()
        try:
            with connect(self.url, create=False) as store:
                outcome = self._served(store, iter(pages))
        except HbstoreError as error:
            outcome += Outcome(error=portable(error))
        yield outcome

    def _served(self, store: PartitionStore, pages: Iterator[Page]) -> Outcome:
        total = Outcome()
        for outcome, number in each_page(self.work, store, self.address, pages, by_requests=self.by_requests):
            total += outcome
            self.done.add(number)
            if total.error is not None or total.conflicts:
                break
        return total
