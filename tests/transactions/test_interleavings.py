"""Every pair of steps, in interleavings with two changes of turn, and in some with more.

What comes out must be what one of the two orders would have given: the results of both, and what is there afterwards.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations
from math import isqrt
from random import Random

import pytest

from hbstore.rows import memory
from tests.amounts import amount
from tests.store.stepping import play, schedules
from tests.transactions import steps
from tests.transactions.conftest import fresh

PAIRS = list(combinations_with_replacement(steps.STEPS, 2))
PLACES, TURNS, AT_ONCE = amount(40, 150), amount(10, 20), amount(100, 300)
"""About how many places of the two changes of turn are tried, how many orders with more turns, and of three steps."""


pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture(autouse=True)
def _fine_grained(monkeypatch):
    monkeypatch.setattr(memory, "_BATCH", 1)


def act(name):
    return lambda store: steps.run(steps.STEPS[name], store.rows)


def outcome(store, results):
    return results, steps.run(steps.look, store.rows)


def serial_outcomes(pair):
    """What both orders give; errors by their names."""
    for order in ((0, 1), (1, 0)):
        store = fresh()
        results = [None, None]
        for number in order:
            results[number] = play(store.rows, [act(pair[number])], [])[0][0]
        yield outcome(store, results)


def check(pair, schedule, allowed):
    store = fresh()
    results, _ = play(store.rows, [act(name) for name in pair], schedule)
    found = outcome(store, results)
    assert found in allowed, f"{schedule}\n{found}\nallowed:\n{allowed}"


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_every_interleaving_is_one_of_the_two_orders(pair):
    allowed = list(serial_outcomes(pair))
    calls = [play(fresh().rows, [act(name)], [])[1][0] + 2 for name in pair]
    for schedule in schedules(calls, step=1 + isqrt(calls[0] * calls[1] // PLACES)):
        check(pair, schedule, allowed)
    random = Random(str(pair))
    for _ in range(TURNS):
        check(pair, [(at % 2, random.randint(0, 4)) for at in range(30)], allowed)


def test_no_table_is_created_in_a_database_that_goes():
    """Nothing but the database's own row, which the one only reads, keeps them apart."""
    pair = ("create the table", "drop the empty database")

    def emptied():
        store = fresh()
        for step in (steps.drop_table, steps.drop_other_table):
            steps.run(step, store.rows)
        return store

    calls = [play(emptied().rows, [act(name)], [])[1][0] + 2 for name in pair]
    for schedule in schedules(calls):
        store = emptied()
        results, _ = play(store.rows, [act(name) for name in pair], schedule)
        seen = steps.run(steps.look, store.rows)
        assert (results, seen[0]) in [([None, False], b"a database"), (["DatabaseNotFound", True], b"")], schedule


def test_three_at_once_are_one_of_the_six_orders():
    names = ["move", "add", "drop the database"]
    allowed = []
    for order in permutations(range(3)):
        store = fresh()
        results = [None] * 3
        for number in order:
            results[number] = play(store.rows, [act(names[number])], [])[0][0]
        allowed.append(outcome(store, results))
    random = Random(5)
    for _ in range(AT_ONCE):
        store = fresh()
        schedule = [(random.randrange(3), random.randint(0, 5)) for _ in range(40)]
        results, _ = play(store.rows, [act(name) for name in names], schedule)
        assert outcome(store, results) in allowed, schedule
