"""The gauges of a store, of the machine and of health: they follow what happens, and cost no read of partitions."""

from __future__ import annotations

import os
import time

import pytest

from hbstore import Column, Table, connect
from hbstore.files.warehouse import Warehouse
from hbstore.model.service_objects import LockComponent, LockLevel, LockType
from hbstore.publishing import Manifest, PartitionWrite
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.health import Health
from hbstore.warehouse.metrics import PROBLEMS, look_at_health, look_at_machine, look_at_store
from tests.pauses import until

DAYS = [(f"2013-01-0{day}",) for day in range(1, 4)]


def values(metrics):
    """Numbers by the names of their series without ``hbstore_``, with the values of labels behind."""
    return {
        " ".join([sample.name.removeprefix("hbstore_"), *sample.labels.values()]): sample.value
        for metric in metrics
        for sample in metric.samples
    }


@pytest.fixture(params=["memory", "nonatomic", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def store(request, tmp_path):
    urls = {"memory": "memory://", "nonatomic": "memory://?atomic=false", "sqlite": f"sqlite://{tmp_path}/store.db"}
    url = urls.get(request.param) or request.getfixturevalue("hbase_url")
    with connect(url) as store:
        yield store
        store.drop_database("watched", cascade=True, if_exists=True)


@pytest.fixture
def changed(store):
    """What a look at the store shows more than before the test; others may have left something there."""
    before = values(look_at_store(store))

    def change():
        now = values(look_at_store(store))
        return {name: now[name] - before[name] for name in now if now[name] != before[name]}

    return change


def create_tables(store, *names):
    store.create_database("watched", if_not_exists=True)
    for name in names:
        store.create_table(Table("watched", name, [Column("ds", "date")], location=f"s3://watched/{name}"))


def test_tables_and_partitions(store, changed):
    create_tables(store, "sales", "returns")
    assert changed() == {"store_tables": 2}
    store.table("watched.sales").add(DAYS)
    store.table("watched.returns").add(DAYS[:1])
    assert changed() == {"store_tables": 2, "store_partitions": 4}
    store.table("watched.sales").drop([("2013-01-02",)])
    assert changed() == {"store_tables": 2, "store_partitions": 3}
    store.drop_table("watched", "sales")
    assert changed() == {"store_tables": 1, "store_partitions": 1}
    store.drop_database("watched", cascade=True)
    assert changed() == {}


def test_publications(store, changed):
    create_tables(store, "sales")
    publications, row = store.publications, store.table_row("watched", "sales")
    for number, until_then in (("1", 4e9), ("2", 4e9), ("3", 0.0)):
        write = PartitionWrite((f"2013-01-0{number}",), f"s3://watched/sales/ds=2013-01-0{number}")
        manifest = Manifest(number, f"s3://watched/sales/_hbstore/{number}", (write,))
        publications.lease(row, number, {}, manifest.encode(), until=until_then)
    assert changed() == {
        "store_tables": 1,
        "store_publications leased": 2,
        "store_publications overdue": 1,
    }
    publications.decide(row, "2")
    after = changed()
    assert after["store_publications leased"] == after["store_publications decided"] == after["store_partitions"] == 1
    for number in "123":
        publications.close(row, number)
    assert changed() == {"store_tables": 1, "store_partitions": 1}


def test_locks(store, changed):
    component = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "watched", "sales")
    first, second = store.hive.locks.lock([component]), store.hive.locks.lock([component])
    until(lambda: changed().get("store_oldest_lock_seconds", 0) > 0)
    assert (changed()["store_locks held"], changed()["store_locks waiting"]) == (1, 1)
    store.hive.locks.release(first.id)
    store.hive.locks.release(second.id)
    assert changed() == {}


class WithoutPartitions:
    """Rows of which nobody reads those of partitions."""

    def __init__(self, rows):
        self._rows = rows

    def __getattr__(self, name):
        assert name not in {"scan", "payloads", "heads", "count", "whole_rows", "multi_get", "first_key"}
        return getattr(self._rows, name)


def test_no_partition_is_read(store):
    create_tables(store, "sales")
    store.table("watched.sales").add(DAYS)
    assert values(look_at_store(PartitionStore(WithoutPartitions(store.rows))))["store_partitions"] >= 3


def test_the_machine(store, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp" / "hbstore-spark-1").mkdir(parents=True)
    (tmp_path / "tmp" / "other").write_bytes(b"x" * 1000)
    warehouse = Warehouse(str(tmp_path / "warehouse"))

    def seen():
        return values(look_at_machine(store, warehouse, lambda: [os.getpid(), 2**30]))

    before = seen()
    assert before["temporary_bytes"] == 0
    assert "disk_free_bytes warehouse" not in before
    (tmp_path / "tmp" / "hbstore-spark-1" / "blocks").write_bytes(b"x" * 5000)
    (tmp_path / "warehouse").mkdir()
    after = seen()
    assert after["temporary_bytes"] == 5000
    for folder in ("warehouse", "temporary"):
        assert 0 < after[f"disk_free_bytes {folder}"] < after[f"disk_size_bytes {folder}"]
    assert after["server_threads"] >= 1
    is_file = store.rows.url.startswith("sqlite")
    assert ("store_file_bytes wal" in after) == ("disk_free_bytes store" in after) == is_file
    if is_file:
        create_tables(store, "sales")
        store.table("watched.sales").add([(f"20{year}-01-01",) for year in range(10, 99)])
        assert seen()["store_file_bytes wal"] > before["store_file_bytes wal"]
        assert seen()["store_file_bytes store"] == (tmp_path / "store.db").stat().st_size


def test_health_has_a_series_for_each_kind_of_problem():
    assert values(look_at_health(Health)) == {"server_ready": 1, **{f"server_problems {kind}": 0 for kind in PROBLEMS}}
    sick = values(look_at_health(lambda: Health(ready=False).with_problem("store", "gone")))
    assert (sick["server_ready"], sick["server_problems store"], sick["server_problems disk"]) == (0, 1, 0)


def test_a_lease_that_ends_in_the_future_is_not_overdue(store, changed):
    create_tables(store, "sales")
    store.publications.lease(store.table_row("watched", "sales"), "1", {}, b"", until=time.time() + 3600)
    assert changed() == {"store_tables": 1, "store_publications leased": 1}
