"""Runs against plain sets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hbstore.timelines.runs import Runs, gaps

NUMBERS = st.lists(st.integers(0, 40))
BOUNDS = st.tuples(st.integers(-2, 44), st.integers(-2, 44)).map(sorted)


def numbers(runs):
    return {number for start, stop in runs for number in range(start, stop)}


@given(NUMBERS)
def test_runs_of_numbers_in_any_order(given_numbers):
    runs = Runs.of(given_numbers)
    assert runs.in_order()
    assert numbers(runs) == set(given_numbers)
    assert runs.size() == len(set(given_numbers))
    assert runs == Runs.of(sorted(given_numbers)) == Runs.of(sorted(given_numbers, reverse=True))
    assert [number in runs for number in range(-1, 42)] == [number in given_numbers for number in range(-1, 42)]


@given(NUMBERS, st.integers(0, 40))
def test_one_number(given_numbers, number):
    runs = Runs.of(given_numbers)
    assert runs.add(number) == (number not in given_numbers)
    assert runs == Runs.of([*given_numbers, number])
    assert runs.remove(number)
    assert not runs.remove(number)
    assert numbers(runs) == set(given_numbers) - {number}
    assert runs.in_order()


@given(NUMBERS, NUMBERS)
def test_many_numbers(one, two):
    union, difference = Runs.of(one), Runs.of(one)
    assert union.unite(Runs.of(two)) == (not set(two) <= set(one))
    assert difference.subtract(Runs.of(two)) == (not set(two).isdisjoint(one))
    assert union == Runs.of(set(one) | set(two))
    assert difference == Runs.of(set(one) - set(two))


@given(NUMBERS, NUMBERS)
def test_what_was_united_is_a_copy(one, two):
    first, second = Runs.of(one), Runs.of(two)
    first.unite(second)
    first.remove(min(two, default=0))
    first.add(50)
    assert second == Runs.of(two)


@given(NUMBERS, BOUNDS)
def test_runs_and_gaps_between(given_numbers, bounds):
    runs = Runs.of(given_numbers)
    between, holes = list(runs.between(*bounds)), list(runs.gaps(*bounds))
    wanted = set(range(*bounds))
    assert numbers(between) == wanted & set(given_numbers)
    assert numbers(holes) == wanted - set(given_numbers)
    for found in (between, holes):
        assert Runs([start for start, _ in found], [stop for _, stop in found]).in_order()
    assert list(gaps(holes, *bounds)) == between


def test_what_is_not_in_order_is_seen():
    good = Runs([1, 5], [3, 7])
    assert good.in_order()
    for starts, stops in (([5, 1], [7, 3]), ([1, 3], [3, 7]), ([1, 2], [3, 7]), ([1], [1]), ([3], [1]), ([1, 5], [3])):
        assert not Runs(starts, stops).in_order()
