"""One JVM for the session, and for each file of tests a server on each store: its numbers and folders start anew."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hbase_server import own_tables
from tests.hive_expressions.hive import hive_jars
from tests.metastore.clients.java import java_machine, start_reference
from tests.metastore.clients.later_java import hive_metastore_4
from tests.metastore.serving import Serve
from tests.recordings import Recording

RECORDED = Path(__file__).with_name("recorded")
BACKENDS = ["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]
EVALUATES = {"metastore.expression.proxy": "org.apache.hadoop.hive.ql.optimizer.ppr.PartitionExpressionForMetastore"}
"""By default a Hive Metastore of 4.0 on its own refuses expressions: Hive's planner is not among its jars."""

STRANGE = {"TApplicationException.UNKNOWN_METHOD", "TApplicationException.PROTOCOL_ERROR"}
"""Answers that no client here should get."""


@pytest.fixture(scope="module")
def recording(request):
    """What real servers answered to the tests of a module."""
    path = RECORDED / f"{request.module.__name__.rpartition('.test_')[2]}.jsonl"
    return Recording(path, update=request.config.getoption("--update-golden"))


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


@pytest.fixture(scope="session")
def hive_4():
    """A real Hive Metastore 4.0: its URI, its warehouse, and what its database is. Whoever uses it leaves it empty."""
    with hive_metastore_4(EVALUATES.items(), hive_jars().class_path("4.0")) as found:
        yield found


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
