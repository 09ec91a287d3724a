"""Starting a Spark whose settings no process list shows, and which other machines and users do not reach."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from hbstore.texts.properties_file import write_properties

_ARGUMENTS: Final = "PYSPARK_SUBMIT_ARGS"
_ON_THIS_MACHINE: Final = re.compile(r"local(\[[^\]]*\])?\Z")
_ALONE: Final = {
    "spark.driver.host": "127.0.0.1",  # Spark's own choice is an address of the network
    "spark.authenticate": "true",  # its ports take Java objects of all who reach them
    "spark.ui.enabled": "false",  # it asks nobody who they are, and listens at all addresses
}
"""Of a Spark all of which runs in one process, so that nobody else needs its ports."""


def start_spark(settings: Mapping[str, str], scratch: str | None = None) -> SparkSession:
    """A session on a Spark that is started in this process, unless it runs already.

    Args:
        settings: they count more than those of the machine's configuration: spark-defaults.conf, PYSPARK_SUBMIT_ARGS.

        scratch: where the file is meanwhile that tells Java of them; None: where the system has its temporary files.

    Raises:
        PySparkException, Py4JError: it does not start.

    >>> start_spark({"spark.app.name": "sales"}).version == spark.version
    True
    """
    with _told_by_a_file(settings, scratch):
        configured = SparkContext.getSystemProperty("spark.master")  # this starts Java, whose arguments name the file
    conf = SparkConf()
    builder = SparkSession.builder
    if _ON_THIS_MACHINE.match(settings.get("spark.master", configured)):
        for name, value in _ALONE.items():
            builder = builder.config(name, conf.get(name, value))
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    context = session.sparkContext
    if "PYSPARK_PYTHON" not in os.environ and str(context.master).startswith("local"):
        context.pythonExec = sys.executable  # which has hbstore, as python3 may not
    return session


@contextmanager
def _told_by_a_file(settings: Mapping[str, str], scratch: str | None) -> Iterator[None]:
    """Inside, a Java that PySpark starts has these settings from the beginning, such as how much memory it gets."""
    before = os.environ.get(_ARGUMENTS)
    if "--properties-file" in (before or ""):  # Spark takes one, and that says all
        yield
        return
    with tempfile.NamedTemporaryFile("w", encoding="ascii", suffix=".conf", dir=scratch) as file:
        file.write(write_properties(settings))
        file.flush()
        ours = f"--properties-file {shlex.quote(file.name)} --load-spark-defaults"
        os.environ[_ARGUMENTS] = f"{ours} {before or 'pyspark-shell'}"
        try:
            yield
        finally:
            del os.environ[_ARGUMENTS]
            if before is not None:
                os.environ[_ARGUMENTS] = before
