"""Spark's own values of expressions of times, at instants of ten years, beside what hbstore says of these expressions.

`python -m tests.fuzz --times 10000` tries as many as are asked for.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.cubes.query.time_claims import claims
from tests.cubes.query.time_compositions import TIMES, VALUES, composition, plain_composition, single
from tests.spark.instants import Instants

TIGHT = [
    *("year(t)", "quarter(t)", "month(t)", "monthname(t)", "weekofyear(t)", "day(t)", "dayname(t)", "dayofyear(t)"),
    *("hour(t)", "minute(t)", "second(t)", "extract(yearofweek from t)", "date_part('dow_iso', t)", "last_day(t)"),
    *("date_format(t, 'yyyy')", "date_format(t, 'q')", "date_format(t, 'MMM')", "date_format(t, 'EEEE')", "to_date(t)"),
    *("date_format(t, 'HH')", "next_day(t, 'MON')", "next_day(t, 'SU')", "add_months(t, 1)", "trunc(t, 'week')"),
    *("date_sub(t, 1)", "date_trunc('quarter', t)", "year(t - interval 1 month)", "year(add_months(t, 3))"),
    *("year(add_months(t, 12))", "weekofyear(date_add(t, 7))", "weekofyear(date_add(t, 1))", "unix_timestamp(t)"),
    *("month(date_trunc('week', t))", "weekofyear(last_day(t))", "to_date(from_utc_timestamp(t, 'Asia/Tokyo'))"),
    *("to_date(from_utc_timestamp(t, 'Asia/Kolkata'))", "to_date(t + interval 6 hours)", "substr(t, 1, 7)"),
    *("t >= '2015-01-10'", "t < '2015-10-01'", "t > '2015-03-31 23:59:59.999999'", "t >= '2018-01-01'"),
]
"""For these, Spark knows no larger periods either."""


@pytest.fixture(scope="module")
def claimed():
    with claims() as some:
        yield some


@pytest.fixture(scope="module")
def instants(spark):
    return Instants.of(spark, 1, 10_000)


def test_expressions_are_the_same_in_each_part_of_the_periods_that_are_claimed(claimed, instants):
    random = Random(4)
    texts = [plain_composition(random) for _ in range(40)]
    texts += [single(random, template) for template in random.sample([*VALUES, *TIMES], 20)]
    texts = instants.read_by_spark([*texts, *(composition(random) for _ in range(20))])
    assert len(texts) > 70
    told = 0
    for text, same in zip(texts, instants.same_within(texts), strict=True):
        assert claimed.of(text) <= same, text
        told += bool(claimed.of(text))
    assert told > 40


def test_listed_expressions_are_told_by_the_largest_periods(claimed, instants):
    assert {text: claimed.of(text) for text in TIGHT} == dict(zip(TIGHT, instants.same_within(TIGHT), strict=True))
