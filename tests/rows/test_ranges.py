"""Sets of bytes as ranges, against sets of all short byte strings."""

from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from hbstore.rows.ranges import contains, intersect, subtract, unite

EDGES = [bytes(letters) for size in range(3) for letters in product(b"\x00\x02\xff", repeat=size)] + [b"\xff\xff\xff"]
some_ranges = st.lists(st.tuples(st.sampled_from(EDGES), st.sampled_from(EDGES)), max_size=6)


def members(found):
    return {data for data in EDGES if any(start <= data < stop for start, stop in found)}


def in_order(found):
    edges = [edge for pair in found for edge in pair]
    return all(left < right for left, right in pairwise(edges))


@given(some_ranges)
def test_unite(given_ranges):
    found = unite(given_ranges)
    assert in_order(found)
    assert members(found) == members(given_ranges)
    assert unite(found) == found


@given(some_ranges, some_ranges)
def test_intersect(left, right):
    found = intersect(unite(left), unite(right))
    assert in_order(found)
    assert members(found) == members(left) & members(right)


@given(some_ranges, some_ranges)
def test_subtract(left, right):
    found = subtract(unite(left), unite(right))
    assert in_order(found)
    assert members(found) == members(left) - members(right)


@given(some_ranges, st.sampled_from(EDGES) | st.binary(max_size=4))
def test_contains(given_ranges, data):
    found = unite(given_ranges)
    assert contains(found, data) == any(start <= data < stop for start, stop in found)


def test_ranges_that_touch_become_one():
    assert unite([(b"b", b"c"), (b"a", b"b")]) == ((b"a", b"c"),)
    assert unite([(b"b", b"a"), (b"a", b"a")]) == ()
