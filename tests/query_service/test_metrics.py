"""What is counted of queries."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from hbstore import connect
from hbstore.errors import SparkLost, StoreUnavailable, TooManyQueries
from hbstore.query_service.messages import Cancelled, Done, Failed, Ready, Started
from hbstore.query_service.metrics import QueryMetrics, look_at_leases
from hbstore.query_service.query import QueryProblem, QuerySession
from hbstore.query_service.servers import Servers
from hbstore.store.records import Records
from tests.query_service.test_service import ROWS, Clock, ask, serving
from tests.query_service.written import numbers, parquet_bytes, part


@pytest.fixture
def metrics():
    return QueryMetrics(CollectorRegistry())


@pytest.fixture
def value(metrics):
    return lambda name, **labels: metrics.registry.get_sample_value(f"hbstore_{name}", labels)


@pytest.fixture
def store(tmp_path):
    with connect(f"sqlite://{tmp_path}/store.db") as store:
        yield store


def succeed(service, query):
    service.runner.heard(Started(query.id))
    service.runner.heard(Done(query.id, ROWS))


def test_ends_by_state_and_door(store, tmp_path, metrics, value):
    clock = Clock()
    with serving(store, tmp_path, clock, metrics) as (service, _):
        first, second, third = (service.submit(ask(user=name)) for name in "abc")
        driver = service.submit(ask(session=QuerySession(id="5f")))
        clock.now += dt.timedelta(seconds=7)
        succeed(service, first)
        service.runner.heard(Failed(second.id, QueryProblem(error="QueryFailed", text="no")))
        service.runner.heard(Cancelled(third.id))
        succeed(service, driver)
    assert value("queries_total", state="succeeded", door="http") == 1
    assert value("queries_total", state="failed", door="http") == 1
    assert value("queries_total", state="cancelled", door="http") == 1
    assert value("queries_total", state="succeeded", door="sql") == 1
    assert value("query_errors_total", error="QueryFailed") == 1
    assert (value("query_seconds_count", door="http"), value("query_seconds_sum", door="http")) == (3, 21)
    assert value("query_seconds_bucket", door="http", le="5.0") == 0
    assert value("query_seconds_bucket", door="http", le="10.0") == 3


def test_the_queue_is_counted_as_it_is(store, tmp_path, metrics, value):
    def queue():
        return value("queries_queued"), value("queries_running")

    with serving(store, tmp_path, observer=metrics, running=1, queued=1) as (service, _):
        first = service.submit(ask())
        assert queue() == (0, 1)
        second = service.submit(ask())
        assert queue() == (1, 1)
        with pytest.raises(TooManyQueries):
            service.submit(ask())
        assert queue() == (1, 1)
        service.cancel(second.id)
        assert queue() == (0, 1)
        assert value("queries_total", state="cancelled", door="http") == 1
        third = service.submit(ask())
        succeed(service, first)
        assert queue() == (0, 1)
        service.runner.lost()
        assert queue() == (0, 0)
        assert value("spark_restarts_total") == 1
        assert value("query_errors_total", error="SparkLost") == 1
        assert service.get(third.id).state == "failed"
        service.submit(ask())
        assert queue() == (1, 0)
        service.runner.heard(Ready("4.1"))
        assert queue() == (0, 1)
    assert queue() == (0, 0)
    assert value("query_errors_total", error="QueryLost") == 1


def test_an_end_that_the_store_takes_at_the_second_attempt_counts_once(store, tmp_path, metrics, value, monkeypatch):
    change, failures = Records.change, [StoreUnavailable("gone")]

    def fails_once(records, kind, id_, step):
        if failures and kind == "query":
            raise failures.pop()
        return change(records, kind, id_, step)

    with serving(store, tmp_path, observer=metrics) as (service, _):
        query = service.submit(ask())
        service.runner.heard(Started(query.id))
        monkeypatch.setattr(Records, "change", fails_once)
        service.runner.heard(Done(query.id, ROWS))
        assert not failures
        assert service.get(query.id).state == "succeeded"
    assert value("queries_total", state="succeeded", door="http") == 1


def test_rows_and_bytes_are_counted_as_they_are_fetched(store, tmp_path, metrics, value):
    with serving(store, tmp_path, observer=metrics) as (service, _):
        query = service.submit(ask())
        succeed(service, query)
        folder = Path(service.results.location(query.id).removeprefix("file:"))
        folder.mkdir(parents=True)
        (folder / part(0)).write_bytes(parquet_bytes(numbers(0, 250)))
        (folder / "_SUCCESS").touch()
        list(service.fetch(query.id)[1])
        assert value("result_rows_fetched_total") == 250
        whole = value("result_bytes_fetched_total")
        assert whole >= 250 * 8
        _, batches = service.fetch(query.id, rows=10)
        assert value("result_rows_fetched_total") == 250
        list(batches)
        assert value("result_rows_fetched_total") == 260
        assert 0 < value("result_bytes_fetched_total") - whole < whole


def test_spark_is_in_one_state(store, tmp_path, metrics, value):
    def state():
        states = [name for name in ("absent", "starting", "running", "failed") if value("spark_state", state=name)]
        return " ".join(states)

    assert state() == "absent"
    with serving(store, tmp_path, observer=metrics) as (service, _):  # its Spark is ready
        runner = service.runner
        assert state() == "running"
        runner.lost()
        assert state() == "starting"
        runner.lost()
        assert state() == "absent"
        service.submit(ask())
        assert state() == "starting"
        runner.heard(Ready("4.1"))
        runner.lost()
        runner.lost(SparkLost("queries need Java"))
        assert state() == "failed"
        service.submit(ask())
        assert state() == "failed"
        runner.heard(Ready("4.1"))
        assert state() == "running"


def test_leases_of_servers_that_live_and_that_died(store, tmp_path):
    def leases():
        (metric,) = look_at_leases(store.records)
        return {sample.labels["state"]: sample.value for sample in metric.samples}

    assert leases() == {"current": 0, "overdue": 0}
    for age in (0, 3600):
        Servers(store.records, lambda age=age: dt.datetime.now(dt.UTC) - dt.timedelta(seconds=age), tmp_path).enter()
    assert leases() == {"current": 1, "overdue": 1}
