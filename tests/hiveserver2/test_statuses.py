"""What drivers show of an error: one line, an SQLSTATE, and Hive's words for a missing table."""

from __future__ import annotations

import re

import pytest

from hbstore import errors
from hbstore.hiveserver2.protocol import StatusCode
from hbstore.hiveserver2.statuses import GENERAL, status_of
from hbstore.query_service.query import QueryProblem

MISSING = {"class": "TABLE_OR_VIEW_NOT_FOUND", "sqlstate": "42P01", "line": "1", "column": "15"}


def of_spark(text, **fields):
    return QueryProblem(error="QueryFailed", text=text, fields=fields)


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (errors.FilterSyntaxError, "42601"),
        (errors.DdlSyntaxError, "42601"),
        (errors.CubeSyntaxError, "42601"),
        (errors.TimeRangeSyntaxError, "42601"),
        (errors.DatabaseNotFound, "3F000"),
        (errors.DatabaseNotEmpty, "42000"),
        (errors.AccessRefused, "28000"),
        (errors.QueryTimedOut, "HYT00"),
        (errors.QueryCancelled, "01000"),
        (errors.SessionNotFound, "08003"),
        (errors.SessionLost, "08003"),
        (errors.OperationNotFound, GENERAL),
        (errors.UnsupportedCall, "0A000"),
        (errors.StoreUnavailable, GENERAL),
        (errors.QueryFailed, GENERAL),
    ],
)
def test_errors_have_states(error, state):
    for told in (error("what is wrong"), QueryProblem.of(error("what is wrong"))):
        status = status_of(told)
        assert (status.statusCode, status.sqlState) == (StatusCode.ERROR, state)
        assert status.errorMessage == f"[{error.__name__}] what is wrong"
        assert (status.errorCode, status.infoMessages) == (None, None)


def test_every_error_can_be_told():
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.HbstoreError) and kind is not errors.Uncoverable:
            assert re.fullmatch(r"[0-9A-Z]{5}", status_of(kind("text")).sqlState)


def test_the_message_is_one_line_with_place_and_hint():
    error = errors.CubeSyntaxError(
        "the query\n  does not parse", highlight="select )\n       ^", line=1, column=8, found=")", hint="Close it"
    )
    status = status_of(error)
    assert status.errorMessage == "[CubeSyntaxError] the query does not parse: found=) (line 1, column 8). Close it"


def test_sparks_words_and_state_are_kept():
    status = status_of(
        of_spark("[DIVIDE_BY_ZERO] Division by zero.", **{"class": "DIVIDE_BY_ZERO", "sqlstate": "22012"})
    )
    assert (status.sqlState, status.errorMessage) == ("22012", "[DIVIDE_BY_ZERO] Division by zero.")
    placed = of_spark("[PARSE_SYNTAX_ERROR] Syntax error.", sqlstate="42601", line="2", column="5")
    assert status_of(placed).errorMessage == "[PARSE_SYNTAX_ERROR] Syntax error (line 2, column 5)"


def test_a_state_that_an_error_names_is_taken():
    assert status_of(errors.InvalidInput("the statement is empty", sqlstate="42617")).sqlState == "42617"


@pytest.mark.parametrize(
    ("text", "statement", "name"),
    [
        ("[TABLE_OR_VIEW_NOT_FOUND] The table or view `k2`.`gone` cannot be found.", "describe k2.gone", "k2.gone"),
        (
            "[TABLE_OR_VIEW_NOT_FOUND] The table `spark_catalog`.`k2`.`gone` cannot be",
            "DESCRIBE `k2`.`gone`",
            "k2.gone",
        ),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table `spark_catalog`.`k2`.`gone` cannot be", "DESCRIBE gone", "gone"),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table `spark_catalog`.`k2`.`gone` cannot be", "SELECT * FROM seen", "k2.gone"),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table `k2`.`Gone` cannot be", "", "k2.Gone"),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table `a``b` cannot be", "describe `a``b`", "a`b"),
    ],
)
def test_a_missing_table_is_told_as_hive_tells_it(text, statement, name):
    status = status_of(of_spark(text, **MISSING), statement)
    assert (status.sqlState, status.errorCode) == ("42S02", 10001)
    assert status.errorMessage.startswith(
        f"SemanticException [Error 10001]: Table not found {name}. {text.rstrip('.')}"
    )


def test_sqlalchemy_sees_by_the_message_that_a_table_is_missing():
    error = errors.TableNotFound("the table does not exist", table="shop.sales", hint="List the tables")
    for statement, name in (("DESCRIBE shop.sales", "shop.sales"), ("DESCRIBE sales", "sales")):
        message = status_of(error, statement).errorMessage
        assert re.search(f"SemanticException.*Table not found {re.escape(name)}", message)
    assert message.endswith("[TableNotFound] the table does not exist: table=shop.sales. List the tables")
