"""The life of queries: queue, limits, cancelling, deaths. A script plays Spark here; test_engine has the real one."""

from __future__ import annotations

import datetime as dt
import os
import threading
from contextlib import contextmanager

import pytest

from hbstore import connect
from hbstore.errors import (
    FileOperationFailed,
    InvalidInput,
    QueryNotFound,
    QueryTimedOut,
    SparkLost,
    StoreUnavailable,
    TooManyQueries,
)
from hbstore.query_service.limits import Limits
from hbstore.query_service.messages import Alive, Cancelled, Done, Failed, Planned, Progressed, Ready, Started
from hbstore.query_service.observing import UNOBSERVED
from hbstore.query_service.query import (
    QueryProblem,
    QueryProgress,
    QueryResult,
    QuerySession,
    Request,
    ResultColumn,
    State,
)
from hbstore.query_service.results import Results
from hbstore.query_service.runner import STARTS
from hbstore.query_service.servers import Servers
from hbstore.query_service.service import QueryService
from hbstore.query_service.stored_queries import StoredQueries
from tests.backends import backend_url, without_records
from tests.pauses import SECONDS, until

ROWS = QueryResult(columns=(ResultColumn(name="1", type="int"),), rows=1, size=400)


class Script:
    """What Spark was told."""

    def __init__(self):
        self.runs = []
        self.cancels = []
        self.closes = []
        self.sessions = []
        self.woken = 0

    def wake(self):
        self.woken += 1

    def run(self, run):
        self.runs.append(run.id)
        self.sessions.append(run.request.session)

    def cancel(self, cancel):
        self.cancels.append(cancel.id)

    def close_session(self, close):
        self.closes.append(close.id)


class Clock:
    def __init__(self):
        self.now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

    def __call__(self):
        return self.now


@pytest.fixture(params=["sqlite", "nonatomic", pytest.param("hbase", marks=pytest.mark.hbase)])
def store(request, tmp_path):
    with connect(backend_url(request, tmp_path)) as store:
        without_records(store)
        yield store


@contextmanager
def serving(store, tmp_path, clock=None, observer=UNOBSERVED, **limits):
    clock = clock or Clock()
    servers = Servers(store.records, clock, tmp_path / "locks")
    service = QueryService(
        store, Results(str(tmp_path / "results")), servers, Limits(**limits), clock, observer=observer
    )
    spark = Script()
    service.open(spark)
    service.runner.heard(Ready("4.1"))
    try:
        yield service, spark
    finally:
        service.close()


def ask(user="ann", text="select 1", **fields):
    return Request(text=text, user=user, **fields)


def test_a_query_goes_from_the_queue_to_its_result(store, tmp_path):
    with serving(store, tmp_path) as (service, spark):
        query = service.submit(ask(name="one"))
        assert (query.state, query.request.name) == (State.QUEUED, "one")
        assert spark.runs == [query.id]
        service.runner.heard(Started(query.id))
        service.runner.heard(Planned(query.id, {"sql": "…"}, ("a row counts twice",)))
        service.runner.heard(Progressed(query.id, QueryProgress(stages=2, tasks=8, tasks_done=3)))
        running = service.get(query.id)
        assert (running.state, running.progress.tasks_done, running.warnings) == (
            State.RUNNING,
            3,
            ("a row counts twice",),
        )
        service.runner.heard(Done(query.id, ROWS, ("a folder is left",)))
        done = service.get(query.id)
        assert (done.state, done.result, done.plan) == (State.SUCCEEDED, ROWS, {"sql": "…"})
        assert done.warnings == ("a row counts twice", "a folder is left")
        assert done.expires_at - done.ended_at == Limits().keep_results
        assert done.progress.tasks_done == 3
        service.runner.heard(Failed(query.id, QueryProblem(error="QueryFailed", text="late")))
        assert service.get(query.id) == done


def test_what_failed_says_why(store, tmp_path):
    with serving(store, tmp_path) as (service, _):
        query = service.submit(ask())
        problem = QueryProblem.of(QueryTimedOut("too long", query=query.id, hint="Ask for less"))
        service.runner.heard(Started(query.id))
        service.runner.heard(Failed(query.id, problem))
        failed = service.get(query.id)
        assert (failed.state, failed.problem) == (State.FAILED, problem)
        assert isinstance(failed.problem.as_error(), QueryTimedOut)


