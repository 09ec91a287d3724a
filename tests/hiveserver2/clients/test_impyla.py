"""impyla's DB-API."""

from __future__ import annotations

import pytest
from impala import dbapi
from impala.error import OperationalError

from tests.hiveserver2.clients.conftest import CUBE_QUERY
from tests.pauses import until

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SLOW = "SELECT count(*) FROM range(0, 1000000000000, 1, 4) AS a WHERE id % 7 = 3"


@pytest.fixture(params=["PLAIN", "NOSASL", "http"])
def cursor(request, place):
    """A cursor of a connection to the database shop."""
    http = request.param == "http"
    how = {"use_http_transport": True, "http_path": "cliservice"} if http else {}
    connection = dbapi.connect(
        host="127.0.0.1", port=place.port, database="shop", user="ann", password="x",  # noqa: S106
        auth_mechanism="PLAIN" if http else request.param, **how,
    )  # fmt: skip
    made = connection.cursor()
    yield made
    made.close()
    connection.close()


def fetched(cursor, text):
    """All rows of a statement."""
    cursor.execute(text)
    return cursor.fetchall()


def test_statements(cursor):
    assert fetched(cursor, "SELECT id, ds FROM sales ORDER BY id") == [
        (1, "2015-01-01"),
        (2, "2015-01-01"),
        (3, "2015-01-02"),
    ]
    assert [column[:2] for column in cursor.description] == [("id", "INT"), ("ds", "STRING")]
    assert fetched(cursor, CUBE_QUERY) == [("a", 1), ("b", 2)]
    cursor.execute("CREATE TABLE IF NOT EXISTS of_impyla (id INT) STORED AS PARQUET")
    assert not cursor.has_result_set
    cursor.execute("INSERT INTO of_impyla VALUES (1), (NULL)")
    assert sorted(fetched(cursor, "SELECT * FROM of_impyla"), key=str) == [(1,), (None,)]
    cursor.execute("DROP TABLE of_impyla")
    assert fetched(cursor, "SELECT id FROM range(0, 25000, 1, 1) ORDER BY id")[-1] == (24999,)
    assert fetched(cursor, "SELECT * FROM empty") == []
    cursor.execute("SELECT * FROM sales WHERE id = :id", {"id": 3})
    assert len(cursor.fetchall()) == 1


@pytest.mark.every_driver
def test_errors(cursor):
    with pytest.raises(OperationalError, match="DIVIDE_BY_ZERO"):
        cursor.execute("SELECT 1 / 0")
    assert fetched(cursor, "SELECT 'goes on'") == [("goes on",)]


def test_settings_of_one_statement(cursor):
    cursor.execute("SET spark.sql.shuffle.partitions", configuration={"spark.sql.shuffle.partitions": "7"})
    assert cursor.fetchall()[0][1] == "7"


def test_cancelling(cursor):
    cursor.execute_async(SLOW)
    until(cursor.is_executing)
    cursor.cancel_operation()
    assert fetched(cursor, "SELECT 1") == [(1,)]


def test_the_catalog(cursor):
    cursor.get_databases()
    assert "shop" in [row[0] for row in cursor.fetchall()]
    cursor.get_tables(database_name="shop")
    assert {"sales", "empty", "seen", "rides"} <= {row[2] for row in cursor.fetchall()}
    columns = [("id", "INT"), ("amount", "DECIMAL"), ("ds", "STRING")]
    columns = [("id", "INT"), ("amount", "DECIMAL(10,2)"), ("ds", "STRING")]
    assert cursor.get_table_schema("sales", database_name="shop") == columns
