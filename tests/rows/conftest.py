"""An HBase whose tables no other tests look into: rows are written here that no store would write."""

from __future__ import annotations

import pytest

from tests import hbase_server


@pytest.fixture(scope="session")
def hbase_url(hbase_server_url):
    """A store URL on a real HBase, with a prefix of these tests' own."""
    with hbase_server.own_tables(hbase_server_url) as url:
        yield url
