"""DataFrames of rows that the driver has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType


def local_table(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A table of Arrow's as a DataFrame, which takes no job to read; the active session stays the active one."""
    with _active_kept(spark):
        return spark.createDataFrame(table)


def local_frame(spark: SparkSession, rows: Iterable[Any], schema: StructType | str) -> DataFrame:
    """Rows of Python's as a DataFrame; the active session stays the active one.

    Spark makes the session active in which it makes such a DataFrame. Formats are looked for in the active session, so
    that a user who has registered ``hbstore`` in another one could not write by it any more.
    """
    with _active_kept(spark):
        return spark.createDataFrame(list(rows), schema)


@contextmanager
def _active_kept(spark: SparkSession) -> Iterator[None]:
    """Put back which session is active, in Python and for this thread in Java; there is no public way to do so."""
    jvm: Any = getattr(spark, "_jvm", None)
    if jvm is None:  # Spark Connect has no Java here
        yield
        return
    sessions: Any = SparkSession._get_j_spark_session_class(jvm)  # noqa: SLF001
    active, python_session = sessions.getActiveSession(), SparkSession._activeSession  # noqa: SLF001
    try:
        yield
    finally:
        if active.isDefined():
            SparkSession._activeSession = python_session  # noqa: SLF001
            sessions.setActiveSession(active.get())
