"""A Spark that reads random expressions, and what hbstore writes of them."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path

from benchmarks.spark_session import spark_session
from tests.spark.settings import SMALL
from tests.spark.spark_values import SparkValues


@contextmanager
def opened():
    """A Spark of its own, with the table that expressions are about."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**SMALL, "spark.sql.warehouse.dir": folder, "spark.driver.memory": "2g"}
        with spark_session("local[1]", Path(folder), settings) as spark:
            values = SparkValues(spark)
            yield values
            values.close()
