"""What the text of a statement tells before it runs."""

from __future__ import annotations

import pytest

from hbstore.hiveserver2.statement_kinds import has_rows, hive_shape
from hbstore.query_service.query import ResultColumn


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "  -- what\n/* and\nwhy */ select 1",
        "((SELECT 1) UNION (SELECT 2))",
        "VALUES (1)",
        "TABLE shop.sales",
        "SHOW TABLES",
        "DESC t",
        "EXPLAIN INSERT INTO t SELECT 1",
        "CUBE SELECT fare FROM rides",
        "SET k = v",
        "WITH a AS (SELECT 'insert into b') SELECT * FROM a",
        "FROM t SELECT * -- insert into u",
        "from t select `insert into`",
    ],
)
def test_statements_with_rows(text):
    assert has_rows(text)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t AS SELECT 1",
        "DROP TABLE t",
        "USE shop",
        "INSERT INTO t VALUES (1)",
        "WITH a AS (SELECT 1) INSERT OVERWRITE TABLE t SELECT * FROM a",
        "FROM t INSERT INTO u SELECT *",
        "ALTER TABLE t ADD PARTITION (ds = 1)",
        "",
        "'select'",
    ],
)
def test_statements_without_rows(text):
    assert not has_rows(text)


def columns(*names):
    return tuple(ResultColumn(name=name, type="string") for name in names)


@pytest.mark.parametrize("text", ["SHOW TABLES", "show tables in shop like 's*'", "/* s */ Show Views"])
def test_tables_are_shown_as_hive_does(text):
    shown = columns("namespace", "viewName" if "iews" in text else "tableName", "isTemporary")
    assert hive_shape(text, shown) == (columns("tab_name"), (1,))


@pytest.mark.parametrize("text", ["SELECT namespace, tableName, isTemporary FROM t", "SHOW TABLE EXTENDED LIKE 's'"])
def test_other_results_are_as_they_are(text):
    shown = columns("namespace", "tableName", "isTemporary")
    assert hive_shape(text, shown) == (shown, (0, 1, 2))
