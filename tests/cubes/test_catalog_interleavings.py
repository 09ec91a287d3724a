"""Two who change the catalog at once: what comes out is what one behind the other would have given."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest

from hbstore.cubes import Column as Field
from tests.cubes.conftest import cubes_of, days, sample, without_storage
from tests.cubes.test_catalog_crashes import ALTERED, FACT, NEW, fresh, seen
from tests.store.stepping import play, schedules
from tests.store.strikes import make_impatient

RIDES = sample("rides")
LAST = RIDES.dim_attributes[-1].name
ACTS = {
    "create a fact": lambda cubes: cubes.create(NEW),
    "alter a fact": lambda cubes: cubes.alter(ALTERED),
    "take a storage out": lambda cubes: cubes.alter(without_storage(FACT, "archive")),
    "use a field": lambda cubes: cubes.alter(FACT.changed(columns=[*FACT.columns, Field(name=LAST, type="string")])),
    "drop a fact": lambda cubes: cubes.drop("fact", "rides_daily"),
    "take a field away": lambda cubes: cubes.alter(
        RIDES.changed(dim_attributes=RIDES.dim_attributes[:-1], join_chains=[])
    ),
    "drop a storage": lambda cubes: cubes.drop("storage", "archive", cascade=True),
    "drop a cube": lambda cubes: cubes.drop("cube", "rides", cascade=True),
    "register": lambda cubes: cubes.add_partitions("rides_daily", "archive", days("2015-03-01")),
}
PAIRS = [pair for pair in combinations_with_replacement(ACTS, 2) if pair != ("register", "register")]


def act(name):
    return lambda store: ACTS[name](cubes_of(store))


def played(pair, schedule):
    store = fresh()
    results, calls = play(store.rows, [act(name) for name in pair], schedule)
    return (results, seen(store)), calls


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_what_comes_out_is_one_of_the_two_orders(pair, monkeypatch):
    make_impatient(monkeypatch)
    (first, calls), (second, _) = (played(pair, [(number, 10_000)]) for number in (0, 1))
    step = max(1, max(calls) // 8)
    for schedule in schedules([count + 2 for count in calls], step=step):
        found, _ = played(pair, schedule)
        assert found in (first, second) or is_refused_late(pair, found, first, second), schedule


def is_refused_late(pair, found, first, second):
    """Who registers reads the fact first, and then changes its table: it may be told that the table is gone."""
    results, left = found
    return "register" in pair and "TableNotFound" in results and left in (first[1], second[1])
