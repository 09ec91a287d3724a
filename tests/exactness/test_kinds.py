"""Every kind of plan, made to occur, and exact when it does."""

from __future__ import annotations

from random import Random

import pytest

from hbstore.filters.parser import parse_filter
from tests.exactness import tally
from tests.exactness.comparison import compare, compare_with_budget
from tests.exactness.worlds import World, load

_WORLD = World.of(
    [("ds", "date"), ("hour", "int"), ("region", "string")],
    [
        (f"2013-01-{day:02d}", str(hour), region)
        for day in range(1, 7)
        for hour in range(24)
        for region in ("eu", "us", "__HIVE_DEFAULT_PARTITION__")
        if (day + hour) % 7
    ],
)
_FEW_DAYS = World.of(
    [("ds", "date"), ("hour", "int")], [(f"2013-01-0{day}", str(hour)) for day in (1, 2, 3) for hour in range(300)]
)


@pytest.mark.parametrize(
    ("kind", "world", "text"),
    [
        ("get", _WORLD, "ds = '2013-01-02' and hour = 3 and region = 'eu'"),
        ("scan", _WORLD, "ds = '2013-01-02' and hour >= 3"),
        ("residual", _WORLD, "ds > '2013-01-02' and region like '%u'"),
        ("skip", _FEW_DAYS, "hour = 5"),
        ("skip", _FEW_DAYS, "hour in (5, 9) and ds is not null"),
        ("enumerated", _FEW_DAYS, "ds between '2013-01-01' and '2013-01-03' and hour = 5"),
        ("enumerated", _FEW_DAYS, "ds >= '2013-01-01' and ds < '2013-01-03' and hour in (5, 6)"),
        ("hull", _WORLD, "ds > '2013-01-01' and ds != '2013-01-03' and hour in (1, 3, 5, 7, 9, 11, 13, 15)"),
        ("coalesce", _WORLD, "ds = '2013-01-02' and hour in (1, 3)"),
    ],
)
def test_each_kind_occurs_and_is_exact(stores, kind, world, text):
    before = tally.KINDS[kind]
    for store in stores:
        table = load(store, world, "refreshed")
        compare(store, world, table, parse_filter(text), Random(1))
    assert tally.KINDS[kind] > before, str(stores[-1].explain("exact", table, text))


@pytest.mark.parametrize(
    "text", ["hour in (1, 5, 9, 13, 17)", "ds != '2013-01-02' and hour in (1, 7) and region = 'eu'"]
)
def test_a_budget_that_runs_out_leaves_residuals(stores, text):
    before = tally.KINDS["shrink"]
    for store in stores:
        table = load(store, _WORLD, "unknown")
        compare_with_budget(store, _WORLD, table, parse_filter(text), 1)
        compare_with_budget(store, _WORLD, table, parse_filter(text), 2)
    assert tally.KINDS["shrink"] > before
