"""What clients take for granted of a metastore, and say nowhere."""

from __future__ import annotations

import time

import pytest

from tests.metastore.writing import (
    DATABASE,
    STORED,
    TYPES,
    opened,
    partition_of,
    storage,
    table_of,
)

BACKENDS = ["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]
NAMES = ["ds=a/hour=1", "ds=a/hour=2", "ds=b/hour=1"]


@pytest.fixture(params=BACKENDS)
def shop(request, tmp_path):
    with opened(request, tmp_path) as writing:
        writing.create_table(table_of())
        writing.add_partitions([partition_of("a", "1"), partition_of("a", "2"), partition_of("b", "1")])
        yield writing


@pytest.mark.parametrize("scheme", ["file:", "file://", ""])
def test_a_location_is_one_place_however_it_is_written(shop, scheme):
    shop.write("elsewhere/table/ds=x/hour=1/file")
    there = f"{scheme}{shop.root}/elsewhere/table"
    shop.create_table(table_of("other", sd=storage(location=there)))
    shop.add_partition(partition_of("x", "1", table="other", location=f"{there}/ds=x/hour=1"))
    assert shop.table("other").sd.location == shop.location("elsewhere/table")
    assert shop.partition("x", "1", table="other").sd.location == shop.location("elsewhere/table/ds=x/hour=1")


@pytest.mark.parametrize("scheme", ["file:", "file://"])
def test_a_table_that_is_renamed_in_another_writing_of_its_place_takes_its_files_along(shop, scheme):
    shop.write("shop.db/sales/ds=a/hour=1/file")
    table = shop.table()
    table.tableName = "sold"
    table.sd.location = f"{scheme}{shop.root}/shop.db/sales"
    shop.alter_table(DATABASE, "sales", table)
    assert shop.table("sold").sd.location == shop.location("shop.db/sold")
    found = shop.get_partitions(DATABASE, "sold", -1)
    assert [one.sd.location for one in found] == [shop.location(f"shop.db/sold/{name}") for name in NAMES]
    assert (shop.root / "shop.db/sold/ds=a/hour=1/file").read_text() == "data"
    assert not (shop.root / "shop.db/sales").exists()


def test_partitions_follow_a_table_into_another_database(shop):
    shop.create_database(STORED.Database(name="attic"))
    shop.write("shop.db/sales/ds=b/hour=1/file")
    table = shop.table()
    table.dbName = "attic"
    shop.alter_table(DATABASE, "sales", table)
    found = shop.get_partitions("attic", "sales", -1)
    assert [one.sd.location for one in found] == [shop.location(f"attic.db/sales/{name}") for name in NAMES]
    assert {(one.dbName, one.tableName) for one in found} == {("attic", "sales")}
    assert (shop.root / "attic.db/sales/ds=b/hour=1/file").exists()


def test_new_partitions_follow_a_table_that_is_moved(shop):
    table = shop.table()
    table.sd.location = shop.location("elsewhere/sales")
    shop.alter_table(DATABASE, "sales", table)
    shop.add_partition(partition_of("c", "1"))
    assert shop.partition("c", "1").sd.location == shop.location("elsewhere/sales/ds=c/hour=1")
    assert shop.partition("a", "1").sd.location == shop.location("shop.db/sales/ds=a/hour=1")


@pytest.mark.parametrize("values", [(), ("c",), ("c", "1", "2")])
def test_too_few_or_too_many_values_are_refused(shop, values):
    for call in (
        shop.add_partition,
        lambda part: shop.add_partitions([partition_of("d", "1"), part]),
        lambda part: shop.add_partitions_req(TYPES.AddPartitionsRequest(DATABASE, "sales", [part], True)),
        lambda part: shop.append_partition(DATABASE, "sales", part.values),
    ):
        with pytest.raises(TYPES.MetaException):
            call(partition_of(*values))
    assert shop.names() == NAMES


def test_partitions_by_names_come_once_each(shop):
    asked = [NAMES[2], NAMES[0], NAMES[2], "ds=nothing/hour=1", NAMES[0]]
    found = shop.get_partitions_by_names(DATABASE, "sales", asked)
    assert sorted(tuple(one.values) for one in found) == [("a", "1"), ("b", "1")]


def test_the_server_says_when_something_was_created(shop):
    before = int(time.time())
    shop.create_table(table_of("timed", createTime=5))
    shop.add_partition(partition_of("a", "1", table="timed", createTime=7))
    shop.add_partitions([partition_of("a", "2", table="timed", createTime=7)])
    shop.append_partition(DATABASE, "timed", ["a", "3"])
    times = [shop.table("timed").createTime, *(one.createTime for one in shop.get_partitions(DATABASE, "timed", -1))]
    assert all(before <= one <= time.time() for one in times)
    assert len(times) == 4
    created = shop.partition("a", "1", table="timed")
    created.createTime = 0
    shop.alter_partition(DATABASE, "timed", created)
    assert shop.partition("a", "1", table="timed").createTime == times[1]


def test_several_partitions_are_altered_all_or_none(shop):
    changed = [partition_of("a", "1", parameters={"k": "v"}), partition_of("a", "2", parameters={"k": "v"})]
    with pytest.raises(TYPES.InvalidOperationException):
        shop.alter_partitions(DATABASE, "sales", [*changed, partition_of("nothing", "1")])
    assert [one.parameters.get("k") for one in shop.get_partitions(DATABASE, "sales", -1)] == [None] * 3
    shop.alter_partitions(DATABASE, "sales", changed)
    assert [one.parameters.get("k") for one in shop.get_partitions(DATABASE, "sales", -1)] == ["v", "v", None]


def test_several_partitions_are_added_all_or_none(shop):
    with pytest.raises(TYPES.AlreadyExistsException):
        shop.add_partitions([partition_of("c", "1"), partition_of("a", "1")])
    assert shop.names() == NAMES
    assert not (shop.root / "shop.db/sales/ds=c").exists()
