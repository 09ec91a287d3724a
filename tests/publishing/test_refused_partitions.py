"""Partitions that the store does not take: refused before anything is decided, as nobody could finish it afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Column, Partition, PartitionStore, Table
from hbstore.errors import (
    CommitStateUnknown,
    InvalidInput,
    InvalidPartitionValue,
    InvalidTime,
    StoreUnavailable,
    TimelineMismatch,
)
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from hbstore.rows import connect as connect_rows
from hbstore.store.puts import MAX_PAYLOAD
from hbstore.timelines.declaration import TIME_PARTITION_COLUMNS, UPDATE_PERIODS

PERIOD = "cube.storagetable.partition.update.period"


@pytest.fixture(params=["memory://", "memory://?atomic=false"])
def store(request, tmp_path):
    """shop.sales by hour with the partition 5, and shop.days, which keeps a timeline."""
    with PartitionStore(connect_rows(request.param)) as store:
        store.create_database("shop")
        store.create_table(Table("shop", "sales", [Column("hour", "int")], location=f"file:{tmp_path}/sales"))
        store.add_partitions("shop", "sales", [Partition(["5"])])
        declared = {TIME_PARTITION_COLUMNS: "dt", UPDATE_PERIODS: "DAILY"}
        days = Table("shop", "days", [Column("dt", "string")], location=f"file:{tmp_path}/days", parameters=declared)
        store.create_table(days)
        yield store


def job(tmp_path, table, *values, **parameters):
    """Appends a file to partitions: a manifest, and its staged files."""
    column = "hour" if table == "sales" else "dt"
    staging, writes, staged = tmp_path / table / "_hbstore/job", [], {}
    for number, value in enumerate(values):
        source = staging / f"data/{number}"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(value[:9])
        location = f"file:{tmp_path}/{table}/{column}={number if len(value) > 99 else value}"
        staged[f"file:{source}"] = f"{location}/.{number}"
        writes.append(PartitionWrite((value,), location, {f".{number}": f"file{number}"}, parameters=parameters))
    return Manifest("job", f"file:{staging}", tuple(writes)), staged


def files(tmp_path):
    """All files, but for what is staged: who staged it removes it."""
    return [path for path in tmp_path.rglob("*") if path.is_file() and "_hbstore" not in path.parts]


CASES = {
    "a parameter that is no text": ("sales", ["6"], {"a": 1}, InvalidInput),
    "a parameter that is too large": ("sales", ["6"], {"a": "x" * MAX_PAYLOAD}, InvalidInput),
    "a partition twice": ("sales", ["7", "7"], {}, InvalidPartitionValue),
    "a value that is too long for a key": ("days", ["2015-01-29" * 7000], {}, InvalidPartitionValue),
    "no time": ("days", ["someday"], {}, InvalidTime),
    "another update period": ("days", ["2015-01-29"], {PERIOD: "HOURLY"}, (InvalidTime, TimelineMismatch)),
}


@pytest.mark.parametrize("case", CASES)
def test_what_the_store_refuses_changes_nothing(store, tmp_path, case):
    table, values, parameters, error = CASES[case]
    with pytest.raises(error) as caught:
        Publisher(store).publish(f"shop.{table}", *job(tmp_path, table, *values, **parameters))
    assert not isinstance(caught.value, CommitStateUnknown)
    assert files(tmp_path) == []
    assert store.publications.of(store.publications.row("shop", table)) == []
    assert store.partition_names("shop", "sales") == ["hour=5"]
    assert store.partition_names("shop", "days") == []
    good = "6" if table == "sales" else "2015-01-30"
    Publisher(store).publish(f"shop.{table}", *job(tmp_path, table, good))
    assert good in str(store.partition_names("shop", table))


def test_a_partition_that_stands_twice_is_named(store, tmp_path):
    with pytest.raises(InvalidPartitionValue, match=r"stands in the manifest twice: .*partition=hour=7"):
        Publisher(store).publish("shop.sales", *job(tmp_path, "sales", "7", "07", "7"))


def test_what_is_decided_is_refused_by_nothing_that_comes_later(store, tmp_path, monkeypatch):
    """The table keeps timelines now, which have no time for such a partition."""
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        Publisher(store).publish("shop.sales", *job(tmp_path, "sales", "6"))
    declared = {TIME_PARTITION_COLUMNS: "hour", UPDATE_PERIODS: "DAILY"}
    store.alter_table(replace(store.get_table("shop", "sales"), parameters=declared))
    assert Publisher(store).recover("shop.sales") == 1
    assert store.partition_names("shop", "sales") == ["hour=5", "hour=6"]
    assert [path.name for path in files(tmp_path)] == ["file0"]


def test_a_store_that_is_away_is_no_table_as_it_is(store, tmp_path, monkeypatch):
    Publisher(store).lease("shop.sales", job(tmp_path, "sales", "6")[0])

    def away(*_, **__):
        raise StoreUnavailable("gone")

    monkeypatch.setattr(Publisher, "_recover", away)
    with pytest.raises(StoreUnavailable):
        Publisher(store).roll_forward_before_use(store.publications.row("shop", "sales"))
