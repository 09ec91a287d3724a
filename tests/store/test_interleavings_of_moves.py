"""Two writers, or a writer and a reader, while tables are renamed and partitions exchanged.

What comes out must be what one of the two orders, one call behind the other, would have given: the results of both
calls, and all tables with all their partitions afterwards.
"""

from __future__ import annotations

import time
from math import isqrt
from random import Random

import pytest

from hbstore.rows import memory
from hbstore.store import finishing, journal, table_change, tables
from tests.store import moves
from tests.store.moves import RETURNS, SALES, marked, table
from tests.store.operations import DAY
from tests.store.stepping import play, schedules

OLD = ("shop", "old")
ATTIC = ("attic", "sales")


@pytest.fixture(autouse=True)
def _fine_grained(monkeypatch):
    monkeypatch.setattr(memory, "_BATCH", 1)
    monkeypatch.setattr(journal, "_PATIENCE", 0.0)
    monkeypatch.setattr(tables, "_PATIENCE", 0.0)
    monkeypatch.setattr(finishing, "_STILL", 0)
    monkeypatch.setattr(table_change, "_BATCH_ROWS", 2)
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)


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
    "exchange and relocate there": (moves.exchange, altering_table(RETURNS, relocated=("s3://shop", "s3://mall"))),
    "exchange and repair": (moves.exchange, moves.repair),
    "cascade and add": (moves.cascade, adding(SALES, "7")),
    "cascade and drop": (moves.cascade, dropping(SALES, "2")),
    "cascade and alter the table": (moves.cascade, altering_table(SALES)),
    "cascade and relocate": (moves.cascade, moves.relocate),
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
        store = moves.prepared()
        results = [None, None]
        for number in order:
            results[number] = play(store.rows, [(first, second)[number]], [])[0][0]
        found.append(outcome(store, results))
    return found


def check(name, schedule, allowed):
    store = moves.prepared()
    results, _ = play(store.rows, list(PAIRS[name]), schedule)
    found = outcome(store, results)
    assert found in allowed, f"{schedule}\n{found[0]}\nallowed: {[one[0] for one in allowed]}\n{found[1]}"
    moves.assert_clean(store)


@pytest.mark.parametrize("name", PAIRS)
def test_every_interleaving_is_one_of_the_two_orders(name):
    first, second = PAIRS[name]
    allowed = serial_outcomes(first, second)
    calls = [play(moves.prepared().rows, [act], [])[1][0] + 2 for act in (first, second)]
    played = 0
    for schedule in schedules(calls, step=1 + isqrt(calls[0] * calls[1] // 80)):
        check(name, schedule, allowed)
        played += 1
    assert played > 50


@pytest.mark.parametrize("name", PAIRS)
def test_many_changes_of_turn_give_one_of_the_two_orders(name):
    allowed = serial_outcomes(*PAIRS[name])
    random = Random(name)
    for _ in range(30):
        check(name, [(at % 2, random.randint(0, 4)) for at in range(30)], allowed)
