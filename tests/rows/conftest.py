"""An HBase whose tables no other tests look into: rows are written here that no store would write."""

from __future__ import annotations

import os

import pytest

from tests import hbase_server


@pytest.fixture(scope="session")
def hbase_url(hbase_server_url):
    """A store URL on a real HBase, with a prefix of these tests' own."""
    prefix = hbase_server.fresh_prefix()
    yield f"{hbase_server_url}/{prefix}"
    if os.environ.get("HBSTORE_TEST_HBASE"):
        hbase_server.delete_tables(hbase_server_url, prefix)
