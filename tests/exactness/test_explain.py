"""Explain says what is run: its figures are those of the rows, and both forms hold every scan."""

from __future__ import annotations

import json
from random import Random

import pytest

from hbstore.filters.parser import parse_filter
from hbstore.plans.execute import fetch
from tests.exactness.comparison import expected_partitions
from tests.exactness.worlds import DATABASE, STATISTICS_STATES, World, load
from tests.fuzz.filters import random_tree
from tests.fuzz.values import random_world

FIGURES = {"rows_read", "rows_returned", "round_trips", "seconds"}
_WORLD = World.of(
    [("ds", "date"), ("hour", "int"), ("region", "string")],
    [
        (f"2013-01-{day:02d}", str(hour), region)
        for day in range(1, 11)
        for hour in range(24)
        for region in ("eu", "us")
    ],
)


def _check(store, world, table, tree):
    explained = store.explain(DATABASE, table, tree, analyze=True)
    plan = store.plan(DATABASE, table, tree)
    expected = expected_partitions(world, tree)
    shown = json.loads(json.dumps(explained.to_dict()))
    assert [(one["kind"], one["start"], one["stop"]) for one in shown["scans"]] == [
        (scan.kind.value, scan.start.key.hex(), scan.stop.key.hex()) for scan in plan.get_plans()
    ]
    assert shown["rows_returned"] == shown["kept"]["partitions"] == len(expected)
    assert shown["of"]["partitions"] == store.count_partitions(DATABASE, table)
    for name in FIGURES:
        assert shown[name] == pytest.approx(sum(one[name] for one in shown["scans"])), name
        assert all(one[name] >= 0 for one in shown["scans"])
    for one, scan in zip(shown["scans"], plan.get_plans(), strict=True):
        assert one["rows_returned"] <= one["rows_read"]
        assert one["residual"] == scan.residual_text()
        found = sum(1 for key in _keys(store, table, expected) if scan.start.key <= key < scan.stop.key)
        assert one["rows_returned"] == found, (
            "scans are disjoint, so each row is returned by the scan that holds its key"
        )
    text = str(explained)
    for scan in plan.get_plans()[:50]:
        assert f"bytes    {scan.start} .. {scan.stop}" in text
    return shown


def _keys(store, table, partitions):
    from hbstore.keys.row_key import row_key, text_cell

    definition = store._tables.open(DATABASE, table).definition
    kinds = definition.schema.types
    return [row_key(definition.prefix, tuple(map(text_cell, kinds, values))) for values in partitions]


@pytest.mark.parametrize("seed", range(12))
def test_figures_equal_the_result(stores, seed):
    random = Random(seed)
    world = random_world(random, limit=100)
    for store in stores:
        table = load(store, world, random.choice(STATISTICS_STATES))
        for _ in range(8):
            _check(store, world, table, random_tree(random, world, depth=2))


@pytest.mark.parametrize("seed", range(12))
def test_every_alternative_selects_the_same(stores, seed):
    random = Random(seed)
    world = random_world(random, limit=80)
    store = stores[seed % len(stores)]
    table = load(store, world, random.choice(STATISTICS_STATES))
    for _ in range(8):
        explained = store.explain(DATABASE, table, random_tree(random, world, depth=2))
        selected = [payload for batch in fetch(explained.plan, store.rows) for payload in batch]
        for one in explained.alternatives:
            assert [payload for batch in fetch(one.plan, store.rows) for payload in batch] == selected, one.way
            assert one.taken == (one.plan is explained.plan)


@pytest.mark.parametrize(
    ("text", "kind", "rows_read"),
    [
        ("ds = '2013-01-03' and hour = 5 and region = 'eu'", "get", 1),
        ("ds = '2013-01-03' and hour = 99 and region = 'eu'", "get", 0),
        ("ds = '2013-01-03'", "scan", 48),
        ("ds = '2013-01-03' and region = 'eu'", "scan", 48),
        ("ds >= '2013-01-09'", "scan", 96),
    ],
)
def test_rows_read_are_those_looked_at(stores, text, kind, rows_read):
    for store in stores:
        table = load(store, _WORLD, "unknown")
        shown = _check(store, _WORLD, table, parse_filter(text))
        assert [one["kind"] for one in shown["scans"]] == [kind], str(store.explain(DATABASE, table, text))
        assert shown["rows_read"] == rows_read


def test_without_analyze_nothing_is_measured(stores):
    table = load(stores[0], _WORLD)
    shown = stores[0].explain(DATABASE, table, "hour = 3").to_dict()
    assert not FIGURES & set(shown)
    assert not any(FIGURES & set(one) for one in shown["scans"])
    assert "measured" not in str(stores[0].explain(DATABASE, table, "hour = 3"))


def test_json_holds_all_scans_and_text_says_how_many_more(stores):
    world = World.of([("a", "string")], [(str(at),) for at in range(200)])
    table = load(stores[0], world, "unknown")
    listed = ", ".join(f"'{at}'" for at in range(0, 200, 2))
    explained = stores[0].explain(DATABASE, table, f"a in ({listed})", analyze=True)
    shown = explained.to_dict()
    assert len(shown["scans"]) == 100
    assert shown["rows_returned"] == 100
    assert "… 50 more" in str(explained)


@pytest.mark.parametrize("text", ["ds <= '9999-12-31'", "ds = '9999-12-31'", "ds > '9999-12-30'", "ds >= '0001-01-01'"])
@pytest.mark.parametrize("kind", ["date", "timestamp", "string"])
def test_the_ends_of_the_calendar_are_shown(stores, text, kind):
    world = World.of([("ds", kind), ("hour", "int")], [("9999-12-31", "1"), ("0001-01-01", "2")])
    table = load(stores[0], world)
    _check(stores[0], world, table, parse_filter(text))


def test_explain_shows_the_filter_as_given_and_the_tree(stores):
    table = load(stores[0], _WORLD)
    shown = stores[0].explain(DATABASE, table, "5 <  HOUR").to_dict()
    assert (shown["filter"], shown["tree"], shown["table"]) == ("5 <  HOUR", "HOUR > 5", f"{DATABASE}.{table}")
    assert stores[0].explain(DATABASE, table, None).to_dict()["tree"] is None
