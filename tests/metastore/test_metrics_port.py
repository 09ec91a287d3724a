"""The metrics port of `hbstore serve`: gauges of the store, and the health of the server, as the HTTP door says it."""

from __future__ import annotations

import os
import signal

import pytest
import urllib3

from hbstore import Column, Database, Table, connect
from hbstore.release import VERSION, commit
from tests.metastore.serving import Serve, numbers
from tests.pauses import until


def asked(server, path, method="GET"):
    """The status of a reply at the metrics port, and its document."""
    reply = urllib3.request(method, server.ready["metrics"].removesuffix("/metrics") + path, retries=False)
    return reply.status, reply.json() if reply.data else None


@pytest.fixture
def url(tmp_path):
    """A store with a table of three partitions."""
    url = f"sqlite://{tmp_path}/store.db"
    with connect(url) as store:
        store.create_database(Database("default", location=f"file:{tmp_path}/warehouse"))
        store.create_table(Table("default", "sales", [Column("ds", "date")]))
        store.table("default.sales").add([(f"2013-01-0{day}",) for day in range(1, 4)])
    return url


@pytest.mark.parametrize("options", [(), ("--processes", "2"), ("--read-only",)], ids=" ".join)
def test_gauges_and_health(url, tmp_path, options):
    (tmp_path / "warehouse").mkdir()
    with Serve(url, tmp_path, "--metrics-port", "0", *options) as server:
        seen = until(
            lambda: "hbstore_server_threads" in (now := numbers(server)) and "hbstore_server_ready" in now and now
        )
        assert seen["hbstore_server_ready"] == 1
        assert until(lambda: numbers(server).get("hbstore_store_partitions")) == 3
        for path in ("/health", "/health/live"):
            assert asked(server, path) == (
                200,
                {"ok": True, "spark": False, "version": VERSION, "commit": commit()},
            )
        assert asked(server, "/health/ready") == (200, {"ready": True, "problems": {}})
        assert asked(server, "/health/ready", "HEAD") == (200, None)
        assert server.terminate() == 0
        assert server.process.stderr.read() == ""


def test_it_is_not_ready_while_no_process_serves(url, tmp_path):
    (tmp_path / "warehouse").mkdir()
    with Serve(url, tmp_path, "--metrics-port", "0", "--processes", "2") as server:
        assert asked(server, "/health/ready")[0] == 200
        first, second = server.children()
        os.kill(first, signal.SIGSTOP)  # it stays a child that serves, as far as anybody knows
        os.kill(second, signal.SIGKILL)
        status, document = until(lambda: (found := asked(server, "/health/ready"))[1]["problems"] and found)
        assert (status, document["ready"]) == (200, True)
        assert document["problems"] == {"processes": "1 of 2 processes serve; the others are started again"}
        os.kill(first, signal.SIGKILL)
        until(lambda: asked(server, "/health/ready") == (200, {"ready": True, "problems": {}}))
        assert len(server.log("a process ended")) == 2
