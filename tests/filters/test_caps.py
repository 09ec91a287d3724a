"""Large filters work up to the documented caps; past them there is a named error."""

from __future__ import annotations

import pytest

from hbstore.errors import FilterSyntaxError, FilterTooLarge
from hbstore.filters import parser
from hbstore.filters.parser import MAX_FILTER_DEPTH, MAX_FILTER_LENGTH, MAX_FILTER_TERMS, parse_filter
from hbstore.filters.tree import And, In, Not, Or, StructIn


def test_many_ored_terms():
    tree = parse_filter(" or ".join(f"ds = 'd{number}'" for number in range(5_000)))
    assert isinstance(tree, Or)
    assert len(tree.children) == 5_000


def test_many_values():
    tree = parse_filter(f"a in ({', '.join(map(str, range(MAX_FILTER_TERMS)))})")
    assert isinstance(tree, In)
    assert len(tree.literals) == MAX_FILTER_TERMS


def test_many_struct_rows():
    tree = parse_filter(f"struct(a, b) in ({', '.join(f'struct({number}, 1)' for number in range(5_000))})")
    assert isinstance(tree, StructIn)
    assert len(tree.rows) == 5_000


@pytest.mark.parametrize(
    "text",
    [
        f"a in ({', '.join(map(str, range(MAX_FILTER_TERMS + 1)))})",
        " and ".join(["a is null"] * (MAX_FILTER_TERMS + 1)),
        "struct(" + ", ".join("a" * (MAX_FILTER_TERMS + 1)) + ") in (struct(1))",
    ],
    ids=["values", "conditions", "columns"],
)
def test_too_many_terms(text):
    with pytest.raises(FilterTooLarge) as caught:
        parse_filter(text)
    assert caught.value.fields == {"terms": MAX_FILTER_TERMS + 1, "limit": MAX_FILTER_TERMS}


def test_too_long():
    with pytest.raises(FilterTooLarge) as caught:
        parse_filter("a = '" + "x" * MAX_FILTER_LENGTH + "'")
    assert caught.value.fields["limit"] == MAX_FILTER_LENGTH


@pytest.mark.parametrize("depth", [1_000, 5_000, MAX_FILTER_DEPTH])
def test_deep_parentheses(depth):
    assert parse_filter("(" * depth + "a = 1" + ")" * depth) == parse_filter("a = 1")


@pytest.mark.parametrize("depth", [1_000, MAX_FILTER_DEPTH])
def test_deep_negation(depth):
    tree = parse_filter("not " * depth + "a = 1")
    for _ in range(depth):
        assert isinstance(tree, Not)
        tree = tree.child
    assert tree == parse_filter("a = 1")


def test_deep_alternation():
    text = "a = 1"
    for level in range(1_000):
        text = f"({text}) {'or' if level % 2 else 'and'} b = 2"
    assert str(parse_filter(text)).count("b = 2") == 1_000


def test_deep_conjunctions_are_flattened():
    tree = parse_filter("(" * 5_000 + "a = 1" + " and b = 2)" * 5_000)
    assert isinstance(tree, And)
    assert len(tree.children) == 5_001


@pytest.mark.parametrize(
    "text",
    [
        "(" * (MAX_FILTER_DEPTH + 1) + "a = 1" + ")" * (MAX_FILTER_DEPTH + 1),
        "not " * (MAX_FILTER_DEPTH + 1) + "a = 1",
        "not (" * (MAX_FILTER_DEPTH // 2) + "not a = 1" + ")" * (MAX_FILTER_DEPTH // 2),
        "(" * MAX_FILTER_DEPTH + "a in (1)" + ")" * MAX_FILTER_DEPTH,
        "(time_range_in(a, 'now', 'now') and " * (MAX_FILTER_DEPTH + 1) + "a = 1" + ")" * (MAX_FILTER_DEPTH + 1),
        "(" * MAX_FILTER_LENGTH,
    ],
    ids=["parentheses", "not", "both", "a list inside", "time ranges", "never closed"],
)
def test_too_deep(text):
    with pytest.raises(FilterTooLarge) as caught:
        parse_filter(text)
    assert caught.value.fields["limit"] == MAX_FILTER_DEPTH


def test_wide_filters_are_not_deep():
    text = " or ".join(["(not a = 1 and b not in (2))"] * 10_001)
    assert isinstance(parse_filter(text), Or)


@pytest.mark.parametrize(
    "text", [")" * 20_000, "a = 1 " + ")" * 20_000, "( " * 9_999 + "a"], ids=["closing", "trailing", "opening"]
)
def test_unbalanced_and_large(text):
    with pytest.raises(FilterSyntaxError):
        parse_filter(text)


@pytest.mark.parametrize(
    ("kinds", "depth"),
    [
        ("!c=s", 1),
        ("(c=s)", 1),
        ("!(c=s)", 2),
        ("!c=s&!c=s", 1),
        ("(c=s)|(c=s)", 1),
        ("c!E(s)", 1),
        ("!!(c)!E(s)", 3),
        ("!Tc,s,s)", 2),
    ],
)
def test_depth(kinds, depth):
    assert parser._is_too_deep(kinds, limit=depth - 1)
    assert not parser._is_too_deep(kinds, limit=depth)
