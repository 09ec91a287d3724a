"""Statements of drivers: how they run, end and are fetched. A script plays Spark; tests/hiveserver2/clients has it."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest

from hbstore.errors import QueryFailed, QueryTimedOut, SessionLost, SparkLost
from hbstore.query_service.query import MAX_TEXT, State
from tests.hiveserver2.conftest import Driver

RUNNING, FINISHED, CANCELED, ERROR, PENDING, TIMED_OUT = 1, 2, 3, 5, 7, 8
THREE = ((("n", "bigint"), ("t", "string")), pa.record_batch({"a": [1, 2, 3], "b": ["x", None, "z"]}))
NOTHING = ((), pa.record_batch({"a": pa.array([], pa.int32())}))


@pytest.fixture(autouse=True)
def answers(spark):
    spark.answers["SELECT 3"] = THREE
    spark.answers["DROP TABLE t"] = NOTHING
    spark.answers["SELECT bad"] = QueryFailed("[DIVIDE_BY_ZERO] Division by zero.", hint=None, sqlstate="22012")
    return spark.answers


def test_a_statement_is_a_query_of_the_session(driver, spark, queries):
    operation = driver.execute("SELECT 3")
    [run] = spark.runs
    assert run.request.text == "SELECT 3"
    assert (run.request.user, run.request.database, run.request.session.fresh) == ("ann", "default", True)
    assert driver.call_id(operation) == run.id
    assert queries.get(run.id).state is State.SUCCEEDED
    driver.execute("SELECT 3", confOverlay={"a": "b"})
    assert (spark.runs[1].request.session.fresh, spark.runs[1].request.settings) == (False, {"a": "b"})
    assert spark.runs[0].request.session.id == spark.runs[1].request.session.id


def test_rows_come_in_pages_until_one_is_empty(driver):
    operation = driver.execute("SELECT 3")
    assert operation.hasResultSet
    assert driver.names(operation) == ["n", "t"]
    pages = [driver.fetch(operation, rows=2) for _ in range(3)]
    assert pages == [[(1, 2), ("x", "")], [(3,), ("z",)], [(), ()]]
    assert driver.fetch(operation, rows=2, orientation=4) == pages[0]
    assert driver.fetch(operation, rows=0) == [(), ()]


def test_other_orientations_are_refused(driver):
    operation = driver.execute("SELECT 3")
    status = driver.ask("FetchResults", operationHandle=operation, orientation=5, maxRows=1).status
    assert (status.statusCode, status.sqlState) == (3, "HY106")


def test_a_driver_that_does_not_wait_asks_for_the_state(driver):
    operation = driver.execute("SELECT 3", wait=False)
    status = driver.status(operation)
    assert (status.operationState, status.hasResultSet) == (FINISHED, True)
    assert 0 <= status.operationCompleted - status.operationStarted < 60_000


@pytest.mark.parametrize("wait", [False, True])
def test_a_statement_without_rows(driver, wait):
    operation = driver.execute("DROP TABLE t", wait=wait)
    assert not operation.hasResultSet
    assert not driver.status(operation).hasResultSet
    assert driver.names(operation) == ["Result"]
    assert driver.fetch(operation) == [()]


def test_a_guess_by_the_text_is_mended_by_the_state(driver, spark):
    spark.answers["CALL something()"] = NOTHING
    operation = driver.execute("CALL something()", wait=False)
    assert operation.hasResultSet
    assert not driver.status(operation).hasResultSet


def test_an_error_is_told_by_the_state_or_by_execute(driver):
    status = driver.status(driver.execute("SELECT bad", wait=False))
    assert (status.operationState, status.sqlState) == (ERROR, "22012")
    assert status.errorMessage == "[DIVIDE_BY_ZERO] Division by zero."
    reply = driver.ask("ExecuteStatement", sessionHandle=driver.handle, statement="SELECT bad", runAsync=False)
    assert (reply.status.statusCode, reply.status.sqlState, reply.operationHandle) == (3, "22012", None)
    assert reply.status.errorMessage == status.errorMessage


@pytest.mark.parametrize("text", ["", " ;\n"])
def test_an_empty_statement_is_refused(driver, spark, text):
    status = driver.ask("ExecuteStatement", sessionHandle=driver.handle, statement=text).status
    assert (status.statusCode, status.sqlState) == (3, "42617")
    assert not spark.runs


def test_a_statement_that_is_too_long_is_refused(driver, spark):
    text = "SELECT 1" + " " * MAX_TEXT
    assert "too long" in driver.ask("ExecuteStatement", sessionHandle=driver.handle, statement=text).status.errorMessage
    assert not spark.runs


def test_rows_cannot_be_fetched_while_the_statement_runs(driver):
    operation = driver.execute("SELECT slow", wait=False)
    status = driver.ask("FetchResults", operationHandle=operation, orientation=0, maxRows=1).status
    assert (status.statusCode, status.sqlState) == (3, "HY010")


def test_the_reply_about_a_statement_that_runs_does_not_come_at_once(driver):
    operation = driver.execute("SELECT slow", wait=False)
    began = time.monotonic()
    assert driver.status(operation).operationState == RUNNING
    assert time.monotonic() - began >= 0.1


def test_a_statement_is_cancelled(driver, spark, queries):
    operation = driver.execute("SELECT slow", wait=False)
    driver.call("CancelOperation", operationHandle=operation)
    assert driver.status(operation).operationState == CANCELED
    assert queries.get(spark.runs[0].id).state is State.CANCELLED


def test_a_statement_that_spark_does_not_let_go_is_cancelled_for_its_client(driver, spark, monkeypatch):
    monkeypatch.setattr(type(spark), "cancel", lambda *_: None)
    operation = driver.execute("SELECT slow", wait=False)
    driver.call("CancelOperation", operationHandle=operation)
    assert driver.status(operation).operationState == CANCELED


def test_a_driver_sees_at_once_that_its_statement_was_cancelled_at_another_door(driver, spark, queries, monkeypatch):
    monkeypatch.setattr(type(spark), "cancel", lambda *_: None)
    operation = driver.execute("SELECT slow", wait=False)
    queries.cancel(spark.runs[0].id)
    assert driver.status(operation).operationState == CANCELED


def test_cancelling_what_has_ended_changes_nothing(driver):
    operation = driver.execute("SELECT 3")
    driver.call("CancelOperation", operationHandle=operation)
    assert driver.status(operation).operationState == FINISHED
    assert driver.fetch(operation)[0] == (1, 2, 3)


def test_a_statement_has_the_time_that_its_driver_gives_it(driver, spark, queries):
    operation = driver.execute("SELECT slow", wait=False, queryTimeout=1)
    status = driver.status(operation)
    while status.operationState == RUNNING:
        status = driver.status(operation)
    assert (status.operationState, status.errorMessage) == (
        TIMED_OUT,
        "[QueryTimedOut] Query timed out after 1 seconds: query="
        + spark.runs[0].id
        + ". Give the statement more time by setQueryTimeout",
    )
    query = queries.get(spark.runs[0].id)
    assert query.problem is None or query.problem.error == QueryTimedOut.__name__


def test_the_server_s_own_limit_is_a_timeout_too(driver, spark):
    spark.answers["SELECT 1"] = QueryTimedOut("the query ran longer than the server allows", hint="Ask for less")
    assert driver.status(driver.execute("SELECT 1", wait=False)).operationState == TIMED_OUT


def test_closing_an_operation_cancels_it_and_lets_its_rows_go(driver, spark, queries):
    slow, ended = driver.execute("SELECT slow", wait=False), driver.execute("SELECT 3")
    for operation in (slow, ended):
        driver.call("CloseOperation", operationHandle=operation)
        status = driver.ask("GetOperationStatus", operationHandle=operation).status
        assert (status.statusCode, status.errorMessage.startswith("[OperationNotFound] Invalid OperationHandle")) == (
            3,
            True,
        )
    queries._sweep()
    assert [queries.get(run.id).state for run in spark.runs] == [State.CANCELLED, State.EXPIRED]


def test_the_reply_about_an_ended_statement_is_kept_until_it_is_closed(driver, endpoint):
    operation = driver.execute("SELECT 3")
    first = driver.status(operation)
    calls = []
    answer = endpoint.handlers["GetOperationStatus"]
    endpoint.handlers["GetOperationStatus"] = lambda call: calls.append(call) or answer(call)
    assert driver.status(operation) == first
    assert not calls
    driver.call("CloseOperation", operationHandle=operation)
    assert driver.ask("GetOperationStatus", operationHandle=operation).status.statusCode == 3
    assert len(calls) == 1


def test_the_log_is_told_once(driver, spark):
    operation = driver.execute("SELECT 3")
    lines = driver.fetch(operation, fetchType=1)
    assert lines == [(f"query {spark.runs[0].id}",)]
    assert driver.fetch(operation, fetchType=1) == [()]
    assert driver.fetch(operation)[0] == (1, 2, 3)


def test_show_tables_has_hives_shape(driver, spark):
    columns = (("namespace", "string"), ("tableName", "string"), ("isTemporary", "boolean"))
    rows = pa.record_batch({"a": ["shop"], "b": ["sales"], "c": [False]})
    spark.answers["SHOW TABLES IN `shop`"] = (columns, rows)
    operation = driver.execute("SHOW TABLES IN `shop`")
    assert (driver.names(operation), driver.fetch(operation)) == (["tab_name"], [("sales",)])


def test_timestamps_are_in_the_time_zone_of_the_session(driver, spark):
    moment = pa.array([0], pa.timestamp("us", "UTC"))
    spark.answers["SELECT t"] = ((("t", "timestamp"),), pa.record_batch({"a": moment}), "Asia/Tokyo")
    assert driver.fetch(driver.execute("SELECT t")) == [("1970-01-01 09:00:00",)]


@pytest.mark.parametrize("error", [SparkLost, SessionLost])
def test_a_session_whose_spark_died_says_so_to_pools_of_connections(driver, spark, error):
    spark.answers["SELECT 1"] = error("the Spark died", hint="Connect again")
    driver.call("GetInfo", sessionHandle=driver.handle, infoType=17)
    assert driver.status(driver.execute("SELECT 1", wait=False)).operationState == ERROR
    for name, fields in (("GetInfo", {"infoType": 17}), ("ExecuteStatement", {"statement": "SELECT 3"})):
        status = driver.ask(name, sessionHandle=driver.handle, **fields).status
        assert (status.statusCode, status.sqlState) == (3, "08003")
    driver.call("CloseSession", sessionHandle=driver.handle)


def test_an_operation_can_be_asked_for_over_another_connection(driver, endpoint):
    operation = driver.execute("SELECT 3")
    assert Driver(endpoint, driver.client).fetch(operation)[0] == (1, 2, 3)
