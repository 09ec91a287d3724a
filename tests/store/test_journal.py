"""The journal: slots, large changes, sequence numbers, and what writers do about each other's intents."""

from __future__ import annotations

from contextlib import suppress

import pytest

from hbstore import CommitStateUnknown, ConcurrentChange, CorruptRow, Partition, StoreUnavailable, connect
from hbstore.store import check, journal, slots
from hbstore.store.journal_cell import Journal
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import JOURNAL
from tests.store import operations
from tests.store.conftest import values
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.operations import DAY, marked


@pytest.fixture
def store():
    return operations.prepared(connect("memory://?atomic=false"))


class Undecided(FaultyRows):
    """The process dies when its change is stored, right before it is decided."""

    def compare_and_put(self, key, cell, expected, value):
        if cell == JOURNAL:
            self.die()
        return super().compare_and_put(key, cell, expected, value)


class Decided(FaultyRows):
    """The process dies when its change is decided, before the first row is written."""

    def write(self, puts, deletes, sequence):
        self.die()
        super().write(puts, deletes, sequence)


def die(store, operation, rows):
    with pytest.raises(Crash):
        operation(PartitionStore(rows(store.rows)))


def crash(store, operation):
    """Die as soon as the change is decided."""
    before = journal_of(store)
    die(store, operation, Decided)
    assert len(journal_of(store).intents) == len(before.intents) + 1


def die_with_a_slot(store):
    """Die between storing a change and deciding it."""
    die(store, operations.add, Undecided)
    assert journal_of(store).intents == ()


def journal_of(store):
    return Journal.decode(store.rows.get(b"Tshop\0sales").get(JOURNAL))


def test_sequence_numbers_rise_with_every_change_and_across_drop_and_create(store):
    seen = [journal_of(store).last_sequence]
    for operation in (operations.add, operations.alter, operations.rename, operations.drop_some):
        operation(store)
        seen.append(journal_of(store).last_sequence)
    store.drop_table("shop", "sales")
    seen.append(journal_of(store).last_sequence)
    store.create_table(operations.other_table())
    store.add_partitions("shop", "sales", [Partition((DAY,))])
    seen.append(journal_of(store).last_sequence)
    assert seen == sorted(set(seen))


def test_finished_changes_leave_no_intent_and_no_slot(store):
    for operation in (operations.add, operations.alter, operations.rename, operations.drop_some):
        operation(store)
        assert journal_of(store).intents == ()
        assert operations.slots(store) == []


def test_calls_that_fail_leave_no_slot(store):
    for call in (
        lambda: store.add_partitions("shop", "sales", [marked("2", "x")]),
        lambda: store.drop_partitions("shop", "sales", [(DAY, "77")]),
        lambda: store.alter_partitions("shop", "sales", [marked("77", "x")]),
        lambda: store.rename_partition("shop", "sales", (DAY, "2"), (DAY, "3")),
    ):
        with pytest.raises(Exception, match="partition"):
            call()
        assert operations.slots(store) == []
        assert journal_of(store).last_sequence == 2


def test_repair_says_how_many_intents_it_finished(store):
    crash(store, operations.add)
    assert len(journal_of(store).intents) == 1
    repaired = store.repair("shop", "sales")
    assert (repaired.intents, repaired.slots) == (1, 0)
    assert store.repair("shop", "sales").intents == 0
    assert {(DAY, hour) for hour in "178"} <= set(values(store.get_partitions_by_filter("shop", "sales", None)))


def test_intents_of_several_dead_writers_stand_beside_each_other(store):
    crash(store, lambda store: store.add_partitions("shop", "sales", [marked("7", "first")]))
    crash(store, lambda store: store.add_partitions("shop", "sales", [marked("8", "second")]))
    store.drop_partitions("shop", "sales", [(DAY, "3")])
    assert len(journal_of(store).intents) == 2, "writers of other keys pass by"
    assert store.repair("shop", "sales").intents == 2
    assert {(DAY, "7"), (DAY, "8")} <= set(values(store.get_partitions_by_filter("shop", "sales", None)))


