"""Exchanging partitions between tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import (
    AlreadyExists,
    Column,
    InvalidInput,
    InvalidPartitionValue,
    PartitionNotFound,
    StorageDescriptor,
    Table,
    TableNotFound,
    TableNotPartitioned,
)
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import statistics_of, table_key
from hbstore.transactions.log import LOG, Log
from tests.store import moves
from tests.store.conftest import URLS
from tests.store.faults import Crash, FaultyRows
from tests.store.moves import RETURNS, SALES, marked, table
from tests.store.operations import DAY

NAMES = [f"ds={DAY}/hour={hour}" for hour in range(10)]


@pytest.fixture(params=URLS)
def store(request, tmp_path):
    with moves.prepared(URLS[request.param].format(tmp_path)) as store:
        yield store


def test_partitions_go_with_all_that_they_have(store):
    storage = StorageDescriptor([Column("x", "int")], input_format="orc")
    full = replace(marked("7"), location="s3://shop/sales/x", storage=storage, last_access_time=9)
    store.add_partitions(*SALES, [full])
    moved = store.exchange_partitions(SALES, RETURNS, [(DAY, "7"), (DAY, "2"), (DAY, "7")])
    assert [one.values for one in moved] == [(DAY, "2"), (DAY, "7")]
    assert moved[1] == full == store.get_partition(*RETURNS, (DAY, "7"))
    assert store.partition_names(*SALES) == [NAMES[hour] for hour in (0, 3, 4, 5)]
    assert store.partition_names(*RETURNS) == [NAMES[hour] for hour in (2, 5, 7, 9)]
    assert {one[1:3] for one in moves.partitions(store, *RETURNS)} == {RETURNS}
    moves.assert_clean(store)


def test_tables_are_named_in_one_text_or_in_two(store):
    assert len(store.exchange_partitions("shop.sales", "Shop.Returns", [{"hour": "2", "ds": DAY}])) == 1
    with pytest.raises(InvalidInput, match="the text is not a table name"):
        store.exchange_partitions("sales", "shop.returns", [(DAY, "3")])


def test_locations_below_the_old_one_move(store):
    (moved,) = store.exchange_partitions(SALES, RETURNS, [(DAY, "2")], relocated=("s3://shop/sales/", "s3://r"))
    assert moved.location == f"s3://r/ds={DAY}/hour=2"
    assert store.get_partition(*RETURNS, (DAY, "2")).location == moved.location


def test_it_is_all_or_nothing(store):
    before = moves.seen(store)
    with pytest.raises(PartitionNotFound) as caught:
        store.exchange_partitions(SALES, RETURNS, [(DAY, "2"), (DAY, "9")])
    assert (str(caught.value.fields["table"]), caught.value.fields["partition"]) == ("shop.sales", NAMES[9])
    with pytest.raises(AlreadyExists) as caught:
        store.exchange_partitions(SALES, RETURNS, [(DAY, "2"), (DAY, "5")])
    assert (str(caught.value.fields["table"]), caught.value.fields["partition"]) == ("shop.returns", NAMES[5])
    with pytest.raises(InvalidPartitionValue):
        store.exchange_partitions(SALES, RETURNS, [(DAY, "2"), (DAY,)])
    assert store.exchange_partitions(SALES, RETURNS, []) == []
    assert moves.seen(store) == before
    moves.assert_clean(store)


def test_only_between_two_tables_with_the_same_partition_columns(store):
    for columns in ([("ds", "date")], [("hour", "int"), ("ds", "date")], [("ds", "string"), ("hour", "int")]):
        store.create_table(Table("shop", "x", partition_columns=[Column(*one) for one in columns]))
        with pytest.raises(InvalidInput):
            store.exchange_partitions(SALES, ("shop", "x"), [(DAY, "2")])
        store.drop_table("shop", "x")
    with pytest.raises(InvalidInput):
        store.exchange_partitions(SALES, ("SHOP", "Sales"), [(DAY, "2")])
    store.create_table(Table("shop", "flat"))
    store.create_table(Table("shop", "flatter"))
    with pytest.raises(TableNotPartitioned):
        store.exchange_partitions(("shop", "flat"), ("shop", "flatter"), [()])
    for places in ((SALES, ("shop", "none")), (("shop", "none"), SALES)):
        with pytest.raises(TableNotFound):
            store.exchange_partitions(*places, [(DAY, "2")])
    store.create_table(table("attic", "x", partition_columns=[Column("DS", "date"), Column("Hour", "int")]))
    assert len(store.exchange_partitions(SALES, ("attic", "x"), [(DAY, "2")])) == 1


def test_statistics_learn_of_what_comes(store):
    store.create_table(table("shop", "x"))
    store.exchange_partitions(SALES, ("shop", "x"), [(DAY, "2"), (DAY, "3")])
    assert statistics_of(store._tables.open("shop", "x")).distinct == (1, 2)


def test_what_was_dropped_there_stays_dropped(store):
    for _ in range(3):
        moves.exchange(store)
        store.drop_partitions(*RETURNS, [(DAY, "2"), (DAY, "4")])
        assert store.partition_names(*RETURNS) == [NAMES[5], NAMES[9]]
        store.add_partitions(*SALES, [marked("2"), marked("4")])
    moves.assert_clean(store)


def test_many_partitions(store):
    store.add_partitions(*SALES, [marked(str(hour)) for hour in range(100, 3_100)])
    some = [(DAY, str(hour)) for hour in range(100, 3_100, 2)]
    assert len(store.exchange_partitions(SALES, RETURNS, some)) == 1_500
    assert store.count_partitions(*SALES) == 1_505
    assert store.count_partitions(*RETURNS) == 1_502
    moves.assert_clean(store)


# What a dead writer leaves, where there are no transactions


class Undecided(FaultyRows):
    """The process dies when the other table is locked, right before it decides."""

    def compare_and_put(self, key, cell, expected, value):
        if key == table_key(*SALES):
            self.die()
        return super().compare_and_put(key, cell, expected, value)


class Decided(FaultyRows):
    """The process dies when it has decided, before anything else is written."""

    def compare_and_put(self, key, cell, expected, value):
        done = super().compare_and_put(key, cell, expected, value)
        if key == table_key(*SALES):
            self.die()
        return done


def dead(rows):
    store = moves.prepared()
    with pytest.raises(Crash):
        moves.exchange(PartitionStore(rows(store.rows)))
    return store


def log(store, place):
    return Log.decode(store.rows.get(table_key(*place))[LOG])


@pytest.mark.parametrize("place", [SALES, RETURNS])
def test_a_reader_of_either_table_finishes_what_is_decided(place):
    store = dead(Decided)
    assert len(log(store, SALES).commits) == 1
    assert log(store, RETURNS).intent.primary == table_key(*SALES)
    expected = {SALES: [NAMES[hour] for hour in (0, 3, 5)], RETURNS: [NAMES[hour] for hour in (2, 4, 5, 9)]}
    assert store.partition_names(*place) == expected[place]
    assert not any(log(store, one).commits or log(store, one).intent for one in (SALES, RETURNS))
    assert all(store.partition_names(*one) == names for one, names in expected.items())


def test_readers_let_what_is_not_decided_be():
    store = dead(Undecided)
    assert log(store, RETURNS).intent is not None
    assert store.partition_names(*SALES) == [NAMES[hour] for hour in (0, 2, 3, 4, 5)]
    assert store.partition_names(*RETURNS) == [NAMES[5], NAMES[9]]
    assert log(store, RETURNS).intent is not None


def test_a_writer_there_gives_up_what_is_not_decided():
    """The turn is over in which the exchange would have been decided."""
    store = dead(Undecided)
    turn = log(store, SALES).turn
    store.add_partitions(*RETURNS, [marked("4", "mine")])
    assert log(store, RETURNS).intent is None
    assert log(store, SALES).turn == turn + 1
    assert store.get_partition(*RETURNS, (DAY, "4")).parameters == {"mark": "mine"}
    assert NAMES[4] in store.partition_names(*SALES)
