"""A process that dies at any write of a change of the catalog: the next one finishes what it leaves, or removes it."""

from __future__ import annotations

from contextlib import suppress

import pytest

from hbstore import connect
from hbstore.cubes import KINDS
from hbstore.errors import AlreadyExists, CommitStateUnknown, ModelNotFound
from hbstore.store.partition_store import PartitionStore
from tests.cubes.conftest import RIDES, cubes_of, days, on, sample, without_storage
from tests.cubes.test_catalog import TABLES
from tests.store.faults import Crash, Fault, FaultyRows

FACT = sample("rides_daily")
ALTERED = on(without_storage(FACT, "lake"), "archive", update_periods=["DAILY", "HOURLY"])
BACK = on(FACT, "archive", update_periods=["DAILY", "HOURLY"])
BEFORE = [one for one in RIDES if one.name != "rides_daily"]
URLS = ["memory://", "memory://?atomic=false"]
FAULTS = [Fault.CRASH, Fault.CRASH_AFTER, Fault.LOST_ANSWER, Fault.LOST_CALL]


def crashes(url, prepare, change, fault):
    """Stores in which a change died at each of its writes in turn, and whether it was acknowledged all the same."""
    at = 0
    while True:
        with connect(url) as store:
            store.create_database("shop")
            cubes = cubes_of(store)
            prepare(cubes)
            rows = FaultyRows(store.rows, fault, at)
            try:
                change(cubes_of(PartitionStore(rows)))
                acknowledged = True
            except (Crash, CommitStateUnknown):
                acknowledged = False
            if not rows.struck:
                assert at > 2
                return
            yield cubes, acknowledged
        at += 1


def tables_of(cubes):
    return [name for name in cubes.store.table_names("shop") if name.endswith("_rides_daily")]


def sound(cubes, fact):
    """The fact is this one, and as soon as somebody asks for partitions its tables are what it says."""
    cubes.timelines(fact.name)
    assert cubes.fact(fact.name) == fact
    assert tables_of(cubes) == sorted(fact.table_name(one.storage) for one in fact.storage_tables)
    for one in fact.storage_tables:
        periods = cubes.timelines(fact.name, storage=one.storage)
        assert [timeline.update_period for timeline in periods] == list(one.update_periods)
        cubes.add_partitions(fact.name, one.storage, days("2015-02-01"))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("url", URLS)
def test_creating_again_completes(url, fault):
    for cubes, acknowledged in crashes(
        url, lambda cubes: cubes.create_all(BEFORE), lambda cubes: cubes.create(FACT), fault
    ):
        if acknowledged:
            assert tables_of(cubes) == ["archive_rides_daily", "lake_rides_daily"]
        with suppress(AlreadyExists):  # it had come to its end
            cubes.create(FACT)
        assert tables_of(cubes) == ["archive_rides_daily", "lake_rides_daily"]
        sound(cubes, FACT)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("url", URLS)
def test_whoever_asks_finishes_a_fact(url, fault):
    for cubes, _ in crashes(url, lambda cubes: cubes.create_all(BEFORE), lambda cubes: cubes.create(FACT), fault):
        try:
            cubes.timelines("rides_daily")
        except ModelNotFound:
            assert tables_of(cubes) == []
        else:
            sound(cubes, FACT)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("url", URLS)
def test_dropping_cleans_up(url, fault):
    for cubes, _ in crashes(url, lambda cubes: cubes.create_all(BEFORE), lambda cubes: cubes.create(FACT), fault):
        with suppress(ModelNotFound):
            cubes.drop("fact", "rides_daily")
        assert tables_of(cubes) == []
        assert cubes.names("fact") == ["rides_raw"]


def with_partitions(cubes):
    cubes.create_all(RIDES)
    cubes.add_partitions("rides_daily", "archive", days("2015-01-01"))
    cubes.add_partitions("rides_daily", "lake", days("2015-01-01"))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("url", URLS)
def test_a_drop_comes_to_its_end(url, fault):
    """What is left is gone for everyone, or still all there; dropping or creating again finds nothing old."""
    for number, (cubes, acknowledged) in enumerate(
        crashes(url, with_partitions, lambda cubes: cubes.drop("fact", "rides_daily"), fault)
    ):
        there = "rides_daily" in cubes.names("fact")
        if acknowledged:
            assert not there
        if there:
            assert len(cubes.partitions("rides_daily", "lake")) == 1
            assert tables_of(cubes) == ["archive_rides_daily", "lake_rides_daily"]
            continue
        if number % 2:
            with pytest.raises(ModelNotFound):
                cubes.timelines("rides_daily")
            with suppress(ModelNotFound):
                cubes.drop("fact", "rides_daily")
            assert tables_of(cubes) == []
        cubes.create(FACT)
        assert cubes.partitions("rides_daily", "lake") == cubes.partitions("rides_daily", "archive") == []
        sound(cubes, FACT)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("url", URLS)
def test_a_change_of_a_fact_is_made_or_not(url, fault):
    for number, (cubes, acknowledged) in enumerate(
        crashes(url, with_partitions, lambda cubes: cubes.alter(ALTERED), fault)
    ):
        found = cubes.fact("rides_daily")
        assert found in ((ALTERED,) if acknowledged else (FACT, ALTERED))
        if number % 2:
            sound(cubes, found)
        else:
            cubes.alter(BACK)
            sound(cubes, BACK)
        assert len(cubes.partitions("rides_daily", "archive")) == 2
        if found == ALTERED and not number % 2:
            assert [one.values for one in cubes.partitions("rides_daily", "lake")] == [("2015-02-01",)]


@pytest.mark.parametrize("url", URLS)
def test_a_crash_while_a_storage_is_dropped_with_its_tables(url):
    for cubes, _ in crashes(
        url, with_partitions, lambda cubes: cubes.drop("storage", "archive", cascade=True), Fault.CRASH
    ):
        if "archive" in cubes.names("storage"):
            cubes.drop("storage", "archive", cascade=True)
        sound(cubes, without_storage(FACT, "archive"))
        assert cubes.store.table_names("shop") == [one for one in TABLES if not one.startswith("archive")]
        assert [cubes.names(kind) for kind in KINDS[:2]] == [["lake"], ["rides"]]
