"""One write goes wrong, for every write of every change of a whole table and every exchange, in every way.

What was acknowledged before is seen at every moment, under one name or the other; and what the call said is true.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from hbstore import HbstoreError
from hbstore.model.structs import decode_partition, partition_values
from hbstore.store.partition_store import PartitionStore
from hbstore.transactions.templates import number_of
from tests.store import moves, strikes
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.moves import RETURNS, SALES, marked, table
from tests.store.operations import DAY
from tests.store.strikes import MOST, check_outcome, ids, make_impatient


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    make_impatient(monkeypatch)


def struck(operation, fault):
    return strikes.struck(moves.fresh, operation, fault, least=3)


def before_and_after(operation):
    store = moves.fresh()
    before = moves.seen(store)
    operation(store)
    moves.assert_clean(store)
    return before, moves.seen(store)


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("operation", moves.MOVES, **ids)
def test_repair_leaves_all_or_nothing(operation, fault):
    before, after = before_and_after(operation)
    assert before != after
    for store, _, ended in struck(operation, fault):
        moves.repair(store)
        moves.assert_clean(store)
        check_outcome(moves.seen(store), ended, before, after)


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("operation", moves.MOVES, **ids)
def test_every_partition_is_in_exactly_one_table_before_any_repair(operation, fault):
    expected = set(moves.places(moves.fresh()))
    for store, _, _ in struck(operation, fault):
        rows = [row.payload for row in store.rows.whole_rows(b"\2", b"\xff")]
        whole = [decode_partition(row) for row in rows if number_of(row) is None]  # others wait for the rename's end
        assert {partition_values(row) for row in rows} == {values for values, _ in expected}, "where nobody looks"
        assert {(one.values, one.parameters["mark"]) for one in whole} <= expected
        found = moves.places(PartitionStore(store.rows))
        assert set(found) == expected
        assert all(len(where) == 1 for where in found.values()), found


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.GONE, Fault.LOST_ANSWER, Fault.LOST_ANSWER_AND_GONE])
@pytest.mark.parametrize("operation", moves.MOVES, **ids)
def test_the_next_writer_leaves_all_or_nothing(operation, fault):
    """Somebody writes to the same partitions wherever they are, and takes it back, and takes the names in question."""
    before, after = before_and_after(operation)
    for store, _, ended in struck(operation, fault):
        writer = PartitionStore(store.rows)
        for name in (SALES, RETURNS, ("shop", "old"), ("attic", "sales")):
            with suppress(HbstoreError):
                writer.create_table(table(*name, owner="passing"))
        for (database, name), (known, _) in moves.seen(writer).items():
            with suppress(HbstoreError):
                passing = [marked(str(hour), "passing") for hour in range(12)]
                writer.add_partitions(database, name, passing, if_not_exists=True)
                added = [
                    one.values
                    for one in writer.get_partitions_by_filter(database, name, None)
                    if one.parameters["mark"] == "passing"
                ]
                writer.drop_partitions(database, name, added)
                if known.owner == "passing":
                    writer.drop_table(database, name)
        moves.repair(store)
        moves.assert_clean(store)
        check_outcome(moves.seen(store), ended, before, after)


@pytest.mark.parametrize("fault", [Fault.LATE, Fault.CRASH, Fault.LOST_ANSWER])
@pytest.mark.parametrize("operation", moves.MOVES, **ids)
def test_writes_that_arrive_late_change_nothing(operation, fault):
    """After repair and newer changes of the same partitions, the lost write arrives, and all of it once more."""
    for store, faulty, _ in struck(operation, fault):
        moves.repair(store)
        for database, name in moves.seen(store):
            store.drop_partitions(database, name, [(DAY, hour) for hour in "2459"], if_exists=True)
            store.add_partitions(database, name, [marked(hour, "newer") for hour in "25"])
        newest = moves.seen(store)
        faulty.arrive()
        assert moves.seen(store) == newest
        moves.repair(store)
        assert moves.seen(store) == newest
        moves.assert_clean(store)


@pytest.mark.parametrize("fault", [Fault.LATE, Fault.CRASH])
@pytest.mark.parametrize("operation", [moves.rename, moves.rename_away], **ids)
def test_late_writes_of_a_rename_do_not_meet_tables_that_came_after(operation, fault):
    """After repair the table is dropped wherever it is, and its old and its new name go to other tables."""
    for store, faulty, _ in struck(operation, fault):
        moves.repair(store)
        for name in (SALES, ("shop", "old"), ("attic", "sales")):
            store.drop_table(*name, if_exists=True)
            store.create_table(table(*name))
            store.add_partitions(*name, [marked(hour, "newer") for hour in "25"])
        newest = moves.seen(store)
        faulty.arrive()
        moves.repair(store)
        assert moves.seen(store) == newest
        moves.assert_clean(store)


@pytest.mark.parametrize("operation", [moves.rename, moves.rename_away, moves.cascade], **ids)
def test_repair_of_a_repair_that_died(operation):
    before, after = before_and_after(operation)
    both = 0
    for at in range(0, MOST, 3):
        store = moves.fresh()
        with suppress(Crash):
            operation(PartitionStore(FaultyRows(store.rows, Fault.CRASH, at)))
        for again in range(MOST):
            faulty = FaultyRows(store.rows, Fault.CRASH, again)
            with suppress(Crash):
                moves.repair(PartitionStore(faulty))
            seen = moves.seen(store)
            both += seen not in (before, after)
            if not faulty.struck:
                break
        assert seen in (before, after)
        moves.assert_clean(store)
        if seen == after and again == 0:
            break


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.GONE])
def test_a_name_that_a_dead_writer_has_reserved_can_be_taken(fault):
    taken = 0
    for store, _, _ in struck(moves.rename, fault):
        with suppress(HbstoreError):
            store.create_table(table("shop", "old", owner="taker"))
            taken += 1
            assert store.get_table("shop", "old").owner == "taker"
            assert store.partition_names("shop", "old") == []
            assert len(store.partition_names(*SALES)) == 5
        moves.repair(store)
        moves.assert_clean(store)
        assert len(moves.places(store)) == 7
    assert taken > 2


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.GONE])
def test_databases_are_dropped_over_what_dead_writers_left(fault):
    for store, _, _ in struck(moves.rename_away, fault):
        store.drop_database("attic", cascade=True)
        assert store.database_names() == ["shop"]
        store.drop_database("shop", cascade=True)
        moves.repair(store)
        assert list(store.rows.whole_rows(b"\0", b"\xff")) == []
        for database in ("shop", "attic"):
            store.create_database(database)
            assert store.tables(database) == []
            store.create_table(table(database, "sales"))
            assert store.partition_names(database, "sales") == []
