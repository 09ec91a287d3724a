"""Health over HTTP: a server that answers, one that can work, and what is wrong."""

from __future__ import annotations

import pytest

from hbstore.errors import SparkLost
from hbstore.query_service.access import Access
from hbstore.release import VERSION
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse import health
from hbstore.warehouse.service import Service
from tests.store.faults import Fault, FaultyRows


@pytest.fixture(autouse=True)
def _look_each_time(monkeypatch):
    monkeypatch.setattr(health, "KEPT", 0.0)


def test_a_server_that_works_is_ready(asking, catalog, served):
    catalog.warehouse.make_folder(catalog.warehouse.root)
    ask = asking(Access(), catalog=catalog)
    live = ask("GET", "/health").json()
    assert (live["ok"], live["spark"], live["version"]) == (True, True, VERSION)
    assert ask("GET", "/health/ready").json() == {"ready": True, "problems": {}}
    served[0].runner.lost(SparkLost("queries need Spark, and Spark needs Java", hint="Install a JDK 17"))
    reply = ask("GET", "/health/ready")
    assert (reply.status, reply.json()["ready"], list(reply.json()["problems"])) == (200, True, ["spark"])


def test_a_server_without_its_store_is_not_ready_but_lives(asking, catalog):
    gone = Service(PartitionStore(FaultyRows(catalog.store.rows, Fault.GONE, 0)), catalog.warehouse)
    ask = asking(Access(), catalog=gone)
    assert ask("GET", "/health").status == 200
    reply = ask("GET", "/health/ready")
    assert (reply.status, reply.json()["ready"], list(reply.json()["problems"])) == (503, False, ["store", "warehouse"])


def test_probes_need_no_token(asking, catalog, tmp_path):
    (tmp_path / "tokens").write_text("ann 0123456789abcdef\n")
    (tmp_path / "tokens").chmod(0o600)
    ask = asking(Access.of("127.0.0.1", str(tmp_path / "tokens")), catalog=catalog)
    paths = ("/health", "/health/live", "/health/ready", "/databases")
    assert [ask("GET", path).status for path in paths] == [200, 200, 200, 401]
