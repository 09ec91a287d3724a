"""Questions to a store on HBase: one get, one multi-get or one scan, and one read of the table's row."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table, connect

pytestmark = pytest.mark.hbase
PLACE = ("requests", "t")


@pytest.fixture(scope="module")
def store(hbase_url):
    with connect(f"{hbase_url}&pool=1") as store:
        store.create_database("requests")
        columns = [Column("day", "int"), Column("hour", "int"), Column("region", "string")]
        store.create_table(Table(*PLACE, partition_columns=columns))
        values = [(str(10 * day), str(hour), region) for day in range(60) for hour in range(25) for region in "ab"]
        store.add_partitions(*PLACE, map(Partition, values))
        yield store
        store.drop_database("requests", cascade=True)


POINTS = " or ".join(f"(day = {10 * (at % 60)} and hour = {at * 7 % 25} and region = 'a')" for at in range(0, 300, 3))


@pytest.mark.parametrize(
    ("text", "kinds", "found", "requests"),
    [
        ("day = 50 and hour = 7 and region = 'a'", ["get"], 1, 1),
        ("day = 50 and hour = 7 and region = 'x'", ["get"], 0, 1),
        (POINTS, ["get"] * 100, 100, 1),
        ("day = 50 and hour >= 3 and hour < 9", ["scan"], 12, 2),
        ("day = 50 and region = 'a'", ["scan"], 25, 2),
    ],
)
def test_requests(store, text, kinds, found, requests):
    assert [scan.kind.value for scan in store.plan(*PLACE, text).get_plans()] == kinds
    assert len(store.get_partitions_by_filter(*PLACE, text)) == found
    store.rows.get(b"T x")  # closes what the scan left
    before = store.rows.round_trips()
    assert len(store.get_partitions_by_filter(*PLACE, text)) == found
    closing = kinds.count("scan")  # goes along with the read of the table's row
    assert store.rows.round_trips() - before == requests + 1 + closing
    assert store.explain(*PLACE, text, analyze=True).to_dict()["round_trips"] == requests
