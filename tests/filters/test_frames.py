"""Frames: what holds for one text of a frame holds for all of them."""

from __future__ import annotations

from itertools import chain, zip_longest

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hbstore.errors import HbstoreError
from hbstore.filters.compiler import language
from hbstore.filters.frames import frame_of, framed_literal, is_framed
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import Comparison, Date, Integer, Text
from tests.filters.strategies import garbage, leaves, texts, trees

tokens = st.one_of(
    st.text(st.characters(exclude_characters="'")).map(lambda text: f"'{text}'"),
    st.text(st.characters(exclude_characters='"')).map(lambda text: f'"{text}"'),
    st.sampled_from(["''", '""', "'`'", "'\"'", "' and x = '", "'''", '"\'"', "'5'", "'\n'"]).filter(
        lambda token: token.count(token[0]) == 2
    ),
    st.integers(0).map(str),
    st.sampled_from(["0", "007", "2019-01-01", "2019-13-45", "1-2-3", "20190-1-1"]),
)


def joined(frame, literals):
    return "".join(chain.from_iterable(zip_longest(frame, literals, fillvalue="")))


def kinds(text):
    """The kinds of a text's tokens, literals that can be cut out counting as one kind."""
    return language().scanner.cut(text)[0].translate(str.maketrans("sid", "vvv"))


def parses(text):
    try:
        parse_filter(text)
    except HbstoreError:
        return False
    return True


@given(st.text() | garbage | trees().map(str))
def test_a_frame_and_its_literals_are_the_text(text):
    frame, literals = frame_of(text)
    assert joined(frame, literals) == text


framable = st.one_of(texts.map(Text), st.integers(0).map(Integer))


@given(trees(leaves(literals=framable)).map(str), st.data())
@example("a = '1' and `b'c` = 2", None)
@example("date '2019-01-01' = a", None)
def test_all_texts_of_a_frame_have_the_same_tokens(text, data):
    assume(parses(text) and is_framed(text))
    frame, literals = frame_of(text)
    others = (
        literals[::-1] if data is None else data.draw(st.lists(tokens, min_size=len(literals), max_size=len(literals)))
    )
    other = joined(frame, others)
    assume(frame_of(other) == (frame, others))
    if all(token[0] in "'\"" or token.isdigit() or len(token) == 10 for token in others):
        assert is_framed(other)
        assert kinds(other) == kinds(text)
    else:
        assert not parses(other)


@given(st.data())
def test_a_literal_in_a_frame_is_found_again(data):
    frame, _ = frame_of("ds = 'x' and (hour) not in (1, 2) or 3 < `a b` and c between 4 and 5")
    others = data.draw(st.lists(tokens, min_size=6, max_size=6))
    assert frame_of(joined(frame, others)) == (frame, others)


@pytest.mark.parametrize(
    "text",
    ["a = 5", "a='x'", 'a in (1,"b" , 2019-01-01)', "5 < a", "a between'x'and'y'", "c1 = 1", "a like 'x'"],
)
def test_framed(text):
    frame, literals = frame_of(text)
    assert joined(frame, literals) == text
    assert is_framed(text)


@pytest.mark.parametrize(
    "text",
    [
        *("a = -5", "a = 5.0", "a = 1e3", "a = .5", "a = true", "a = date '2019-01-01'", "a = date 2019-01-01"),
        *("a = timestamp '2019-01-01 00:00:00'", "a = timestamp 2019-01-01 00:00:00", "`5` = 5", "`a'b` = 'c'"),
        *("`it's` = 'x'", "a = 5 and `'x'` = 'x'"),
    ],
)
def test_not_framed(text):
    assert not is_framed(text)


@given(tokens)
@example("'__HIVE_DEFAULT_PARTITION__'")
def test_a_literal_is_the_parsers(token):
    try:
        expected = parse_filter(f"a = {token}")
    except HbstoreError:
        with pytest.raises(ValueError, match=r"."):
            framed_literal(token)
    else:
        assert Comparison("a", expected.operator, framed_literal(token)) == expected
        assert isinstance(framed_literal(token), Text | Integer | Date)
