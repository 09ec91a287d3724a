"""A few of the random histories of `make fuzz`: processes die at any write, and the store is what the model says."""

from __future__ import annotations

import pytest

from hbstore import connect
from tests import hbase_server
from tests.fuzz.histories import run_history


@pytest.mark.parametrize(("url", "number"), [("memory://?atomic=false", 40), ("sqlite://{}/store.db", 5)])
def test_histories(url, number, tmp_path):
    for seed in range(number):
        with connect(url.format(tmp_path)) as store:
            run_history(seed, store.rows)


@pytest.mark.hbase
def test_histories_on_hbase(hbase_server_url):
    with hbase_server.own_tables(hbase_server_url) as url, connect(url) as store:
        for seed in range(3):
            run_history(seed, store.rows)
