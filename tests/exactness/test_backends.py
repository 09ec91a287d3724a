"""Every answer of every backend equals the naive evaluation."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.exactness import tally
from tests.exactness.comparison import WAYS, compare, compare_with_budget, compare_with_lies
from tests.exactness.strategies import filters, worlds
from tests.exactness.worlds import STATISTICS_STATES, World, load

FILTERS = 10
"""For each table."""

float_texts = strategies.texts(strategies.parse_type("double"))

unhurried = settings(
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@unhurried
@given(st.data(), st.sampled_from(("float", "double")), st.integers(0, 2**32))
def test_every_number_lies_where_it_should_among_floats(stores, data, kind, seed):
    texts = data.draw(st.lists(float_texts, min_size=1, max_size=8))
    world = World.of([("v", kind), ("hour", "int")], [(text, hour) for text in texts for hour in "12"])
    trees = data.draw(st.lists(filters(world), min_size=FILTERS, max_size=FILTERS))
    tables = [load(store, world) for store in stores]
    for tree in trees:
        for store, table in zip(stores, tables, strict=True):
            compare(store, world, table, tree, Random(seed), WAYS[:1])


@unhurried
@given(st.data(), worlds(), st.sampled_from(STATISTICS_STATES), st.integers(0, 2**32))
def test_every_answer_equals_the_naive_evaluation(stores, data, world, state, seed):
    trees = data.draw(st.lists(filters(world), min_size=FILTERS, max_size=FILTERS))
    random = Random(seed)
    for store in stores:
        table = load(store, world, state)
        for tree in trees:
            compare(store, world, table, tree, random)
            compare_with_budget(store, world, table, tree, random.randint(1, 8))
            compare_with_lies(store, world, table, tree, random)
        assert all(problem is None for problem in store.check("exact", table))
    tally.KINDS["worlds"] += 1
