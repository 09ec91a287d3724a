"""Registering partitions in a store by a Spark job: each task opens the store itself and adds its rows in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from pyspark import TaskContext
from pyspark.sql import DataFrame, Row

from hbstore.errors import HbstoreError, InvalidInput, InvalidPartitionValue, hinting, portable
from hbstore.keys.partition_names import table_name
from hbstore.model.objects import Partition
from hbstore.rows.urls import shared_url
from hbstore.spark.arguments import check_arguments
from hbstore.spark.columns import as_texts
from hbstore.store.partition_store import PartitionStore, connect
from hbstore.store.writer import partitioned


def register_partitions(
    partitions: DataFrame, url: str, table: str, *, batch: int = 1000, if_not_exists: bool = True
) -> int:
    """Add a DataFrame's rows to a table as partitions, in parallel: one task for each of the DataFrame's partitions.

    Every batch is added wholly or not at all. The job as a whole is not: when it fails, what was added before stays,
    and calling it again adds the rest. Tasks that Spark runs again find their partitions there and go on. A machine
    that runs tasks must have hbstore installed and must reach the store; for SQLite it is the machine of the file.

    Args:
        partitions: a column for each partition column, of whatever type (NULL and the empty text are the null
            partition, as in the folders that Hive and Spark write); optionally ``location`` (text) and ``parameters``
            (a map of texts). Order and case of the columns do not matter.
        url: the store's URL.
        table: ``database.table``.
        batch: how many partitions are added at once.
        if_not_exists: pass over partitions that are there already.

    Returns:
        How many were added; those that a task had added before Spark ran it again are not counted.

    Raises:
        InvalidUrl: ``memory://``, which tasks cannot share.
        InvalidInput: an argument is of another type; a column is missing, unknown, or of a type that has no text, such
            as a struct.
        TableNotFound, DatabaseNotFound, TableNotPartitioned: there is no such table to add to.
        AlreadyExists: a partition is there already, unless ``if_not_exists``.
        InvalidPartitionValue: a value does not fit its column's type.
        StoreUnavailable: the store does not answer.

    >>> more = spark.createDataFrame([("2013-01-09", 0), ("2013-01-09", 1)], "ds string, hour int")
    >>> register_partitions(more, url, "shop.sales")
    2
    """
    check_arguments(partitions=partitions, url=url, table=table, batch=batch, if_not_exists=if_not_exists)
    database, name = table_name(table)
    if batch < 1:
        raise InvalidInput(
            "a batch must hold at least one partition", batch=batch, hint="Use batch=1000, or leave it out"
        )
    shared = shared_url(url)
    with connect(shared) as store:
        made = partitioned(store.get_table(database, name))
    task = Registering(shared, database, name, batch, if_not_exists)
    return raise_first(as_texts(partitions, made.partition_column_names).rdd.mapPartitions(task.run).collect())


class TaskOutcome(NamedTuple):
    """What a task gives back: how many partitions it added, and the error that stopped it."""

    added: int
    error: HbstoreError | None = None


def raise_first(outcomes: Sequence[TaskOutcome]) -> int:
    """How many partitions the tasks added; the first error that stopped one is raised, and says that number as well."""
    added = sum(outcome.added for outcome in outcomes)
    for outcome in outcomes:
        if outcome.error is not None:
            outcome.error.fields["added_all_the_same"] = added
            raise outcome.error
    return added


@dataclass(frozen=True, slots=True)
class Registering:
    """What every task is sent, which adds partitions in batches.

    Attributes:
        url: the store's, as tasks open it.
        database: the database's name.
        table: the table's name.
        batch: how many partitions are added at once.
        if_not_exists: pass over partitions that are there already.
    """

    url: str
    database: str
    table: str
    batch: int
    if_not_exists: bool

    def run(self, rows: Iterable[Row]) -> Iterator[TaskOutcome]:
        """Add one task's rows: the values' texts, the location, the parameters."""
        yield self.add(map(_partition, rows))

    def add(self, partitions: Iterator[Partition]) -> TaskOutcome:
        """Add one task's partitions.

        An error of hbstore comes back as a value: raised, Spark would run the task again, in vain, and then show it in
        the midst of its own. Other failures, such as a machine that is gone, are left to Spark.
        """
        context = TaskContext.get()
        again = context is not None and context.attemptNumber() > 0
        added = 0
        try:
            with connect(self.url) as store:
                while some := list(islice(partitions, self.batch)):
                    added += self._add(store, some, again=again)
        except HbstoreError as error:
            return TaskOutcome(added, portable(error))
        return TaskOutcome(added)

    def _add(self, store: PartitionStore, some: list[Partition], *, again: bool) -> int:
        if again and not self.if_not_exists:
            there = store.get_partitions(self.database, self.table, [one.values for one in some])
            some = _without_those_of_an_earlier_attempt(some, there)
        with hinting(
            InvalidPartitionValue,
            "Correct the partition, or leave it out. Then register the other partitions with if_not_exists",
        ):
            return store.add_partitions(self.database, self.table, some, self.if_not_exists)


def _partition(row: Row) -> Partition:
    *values, location, parameters = row
    return Partition([value or None for value in values], location=location, parameters=parameters or {})


def _without_those_of_an_earlier_attempt(some: Sequence[Partition], there: Sequence[Partition]) -> list[Partition]:
    """Those that still have to be added; where another writer added a different one, it stays, and is an error."""
    known = {one.values: one for one in there}
    return [one for one in some if not _is_stored_as(one, known.get(one.values))]


def _is_stored_as(given: Partition, stored: Partition | None) -> bool:
    return (
        stored is not None
        and stored.location == (given.location or stored.location)
        and stored.parameters == given.parameters
    )
