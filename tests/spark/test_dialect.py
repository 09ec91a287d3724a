"""Expressions of cube queries and models: what hbstore writes of them is what Spark reads in them."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from sqlglot import exp

from hbstore.cubes.rereading import written
from tests.spark.dialect_comparison import ALIKE, EQUAL, REFUSED, compare
from tests.spark.spark_expressions import expression
from tests.spark.spark_values import SparkValues

EXPRESSIONS = 300


@pytest.fixture(scope="module")
def values(spark):
    values = SparkValues(spark)
    yield values
    values.close()


@pytest.mark.parametrize(
    "text",
    [
        *("'o''brien'", '"a""b"', "'a''b' \"c\"\"d\" r'\\'", "'a\"\"b'", "''''", "NVL(s, 'o''b')", "s = 'o\\'b\"%'"),
        *("array('Mon', 'Tue', 'Wed')[1]", "ARRAY(ARRAY(1, 2), ARRAY(3))[0][1]", "MAP('a', ARRAY(5))['a'][0]"),
        *("-1::STRING", "-128Y", "-2147483648", "+'1'", "1E3BD", "12345678901234567890123456789012345678901D"),
        *("1 & 2 << 1", "1 | 2 & 3", "1 ^ 3 | 2 & 6 << 1 + 1", "-8 >>> 60", "'a' || 1 + 2 - 1", "~1 + 1"),
        *(
            "i = 2 = b",
            "2 > i = b",
            "i <=> 1 = b",
            "b = i IN (1)",
            "b = i NOT IN (1)",
            "NOT i = 1 = b",
            "b <> i IS NULL",
        ),
        *(
            "ts - INTERVAL 1 DAY 2 HOURS",
            "-INTERVAL 1 DAY 2 HOURS",
            "INTERVAL -'1-2' YEAR TO MONTH",
            "INTERVAL '1' DAY",
        ),
        *("DATE'2020-01-31'::STRING", "TYPEOF(TIME'12:34:56')", "CAST(TIME'12:34:56.789' AS TIME(1))", 'X"1f"'),
        *("TIMESTAMP 'epoch' = TIMESTAMP_LTZ'1970-01-01 00:00:00Z'", "s COLLATE UTF8_LCASE = 'AX'", "b IS UNKNOWN"),
    ],
)
def test_values_are_kept(values, text):
    assert compare(values, text) in (ALIKE, EQUAL)


def test_texts_and_names_that_hbstore_writes_itself(spark):
    random = Random(3)
    signs = "a '\"`\\%_\n\r\t\b\0\x1a\x7f{}$:;?-/*é😀\u2028rRuU0x17"
    texts = sorted({"".join(random.choices(signs, k=random.randrange(7))) for _ in range(300)})
    query = exp.select(*(exp.alias_(exp.Literal.string(text), f"`{text} ", quoted=True) for text in texts))
    row = spark.sql(written(query, pretty=True)).first()
    assert list(row) == texts
    assert row.__fields__ == [f"`{text} " for text in texts]


def test_random_expressions_are_kept(values):
    seen, random = Counter(), Random(20)
    for _ in range(EXPRESSIONS):
        seen[compare(values, expression(random, random.randrange(5)))] += 1
    assert seen[ALIKE] > EXPRESSIONS / 2, seen
    assert seen[REFUSED] < EXPRESSIONS / 20, seen
