"""Respelled values: texts such as ``9.0`` in an int column are found by the value, and stay partitions of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import AlreadyExists, Column, InvalidInput, InvalidPartitionValue, Partition, Table, connect
from hbstore.console.plans.key_line import key_line
from hbstore.keys.partition_names import partition_name
from hbstore.model.structs import partitions_from_payloads
from hbstore.plans.execute import fetch
from hbstore.plans.scan_plan import ScanKind, absolute, relative
from hbstore.rows import connect as connect_rows
from hbstore.store.partition_store import PartitionStore
from tests.store.conftest import sales_table, values
from tests.store.stepping import play, schedules

DAY, MIDNIGHT, SHORT = "2024-01-08", "2024-01-08 00:00:00", "2024-01"
NAMES = ("ds", "hour")
ALL = [
    ("2024-01", "9"),  # the first of January
    ("2024-01-07", "9"),
    (DAY, "9"),
    (DAY, "09"),
    (DAY, "9.0"),
    (DAY, "10"),
    (MIDNIGHT, "9"),
    (MIDNIGHT, "9.0"),
    ("2024-01-09", "9"),
    ("2024-01-09", "nine"),
    ("2024-01-08 or so", "9"),
]
"""In key order, but that the last but one is no hour; a day with anything behind it is that day."""
OF_THE_DAY = [ALL[2], ALL[3], ALL[4], ALL[5], ALL[6], ALL[7], ALL[10]]
FILTERS = {
    "ds = '2024-01-08'": OF_THE_DAY,
    "ds = '2024-01-08' and hour = 9": [one for one in OF_THE_DAY if one[1] != "10"],
    "hour = 9 and ds > '2024-01-07' and ds < '2024-01-09'": [one for one in OF_THE_DAY if one[1] != "10"],
    "ds in ('2024-01-07', '2024-01-08') and hour in (9, 10)": [ALL[1], *OF_THE_DAY],
    "ds like '2024-01-08' and hour = 10": [ALL[5]],
    "ds like '%00:00%'": [],
    "ds = '2024-01-01'": [ALL[0]],
    "hour != 9": [ALL[5]],
    "hour is not null and ds = '2024-01-09'": [ALL[8], ALL[9]],
    "ds between '2024-01-08' and '2024-01-08' and not hour = 9": [ALL[5]],
    "time_range_in(ds, '2024-01-08', '2024-01-09') and hour = 9": [one for one in OF_THE_DAY if one[1] != "10"],
}


@pytest.fixture
def full(sales):
    sales.add_partitions("shop", "sales", map(Partition, ALL), invalid_values="keep")
    return sales


def selected(store, where, table="sales"):
    return values(store.get_partitions_by_filter("shop", table, where))


@pytest.mark.parametrize("where", FILTERS)
def test_filters_find_them_by_their_values(full, where):
    assert sorted(selected(full, where)) == sorted(FILTERS[where])
    assert full.count_partitions("shop", "sales", where) == len(FILTERS[where])
    explained = full.explain("shop", "sales", where, analyze=True)
    assert explained.total.rows_returned == len(FILTERS[where])
    assert str(explained)


def test_their_texts_are_what_tells_them_apart(full):
    for one in ALL:
        assert full.get_partition("shop", "sales", one).values == one
        with pytest.raises(AlreadyExists):
            full.add_partitions("shop", "sales", [Partition(one)], invalid_values="keep")
    assert full.partition_names("shop", "sales", spec={"hour": "9.0"}) == [
        partition_name(NAMES, one) for one in (ALL[4], ALL[7])
    ]
    assert full.partition_names("shop", "sales", spec={"ds": MIDNIGHT}) == [
        partition_name(NAMES, one) for one in ALL[6:8]
    ]
    assert full.partition_names("shop", "sales", spec={"ds": DAY, "hour": "9"}) == [partition_name(NAMES, ALL[2])]
    assert full.partition_names("shop", "sales", spec={"hour": "nine"}) == [partition_name(NAMES, ALL[9])]
    full.rename_partition("shop", "sales", ALL[4], (DAY, "9.00"), invalid_values="keep")
    assert full.drop_partitions("shop", "sales", [ALL[2], (DAY, "9.00")]) == 2
    assert sorted(selected(full, "hour = 9")) == sorted(one for one in ALL if one not in [ALL[2], *ALL[4:6], ALL[9]])


def test_they_are_refused_where_values_have_to_fit(sales):
    for one in (ALL[4], ALL[6]):
        with pytest.raises(InvalidPartitionValue, match="does not fit its column's type"):
            sales.add_partitions("shop", "sales", [Partition(one)])


def test_a_page_goes_on_behind_one_of_them(full):
    listed = values(full.get_partitions_by_filter("shop", "sales", None))
    for where in ("hour = 9", "ds = '2024-01-08'", None):
        whole = selected(full, where)
        for at, last in enumerate(listed):
            behind = full.read_payloads(
                "shop", "sales", where, lambda _, __, batches: [one for batch in batches for one in batch], after=last
            )
            assert len(behind) == len([one for one in whole if listed.index(one) > at]), (where, last)


def test_tables_without_them_are_read_by_single_keys(sales):
    sales.add_partitions("shop", "sales", [Partition((DAY, str(hour))) for hour in range(24)])
    where = "ds = '2024-01-08' and hour = 9"
    assert [scan.kind for scan in sales.plan("shop", "sales", where).get_plans()] == [ScanKind.GET]
    sales.add_partitions("shop", "sales", [Partition((DAY, "nine"))], invalid_values="keep")
    assert [scan.kind for scan in sales.plan("shop", "sales", where).get_plans()] == [ScanKind.GET]
    assert selected(sales, where) == [(DAY, "9")]
    sales.add_partitions("shop", "sales", [Partition((DAY, "9.0"))], invalid_values="keep")
    assert selected(sales, where) == [(DAY, "9"), (DAY, "9.0")]


def test_who_remembers_the_table_learns_of_them():
    """Two processes: what one of them has read of the table and planned is old when the other one adds such a value."""
    rows = connect_rows("memory://?atomic=false")
    one, other = PartitionStore(rows), PartitionStore(rows)
    one.create_database("shop")
    one.create_table(sales_table())
    one.add_partitions("shop", "sales", [Partition((DAY, "9"))])
    where = "ds = '2024-01-08' and hour = 9"
    for _ in range(2):
        assert len(selected(other, where)) == 1
    one.add_partitions("shop", "sales", [Partition((MIDNIGHT, "9.0"))], invalid_values="keep")
    assert len(selected(other, where)) == 2


def test_a_filter_sees_none_or_all_of_them_while_they_are_added():
    where = "ds = '2024-01-08' and hour = 9"

    def fresh():
        rows = connect_rows("memory://?atomic=false")
        store = PartitionStore(rows)
        store.create_database("shop")
        store.create_table(sales_table())
        store.add_partitions("shop", "sales", [Partition((DAY, str(hour))) for hour in range(24)])
        return rows

    def add(store):
        store.add_partitions("shop", "sales", [Partition((DAY, "9.0"))], invalid_values="keep")

    def ask(store):
        selected(store, where)
        return len(selected(store, where))

    _, calls = play(fresh(), [add, ask], [])
    for schedule in schedules(calls):
        rows = fresh()
        (_, number), _ = play(rows, [add, ask], schedule)
        assert number in (1, 2), schedule
        assert len(selected(PartitionStore(rows), where)) == 2


def test_a_plan_of_before_is_not_combined_with_one_of_now(sales):
    """It looks up the one cell that a value had; of what others do with its keys hbstore knows nothing."""
    sales.add_partitions("shop", "sales", [Partition((DAY, str(hour))) for hour in range(24)])
    handle = sales.table("shop.sales")
    kept = [handle.plan("hour = 9"), sales.plan("shop", "sales", "ds = '2024-01-08' and hour = 9")]
    scans = [scan for plan in kept for scan in plan.get_plans()]
    sales.add_partitions("shop", "sales", [Partition((DAY, "9.0"))], invalid_values="keep")
    for fresh in (handle.plan(), handle.plan("hour = 9"), sales.plan("shop", "sales", "ds >= '2024-01-08'")):
        for old in (*kept, *scans):
            for combine in (old.and_, old.or_):
                with pytest.raises(InvalidInput, match="a column had no respelled values") as refused:
                    combine(fresh)
                assert "Make both plans" in refused.value.hint
            for combine in (fresh.and_, fresh.or_):
                with pytest.raises(InvalidInput):
                    combine(old)
    assert kept[0].and_(kept[1]).get_plans()
    both = handle.plan("hour = 9").and_(handle.plan("ds = '2024-01-08'"))
    found = [one for batch in fetch(both, sales.rows) for one in batch]
    assert [one.values for one in partitions_from_payloads(found)] == [(DAY, "9"), (DAY, "9.0")]


@pytest.mark.parametrize("move", ["rename", "exchange", "alter"])
def test_a_table_that_gets_them_in_another_way_finds_them(full, move):
    before = {where: sorted(found) for where, found in FILTERS.items()}
    if move == "exchange":
        full.create_table(replace(sales_table(), name="moved", location="s3://shop/moved"))
        full.exchange_partitions(("shop", "sales"), ("shop", "moved"), ALL)
    else:
        table = full.get_table("shop", "sales")
        parameters = {"a": "b"}
        if move == "rename":
            full.rename_table("shop", "sales", replace(sales_table(), name="moved", parameters=parameters))
        else:
            full.alter_table(sales_table(parameters=parameters, create_time=table.create_time), cascade=True)
    name = "sales" if move == "alter" else "moved"
    assert {where: sorted(selected(full, where, name)) for where in FILTERS} == before
    assert all(problem is None for problem in full.check("shop", name))


def test_a_text_that_is_too_long_is_a_value(store):
    store.create_database("shop")
    store.create_table(Table("shop", "t", partition_columns=[Column("c", "varchar(2)")], location="s3://shop/t"))
    store.add_partitions("shop", "t", [Partition((text,)) for text in ("ab", "abc", "b")], invalid_values="keep")
    assert selected(store, "c > 'ab' and c < 'b'", "t") == [("abc",)]
    assert selected(store, "c like 'ab_'", "t") == [("abc",)]
    with pytest.raises(InvalidPartitionValue):
        store.add_partitions("shop", "t", [Partition(("abcd",))])


TIMED = {"cube.storagetable.time.partcols": "ds", "cube.storagetable.update.periods": "DAILY"}


@pytest.mark.parametrize("url", ["memory://", "memory://?atomic=false"])
def test_timelines_count_their_times(url):
    with connect(url) as store:
        store.create_database("shop")
        store.create_table(sales_table(parameters=TIMED))
        added = [Partition((day, "9")) for day in (DAY, MIDNIGHT, SHORT)]
        store.add_partitions("shop", "sales", added, invalid_values="keep")

        def daily():
            (timeline,) = store.timelines.of("shop.sales")
            return {name: timeline.to_properties()[name] for name in ("first", "latest", "holes.size")}

        both = {"first": "2024-01-01", "latest": DAY, "holes.size": "1"}
        assert daily() == both
        store.drop_partitions("shop", "sales", [(DAY, "9")])
        assert daily() == both
        store.drop_partitions("shop", "sales", [(MIDNIGHT, "9")])
        assert daily() == {"first": "2024-01-01", "latest": "2024-01-01", "holes.size": "0"}


def test_a_plan_that_skips_over_the_spellings_of_one_value_is_explained(sales):
    """So many rows that a skip scan is taken: its plan has no fixed cell, though its range holds one value."""
    sales.create_table(Table("shop", "odd", [Column("hour", "int"), Column("k", "int")], location="s3://shop/odd"))
    hours = ("8", "9", "9.0", " 9", "9.5", "10")
    odd = sales.table("shop.odd")
    odd.add([Partition((hour, str(k))) for hour in hours for k in range(300)], invalid_values="keep")
    plan = odd.plan("hour = 9 and k > 297")
    assert [scan.kind for scan in plan.get_plans()] == [ScanKind.SKIP]
    assert absolute(relative(plan.get_plans()[0]), plan.schema) == plan.get_plans()[0]
    explained = odd.explain("hour = 9 and k > 297", analyze=True).to_dict()
    assert explained["rows_returned"] == 8
    assert key_line(plan)
    reads = odd.explain("hour = 9 and k = 7").to_dict()["scans"]
    assert len(reads) == 1
