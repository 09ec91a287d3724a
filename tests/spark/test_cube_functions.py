"""Spark's functions in cube queries: each is written as the user wrote it, and aggregates are told from the others."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest
from sqlglot import parse_one, tokenize
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

from hbstore.cubes.dialect import QueryDialect
from hbstore.cubes.query.aggregate_calls import is_aggregate
from hbstore.cubes.query.text import parse_query
from hbstore.errors import UnsupportedQuery

EXAMPLE = re.compile(r"^\s*> (SELECT .*?);\s*$", re.MULTILINE | re.IGNORECASE)
OF_A_GROUPING = {"grouping", "grouping_id"}
"""Aggregates of Spark that say something of GROUP BY."""

OPERATORS = {"and", "between", "case", "div", "in", "like", "ilike", "mod", "not", "or", "regexp", "rlike", "when"}
SPELLINGS = {
    "substring": "substr",
    "locate": "position",
    "ltrim": "trim",
    "rtrim": "trim",
    "shiftleft": "<<",
    "shiftright": ">>",
}
"""Functions that are written by another name, or by an operator."""


@pytest.fixture(scope="module")
def functions(spark):
    """Spark's description of each of its functions."""
    session = spark._jsparkSession.sessionState().catalog()
    identifier = spark._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier
    names = [row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()]
    words = [name for name in names if name.isidentifier() and name not in OPERATORS]
    return {name: session.lookupFunctionInfo(identifier(name)) for name in words}


def test_all_aggregates_of_spark_are_told_from_other_functions(functions):
    aggregates = {name for name, info in functions.items() if info.getGroup() == "agg_funcs"} - OF_A_GROUPING
    names = functions.keys() - {"cast", "extract", "if", "overlay", "position"}  # which are not written so
    calls = {name: parse_one(f"{name}(a)", dialect=QueryDialect) for name in names}
    assert {name for name, call in calls.items() if is_aggregate(call)} - {"schema_of_variant_agg"} == aggregates


def test_functions_that_make_several_rows_are_refused(functions):
    for name in [name for name, info in functions.items() if info.getGroup() == "generator_funcs"]:
        with pytest.raises(UnsupportedQuery, match="several rows"):
            parse_query(f"cube select {name}(a) from b")


def said(text):
    """The literals of a text, and the names of the functions that it calls."""
    tokens = tokenize(text, read=QueryDialect)
    values = Counter(re.sub(r"[A-Za-z]+$", "", one.text) for one in tokens if one.token_type is TokenType.NUMBER)
    values += Counter(one.text for one in tokens if one.token_type is TokenType.STRING)
    calls = {one.text.lower() for one, after in pairwise(tokens) if after.text == "("}
    return values, {SPELLINGS.get(one, one) for one in calls}


def test_examples_of_all_functions_are_written_with_the_same_calls_and_values(functions):
    read = 0
    for info in functions.values():
        for text in of(info):
            source = text.upper().find(" FROM VALUES")
            part = text[: source if source > 0 else None]
            try:
                tree = parse_one(part, dialect=QueryDialect)
            except SqlglotError:
                continue  # refused, with a caret
            read += 1
            values, calls = said(part)
            there, written = said(tree.sql(QueryDialect))
            assert not values - there, (text, tree.sql(QueryDialect))
            assert not calls - written, (text, tree.sql(QueryDialect))
            assert written - calls <= {"cast", "current_timestamp", "<<", ">>"}, (text, tree.sql(QueryDialect))
    assert read > 1_000


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
