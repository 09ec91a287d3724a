"""Trees print as text that parses to the same tree."""

from __future__ import annotations

import pytest
from hypothesis import given

from hbstore.errors import FilterTypeError
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import And, Comparison, ExpressionTree, IsNull, Like, Not, Operator, Or, Text, joined
from hbstore.texts.like import parse_like
from tests.filters.strategies import trees


@given(trees())
def test_printed_trees_parse_to_themselves(tree):
    assert parse_filter(str(tree)) == tree


@given(trees())
def test_printing_is_the_same_after_parsing(tree):
    assert str(parse_filter(str(tree))) == str(tree)


def deep(depth: int) -> ExpressionTree:
    tree: ExpressionTree = IsNull("a")
    for level in range(depth):
        tree = (And((tree, IsNull("b"))), Not(tree), Or((IsNull("c"), tree)))[level % 3]
    return tree


def test_deep_trees_print():
    printed = str(deep(6_000))
    again = parse_filter(printed)
    assert str(again) == printed


@pytest.mark.parametrize(
    "tree",
    [Comparison("a", Operator.EQ, Text('it\'s "x"')), Not(Like("a", parse_like('it\'s "x"%', "sql")))],
)
def test_both_kinds_of_quotes_cannot_be_printed(tree):
    with pytest.raises(FilterTypeError, match="both kinds of quotes"):
        str(tree)


def test_joined_flattens_one_level_and_unwraps_one_child():
    a, b, c = IsNull("a"), IsNull("b"), IsNull("c")
    assert joined(And, [And((a, b)), c]) == And((a, b, c))
    assert joined(And, [Or((a, b)), c]) == And((Or((a, b)), c))
    assert joined(Or, [a]) == a


def test_trees_are_values():
    assert hash(parse_filter("a = 1 and b in (1, 2)")) == hash(parse_filter("A = 1 and b in (1, 2)".replace("A", "a")))
    with pytest.raises(AttributeError):
        parse_filter("a = 1").column = "b"  # type: ignore[union-attr]
