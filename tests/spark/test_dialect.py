"""Expressions of cube queries and models: what hbstore writes of them is what Spark reads in them.

`python -m tests.fuzz --dialect` tries as many random ones as are asked for.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from sqlglot import exp
from sqlglot.dialects.spark import Spark

from hbstore.cubes.rereading import written
from tests.amounts import amount
from tests.spark.dialect_comparison import ALIKE, EQUAL, NOT_SPARK, PASSED_ON, REFUSED, compare
from tests.spark.spark_expressions import any_expression
from tests.spark.spark_spellings import FOREIGN_TYPES, TYPES
from tests.spark.spark_values import SparkValues

EXPRESSIONS = 100


def some(words):
    """The words that the gate tries, of all that sqlglot knows of any engine."""
    return sorted(words)[:: amount(3, 1)]


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
        *(
            "array('1')::array<string>[0]",
            "i !> 1",
            "i !< 1 = b",
            "i -- a \\\n+ j\n- 1",
            "-- a \\\\\n)\n i",
            "i -- a\r+ j",
        ),
        *("i -- \\ \n+ j", "s::TIMESTAMP WITHOUT TIME ZONE", "TYPEOF(CAST(i AS STRUCT<a: INT NOT NULL>))", "VOID(i)"),
        *("TIMESTAMP 'epoch' = TIMESTAMP_LTZ'1970-01-01 00:00:00Z'", "s COLLATE UTF8_LCASE = 'AX'", "b IS UNKNOWN"),
        *("FIRST(CURRENT_USER IGNORE NULLS)", "LAST((UPPER(s)) IGNORE NULLS)", "ANY_VALUE(i + j IGNORE NULLS)"),
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


@pytest.mark.parametrize(
    "text",
    [
        *("i::int8", "s::text", "i ? 's'", "arr[0, 1]", "arr[:1]", "s IS JSON", "s GLOB 'a'", "(d, d) OVERLAPS (d, d)"),
        *("s SIMILAR TO 'a'", "{fn UPPER(s)}", "{d '2020-01-31'}", "s ~~ 'a'", "i && j", "i BETWEEN SYMMETRIC 1 AND 2"),
        *("i BETWEEN 1 2", "CASE WHEN b 1 END", "IF b THEN 1 END", "UPPER(s,)", "UPPER(, s)", ", i", "UPPER(s AS a)"),
        *(
            "(s AS a)",
            "DATE'2020-' '01-31'",
            "(i ISNULL)",
            "(b = NOT b)",
            "(s DOUBLE PRECISION)",
            "i LIKE 'a' ESCAPE 'ab'",
            "MAX(i HAVING MAX j)",
        ),
    ],
)
def test_what_spark_refuses_is_refused(values, text):
    assert compare(values, text) == NOT_SPARK


def test_types_are_those_of_spark(values):
    words = {text for text in Spark.Tokenizer.KEYWORDS if text.replace(" ", "a").isalnum()} - {"INTERVAL"}
    seen = {kind: compare(values, f"CAST(s AS {kind})") for kind in {*some(words), *TYPES, *FOREIGN_TYPES}}
    assert {kind for kind, outcome in seen.items() if outcome in (REFUSED, PASSED_ON)} == {"STRUCT<>"}


@pytest.mark.parametrize(
    ("form", "refused"),
    [
        ("i {} j", {"->"}),
        ("(s {})", set()),
        ("UPPER(s {})", set()),
        ("UPPER({} s)", set()),
        ("({} s)", {"FROM", "SELECT", "TABLE", "VALUES"}),
    ],
)
def test_words_and_signs_are_those_of_spark(values, form, refused):
    """`refused` are functions outside of a call, and subqueries."""
    seen = {text: compare(values, form.format(text)) for text in {*some(Spark.Tokenizer.KEYWORDS), *refused}}
    assert {text for text, outcome in seen.items() if outcome in (REFUSED, PASSED_ON)} == refused


def test_random_expressions_are_kept(values):
    """Spark's, others', and some with faults: those that Spark refuses have no value, and most others have theirs."""
    seen, random = Counter(), Random(20)
    for _ in range(EXPRESSIONS):
        seen[compare(values, any_expression(random))] += 1
    assert seen[ALIKE] > EXPRESSIONS / 3, seen
    assert seen[NOT_SPARK] > EXPRESSIONS / 5, seen
    assert seen[REFUSED] < EXPRESSIONS / 20, seen
