"""The values that column types read from other spellings are those that Spark's own cast gives."""

from __future__ import annotations

import math
import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbstore.keys.types import DateType, FloatType, TimestampType, parse_type
from tests.spellings import SPELLINGS, documented, spelling
from tests.strategies import TYPE_TEXTS

TEXTS = 2000
"""Of one example: one job of Spark casts all of them to all types."""
ANSI, ZONE = "spark.sql.ansi.enabled", "spark.sql.session.timeZone"
PLAIN_YEAR = re.compile("[0-9]{4}-")
ZONES = ("UTC", "+05:30")


@pytest.fixture(scope="module")
def casts(spark):
    """What Spark reads from texts: for each text, by the name of the type, dates and times as texts.

    Where the session's zone makes a difference, there is no value.
    """

    def cast(texts):
        frame = spark.createDataFrame([(text,) for text in texts], "text string")
        columns = [f"cast(text as {name})" for name in TYPE_TEXTS]
        shown = [f"cast({one} as string)" if "date" in one or "time" in one else one for one in columns]
        by_zone = []
        for zone in ZONES:
            spark.conf.set(ZONE, zone)
            by_zone.append(frame.selectExpr(*shown, "cast(current_date() as string)").collect())
        for row, other in zip(*by_zone, strict=True):
            (*values, today), again = row, other
            at = TYPE_TEXTS.index("timestamp")
            if values[at] != again[at] or (values[at] or "")[:10] == today:
                values[at] = None
            yield dict(zip(TYPE_TEXTS, values, strict=True))

    before = spark.conf.get(ANSI), spark.conf.get(ZONE)
    spark.conf.set(ANSI, "false")
    yield lambda texts: list(cast(texts))
    spark.conf.set(ANSI, before[0])
    spark.conf.set(ZONE, before[1])


def agrees(kind, value, of_spark):
    """Whether a value is what Spark reads. Years that hbstore does not have are no value."""
    if isinstance(kind, DateType | TimestampType):
        year = of_spark is not None and PLAIN_YEAR.match(of_spark) is not None and not of_spark.startswith("0000")
        expected = of_spark if year else None
        if isinstance(kind, TimestampType) and value is not None:
            value = (value[0], value[1] // 1000 * 1000)  # Spark keeps microseconds
        return (None if value is None else kind.text(value)) == expected
    if isinstance(kind, FloatType) and value is not None and of_spark is not None:
        return value == of_spark or (math.isnan(value) and math.isnan(of_spark))
    return value == of_spark and (value is None) is (of_spark is None)


def value_of(kind, text):
    """The value that hbstore finds a text by."""
    try:
        return kind.parse(text)
    except ValueError:
        return kind.read(text)


def differences(casts, texts):
    """Where hbstore reads something else than Spark."""
    for text, of_spark in zip(texts, casts(texts), strict=True):
        for name in TYPE_TEXTS:
            kind = parse_type(name)
            value = value_of(kind, text)
            if not agrees(kind, value, of_spark[name]):
                yield name, text, value, of_spark[name]


@pytest.mark.usefixtures("casts")
def test_spark_reads_what_is_documented(spark):
    rows = list(documented())
    frame = spark.createDataFrame([tuple(text for _, text, _, _ in rows)], [f"c{at}" for at in range(len(rows))])
    # What try_cast reads is what ANSI mode reads, in any mode.
    plain, in_ansi = (
        frame.selectExpr(*(f"cast({cast}(c{at} as {kind}) as string)" for at, (kind, *_) in enumerate(rows))).first()
        for cast in ("cast", "try_cast")
    )
    for (_, _, _, words), shown, in_ansi_mode in zip(rows, plain, in_ansi, strict=True):
        expected, apart, _ = words.partition(", an error")
        if expected.startswith("`"):
            assert shown == expected.split("`")[1]
            assert in_ansi_mode == (None if apart else shown)
        else:
            assert (shown is None) is (expected == "none")


def test_other_spellings_are_read_as_spark_reads_them(casts):
    assert list(differences(casts, SPELLINGS)) == []


@settings(max_examples=3)
@given(st.integers(0, 2**32))
def test_random_texts_are_read_as_spark_reads_them(casts, seed):
    random = Random(seed)
    texts = sorted({spelling(random) for _ in range(TEXTS)})
    assert list(differences(casts, texts)) == []