def test_queries_beyond_the_limits_wait_their_turn_and_those_beyond_the_queue_are_refused(store, tmp_path):
    with serving(store, tmp_path, running=3, running_of_user=2, queued=3) as (service, spark):
        first = [service.submit(ask()) for _ in range(4)]
        assert spark.runs == [one.id for one in first[:2]]
        other = service.submit(ask("bob"))
        assert spark.runs[2:] == [other.id]  # who runs none passes by
        service.submit(ask("bob"))
        with pytest.raises(TooManyQueries, match="queued=3"):
            service.submit(ask("eve"))
        assert len(service.list()) == 6
        service.runner.heard(Done(first[0].id, ROWS))
        assert spark.runs[3:] == [first[2].id]


def test_a_query_that_waits_is_cancelled_at_once_and_one_that_runs_when_spark_says_so(store, tmp_path):
    with serving(store, tmp_path, running=1) as (service, spark):
        runs, waits = service.submit(ask()), service.submit(ask())
        assert service.cancel(waits.id).state is State.CANCELLED
        service.runner.heard(Started(runs.id))
        asked_for = service.cancel(runs.id)
        assert (asked_for.state, asked_for.cancel_requested) == (State.RUNNING, True)
        assert spark.cancels == [runs.id]
        service.runner.heard(Progressed(runs.id, QueryProgress(tasks=2)))
        assert service.wait(runs.id, SECONDS).cancel_requested
        service.runner.heard(Cancelled(runs.id))
        assert service.get(runs.id).state is State.CANCELLED
        assert service.cancel(runs.id).state is State.CANCELLED
        assert spark.runs == [runs.id]


def test_who_follows_a_query_is_told_that_it_is_to_be_cancelled(store, tmp_path, monkeypatch):
    with serving(store, tmp_path) as (service, _):
        query = service.submit(ask())
        service.runner.heard(Started(query.id))
        change = StoredQueries.change

        def cancelled_meanwhile(*arguments):
            stored = change(*arguments)
            monkeypatch.undo()
            before = service.changes.number
            service.cancel(query.id)
            assert service.changes.number > before
            return stored

        monkeypatch.setattr(StoredQueries, "change", cancelled_meanwhile)
        service.runner._write_progress(query.id, QueryProgress(tasks=2))
        assert service.get(query.id).cancel_requested


def test_a_query_that_is_cancelled_for_a_reason_fails_by_it(store, tmp_path):
    with serving(store, tmp_path, running=1) as (service, spark):
        runs, waits = service.submit(ask()), service.submit(ask())
        reason = QueryTimedOut("it took too long", hint="Ask for less")
        assert service.cancel(waits.id, reason).problem == QueryProblem.of(reason)
        service.runner.heard(Started(runs.id))
        assert service.cancel(runs.id, reason).state is State.RUNNING
        assert spark.cancels == [runs.id]
        service.runner.heard(Cancelled(runs.id))
        assert service.get(runs.id).problem == QueryProblem.of(reason)
        assert not service.get(runs.id).cancel_requested
        with serving(store, tmp_path) as (other, _):
            elsewhere = service.submit(ask())
            other.cancel(elsewhere.id, reason)
            until(lambda: spark.cancels == [runs.id, elsewhere.id])


def test_a_session_ends_with_its_queries(store, tmp_path):
    with serving(store, tmp_path, running=1) as (service, spark):
        session = QuerySession(id="5f")
        runs, waits, others = (service.submit(ask(session=one)) for one in (session, session, QuerySession(id="60")))
        service.runner.heard(Started(runs.id))
        service.close_session("5f")
        assert (spark.cancels, spark.closes) == ([runs.id], ["5f"])
        assert service.get(waits.id).state is State.CANCELLED
        assert service.get(others.id).state is State.QUEUED


def test_the_settings_of_a_session_reach_spark_and_nobody_else(store, tmp_path):
    with serving(store, tmp_path, running=1) as (service, spark):
        session = QuerySession(id="5f", database="shop", settings={"my.password": "secret"}, fresh=True)
        queries = [service.submit(ask(session=session)) for _ in range(2)]
        service.runner.heard(Started(queries[0].id))
        service.runner.heard(Done(queries[0].id, ROWS))
        assert spark.sessions == [session, session]
        assert all("secret" not in text for _, text in store.records.list("query"))
        assert all("secret" not in service.get(query.id).model_dump_json() for query in queries)


