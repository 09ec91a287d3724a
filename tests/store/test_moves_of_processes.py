"""Real processes that are killed in the middle of renames, exchanges and alterations, on SQLite and on HBase."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from random import Random

import pytest

from hbstore import TableNotFound, connect
from tests.amounts import amount
from tests.pauses import let_go_on
from tests.processes import Process
from tests.store import moves
from tests.store.movers import (
    NAMES,
    TWIN,
    cascade_until_killed,
    exchange_until_killed,
    look,
    partitions,
    rename_until_killed,
    table,
)

SIZE = 1_500
"""Partitions: on HBase more than one request holds."""
ROUNDS = amount({"sqlite": 4, "hbase": 2}, {"sqlite": 50, "hbase": 10})
"""How often somebody is killed: on HBase a sample, as test_crashes_of_moves.py has every write without it."""

MODULE = "tests.store.movers"


@pytest.fixture(params=["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def url(request, tmp_path):
    return f"sqlite://{tmp_path}/store.db" if request.param == "sqlite" else request.getfixturevalue("hbase_url")


@pytest.fixture
def store(url):
    with connect(url) as store:
        store.drop_database("m", cascade=True, if_exists=True)
        store.create_database("m")
        store.create_table(table(NAMES[0]))
        store.add_partitions("m", NAMES[0], partitions(SIZE))
        yield store
        store.drop_database("m", cascade=True)


def assert_whole(store, name):
    found = store.get_partitions_by_filter("m", name, None)
    assert sorted(one.values for one in found) == sorted(one.values for one in partitions(SIZE))
    where = {one.location.rsplit("/", 2)[0] for one in found}
    assert where == {f"s3://m/{name}"}
    assert store.get_table("m", name).location == f"s3://m/{name}"
    assert all(problem is None for problem in store.check("m", name))


def test_a_renamer_that_is_killed_leaves_the_table_whole_under_one_name(url, store):
    """Whoever looks while it runs sees it whole, too; sometimes nobody repairs before the next one goes on."""
    random = Random(url)
    at = 0
    for turn in range(ROUNDS[url.partition(":")[0]]):
        writer = Process(MODULE, rename_until_killed.__name__, url, at)
        writer.heard(1 + random.randint(0, 2))
        let_go_on(random, 0.4, partial(look, store, SIZE))
        said = writer.kill()
        renamed = [int(number) for word, number in said if word == "renamed"]
        acknowledged = renamed[-1] if renamed else at
        if turn % 2:
            moves.repair(store)
        name = look(store, SIZE)
        assert name in (NAMES[acknowledged % 2], NAMES[(acknowledged + 1) % 2])
        at = NAMES.index(name)
        if turn % 2:
            assert store.table_names("m") == [name]
            assert_whole(store, name)
    moves.repair(store)
    assert_whole(store, look(store, SIZE))
    assert len(store.table_names("m")) == 1


def test_a_writer_that_meets_a_dead_renamer_goes_on_by_itself(url, store):
    """The next writer, under whatever name, needs no repair; the old name can be used again."""
    random = Random(f"next {url}")
    for _ in range(4):
        writer = Process(MODULE, rename_until_killed.__name__, url, NAMES.index(look(store, SIZE)))
        writer.heard(1)
        let_go_on(random, 0.25)
        writer.kill()
        for name in NAMES:
            with suppress(TableNotFound):
                store.drop_partitions("m", name, [("extra", "1")], if_exists=True)
        (name,) = store.table_names("m")
        (other,) = set(NAMES) - {name}
        store.create_table(table(other))
        assert store.count_partitions("m", other) == 0
        store.drop_table("m", other)
        assert_whole(store, name)


def test_an_exchange_that_is_killed_is_made_wholly_or_not_at_all(url, store):
    random = Random(f"exchange {url}")
    third = len([number for number in range(SIZE) if number % 3 == 0])
    for turn in range(ROUNDS[url.partition(":")[0]]):
        store.create_table(table(TWIN), if_not_exists=True)
        if store.count_partitions("m", TWIN):
            store.exchange_partitions(
                ("m", TWIN), ("m", NAMES[0]), [one.values for one in store.get_partitions_by_filter("m", TWIN, None)]
            )
        writer = Process(MODULE, exchange_until_killed.__name__, url, NAMES[0], SIZE)
        writer.heard(random.randint(0, 2))

        def counts_are_whole():
            assert store.count_partitions("m", TWIN) in (0, third)
            assert store.count_partitions("m", NAMES[0]) in (SIZE - third, SIZE)

        let_go_on(random, 0.3, counts_are_whole)
        said = writer.kill()
        if turn % 2:
            moves.repair(store)
        counts = store.count_partitions("m", NAMES[0]), store.count_partitions("m", TWIN)
        assert counts in ((SIZE, 0), (SIZE - third, third)), said
        for name in (NAMES[0], TWIN):
            assert all(problem is None for problem in store.check("m", name))


def test_an_alteration_that_is_killed_reaches_all_partitions_or_none(url, store):
    random = Random(f"cascade {url}")
    for _ in range(4):
        writer = Process(MODULE, cascade_until_killed.__name__, url, NAMES[0])
        writer.heard(random.randint(1, 2))
        let_go_on(random, 0.3)
        said = writer.kill()
        moves.repair(store)
        columns = store.get_table("m", NAMES[0]).columns
        found = {one.storage.columns for one in store.get_partitions_by_filter("m", NAMES[0], None)}
        assert found == {columns}
        assert int(columns[0].name[1:]) - int(said[-1][1]) in (0, 1)
