"""How expressions are read and written: as they were written, so that Spark computes what the user asked for."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one
from sqlglot.errors import ParseError

from hbstore.cubes.dialect import QueryDialect
from hbstore.cubes.expressions import columns_of
from hbstore.cubes.function_calls import LOOKED_AT


def written(text):
    return parse_one(text, dialect=QueryDialect).sql(QueryDialect)


@pytest.mark.parametrize(
    "text",
    [
        *("TO_CHAR(12454, '99G999')", "INSTR(a, 'b', 1, 2)", "MAX_BY(a, b, 2)", "MIN_BY(a, b, 2)"),
        *("LISTAGG(a)", "LISTAGG(DISTINCT a, '-')", "STRING_AGG(a)", "PERCENTILE(a, 0.5, 2)", "FIRST(a, TRUE)"),
        *("FIRST(a) IGNORE NULLS", "SUM(a) FILTER(WHERE b)", "COUNT(DISTINCT a, b)", "COUNT(*)", "ANY(a)"),
        *("DATE_TRUNC(a, b)", "TO_DATE(a, 'yyyy')", "DATE_ADD(a, 1)", "DATEDIFF(a, b)", "DATE(a)", "YEAR(a)"),
        *("MAKE_TIMESTAMP(2014, 12, 28, 6, 30, 45.887, 'CET')", "UNIX_TIMESTAMP()", "CURRENT_CATALOG()"),
        *("PARSE_JSON('1')", "DECODE(a, 1, 2, 3)", "CEIL(a, 2)", "LOG(2, a)", "MOD(a, b)", "NVL(a, b)", "CHAR(65)"),
        *("AGGREGATE(a, 0, (x, y) -> x + y)", "EXISTS(a, x -> x > 1)", "SORT_ARRAY(a, FALSE)", "a[1]", "a DIV b"),
        *(
            "IF(a, b, c)",
            "CAST(a AS DECIMAL(3, 2))",
            "CAST(a AS TIME)",
            "EXTRACT(YEAR FROM a)",
            "TRIM(BOTH 'x' FROM a)",
            "a || b",
        ),
        *("a RLIKE 'x'", "a LIKE 'x' ESCAPE '!'", "a LIKE ANY ('x', 'y')", "STRUCT(a, b).x", "NO_SUCH(a, b, c, d)"),
    ],
)
def test_what_is_read_is_written(text):
    assert written(text) == text


def test_nulls_that_first_ignores_are_not_those_of_a_call_before_the_word():
    """Of `FIRST(UPPER(a) IGNORE NULLS)` Spark says that UPPER does not take the words."""
    assert written("first(current_user ignore nulls)") == "FIRST((CURRENT_USER()) IGNORE NULLS)"
    assert written("last((upper(a)) ignore nulls)") == "LAST((UPPER(a)) IGNORE NULLS)"
    assert written("first(upper(a) ignore nulls)") == "FIRST(UPPER(a) IGNORE NULLS)"
    tree = parse_one("any_value(a ignore nulls)", dialect=QueryDialect)
    tree.find(exp.Column).replace(parse_one("upper(b)", dialect=QueryDialect))
    assert tree.sql(QueryDialect) == "ANY_VALUE((UPPER(b)) IGNORE NULLS)"


@pytest.mark.parametrize("call", ["substr({}, 1, 2)", "trim({})", "position({}, 'a')", "date({})", "string({})"])
def test_calls_within_calls_are_read_once(call):
    """Where each was tried in two ways, 25 levels took 33 million."""
    text = "a"
    for _ in range(25):
        text = call.format(text)
    assert written(text).count("(") == 25


def test_times_without_a_zone_have_a_type_of_their_own():
    assert written("CAST(a AS TIMESTAMP WITHOUT TIME ZONE)") == "CAST(a AS TIMESTAMP_NTZ)"
    with pytest.raises(ParseError):
        written("CAST(a AS TIMESTAMP WITH TIME ZONE)")


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_function_with_a_class_keeps_its_arguments(name):
    for number in range(6):
        text = f"{name}({', '.join('abcde'[:number])})"
        try:
            made = written(text)
        except ParseError:
            assert number != 1
        else:
            assert made == text


def test_greatest_and_least_are_no_aggregates_of_several_values():
    assert isinstance(parse_one("max(a)", dialect=QueryDialect), exp.Max)
    assert isinstance(parse_one("max(a, b)", dialect=QueryDialect), exp.Anonymous)
    assert isinstance(parse_one("min(a, b)", dialect=QueryDialect), exp.Anonymous)


def test_expressions_of_models_are_read_alike():
    assert [str(one) for one in columns_of("max_by(fare, minutes, 2) + instr(name, city.name, 1, 2)")] == [
        *("fare", "minutes", "name", "city.name")
    ]


@pytest.mark.parametrize(
    "kind", ["int8", "text", "varchar", "datetime", "int(3)", "int[]", "map<int>", "decimal(1, 2, 3)"]
)
def test_types_that_spark_does_not_have(kind):
    """`int8` was written as TINYINT."""
    for text in (f"a::{kind}", f"CAST(a AS {kind})"):
        with pytest.raises(ParseError):
            written(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a::array<string>[0]", "CAST(a AS ARRAY<STRING>)[0]"),
        ("a::map<string, time(3)>", "CAST(a AS MAP<STRING, TIME(3)>)"),
        (
            "a::struct<b int not null comment 'c', `d e`: void>",
            "CAST(a AS STRUCT<b: INT NOT NULL COMMENT 'c', `d e`: VOID>)",
        ),
        ("a::interval day to second", "CAST(a AS INTERVAL DAY TO SECOND)"),
        ("a::timestamp with local time zone", "CAST(a AS TIMESTAMP)"),
        ("a !> 1 and b !< 2", "a <= 1 AND b >= 2"),
        ("a >> 1 >>> 2", "a >> 1 >>> 2"),
        ("transform(a, X -> x.y + z.x)", "TRANSFORM(a, X -> x.y + z.x)"),
        ("- + -a + +'1' << 2", "-+-a + +'1' << 2"),
        (
            "substring(not a, 1) || trim(! b) || position(not a, b)",
            "SUBSTRING(NOT a, 1) || TRIM(NOT b) || POSITION(NOT a, b)",
        ),
        ("interval 1 day + 2", "INTERVAL '1' DAY + 2"),
        ("interval 1 day '-2' hours", "INTERVAL '1 DAY -2 HOURS'"),
        ("show.end + left", "show.end + left"),
    ],
)
def test_what_spark_reads_is_read(text, same):
    assert parse_one(text, dialect=QueryDialect, into=exp.Condition).sql(QueryDialect) == same


def test_a_comment_goes_on_behind_a_backslash():
    assert written("a -- b \\\n+ c\n- d") == "a - d"
    assert written("a -- b \\ \n+ c") == "a + c"
    with pytest.raises(ParseError) as caught:
        written("a -- b \\\n'\n  + )")
    assert (caught.value.errors[0]["line"], caught.value.errors[0]["col"]) == (3, 5)
