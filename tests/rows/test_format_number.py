"""The format number in catalog rows: stores that are new, that have it, and of versions that had none."""

from __future__ import annotations

import pytest

from hbstore.errors import NotAStore
from hbstore.rows import connect
from hbstore.rows.format_number import FORMAT, FORMAT_KEY, ensure_format
from hbstore.rows.hbase.rows import connect_hbase
from tests import hbase_server
from tests.store.stepping import play, schedules

OLD_ROWS = [b"Dshop", b"Tshop\0sales", b"L"]


@pytest.fixture
def rows():
    return connect("memory://?atomic=false")


def test_a_new_store_gets_it_and_keeps_it(rows):
    for _ in range(2):
        ensure_format(rows)
        assert rows.get(FORMAT_KEY) == {"d:format": b"%d" % FORMAT}
        rows.compare_and_put(b"Dshop", "d:def", None, b"a database")


@pytest.mark.parametrize("key", OLD_ROWS)
def test_rows_without_it_are_an_older_versions(rows, key):
    rows.compare_and_put(key, "d:def", None, b"what it was")
    for _ in range(2):
        with pytest.raises(NotAStore, match=r"an older version .*hbstore import") as caught:
            ensure_format(rows)
        assert caught.value.fields == {"store": rows.url, "version": 1, "supported": FORMAT}
    assert dict(rows.scan_catalog(b"", b"\xff")) == {key: {"d:def": b"what it was"}}


def test_a_newer_versions_are_turned_away(rows):
    rows.compare_and_put(FORMAT_KEY, "d:format", None, b"%d" % (FORMAT + 1))
    with pytest.raises(NotAStore, match="a newer version"):
        ensure_format(rows)


def test_two_processes_may_create_a_store_at_once():
    def create(store):
        ensure_format(store.rows)
        store.create_database("shop", if_not_exists=True)

    for schedule in schedules((8, 8)):
        fresh = connect("memory://?atomic=false")
        results, _ = play(fresh, [create, create], schedule)
        assert results == [None, None], schedule


@pytest.mark.hbase
@pytest.mark.parametrize("key", OLD_ROWS)
def test_an_hbase_of_an_older_version(hbase_server_url, key):
    with hbase_server.own_tables(hbase_server_url) as url:
        rows = connect_hbase(url)
        assert rows.get(FORMAT_KEY) == {"d:format": b"%d" % FORMAT}
        connect_hbase(url).close()
        rows.remove_row(FORMAT_KEY)
        rows.compare_and_put(key, "d:def", None, b"what it was")
        for create in (True, False):
            with pytest.raises(NotAStore, match="an older version"):
                connect_hbase(url, create=create)
        assert rows.get(key) == {"d:def": b"what it was"}
        rows.close()
