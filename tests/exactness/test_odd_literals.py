"""Literals at the edges of what a type can hold, and texts that look like more than they are."""

from __future__ import annotations

from random import Random

import pytest

from hbstore import FilterTypeError
from hbstore.filters.parser import parse_filter
from tests.exactness.comparison import compare
from tests.exactness.worlds import DATABASE, World, load

NULL = "__HIVE_DEFAULT_PARTITION__"


@pytest.mark.parametrize("negation", ["", "not "])
@pytest.mark.parametrize("pattern", [f"'{NULL}'", r"'\_\_HIVE\_DEFAULT\_PARTITION\_\_'", f"'{NULL}%'", f"'%{NULL}'"])
def test_no_pattern_matches_the_null_partition(stores, pattern, negation):
    """It is unknown to LIKE as it is to every comparison; only = and != take its name."""
    world = World.of(
        [("a", "string"), ("b", "varchar(3)")], [(NULL, "x"), ("x", NULL), ("x", "longer"), (f"x{NULL}", "x")]
    )
    for store in stores:
        table = load(store, world)
        for column in ("a", "b"):
            for text in (f"{column} {negation}like {pattern}", f"not ({column} {negation}like {pattern})"):
                compare(store, world, table, parse_filter(text), Random(1))


@pytest.mark.parametrize("literal", ["0e-3999", "-0e-3999", "'0e-6000'", "0e3999", "0.0", "-0", "'0E-5001'", "'-0.00'"])
@pytest.mark.parametrize("operator", ["=", "<=", ">=", "<", ">", "!="])
def test_zero_is_zero_with_any_exponent(stores, literal, operator):
    world = World.of([("d", "decimal(10,2)")], [("0",), ("0.01",), ("-0.01",)])
    table = load(stores[0], world)
    compare(stores[0], world, table, parse_filter(f"d {operator} {literal}"), Random(1))


@pytest.mark.parametrize(
    "literal",
    ["1e-3999", "'-1e-6000'", "'1e6000'", "-1e3999", "0.005", "-0.005", "99999999.99", "99999999.994", "1e38"],
)
@pytest.mark.parametrize("operator", ["=", "<=", ">=", "<", ">", "!="])
def test_decimals_beyond_the_scale_and_the_precision(stores, literal, operator):
    texts = ["0", "0.01", "-0.01", "99999999.99", "-99999999.99"]
    world = World.of([("d", "decimal(10,2)")], [(text,) for text in texts])
    table = load(stores[0], world)
    compare(stores[0], world, table, parse_filter(f"d {operator} {literal}"), Random(1))


@pytest.mark.parametrize(
    ("kind", "literal"),
    [
        ("decimal(10,2)", "'1_0'"),
        ("decimal(10,2)", "' 10'"),
        ("decimal(10,2)", "'１０'"),
        ("decimal(10,2)", "'NaN'"),
        ("decimal(10,2)", "'Infinity'"),
        ("decimal(10,2)", "''"),
        ("int", "'1_0'"),
        ("int", "' 10'"),
        ("int", "'１０'"),
        ("int", "''"),
        ("int", "'+'"),
        ("int", "10.5"),
        ("int", "true"),
        ("double", "'1_0'"),
        ("double", "'nan'"),
        ("date", "'2013-02-30'"),
        ("date", "timestamp '2013-01-01 00:00:01'"),
        ("timestamp", "'2013-01-01 24:00:00'"),
        ("boolean", "1"),
        ("boolean", "'yes'"),
        ("string", "5"),
    ],
)
def test_texts_that_are_no_values_are_refused(stores, kind, literal):
    world = World.of([("a", kind)], [(NULL,)])
    table = load(stores[0], world)
    for text in (f"a = {literal}", f"a in ({literal})", f"not a between {literal} and {literal}"):
        with pytest.raises(FilterTypeError):
            stores[0].count_partitions(DATABASE, table, text)
