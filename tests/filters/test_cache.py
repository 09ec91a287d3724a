"""Programs are cached by shape: filters of one shape share a program and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given

from hbstore.errors import FilterSyntaxError, InvalidTimeRange, TimeRangeSyntaxError
from hbstore.filters import compiler
from hbstore.filters.compiler import MAX_CACHED_SHAPE, compile_shape, language
from hbstore.filters.parser import parse_filter
from hbstore.filters.programs import Joint
from hbstore.filters.scanner import LiteralList, Scan
from hbstore.filters.tree import And, Not, Or
from tests.filters.strategies import trees


@pytest.fixture(autouse=True)
def _cold():
    compiler._short_program.cache_clear()
    compiler._long_program.cache_clear()


def shape(text):
    return language().scanner.scan(text).shape


@given(trees())
def test_cold_and_warm_give_the_same(tree):
    text = str(tree)
    warm = parse_filter(text)
    compiler._short_program.cache_clear()
    assert parse_filter(text) == warm == parse_filter(text) == tree


def test_one_shape_for_all_columns_operators_and_literals():
    assert shape("ds = '2013-01-01' and hour in (5, 6)") == "c=s&cE(*)"
    assert shape("`x y`<>\"\" AND z IN('a',2019-01-01,true)") == "c=s&cE(*)"
    parse_filter("ds = '2013-01-01' and hour in (5, 6)")
    hits = compiler._short_program.cache_info().hits
    assert str(parse_filter("`x y`<>\"\" AND z IN('a',2019-01-01,true)")) == (
        "`x y` != '' and z in ('a', date '2019-01-01', true)"
    )
    assert compiler._short_program.cache_info().hits == hits + 1


def test_operators_are_values():
    assert str(parse_filter("1 < a")) == "a > 1"
    assert str(parse_filter("1 >= a")) == "a <= 1"
    assert str(parse_filter("1 = a")) == "a = 1"
    assert compiler._short_program.cache_info().misses == 1


@pytest.mark.parametrize("name", ["date", "timestamp", "struct", "const", "android", "`and`", "`not`", "`a``b`"])
def test_columns_that_look_like_keywords(name):
    parse_filter("ds = '2019-01-01'")
    assert str(parse_filter(f"{name} = '2019-01-01'")) == f"{name} = '2019-01-01'"
    assert compiler._short_program.cache_info().hits == 1


def test_a_bad_date_under_a_cached_shape():
    assert parse_filter("a = 1 and b in (2019-12-31, 2019-12-30)") is not None
    with pytest.raises(FilterSyntaxError) as caught:
        parse_filter("a = 1 and b in (2019-12-31, 2019-12-32)")
    assert caught.value.fields["column"] == 29
    assert caught.value.fields["found"] == "2019-12-32"
    assert parse_filter("a = 1 and b in (2019-12-31, 2019-12-30)") is not None


def test_an_uneven_row_under_a_cached_shape():
    assert parse_filter("struct(a, b) in (struct(1, 2))") is not None
    with pytest.raises(FilterSyntaxError) as caught:
        parse_filter("struct(a, b) in (struct(1, 2, 3))")
    assert caught.value.fields["expected"] == "2 values"
    assert compiler._short_program.cache_info().misses == 1


def test_a_bad_time_under_a_cached_shape():
    assert parse_filter("a in (1, 2) and time_range_in(b, '2015', 'now')") is not None
    for end, error in (("'soon'", TimeRangeSyntaxError), ("'2014'", InvalidTimeRange)):
        with pytest.raises(error) as caught:
            parse_filter(f"a in (1, 2) and time_range_in(b, '2015', {end})")
        assert caught.value.fields["column"] == (43 if error is TimeRangeSyntaxError else 42)
    assert str(parse_filter("a in (3, 4) and time_range_in(b, '2015', 'now')")).endswith("'now')")


def test_dialects_share_a_program():
    assert str(parse_filter("a like 'x.*'", "hive2")) == "a like 'x%'"
    assert str(parse_filter("a like 'x.*'", "sql")) == "a like 'x.*'"
    assert compiler._short_program.cache_info().hits == 1


def test_errors_are_not_cached():
    for _ in range(2):
        with pytest.raises(FilterSyntaxError):
            parse_filter("a = ")
    assert compiler._short_program.cache_info().currsize == 0


def test_long_shapes_have_a_cache_of_their_own_and_very_long_ones_none():
    for terms, cached in ((200, True), (MAX_CACHED_SHAPE // 4 + 1, False)):
        text = " or ".join(["a = 1"] * terms)
        parse_filter(text)
        parse_filter(text)
        assert compiler._short_program.cache_info().currsize == 0
        assert bool(compiler._long_program.cache_info().hits) is cached
        compiler._long_program.cache_clear()


def test_programs_are_flat():
    steps = compile_shape("((c=s|c=s)|(c=s|!c=s))&c=s").steps
    assert [step if isinstance(step, Joint) else step.func.__name__ for step in steps] == [
        *["comparison"] * 4,
        Joint(Not, 1),
        Joint(Or, 4),
        "comparison",
        Joint(And, 2),
    ]


def test_places_after_folded_lists():
    scan = language().scanner.scan("a in (1, 2, 3) and b in (4, 5) or c")
    assert scan == Scan("cE(*)&cE(*)|c", scan.values)
    assert scan.values[3] == LiteralList("iii", ["1", "2", "3"])
    assert [scan.token_number(index) for index in (0, 3, 4, 9, 10)] == [0, 3, 8, 13, 16]
