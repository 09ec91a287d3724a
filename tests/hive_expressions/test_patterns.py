"""Patterns of LIKE and RLIKE: what they match is what Python's own patterns match, where both mean the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import ExpressionUnreadable
from hbstore.hive_expressions.patterns import like_pattern, parse_rlike

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "[a-c0-2]", r"\d", r"\W", r"\.", "^", "$", "1"])
PARTS = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3).map("".join)
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})")
        | st.tuples(inner.map("({})".format), st.sampled_from(["?", "*", "+", "{2}", "{1,2}", "{0,}"])).map("".join)
    ),
    max_leaves=8,
)


@given(PARTS, st.text("ab1. ", max_size=8))
def test_it_matches_what_pythons_patterns_match(pattern, text):
    assert parse_rlike(pattern).matches(text) is (re.search(pattern, text, re.ASCII) is not None)


@pytest.mark.parametrize(
    ("pattern", "found", "other"),
    [
        ("a$", ["a", "ba", "a\n", "a\r\n", "a\u2028"], ["ab", "a\nb"]),
        ("^.$", ["a", "é", "😀", "a\n"], ["ab", "\r"]),
        (r"[\d-]+$", ["5-", "-"], ["a"]),
        ("[a-]", ["-", "a"], ["b"]),
        (r"[\]x]", ["]", "x"], ["a"]),
        ("a||b", ["", "c"], []),
    ],
)
def test_as_java_does(pattern, found, other):
    compiled = parse_rlike(pattern)
    assert [text for text in (*found, *other) if compiled.matches(text)] == found


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        ")",
        "a)",
        "[",
        "[]",
        "[]a]",
        "[b-a]",
        "[a&&b]",
        "[[a]]",
        "*a",
        "a**",
        "a*?",
        "a++",
        "a{",
        "a{2",
        "a{2,1}",
        "a{,2}",
        "a{9999}",
        "{",
        "]",
        "\\",
        "\\1",
        "\\b",
        "\\p{L}",
        "\\Q",
        "(?i)a",
        "(?=a)",
        "(?<n>a)",
        "^*",
        "a{2}{3}",
        "[a^]",
        "😀",
    ],
)
def test_what_is_refused(pattern):
    with pytest.raises(ExpressionUnreadable):
        parse_rlike(pattern)


@pytest.mark.parametrize(
    "pattern", ["(" * 60 + ")" * 60, "((((((a{9}){9}){9}){9}){9}){9})", "(((((){999}){999}){999}){999})"]
)
def test_what_is_too_long(pattern):
    with pytest.raises(ExpressionUnreadable):
        parse_rlike(pattern)


def test_no_text_makes_it_slow():
    assert not parse_rlike("^(a*)*(a|aa)+b$").matches("a" * 3_000)  # a backtracking matcher would not come back


@pytest.mark.parametrize(
    ("pattern", "found", "other"),
    [
        ("a%", ["a", "ab", "a%"], ["ba"]),
        ("a\\%", ["a%"], ["ab", "a"]),
        ("a\\_%", ["a_", "a_b"], ["ab"]),
        ("a\\b", ["a\\b"], ["ab"]),
        ("_", ["a", "%"], ["", "ab"]),
        ("%%", ["", "a"], []),
        ("", [""], ["a"]),
    ],
)
def test_like(pattern, found, other):
    compiled = like_pattern(pattern)
    assert [text for text in (*found, *other) if compiled.matches(text)] == found
