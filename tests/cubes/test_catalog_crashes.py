"""One write of a change of the catalog goes wrong, in every way: all of the change is there, or nothing of it."""

from __future__ import annotations

import pytest

from hbstore import connect
from hbstore.cubes import KINDS, Cubes
from tests.cubes.conftest import RIDES, cubes_of, days, on, sample, without_storage
from tests.store.copies import copies_of
from tests.store.faults import Fault
from tests.store.strikes import check_outcome, make_impatient, struck

FACT = sample("rides_daily")
ALTERED = on(without_storage(FACT, "lake"), "archive", update_periods=["DAILY", "HOURLY"])
NEW = FACT.changed(name="rides_new")
CHANGES = {
    "create a fact": lambda cubes: cubes.create(NEW),
    "alter a fact: one storage less": lambda cubes: cubes.alter(ALTERED),
    "alter a fact: one storage more": lambda cubes: cubes.alter(on_both(cubes.fact("rides_raw"))),
    "drop a fact": lambda cubes: cubes.drop("fact", "rides_daily"),
    "drop a storage with its tables": lambda cubes: cubes.drop("storage", "archive", cascade=True),
    "drop a cube with its facts": lambda cubes: cubes.drop("cube", "rides", cascade=True),
}


def on_both(fact):
    return fact.changed(storage_tables=[*fact.storage_tables, fact.storage_tables[0].changed(storage="archive")])


@copies_of
def fresh():
    store = connect("memory://?atomic=false")
    store.create_database("shop")
    cubes = cubes_of(store)
    cubes.create_all(RIDES)
    cubes.add_partitions("rides_daily", "archive", days("2015-01-01"))
    cubes.add_partitions("rides_daily", "lake", days("2015-01-01"))
    return store


def seen(store):
    """The documents, and the tables with the partitions that are in them."""
    cubes = Cubes(store, "shop")
    tables = {
        table.name: (
            dict(table.parameters),
            [one.values for one in store.get_partitions_by_filter("shop", table.name, None)]
            if table.partition_columns
            else [],
        )
        for table in store.tables("shop")
    }
    return [cubes.list(kind) for kind in KINDS], tables


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name)
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_made_with_its_tables_or_not(change, fault, monkeypatch):
    make_impatient(monkeypatch)
    before, store = seen(fresh()), fresh()
    CHANGES[change](cubes_of(store))
    after = seen(store)
    assert before != after
    for left, faulty, ended in struck(fresh, lambda store: CHANGES[change](cubes_of(store)), fault, 3):
        found = seen(left)
        check_outcome(found, ended, before, after)
        faulty.arrive()
        assert seen(left) == found
