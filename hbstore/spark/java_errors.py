"""What errors of Java say, without the places in Java where they came by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from hbstore.errors import FileOperationFailed

JAVA_ERRORS: Final = (PySparkException, Py4JError)
"""As which errors of Java come: those that PySpark knows, and all others."""

_HINT: Final = "Check that the file system is available, and that Spark has the packages and settings to use it"
_CAUSE: Final = "Caused by: "
_LONGEST: Final = 500


def root_cause(error: Exception) -> str:
    r"""What went wrong at the bottom of a chain of Java's exceptions, on one line.

    An exception that says what the one below it says, and more, stands for both.

    >>> root_cause(PySparkException("job aborted\nCaused by: A: cannot run b: not found\nCaused by: A: not found"))
    'A: cannot run b: not found'
    """
    text = str(error).strip()
    causes = [line for line in text.splitlines() if line.startswith(_CAUSE)]
    while causes[1:] and (said := _said(causes[-1])) and causes[-2].endswith(said):
        causes.pop()
    if causes:
        text = causes[-1].removeprefix(_CAUSE)
    elif isinstance(error, Py4JJavaError):  # whose text begins with which call it was
        text = str(error.java_exception.toString())
    return text.partition("\n")[0][:_LONGEST]


def _said(cause: str) -> str:
    """What a line says behind the exception's class."""
    return cause.removeprefix(_CAUSE).partition(": ")[2]


@contextmanager
def files_fail(text: str, location: str) -> Iterator[None]:
    """Errors of Hadoop's file systems as FileOperationFailed.

    Args:
        text: what cannot be done.
        location: with which file.
    """
    try:
        yield
    except JAVA_ERRORS as error:
        raise FileOperationFailed(text, location=location, reason=root_cause(error), hint=_HINT) from error
