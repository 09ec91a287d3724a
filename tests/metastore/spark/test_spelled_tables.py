"""Partitions that are spelled in all sorts of ways show the same rows on an endpoint and on Spark's own metastore."""

from __future__ import annotations

import pytest

from tests.metastore.spark.spelled_tables import differences
from tests.strategies import TYPE_TEXTS

pytestmark = pytest.mark.spark


SEEDS = [TYPE_TEXTS.index(kind) for kind in ("int", "date", "timestamp", "decimal(10,2)")]
"""A table of each kind of type; `make fuzz ARGS="--spellings 160"` asks for many of all types."""


def test_filters_find_the_rows_that_they_find_on_sparks_own_metastore(tmp_path, spark_process):
    statements, differing = differences(spark_process, tmp_path, SEEDS)
    assert differing == []
    assert statements["filters"] > len(SEEDS)