def test_a_query_that_ended_before_the_cancel_came_keeps_its_result(store, tmp_path):
    with serving(store, tmp_path) as (service, _):
        query = service.submit(ask())
        service.runner.heard(Started(query.id))
        service.cancel(query.id)
        service.runner.heard(Done(query.id, ROWS))
        assert service.get(query.id).state is State.SUCCEEDED


def test_a_query_that_runs_too_long_or_writes_too_much_ends(store, tmp_path):
    with serving(store, tmp_path, run_time=dt.timedelta(0)) as (service, spark):
        query = service.submit(ask())
        service.runner.heard(Started(query.id))
        until(lambda: spark.cancels == [query.id])
        service.runner.heard(Cancelled(query.id))
        assert service.get(query.id).problem.error == "QueryTimedOut"
    with serving(store, tmp_path, result_size=399) as (service, _):
        query = service.submit(ask())
        service.runner.heard(Started(query.id))
        service.runner.heard(Done(query.id, ROWS))
        assert service.get(query.id).problem.error == "ResultTooLarge"


def test_when_spark_dies_its_queries_say_so_and_the_queue_goes_on_with_the_next_one(store, tmp_path):
    with serving(store, tmp_path, running=1) as (service, spark):
        runs, waits = service.submit(ask()), service.submit(ask())
        service.runner.heard(Started(runs.id))
        service.runner.lost()
        assert service.get(runs.id).problem.error == "SparkLost"
        assert service.get(waits.id).state is State.QUEUED
        assert spark.runs == [runs.id]
        service.runner.heard(Ready("4.1"))
        assert spark.runs == [runs.id, waits.id]


def test_spark_is_woken_by_the_first_query_and_while_queries_wait(store, tmp_path):
    with serving(store, tmp_path) as (service, spark):
        assert spark.woken == 0
        service.submit(ask())
        assert spark.woken == 1
        service.runner.lost()
        service.submit(ask())
        woken = spark.woken
        service.runner.lost()
        assert spark.woken == woken + 1


def test_what_spark_needs_and_does_not_have_is_told_at_once(store, tmp_path):
    with serving(store, tmp_path) as (service, spark):
        service.runner.lost()
        waits = service.submit(ask())
        woken = spark.woken
        service.runner.lost(SparkLost("queries need Spark, and Spark needs Java", hint="Install a JDK 17"))
        assert (service.get(waits.id).problem.error, service.get(waits.id).problem.hint) == (
            "SparkLost",
            "Install a JDK 17",
        )
        assert spark.woken == woken


def test_where_spark_does_not_start_the_queue_says_so(store, tmp_path):
    with serving(store, tmp_path) as (service, spark):
        service.runner.lost()
        waits = service.submit(ask())
        for _ in range(STARTS - 1):
            service.runner.lost()
        assert service.get(waits.id).state is State.QUEUED
        service.runner.lost()
        failed = service.get(waits.id)
        assert (failed.state, failed.problem.error) == (State.FAILED, "SparkLost")
        assert failed.problem.text == "Spark does not start"
        later = service.submit(ask())
        service.runner.heard(Ready("4.1"))
        assert spark.runs == [later.id]
        last = service.submit(ask())
        for _ in range(STARTS):
            service.runner.lost()
        assert service.get(later.id).problem.text == "the Spark that ran the query died or did not answer any more"
        assert service.get(last.id).problem.text == "the Spark that ran the query died or did not answer any more"
        assert service.submit(ask()).state is State.QUEUED


def test_one_idempotency_key_is_one_query(store, tmp_path):
    with serving(store, tmp_path) as (service, spark):
        query = service.submit(ask(), key="k")
        assert service.submit(ask(), key="k").id == query.id
        assert service.submit(ask("bob"), key="k").id != query.id
        assert len(spark.runs) == 2
        with pytest.raises(InvalidInput, match="another query"):
            service.submit(ask(text="select 2"), key="k")


def test_an_idempotency_key_goes_with_its_query(store, tmp_path):
    clock = Clock()
    with serving(store, tmp_path, clock) as (service, _):
        query = service.submit(ask(), key="k")
        service.runner.heard(Started(query.id))
        service.runner.heard(Done(query.id, ROWS))
        for _ in range(2):
            clock.now += Limits().keep_results
            assert service.submit(ask(), key="k").id == query.id
            service._sweep()
        later = service.submit(ask(), key="k")
        assert later.id != query.id
        assert [id_ for _, id_ in store.records.list("query_key")] == [later.id]


