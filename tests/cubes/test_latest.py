"""The partition `latest` of dimension tables: after every change it is a copy of the newest, and there if one is."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from threading import Thread

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hbstore import AlreadyExists, Partition, PartitionNotFound, connect
from hbstore.cubes import Column, DimTable, StorageTable
from hbstore.cubes.latest import LATEST_VERSION, latest_time_key
from hbstore.errors import ModelNotFound
from tests.cubes.conftest import RIDES, cubes_of, days
from tests.processes import ROOT
from tests.store.copies import copies_of
from tests.store.faults import Fault
from tests.store.stepping import play, schedules
from tests.store.strikes import struck

NORTH, SOUTH = {"district": "north"}, {"district": "south"}


def dump(day, district="north", **fields):
    (found,) = days(day, other={"district": district}, **fields)
    return found


def latest(cubes, district="north"):
    """When the newest partition is from, as `latest` says, and where its files are."""
    found = cubes.latest("stations", "lake", {"district": district})
    return None if found is None else (found.parameters[latest_time_key("dt")], found.location.rpartition("/dt=")[2])


def check(store, table="lake_stations"):
    """Every combination with partitions has a `latest` that is a copy of its newest, and no other has one."""
    newest, found = {}, {}
    for one in store.get_partitions_by_filter("shop", table, None):
        when, *others = one.values
        if when == "latest":
            found[tuple(others)] = one
        elif tuple(others) not in newest or newest[tuple(others)].values[0] < when:
            newest[tuple(others)] = one
    assert found.keys() == newest.keys()
    for others, one in newest.items():
        copy = found[others]
        assert copy.location == one.location
        extra = {latest_time_key("dt"): one.values[0], LATEST_VERSION: copy.parameters[LATEST_VERSION]}
        assert copy.parameters == {**one.parameters, **extra}
        assert (copy.storage, copy.create_time) == (one.storage, one.create_time)
    return {others: one.values[0] for others, one in newest.items()}


def test_the_first_partition_is_the_latest(cubes):
    assert latest(cubes) is None
    cubes.add_partitions("stations", "lake", [dump("2015-01-02", location="/data/dt=02", parameters={"rows": "5"})])
    assert latest(cubes) == ("2015-01-02", "02")
    assert cubes.latest("stations", "lake", NORTH).parameters["rows"] == "5"
    check(cubes.store)


def test_a_newer_one_becomes_the_latest_and_an_older_one_does_not(cubes):
    cubes.add_partitions("stations", "lake", [dump("2015-01-02")])
    cubes.add_partitions("stations", "lake", [dump("2015-01-05"), dump("2015-01-04")])
    assert latest(cubes)[0] == "2015-01-05"
    cubes.add_partitions("stations", "lake", [dump("2015-01-03")])
    assert latest(cubes) == ("2015-01-05", "2015-01-05/district=north")
    assert latest(cubes, "south") is None
    assert check(cubes.store) == {("north",): "2015-01-05"}


def test_dropping_the_newest_promotes_the_next(cubes):
    cubes.add_partitions("stations", "lake", [dump(f"2015-01-0{day}") for day in range(1, 6)])
    cubes.drop_partitions("stations", "lake", [dump("2015-01-05")])
    assert latest(cubes)[0] == "2015-01-04"
    cubes.drop_partitions("stations", "lake", [dump("2015-01-02")])
    assert latest(cubes)[0] == "2015-01-04"
    cubes.drop_partitions("stations", "lake", [dump("2015-01-04"), dump("2015-01-03")])
    assert latest(cubes) == ("2015-01-01", "2015-01-01/district=north")
    check(cubes.store)
    cubes.drop_partitions("stations", "lake", [dump("2015-01-01")])
    assert cubes.partitions("stations", "lake") == []
    cubes.add_partitions("stations", "lake", [dump("2014-01-01")])
    assert latest(cubes)[0] == "2014-01-01"


def test_every_combination_has_its_own(cubes):
    batch = [dump("2015-01-01"), dump("2015-01-03", "south"), dump("2015-01-02"), dump("2015-01-01", None)]
    cubes.add_partitions("stations", "lake", batch)
    assert (latest(cubes)[0], latest(cubes, "south")[0], latest(cubes, None)[0]) == (
        "2015-01-02",
        "2015-01-03",
        "2015-01-01",
    )
    cubes.drop_partitions("stations", "lake", [dump("2015-01-02"), dump("2015-01-03", "south")])
    assert check(cubes.store) == {("north",): "2015-01-01", ("__HIVE_DEFAULT_PARTITION__",): "2015-01-01"}


def test_updating_the_newest_updates_the_latest(cubes):
    cubes.add_partitions("stations", "lake", [dump("2015-01-01"), dump("2015-01-02")])
    cubes.alter_partitions("stations", "lake", [dump("2015-01-02", location="/new/dt=2", parameters={"rows": "7"})])
    assert latest(cubes) == ("2015-01-02", "2")
    cubes.alter_partitions("stations", "lake", [dump("2015-01-01", location="/new/dt=1")])
    assert latest(cubes) == ("2015-01-02", "2")
    check(cubes.store)
    with pytest.raises(PartitionNotFound):
        cubes.alter_partitions("stations", "lake", [dump("2015-01-02", location="/x"), dump("2015-01-03")])
    assert latest(cubes) == ("2015-01-02", "2")


def test_what_fails_leaves_the_latest_as_it_was(cubes):
    cubes.add_partitions("stations", "lake", [dump("2015-01-02")])
    before = cubes.partitions("stations", "lake")
    with pytest.raises(AlreadyExists):
        cubes.add_partitions("stations", "lake", [dump("2015-01-05"), dump("2015-01-02")])
    with pytest.raises(PartitionNotFound):
        cubes.drop_partitions("stations", "lake", [dump("2015-01-02"), dump("2015-01-05")])
    assert cubes.partitions("stations", "lake") == before


@pytest.mark.parametrize("kind", ["string", "date", "timestamp"])
def test_time_columns_of_every_type(cubes, kind):
    table = StorageTable(
        storage="lake",
        update_periods=["DAILY"],
        partition_columns=[Column(name="level", type="int"), Column(name="dt", type=kind)],
        time_partition_columns=["dt"],
    )
    columns = [Column(name="id", type="int")]
    cubes.create(DimTable(name="levels", dimension="station", columns=columns, storage_tables=[table]))

    def levels(*texts, level="1"):
        return days(*texts, other={"level": level})

    cubes.add_partitions("levels", "lake", levels("2015-01-01", "2015-01-03"))
    cubes.add_partitions("levels", "lake", levels("2015-01-02", level="01"))  # of the same combination
    found = cubes.latest("levels", "lake", {"level": "001"})
    assert found.values == ("1", "latest")
    assert found.parameters[latest_time_key("dt")] == "2015-01-03"
    assert found.location is None  # as the table has none
    cubes.drop_partitions("levels", "lake", levels("2015-01-03", level="1"))
    assert cubes.latest("levels", "lake", {"level": "1"}).parameters[latest_time_key("dt")] == "2015-01-02"
    cubes.drop_partitions("levels", "lake", [*levels("2015-01-02", level="01"), *levels("2015-01-01")])
    assert cubes.partitions("levels", "lake") == []


def test_many_combinations_at_once(cubes):
    batch = [dump(day, f"d{number}") for number in range(60) for day in ("2015-01-01", "2015-01-02")]
    cubes.add_partitions("stations", "lake", batch)
    assert set(check(cubes.store).values()) == {"2015-01-02"}
    cubes.drop_partitions("stations", "lake", batch[1::2])
    assert Counter(check(cubes.store).values()) == {"2015-01-01": 60}


def test_a_latest_that_is_missing_is_made_with_the_next_change(cubes):
    """Such as after partitions were written by somebody who does not know of it."""
    cubes.add_partitions("stations", "lake", [dump("2015-01-05")])
    cubes.store.drop_partitions("shop", "lake_stations", [("latest", "north")])
    cubes.add_partitions("stations", "lake", [dump("2015-01-02")])
    assert check(cubes.store) == {("north",): "2015-01-05"}


@pytest.mark.parametrize("parameters", [{}, {latest_time_key("dt"): "yesterday"}])
def test_a_latest_that_says_no_time_is_made_anew(cubes, parameters):
    cubes.add_partitions("stations", "lake", [dump("2015-01-05")])
    cubes.store.alter_partitions("shop", "lake_stations", [Partition(("latest", "north"), parameters=parameters)])
    cubes.add_partitions("stations", "lake", [dump("2015-01-02")])
    assert check(cubes.store) == {("north",): "2015-01-05"}


def test_tables_without_times_have_none(cubes):
    with pytest.raises(ModelNotFound):
        cubes.latest("stations", "archive")
    with pytest.raises(ModelNotFound):
        cubes.latest("rides_daily", "lake")


class LatestMachine(RuleBasedStateMachine):
    """Any changes of partitions, each followed by a look at all of them."""

    dates = st.sampled_from([f"2015-01-{day:02}" for day in range(1, 8)])
    districts = st.sampled_from(["north", "south", None])
    picks = st.lists(st.tuples(dates, districts), min_size=1, max_size=4, unique=True)

    @initialize(atomic=st.booleans())
    def start(self, atomic):
        self.store = connect("memory://" if atomic else "memory://?atomic=false")
        self.store.create_database("shop")
        self.cubes = cubes_of(self.store)
        self.cubes.create_all(RIDES)
        self.there = set()

    @rule(picks=picks)
    def add(self, picks):
        self._do(self.cubes.add_partitions, picks, AlreadyExists, self.there & set(picks), self.there | set(picks))

    @rule(picks=picks)
    def drop(self, picks):
        self._do(self.cubes.drop_partitions, picks, PartitionNotFound, set(picks) - self.there, self.there - set(picks))

    @precondition(lambda self: self.there)
    @rule(data=st.data())
    def drop_some(self, data):
        some = data.draw(st.lists(st.sampled_from(sorted(self.there, key=str)), min_size=1, unique=True))
        self.drop(some)

    @rule(picks=picks, where=st.integers(0, 9))
    def move(self, picks, where):
        self._do(
            self.cubes.alter_partitions, picks, PartitionNotFound, set(picks) - self.there, self.there, f"/data/{where}"
        )

    def _do(self, call, picks, error, wrong, there, location=None):
        batch = [dump(day, district, location=location) for day, district in picks]
        try:
            call("stations", "lake", batch)
        except error:
            assert wrong
        else:
            assert not wrong
            self.there = there

    @invariant()
    def latest_is_the_newest(self):
        if hasattr(self, "store"):
            newest = check(self.store)
            named = {(day, district or "__HIVE_DEFAULT_PARTITION__") for day, district in self.there}
            assert newest == {(one,): max(day for day, other in named if other == one) for one in {b for _, b in named}}

    def teardown(self):
        self.store.close()


TestLatest = LatestMachine.TestCase
TestLatest.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)


def test_of_two_at_once_in_any_order():
    """Adding an older one while the newest is dropped, and the like: `latest` is right whatever the order of calls."""
    pairs = [
        (lambda cubes: cubes.drop_partitions("stations", "lake", [dump("2015-01-05")]), "2015-01-05"),
        (lambda cubes: cubes.add_partitions("stations", "lake", [dump("2015-01-04")]), "2015-01-04"),
        (lambda cubes: cubes.add_partitions("stations", "lake", [dump("2015-01-06")]), "2015-01-06"),
        (lambda cubes: cubes.drop_partitions("stations", "lake", [dump("2015-01-01")]), "2015-01-01"),
    ]
    for one in range(len(pairs)):
        for two in range(one):
            acts = [lambda store, act=pairs[number][0]: act(cubes_of(store)) for number in (one, two)]

            def run(schedule, acts=acts, days=(pairs[one][1], pairs[two][1])):
                with connect("memory://?atomic=false") as store:
                    store.create_database("shop")
                    cubes = cubes_of(store)
                    cubes.create_all(one for one in RIDES if one.kind != "fact")
                    cubes.add_partitions("stations", "lake", [dump("2015-01-01"), dump("2015-01-05")])
                    results, calls = play(store.rows, acts, schedule)
                    assert results == [1, 1], (schedule, results)
                    kept = {"2015-01-01", "2015-01-05"} ^ set(days)
                    assert check(store) == ({("north",): max(kept)} if kept else {}), schedule
                    return calls

            for schedule in schedules(run([]), step=5):
                run(schedule)


def registrar(cubes, number, rounds):
    """Adds newer and older partitions and drops its own again."""
    for turn in range(rounds):
        mine = [dump(f"20{10 + turn:02}-{1 + number:02}-{day:02}") for day in (1, 2, 3)]
        cubes.add_partitions("stations", "lake", mine)
        cubes.drop_partitions("stations", "lake", [mine[turn % 3], *mine[(turn + 1) % 3 :][:1]][: 1 + turn % 2])
        found = cubes.latest("stations", "lake", NORTH)
        assert found is not None


def test_registrars_in_threads(cubes):
    failed = []

    def run(number):
        try:
            registrar(cubes, number, 4)
        except Exception as error:  # noqa: BLE001  shown below
            failed.append(error)

    threads = [Thread(target=run, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(timeout=300)
    assert failed == []
    assert len(check(cubes.store)) == 1


@pytest.mark.parametrize("backend", ["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def test_registrars_in_processes(request, tmp_path, backend):
    url = request.getfixturevalue("hbase_url") if backend == "hbase" else f"sqlite://{tmp_path}/store.db"
    with connect(url) as store:
        store.drop_database("shop", cascade=True, if_exists=True)
        store.create_database("shop")
        cubes_of(store).create_all(RIDES)
    code = (
        "import sys; from hbstore import connect; from tests.cubes.conftest import cubes_of;"
        "from tests.cubes.test_latest import registrar;"
        "registrar(cubes_of(connect(sys.argv[1])), int(sys.argv[2]), 6)"
    )
    command = [sys.executable, "-c", code, url]
    running = [subprocess.Popen([*command, str(number)], cwd=ROOT) for number in range(3)]
    assert [one.wait(timeout=300) for one in running] == [0, 0, 0]
    with connect(url) as store:
        assert len(check(store)) == 1


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER])
@pytest.mark.parametrize("url", ["memory://", "memory://?atomic=false"])
def test_a_registrar_that_dies_leaves_all_of_its_change_or_nothing(url, fault):
    @copies_of
    def fresh():
        store = connect(url)
        store.create_database("shop")
        cubes = cubes_of(store)
        cubes.create_all(RIDES)
        cubes.add_partitions("stations", "lake", [dump("2015-01-01"), dump("2015-01-03")])
        return store

    def change(store):
        cubes = cubes_of(store)
        cubes.add_partitions("stations", "lake", [dump("2015-01-05"), dump("2015-01-04", "south")])
        cubes.drop_partitions("stations", "lake", [dump("2015-01-05"), dump("2015-01-03")])

    seen = set()
    for store, _, _ in struck(fresh, change, fault):
        store.repair("shop", "lake_stations")
        seen.add(tuple(sorted(check(store).items())))
    assert seen <= {
        ((("north",), "2015-01-03"),),
        ((("north",), "2015-01-05"), (("south",), "2015-01-04")),
        ((("north",), "2015-01-01"), (("south",), "2015-01-04")),
    }
    assert len(seen) > 1
