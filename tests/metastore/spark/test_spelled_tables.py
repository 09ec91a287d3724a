"""Partitions that are spelled in all sorts of ways show the same rows on an endpoint and on Spark's own metastore."""

from __future__ import annotations

import pytest

from tests.metastore.spark.spelled_tables import differences
from tests.strategies import TYPE_TEXTS

pytestmark = pytest.mark.spark


def test_filters_find_the_rows_that_they_find_on_sparks_own_metastore(tmp_path, spark_process):
    statements, differing = differences(spark_process, tmp_path, 0, len(TYPE_TEXTS))
    assert differing == []
    assert statements["filters"] > len(TYPE_TEXTS)
