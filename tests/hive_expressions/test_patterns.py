"""Patterns of LIKE: what they match."""

from __future__ import annotations

import pytest

from hbstore.hive_expressions.patterns import like_pattern


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
