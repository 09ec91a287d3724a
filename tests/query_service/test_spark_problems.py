"""Errors of statements as documents, as far as that needs no Spark; `test_statements` has those of Spark's."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkValueError

from hbstore.errors import TableNotFound
from hbstore.query_service.query import QueryProblem
from hbstore.query_service.spark_problems import brief, problem_of


def test_errors_of_hbstore_are_as_they_are():
    error = TableNotFound("the table does not exist", table="shop.sales", hint="List them")
    assert problem_of(error, "select 1") == QueryProblem.of(error)


def test_other_errors_are_logged_and_named(caplog):
    found = problem_of(KeyError("c0"), "select 1")
    assert (found.error, found.fields) == ("QueryFailed", {"reason": "KeyError('c0')"})
    assert [record.exc_info[0] for record in caplog.records] == [KeyError]


def test_errors_of_pyspark_itself():
    error = PySparkValueError(errorClass="CANNOT_BE_NONE", messageParameters={"arg_name": "x"})
    found = problem_of(error, "select 1")
    assert found.error == "QueryFailed"
    assert found.fields == {"class": "CANNOT_BE_NONE"}
    assert found.text == "[CANNOT_BE_NONE] Argument `x` cannot be None."


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("\n[A] one\ntwo. SQLSTATE: 42P01", "[A] one two."),
        ("[A] wrong: SQLSTATE: of what. SQLSTATE: XX000 ", "[A] wrong: SQLSTATE: of what."),
        ("[A] wrong:\nFilter (a = 1)\n:- Project\n+- Range", "[A] wrong:"),
        ("[A] a\n+ b", "[A] a + b"),
        ("x" * 5000, "x" * 2000),
    ],
)
def test_messages_are_brief(message, expected):
    assert brief(message) == expected
