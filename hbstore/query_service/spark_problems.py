"""What went wrong with a statement, as users read it: what Spark says, without its plans and places in Java."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any, Final

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import CapturedException

from hbstore.errors import FileOperationFailed, HbstoreError, QueryFailed
from hbstore.query_service.query import QueryProblem
from hbstore.spark.java_errors import JAVA_ERRORS, root_cause
from hbstore.texts.places import highlight, place

_LOG: Final = logging.getLogger("hbstore.query_service")
_BUG: Final = "This is a bug in hbstore: please report it with the server's log"
_LOGGED: Final = "The server's log has Spark's messages"
_NO_ROOM: Final = re.compile("No space left on device|Disk quota exceeded")
_FREE: Final = "Free space on the disk of the results, and on that of Spark's temporary files; then ask again"
_LONGEST: Final = 2000
_STATE: Final = re.compile(r" ?\bSQLSTATE: \w+\s*$")
_PLACE: Final = re.compile(r"\(line (\d+), pos (\d+)\)")
_BREAK: Final = re.compile(r"\s*[\r\n]+\s*")
_TREE: Final = re.compile(r"[^\n]*\n[ :]*(?:\+-|:-) ")
"""A plan's first line, as far as its second, which says that it is a plan."""


def problem_of(error: Exception, text: str) -> QueryProblem:
    """An error of a statement as a document.

    Args:
        error: what was raised.
        text: the statement's, in which Spark says places.
    """
    if isinstance(error, HbstoreError):
        return QueryProblem.of(error)
    if not isinstance(error, JAVA_ERRORS):
        _LOG.error("a statement failed by an error of hbstore", exc_info=error)
        return QueryProblem.of(
            QueryFailed("the statement failed by an error of hbstore", reason=repr(error), hint=_BUG)
        )
    java = _java_of(error)
    full = _NO_ROOM.search("" if java is None else "\n".join(str(one.getMessage()) for one in _causes(java)))
    if full is not None:
        # Writers of Parquet leave files open where a write fails, which keep their room until Java closes them.
        SparkContext._jvm.System.gc()  # type: ignore[union-attr]  # noqa: SLF001
        return QueryProblem.of(
            FileOperationFailed("there is no room for the rows of the query", reason=full[0], hint=_FREE)
        )
    chain = [] if java is None else list(_causes(java))
    saying = [cause for cause in chain if _condition(cause) is not None]
    if not saying:
        return QueryProblem.of(_without_condition(error))
    deepest = saying[-1]
    utils: Any = SparkContext._jvm.PythonErrorUtils  # type: ignore[union-attr]  # noqa: SLF001
    fields = {"class": _condition(deepest), "sqlstate": utils.getSqlState(deepest)}
    if chain[-1] is not deepest:
        fields["reason"] = str(chain[-1].toString()).partition("\n")[0][:_LONGEST]
    failed = QueryFailed(
        brief(_message(utils, deepest)), hint=None, **{name: value for name, value in fields.items() if value}
    )
    offset = _offset(utils, deepest, text)
    shown = ""
    if offset is not None:
        failed.fields["line"], failed.fields["column"] = place(text, offset)
        shown = highlight(text, offset)
    return QueryProblem.of(failed).model_copy(update={"highlight": shown})


def brief(message: str) -> str:
    r"""A message of Spark's in one line, without its SQLSTATE, which is told apart, and without plans.

    >>> brief("[A_CLASS] What is wrong.\nWhat to do about it. SQLSTATE: 42601")
    '[A_CLASS] What is wrong. What to do about it.'
    >>> brief("[A_CLASS] What is wrong. SQLSTATE: 42601")
    '[A_CLASS] What is wrong.'
    >>> brief("[A_CLASS] What is wrong:\nProject [a]\n+- Range (0, 1)\n. SQLSTATE: 42601")
    '[A_CLASS] What is wrong:'
    """
    message = _STATE.sub("", message.strip())
    tree = _TREE.search(message)
    said = message if tree is None else message[: tree.start()]
    return _BREAK.sub(" ", said.strip())[:_LONGEST]


def _without_condition(error: Exception) -> QueryFailed:
    if isinstance(error, PySparkException) and not isinstance(error, CapturedException):
        return QueryFailed(brief(str(error)), hint=None, **{"class": error.getCondition() or type(error).__name__})
    return QueryFailed("Spark cannot run the statement", reason=brief(root_cause(error)), hint=_LOGGED)


def _java_of(error: Exception) -> Any:
    """The exception of Java that became an error of Python."""
    if isinstance(error, Py4JJavaError):
        return error.java_exception
    return getattr(error, "_origin", None)


def _causes(java: Any) -> Iterator[Any]:
    """An exception of Java, its cause, the cause of that, and so on."""
    while java is not None:
        yield java
        java = java.getCause()


def _condition(java: Any) -> str | None:
    """What Spark calls an error, such as ``DIVIDE_BY_ZERO``; None of errors that it has no name for."""
    if not is_instance_of(SparkContext._gateway, java, "org.apache.spark.SparkThrowable"):  # noqa: SLF001
        return None
    condition = SparkContext._jvm.PythonErrorUtils.getCondition(java)  # type: ignore[union-attr]  # noqa: SLF001
    return None if condition is None else str(condition)


def _message(utils: Any, java: Any) -> str:
    helper: Any = getattr(SparkContext._jvm, "org.apache.spark.SparkThrowableHelper")  # noqa: SLF001
    return str(helper.getMessage(utils.getCondition(java), utils.getMessageParameters(java)))


def _offset(utils: Any, java: Any, text: str) -> int | None:
    """Where in the statement the error is, if Spark says so and it is in the statement and not in a view."""
    for context in utils.getQueryContext(java):
        if context.contextType().toString() == "SQL" and not context.objectType():
            start, stop = context.startIndex(), context.stopIndex()
            if 0 <= start <= stop and _java_substring(text, start, stop + 1) == str(context.fragment()):
                return int(start)
    matched = _PLACE.search(str(java.getMessage()))
    if matched is None:
        return None
    line, position = int(matched[1]), int(matched[2])
    lines = text.split("\n")
    if line > len(lines) or position > len(lines[line - 1]):
        return None
    return sum(len(one) + 1 for one in lines[: line - 1]) + position


def _java_substring(text: str, start: int, stop: int) -> str:
    """What Java's ``substring`` gives, which counts characters beyond the first 65,536 twice.

    Spark means places as Python counts them; only the fragment that it shows is cut by these numbers.
    """
    return text.encode("utf-16-le")[2 * start : 2 * stop].decode("utf-16-le", "replace")
