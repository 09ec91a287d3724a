"""The calls that change and list partitions in Python: what they do, and by which names they refuse."""

from __future__ import annotations

import pytest

from hbstore import (
    AlreadyExists,
    Column,
    InvalidInput,
    Partition,
    PartitionNotFound,
    Table,
    TableNotFound,
    TableNotPartitioned,
    UnknownColumnError,
    col,
    connect,
)
from hbstore.repair import sync_partitions

COLUMNS = [Column("ds", "date"), Column("hour", "int")]
DAY = "2013-01-01"


@pytest.fixture(params=["memory://", "memory://?atomic=false", "sqlite"])
def store(request, tmp_path):
    url = f"sqlite://{tmp_path}/catalog.db" if request.param == "sqlite" else request.param
    with connect(url) as store:
        store.create_database("shop")
        for name, columns in (("sales", COLUMNS), ("old", COLUMNS), ("flat", ())):
            (tmp_path / name).mkdir()
            store.create_table(Table("shop", name, columns, location=f"file:{tmp_path}/{name}"))
        store.add_partitions("shop", "sales", [Partition((DAY, str(hour))) for hour in (5, 6, 7)])
        yield store


def hours(store, name="sales"):
    return [one.values[1] for one in store.get_partitions_by_filter("shop", name, None)]


def test_listing_by_expressions(store):
    store.add_partitions("shop", "sales", [Partition((None, "08")), Partition((DAY, "noon"))], invalid_values="keep")
    later = [{"ds": DAY, "hour": "6"}, {"ds": DAY, "hour": "7"}]
    assert store.list_partitions_by_filter("shop", "sales", [col("ds") == DAY, col("hour") > 5]) == later
    assert store.list_partitions_by_filter("shop", "sales", [(col("hour") > 5) & col("ds").is_null()]) == [
        {"ds": "__HIVE_DEFAULT_PARTITION__", "hour": "08"}
    ]
    assert len(store.list_partitions_by_filter("shop", "sales", [])) == 5
    assert store.list_partitions_by_filter("shop", "sales", [col("hour") > 50]) == []
    with pytest.raises(UnknownColumnError):
        store.list_partitions_by_filter("shop", "sales", [col("minute") == 1])


def test_renaming(store):
    store.rename_partition("shop", "sales", (DAY, "5"), (DAY, "9"))
    assert hours(store) == ["6", "7", "9"]
    with pytest.raises(PartitionNotFound):
        store.rename_partition("shop", "sales", (DAY, "5"), (DAY, "4"))
    with pytest.raises(AlreadyExists):
        store.rename_partition("shop", "sales", (DAY, "6"), (DAY, "7"))
    assert hours(store) == ["6", "7", "9"]


def test_exchanging(store):
    store.add_partitions("shop", "old", [Partition((DAY, "7"))])
    for wrong, error in (("8", PartitionNotFound), ("7", AlreadyExists)):
        with pytest.raises(error):
            store.exchange_partitions(("shop", "sales"), ("shop", "old"), [(DAY, "5"), (DAY, wrong)])
        assert (hours(store), hours(store, "old")) == (["5", "6", "7"], ["7"])
    moved = store.exchange_partitions(("shop", "sales"), ("shop", "old"), [(DAY, "6"), (DAY, "5")])
    assert [one.values for one in moved] == [(DAY, "5"), (DAY, "6")]
    assert (hours(store), hours(store, "old")) == (["7"], ["5", "6", "7"])


CALLS = {
    "list": (TableNotPartitioned, lambda store, name: store.list_partitions_by_filter("shop", name, [])),
    "sync": (TableNotPartitioned, lambda store, name: sync_partitions(store, f"shop.{name}")),
    "exchange from": (
        TableNotPartitioned,
        lambda store, name: store.exchange_partitions(("shop", name), ("shop", "old"), [(DAY, "5")]),
    ),
    "exchange to": (
        InvalidInput,
        lambda store, name: store.exchange_partitions(("shop", "sales"), ("shop", name), [(DAY, "5")]),
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_tables_that_are_not_partitioned_or_not_there(store, call):
    error, run = CALLS[call]
    with pytest.raises(error):
        run(store, "flat")
    with pytest.raises(TableNotFound):
        run(store, "nothing")
    assert hours(store) == ["5", "6", "7"]
