"""Work done by Spark's tasks, whose errors come back as what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from pyspark.sql import SparkSession

from hbstore.errors import HbstoreError, InvalidInput, portable

T = TypeVar("T")
R = TypeVar("R")

_SLICES_FOR_EACH_CORE: Final = 4
"""Slices hold as much as they happen to: several for each core even that out."""


def number_of_slices(spark: SparkSession, wanted: int | None) -> int:
    """How many tasks a job has at most: as many as are wanted, or four for each core.

    Raises:
        InvalidInput: there are to be none.
    """
    if wanted is not None and wanted < 1:
        raise InvalidInput("a job must have at least one slice", slices=wanted, hint="Use slices=8, or leave it out")
    return wanted or _SLICES_FOR_EACH_CORE * spark.sparkContext.defaultParallelism


def dealt(work: Sequence[T], number: int) -> list[list[T]]:
    """Work dealt out one by one to at most so many tasks, as what stands together often takes alike long.

    >>> dealt("abcde", 2), dealt("ab", 3)
    ([['a', 'c', 'e'], ['b', 'd']], [['a'], ['b']])
    """
    return [list(work[at::number]) for at in range(min(number, len(work)))]


def run_tasks(spark: SparkSession, task: Callable[[T], R], work: Sequence[T]) -> list[R]:
    """What a function makes of each piece of work, in their order; each is a task of its own.

    Raises:
        HbstoreError: the first that the function raised. Its fields are texts, as the exception of a file system's
            library may not be pickled.
    """
    if not work:
        return []
    results = []
    for one in spark.sparkContext.parallelize(work, len(work)).map(_Caught(task)).collect():
        if isinstance(one, HbstoreError):
            raise one
        results.append(one)
    return results


@dataclass(frozen=True, slots=True)
class _Caught(Generic[T, R]):
    """A function that gives an error as a value: raised, Spark would run it again, and show it amidst its own."""

    task: Callable[[T], R]

    def __call__(self, work: T) -> R | HbstoreError:
        try:
            return self.task(work)
        except HbstoreError as error:
            return portable(error)
