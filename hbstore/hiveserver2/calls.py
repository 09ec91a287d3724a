"""Calls of drivers: what a handler is given, and how a message becomes a reply.

A handler answers one or more methods (`hbstore.hiveserver2.sql_port`). It is a function of a `DriverCall` that returns
the method's response struct. Its status is SUCCESS unless the handler sets one. What it raises becomes the status of
the response.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeAlias, TypeVar

from hbstore.errors import AccessRefused, HbstoreError
from hbstore.hiveserver2.protocol import METHODS, RESPONSES, THRIFT, ProtocolVersion, StatusCode, lacking
from hbstore.hiveserver2.quick_replies import QuickReplies
from hbstore.hiveserver2.statuses import GENERAL, SUCCESS, status_of
from hbstore.thrift.messages import Head, Refusal, read_head, refusal, reply_head
from hbstore.thrift.methods import Method

S = TypeVar("S")
_LOG: Final = logging.getLogger("hbstore.hiveserver2")
_UNREADABLE: Final = (ValueError, IndexError, TypeError, struct.error)
_NEEDED: Final[Mapping[str, Mapping[str, Any]]] = {
    "OpenSession": {"serverProtocolVersion": int(ProtocolVersion.V10)},
    "GetInfo": {"infoValue": THRIFT.TGetInfoValue(stringValue="")},
}
"""Fields that drivers want in a response of a method, also beside an error."""


@dataclass(slots=True)
class Client:
    """Who is at the other end.

    Attributes:
        address: host and port.
        user: the login of SASL or HTTP; None where the connection has none, so that OpenSession says who it is.
        password: of that login.
        logins: users and passwords by which its connection or its sessions were begun.
        held: whether its sessions end with its connection; over HTTP they do not.
        sessions: those that it opened and that end with its connection: what the owner of sessions puts there.
    """

    address: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    logins: set[tuple[str, str]] = field(default_factory=set, repr=False)
    held: bool = True
    sessions: set[Any] = field(default_factory=set)


@dataclass(slots=True)
class DriverCall(Generic[S]):
    """One call while it is answered.

    Attributes:
        service: what all calls share.
        client: who calls.
        method: what is called.
        request: the method's request struct. What tcliservice.thrift requires was sent; what else was not is None, or
            the default that stands there.
        kept_for: the operation until whose end the reply to the same call stays the same, if its owner has allowed that
            (`QuickReplies`); set by the handler. None: it is not kept.
    """

    service: S
    client: Client
    method: Method
    request: Any
    kept_for: Hashable | None = None


Handler: TypeAlias = Callable[[DriverCall[Any]], Any]


def _nothing(_: Client) -> None:
    """What happens when a client goes, where nobody wants to know."""


@dataclass(frozen=True, slots=True)
class DriverEndpoint(Generic[S]):
    """Answers messages.

    Attributes:
        service: what all calls share.
        handlers: by method.
        quick: answers a message before anything of it is decoded, if it can.
        on_closed: hears of each connection that is closed, to close the sessions that it held.
    """

    service: S
    handlers: Mapping[str, Handler]
    quick: QuickReplies = field(default_factory=QuickReplies)
    on_closed: Callable[[Client], object] = _nothing

    def answer(self, client: Client, message: bytes) -> bytes:
        """The whole reply to a whole message.

        Raises:
            ValueError, IndexError, struct.error: this is no message, so the connection is of no further use.
        """
        quick = self.quick(message)
        return self._answer(client, message, read_head(message)) if quick is None else quick

    def closed(self, client: Client) -> None:
        """A client's connection is closed."""
        try:
            self.on_closed(client)
        except Exception:  # noqa: BLE001  a bug: the server goes on
            _LOG.exception("the sessions of a connection could not be closed")

    def _answer(self, client: Client, message: bytes, head: Head) -> bytes:
        if not head.is_call:
            return refusal(head, Refusal.INVALID_MESSAGE_TYPE, "the message is not a call")
        method, handler = METHODS.get(head.name), self.handlers.get(head.name)
        if method is None or handler is None:
            return refusal(head, Refusal.UNKNOWN_METHOD, f"Invalid method name: '{head.name}'")
        try:
            request = method.arguments.read(message, head.body)[0].req
        except _UNREADABLE as error:
            return refusal(head, Refusal.PROTOCOL_ERROR, f"{head.name}: {error}")
        missing = "req" if request is None else lacking(request)
        if missing is not None:
            return refusal(head, Refusal.PROTOCOL_ERROR, f"{head.name}: no {missing} was sent")
        call = DriverCall(self.service, client, method, request)
        response = self._handled(head, handler, call)
        if response is None:
            return refusal(head, Refusal.INTERNAL_ERROR, f"{head.name}: internal error")
        reply = reply_head(head) + response
        if call.kept_for is not None:
            self.quick.keep(call.kept_for, message, reply)
        return reply

    def _handled(self, head: Head, handler: Handler, call: DriverCall[S]) -> bytes | None:
        """The bytes of what a handler answers, or of what it raises; None where the method cannot tell that."""
        try:
            response = handler(call)
            if getattr(response, "status", SUCCESS) is None:
                response.status = SUCCESS
            return call.method.result(response)
        except HbstoreError as error:
            if isinstance(error, AccessRefused):
                fields = {"client": call.client.address, "why": error.text, **error.fields}
                _LOG.warning("refused", extra={"fields": fields})
            return _failure(call.method, status_of(error, getattr(call.request, "statement", "")))
        except OSError as error:
            text = "the server's operating system refused a call"
            hint = "Check that the server's disks are mounted, have space, and may be written by the server"
            failed = HbstoreError(text, reason=error.strerror or str(error), hint=hint)
            return _failure(call.method, status_of(failed))
        except Exception:  # noqa: BLE001  a bug: client and log are told, and the server goes on
            _LOG.exception("%s failed", head.name)
            status = THRIFT.TStatus(statusCode=StatusCode.ERROR, sqlState=GENERAL, errorMessage=_BUG)
            return _failure(call.method, status)


_BUG: Final = "internal error: the server's log says more"


def _failure(method: Method, status: Any) -> bytes | None:
    """The bytes of a response with the status of an error; None where the method's has none."""
    response = RESPONSES[method.name](**_NEEDED.get(method.name, {}))
    if not hasattr(response, "status"):
        return None
    response.status = status
    return method.result(response)
