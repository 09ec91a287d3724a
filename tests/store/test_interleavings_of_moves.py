"""Two writers, or a writer and a reader, while tables are renamed and partitions exchanged.

What comes out must be what one of the two orders, one call behind the other, would have given: the results of both
calls, and all tables with all their partitions afterwards.
"""

from __future__ import annotations

from math import isqrt
from random import Random

import pytest

from hbstore.rows import memory
from tests.amounts import amount
from tests.store import moves
from tests.store.moves import RETURNS, SALES, marked, table
from tests.store.operations import DAY
from tests.store.stepping import FOREVER, play, schedules
from tests.store.strikes import make_impatient

OLD = ("shop", "old")
ATTIC = ("attic", "sales")


@pytest.fixture(autouse=True)
def _fine_grained(monkeypatch):
    monkeypatch.setattr(memory, "_BATCH", 1)
    make_impatient(monkeypatch)


def adding(place, *hours):
    return lambda store: store.add_partitions(*place, [marked(hour, "added") for hour in hours])


def dropping(place, *hours, skip=False):
    return lambda store: store.drop_partitions(*place, [(DAY, hour) for hour in hours], if_exists=skip)


def altering(place, hour):
    return lambda store: store.alter_partitions(*place, [marked(hour, "altered")])


def renaming(place, old, new):
    return lambda store: store.rename_partition(*place, (DAY, old), marked(new, "renamed"))


def listing(place):
    return lambda store: tuple(store.partition_names(*place, "hour < 100"))


def counting(place):
    return lambda store: store.count_partitions(*place, "hour in (2, 4, 9)")


def renaming_table(old, new, **fields):
    return lambda store: store.rename_table(*old, table(*new, **fields))


def creating(place):
    return lambda store: store.create_table(table(*place, owner="new"))


def dropping_table(place):
    return lambda store: store.drop_table(*place)


def naming(store):
    return sorted(store.table_names("shop"))


def reading(place):
    return lambda store: store.get_table(*place).location


def altering_table(place, **fields):
    return lambda store: store.alter_table(table(*place, owner="altered"), **fields)


def dropping_database(store):
    store.drop_database("attic")


def dropping_all_of_the_database(store):
    store.drop_database("attic", cascade=True)


PLACES, TURNS = amount(40, 80), amount(10, 30)
"""About how many places of the two changes of turn are tried for a pair, and how many orders with more turns."""

PAIRS = {
    "rename and add": (moves.rename, adding(SALES, "7")),
    "rename and add there": (moves.rename, adding(OLD, "7")),
    "rename and drop": (moves.rename_away, dropping(SALES, "2")),
    "rename and drop there": (moves.rename_away, dropping(ATTIC, "2")),
    "rename and alter": (moves.rename, altering(SALES, "2")),
    "rename and rename a partition": (moves.rename, renaming(SALES, "4", "1")),
    "rename and list": (moves.rename, listing(SALES)),
    "rename and list there": (moves.rename, listing(OLD)),
    "rename and count": (moves.rename_away, counting(SALES)),
    "rename and read there": (moves.rename_away, reading(ATTIC)),
    "rename and list tables": (moves.rename, naming),
    "rename backwards and list tables": (renaming_table(SALES, ("shop", "a")), naming),
    "rename two to one name": (moves.rename, renaming_table(RETURNS, OLD)),
    "rename one to two names": (moves.rename, moves.rename_away),
    "rename and rename on": (moves.rename, renaming_table(OLD, ATTIC)),
    "rename and create": (moves.rename, creating(OLD)),
    "rename and create again": (moves.rename, creating(SALES)),
    "rename and drop the table": (moves.rename, dropping_table(SALES)),
    "rename and drop the table there": (moves.rename, dropping_table(OLD)),
    "rename and drop the database": (moves.rename_away, dropping_database),
    "rename and drop all of the database": (moves.rename_away, dropping_all_of_the_database),
    "rename and alter the table": (moves.rename, altering_table(SALES)),
    "rename and alter all": (moves.rename, altering_table(SALES, cascade=True)),
    "rename and exchange": (moves.rename, moves.exchange),
    "rename and exchange back": (moves.rename, moves.exchange_back),
    "rename and repair": (moves.rename, moves.repair),
    "exchange and exchange": (moves.exchange, moves.exchange),
    "exchange and exchange back": (moves.exchange, moves.exchange_back),
    "exchange to and fro": (
        moves.exchange,
        lambda store: len(store.exchange_partitions(RETURNS, SALES, [(DAY, "2"), (DAY, "9")])),
    ),
    "exchange and add there": (moves.exchange, adding(RETURNS, "4")),
    "exchange and drop there": (moves.exchange, dropping(RETURNS, "4", skip=True)),
    "exchange and drop": (moves.exchange, dropping(SALES, "2", "3")),
    "exchange and alter": (moves.exchange, altering(SALES, "2")),
    "exchange and alter there": (moves.exchange, altering(RETURNS, "5")),
    "exchange and rename a partition there": (moves.exchange, renaming(RETURNS, "9", "2")),
    "exchange and list": (moves.exchange, listing(SALES)),
    "exchange and list there": (moves.exchange, listing(RETURNS)),
    "exchange and count there": (moves.exchange, counting(RETURNS)),
    "exchange and drop the table": (moves.exchange, dropping_table(SALES)),
    "exchange and drop the table there": (moves.exchange, dropping_table(RETURNS)),
    "exchange and rename the table there": (moves.exchange, renaming_table(RETURNS, ATTIC)),
    "exchange and repair": (moves.exchange, moves.repair),
    "cascade and add": (moves.cascade, adding(SALES, "7")),
    "cascade and drop": (moves.cascade, dropping(SALES, "2")),
    "cascade and alter the table": (moves.cascade, altering_table(SALES)),
    "cascade and drop the table": (moves.cascade, dropping_table(SALES)),
    "cascade and repair": (moves.cascade, moves.repair),
}


