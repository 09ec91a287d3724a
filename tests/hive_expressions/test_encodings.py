"""Kryo's numbers and strings are read as they are written, and what is cut off is noticed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import ExpressionUnreadable
from hbstore.hive_expressions.encodings import ByteCursor
from tests.hive_expressions.writing import flagged, string, varint, zigzag


def cursor(data):
    return ByteCursor(data, fixed="big")


@given(st.integers(0, 2**32 - 1), st.binary(max_size=3))
def test_varints(number, behind):
    reading = cursor(varint(number) + behind)
    assert reading.varint() == number
    assert reading.at == len(varint(number))


@given(st.booleans(), st.integers(0, 2**31 - 1))
def test_flagged_numbers(flag, number):
    assert cursor(flagged(number, flag)).flagged() == (flag, number)


@given(st.integers(-(2**31), 2**31 - 1))
def test_ints(number):
    assert cursor(zigzag(number)).integer() == number


@given(st.integers(-(2**63), 2**63 - 1))
def test_longs(number):
    reading = cursor(zigzag(number, 64))
    assert reading.long() == number
    assert reading.at == len(reading.data)


@given(st.text(st.characters(), max_size=100))
def test_strings(text):
    reading = cursor(string(text))
    assert reading.text() == text
    assert reading.at == len(reading.data)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("82 61", "a"),
        ("81", ""),
        ("80", None),
        ("64 f3", "ds"),
        ("83 64 73", "ds"),
        ("83 00 61", "\0a"),
        ("82 c3 a9", "é"),
        ("83 ed a0 bd ed b8 80", "😀"),
        ("82 ed a0 bd", "\ud83d"),
    ],
)
def test_forms_of_strings(data, text):
    assert cursor(bytes.fromhex(data)).text() == text


def test_numbers_of_fixed_width():
    assert ByteCursor(b"\x01\x02", fixed="big").short() == 258
    assert ByteCursor(b"\x01\x02", fixed="little").short() == 513
    assert ByteCursor(b"\xff" * 8, fixed="big").fixed(8) == -1
    assert ByteCursor(b"\x3f\xc0\0\0", fixed="big").single() == 1.5
    assert ByteCursor(b"\0\0\xc0\x3f", fixed="little").single() == 1.5
    assert ByteCursor(b"\xbf\xd0" + bytes(6), fixed="big").double() == -0.25
    assert ByteCursor(b"\xfd", fixed="big").tiny() == -3


@given(st.sampled_from(["varint", "flagged", "long", "text", "short", "double"]), st.data())
def test_what_is_cut_off(read, data):
    whole = {
        "varint": varint(2**31),
        "flagged": flagged(2**30),
        "long": zigzag(2**60, 64),
        "text": string("é" * 20),
        "short": b"ab",
        "double": bytes(8),
    }[read]
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises(IndexError):
        getattr(cursor(cut), read)()


@pytest.mark.parametrize(
    ("read", "data"),
    [
        ("varint", b"\xff" * 6),
        ("flagged", b"\xff" * 6),
        ("text", b"\x82\xff"),
        ("text", b"\x82\xc3\x41"),
        ("boolean", b"\2"),
    ],
)
def test_what_is_none(read, data):
    with pytest.raises(ExpressionUnreadable):
        getattr(cursor(data), read)()
