"""Random queries of random stars on Spark: the rows that it reads from files are those of the cube's own rows.

`python -m tests.fuzz --stars` asks as many as are asked for.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.amounts import amount
from tests.cubes.query.comparison import ANSWERED, PARTIAL
from tests.spark.star_comparison import LISTED_AT_ONCE, compare

SEEDS = amount((2, 30), (2, 30, 35))
QUERIES = 14


@pytest.fixture(scope="module", autouse=True)
def lists_folders_without_jobs(spark):
    for name, value in LISTED_AT_ONCE.items():
        spark.conf.set(name, value)
    yield
    for name in LISTED_AT_ONCE:
        spark.conf.unset(name)


def test_answers_are_those_of_the_rows(spark, tmp_path):
    seen = sum((compare(spark, tmp_path / str(seed), seed, QUERIES) for seed in SEEDS), Counter())
    assert seen[ANSWERED] + seen[PARTIAL] > len(SEEDS) * QUERIES / 2, seen
