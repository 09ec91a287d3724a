"""Partition names, with Hive's escapes, and names of databases and tables."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import InvalidName, InvalidPartitionValue
from hbstore.keys.partition_names import (
    escape_name,
    identifier,
    parse_partition_name,
    partition_name,
    spec_values,
    unescape_name,
)
from hbstore.keys.row_key import NULL_PARTITION
from tests.strategies import names, unicode_text

# What Hive's FileUtils.escapePathName writes as % and two digits; and NUL, which Hive forgot and no path can hold.
ESCAPED_BY_HIVE = {*map(chr, range(0x01, 0x20)), *"\"#%'*/:=?\\{[]^", "\x7f"}


def test_exactly_the_characters_that_hive_escapes_are_escaped():
    escaped = {chr(code) for code in range(0x3000) if escape_name(chr(code)) != chr(code)}
    assert escaped == ESCAPED_BY_HIVE | {"\0"}
    assert all(escape_name(character) == f"%{ord(character):02X}" for character in escaped)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("2013-01-01 00:00:00", "2013-01-01 00%3A00%3A00"),
        ("a/b=c", "a%2Fb%3Dc"),
        ("100%", "100%25"),
        ("größe", "größe"),
        ("}&<>|,;", "}&<>|,;"),
        ("", ""),
    ],
)
def test_escapes(text, escaped):
    assert escape_name(text) == escaped
    assert unescape_name(escaped) == text


@given(unicode_text)
def test_every_text_survives_escaping(text):
    assert unescape_name(escape_name(text)) == text
    assert not set(escape_name(text)) & (ESCAPED_BY_HIVE - {"%"})


@pytest.mark.parametrize(
    ("text", "plain"), [("%2f", "/"), ("100%", "100%"), ("%zz", "%zz"), ("%2", "%2"), ("%+5", "%+5"), ("%e9", "é")]
)
def test_what_is_no_escape_stays(text, plain):
    assert unescape_name(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("caf%C3%A9", "café"),
        ("%f0%9F%98%80%2F", "😀/"),
        ("%C3", "Ã"),
        ("%C3%A9%E9", "Ã©é"),
        ("%ED%A0%80", "í\xa0\x80"),
        ("caf%25C3%25A9", "caf%C3%A9"),
    ],
)
def test_escaped_bytes_of_utf_8_are_read_together(text, plain):
    assert unescape_name(text) == plain


@given(unicode_text)
def test_names_of_other_programs_are_read(text):
    assert unescape_name(quote(text, safe="")) == text


@given(st.dictionaries(names, unicode_text, min_size=1, max_size=4))
def test_partition_names_are_read_back(spec):
    name = partition_name(list(spec), list(spec.values()))
    assert parse_partition_name(name) == {column: value or NULL_PARTITION for column, value in spec.items()}
    assert list(parse_partition_name(name)) == list(spec)
    assert name.count("/") == len(spec) - 1


def test_a_partition_name_may_have_slashes_around_it():
    assert parse_partition_name("/ds=1/hour=2/") == {"ds": "1", "hour": "2"}
    assert parse_partition_name("ds=a=b") == {"ds": "a=b"}


@pytest.mark.parametrize("name", ["", "ds", "=1", "ds=1//hour=2", "ds=1/ds=2", "ds=1/hour"])
def test_other_names_are_refused(name):
    with pytest.raises(InvalidPartitionValue, match="the text is not a partition name"):
        parse_partition_name(name)


def test_a_name_needs_a_value_for_each_column():
    with pytest.raises(ValueError, match="1 values for 2 partition columns"):
        partition_name(["ds", "hour"], ["1"])


def test_specs_in_any_order_and_case():
    assert spec_values(["ds", "Hour"], {"HOUR": "5", "ds": "1"}) == ("1", "5")
    assert spec_values(["ds", "hour"], {"hour": "5"}) == (None, "5")
    assert spec_values(["ds"], {}) == (None,)


@pytest.mark.parametrize(
    ("spec", "message"), [({"day": "1"}, "columns are ds, hour"), ({"ds": "1", "DS": "1"}, "twice")]
)
def test_specs_that_do_not_fit_are_refused(spec, message):
    with pytest.raises(InvalidPartitionValue, match=message):
        spec_values(["ds", "hour"], spec)


@pytest.mark.parametrize("name", ["sales", "SALES", "_x", "2013", "a" * 256])
def test_identifiers_become_lower_case(name):
    assert identifier("table", name) == name.lower()


@pytest.mark.parametrize("name", ["", " ", "a-b", "a\n", "a" * 257, "ſ", "é", None, 1, b"a"])
def test_other_identifiers_are_refused_by_kind(name):
    with pytest.raises(InvalidName, match="the table name is invalid"):
        identifier("table", name)


def test_names_of_databases_and_functions_are_shorter_than_those_of_tables():
    for kind in ("database", "function", "model", "document"):
        assert identifier(kind, "a" * 128) == "a" * 128
        with pytest.raises(InvalidName, match="at most 128"):
            identifier(kind, "a" * 129)
