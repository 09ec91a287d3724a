"""Errors: the place (after the bar), what is expected there, and a hint."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from hbstore.errors import FilterError, FilterSyntaxError, InvalidTimeRange
from hbstore.filters.hints import RULES
from hbstore.filters.parser import parse_filter
from tests.filters.strategies import garbage

LITERAL = "a literal"
MORE = "AND, OR or the end"
OPERATOR = "a comparison operator, IN, LIKE, BETWEEN or IS"
TERM = "a column, a literal, NOT or '('"

CASES = [
    ("a = 1 ¦|| b = 2", MORE, "Use OR"),
    ("a = 1 ¦&& b = 2", MORE, "Use AND"),
    ("¦!a = 1", TERM, "Use NOT"),
    ("a = 1 ¦garbage", MORE, "only AND or OR"),
    ("a = 1 ¦'x'", MORE, "only AND or OR"),
    ("a = 1 ¦;", MORE, "eave out the semicolon"),
    ("a = 'x'¦;", MORE, "eave out the semicolon"),
    ("a = 'x'¦||b = 'y'", MORE, "Use OR"),
    ("a = 1¦, 2", MORE, "only AND or OR"),
    ("a between 1 ¦, 2", "AND", None),
    ("a between 'x' ¦, 'y' or a = 1", "AND", None),
    ("a between 1 and 2¦, 3", MORE, "only AND or OR"),
    ("a like ¦5, 6", "a string in quotes", None),
    ("1¦, 2 = a", "a comparison operator", None),
    ("where ¦a = 1", OPERATOR, "follows WHERE"),
    ("SELECT ¦* from t where a = 1", OPERATOR, "follows WHERE"),
    ("a in ¦5", "'('", "in parentheses"),
    ("a not in ¦'x'", "'('", "in parentheses"),
    ("a in (1) ¦, 2", MORE, "only AND or OR"),
    ("a = ¦'x", LITERAL, "not closed"),
    ('a = ¦"x', LITERAL, "not closed"),
    ("¦`a = 1", TERM, "not closed"),
    ("a = 'it'¦s'", MORE, "no escapes"),
    ("a = 'it'¦'s'", MORE, "no escapes"),
    ("a = 'it\\'¦s'", MORE, "no escapes"),
    ("(a = 1¦", "AND, OR or ')'", "line 1, column 1"),
    ("a = 2 and (\n (a = 1)¦  ", "AND, OR or ')'", "line 1, column 11"),
    ("a = 1¦)", MORE, "was not opened"),
    ("(a = 1)¦)", MORE, "was not opened"),
    ("¦) a = 1", TERM, "was not opened"),
    ("(¦)", TERM, None),
    ("a = ¦null", LITERAL, "use IS NULL"),
    ("a != ¦NULL", LITERAL, "use IS NOT NULL"),
    ("¦null = a", TERM, "use IS NULL"),
    ("a in (1, ¦null)", LITERAL, "use IS NULL"),
    ("a = ¦b", LITERAL, "cannot be compared with each other"),
    ("a < ¦`b`", LITERAL, "cannot be compared with each other"),
    ("a in ('x', ¦y)", LITERAL, "ut a text in quotes"),
    ("a between 1 and ¦b", LITERAL, "ut a text in quotes"),
    ("1 = ¦1", "a column or '('", "must be a column"),
    ("a = ¦10x", LITERAL, "neither a number nor a date"),
    ("a = ¦10.5x", LITERAL, "neither a number nor a date"),
    ("a = ¦1.2.3", LITERAL, "neither a number nor a date"),
    ("a = ¦1e", LITERAL, "neither a number nor a date"),
    ("a = ¦5-3", LITERAL, "neither a number nor a date"),
    ("a = ¦2019-01-01x", LITERAL, "neither a number nor a date"),
    ("a = ¦2019-01-012", LITERAL, "neither a number nor a date"),
    ("¦1st = 5", TERM, "in back-quotes"),
    ("a = ¦1and b = 2", LITERAL, "neither a number nor a date"),
    ("a in (¦)", LITERAL, "at least one value"),
    ("a not in ( ¦)", LITERAL, "at least one value"),
    ("a in (1,¦,2)", LITERAL, None),
    ("a in (1,¦)", LITERAL, None),
    ("a in (1 ¦2)", "',' or ')'", None),
    ("a in (1, 2, 3 ¦4)", "',' or ')'", None),
    ("a in ¦1", "'('", None),
    ("a =¦> 1", LITERAL, "The operators are"),
    ("a <=¦> 1", LITERAL, "The operators are"),
    ("¦in = 5", TERM, "in in back-quotes"),
    ("¦$date = 'x'", TERM, "Put a column name with such a character in back-quotes: `$date`"),
    ("a = 1 and (¦@x like 'y')", TERM, "`@x`"),
    ("a = 1 or date¦$of-sale in (1, 2)", OPERATOR, "`date$of-sale`"),
    ("a¦-b=1", OPERATOR, "`a-b`"),
    ("'x' = ¦#tag", "a column or '('", "`#tag`"),
    ("¦$ = 1", TERM, None),
    ("¦${day} = 1", TERM, None),
    ("a¦.b = 1", OPERATOR, None),
    ("a ¦$ 1", OPERATOR, None),
    ("¦$5 = 1", TERM, None),
    ("¦$" + "a" * 128 + " = 1", TERM, None),
    ("¦-a = 1", TERM, None),
    ("year¦(ds) = 2013", OPERATOR, "no function but TIME_RANGE_IN"),
    ("a¦", OPERATOR, "compare it"),
    ("a ¦and b = 1", OPERATOR, "compare it"),
    ("5¦", "a comparison operator", None),
    ("a =¦", LITERAL, None),
    ("a = 1 and¦", TERM, None),
    ("a = 1 and ¦or b = 2", TERM, None),
    ("a not ¦= 1", "IN, LIKE or BETWEEN", None),
    ("a is ¦5", "NULL or NOT", None),
    ("a like ¦5", "a string in quotes", None),
    ("a between 1¦", "AND", None),
    ("a between 1 ¦or 2", "AND", None),
    ("a = 1\nand b ¦~ 5", OPERATOR, None),
    ("a = ¦2019-13-45", "a date such as DATE '2019-12-31'", None),
    ("a = ¦date '2019-02-30'", "a date such as DATE '2019-12-31'", None),
    ("a = ¦date 'today'", "a date such as DATE '2019-12-31'", "Not a date"),
    ("a in (1, 2, ¦0000-01-01, 3) and b = 2", "a date such as DATE '2019-12-31'", None),
    ("¦timestamp '2019-01-01 25:00:00' < a", "a timestamp such as TIMESTAMP '2019-12-31 23:59:59'", None),
    ("a = ¦1e5000", "a shorter number", "4000 digits"),
    ("a = ¦" + "1" * 4_001, "a shorter number", "4000 digits"),
    ("struct(a, b) in (¦struct(1))", "2 values", None),
    ("struct(a) in (struct(1), ¦const struct(1, 2))", "1 value", None),
    ("struct(a, b) in (struct(1, 2), struct(¦))", LITERAL, None),
    ("struct(¦) in (struct(1))", "a column", None),
    ("struct(a, b) in (¦1)", "STRUCT(", None),
    ("time_range_in(a, ¦2015-01-29, 'now')", "a string in quotes", "two times in quotes"),
    ("time_range_in(a, 'now.day', ¦now)", "a string in quotes", "two times in quotes"),
    ("time_range_in(a, '2015', ¦5, 6)", "a string in quotes", "two times in quotes"),
    ("time_range_in(a, '2015'¦)", "','", "a column and two times"),
    ("time_range_in(a, '2015', '2016'¦, '2017', '2018')", "')'", "a column and two times"),
    ("time_range_in(¦'2015', '2016')", "a column", "a column and two times"),
    ("time_range_in(¦)", "a column", "a column and two times"),
    ("a = 1 and (time_range_in(a, '2015', '2016'¦", "')'", "line 1, column 25"),
    ("time_range_in(a, '2015', ¦'2016)", "a string in quotes", "not closed"),
    ("a ¦time_range_in('2015', '2016')", OPERATOR, None),
    ("time_range_in¦", OPERATOR, "compare it"),
    ("a = 1 and\n time_range_in(a, '2015', '2016-¦13')", "01 to 12", "Times are written"),
    ("time_range_in(a, 'now.day-3¦dys', 'x')", "second, minute, hour, day, week, month, quarter or year", None),
    ("time_range_in(a, '¦', 'now')", "a year (yyyy) or now", None),
    ("a in ('x', 'y') and time_range_in(a, 'now', \"2015¦/02\")", "'-' or the end", None),
]


@pytest.mark.parametrize(("marked", "expected", "hint"), CASES)
def test_error(marked, expected, hint):
    before, _, after = marked.partition("¦")
    with pytest.raises(FilterSyntaxError) as caught:
        parse_filter(before + after)
    fields, advice = caught.value.fields, caught.value.hint
    *lines, last = before.split("\n")
    assert (fields["line"], fields["column"]) == (len(lines) + 1, len(last) + 1)
    assert fields["expected"] == expected
    if hint is not None:
        assert advice is not None
        assert hint in advice
    shown, caret = caught.value.highlight.split("\n")
    assert caret.strip() == "^"
    at = len(caret) - 1
    assert shown[at : at + 1] == (after.strip() or "")[:1]


@pytest.mark.parametrize(
    "marked",
    [
        "time_range_in(a, '2015-01-29', ¦'2015')",
        "a in (1, 2, 3) and\n  not TIME_RANGE_IN (a,'2015-01-01-00:00:00,001', ¦\"2015-01-01\")",
    ],
)
def test_a_time_range_that_ends_before_it_begins(marked):
    before, _, after = marked.partition("¦")
    with pytest.raises(InvalidTimeRange) as caught:
        parse_filter(before + after)
    error = caught.value
    *lines, last = before.split("\n")
    assert (error.fields["line"], error.fields["column"]) == (len(lines) + 1, len(last) + 1)
    assert str(error).endswith(f"{last}{after}\n{' ' * len(last)}^")
    assert isinstance(error, FilterError)


def test_the_message_holds_all():
    with pytest.raises(FilterSyntaxError) as caught:
        parse_filter("hour = 1 || hour = 2")
    assert str(caught.value) == (
        "the filter does not parse: line=1, column=10, found='||', expected=AND, OR or the end. Use OR instead of ||\n"
        "hour = 1 || hour = 2\n"
        "         ^"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a = b", "b"),
        ("a =", "the end"),
        ("a = (", "'('"),
        ("a = \x00", "'\\x00'"),
        ("a = 'x\ty", "'x y"),
        ("a in (1 " + "2" * 100 + ")", "2" * 39 + "…"),
    ],
)
def test_what_was_found(text, found):
    with pytest.raises(FilterSyntaxError) as caught:
        parse_filter(text)
    assert caught.value.fields["found"] == found


def test_long_lines_are_cut_round_the_place():
    text = "first = 1 and " * 50 + "second bad" + " or third = 3" * 50
    with pytest.raises(FilterSyntaxError) as caught:
        parse_filter(f"a = 1 and\n{text}\nand b = 2")
    shown, caret = caught.value.highlight.split("\n")
    assert len(shown) == 102
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert shown[len(caret) - 1 :].startswith("bad or third")
    assert caught.value.fields["line"] == 2
    assert caught.value.fields["column"] == text.index("bad") + 1


def test_the_first_bad_literal_is_named():
    with pytest.raises(FilterSyntaxError) as caught:
        parse_filter("a in (2019-01-01, 2019-02-29, 2019-02-30)")
    assert caught.value.fields["found"] == "2019-02-29"


def test_errors_do_not_carry_the_parser_along():
    with pytest.raises(FilterSyntaxError) as caught:
        parse_filter("a = ")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@given(garbage)
@example("a = '\ud800'")
@example("\ud800 = 5")
@example("date '")
@example("`` = 1")
@example("a = 1.-5")
@example("time_range_in(a, '2016', '2015')")
def test_garbage_is_a_filter_or_a_filter_error(text):
    try:
        tree = parse_filter(text)
    except FilterError:
        return
    assert tree is None or parse_filter(str(tree)) == tree


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.example)
def test_the_example_of_a_rule_gets_its_hint(rule):
    with pytest.raises(FilterSyntaxError) as caught:
        parse_filter(rule.example)
    fixed = [other.example for other in RULES if other.hint == caught.value.hint]
    assert fixed == ([rule.example] if isinstance(rule.hint, str) else [])
    assert caught.value.hint
