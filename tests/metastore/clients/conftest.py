"""One JVM for the session, and for each file of tests a server on each store: its numbers and folders start anew."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from tests.hbase_server import own_tables
from tests.metastore.clients.java import java_machine, start_reference
from tests.metastore.serving import Serve

BACKENDS = ["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]
STRANGE = {"TApplicationException.UNKNOWN_METHOD", "TApplicationException.PROTOCOL_ERROR"}
"""Answers that no client here should get."""


@pytest.fixture(scope="session")
def java(tmp_path_factory):
    """A JVM with Hive's classes."""
    with java_machine(tmp_path_factory.mktemp("java")) as machine:
        yield machine


@pytest.fixture(scope="session")
def reference(java, tmp_path_factory):
    """Hive's own metastore: its URI and its warehouse."""
    warehouse = tmp_path_factory.mktemp("reference")
    return start_reference(java, warehouse), warehouse


@pytest.fixture(scope="module")
def sqlite_server(tmp_path_factory):
    """`hbstore serve` on SQLite."""
    with _serving(tmp_path_factory, f"sqlite://{tmp_path_factory.mktemp('store') / 'store.db'}") as server:
        yield server


@pytest.fixture(scope="module")
def hbase_server(tmp_path_factory, hbase_server_url):
    """`hbstore serve` on HBase."""
    with own_tables(hbase_server_url) as url, _serving(tmp_path_factory, url) as server:
        yield server


@pytest.fixture
def server(request):
    """`hbstore serve` on the store that the test's parameter names, on SQLite without one."""
    return request.getfixturevalue(f"{getattr(request, 'param', 'sqlite')}_server")


@contextmanager
def _serving(tmp_path_factory, store):
    with Serve(store, tmp_path_factory.mktemp("serve"), "--log-calls") as server:
        yield server
        strange = [line for line in server.log() if line.get("error") in STRANGE]
        assert not strange
