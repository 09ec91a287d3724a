"""Statements of JDBC drivers: rows, changes, errors, cancelling, sessions. All drivers agree but for COUNTS.

A test has one of the drivers in turn (conftest.py); those about what drivers do by themselves have all.
"""

from __future__ import annotations

import threading

import pytest
from py4j.protocol import Py4JJavaError

import hbstore.client
from tests.hiveserver2.clients.conftest import CUBE_QUERY
from tests.hiveserver2.clients.jdbc import ask, columns, error_of, rows, run, statement, throws
from tests.pauses import SECONDS, idle, until

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SLOW = "SELECT count(*) FROM range(0, 1000000000000, 1, 4) AS a WHERE id % 7 = 3"
COUNTS = {"2.3": lambda rows: rows, "3.1": lambda _: -1, "4.0": lambda rows: rows}
"""What getUpdateCount says after a change of so many rows: the driver 3.1.3 never asks."""


@pytest.mark.every_driver
def test_a_query_of_a_cube(connection):
    connection.setSchema("shop")
    with statement(connection) as one:
        result = one.executeQuery(CUBE_QUERY)
        assert columns(result) == [("bike", "string"), ("minutes", "bigint")]
        assert rows(result) == [("a", 1), ("b", 2)]
    failed = throws(ask, connection, CUBE_QUERY.replace("01-03", "01-04"))
    assert "[NoCandidate]" in failed.message
    assert "2015-01-03" in failed.message


def test_what_defines_has_no_rows(connection):
    assert run(connection, "CREATE DATABASE IF NOT EXISTS jdbc")[0] is False
    assert run(connection, "USE jdbc")[0] is False
    assert run(connection, "CREATE TABLE made (id INT, name STRING) STORED AS PARQUET")[0] is False
    assert ask(connection, "SHOW TABLES IN jdbc") == [("made",)]
    assert run(connection, "INSERT INTO made VALUES (1, 'a'), (2, 'b'), (3, NULL)")[0] is False
    with statement(connection) as one:
        assert one.execute("SELECT * FROM made ORDER BY id") is True
        assert rows(one.getResultSet()) == [(1, "a"), (2, "b"), (3, None)]
        assert one.getMoreResults() is False
    assert run(connection, "DROP TABLE made;")[0] is False
    assert run(connection, "DROP DATABASE jdbc CASCADE")[0] is False
    assert ("jdbc",) not in ask(connection, "SHOW DATABASES")


def test_statements_about_partitions_and_the_catalog(connection):
    assert ask(connection, "SHOW PARTITIONS shop.sales") == [("ds=2015-01-01",), ("ds=2015-01-02",)]
    assert ask(connection, "SHOW PARTITIONS shop.sales WHERE ds > '2015-01-01'") == [("ds=2015-01-02",)]
    assert ask(connection, "SELECT id, amount, ds FROM shop.sales WHERE ds = '2015-01-02'")[0][::2] == (3, "2015-01-02")
    described = ask(connection, "DESCRIBE shop.sales")
    assert described[:3] == [("id", "int", "of the sale"), ("amount", "decimal(10,2)", None), ("ds", "string", None)]
    assert ("# Partition Information", "", "") in described
    assert ask(connection, "SELECT * FROM shop.empty") == []


def test_errors_are_one_line_with_their_sqlstate(connection):
    division = throws(ask, connection, "SELECT 1 / 0")
    assert (division.state, "[DIVIDE_BY_ZERO]" in division.message) == ("22012", True)
    syntax = throws(ask, connection, "SELEC 1")
    assert (syntax.state, "[PARSE_SYNTAX_ERROR]" in syntax.message) == ("42601", True)
    missing = throws(ask, connection, "SELECT * FROM shop.missing")
    assert (missing.state, missing.code) == ("42S02", 10001)
    assert "Table not found shop.missing" in missing.message
    column = throws(ask, connection, "SELECT nothing FROM shop.sales")
    assert (column.state, "nothing" in column.message) == ("42703", True)
    for error in (division, syntax, missing, column):
        assert len(error.message.splitlines()) == 1
        assert not any(word in error.message for word in ("\tat ", ".scala", ".java:", "Error running query"))
    assert ask(connection, "SELECT 'goes on'") == [("goes on",)]