def test_requests_with_one_key_at_once_are_one_query(store, tmp_path):
    with serving(store, tmp_path) as (service, spark):
        ids = []
        threads = [threading.Thread(target=lambda: ids.append(service.submit(ask(), key="k").id)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(ids) == 8
        assert set(ids) == set(spark.runs)
        assert len(spark.runs) == 1


def test_waiting_ends_with_the_query_or_the_time_or_a_change(store, tmp_path):
    with serving(store, tmp_path) as (service, _):
        query = service.submit(ask())
        assert service.wait(query.id, 0.05).state is State.QUEUED
        told = threading.Timer(0.2, lambda: service.runner.heard(Started(query.id)))
        told.start()
        changed = service.wait(query.id, SECONDS, beyond=service.get(query.id))
        assert changed.state is State.RUNNING
        threading.Timer(0.2, lambda: service.runner.heard(Done(query.id, ROWS))).start()
        assert service.wait(query.id, SECONDS).state is State.SUCCEEDED


def test_queries_are_listed_newest_first_by_user_state_and_page(store, tmp_path):
    clock = Clock()
    with serving(store, tmp_path, clock, running=1) as (service, _):
        ids = []
        for number in range(5):
            clock.now += dt.timedelta(seconds=1)
            ids.append(service.submit(ask("ann" if number % 2 else "bob")).id)
        service.runner.heard(Started(ids[0]))
        assert [one.id for one in service.list()] == ids[::-1]
        assert [one.id for one in service.list(user="ann")] == [ids[3], ids[1]]
        assert [one.id for one in service.list(states=[State.RUNNING])] == [ids[0]]
        assert [one.id for one in service.list(limit=2)] == [ids[4], ids[3]]
        assert [one.id for one in service.list(limit=2, before=ids[3])] == [ids[2], ids[1]]


def test_an_unknown_query_is_named(store, tmp_path):
    with serving(store, tmp_path) as (service, _):
        for ask_for in (service.get, service.cancel, lambda id_: service.wait(id_, 0)):
            with pytest.raises(QueryNotFound, match="5f"):
                ask_for("5f")


def test_an_option_that_is_none_is_refused_before_the_query_is_taken(store, tmp_path):
    with serving(store, tmp_path) as (service, _):
        with pytest.raises(InvalidInput, match="join_typ"):
            service.submit(ask(options={"join_typ": "inner"}))
        assert service.list() == []


def test_results_expire_and_queries_are_forgotten_later(store, tmp_path):
    clock = Clock()
    with serving(store, tmp_path, clock) as (service, _):
        query = service.submit(ask())
        service.runner.heard(Started(query.id))
        service.runner.heard(Done(query.id, ROWS))
        clock.now += Limits().keep_results
        service._sweep()
        assert service.get(query.id).state is State.EXPIRED
        clock.now += Limits().keep_results
        service._sweep()
        with pytest.raises(QueryNotFound):
            service.get(query.id)


def test_a_server_that_keeps_results_shortly_forgets_none_that_another_keeps(store, tmp_path):
    clock = Clock()
    with serving(store, tmp_path, clock) as (service, _):
        query = service.submit(ask())
        service.runner.heard(Started(query.id))
        service.runner.heard(Done(query.id, ROWS))
    with serving(store, tmp_path, clock, keep_results=dt.timedelta()) as (other, _):
        other._sweep()
        assert other.get(query.id).state is State.SUCCEEDED
        clock.now += Limits().keep_results
        other._sweep()
        assert other.get(query.id).state is State.EXPIRED
        other._sweep()
        with pytest.raises(QueryNotFound):
            other.get(query.id)


def test_results_that_nobody_fetches_any_more_expire_soon(store, tmp_path):
    with serving(store, tmp_path) as (service, script):
        kept, released, running = (service.submit(ask()) for _ in range(3))
        for query in (kept, released):
            service.runner.heard(Started(query.id))
            service.runner.heard(Done(query.id, ROWS))
        service.runner.heard(Started(running.id))
        for query in (released, running):
            service.release(query.id)
        assert script.cancels == [running.id]
        service.runner.heard(Cancelled(running.id))
        service._sweep()
        states = [service.get(query.id).state for query in (kept, released, running)]
        assert states == [State.SUCCEEDED, State.EXPIRED, State.CANCELLED]


@pytest.mark.parametrize("message", ["Started", "Done"])
def test_what_spark_says_is_kept_until_the_store_answers(store, tmp_path, monkeypatch, message):
    with serving(store, tmp_path) as (service, _):
        query = service.submit(ask())
        change, tried = StoredQueries.change, []

        def faulty(queries, id_, step):
            tried.append(id_)
            if len(tried) == 1:
                raise StoreUnavailable("the store does not answer", hint="Try again")
            return change(queries, id_, step)

        if message == "Done":
            service.runner.heard(Started(query.id))
        monkeypatch.setattr(StoredQueries, "change", faulty)
        service.runner.heard(Started(query.id) if message == "Started" else Done(query.id, ROWS))
        assert service.get(query.id).state is (State.RUNNING if message == "Started" else State.SUCCEEDED)


def test_files_that_cannot_be_removed_yet_are_removed_later(store, tmp_path, monkeypatch):
    with serving(store, tmp_path) as (service, _):
        tried = []

        def remove(id_):
            tried.append(id_)
            if len(tried) == 1:
                raise FileOperationFailed("Spark still writes there", hint="Call again")

        monkeypatch.setattr(service.results, "remove", remove)
        query = service.submit(ask())
        service.runner.heard(Started(query.id))
        service.runner.heard(Cancelled(query.id))
        assert service.get(query.id).state is State.CANCELLED
        service._sweep()
        service._sweep()
        assert tried == [query.id] * 2


def test_another_server_serves_what_is_finished_and_passes_on_a_cancel(store, tmp_path):
    with serving(store, tmp_path) as (one, spark), serving(store, tmp_path) as (other, _):
        done, runs = one.submit(ask()), one.submit(ask())
        one.runner.heard(Started(done.id))
        one.runner.heard(Done(done.id, ROWS))
        one.runner.heard(Started(runs.id))
        assert other.get(done.id).result == ROWS
        assert other.get(runs.id).state is State.RUNNING
        other.cancel(runs.id)
        until(lambda: spark.cancels == [runs.id])


def test_queries_of_a_server_that_stops_in_order_are_lost(store, tmp_path):
    with serving(store, tmp_path) as (other, _):
        with serving(store, tmp_path, running=1) as (one, _):
            runs, waits = one.submit(ask()), one.submit(ask())
            one.runner.heard(Started(runs.id))
        assert {other.get(query.id).problem.error for query in (runs, waits)} == {"QueryLost"}
        with pytest.raises(TooManyQueries, match="about to stop"):
            one.submit(ask())


def test_the_lease_of_a_server_on_another_machine_runs_out(store, tmp_path):
    clock = Clock()
    records = store.records
    here, there = Servers(records, clock, tmp_path / "here"), Servers(records, clock, tmp_path / "there")
    here.enter()
    there.enter()
    assert here.is_alive(there.id)
    clock.now += dt.timedelta(seconds=9)
    assert here.is_alive(there.id)
    there.renew()
    clock.now += dt.timedelta(seconds=9)
    assert here.is_alive(there.id)
    clock.now += dt.timedelta(seconds=2)
    assert not here.is_alive(there.id)
    assert not here.is_alive("5f")
    here.renew()
    here.forget_the_dead()
    assert [id_ for id_, _ in store.records.list("server")] == [here.id]
    there.renew()
    assert here.is_alive(there.id)
    here.leave()
    there.leave()


def test_a_server_on_this_machine_is_dead_as_soon_as_its_process_is(store, tmp_path):
    here, other = (Servers(store.records, Clock(), tmp_path / "locks") for _ in range(2))
    here.enter()
    other.enter()
    assert here.is_alive(other.id)
    os.close(other._lock)  # as the system does at the end of a process
    assert not here.is_alive(other.id)
    here.forget_the_dead()
    assert [id_ for id_, _ in store.records.list("server")] == [here.id]
    here.leave()


def test_what_is_wrong_with_a_spark_that_runs_or_starts_again_is_told(store, tmp_path):
    with serving(store, tmp_path) as (service, _):
        runner = service.runner
        assert runner.problem is None
        runner.heard(Alive(has_executor=False))
        assert "no executor" in runner.problem.text
        runner.heard(Alive())
        assert runner.problem is None
        runner.lost()
        assert "started again" in runner.problem.text
        runner.heard(Ready("4.1"))
        assert runner.problem is None
