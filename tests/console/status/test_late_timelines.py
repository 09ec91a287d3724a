"""Which timelines are behind or have holes, and that few rows are read to know it."""

from __future__ import annotations

import datetime as dt

import pytest

from hbstore import Column, Table, connect
from hbstore.console.status import late_timelines as module
from hbstore.console.status.late_timelines import late_timelines, parts_behind
from hbstore.cubes import Cubes, parse_documents
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import table_key
from hbstore.store.timeline_cell import cell_name
from hbstore.timelines import RangesPartitionTimeline, UpdatePeriod
from tests.console.facts import DAY, HOUR, MODEL, descs
from tests.warehouse.test_metrics import WithoutPartitions

NOW = dt.datetime(2015, 4, 21, 9, 30, tzinfo=dt.UTC)
DAILY = {"cube.storagetable.time.partcols": "dt", "cube.storagetable.update.periods": "DAILY"}


@pytest.fixture
def store():
    with connect("memory://") as store:
        store.create_database("city")
        yield store


def create(store, name, *days, parameters=DAILY):
    store.create_table(Table("city", name, [Column("dt", "string")], parameters=parameters))
    store.table(f"city.{name}").add([(day,) for day in days])


def shown(store, now=NOW, **options):
    return [
        (line.table, line.row.timeline.update_period.name, line.behind, line.row.holes, line.last_hole)
        for line in late_timelines(store, now, **options).shown
    ]


@pytest.mark.parametrize(
    ("period", "latest", "now", "behind"),
    [
        ("DAILY", "2015-04-20", "2015-04-21-23", 0),  # the day that is not over is not behind
        ("DAILY", "2015-04-19", "2015-04-21-00", 1),
        ("DAILY", "2015-04-21", "2015-04-21-05", 0),
        ("DAILY", "2015-04-25", "2015-04-21-05", 0),  # a day that has not begun may be there
        ("HOURLY", "2015-04-21-05", "2015-04-21-09", 3),
        ("MONTHLY", "2015-02", "2015-04-21-09", 1),
    ],
)
def test_parts_that_are_over_and_not_there_are_behind(period, latest, now, behind):
    timeline = RangesPartitionTimeline("sales", UpdatePeriod.named(period), "dt")
    timeline.add(timeline.update_period.parse(latest))
    assert parts_behind(timeline, UpdatePeriod.HOURLY.parse(now)) == behind


def test_an_empty_timeline_is_not_behind():
    assert parts_behind(RangesPartitionTimeline("sales", UpdatePeriod.DAILY, "dt"), NOW) == 0


def test_those_with_the_newest_partitions_come_first_and_what_is_complete_is_left_out(store):
    create(store, "ended", "2013-01-01", "2013-01-02")
    create(store, "complete", "2015-04-19", "2015-04-20")
    create(store, "holes", "2015-04-10", "2015-04-12", "2015-04-15", "2015-04-20")
    create(store, "late", "2015-04-17", "2015-04-18")
    create(store, "empty")
    create(store, "untimed", "some", parameters={})
    assert shown(store) == [
        ("holes", "DAILY", 0, 3, "2015-04-16 to 2015-04-19"),
        ("late", "DAILY", 2, 0, None),
        ("ended", "DAILY", 838, 0, None),
    ]
    late = late_timelines(store, NOW)
    assert (late.behind, late.with_holes, late.tables, late.left_out, late.unread) == (2, 1, 5, 0, {})


def test_a_fact_is_not_behind_of_times_after_its_end(store):
    cubes = Cubes(store, "city")
    cubes.create_all(parse_documents(MODEL.replace("weight: 90", "weight: 90\nend_time: 2015-04-03"), "yaml"))
    cubes.add_partitions("bikes", "lake", descs(DAY, "2015-03-30", "2015-04-02"))
    cubes.add_partitions("hires", "lake", descs(HOUR, "2015-04-21-00", "2015-04-21-07"))
    late = late_timelines(store, NOW).shown
    assert [(line.table, line.fact, line.behind) for line in late] == [
        ("lake_hires", "hires", 2),
        ("lake_bikes", "bikes", 1),
    ]


def test_only_so_many_tables_are_looked_at(store, monkeypatch):
    for number in range(3):
        create(store, f"t{number}", "2015-04-01")
    monkeypatch.setattr(module, "_TABLES", 2)
    late = late_timelines(store, NOW)
    assert [line.table for line in late.shown] == ["t0", "t1"]
    assert (late.tables, late.left_out) == (2, 1)


def test_only_so_many_lines_are_shown(store, monkeypatch):
    for number in range(3):
        create(store, f"t{number}", "2015-04-01")
    monkeypatch.setattr(module, "_SHOWN", 2)
    late = late_timelines(store, NOW)
    assert (len(late.shown), late.others, late.behind) == (2, 1, 3)


def test_timelines_that_nobody_has_read_are_built_of_few_partitions_alone(store, monkeypatch):
    create(store, "large", *(f"2015-04-0{day}" for day in range(1, 8)))
    create(store, "small", "2015-04-01", "2015-04-03")
    assert shown(store, build=False) == []
    monkeypatch.setattr(module, "_BUILT", 5)
    late = late_timelines(store, NOW)
    assert [line.table for line in late.shown] == ["small"]
    assert late.unread == {"city.large": "its timelines are not built yet"}


def test_no_partition_is_read_of_timelines_that_are_there(store):
    create(store, "holes", "2015-04-01", "2015-04-03")
    list(store.table("city.holes").timelines)
    assert len(shown(PartitionStore(WithoutPartitions(store.rows)))) == 1


def test_a_table_that_cannot_be_read_does_not_hide_the_others(store):
    create(store, "late", "2015-04-01")
    create(store, "odd", "2015-04-01")
    list(store.table("city.odd").timelines)
    key, cell = table_key("city", "odd"), cell_name("DAILY.dt")
    stored = store.rows.get_all(key)[cell]
    assert store.rows.compare_and_put(key, cell, stored, stored.replace(b"2015-04-01", b"2015-04-44"))
    late = late_timelines(PartitionStore(store.rows), NOW)
    assert [line.table for line in late.shown] == ["late"]
    assert late.unread == {"city.odd": "a stored timeline is damaged"}