@pytest.mark.parametrize("text", ["", "  ", "-- nothing", "/* nothing */", "SELECT 1; SELECT 2"])
def test_what_is_no_statement(connection, text):
    assert throws(ask, connection, text).state is not None


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("SELECT 1;", (1,)),
        ("  SELECT /* why */ 'a;b' -- because\n", ("a;b",)),
        ("SELECT 'it\\'s', '!=', \"?\", '%'", ("it's", "!=", "?", "%")),
        ("SELECT 1 != 2, 'Ж' <> 'ж'", (True, True)),
        ("WITH a AS (SELECT '日本' AS b) SELECT b FROM a", ("日本",)),
    ],
)
def test_odd_texts(connection, text, row):
    assert ask(connection, text) == [row]


@pytest.mark.every_driver
def test_prepared_statements(connection):
    prepared = connection.prepareStatement("SELECT ?, ?, ?, ?, CAST(? AS DATE)")
    prepared.setInt(1, 7)
    prepared.setString(2, "it's")
    prepared.setDouble(3, 1.5)
    prepared.setBoolean(4, True)
    prepared.setString(5, "2024-02-29")
    (row,) = rows(prepared.executeQuery())
    assert row[:2] == (7, "it's")
    assert (float(row[2]), row[3:]) == (1.5, (True, "Date: 2024-02-29"))
    prepared.close()
    selected = connection.prepareStatement("SELECT id FROM shop.sales WHERE ds = ? ORDER BY id")
    for day, ids in (("2015-01-01", [(1,), (2,)]), ("2015-01-02", [(3,)]), ("2015-01-03", [])):
        selected.setString(1, day)
        assert rows(selected.executeQuery()) == ids
    selected.close()


def test_pages_of_rows(connection):
    text = "SELECT id FROM range(0, 2500, 1, 1) ORDER BY id"
    for size in (1, 7, 1000, 5000):
        with statement(connection) as one:
            one.setFetchSize(max(size, 500) if size == 1 else size)
            assert [row[0] for row in rows(one.executeQuery(text))] == list(range(2500))
    with statement(connection) as one:
        one.setMaxRows(10)
        assert [row[0] for row in rows(one.executeQuery(text))] == list(range(10))


@pytest.mark.every_driver
def test_rows_are_read_again(asking, connection):
    kinds = asking.driver.jvm.java.sql.ResultSet
    one = connection.createStatement(kinds.TYPE_SCROLL_INSENSITIVE, kinds.CONCUR_READ_ONLY)
    one.setFetchSize(3)
    result = one.executeQuery("SELECT id FROM range(0, 8, 1, 1) ORDER BY id")
    assert [row[0] for row in rows(result)] == list(range(8))
    result.beforeFirst()
    assert [row[0] for row in rows(result)] == list(range(8))
    one.close()


def test_two_statements_are_open_at_once(connection):
    with statement(connection) as one, statement(connection) as other:
        one.setFetchSize(2)
        other.setFetchSize(3)
        first = one.executeQuery("SELECT id FROM range(0, 7, 1, 1) ORDER BY id")
        second = other.executeQuery("SELECT id + 100 FROM range(0, 7, 1, 1) ORDER BY id")
        both = []
        while first.next() and second.next():
            both.append((first.getLong(1), second.getLong(1)))
        assert both == [(at, at + 100) for at in range(7)]


def test_a_statement_that_takes_too_long(connection):
    with statement(connection) as one:
        one.setQueryTimeout(1)
        error = throws(one.executeQuery, SLOW)
        assert error.kind == "SQLTimeoutException"
        one.setQueryTimeout(0)
        assert rows(one.executeQuery("SELECT 1")) == [(1,)]


