"""Plans of long ORs and ANDs over several columns: nothing is multiplied, and no list is planned more than once."""

from __future__ import annotations

import pytest

from hbstore.filters.parser import parse_filter
from hbstore.keys.types import parse_type
from hbstore.plans import narrow, steps
from hbstore.plans.bind import bind
from hbstore.plans.generator import PartitionFilterGenerator
from hbstore.plans.planner import plan_predicate
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs
from hbstore.rows.predicate import ALWAYS, AnyOf, CellIn
from hbstore.times.clock import Now

SCHEMA = KeySchema(b"d\0t\0", ("a", "b", "c"), (parse_type("int"),) * 3)
COSTS = Costs(seek=10e-6, get=3e-6, read=1e-6, check=0.2e-6)
KNOWN = (Statistics(), Statistics((40, 1_000, 10_000)), Statistics((40_000, 10**7, 10**8)))
MANY = 400
LISTS = [f"{column} in ({', '.join(str(3 * at) for at in range(MANY))})" for column in "abc"]


def bound(text):
    return bind(parse_filter(text), SCHEMA, Now())


@pytest.fixture
def lines(monkeypatch):
    """How many step functions were made."""
    made = []
    generate = PartitionFilterGenerator.generate

    def counting(generator, predicate):
        made.append(predicate)
        return generate(generator, predicate)

    monkeypatch.setattr(PartitionFilterGenerator, "generate", counting)
    return made


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize(
    "text",
    [
        " or ".join(f"{'ab'[at % 2]} = {2 * at}" for at in range(2 * MANY)),
        " or ".join(f"{'abc'[at % 3]} = {2 * at}" for at in range(2 * MANY)),
        " or ".join(LISTS),
        f"{LISTS[0]} or ({LISTS[1]} and {LISTS[2]})",
        f"{LISTS[0]} and ({LISTS[1]} or {LISTS[2]})",
    ],
)
@pytest.mark.parametrize("budget", [narrow.MAX_SCANS, 100])
def test_each_list_is_planned_once(lines, text, known, budget):
    plan_predicate(bound(text), SCHEMA, known, COSTS, budget)
    assert len(lines) <= 4


def test_what_becomes_one_scan_is_checked_by_the_filter_itself():
    predicate = bound(" or ".join(f"{'ab'[at % 2]} = {2 * at}" for at in range(2 * MANY)))
    (scan,) = plan_predicate(predicate, SCHEMA, KNOWN[1], COSTS).scans
    assert scan.residual == predicate
    assert isinstance(predicate, AnyOf)
    assert all(isinstance(child, CellIn) for child in predicate.children)


@pytest.mark.parametrize("known", KNOWN[:2])
def test_ranges_beyond_the_budget_share_what_is_left_to_check(known):
    (scan,) = plan_predicate(bound(" or ".join(LISTS)), SCHEMA, known, COSTS, budget=100).scans
    assert scan.residual == bound(" or ".join(LISTS))


@pytest.mark.parametrize(
    "text",
    [
        " or ".join((f"(a = {at} and b = {at})", f"b = {5 * at}")[at % 2] for at in range(4 * MANY)),
        " and ".join(f"(a < {at} or c like '{at}%')" for at in range(2 * MANY)),
    ],
    ids=["or", "and"],
)
def test_where_residuals_would_be_too_many_one_is_kept(text):
    ((_, _, rest),) = PartitionFilterGenerator(0).generate(bound(text))
    assert rest is not ALWAYS


def test_many_ors_are_joined_in_few_passes(monkeypatch):
    passes = []
    intersect = steps.intersect_steps

    def counting(left, right):
        passes.append(len(left) + len(right))
        return intersect(left, right)

    monkeypatch.setattr("hbstore.plans.generator.intersect_steps", counting)
    found = PartitionFilterGenerator(0).generate(bound(" and ".join(f"(a != {at} or b > 5)" for at in range(MANY))))
    assert len(found) == MANY + len(("null", "below", "above", "texts"))
    assert sum(passes) < 20 * 2 * MANY
