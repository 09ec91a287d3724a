"""Iceberg's catalog on three clients of Hive finds in hbstore what a real Hive Metastore 4.0 has for it."""

from __future__ import annotations

import pytest

from tests.metastore.clients.iceberg_work import COMMITS, WRITERS, Iceberg, work
from tests.metastore.clients.later_java import RELEASES, client_machine, hive_metastore_4

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What came of each step on a real Hive Metastore."""
    with (
        hive_metastore_4() as (uri, root, _),
        client_machine("4.0", tmp_path_factory.mktemp("client"), iceberg=True) as java,
    ):
        return dict(work(Iceberg(java, uri, root)))


@pytest.mark.parametrize(
    ("server", "release"),
    [*(("sqlite", release) for release in RELEASES), pytest.param("hbase", "4.0", marks=pytest.mark.hbase)],
    indirect=["server"],
)
def test_every_step(server, release, expected, tmp_path):
    with client_machine(release, tmp_path, iceberg=True) as java:
        outcomes = dict(work(Iceberg(java, server.ready["uri"], server.folder / "warehouse")))
    assert expected["rows after that"] == str(7 + 2 + WRITERS * COMMITS)
    assert outcomes == expected
