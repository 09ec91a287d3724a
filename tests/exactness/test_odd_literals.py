"""Literals at the edges of what a type can hold, and texts that look like more than they are."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest

from hbstore import FilterTypeError
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import Comparison, Number, Operator
from tests.exactness.comparison import compare, expected_partitions
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


BESIDE_FLOATS = [
    ("float", ("16777216", "16777218", "-16777216", "Infinity", "NaN"), ("16777217", "16777217.0", "-16777217")),
    ("float", ("33554432", "1073741824", "0.1"), ("33554433", "1073741824", "1073741825", "0.1", "0.100000001")),
    ("float", ("0.1", "0", "1e-45"), ("0.10000000149011612", "0.1000001", "1e-46", "-1e-46", "-0.0", "7e-46")),
    ("float", ("3.4028235e38", "Infinity", "-Infinity"), ("3.4028235e38", "3.4028236e38", "3.5e38", "-1e39", "1e400")),
    ("double", ("9007199254740992", "9007199254740994", "1e23"), ("9007199254740993", "1e23", "1" + "0" * 23)),
    ("double", ("0.1", "0.30000000000000004"), ("0.1", "0.10000000000000001", "0.1000000000000000001", "0.3")),
    ("double", ("1.7976931348623157e308", "Infinity", "-Infinity", "NaN"), ("1e309", "-1e309", "1e400", "-1e400")),
    ("double", ("5e-324", "0", "-5e-324", "-0.0"), ("1e-3999", "-1e-3999", "3e-324", "0.0", "-0.0", "0e3999")),
]


@pytest.mark.parametrize(("kind", "texts", "numbers"), BESIDE_FLOATS)
def test_numbers_between_two_floats_and_beyond_all(stores, kind, texts, numbers):
    world = World.of([("v", kind), ("hour", "int")], [(text, "1") for text in (*texts, NULL)])
    for store in stores:
        table = load(store, world)
        for number in numbers:
            for operator in ("=", "!=", "<", "<=", ">", ">="):
                compare(store, world, table, parse_filter(f"v {operator} {number}"), Random(1))
                compare(store, world, table, parse_filter(f"hour >= 1 and not v {operator} {number}"), Random(1))
            for condition in (f"in ({number})", f"not in ({number}, 1)", f"between {number} and {number}"):
                compare(store, world, table, parse_filter(f"v {condition}"), Random(1))
                compare(store, world, table, parse_filter(f"v not between {numbers[0]} and {number}"), Random(1))


@pytest.mark.parametrize(
    ("kind", "text", "selected"),
    [
        ("float", "v >= 16777217", ["16777218.0", "9007199254740992.0", "Infinity", "NaN"]),
        ("float", "v = 16777217", []),
        ("double", "v <= 1e309", ["0.1", "16777216.0", "16777218.0", "9007199254740992.0"]),
        ("double", "v = 1e400", []),
        ("double", "v = 9007199254740993", []),
        ("double", "v = 0.1 or v = '1e400'", ["0.1", "Infinity"]),
        ("float", "v = 0.1", ["0.1"]),
        ("double", "v in (0.10000000000000001, 9007199254740992)", ["0.1", "9007199254740992.0"]),
    ],
)
def test_what_numbers_select_of_floats(stores, kind, text, selected):
    values = ["0.1", "16777216.0", "16777218.0", "9007199254740992.0", "Infinity", "NaN"]
    world = World.of([("v", kind)], [(value,) for value in values])
    for store in stores:
        found = store.get_partitions_by_filter(DATABASE, load(store, world), text)
        assert [partition.values[0] for partition in found] == selected


@pytest.mark.parametrize("exponent", [999_999_999, -999_999_999])
@pytest.mark.parametrize("kind", ["float", "double"])
def test_a_huge_exponent_costs_nothing(stores, kind, exponent):
    """Written out, the number has a thousand million digits."""
    world = World.of([("v", kind)], [("1",), ("0",), ("-1",), ("Infinity",), ("-Infinity",)])
    table = load(stores[0], world)
    for sign in ("", "-"):
        for operator in Operator:
            tree = Comparison("v", operator, Number(Decimal(f"{sign}1e{exponent}")))
            expected = expected_partitions(world, tree)
            assert [one.values for one in stores[0].get_partitions_by_expr(DATABASE, table, tree)] == expected
