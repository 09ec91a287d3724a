"""Whether a server is ready, and what it says is wrong: store, warehouse, disk, clock, Spark."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hbstore import connect
from hbstore.files.warehouse import Warehouse
from hbstore.rows.sqlite import reserve
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse import health
from hbstore.warehouse.health import Health
from hbstore.warehouse.service import Service
from tests.store.faults import Fault, FaultyRows


@pytest.fixture(params=["memory", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def store(request, tmp_path):
    place = {"memory": "memory://", "sqlite": f"sqlite://{tmp_path}/catalog.db"}
    url = place.get(request.param) or request.getfixturevalue("hbase_url")
    with connect(url) as store:
        yield store
        store.records.drop("health", "last")


@pytest.fixture
def warehouse(tmp_path):
    (tmp_path / "warehouse").mkdir()
    return Warehouse(str(tmp_path / "warehouse"))


@pytest.fixture(autouse=True)
def _look_each_time(monkeypatch):
    monkeypatch.setattr(health, "KEPT", 0.0)


def test_all_is_well(store, warehouse):
    service = Service(store, warehouse)
    assert [service.health(), service.health()] == [Health(), Health()]


def test_a_reserve_for_a_full_disk_is_kept_by_who_writes(tmp_path, warehouse):
    with connect(f"sqlite://{tmp_path}/catalog.db") as store:
        Service(store, warehouse, read_only=True).health()
        assert not (tmp_path / "catalog.db-reserve").exists()
        Service(store, warehouse).health()
        assert (tmp_path / "catalog.db-reserve").stat().st_size == reserve.SIZE


def test_a_store_that_does_not_answer_is_not_ready(store, warehouse):
    service = Service(store, warehouse)
    assert service.health().ready
    gone = Service(PartitionStore(FaultyRows(store.rows, Fault.GONE, 0)), warehouse)
    found = gone.health()
    assert not found.ready
    assert list(found.problems) == ["store"]


def test_a_store_that_may_only_be_read_is_ready_where_nothing_is_written(tmp_path, warehouse):
    path = tmp_path / "catalog.db"
    connect(f"sqlite://{path}").close()
    with connect(f"sqlite://{path}?mode=ro") as store:
        assert Service(store, warehouse, read_only=True).health() == Health()
        assert not Service(store, warehouse).health().ready


def test_what_is_wrong_beside_the_store_is_said(store, tmp_path, monkeypatch):
    service = Service(store, Warehouse(str(tmp_path / "none")))
    store.records.create("health", "last", (datetime.now(UTC) + timedelta(minutes=5)).isoformat())
    found = service.health()
    assert found.ready
    assert list(found.problems) == ["clock", "warehouse"]
    assert "set clocks by NTP" in found.problems["clock"]
    if store.rows.url.startswith("sqlite"):
        monkeypatch.setattr(health, "LITTLE_ROOM", 1 << 60)
        assert "bytes are free in" in service.health().problems["disk"]


def test_asking_often_writes_once(warehouse, monkeypatch):
    monkeypatch.setattr(health, "KEPT", 600.0)
    with connect("memory://") as store:
        rows = FaultyRows(store.rows)
        service = Service(PartitionStore(rows), warehouse)
        for _ in range(100):
            assert service.health().ready
        assert rows.writes < 5


@pytest.mark.hbase
@pytest.mark.slow
def test_a_server_whose_hbase_is_gone_is_not_ready_and_is_again_when_it_is_back(own_hbase, warehouse):
    with connect(f"{own_hbase.url('health')}?timeout=60&retries=1") as store:
        service = Service(store, warehouse)
        assert service.health().ready
        own_hbase.kill()
        assert not service.health().ready  # refused, which takes no time
        own_hbase.start()
        assert service.health().ready
