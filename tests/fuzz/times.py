"""Expressions of times: are they the same in each part of the periods that hbstore claims, by Spark's values?"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

from pyspark.errors import PySparkException

from benchmarks.spark_session import spark_session
from hbstore.errors import CubeQueryError
from hbstore.times.update_period import UpdatePeriod
from tests.cubes.query.time_claims import claims
from tests.cubes.query.time_compositions import composition, plain_composition
from tests.spark.instants import Instants

TOGETHER = 32
"""Expressions of one seed, which Spark computes in one job."""

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
    "spark.driver.maxResultSize": "0",
}


def compared_times(first: int, instants: int) -> Iterator[tuple[int, str, str]]:
    """Seeds and expressions without an end, each with what came of it at about so many instants; "" if it is wrong."""
    with (
        tempfile.TemporaryDirectory() as folder,
        spark_session("local[2]", Path(folder), SETTINGS) as spark,
        claims() as claimed,
    ):
        times = Instants.of(spark, first, instants)
        for seed in count(first):
            random = Random(seed)
            made = [random.choice((composition, composition, plain_composition))(random) for _ in range(TOGETHER)]
            texts = times.read_by_spark(made)
            for text, same in zip(texts, _same_within(times, texts), strict=True):
                if same is None:
                    yield seed, text, "failed in Spark"
                    continue
                try:
                    periods = claimed.of(text)
                except CubeQueryError:
                    yield seed, text, "refused"
                else:
                    told = "told by partitions" if periods else "needs rows"
                    yield seed, text, told if periods <= same else ""


def _same_within(times: Instants, texts: list[str]) -> list[frozenset[UpdatePeriod] | None]:
    """By expression, the periods in which it is the same; None where it fails at some times."""
    try:
        return [*times.same_within(texts)]
    except PySparkException:
        return [None] if len(texts) == 1 else [one for text in texts for one in _same_within(times, [text])]