def test_a_dead_rename_is_finished_by_the_next_listing(store):
    crash(store, operations.rename)
    names = store.partition_names("shop", "sales")
    assert ("ds=2013-01-01/hour=9" in names, "ds=2013-01-01/hour=2" in names) == (True, False)
    assert journal_of(store).intents == ()


def test_a_reader_that_knows_the_table_sees_a_dead_rename_once(store):
    reader = PartitionStore(store.rows)
    assert reader.count_partitions("shop", "sales", "hour in (2, 9)") == 1
    crash(store, operations.rename)
    assert reader.count_partitions("shop", "sales", "hour in (2, 9)") == 1
    assert reader.partition_names("shop", "sales", "hour in (2, 9)") == ["ds=2013-01-01/hour=9"]


def test_slots_of_writers_that_died_before_deciding_are_freed_when_they_are_old(store, monkeypatch):
    before = operations.seen(store)
    die_with_a_slot(store)
    assert store.repair("shop", "sales").slots == 0, "it may belong to a writer that is about to decide"
    assert len(operations.slots(store)) == 1
    monkeypatch.setattr(check, "SLOT_AGE", -1.0)
    assert store.repair("shop", "sales").slots == 1
    assert operations.slots(store) == []
    assert store.repair("shop", "sales").slots == 0
    assert operations.seen(store) == before


def test_when_all_slots_are_taken_nothing_is_changed(store, monkeypatch):
    monkeypatch.setattr(slots, "SLOTS", 3)
    for _ in range(3):
        die_with_a_slot(store)
    before = operations.seen(store)
    with pytest.raises(ConcurrentChange) as caught:
        operations.add(store)
    assert "repair" in caught.value.hint
    assert operations.seen(store) == before
    monkeypatch.setattr(check, "SLOT_AGE", -1.0)
    assert store.repair("shop", "sales").slots == 3
    assert operations.add(store) == 3


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.LOST_ANSWER, Fault.GONE])
def test_changes_larger_than_a_cell_are_stored_in_pieces(monkeypatch, fault):
    monkeypatch.setattr(slots, "_CHUNK", 100)
    monkeypatch.setattr(journal, "_PATIENCE", 0.0)
    monkeypatch.setattr(check, "SLOT_AGE", -1.0)
    for at in range(60):
        store = operations.prepared(connect("memory://?atomic=false"))
        before = operations.seen(store)
        faulty = FaultyRows(store.rows, fault, at)
        with suppress(Crash, StoreUnavailable, CommitStateUnknown):
            operations.add(PartitionStore(faulty))
        store.repair("shop", "sales")
        assert operations.is_clean(store)
        assert operations.slots(store) == []
        assert len(operations.seen(store)) in (len(before), len(before) + 3)
        # A slot is used again for a smaller change, and no piece of the larger one is left in it.
        monkeypatch.setattr(slots, "SLOTS", 1)
        store.drop_partitions("shop", "sales", [(DAY, "2")])
        crash(store, lambda store: store.drop_partitions("shop", "sales", [(DAY, "3")]))
        store.repair("shop", "sales")
        assert operations.is_clean(store)
        monkeypatch.setattr(slots, "SLOTS", 256)
        if not faulty.struck:
            return
    raise AssertionError("the operation does not end")


def test_repair_of_a_repair_that_died(monkeypatch):
    monkeypatch.setattr(check, "SLOT_AGE", -1.0)
    for at in range(30):
        store = operations.prepared(connect("memory://?atomic=false"))
        crash(store, operations.add)
        faulty = FaultyRows(store.rows, Fault.CRASH, at)
        with suppress(Crash):
            PartitionStore(faulty).repair("shop", "sales")
        store.repair("shop", "sales")
        assert operations.is_clean(store)
        assert operations.slots(store) == []
        assert len(operations.seen(store)) == 9
        if not faulty.struck:
            return
    raise AssertionError("repair does not end")


def test_a_journal_that_is_no_journal_is_named(store):
    cells = store.rows.get(b"Tshop\0sales")
    assert store.rows.compare_and_put(b"Tshop\0sales", JOURNAL, cells[JOURNAL], b"{not json")
    with pytest.raises(CorruptRow) as caught:
        store.add_partitions("shop", "sales", [marked("7", "x")])
    assert "journal" in caught.value.text
