"""Spark's functions in cube queries: each is written as the user wrote it, and aggregates are told from the others."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from sqlglot import parse_one
from sqlglot.errors import SqlglotError

from hbstore.cubes.dialect import QueryDialect
from hbstore.cubes.query.aggregate_calls import is_aggregate
from hbstore.cubes.query.text import parse_query
from hbstore.errors import UnsupportedQuery
from tests.amounts import amount
from tests.spark.spark_values import SparkValues

EXAMPLE = re.compile(r"^\s*> (SELECT .*?);\s*$", re.MULTILINE | re.IGNORECASE)
OF_A_GROUPING = {"grouping", "grouping_id"}
"""Aggregates of Spark that say something of GROUP BY."""

OPERATORS = {"and", "between", "case", "div", "in", "like", "ilike", "mod", "not", "or", "regexp", "rlike", "when"}

OF_CHANCE = {"rand", "randn", "random", "shuffle", "uuid", "randstr", "uniform"}
"""Functions whose values Spark chooses anew each time."""

UNREAD = {f"SELECT bitmap_count(X '{digits}')" for digits in ("1010", "FFFF", "0")}
"""Examples that hbstore refuses: it reads no blank within a literal."""

SOURCE = re.compile(r" FROM (?=VALUES|\(SELECT)", re.IGNORECASE)
"""Where the query of an example begins that is no expression."""


@pytest.fixture(scope="module")
def values(spark):
    values = SparkValues(spark)
    yield values
    values.close()


@pytest.fixture(scope="module")
def descriptions(spark):
    """Spark's description of each of its functions and operators."""
    session = spark._jsparkSession.sessionState().catalog()
    identifier = spark._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier
    names = [row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()]
    return {name: session.lookupFunctionInfo(identifier(name)) for name in names}


@pytest.fixture(scope="module")
def functions(descriptions):
    """Those of what is called by a name."""
    return {name: info for name, info in descriptions.items() if name.isidentifier() and name not in OPERATORS}


def test_all_aggregates_of_spark_are_told_from_other_functions(functions):
    aggregates = {name for name, info in functions.items() if info.getGroup() == "agg_funcs"} - OF_A_GROUPING
    names = functions.keys() - {"cast", "extract", "if", "overlay", "position"}  # which are not written so
    calls = {name: parse_one(f"{name}(a)", dialect=QueryDialect) for name in names}
    assert {name for name, call in calls.items() if is_aggregate(call)} - {"schema_of_variant_agg"} == aggregates


def test_functions_that_make_several_rows_are_refused(functions):
    for name in [name for name, info in functions.items() if info.getGroup() == "generator_funcs"]:
        with pytest.raises(UnsupportedQuery, match="several rows"):
            parse_query(f"cube select {name}(a) from b")


def test_examples_of_all_functions_have_their_values(descriptions, values):
    """What Spark's own documentation shows of each function, beside what hbstore writes of it."""
    unread, seen = set(), Counter()
    examples = sorted({(name, text) for name, info in descriptions.items() for text in of(info)})[:: amount(3, 1)]
    for name, text in examples:
        part = SOURCE.split(text)[0]
        try:
            ours = parse_one(part, dialect=QueryDialect).sql(QueryDialect, pretty=len(text) % 2 == 0)
        except SqlglotError:
            unread.add(part)  # refused, with a caret
            continue
        ours += text[len(part) :]
        if values.reads_alike(text, ours) or values.same_plan(text, ours):
            seen["same plan"] += 1
        elif name not in OF_CHANCE:
            meant, said = values.worth(text), values.worth(ours)
            assert meant == said, (text, ours)
            seen["error" if isinstance(meant, str) else "same value"] += 1
    assert seen["same plan"] + seen["same value"] > len(examples) * 0.9, seen
    assert seen["error"] <= 12, seen
    assert unread == UNREAD & {text for _, text in examples}


def test_aggregates_within_a_group_say_the_same(spark, functions):
    texts = [text for name in ("listagg", "percentile_cont", "percentile_disc", "mode") for text in of(functions[name])]
    ordered = [text for text in texts if "WITHIN GROUP" in text and "INTERVAL" not in text]  # which Python lacks
    assert len(ordered) >= 5
    for text in ordered:
        written = parse_one(text, dialect=QueryDialect).sql(QueryDialect)
        assert spark.sql(written).collect() == spark.sql(text).collect(), (text, written)


def of(info):
    """The examples of a function."""
    return EXAMPLE.findall(info.getExamples())
