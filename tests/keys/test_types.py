"""Types of partition columns: their names, and their values as text and as bytes."""

from __future__ import annotations

import math
import struct
from decimal import Decimal, localcontext
from fractions import Fraction
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hbstore.errors import InvalidType
from hbstore.keys.types import DecimalType, StringType, escape, parse_decimal, parse_type, unescape
from tests.spellings import documented, spelling
from tests.strategies import TYPE_TEXTS, invalid_texts, unicode_text, valid_texts

other_spellings = st.integers().map(lambda seed: spelling(Random(seed)))
all_types = pytest.mark.parametrize("column_type", [parse_type(text) for text in TYPE_TEXTS], ids=TYPE_TEXTS)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("int", "int"),
        ("INTEGER", "int"),
        (" BigInt ", "bigint"),
        ("decimal", "decimal(10,0)"),
        ("numeric", "decimal(10,0)"),
        ("decimal(5)", "decimal(5,0)"),
        ("Decimal( 10 , 2 )", "decimal(10,2)"),
        ("numeric(38,38)", "decimal(38,38)"),
        ("varchar(5)", "varchar(5)"),
        ("VARCHAR (65535)", "varchar(65535)"),
        ("char(255)", "char(255)"),
        ("string", "string"),
    ],
)
def test_types_are_read_as_hive_writes_them(text, name):
    assert parse_type(text).name == name
    assert parse_type(name) == parse_type(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "text", "binary", "array<int>", "map<string,int>", "int(5)", "int;", None, int),
        *("varchar", "varchar()", "varchar(0)", "varchar(65536)", "varchar(5,2)", "char(256)"),
        *("decimal(0,0)", "decimal(39,0)", "decimal(2,3)", "decimal(-1,0)", "decimal(5,2"),
    ],
)
def test_other_types_are_refused_with_those_that_there_are(text):
    with pytest.raises(InvalidType, match="decimal"):
        parse_type(text)


@all_types
@given(data=st.data())
def test_values_survive_bytes_and_text(column_type, data):
    value = column_type.parse(data.draw(valid_texts(column_type)))
    payload = column_type.encode(value)
    same = column_type.decode(payload)
    assert column_type.encode(same) == payload
    assert same == value or (math.isnan(same) and math.isnan(value))
    canonical = column_type.text(value)
    assert column_type.encode(column_type.parse(canonical)) == payload
    assert column_type.text(column_type.parse(canonical)) == canonical == column_type.text(same)


@all_types
@given(data=st.data())
def test_payloads_have_the_documented_width(column_type, data):
    payload = column_type.encode(column_type.parse(data.draw(valid_texts(column_type))))
    if column_type.width is None:
        assert payload.endswith(b"\0")
    else:
        assert len(payload) == column_type.width


@pytest.mark.parametrize(
    ("kind", "text", "read"),
    [
        *((kind, text, read) for kind, text, read, _ in documented()),
        ("bigint", "9" * 5_000, None),
        ("varchar(1)", "ab\ud800", None),
        ("timestamp", "2024-01-08 05:06:07.0123456789", "2024-01-08 05:06:07.012345678"),
        ("decimal(10,2)", "1e-999999999", "0.00"),
        ("float", "0x1p200", "Infinity"),
    ],
)
def test_other_spellings_are_read(kind, text, read):
    column_type = parse_type(kind)
    with pytest.raises(ValueError, match=r"\w"):
        column_type.parse(text)
    value = column_type.read(text)
    assert (None if value is None else column_type.text(value)) == read


@all_types
@given(data=st.data())
def test_values_that_are_read_can_be_stored(column_type, data):
    value = column_type.read(data.draw(unicode_text | other_spellings))
    if value is not None:
        assert column_type.text(column_type.decode(column_type.encode(value))) == column_type.text(value)


