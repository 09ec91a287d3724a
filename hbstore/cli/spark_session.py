"""The Spark session of a command that reads, lists or copies by Spark jobs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

from hbstore.errors import InvalidInput, MissingPackage, StoreUnavailable
from hbstore.installed import check_spark

if TYPE_CHECKING:  # imported when a command needs it: help does not
    from pyspark.sql import SparkSession

_REMOTE: Final = "SPARK_REMOTE"
_ZONE: Final = "TZ"


@contextmanager
def spark_session(name: str, *, otherwise: str | None = None, in_utc: bool = False) -> Iterator[SparkSession]:
    """A session as the machine's configuration has it: spark-defaults.conf and PYSPARK_SUBMIT_ARGS.

    Args:
        name: what Spark shows of the job.
        otherwise: how the command does without Spark, for hints.
        in_utc: whether its time zone, and that of its rows in Python, is that of hbstore's times, whatever the
            configuration says.

    Raises:
        MissingPackage: PySpark or Java is not installed, or too old.
        InvalidInput: Spark does not start, or is to be one of Spark Connect.
        StoreUnavailable: a job failed, which was run with the session.
    """
    if _REMOTE in os.environ:
        hint = _hint("Unset the variable; PYSPARK_SUBMIT_ARGS and spark-defaults.conf say where jobs run", otherwise)
        raise InvalidInput("this command does not work with Spark Connect", **{_REMOTE: os.environ[_REMOTE]}, hint=hint)
    try:
        check_spark("Spark")
    except MissingPackage as error:
        error.hint = _hint(error.hint or "", otherwise)
        raise
    from hbstore.spark.java_errors import JAVA_ERRORS, root_cause
    from hbstore.spark.starting import start_spark

    settings = {"spark.app.name": name, "spark.ui.showConsoleProgress": "false"}
    if in_utc:
        settings["spark.sql.session.timeZone"] = "UTC"
    with _python_in_utc() if in_utc else nullcontext():
        try:
            session = start_spark(settings)
        except JAVA_ERRORS as error:
            hint = _hint("Read Spark's messages above; it needs valid settings", otherwise)
            raise InvalidInput("Spark does not start", reason=root_cause(error), hint=hint) from error
        try:
            with spark_jobs(otherwise):
                yield session
        finally:
            session.stop()


@contextmanager
def _python_in_utc() -> Iterator[None]:
    """Inside, the process is in UTC: Spark gives Python its timestamps as times of the process's zone."""
    before = os.environ.get(_ZONE)
    os.environ[_ZONE] = "UTC"
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ[_ZONE]
        else:
            os.environ[_ZONE] = before
        time.tzset()


@contextmanager
def spark_jobs(otherwise: str | None = None) -> Iterator[None]:
    """Inside, a job that fails is an error of hbstore.

    Raises:
        StoreUnavailable: one failed.
    """
    from hbstore.spark.java_errors import JAVA_ERRORS, root_cause

    try:
        yield
    except JAVA_ERRORS as error:
        hint = _hint("Read Spark's messages above", otherwise)
        raise StoreUnavailable("the Spark job failed", reason=root_cause(error), hint=hint) from error


def _hint(text: str, otherwise: str | None) -> str:
    return f"{text}; {otherwise}" if otherwise else text
