"""What goes wrong between here and HBase, and the hbstore errors that it becomes: the one place for both."""

from __future__ import annotations

import re
import socket
from typing import Final

from thriftpy2.protocol.exc import TProtocolException
from thriftpy2.thrift import TApplicationException, TException
from thriftpy2.transport import TTransportException

from hbstore.errors import CommitStateUnknown, HbstoreError, StoreUnavailable
from hbstore.rows.hbase.idl import AlreadyExists, HBaseIOError, IllegalArgument
from hbstore.rows.hbase.url import HBaseAddress

try:
    from thriftpy2.protocol.cybin import ProtocolError  # type: ignore[attr-defined]
except ImportError:  # the protocol in pure Python has no such class
    ProtocolError = TProtocolException


class NoFreeConnection(OSError):
    """All connections of the pool were in use for the whole timeout."""


class Closed(OSError):
    """The rows were closed."""


DECLARED: Final = (HBaseIOError, IllegalArgument, AlreadyExists)
"""Errors that the gateway reports in good order: the connection can be used again."""

FAILURES: Final = (OSError, TException, ProtocolError, EOFError, RecursionError)
"""Everything that can come out of a request. After those that are not `DECLARED` the connection is of no use."""

_REFUSED: Final = re.compile(
    r"TableNotFoundException|TableNotEnabledException|NoSuchColumnFamilyException|IllegalArgumentException"
    r"|KeyValue size too large|Cell with size|AccessDeniedException|IllegalArgument\b"
)
_UNKNOWN_SCANNER: Final = "scanner ID is invalid"
_MAX_REASON: Final = 300


def refused(failure: BaseException) -> bool:
    """Whether HBase said no for good: nothing was changed, and asking again would not help."""
    if isinstance(failure, IllegalArgument):
        return _UNKNOWN_SCANNER not in reason(failure)
    if isinstance(failure, Closed):
        return True
    return isinstance(failure, HBaseIOError) and _REFUSED.search(reason(failure)) is not None


def reason(failure: BaseException) -> str:
    """What the failure says, in one line without Java's stack trace."""
    message = getattr(failure, "message", None)
    if message is None:
        message = str(failure) or type(failure).__name__
    text = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    line = lines[0] if lines else type(failure).__name__
    return line if len(line) <= _MAX_REASON else line[:_MAX_REASON] + " …"


def to_error(failure: BaseException, address: HBaseAddress, *, doubt: bool) -> HbstoreError:
    """The error to raise instead of a failure.

    Args:
        failure: what came out of the last attempt.
        address: whose host and port the user reads in the error.
        doubt: whether something may have been changed.
    """
    text, hint = _words(failure)
    fields = {"host": address.host, "port": address.port, "reason": reason(failure)}
    if isinstance(failure, TimeoutError):
        fields["seconds"] = address.timeout
    if doubt:
        return CommitStateUnknown(f"{text} while a change was under way", hint=hint, **fields)
    return StoreUnavailable(text, hint=hint, **fields)


_SERVER: Final = "Check that HBase itself runs behind the gateway; its log says more"
_PROTOCOL: Final = (
    "The server must be HBase's Thrift 1 gateway (`hbase thrift start`), with buffered transport and binary protocol"
)
_WORDS: Final[tuple[tuple[type[BaseException], str, str], ...]] = (
    (Closed, "the store was closed", "Connect again"),
    (
        NoFreeConnection,
        "no connection to HBase became free in time",
        "Allow more connections: ?pool=16 in the store URL",
    ),
    (
        socket.gaierror,
        "the host name of HBase's Thrift gateway cannot be resolved",
        "Correct the host in the store URL",
    ),
    (
        TimeoutError,
        "HBase did not answer in time",
        "Check that HBase itself runs behind the gateway, or wait longer with ?timeout=60 in the store URL",
    ),
    (
        ConnectionRefusedError,
        "nothing listens at the address of HBase's Thrift gateway",
        "Start it (`hbase thrift start`; `make hbase-up` in a checkout), or correct the host and port in the store URL",
    ),
    (
        TApplicationException,
        "HBase's Thrift gateway could not process a request",
        f"The gateway's log says more. {_PROTOCOL}",
    ),
    (HBaseIOError, "HBase could not answer a request", _SERVER),
    (IllegalArgument, "HBase refused a request", _SERVER),
    (OSError, "the connection to HBase's Thrift gateway broke", _PROTOCOL),
    (TTransportException, "the connection to HBase's Thrift gateway broke", _PROTOCOL),
    (BaseException, "the server at this address does not speak HBase's Thrift protocol", _PROTOCOL),
)
"""Text and hint of each kind of failure; the first that fits counts."""


def _words(failure: BaseException) -> tuple[str, str]:
    if isinstance(failure, HBaseIOError) and refused(failure):
        return (
            "HBase refused a request",
            "Check whether this store's tables were dropped, disabled or created by another program",
        )
    return next((text, hint) for kind, text, hint in _WORDS if isinstance(failure, kind))