@pytest.mark.parametrize("kind", [text for text in TYPE_TEXTS if text != "string"])
@given(data=st.data())
def test_other_texts_are_value_errors(kind, data):
    column_type = parse_type(kind)
    with pytest.raises(ValueError):  # noqa: PT011  each type has its own words
        column_type.parse(data.draw(invalid_texts(column_type)))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("int", "1_000"),
        ("int", "٣"),
        ("int", "1\n"),
        ("int", "0x10"),
        ("int", "5.0"),
        ("int", "+"),
        ("tinyint", "128"),
        ("bigint", "-9223372036854775809"),
        ("bigint", "9" * 100_000),
        ("date", "2013-02-29"),
        ("date", "2013-1"),
        ("date", "0000-01-01"),
        ("date", "10000-01-01"),
        ("date", "2013-01-01 "),
        ("timestamp", "2013-01-01 "),
        ("timestamp", "2013-01-01 25:00:00"),
        ("timestamp", "2013-01-01 10:60:00"),
        ("timestamp", "2013-01-01 10:00:60"),
        ("timestamp", "2013-01-01 10:00"),
        ("timestamp", "2013-01-01 10:00:00.1234567890"),
        ("timestamp", "2013-01-01 10:00:00Z"),
        ("boolean", "1"),
        ("boolean", ""),
        ("decimal(5,2)", "1000"),
        ("decimal(5,2)", "0.005"),
        ("decimal(5,2)", "NaN"),
        ("decimal(5,2)", "1e9999"),
        ("decimal(5,2)", "1." + "0" * 2000 + "1"),
        ("decimal(38,0)", "1" + "0" * 38),
        ("double", "nan"),
        ("double", "inf"),
        ("double", "1_0"),
        ("double", "0x1p3"),
        ("double", " 1"),
        ("varchar(3)", "abcd"),
        ("string", "\ud800"),
    ],
)
def test_near_misses_are_refused(kind, text):
    with pytest.raises(ValueError):  # noqa: PT011  each type has its own words
        parse_type(kind).parse(text)


@pytest.mark.parametrize(
    ("kind", "text", "canonical"),
    [
        ("int", "+05", "5"),
        ("int", "-0", "0"),
        ("bigint", "-" + "0" * 100 + "9223372036854775808", "-9223372036854775808"),
        ("date", "2013-1-5", "2013-01-05"),
        ("date", "0001-01-01", "0001-01-01"),
        ("timestamp", "2013-1-5 1:02:03.120", "2013-01-05 01:02:03.12"),
        ("timestamp", "0001-01-01 00:00:00.000000001", "0001-01-01 00:00:00.000000001"),
        ("boolean", "True", "true"),
        ("decimal(5,2)", "-.5", "-0.50"),
        ("decimal(5,2)", "-0", "0.00"),
        ("decimal(5,2)", "1E+2", "100.00"),
        ("decimal(5,2)", "1." + "0" * 2000, "1.00"),
        ("float", "0.1", "0.1"),
        ("float", "16777217", "1.6777216E7"),
        ("float", "1.00000017881393432617187499", "1.0000001"),
        ("float", "340282356779733661637539395458142568447.9", "3.4028235E38"),
        ("float", "340282356779733661637539395458142568448", "Infinity"),
        ("float", "1e39", "Infinity"),
        ("double", "-0", "0.0"),
        ("double", "1e400", "Infinity"),
        ("double", "5.", "5.0"),
        ("char(3)", "a  ", "a  "),
    ],
)
def test_canonical_texts(kind, text, canonical):
    column_type = parse_type(kind)
    assert column_type.text(column_type.parse(text)) == canonical


@given(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(0, 38))
def test_decimals_are_exact_to_the_last_of_38_digits(unscaled, scale):
    column_type = DecimalType(38, scale)
    text = f"{'-' * (unscaled < 0)}{abs(unscaled)}E-{scale}"
    with localcontext() as context:
        context.prec = 5  # whatever the caller's own context is
        payload = column_type.encode(column_type.parse(text))
        assert int.from_bytes(payload, "big") - 2**127 == unscaled
        digits = column_type.text(column_type.decode(payload))
    assert int(digits.replace(".", "")) == unscaled


