"""What is open in a process cannot be sent to another one, and says what can."""

from __future__ import annotations

import pickle
from copy import deepcopy

import pytest

import hbstore.client
from hbstore import Column, NotPicklable, Table, connect
from hbstore.client.remote_cubes import RemoteCubes
from hbstore.client.remote_table import RemoteTable
from hbstore.cubes import Cubes
from hbstore.publishing import Publisher


@pytest.mark.parametrize("url", ["memory://", "sqlite://{}/store.db"])
@pytest.mark.parametrize("copied", [pickle.dumps, deepcopy])
def test_what_holds_a_store_names_its_url(url, copied, tmp_path):
    url = url.format(tmp_path)
    with connect(url) as store:
        store.create_database("shop")
        store.create_table(Table("shop", "sales", [Column("ds", "date")]))
        sales = store.table("shop.sales")
        parts = [store.rows, store.hive, store.timelines, store.records, Publisher(store), sales.timelines]
        for one in (store, sales, Cubes(store, "shop"), *parts):
            with pytest.raises(NotPicklable, match="cannot be pickled") as caught:
                copied(one)
            assert isinstance(caught.value, TypeError)
            assert caught.value.fields == {"url": url}
            assert "hbstore.connect(url)" in caught.value.hint
        assert pickle.loads(pickle.dumps(sales.definition)) == sales.definition  # noqa: S301


def test_what_holds_a_connection_names_its_server_and_no_token():
    connection = hbstore.client.connect("http://127.0.0.1:1", token="secret")  # noqa: S106
    transport = connection._transport
    for one in (connection, RemoteTable(transport, "shop", "sales"), RemoteCubes(transport, "shop")):
        with pytest.raises(NotPicklable, match=r"url=http://127\.0\.0\.1:1") as caught:
            pickle.dumps(one)
        assert "hbstore.client.connect(url)" in str(caught.value)
        assert "secret" not in str(caught.value)