@pytest.mark.every_driver
def test_cancelling_from_another_thread(connection, place):
    with statement(connection) as one:
        ended = []

        def wait():
            try:
                one.executeQuery(SLOW)
            except Py4JJavaError as error:
                ended.append(error_of(error))

        thread = threading.Thread(target=wait)
        thread.start()
        with hbstore.client.connect(place.serve.ready["http"]) as server:
            until(lambda: server.queries(limit=1)[0].state in ("queued", "running"))
        idle(0.5)  # the driver gets the reply that says so
        one.cancel()
        thread.join(SECONDS)
        (error,) = ended
        assert (error.kind, error.state) == ("SQLException", "01000")
        assert "cancelled" in error.message.lower()
    assert ask(connection, "SELECT 1") == [(1,)]


def test_the_current_database(connection):
    assert connection.getSchema() == "default"
    connection.setSchema("shop")
    assert connection.getSchema() == "shop"
    assert ask(connection, "SELECT count(*) FROM sales") == [(3,)]
    run(connection, "USE default")
    assert connection.getSchema() == "default"
    assert throws(connection.setSchema, "nowhere").state is not None
    assert connection.getSchema() == "default"


def test_a_session_keeps_what_statements_left(asking, connection):
    assert ask(connection, "SET spark.sql.shuffle.partitions = 3")[0][:2] == ("spark.sql.shuffle.partitions", "3")
    assert ask(connection, "SET spark.sql.shuffle.partitions") == [("spark.sql.shuffle.partitions", "3")]
    run(connection, "CREATE OR REPLACE TEMPORARY VIEW kept AS SELECT 5 AS five")
    assert ask(connection, "SELECT five FROM kept") == [(5,)]
    other = asking.driver.connect(asking.url)
    try:
        assert ask(other, "SET spark.sql.shuffle.partitions") == [("spark.sql.shuffle.partitions", "2")]
        assert throws(ask, other, "SELECT five FROM kept").state == "42S02"
    finally:
        other.close()
    run(connection, "DROP VIEW kept")
    run(connection, "RESET spark.sql.shuffle.partitions")


def test_what_a_url_says(asking):
    url = asking.url.replace("/default", "/shop")
    made = asking.driver.connect(f"{url}?spark.sql.shuffle.partitions=5#day=2015-01-02;id=3")
    try:
        assert made.getSchema() == "shop"
        assert ask(made, "SET spark.sql.shuffle.partitions") == [("spark.sql.shuffle.partitions", "5")]
        assert ask(made, "SELECT id FROM sales WHERE ds = '${day}' AND id = ${hivevar:id}") == [(3,)]
    finally:
        made.close()
    nowhere = throws(asking.driver.connect, asking.url.replace("/default", "/nowhere"))
    assert "nowhere" in nowhere.message


@pytest.mark.every_driver
def test_validity_and_closing(asking):
    made = asking.driver.connect(asking.url)
    assert made.isValid(5)
    one = made.createStatement()
    one.executeQuery("SELECT 1")
    one.close()
    assert one.isClosed()
    made.close()
    assert made.isClosed()
    assert throws(made.createStatement).message


def test_a_result_is_left_unread(connection):
    with statement(connection) as one:
        for at in range(3):
            result = one.executeQuery(f"SELECT id + {at} FROM range(0, 1000, 1, 1) ORDER BY id")
            assert result.next()
            assert result.getLong(1) == at


@pytest.mark.every_driver
def test_counts_of_changed_rows(asking, connection):
    run(connection, "CREATE TABLE IF NOT EXISTS shop.counted (id INT) STORED AS PARQUET")
    try:
        has_rows, count = run(connection, "INSERT INTO shop.counted VALUES (1), (2)")
        assert has_rows is False
        assert count in (COUNTS[asking.release](2), COUNTS[asking.release](0))
    finally:
        run(connection, "DROP TABLE shop.counted")