@given(st.floats(width=32, allow_nan=False))
def test_the_text_of_a_float_is_the_shortest_that_reads_back(number):
    column_type = parse_type("float")
    text = column_type.text(number)
    assert column_type.parse(text) == number
    digits = len(Decimal(text).normalize().as_tuple().digits) if math.isfinite(number) else 1
    assert digits == 1 or column_type.parse(f"{number:.{digits - 1}g}") != number


@given(
    st.one_of(st.integers(0, 2**31 - 2**23 - 1), st.sampled_from([0, 1, 2**23 - 1, 2**23, 2**31 - 2**23 - 1])),
    st.one_of(st.integers(-3, 3), st.integers(-(10**6), 10**6)),
    st.integers(0, 40),
    st.sampled_from(["", "-"]),
    st.sampled_from(["", " ", "f", "d"]),
)
@example(2**31 - 2**23 - 1, -1, 3, "", "")
@example(0x3F800001, -1, 26, "", "")  # 1.0000001…
def test_a_text_of_a_float_is_rounded_once(pattern, off, digits, sign, end):
    """A text beside the middle between two floats, which a double may not tell from the middle."""
    low, high = (_exact(one) for one in (pattern, pattern + 1))
    with localcontext() as context:
        context.prec = 1000
        middle = Decimal((low + high).numerator) / (low + high).denominator / 2
        number = middle + middle * off / Decimal(10) ** (15 + digits)
        text = f"{sign}{number.normalize()}"
    exact = Fraction(Decimal(text).copy_abs())
    near = [one for one in (pattern - 1, pattern, pattern + 1, pattern + 2) if 0 <= one <= 0x7F800000]
    best = min(near, key=lambda one: (abs(_exact(one) - exact), one & 1))
    expected = float("inf") if best == 0x7F800000 else float(_exact(best))
    column_type = parse_type("float")
    assert column_type.read(f"{text}{end}") == (-expected if sign else expected)
    if not end:
        assert column_type.parse(text) == (-expected if sign else expected)


def _exact(pattern: int) -> Fraction:
    """The number of a float's bits, computed as IEEE 754 says; that of infinity is the next power of two."""
    exponent, fraction = divmod(pattern, 2**23)
    return Fraction(fraction + (2**23 if exponent else 0)) * Fraction(2) ** (max(exponent, 1) - 150)


@given(st.integers(0, 2**32 - 1))
def test_every_pattern_of_a_float_sorts_as_its_number(pattern):
    column_type = parse_type("float")
    number = struct.unpack(">f", pattern.to_bytes(4, "big"))[0]
    payload = column_type.encode(number)
    if math.isnan(number):
        assert payload == column_type.encode(math.nan) > column_type.encode(math.inf)
    else:
        assert (payload > column_type.encode(0.0)) is (number > 0)
        assert column_type.decode(payload) == number


def test_an_int_column_can_be_widened():
    payloads = {parse_type(kind).encode(100) for kind in ("tinyint", "smallint", "int", "bigint")}
    assert len(payloads) == 1


def test_varchar_counts_characters_not_bytes():
    assert StringType("varchar(2)", 2).parse("\U0010ffff\U0010ffff") == "\U0010ffff" * 2


@given(unicode_text)
def test_escaped_text_is_ended_and_read_back(text):
    data = escape(text)
    assert unescape(data) == text
    assert data[-1] == 0
    assert b"\0" not in data[:-1].replace(b"\0\xff", b"")


@pytest.mark.parametrize("text", ["", "1.2.3", "x", "--1"])
def test_what_is_no_decimal_is_a_value_error(text):
    with pytest.raises(ValueError, match="not a decimal"):
        parse_decimal(text)
