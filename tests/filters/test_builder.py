"""Filters in Python build the trees that their text parses to."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, Table, connect
from hbstore.errors import FilterTypeError, InvalidTimeRange, TimeRangeSyntaxError
from hbstore.filters.builder import Expression, col, literal
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import Boolean, Date, Integer, IsNull, Number, Text, Timestamp
from tests.filters.strategies import texts


class Region(StrEnum):
    EU = "eu"


class OldRegion(str, Enum):  # noqa: UP042  this is how it was done before StrEnum
    EU = "eu"


class Hour(IntEnum):
    NOON = 12


ds, hour, region = col("ds"), col("hour"), col("region")

BUILT = [
    (ds == "2013-01-01", "ds = '2013-01-01'"),
    (ds != "2013-01-01", "ds != '2013-01-01'"),
    (hour < 5, "hour < 5"),
    (hour <= 5, "hour <= 5"),
    (hour > 5, "hour > 5"),
    (hour >= 5, "hour >= 5"),
    (5 < hour, "hour > 5"),  # noqa: SIM300
    ((ds >= "2013-01-01") & hour.isin(5, 6), "ds >= '2013-01-01' and hour in (5, 6)"),
    (hour.isin([5, 6]), "hour in (5, 6)"),
    (hour.isin(number for number in (5, 6)), "hour in (5, 6)"),
    (hour.isin(5), "hour in (5)"),
    (region.isin("eu"), "region in ('eu')"),
    (~hour.isin({5}), "not hour in (5)"),
    (hour.between(5, 8), "hour between 5 and 8"),
    (ds.like("2013-__%"), "ds like '2013-__%'"),
    (ds.startswith("2013-"), "ds like '2013-%'"),
    (ds.startswith("50%_\\"), r"ds like '50\%\_\\%'"),
    (ds.startswith(""), "ds like '%'"),
    (ds.in_time_range("2015-01-29", "now.day"), "time_range_in(ds, '2015-01-29', 'now.day')"),
    (~col("a b").in_time_range("now", "now"), "not time_range_in(`a b`, 'now', 'now')"),
    (ds.is_null(), "ds is null"),
    (ds.is_not_null(), "ds is not null"),
    ((hour == 1) | (hour == 2) | (hour == 3), "hour = 1 or hour = 2 or hour = 3"),
    ((hour == 1) & ((hour == 2) & (hour == 3)), "hour = 1 and hour = 2 and hour = 3"),
    ((hour == 1) & ((hour == 2) | (hour == 3)), "hour = 1 and (hour = 2 or hour = 3)"),
    (~((hour == 1) & (hour == 2)), "not (hour = 1 and hour = 2)"),
    (col("date") == date(2013, 1, 1), "date = date '2013-01-01'"),
    (ds == datetime(2013, 1, 1, 5, 6, 7, 89), "ds = timestamp '2013-01-01 05:06:07.000089'"),  # noqa: DTZ001
    (ds < datetime(1960, 1, 1, 0, 0, 0, 1), "ds < timestamp '1960-01-01 00:00:00.000001'"),  # noqa: DTZ001
    (col("active") == True, "active = true"),  # noqa: E712
    (col("price") == 0.1, "price = 0.1"),
    (col("price") == 1e300, "price = 1E+300"),
    (col("price") == 5.0, "price = 5.0"),
    (col("price") == Decimal(5), "price = 5.0"),
    (col("price") == Decimal("1.50"), "price = 1.50"),
    (hour == -(1 << 100), f"hour = -{1 << 100}"),
    (col("group by") == "it's", '`group by` = "it\'s"'),
    (region == Region.EU, "region = 'eu'"),
    (region == OldRegion.EU, "region = 'eu'"),
    (hour == Hour.NOON, "hour = 12"),
]


@pytest.mark.parametrize(("built", "text"), BUILT)
def test_prints(built, text):
    assert str(built) == text


@pytest.mark.parametrize(("built", "_text"), BUILT)
def test_is_what_its_text_parses_to(built, _text):
    assert parse_filter(str(built)) == built.tree


@given(texts)
def test_startswith_takes_its_text_as_it_is(prefix):
    tree = ds.startswith(prefix).tree
    assert tree.pattern.prefix == prefix
    assert tree.pattern.is_prefix
    assert parse_filter(str(tree)) == tree


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_exact(number):
    assert float(literal(number).value) == number


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", Text("x")),
        (5, Integer(5)),
        (True, Boolean(value=True)),
        (0.5, Number(Decimal("0.5"))),
        (date(2013, 1, 1), Date(date(2013, 1, 1))),
        (datetime(1970, 1, 2), Timestamp((86_400, 0))),  # noqa: DTZ001
    ],
)
def test_literals(value, expected):
    assert literal(value) == expected
    assert type(literal(value)) is type(expected)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "is_null"),
        (b"x", "bytes"),
        ([1], "list"),
        (float("nan"), "NaN"),
        (float("inf"), "infinity"),
        (Decimal("NaN"), "NaN"),
        (Decimal("1e5000"), "4000 digits"),
        (10**4_000, "4000 digits"),
        (datetime(2013, 1, 1, tzinfo=UTC), "time zone"),
        (col("hour"), "with each other"),
        (hour == 5, "with each other"),
    ],
)
def test_values_without_a_literal(value, words):
    for make in (lambda: ds == value, lambda: ds.isin("x", value), lambda: ds.between("x", value)):
        with pytest.raises(FilterTypeError, match=words):
            make()


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", "NaN"])
def test_what_is_said_of_infinities_selects_their_partitions(value):
    with connect("memory://") as store:
        store.create_database("d")
        store.create_table(Table("d", "t", [Column("v", "double")]))
        store.table("d.t").add([("1.0",), ("Infinity",), ("-Infinity",), ("NaN",)])
        with pytest.raises(FilterTypeError) as caught:
            col("v") == float(value)  # noqa: B015
        assert caught.value.hint.endswith(repr(value))
        assert store.table("d.t").partitions(col("v") == value).specs == [{"v": value}]


def test_the_largest_integer_prints_and_parses():
    largest = hour == -(10**4_000 - 1)
    with pytest.raises(FilterTypeError):
        hour == 10**4_000  # noqa: B015
    assert len(str(hour == 10**3_999)) > 4_000
    assert str(largest).startswith("hour = -999")


@pytest.mark.parametrize("make", [ds.isin, lambda: ds.isin([])])
def test_isin_of_nothing(make):
    with pytest.raises(FilterTypeError, match="at least one"):
        make()


@pytest.mark.parametrize("name", ["", None, 5])
def test_column_names(name):
    with pytest.raises(FilterTypeError):
        col(name)


@pytest.mark.parametrize("pattern", [None, 5])
def test_patterns_are_texts(pattern):
    with pytest.raises(FilterTypeError):
        ds.like(pattern)
    with pytest.raises(FilterTypeError):
        ds.startswith(pattern)
    with pytest.raises(FilterTypeError):
        ds.in_time_range("2015", pattern)


def test_time_ranges_are_checked_when_they_are_made():
    with pytest.raises(TimeRangeSyntaxError):
        ds.in_time_range("2015", "soon")
    with pytest.raises(InvalidTimeRange):
        ds.in_time_range("2015", "2014")
    assert str(ds.in_time_range("now.day", "now.month"))  # on the first of a month it is a range


def test_truth_is_refused():
    with pytest.raises(TypeError, match="use & for and"):
        bool(hour == 5)
    with pytest.raises(TypeError, match="use & for and"):
        _ = (hour == 5) and (hour == 6)
    with pytest.raises(TypeError, match="use & for and"):
        assert 1 < hour < 5
    with pytest.raises(TypeError, match="compare it"):
        bool(hour)


def test_only_expressions_join():
    with pytest.raises(TypeError):
        (hour == 5) & "hour = 6"  # type: ignore[operator]
    with pytest.raises(TypeError):
        (hour == 5) | True  # type: ignore[operator]


def test_expressions_are_values():
    assert Expression(IsNull("a")) == Expression(IsNull("a"))
    assert repr(hour) == "col('hour')"
    with pytest.raises(TypeError):
        hash(hour)


def test_many_alternatives():
    expression = hour == 0
    for number in range(1, 3_000):
        expression |= hour == number
    assert len(expression.tree.children) == 3_000
