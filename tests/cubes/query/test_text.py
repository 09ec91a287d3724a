"""The text of a cube query: the word CUBE, and where mistakes are."""

from __future__ import annotations

import pytest
import sqlglot
from hypothesis import assume, given
from hypothesis import strategies as st
from sqlglot.errors import TokenError

from hbstore.cubes.dialect import QueryDialect
from hbstore.cubes.query.text import parse_query
from hbstore.errors import CubeSyntaxError
from hbstore.texts.quotes import unclosed


@pytest.mark.parametrize("before", ["", "\n", "-- why\n ", "/* why */ "])
def test_the_place_of_a_mistake_counts_what_stands_before_cube(before):
    with pytest.raises(CubeSyntaxError) as caught:
        parse_query(f"{before}cube select fare\nfrom rides\nwhere a b")
    assert caught.value.fields["line"] == before.count("\n") + 3
    line, caret = caught.value.highlight.splitlines()
    assert line[caret.index("^")] == "b"


PIECES = ["\\\n", "'", '"', "`", "\\", "r", "R'", "ar'", "a", "1", " ", "--", "\n", "/* ' */", "/*", "*/", ";", "''"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_a_quote_is_unclosed_where_sqlglot_says_that_there_is_one(text):
    assume(
        "*/*" not in text
    )  # which sqlglot reads as the end of a comment and the beginning of another one, or neither
    try:
        sqlglot.tokenize(text, dialect=QueryDialect)
    except TokenError:
        assert text[unclosed(text) :].startswith(("'", '"', "`", "/*"))
    else:
        assert unclosed(text) is None


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("cube select fare from rides where bike = 'a", "'"),
        ("cube select fare, 'it\\'s', \"b from rides", '"'),
        ("cube select fare from rides where bike = 'it''s' or bike = 'it''", "'"),
        ("-- don't\ncube select `fare from rides", "`"),
        ("cube select fare /* not /* at */ all from rides", "/*"),
    ],
)
def test_the_place_of_a_quote_that_is_not_closed(text, quote):
    with pytest.raises(CubeSyntaxError, match="does not parse") as caught:
        parse_query(text)
    line, caret = caught.value.highlight.splitlines()
    assert line[caret.index("^") :].startswith(quote)
    assert quote == caught.value.fields["found"]
    assert caught.value.hint.startswith(f"Close the {quote}")
    assert caught.value.fields["line"] == text.count("\n") + 1


def test_quotes_within_quotes():
    query = parse_query("cube select 'o''brien' \"\"\"x\" from rides options (join_type = 'it''s', a = \"b\"\"c\")")
    assert query.select.selects[0].this == "o'brien\"x"
    assert query.options == {"join_type": "it's", "a": 'b"c'}
    query = parse_query("cube select fare from rides options (join_type = 'it' 's')")
    assert query.options == {"join_type": "'it' 's'"}  # no value of the option: what is refused is all that is written


@pytest.mark.parametrize(
    ("text", "what", "expected"),
    [
        ("select fare::int8 from rides", "int8", "a type of Spark"),
        ("select as fare from rides", "as", "an expression"),
        ("select fare, , tip from rides", ",", "an expression"),
        ("select fare from rides where bike between 'a' or bike", "or", "AND"),
        ("select case when bike then 1 from rides", "from", "END"),
        ("select {fn upper(bike)} from rides", "{", "an expression"),
    ],
)
def test_an_error_says_what_was_expected(text, what, expected):
    with pytest.raises(CubeSyntaxError, match="does not parse") as caught:
        parse_query(text)
    assert caught.value.fields["expected"] == expected
    assert caught.value.fields["found"] == what


def test_comments_that_go_on_in_the_next_line():
    query = parse_query("-- a \\\n select (\ncube select fare -- b \\\n + 'tip\n + 1 from rides")
    assert query.select.sql(QueryDialect, comments=False) == "SELECT fare + 1 FROM rides"
    with pytest.raises(CubeSyntaxError) as caught:
        parse_query("cube select fare -- b \\\n ' tip\n + ) from rides")
    assert (caught.value.fields["line"], caught.value.fields["column"]) == (3, 4)
