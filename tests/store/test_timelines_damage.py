"""Stored timelines that are damaged, too large, or another table's: readers are told, writers go on, a build mends."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.errors import CorruptTimeline, InvalidTime, TimelineError, TimelineMismatch, TimelineTooLarge
from hbstore.store import timeline_cell
from hbstore.store.table_row import table_key
from hbstore.store.timeline_cell import cell_name
from hbstore.timelines import properties
from hbstore.times.update_period import UpdatePeriod
from tests.store import timelines as tl
from tests.store.timelines import FACT, TWIN, days, declared, partition

CELL = cell_name("DAILY.dt")


@pytest.fixture
def fact(store):
    tl.prepared(store)
    store.add_partitions(*FACT, days(1, 2, 4))
    return store


def stored(store, name=FACT):
    return store.rows.get_all(table_key(*name))[CELL]


def put(store, value, name=FACT):
    """Put another cell, and let nobody remember the one before: a change on the other side comes in between."""
    assert store.rows.compare_and_put(table_key(*name), CELL, stored(store, name), value)
    hours = store.count_partitions(*name, "dt like '2015-01-20-%'")
    store.add_partitions(*name, [partition(f"2015-01-20-{hours:02}")])


DAMAGES = {
    "cut off": lambda cell: cell[:-9],
    "no JSON": lambda cell: cell[:16] + b"\xff\x00" + cell[18:],
    "a list": lambda cell: cell[:16] + b"[1]",
    "no properties": lambda cell: cell.replace(b'"properties"', b'"propertie5"'),
    "properties that are none": lambda cell: cell[:16] + b'{"declared":"HOURLY,DAILY|dt,pt","properties":[7]}',
    "an end that is no time": lambda cell: cell.replace(b"2015-01-04", b"2015-01-44"),
    "a hole outside": lambda cell: cell.replace(b'"holes0":"2015-01-03"', b'"holes0":"2015-01-09"'),
    "ends the wrong way round": lambda cell: cell.replace(b"2015-01-04", b"2014-12-04"),
    "a builder without a time": lambda cell: (
        cell[:16] + b'{"declared":"HOURLY,DAILY|dt,pt","builder":"b","affected":[]}'
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_timeline_is_named_and_mended(fact, name):
    cell = DAMAGES[name](stored(fact))
    assert cell != stored(fact)
    put(fact, cell)
    for question in (fact.timelines.read, fact.timelines.of, fact.timelines.export):
        with pytest.raises(CorruptTimeline):
            question(".".join(FACT))
    assert len(fact.timelines.check(".".join(FACT))) == 1
    with pytest.raises(CorruptTimeline):
        fact.timelines.convert(".".join(FACT), UpdatePeriod.DAILY, "dt", "RangesPartitionTimeline")
    first = days(1)[0]
    assert fact.add_partitions(*FACT, days(7, 8)) == 2
    assert fact.drop_partitions(*FACT, [days(2)[0].values]) == 1
    fact.rename_partition(*FACT, first.values, days(9)[0].values)
    fact.alter_partitions(*FACT, days(9))
    assert stored(fact) == cell, "what cannot be read is not written over by guesses"
    assert fact.timelines.rebuild(".".join(FACT)).left_out == ()
    tl.assert_true(fact)
    assert tl.kept(fact)["DAILY", "dt"] == {f"2015-01-{day:02}" for day in (4, 7, 8, 9)}


@pytest.mark.parametrize("at", range(0, 300, 7))
def test_a_flipped_byte_is_seen_by_a_reader_or_by_check(fact, at):
    """Unless it changes nothing: a byte of the version, or of a word that stands for nothing."""
    cell = bytearray(stored(fact))
    cell[at % len(cell)] ^= 0x01
    put(fact, bytes(cell))
    try:
        said = fact.timelines.check(".".join(FACT))
    except TimelineError as error:
        said = [str(error)]
    assert said or tl.kept(fact) == tl.naive(fact), bytes(cell)
    fact.add_partitions(*FACT, days(15))
    fact.timelines.rebuild(".".join(FACT))
    tl.assert_true(fact)


def test_a_timeline_that_lies_is_told_by_check(fact):
    put(fact, stored(fact).replace(b"2015-01-04", b"2015-01-05"))
    assert fact.timelines.check(".".join(FACT)) == ["timeline DAILY.dt has 2015-01-05, but no partition has this time"]
    put(fact, stored(fact).replace(b'"latest":"2015-01-05"', b'"latest":"2015-01-02"').replace(b"2015-01-03", b""))
    assert fact.timelines.check(".".join(FACT)) == ["timeline DAILY.dt lacks 2015-01-04, but a partition has this time"]
    fact.timelines.rebuild(".".join(FACT))
    tl.assert_true(fact)


def test_another_tables_timeline_counts_for_none(fact):
    fact.create_table(tl.table(TWIN))
    fact.timelines.read(".".join(TWIN))
    fact.add_partitions(*TWIN, days(20))
    put(fact, stored(fact, TWIN))
    tl.assert_true(fact, FACT, TWIN)


def test_the_timeline_of_a_table_that_was_dropped_counts_for_none(fact):
    old = stored(fact)
    fact.drop_table(*FACT)
    assert not fact.rows.get_all(table_key(*FACT)).get(CELL)
    fact.create_table(tl.table())
    assert fact.rows.compare_and_put(table_key(*FACT), CELL, None, old)
    assert tl.kept(fact)["DAILY", "dt"] == set()
    fact.add_partitions(*FACT, days(3))
    tl.assert_true(fact)


def test_a_timeline_that_grows_too_large_becomes_ranges_then_too_large(fact, monkeypatch):
    monkeypatch.setattr(timeline_cell, "MAX_CELL", 300)
    fact.add_partitions(*FACT, [partition("2015-03-30")])
    (made,) = fact.timelines.of(".".join(FACT), UpdatePeriod.DAILY, "dt")
    assert type(made).__name__ == "RangesPartitionTimeline", "its holes are too many, its ranges few"
    tl.assert_true(fact)
    many = [partition(f"2016-{month:02}-{day:02}") for month in range(1, 13) for day in (1, 5, 9, 13)]
    fact.add_partitions(*FACT, many)
    for question in (fact.timelines.read, fact.timelines.export):
        with pytest.raises(TimelineTooLarge):
            question(".".join(FACT))
    assert len(fact.timelines.check(".".join(FACT))) == 1
    fact.add_partitions(*FACT, days(25))
    fact.rename_partition(*FACT, days(25)[0].values, days(26)[0].values)
    fact.drop_partitions(*FACT, [one.values for one in many])
    fact.timelines.rebuild(".".join(FACT))
    tl.assert_true(fact)


def test_a_class_that_lists_too_many_times_becomes_ranges(fact, monkeypatch):
    fact.timelines.convert(".".join(FACT), UpdatePeriod.DAILY, "dt", "StoreAllPartitionTimeline")
    monkeypatch.setattr(properties, "MAX_LISTED", 4)
    monkeypatch.setattr(timeline_cell, "MAX_CELL", 10_000)
    assert fact.add_partitions(*FACT, days(5, 6, 7)) == 3
    tl.assert_true(fact)
    with pytest.raises(TimelineTooLarge):
        fact.timelines.convert(".".join(FACT), UpdatePeriod.DAILY, "dt", "StoreAllPartitionTimeline")
    fact.timelines.rebuild(".".join(FACT))
    tl.assert_true(fact)


def test_a_damaged_partition_stops_neither_drops_nor_a_rebuild(store):
    """Bytes that are no partition: its values still stand in its key."""
    store.create_database("shop")
    store.create_table(
        Table("shop", "one", [Column("dt", "string"), Column("n", "int")], parameters=declared("DAILY", "dt"))
    )
    name = ("shop", "one")
    store.timelines.read(".".join(name))
    store.add_partitions(*name, [Partition((f"2015-01-0{day}", str(n))) for day in (1, 2) for n in (1, 2, 3)])
    (broken, *_) = store.rows.whole_rows(b"shop\0one", b"shop\0onf")
    store.rows.write([broken._replace(payload=broken.payload[:20])], [], 1 << 40)
    store.drop_partitions(*name, [("2015-01-01", "2"), ("2015-01-01", "3")])
    store.timelines.rebuild(".".join(name))
    assert tl.kept(store, name)["DAILY", "dt"] == {"2015-01-01", "2015-01-02"}
    store.drop_partitions(*name, [("2015-01-01", "1")])
    if store.rows.atomic:  # elsewhere the damaged row has a sequence number from far ahead
        assert tl.kept(store, name)["DAILY", "dt"] == {"2015-01-02"}
        tl.assert_true(store, name)


def test_partitions_of_unknown_times_can_be_altered_as_long_as_they_stay_so():
    with connect("memory://") as store:
        store.create_database("shop")
        columns = [Column("dt", "string")]
        store.create_table(Table("shop", "old", columns))
        store.add_partitions("shop", "old", [Partition(["someday"]), Partition(["2015-01-01"])])
        declared = {"cube.storagetable.time.partcols": "dt", "cube.storagetable.update.periods": "DAILY"}
        store.alter_table(Table("shop", "old", columns, parameters=declared))
        store.alter_partitions("shop", "old", [Partition(["someday"], parameters={"numRows": "7"})])
        assert store.get_partition("shop", "old", ["someday"]).parameters["numRows"] == "7"
        store.change_partitions("shop", "old", put=[Partition(["someday"], parameters={"numRows": "8"})])
        assert store.get_partition("shop", "old", ["someday"]).parameters["numRows"] == "8"
        with pytest.raises(InvalidTime):
            store.change_partitions("shop", "old", put=[Partition(["another day"])])
        yearly = {"cube.storagetable.partition.update.period": "YEARLY"}
        with pytest.raises(TimelineMismatch):
            store.alter_partitions("shop", "old", [Partition(["2015-01-01"], parameters=yearly)])
        assert [str(timeline.first())[:10] for timeline in store.timelines.of("shop.old")] == ["2015-01-01"]
