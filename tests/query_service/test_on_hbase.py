"""The query service on HBase: queries of several servers, of which one dies."""

from __future__ import annotations

import datetime as dt
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from hbstore import connect
from hbstore.files.warehouse import Warehouse
from hbstore.query_service import engine as engines
from hbstore.query_service.engine import Engine
from hbstore.query_service.limits import Limits
from hbstore.query_service.observing import SparkState
from hbstore.query_service.query import Request, State
from hbstore.query_service.results import Results
from hbstore.query_service.servers import Servers
from hbstore.query_service.service import QueryService
from tests.backends import without_records
from tests.pauses import SECONDS
from tests.processes import ROOT
from tests.query_service.fake_spark import DIE

pytestmark = [pytest.mark.hbase]


@pytest.fixture
def begin(hbase_url, tmp_path, monkeypatch):
    """Starts a server on the store of an HBase, with a process that plays Spark's part."""
    monkeypatch.setattr(engines, "_MODULE", "tests.query_service.fake_spark")
    monkeypatch.setattr(engines, "_FIRST_PAUSE", 0.01)
    monkeypatch.chdir(ROOT)
    begun = []

    def start(locks):
        store = connect(hbase_url)
        servers = Servers(store.records, lambda: dt.datetime.now(dt.UTC), tmp_path / locks)
        service = QueryService(store, Results(str(tmp_path / "results")), servers, Limits())
        heard, lost = service.runner.heard, service.runner.lost
        engine = Engine(hbase_url, "thrift://127.0.0.1:9083", Warehouse("/nowhere"), heard=heard, lost=lost)
        begun.append((store, service, engine))
        service.open(engine)
        return service

    with connect(hbase_url) as store:
        without_records(store)
    yield start
    for store, service, engine in begun:
        service.close()
        engine.close()
        store.close()


def ask(service, text):
    return service.wait(service.submit(Request(text=text)).id, SECONDS)


def test_many_queries_at_two_servers_end_and_each_server_sees_all(begin):
    servers = [begin("locks"), begin("locks")]
    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(lambda number: ask(servers[number % 2], "x" * number), range(1, 41)))
    assert [(one.state, one.result.rows) for one in ended] == [(State.SUCCEEDED, number) for number in range(1, 41)]
    for service in servers:
        assert {one.id: one.state for one in service.list()} == {one.id: State.SUCCEEDED for one in ended}


def test_when_spark_dies_its_query_says_so_and_the_next_one_runs(begin):
    service = begin("locks")
    assert ask(service, DIE).problem.error == "SparkLost"
    assert ask(service, "select 1").state is State.SUCCEEDED


@pytest.mark.parametrize("machine", ["the same machine", "another machine"])
def test_queries_of_a_server_that_dies_are_lost(begin, machine, monkeypatch):
    one = begin("locks")
    other = begin("locks" if machine == "the same machine" else "locks there")
    assert ask(one, "select 1").state is State.SUCCEEDED
    one.runner._state = SparkState.STARTING
    waits = one.submit(Request(text="select 2"))
    assert other.get(waits.id).state is State.QUEUED
    one._closed.set()  # it renews no more
    one._keeper.join()
    os.close(one.servers._lock)
    one.servers._lock = None
    if machine == "another machine":
        assert other.get(waits.id).state is State.QUEUED
        monkeypatch.setattr(other.servers, "clock", lambda: dt.datetime.now(dt.UTC) + dt.timedelta(seconds=10))
    lost = other.get(waits.id)
    assert (lost.state, lost.problem.error) == (State.FAILED, "QueryLost")
    assert one._queries.get(waits.id) == lost
