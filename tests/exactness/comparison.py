"""One pair of table and filter: everything that a store says of it, compared with the naive evaluation."""

from __future__ import annotations

from itertools import pairwise

from hbstore.keys.partition_names import partition_name
from hbstore.model.structs import partition_from_payload
from hbstore.plans.execute import count, fetch
from hbstore.plans.narrow import MAX_SCANS
from hbstore.plans.planner import plan_filter
from hbstore.plans.scan_plan import ScanKind
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs
from hbstore.store.table_row import statistics_of
from tests.exactness import tally
from tests.exactness.worlds import DATABASE
from tests.exactness.writing import write
from tests.plans import naive


def expected_partitions(world, tree):
    """What the filter selects, by looking at every partition; but once, however many stores and plans are compared."""
    if id(tree) not in world.selected:
        found = [values for values, typed in world.typed if naive._truth(tree, typed, world.kinds_by_name) is True]
        world.selected[id(tree)] = tree, tuple(found)
    return list(world.selected[id(tree)][1])


def compare(store, world, table, tree, random, ways=None):
    """Ask the store in every way there is, or in some of them; the expected partitions."""
    expected = expected_partitions(world, tree)
    for ask in ways or WAYS:
        ask(store, world, table, tree, random, expected)
    tally.PAIRS[store.rows.url.partition(":")[0]] += 1
    return expected


def _by_tree(store, _world, table, tree, _random, expected):
    found = store.get_partitions_by_expr(DATABASE, table, tree)
    assert [one.values for one in found] == expected, f"by tree: {tree}"


def _by_text(dialect):
    def ask(store, _world, table, tree, random, expected):
        text = write(tree, dialect, random)
        if text is not None:
            found = store.get_partitions_by_filter(DATABASE, table, text, like_dialect=dialect)
            assert [one.values for one in found] == expected, f"by text in {dialect}: {text}"

    return ask


def _by_count(store, _world, table, tree, _random, expected):
    assert store.count_partitions(DATABASE, table, tree) == len(expected), f"by count: {tree}"


def _by_name(store, world, table, tree, _random, expected):
    names = [partition_name(world.names, values) for values in expected]
    assert store.partition_names(DATABASE, table, tree) == names, f"by name: {tree}"


def _by_some_names(store, world, table, tree, random, expected):
    limit = random.randint(0, len(expected) + 1)
    names = [partition_name(world.names, values) for values in expected[:limit]]
    assert store.partition_names(DATABASE, table, tree, max_parts=limit) == names, f"first {limit}: {tree}"


def _by_plan(store, _world, table, tree, _random, expected):
    plan = store.plan(DATABASE, table, tree)
    check_plan(plan)
    tally.count_plan(plan)
    assert selected(plan, store.rows) == expected, f"by plan: {tree}"


WAYS = (_by_tree, _by_text("sql"), _by_text("hive2"), _by_count, _by_name, _by_some_names, _by_plan)


def compare_with_budget(store, world, table, tree, budget):
    """The same filter planned with another budget selects the same rows."""
    plan = plan_with_budget(store, table, tree, budget)
    check_plan(plan)
    assert selected(plan, store.rows) == expected_partitions(world, tree)
    return plan


def compare_with_lies(store, world, table, tree, random):
    """Planned with costs and statistics that are not true, a filter selects the same rows, if not as fast."""
    row = store._tables.open(DATABASE, table)
    costs = Costs(*(10.0 ** random.randint(-7, -2) for _ in range(4)))
    statistics = statistics_of(row)
    if random.random() < 0.5:
        statistics = Statistics(tuple(sorted(random.choice((1, 2, 10, 1_000, 10**6)) for _ in world.columns)))
    plan = plan_filter(tree, row.definition.schema, statistics, costs, random.choice((1, 3, 20, MAX_SCANS)))
    check_plan(plan)
    tally.count_plan(plan)
    assert selected(plan, store.rows) == expected_partitions(world, tree), f"{costs} {statistics}: {plan}"


def compare_algebra(store, world, table, trees):
    """Plans joined by AND and OR select what the filters joined by AND and OR do."""
    left, right = (store.plan(DATABASE, table, tree) for tree in trees)
    chosen = [set(expected_partitions(world, tree)) for tree in trees]
    both, either = left.and_(right), left.or_(right)
    for joined, wanted in ((both, chosen[0] & chosen[1]), (either, chosen[0] | chosen[1])):
        check_plan(joined)
        assert selected(joined, store.rows) == [one for one in world.partitions if one in wanted], str(joined)


def plan_with_budget(store, table, tree, budget):
    """A plan that may not have more scans than the budget."""
    row = store._tables.open(DATABASE, table)
    return plan_filter(tree, row.definition.schema, statistics_of(row), store.rows.costs, budget)


def selected(plan, rows):
    """The values of the partitions that a plan selects, in the order in which it yields them."""
    found = [partition_from_payload(payload).values for batch in fetch(plan, rows) for payload in batch]
    assert count(plan, rows) == len(found)
    return found


def check_plan(plan):
    """Scans are sorted and disjoint, begin before they end, and a get without a residual is one whole key."""
    for scan in plan.get_plans():
        assert scan.start.key < scan.stop.key
        if scan.kind is ScanKind.GET:
            assert scan.stop.key == scan.start.key + b"\0"
        assert (scan.kind is ScanKind.SKIP) == bool(scan.below)
    for left, right in pairwise(plan.get_plans()):
        assert left.stop.key <= right.start.key
