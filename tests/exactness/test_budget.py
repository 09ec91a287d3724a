"""No plan has more scans than the budget, whatever the filter and the statistics."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hbstore import connect
from hbstore.filters.parser import parse_filter
from hbstore.plans import generator, steps
from hbstore.plans.narrow import MAX_SCANS
from tests.amounts import amount
from tests.exactness.comparison import (
    compare_with_budget,
    compare_with_lies,
    expected_partitions,
    plan_with_budget,
    selected,
)
from tests.exactness.strategies import filters, worlds
from tests.exactness.worlds import DATABASE, STATISTICS_STATES, World, load
from tests.fuzz.filters import random_tree
from tests.fuzz.values import random_world


@settings(deadline=None, report_multiple_bugs=False, suppress_health_check=list(HealthCheck))
@given(st.data(), worlds(), st.sampled_from(STATISTICS_STATES), st.integers(1, 9))
def test_plans_keep_to_their_budget_and_stay_exact(stores, data, world, state, budget):
    table = load(stores[0], world, state)
    for tree in data.draw(st.lists(filters(world), min_size=4, max_size=4)):
        plan = compare_with_budget(stores[0], world, table, tree, budget)
        assert len(plan.scans) <= budget, str(plan)


@pytest.mark.parametrize("seed", range(amount(3, 100)))
def test_plans_stay_exact_where_their_residuals_are_too_many(monkeypatch, seed):
    for module in (generator, steps):
        monkeypatch.setattr(module, "MAX_TERMS", 4)
    random = Random(seed)
    with connect("memory://") as store:
        world = random_world(random)
        table = load(store, world, random.choice(STATISTICS_STATES))
        for _ in range(30):
            tree = random_tree(random, world)
            compare_with_lies(store, world, table, tree, random)
            compare_with_budget(store, world, table, tree, random.choice((1, 5, MAX_SCANS)))


def _listed(numbers):
    return ", ".join(map(str, numbers))


_ONE_COLUMN = {
    "ranges of four values each": " or ".join(f"a between {10 * at} and {10 * at + 3}" for at in range(3_000)),
    "a list beyond the budget": f"a in ({_listed(range(0, 36_000, 3))})",
}
_TWO_COLUMNS = {
    "a product of two lists": f"a in ({_listed(range(0, 8_000, 4))}) and b in ({_listed(range(0, 2_000, 2))})",
    "a list and a pair": f"a in ({_listed(range(0, 40_000, 4))}) and b in (1, 3)",
    "pairs": " or ".join(f"(a = {3 * at} and b in (1, 5, 9, 11, 20))" for at in range(2_500)),
}


@cache
def _world_and_tree(columns, text):
    """The same objects whatever the statistics: what the filter selects is found once."""
    names = [("a", "int"), ("b", "int")][:columns]
    world = World.of(names, [(str(at), str(at % 11))[:columns] for at in range(0, 3_000, 300)])
    return world, parse_filter(text)


@pytest.mark.parametrize("statistics", amount(["unknown"], ["unknown", "refreshed"]))
@pytest.mark.parametrize(
    ("columns", "text"),
    [
        *[
            pytest.param(columns, text, id=f"{name} on {columns}")
            for name, text in _ONE_COLUMN.items()
            for columns in (1, 2)
        ],
        *[pytest.param(2, text, id=name) for name, text in _TWO_COLUMNS.items()],
    ],
)
def test_large_filters_keep_to_the_documented_budget(columns, text, statistics):
    world, tree = _world_and_tree(columns, text)
    with connect("memory://") as store:
        table = load(store, world, statistics)
        plan = plan_with_budget(store, table, tree, MAX_SCANS)
        assert len(plan.get_plans()) <= MAX_SCANS
        assert store.plan(DATABASE, table, text).get_plans() == plan.get_plans(), "this is the budget that is used"
        found = [one.values for one in store.get_partitions_by_filter(DATABASE, table, text)]
        assert found == expected_partitions(world, tree)
        for budget in (1, 7, 1_000):
            plan = plan_with_budget(store, table, tree, budget)
            assert len(plan.scans) <= budget
            assert selected(plan, store.rows) == found
