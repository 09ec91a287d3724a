"""PyHive's DB-API."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from pyhive import exc, hive
from TCLIService.ttypes import TOperationState

from tests.hiveserver2.clients.conftest import CUBE_QUERY
from tests.pauses import until

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SLOW = "SELECT count(*) FROM range(0, 1000000000000, 1, 4) AS a WHERE id % 7 = 3"
AUTH = ("NONE", "NOSASL")
FINAL = {TOperationState.FINISHED_STATE, TOperationState.CANCELED_STATE, TOperationState.ERROR_STATE}


@pytest.fixture(params=AUTH)
def cursor(request, place):
    """A cursor of a connection to the database shop."""
    connection = hive.connect(
        host="127.0.0.1",
        port=place.port,
        auth=request.param,
        username="ann",
        database="shop",
        configuration={"spark.sql.shuffle.partitions": "2"},
    )
    yield connection.cursor()
    connection.close()


def fetched(cursor, text, *parameters):
    """All rows of a statement."""
    cursor.execute(text, *parameters)
    return cursor.fetchall()


def test_values_of_each_type(cursor):
    rows = fetched(
        cursor,
        "SELECT true AS a, 1Y, 2S, 3, 4L, float(0.1), 2.5D, 1.20, 'ü', X'6162', DATE '2024-02-29',"
        " TIMESTAMP '2024-01-01 00:00:00.12', array(1, 2), map('k', 1), named_struct('a', 1), NULL",
    )
    assert rows == [
        (
            *(True, 1, 2, 3, 4, 0.1, 2.5, Decimal("1.20"), "ü", b"ab", "2024-02-29"),
            *(dt.datetime(2024, 1, 1, 0, 0, 0, 120000), "[1,2]", '{"k":1}', '{"a":1}', None),  # noqa: DTZ001
        )
    ]
    assert cursor.description[0][:2] == ("a", "BOOLEAN_TYPE")
    assert [column[1] for column in cursor.description][5:8] == ["FLOAT_TYPE", "DOUBLE_TYPE", "DECIMAL_TYPE"]


def test_statements(cursor):
    assert fetched(cursor, "SELECT id FROM sales WHERE ds = %s ORDER BY id", ("2015-01-01",)) == [(1,), (2,)]
    assert fetched(cursor, "SELECT %(a)s, %(b)s", {"a": "it's", "b": 1}) == [("it's", 1)]
    assert fetched(cursor, CUBE_QUERY) == [("a", 1), ("b", 2)]
    assert fetched(cursor, "SELECT * FROM empty") == []
    cursor.execute("CREATE TABLE IF NOT EXISTS of_pyhive (id INT) STORED AS PARQUET")
    assert cursor.description is None
    with pytest.raises(exc.ProgrammingError, match="No result set"):
        cursor.fetchall()
    cursor.execute("INSERT INTO of_pyhive VALUES (1)")
    assert fetched(cursor, "SELECT * FROM of_pyhive") == [(1,)]
    cursor.execute("DROP TABLE of_pyhive")
    assert fetched(cursor, "SELECT id FROM range(0, 3500, 1, 1) ORDER BY id")[-1] == (3499,)
    cursor.execute("SELECT id FROM range(0, 10, 1, 1) ORDER BY id")
    assert (cursor.fetchone(), cursor.fetchmany(2), len(cursor.fetchall())) == ((0,), [(1,), (2,)], 7)


def test_errors(cursor):
    with pytest.raises(exc.OperationalError, match="DIVIDE_BY_ZERO") as raised:
        cursor.execute("SELECT 1 / 0")
    assert raised.value.args[0].status.sqlState == "22012"
    with pytest.raises(exc.OperationalError, match="PARSE_SYNTAX_ERROR"):
        cursor.execute("SELEC 1")
    assert fetched(cursor, "SELECT 'goes on'") == [("goes on",)]


def test_waiting_without_blocking(cursor):
    cursor.execute("SELECT count(*) FROM range(0, 1000000)", async_=True)
    until(lambda: cursor.poll().operationState in FINAL)
    assert cursor.poll().operationState == TOperationState.FINISHED_STATE
    assert cursor.fetchall() == [(1000000,)]
    logs = cursor.fetch_logs()
    assert all(isinstance(line, str) for line in logs)


@pytest.mark.every_driver
def test_cancelling(cursor):
    cursor.execute(SLOW, async_=True)
    assert cursor.poll().operationState not in FINAL
    cursor.cancel()
    until(lambda: cursor.poll().operationState in FINAL)
    assert cursor.poll().operationState == TOperationState.CANCELED_STATE
    assert fetched(cursor, "SELECT 1") == [(1,)]


def test_a_missing_database(place):
    with pytest.raises(exc.OperationalError, match="nowhere"):
        hive.connect(host="127.0.0.1", port=place.port, username="ann", database="nowhere")
