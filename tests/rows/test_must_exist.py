"""Stores that must be there: a mistyped URL creates nothing."""

from __future__ import annotations

import sqlite3
from urllib.parse import urlsplit

import pytest

import hbstore
from hbstore import rows as ordered_rows
from hbstore.errors import StoreUnavailable
from hbstore.rows.hbase.pool import Repeat
from tests import hbase_server


@pytest.mark.parametrize("mode", ["", "?mode=ro", "?mode=immutable"])
def test_sqlite(tmp_path, mode):
    path = tmp_path / "store.db"
    for connect in (ordered_rows.connect, hbstore.connect):
        with pytest.raises(StoreUnavailable, match="the store does not exist") as caught:
            connect(f"sqlite://{path}{mode}", create=False)
        assert caught.value.fields["path"] == str(path)
        assert caught.value.hint
    assert list(tmp_path.iterdir()) == []
    ordered_rows.connect(path).close()
    ordered_rows.connect(f"sqlite://{path}{mode}", create=False).close()


def test_an_empty_sqlite_file_is_no_store_and_stays_empty(tmp_path):
    path = tmp_path / "store.db"
    path.touch()
    with pytest.raises(StoreUnavailable, match="the store does not exist"):
        ordered_rows.connect(path, create=False)
    assert path.read_bytes() == b""
    ordered_rows.connect(path).close()
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT count(*) FROM catalog").fetchone() == (0,)
    file.close()


def test_memory_is_always_there():
    with hbstore.connect("memory://", create=False) as store:
        assert store.database_names() == []


@pytest.mark.hbase
def test_hbase(hbase_server_url):
    with hbase_server.own_tables(hbase_server_url) as url:
        prefix = urlsplit(url).path.removeprefix("/")
        with pytest.raises(StoreUnavailable, match="the store does not exist") as caught:
            hbstore.connect(url, create=False)
        assert caught.value.fields["missing_tables"] == f"{prefix}_catalog,{prefix}_partitions"
        with hbstore.connect(url) as store:
            store.create_database("shop")
        with hbstore.connect(url, create=False) as store:
            assert store.database_names() == ["shop"]
            there = store.rows._pool.run(lambda link: link.client.getTableNames(), Repeat.READ)
        assert {one for one in there if one.startswith(prefix.encode())} == {
            f"{prefix}_catalog".encode(),
            f"{prefix}_partitions".encode(),
        }
