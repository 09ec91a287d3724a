"""Iceberg's catalog on three clients of Hive finds in hbstore what a real Hive Metastore 4.0 has for it."""

from __future__ import annotations

import pytest

from tests.amounts import amount
from tests.metastore.clients.iceberg_work import COMMITS, WRITERS, Iceberg, work
from tests.metastore.clients.later_java import client_machine
from tests.recordings import plain

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def java_4(tmp_path_factory):
    """A JVM with Iceberg and the client of Hive 4.0."""
    with client_machine("4.0", tmp_path_factory.mktemp("client"), iceberg=True) as java:
        yield java


@pytest.fixture(scope="module")
def expected(request, recording):
    """What came of each step on a real Hive Metastore."""

    def ask():
        uri, root, _ = request.getfixturevalue("hive_4")
        return list(work(Iceberg(request.getfixturevalue("java_4"), uri, root)))

    return dict(recording.answer("steps", ask))


def steps(java, server):
    return dict(work(Iceberg(java, server.ready["uri"], server.folder / "warehouse")))


@pytest.mark.parametrize("release", amount(["4.1"], ["3.1", "4.1"]))
def test_every_step(sqlite_server, release, expected, tmp_path):
    with client_machine(release, tmp_path, iceberg=True) as java:
        outcomes = steps(java, sqlite_server)
    assert expected["rows after that"] == str(7 + 2 + WRITERS * COMMITS)
    assert plain(outcomes) == expected


@pytest.mark.hbase
def test_every_step_on_hbase(hbase_server, java_4, expected):
    assert plain(steps(java_4, hbase_server)) == expected
