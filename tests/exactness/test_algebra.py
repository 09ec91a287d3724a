"""The algebra of plans: AND and OR of plans select what AND and OR of their filters do."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hbstore import connect
from hbstore.filters.parser import parse_filter
from tests.amounts import amount
from tests.exactness.comparison import compare_algebra, selected
from tests.exactness.strategies import filters, worlds
from tests.exactness.worlds import DATABASE, STATISTICS_STATES, World, load
from tests.fuzz.filters import random_tree
from tests.fuzz.values import random_world

_WORLD = World.of(
    [("ds", "date"), ("hour", "int"), ("region", "string")],
    [(f"2013-01-0{day}", str(hour), region) for day in range(1, 5) for hour in range(5) for region in ("eu", "us")],
)


@settings(deadline=None, max_examples=25, report_multiple_bugs=False, suppress_health_check=list(HealthCheck))
@given(st.data(), worlds(), st.sampled_from(STATISTICS_STATES))
def test_plans_combine_as_their_filters_do(stores, data, world, state):
    trees = data.draw(st.tuples(filters(world), filters(world)))
    table = load(stores[0], world, state)
    compare_algebra(stores[0], world, table, trees)


@pytest.mark.parametrize("seed", range(amount(5, 200)))
def test_plans_of_random_tables_combine_as_their_filters_do(seed):
    random = Random(seed)
    with connect("memory://") as store:
        world = random_world(random)
        table = load(store, world, random.choice(STATISTICS_STATES))
        trees = [random_tree(random, world, depth=2) for _ in range(12)]
        for pair in pairwise(trees):
            compare_algebra(store, world, table, pair)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("ds = '2013-01-01' and hour = 3 and region = 'eu'", "region = 'us'"),
        ("ds = '2013-01-01' and hour = 3 and region = 'eu'", "region like '%s'"),
        ("ds = '2013-01-01' and hour = 3 and region = 'eu'", "hour != 3 or region = 'eu'"),
        ("ds = '2013-01-01' and hour = 3 and region in ('eu', 'us')", "hour in (1, 2) and region = 'us'"),
        ("hour = 3", "region = 'eu'"),
        ("ds > '2013-01-02'", "ds <= '2013-01-02'"),
        ("ds > '2013-01-02'", "ds is null"),
    ],
)
def test_a_get_is_combined_with_what_its_row_must_still_satisfy(stores, left, right):
    table = load(stores[0], _WORLD, "refreshed")
    compare_algebra(stores[0], _WORLD, table, (parse_filter(left), parse_filter(right)))
    compare_algebra(stores[0], _WORLD, table, (parse_filter(right), parse_filter(left)))


def test_one_scan_of_a_plan_combines_as_well(stores):
    table = load(stores[0], _WORLD)
    plan = stores[0].plan(DATABASE, table, "ds = '2013-01-01'")
    (scan,) = plan.get_plans()
    other = stores[0].plan(DATABASE, table, "ds >= '2013-01-01' and ds < '2013-01-03'")
    rows = stores[0].rows
    assert scan.get_plans() == [scan]
    assert [values[0] for values in selected(scan.and_(other), rows)] == ["2013-01-01"] * 10
    assert len(selected(scan.or_(other), rows)) == 20
    assert len(selected(other.and_(scan), rows)) == 10
