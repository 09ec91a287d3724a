r"""The server of the metastore: calls are read, answered and their replies written, until the client goes.

>>> hint_for(b"GET ")
'This port does not speak HTTP; metrics have a port of their own (--metrics-port)'
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Final

from hbstore.errors import ProtocolViolation
from hbstore.metastore.calls import ClientSession, Endpoint
from hbstore.metastore.replies import Reply
from hbstore.metastore.short_calls import SHORT_CALLS, LongCall, mark_selector
from hbstore.servers.bounds import UNWATCHED, DoorWatch
from hbstore.servers.call_limits import call_limit
from hbstore.servers.connection import ClientSocket, in_frame
from hbstore.servers.framing import MessageReader, too_slow
from hbstore.servers.limits import ServerLimits
from hbstore.servers.listening import listening_socket
from hbstore.servers.memory import Budget
from hbstore.servers.reply_room import ReplyRoom, ReplyShare
from hbstore.servers.server import Server
from hbstore.servers.sockets import send
from hbstore.thrift.messages import read_head

_TOO_LARGE: Final = "If you trust the client, raise --max-message"
_HTTP: Final = (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"PATC", b"CONN", b"PRI ")
_TLS: Final = b"\x16\x03"
_COMPACT: Final = b"\x82"
_SASL: Final = b"\x01\x00\x00\x00"
"""SASL's first message: START, and the size of a mechanism's name."""


def metastore_server(
    endpoint: Endpoint,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    limits: ServerLimits | None = None,
    shared_port: bool = False,
    short: frozenset[str] = SHORT_CALLS,
    watch: DoorWatch = UNWATCHED,
) -> Server:
    """A server of an endpoint, which holds its address and does not serve yet.

    Args:
        endpoint: answers the calls.
        host: a name or an address of this machine.
        port: 0 for a free one; see `Server.port`.
        limits: what clients may do.
        shared_port: other processes listen at the same port (SO_REUSEPORT).
        short: methods that the thread that waits for clients answers itself; none where each call waits for another
            machine.
        watch: hears of connections, replies, and bounds that end them.

    Raises:
        AddressUnavailable: the port is taken, or the address cannot be used.
    """
    limits = limits or ServerLimits()
    reading = replace(limits, read=replace(limits.read, too_large=_TOO_LARGE, strangers=hint_for))
    budget = Budget(limits.message_memory, advice=": raise --message-memory")
    room = ReplyRoom(limits.reply_room, limits.reply_wait, watch=watch)
    return Server(
        listening_socket(host, port, shared_port=shared_port),
        lambda client: MetastoreDialogue(client, endpoint, reading, budget, short, room),
        limits,
        patience=limits.read.idle_timeout,
        watch=watch,
    )


class MetastoreDialogue:
    """Calls of the Hive Metastore on one connection.

    Args:
        client: the connection.
        endpoint: answers.
        limits: what the client may do.
        budget: the memory for large messages.
        short: methods whose calls are short.
        room: the room for long replies.
    """

    __slots__ = ("_client", "_endpoint", "_limits", "_message", "_reader", "_session", "_short", "_unsent")

    def __init__(
        self,
        client: ClientSocket,
        endpoint: Endpoint,
        limits: ServerLimits,
        budget: Budget,
        short: frozenset[str],
        room: ReplyRoom,
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self._limits = limits
        self._session = ClientSession(client.address, ReplyShare(room))
        self._short = short
        self._message: bytes | None = None  # a call that `serve_short` left to `serve`
        self._unsent = b""  # of a reply, likewise
        self._reader = MessageReader(client.sock, limits.read, budget)

    def serve_short(self) -> bool | None:
        """Answer a call if it is short and all of it has come; None if `serve` has to be called."""
        client, reader = self._client, self._reader
        try:
            message = reader.read_small()
        except BlockingIOError:
            if reader.has_more:  # or else it was a false alarm
                client.expect(self._limits.read.read_timeout, too_slow())
            return True
        client.came()
        if not message:
            return None if message is None else False
        client.answering = True
        try:
            if not self._is_short(message):
                raise LongCall  # noqa: TRY301  as it may be found out later, too
            mark_selector()
            reply = self._reply(message)
        except LongCall:
            self._message = message
            return None
        finally:
            self._session.room.release()
        if reply is not None and not self._write_at_once(reply):
            return None
        client.answering = False
        return None if reader.has_more else True

    def serve(self) -> bool:
        """Answer the calls that have come, and wait for what is missing; whether the connection goes on."""
        client, reader = self._client, self._reader
        try:
            if self._unsent:
                send(client.sock, self._unsent, len(self._unsent))
                self._unsent = b""
                client.answering = False
                if not reader.has_more:
                    return True
            while (message := self._next_message()) is not None:
                client.answering = True
                try:
                    with call_limit(client.sock, self._limits.call_seconds, self._limits.gone_after, client.watch):
                        reply = self._reply(message)
                    self._session.room.made()
                    del message
                    reader.release()
                    if reply is not None:
                        try:
                            client.write(reply.chunks(), reply.size, framed=reader.framed)
                        finally:
                            reply.close()
                finally:
                    self._session.room.release()
                client.answering = False
                if not reader.has_more:
                    return True
        finally:
            reader.release()
        return False

    def _next_message(self) -> bytes | None:
        message, self._message = self._message, None
        return self._reader.read() if message is None else message

    def _is_short(self, message: bytes) -> bool:
        try:
            return read_head(message).name in self._short
        except (ValueError, IndexError, struct.error):
            return False  # `serve` says what is wrong with it

    def _reply(self, message: bytes) -> Reply | None:
        try:
            return self._endpoint.answer(self._session, message)
        except (ValueError, IndexError, struct.error) as error:
            raise ProtocolViolation(
                "the message is not a call of the Hive Metastore",
                reason=error,
                hint="Send calls as hive_metastore.thrift describes them, in the binary protocol",
            ) from error

    def _write_at_once(self, reply: Reply) -> bool:
        """Send what the system takes of a reply; whether that is all of it."""
        chunks = reply.chunks()
        data = b"".join(in_frame(chunks, reply.size) if self._reader.framed else chunks)
        reply.close()
        try:
            sent = self._client.sock.send(data)
        except BlockingIOError:
            sent = 0
        self._unsent = data[sent:]
        return not self._unsent


def hint_for(first: bytes) -> str | None:
    """What to do where a client speaks another protocol, by its first four bytes; None where they tell nothing."""
    if first in _HTTP:
        return "This port does not speak HTTP; metrics have a port of their own (--metrics-port)"
    if first.startswith(_TLS):
        return "The client speaks TLS: set hive.metastore.use.SSL to false there"
    if first.startswith(_COMPACT):
        return (
            "The client speaks Thrift's compact protocol: set hive.metastore.thrift.compact.protocol.enabled to false"
        )
    if first == _SASL:
        return "The client wants to authenticate by SASL: set hive.metastore.sasl.enabled to false there"
    return None
