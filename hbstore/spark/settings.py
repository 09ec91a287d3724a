"""A session's settings, changed for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def changed_setting(spark: SparkSession, name: str, value: str | int) -> Iterator[None]:
    """Set one setting of a session, and put it back afterwards, or take it away where there was none."""
    before = spark.conf.get(name, None)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.unset(name) if before is None else spark.conf.set(name, before)
