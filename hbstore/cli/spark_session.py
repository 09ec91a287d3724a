"""The Spark session of a command that reads or lists files by Spark jobs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hbstore.errors import InvalidInput

if TYPE_CHECKING:  # imported when a command needs it: help does not
    from pyspark.sql import SparkSession


@contextmanager
def spark_session(name: str) -> Iterator[SparkSession]:
    """A session as the machine's configuration has it: spark-defaults.conf, SPARK_REMOTE, PYSPARK_SUBMIT_ARGS.

    Args:
        name: what Spark shows of the job.

    Raises:
        InvalidInput: pyspark is not installed, or Spark does not start.
    """
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise InvalidInput("pyspark is not installed", reason=str(error), hint="pip install 'hbstore[spark]'") from None
    builder = SparkSession.builder.appName(name).config("spark.ui.showConsoleProgress", "false")
    try:
        session = builder.getOrCreate()
    except PySparkException as error:
        raise InvalidInput("Spark does not start", reason=first_line(error), hint="It needs Java 17") from error
    try:
        if "SPARK_REMOTE" not in os.environ and "PYSPARK_PYTHON" not in os.environ:
            context = session.sparkContext
            if str(context.master).startswith("local"):
                context.pythonExec = sys.executable  # which has hbstore, as python3 may not
        yield session
    finally:
        session.stop()


def first_line(error: Exception) -> str:
    """What an error of Spark says, without where in Java it was."""
    return str(error).partition("\n")[0]
