"""A Spark that answers cube queries of random stars."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path

from benchmarks.spark_session import spark_session
from tests.spark.settings import SMALL
from tests.spark.star_comparison import LISTED_AT_ONCE


@contextmanager
def opened():
    """A Spark of its own."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**SMALL, **LISTED_AT_ONCE, "spark.sql.warehouse.dir": folder, "spark.driver.memory": "2g"}
        with spark_session("local[2]", Path(folder), settings) as spark:
            yield spark
