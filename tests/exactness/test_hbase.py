"""The same on a real HBase: a few tables loaded once, many filters on each."""

from __future__ import annotations

from random import Random

import pytest

from hbstore import connect
from hbstore.filters.parser import parse_filter
from tests.exactness.comparison import WAYS, compare, compare_algebra, compare_with_budget, compare_with_lies
from tests.exactness.test_odd_literals import BESIDE_FLOATS
from tests.exactness.worlds import STATISTICS_STATES, World, load
from tests.fuzz.filters import random_tree
from tests.fuzz.values import random_world

TABLES = 8
FILTERS = 60
"""For each table."""

pytestmark = pytest.mark.hbase


@pytest.fixture(scope="module")
def store(request):
    with connect(request.getfixturevalue("hbase_url")) as store:
        yield store


@pytest.mark.parametrize("seed", range(TABLES))
def test_every_answer_of_hbase_equals_the_naive_evaluation(store, seed):
    random = Random(1_000 + seed)
    world = random_world(random)
    table = load(store, world, STATISTICS_STATES[seed % len(STATISTICS_STATES)])
    trees = [random_tree(random, world, depth=random.choice((1, 2, 3))) for _ in range(FILTERS)]
    for number, tree in enumerate(trees):
        compare(store, world, table, tree, random, WAYS if number % 6 == 0 else random.sample(WAYS, 2))
        if number % 10 == 0:
            compare_with_lies(store, world, table, tree, random)
            compare_with_budget(store, world, table, tree, random.choice((1, 2, 5)))
            compare_algebra(store, world, table, (tree, trees[number - 1]))
    assert all(problem is None for problem in store.check("exact", table))


def test_numbers_between_two_floats_are_checked_by_the_region_servers(store):
    """The column behind one that no condition is on is a residual, which the region servers check."""
    for kind, texts, numbers in BESIDE_FLOATS[::2]:
        world = World.of([("hour", "int"), ("v", kind)], [(str(at), text) for text in texts for at in range(3)])
        table = load(store, world, "unknown")
        for number in numbers:
            for operator in ("=", ">=", "<"):
                tree = parse_filter(f"hour != 1 and v {operator} {number} and v is not null")
                compare(store, world, table, tree, Random(1), WAYS[:1])
