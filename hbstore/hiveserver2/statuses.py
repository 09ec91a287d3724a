"""How an error is told to a driver: a TStatus, of which people see the message as it is.

The message is one line: the class in brackets, as Spark has it, what went wrong, where in the statement, and what to
do about it.

>>> from hbstore.errors import CubeSyntaxError
>>> status = status_of(CubeSyntaxError("the query does not parse", line=1, column=8, found=")", hint="Close the list"))
>>> status.sqlState, status.errorMessage
('42601', '[CubeSyntaxError] the query does not parse: found=) (line 1, column 8). Close the list')
"""

from __future__ import annotations

import re
from typing import Any, Final

from hbstore.errors import (
    AccessRefused,
    AlreadyExists,
    AmbiguousField,
    ConstraintNotFound,
    CubeSyntaxError,
    DatabaseNotEmpty,
    DatabaseNotFound,
    DdlRefused,
    DdlSyntaxError,
    FilterSyntaxError,
    FilterTypeError,
    FunctionNotFound,
    HbstoreError,
    NeedsSpark,
    QueryCancelled,
    QueryNotFinished,
    QueryTimedOut,
    RequestRefused,
    SessionLost,
    SessionNotFound,
    TableNotFound,
    UnknownColumnError,
    UnknownField,
    UnsupportedCall,
    UnsupportedQuery,
)
from hbstore.hiveserver2.protocol import THRIFT, StatusCode
from hbstore.query_service.query import QueryProblem

SUCCESS: Final = THRIFT.TStatus(statusCode=StatusCode.SUCCESS)
"""The status of a call that went well."""

GENERAL: Final = "HY000"
"""The SQLSTATE of what has none of its own."""

_NO_TABLE: Final = "42S02"
_NO_TABLE_CODE: Final = 10001
_NO_TABLE_CLASS: Final = "TABLE_OR_VIEW_NOT_FOUND"
_STATES: Final[tuple[tuple[type[HbstoreError], str], ...]] = (
    (FilterSyntaxError, "42601"),
    (DdlSyntaxError, "42601"),
    (CubeSyntaxError, "42601"),
    (TableNotFound, _NO_TABLE),
    (AlreadyExists, "42S01"),
    (UnknownColumnError, "42S22"),
    (UnknownField, "42S22"),
    (AmbiguousField, "42702"),
    (FilterTypeError, "42804"),
    (FunctionNotFound, "42883"),
    (ConstraintNotFound, "42704"),
    (DatabaseNotFound, "3F000"),
    (DatabaseNotEmpty, "42000"),
    (DdlRefused, "42000"),
    (AccessRefused, "28000"),
    (RequestRefused, "28000"),
    (QueryTimedOut, "HYT00"),
    (QueryNotFinished, "HY010"),
    (QueryCancelled, "01000"),
    (SessionNotFound, "08003"),
    (SessionLost, "08003"),
    (NeedsSpark, "0A000"),
    (UnsupportedQuery, "0A000"),
    (UnsupportedCall, "0A000"),
)
"""The SQLSTATEs of errors, the first that fits."""

_APART: Final = frozenset({"class", "sqlstate", "line", "column"})
"""Fields that are not told as fields."""

_LINES: Final = re.compile(r"\s*[\r\n]+\s*")
_QUOTED: Final = re.compile(r"`(?:[^`]|``)+`(?:\.`(?:[^`]|``)+`)*")
_NAME: Final = re.compile(r"`((?:[^`]|``)+)`")
_SPARKS_CATALOG: Final = "spark_catalog"


def status_of(error: HbstoreError | QueryProblem, statement: str = "") -> Any:
    """The TStatus that tells an error.

    A missing table is told in Hive's words, too: ``SemanticException [Error 10001]: Table not found db.name``, by
    which SQLAlchemy sees that it is missing. There the name stands as the statement writes it.

    Args:
        error: what went wrong.
        statement: the text that was asked, if there was one.
    """
    problem = error if isinstance(error, QueryProblem) else QueryProblem.of(error)
    message = _message(problem)
    missing = _missing_table(problem, statement)
    if missing is not None:
        message = f"SemanticException [Error {_NO_TABLE_CODE}]: Table not found {missing}. {message}"
    return THRIFT.TStatus(
        statusCode=StatusCode.ERROR,
        sqlState=_state(problem, missing),
        errorCode=None if missing is None else _NO_TABLE_CODE,
        errorMessage=_LINES.sub(" ", message),
    )


def _message(problem: QueryProblem) -> str:
    text = problem.text.strip()
    if not text.startswith("["):  # as messages of Spark do
        text = f"[{problem.fields.get('class', problem.error)}] {text}"
    fields = ", ".join(f"{name}={value}" for name, value in problem.fields.items() if name not in _APART)
    if fields:
        text = f"{text.rstrip('.')}: {fields}"
    line, column = problem.fields.get("line"), problem.fields.get("column")
    if line is not None and column is not None:
        text = f"{text.rstrip('.')} (line {line}, column {column})"
    return f"{text.rstrip('.')}. {problem.hint}" if problem.hint else text


def _state(problem: QueryProblem, missing: str | None) -> str:
    if missing is not None:
        return _NO_TABLE
    state: str | None = problem.fields.get("sqlstate")
    if state:
        return state
    error = problem.as_error()
    return next((state for kind, state in _STATES if isinstance(error, kind)), GENERAL)


def _missing_table(problem: QueryProblem, statement: str) -> str | None:
    """The name of the table that is missing; None if that is not what is wrong."""
    if isinstance(problem.as_error(), TableNotFound):
        parts = problem.fields.get("table", "").split(".")
    elif problem.fields.get("class", "").startswith(_NO_TABLE_CLASS):
        quoted = _QUOTED.search(problem.text)
        parts = [] if quoted is None else [one.replace("``", "`") for one in _NAME.findall(quoted[0])]
    else:
        return None
    if parts[:1] == [_SPARKS_CATALOG]:
        parts = parts[1:]
    written = statement.replace("`", "").lower()
    names = [".".join(parts[at:]) for at in range(len(parts))]
    return next((name for name in names if name.lower() in written), ".".join(parts))
