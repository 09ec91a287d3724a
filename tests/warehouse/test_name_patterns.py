"""Patterns of names in JDBC's metadata calls; tests of statements and of the metastore have Hive's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.warehouse.name_patterns import NamePattern

NAMES = ["sales", "sales_2013", "salesx2013", "old%", "old", "a\\b"]


def matching(pattern):
    return [name for name in NAMES if NamePattern.of_jdbc(pattern).matches(name)]


@pytest.mark.parametrize("pattern", [None, "", "%", "*", ".*", "%%", "%|x"])
def test_every_name(pattern):
    assert matching(pattern) == NAMES


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("sales", ["sales"]),
        ("SALES", ["sales"]),
        ("sales_2013", ["sales_2013", "salesx2013"]),
        (r"sales\_2013", ["sales_2013"]),
        (r"SALES\_2013", ["sales_2013"]),
        (r"sales\_%", ["sales_2013"]),
        ("sales*", ["sales", "sales_2013", "salesx2013"]),
        ("sales.*", ["sales", "sales_2013", "salesx2013"]),
        ("%2013", ["sales_2013", "salesx2013"]),
        ("sales|old", ["sales", "old"]),
        ("sales|*2013|none", ["sales", "sales_2013", "salesx2013"]),
        (r"old\%", ["old%"]),
        ("old_", ["old%"]),
        (r"a\\b", ["a\\b"]),
        (r"a\b", ["a\\b"]),
        ("|", []),
        ("sales|", ["sales"]),
        (".", []),
        ("(sales)", []),
        ("[s]ales", []),
    ],
)
def test_some_names(pattern, expected):
    assert matching(pattern) == expected


@pytest.mark.parametrize(("pattern", "names"), [("B|a|A", ["a", "b"]), (r"a\_b", ["a_b"]), ("a_b", None), ("%", None)])
def test_the_only_names(pattern, names):
    assert NamePattern.of_jdbc(pattern).names == names


@given(st.text("ab%_\\|*.", max_size=12), st.text("ab%_\\|*.", max_size=6))
def test_any_text_is_a_pattern(text, name):
    pattern = NamePattern.of_jdbc(text)
    assert pattern.matches(name) in (True, False)
    if pattern.names is not None:
        assert pattern.matches(name) == (name in pattern.names)


@given(st.text("AbC%_\\|*.é", min_size=1, max_size=8))
def test_a_name_in_which_all_is_escaped_is_itself(name):
    escaped = "".join(f"\\{one}" if one in "%_\\" else one for one in name)
    if not set(name) & {"*", "|"}:
        assert NamePattern.of_jdbc(escaped).names == [name.lower()]


def test_long_patterns_take_linear_time():
    assert not NamePattern.of_jdbc("%a" * 500 + "b").matches("a" * 5_000)
