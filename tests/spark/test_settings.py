"""A session's settings are changed for a while, by several threads at once, and are what they were afterwards."""

from __future__ import annotations

import pytest

from hbstore.spark.settings import changed_setting

NAME = "spark.sql.sources.parallelPartitionDiscovery.parallelism"

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("before", [None, "7"])
def test_the_first_of_two_threads_puts_back_what_was_there(spark, before):
    if before is not None:
        spark.conf.set(NAME, before)
    own = spark.conf.get(NAME)
    first, second = (changed_setting(spark, NAME, 3) for _ in range(2))
    first.__enter__()
    second.__enter__()
    assert spark.conf.get(NAME) == "3"
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert spark.conf.get(NAME) == own
    spark.conf.unset(NAME)