def outcome(store, results):
    found = {
        name: (known.owner, known.location, known.columns, listed)
        for name, (known, listed) in moves.seen(store).items()
    }
    return tuple(results), found


def serial_outcomes(first, second):
    """What both orders give; errors by their names."""
    found = []
    for order in ((0, 1), (1, 0)):
        store = moves.fresh()
        results = [None, None]
        for number in order:
            results[number] = play(store.rows, [(first, second)[number]], [])[0][0]
        found.append(outcome(store, results))
    return found


def check(name, schedule, allowed):
    store = moves.fresh()
    results, _ = play(store.rows, list(PAIRS[name]), schedule)
    found = outcome(store, results)
    assert found in allowed, f"{schedule}\n{found[0]}\nallowed: {[one[0] for one in allowed]}\n{found[1]}"
    moves.assert_clean(store)


@pytest.mark.parametrize("name", PAIRS)
def test_every_interleaving_is_one_of_the_two_orders(name):
    first, second = PAIRS[name]
    allowed = serial_outcomes(first, second)
    calls = [play(moves.fresh().rows, [act], [])[1][0] + 2 for act in (first, second)]
    played = 0
    for schedule in schedules(calls, step=1 + isqrt(calls[0] * calls[1] // PLACES)):
        check(name, schedule, allowed)
        played += 1
    assert played > PLACES // 2


@pytest.mark.parametrize("name", PAIRS)
def test_many_changes_of_turn_give_one_of_the_two_orders(name):
    allowed = serial_outcomes(*PAIRS[name])
    random = Random(name)
    for _ in range(TURNS):
        check(name, [(at % 2, random.randint(0, 4)) for at in range(30)], allowed)


def test_a_helper_that_falls_behind_takes_nothing_of_the_table_that_came_after():
    """It stops at each of its calls, and goes on when the old name has long been another table's."""

    def creating_and_adding(store):
        store.create_table(table(*SALES))
        return store.add_partitions(*SALES, [marked("66", "new")])

    behind = 0
    for some in (8, 9, 10, 11, 12, 13):
        for others in range(1, 40):
            store = moves.fresh()
            acts = [moves.rename, dropping(SALES, "3"), creating_and_adding]
            schedule = [(0, some), (1, others), (0, FOREVER), (2, FOREVER)]
            results, calls = play(store.rows, acts, schedule)
            assert (results[0], results[2]) == (None, 1), schedule
            behind += calls[1] > others
            moves.assert_clean(store)
            found = moves.places(store)
            assert found.pop(((DAY, "66"), "new")) == [SALES], schedule
            assert {where[0] for where in found.values()} == {OLD, RETURNS}, schedule
            assert len(found) == (6 if results[1] == 1 else 7), (schedule, results)
    assert behind > 40


def test_a_reader_sees_all_of_an_exchange_or_nothing():
    """One partition comes where the reader has been already, the other where it has yet to come."""
    listed = set()
    for some in range(1, 24):
        for others in range(1, 14):
            store = moves.fresh()
            store.add_partitions(*SALES, [marked("66")])
            acts = [
                lambda store: len(store.exchange_partitions(SALES, RETURNS, [(DAY, "0"), (DAY, "66")])),
                listing(RETURNS),
            ]
            schedule = [(0, some), (1, others), (0, FOREVER)]
            results, _ = play(store.rows, acts, schedule)
            assert results[0] == 2
            names = tuple(name.rpartition("=")[2] for name in results[1])
            assert names in (("5", "9"), ("0", "5", "9", "66")), schedule
            listed.add(names)
    assert len(listed) == 2


def renaming_back(store):
    store.rename_table(*OLD, table(*SALES), relocated=moves.MOVED[::-1])
    return store.get_table(*SALES).owner


def altering_and_reading(store):
    store.alter_table(table(*SALES, owner="altered"))
    return store.get_table(*SALES).owner


@pytest.mark.parametrize(
    ("change", "later", "owner"),
    [(moves.rename, renaming_back, None), (moves.cascade, altering_and_reading, "altered")],
    ids=["rename", "cascade"],
)
def test_a_helper_that_falls_behind_does_not_undo_what_came_after(change, later, owner):
    """The table comes back as it was, or is altered once more, while a helper stands still."""
    behind = 0
    for some in (8, 9, 10, 11, 12, 13):
        for others in range(1, 40):
            store = moves.fresh()
            schedule = [(0, some), (1, others), (0, FOREVER), (2, FOREVER)]
            results, calls = play(store.rows, [change, dropping(SALES, "3"), later], schedule)
            assert (results[0], results[2]) == (None, owner), (schedule, results)
            behind += calls[1] > others
            moves.assert_clean(store)
            known, listed = moves.seen(store)[SALES]
            assert known.owner == owner, schedule
            assert len(listed) == (4 if results[1] == 1 else 5), (schedule, results)
    assert behind > 40
