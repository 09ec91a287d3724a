"""A session's settings, changed for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def changed_setting(spark: SparkSession, name: str, value: str | int) -> Iterator[None]:
    """Set one setting of a session, and put it back afterwards, or take it away where there was none.

    Threads may do so at once with one value: the first puts back what was there before them all.
    """
    before = spark.conf.get(name, None)
    if before == str(value):
        yield
        return
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.unset(name) if before is None else spark.conf.set(name, before)
