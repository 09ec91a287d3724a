"""Which of a method's declared exceptions an error becomes: clients act on its type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hbstore.errors import (
    AlreadyExists,
    ConstraintNotFound,
    DatabaseNotEmpty,
    DatabaseNotFound,
    FunctionNotFound,
    HbstoreError,
    InvalidInput,
    InvalidName,
    InvalidPartitionValue,
    InvalidTime,
    InvalidType,
    NoSuchLock,
    NoSuchTxn,
    PartitionNotFound,
    TableNotFound,
    TableNotPartitioned,
    TimelineMismatch,
    TxnAborted,
    TxnOpen,
    UnknownTimelineClass,
    UnknownUpdatePeriod,
)
from hbstore.metastore.protocol import THRIFT
from hbstore.thrift.methods import Method
from hbstore.warehouse.refusals import words_for_hive

_INVALID: Final = ("InvalidObjectException", "InvalidOperationException", "InvalidInputException")
_MISSING: Final = ("NoSuchObjectException",)
_LAST: Final = ("MetaException",)
_NAMES: Final[Mapping[type[HbstoreError], tuple[str, ...]]] = {
    AlreadyExists: ("AlreadyExistsException", "InvalidOperationException", "InvalidObjectException"),
    DatabaseNotFound: (*_MISSING, "UnknownDBException", *_INVALID),
    TableNotFound: (*_MISSING, "UnknownTableException", *_INVALID),
    PartitionNotFound: (*_MISSING, "UnknownPartitionException", *_INVALID),
    DatabaseNotEmpty: ("InvalidOperationException",),
    InvalidName: (*_INVALID, *_MISSING),
    InvalidType: _INVALID,
    InvalidInput: _INVALID,
    InvalidPartitionValue: (*_INVALID, "InvalidPartitionException"),
    TableNotPartitioned: _INVALID,
    InvalidTime: (*_INVALID, "InvalidPartitionException"),
    TimelineMismatch: _INVALID,
    UnknownUpdatePeriod: _INVALID,
    UnknownTimelineClass: _INVALID,
    FunctionNotFound: _MISSING,
    ConstraintNotFound: _MISSING,
    NoSuchLock: ("NoSuchLockException",),
    NoSuchTxn: ("NoSuchTxnException",),
    TxnAborted: ("TxnAbortedException",),
    TxnOpen: ("TxnOpenException",),
}
"""For each error, the exceptions that tell it, best first; MetaException tells all others."""


def declared_error(error: Exception, method: Method) -> Exception:
    """The exception that tells an error: the best that the method declares, with the error's text.

    An exception of the IDL is handed on as it is. Where the method declares nothing that fits, MetaException comes
    back, and the caller answers with a TApplicationException instead.

    >>> from hbstore.metastore.protocol import METHODS
    >>> type(declared_error(TableNotFound("the table does not exist"), METHODS["get_table"])).__name__
    'NoSuchObjectException'
    """
    if not isinstance(error, HbstoreError):
        return error
    text = words_for_hive(error)
    names = next((names for kind, names in _NAMES.items() if isinstance(error, kind)), ())
    for name in (*names, *_LAST):
        exception: type[Exception] = getattr(THRIFT, name)
        if method.declares(exception):
            return exception(text)
    return THRIFT.MetaException(text)  # type: ignore[no-any-return]
