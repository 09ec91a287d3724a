"""Dropping a table that somebody saw: never one that others made under its name meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import ConcurrentChange, Partition, TableNotFound, connect
from tests.backends import BACKENDS, backend_url
from tests.store.conftest import sales_table, values
from tests.store.stepping import play, schedules
from tests.store.strikes import make_impatient

TABLE = sales_table(create_time=1)
OTHER = Partition(("2013-03-03", "3"))
OUTCOMES = [(None, "TableNotFound"), ("ConcurrentChange", None), ("TableNotFound", None)]
"""Of who drops the table that was there, and of who makes another."""


@pytest.fixture(params=BACKENDS)
def store(request, tmp_path):
    """A store with the table shop.sales and a partition in it."""
    with connect(backend_url(request, tmp_path)) as store:
        store.drop_database("shop", cascade=True, if_exists=True)  # one HBase serves all tests
        yield prepared(store)


def prepared(store):
    store.create_database("shop")
    store.create_table(TABLE)
    store.add_partitions("shop", "sales", [Partition(("2013-01-01", "1"))])
    return store


def create_again(store):
    """The same table once more, with another partition."""
    store.drop_table("shop", "sales")
    store.create_table(TABLE)
    store.add_partitions("shop", "sales", [OTHER])


def rename_there(store):
    """Another table under the name of the first, which has another one by now."""
    store.create_table(replace(TABLE, name="others"))
    store.add_partitions("shop", "others", [OTHER])
    store.rename_table("shop", "sales", replace(TABLE, name="old"))
    store.rename_table("shop", "others", TABLE)


def test_the_table_that_was_seen_is_dropped(store):
    seen = store.table_incarnation("shop", "sales")
    store.alter_table(replace(TABLE, parameters={"colour": "red"}), cascade=True)
    store.drop_table("shop", "sales", incarnation=seen)
    assert store.table_names("shop") == []
    with pytest.raises(TableNotFound):
        store.drop_table("shop", "sales", incarnation=seen)
    store.drop_table("shop", "sales", if_exists=True, incarnation=seen)
    with pytest.raises(TableNotFound):
        store.table_incarnation("shop", "sales")


@pytest.mark.parametrize("others", [create_again, rename_there])
def test_another_table_of_the_name_is_not(store, others):
    seen = store.table_incarnation("shop", "sales")
    others(store)
    for if_exists in (False, True):
        with pytest.raises(ConcurrentChange):
            store.drop_table("shop", "sales", if_exists=if_exists, incarnation=seen)
    assert values(store.get_partitions_by_filter("shop", "sales", None)) == [OTHER.values]
    if others is rename_there:
        assert store.table_incarnation("shop", "old") == seen
        store.drop_table("shop", "old", incarnation=seen)
        assert store.table_names("shop") == ["sales"]


@pytest.mark.parametrize("others", [create_again, rename_there])
def test_whatever_the_order_of_calls_what_others_made_stays(monkeypatch, others):
    """Among them those in which it is another table after it was looked at, and before that is decided."""
    make_impatient(monkeypatch)

    def together(schedule):
        with connect("memory://?atomic=false") as store:
            seen = prepared(store).table_incarnation("shop", "sales")
            acts = [lambda store: store.drop_table("shop", "sales", incarnation=seen), others]
            results, calls = play(store.rows, acts, schedule)
            assert tuple(results) in OUTCOMES, (schedule, results)
            if results[1] is None:
                assert values(store.get_partitions_by_filter("shop", "sales", None)) == [OTHER.values], schedule
            return results, calls

    calls = together([])[1][0], together([(1, 1_000)])[1][1]
    assert together([(1, 1_000)])[0] == ["ConcurrentChange", None]
    told = [tuple(together(schedule)[0]) for schedule in schedules(calls, step=1 if calls[1] < 50 else 3)]
    assert told.count(("ConcurrentChange", None)) > 10
