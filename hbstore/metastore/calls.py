"""Calls: what a handler is given, how handlers are found, and how a message becomes a reply.

A handler answers one or more methods. It is a function of a `Call` that returns the method's result (None for void): a
value, stored bytes, or a `PartitionList`. What it raises becomes the exception that the method declares for it.
"""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from thriftpy2.thrift import TException

from hbstore.errors import HbstoreError, StoreReadOnly
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.failures import declared_error
from hbstore.metastore.protocol import METHODS
from hbstore.metastore.replies import PartitionList, PartitionLists, Reply, Streamed, Whole
from hbstore.metastore.short_calls import leave_selector
from hbstore.publishing.publisher import Publisher
from hbstore.servers.call_limits import check_wanted
from hbstore.servers.reply_room import FREE, UNBOUNDED, ReplyShare
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.thrift.messages import Head, Refusal, read_head, refusal, reply_head
from hbstore.thrift.methods import Method
from hbstore.warehouse.service import Service

_LOG: Final = logging.getLogger("hbstore.metastore")
_UNREADABLE: Final = (ValueError, IndexError, TypeError, struct.error)
_STOP: Final = b"\0"


@dataclass(slots=True)
class ClientSession:
    """What a server remembers of one connection, and nothing of it is lost when another server goes on.

    Attributes:
        client: the address at the other end.
        room: what its replies take of the room for long ones.
        user: who the client says it is, by set_ugi.
        settings: what the client set for itself, by setMetaConf.
    """

    client: str = ""
    room: ReplyShare = field(default_factory=lambda: ReplyShare(UNBOUNDED))
    user: str | None = None
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class CallRecord:
    """What is known of a call once it is answered, for the log and the metrics.

    Attributes:
        method: its name.
        client: who called.
        seconds: how long it took, until its reply was ready.
        size: bytes of the reply.
        error: the exception that it was answered with; None if it was not.
        message: what that says.
        notes: what handlers say of it: table, filter, scans (texts), partitions and rows_read (numbers). What takes
            time to say is a function, which is called when somebody wants to know.

    >>> record = CallRecord("get_partitions", notes={"partitions": 2, "scans": lambda: ["scan ds = 1"]})
    >>> record.noted("partitions"), record.noted("scans"), record.noted("filter")
    (2, ['scan ds = 1'], None)
    """

    method: str
    client: str = ""
    seconds: float = 0.0
    size: int = 0
    error: str | None = None
    message: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    def noted(self, name: str) -> Any:
        """What a handler says of the call under a name; None if it says nothing."""
        value = self.notes.get(name)
        return value() if callable(value) else value


@dataclass(frozen=True, slots=True)
class Call:
    """One call while it is answered.

    Attributes:
        service: what all calls share.
        session: its connection's.
        method: what is called.
        arguments: by the names of the IDL; what was not sent is None.
        record: what the log will say.
    """

    service: Service
    session: ClientSession
    method: Method
    arguments: Any
    record: CallRecord

    @property
    def store(self) -> PartitionStore:
        """The store."""
        return self.service.store

    @property
    def warehouse(self) -> Warehouse:
        """The warehouse."""
        return self.service.warehouse

    def show_files(self, row: TableRow) -> None:
        """Show the files of what jobs have decided about a table, whose row was read with its partitions or after."""
        if Publisher(self.store).has_files_to_show(row):
            leave_selector()  # it lists and moves files
            self.service.show_files(row)

    def note(self, **notes: object) -> None:
        """Say something for the log: table, filter, scans, partitions, rows_read; see `CallRecord.notes`."""
        self.record.notes.update(notes)

    def note_left(self, locations: Sequence[str]) -> None:
        """Say for the log that files could not be deleted, with one of their locations."""
        if locations:
            self.note(files_left=locations[-1])


class NotAnswered(Exception):
    """A handler cannot answer this call of its method; the client is told that there is no such method.

    Clients of Hive have another way where a metastore is too old for a method.
    """


Handler: TypeAlias = Callable[[Call], Any]


@dataclass(frozen=True, slots=True)
class Handlers:
    """The handlers of one module, by method.

    >>> handlers = Handlers()
    >>> @handlers.answers("getVersion")
    ... def version(call: Call) -> str:
    ...     return "3.0"
    >>> list(handlers.by_method)
    ['getVersion']
    """

    by_method: dict[str, Handler] = field(default_factory=dict)
    writing: set[str] = field(default_factory=set)

    def answers(self, *methods: str, writes: bool = False) -> Callable[[Handler], Handler]:
        """Make a function the handler of methods; ``writes`` says that a read-only server refuses them."""
        unknown = set(methods) - set(METHODS)
        if unknown:
            raise ValueError(f"service.thrift has no {', '.join(sorted(unknown))}")

        def register(handler: Handler) -> Handler:
            self.by_method.update(dict.fromkeys(methods, handler))
            if writes:
                self.writing.update(methods)
            return handler

        return register


class Observer(Protocol):
    """Hears of every call that was answered."""

    def __call__(self, record: CallRecord) -> None:
        """A call is over."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Answers messages.

    Attributes:
        service: what all calls share.
        handlers: by method.
        writing: the methods that a read-only server refuses.
        observe: hears of every call.
    """

    service: Service
    handlers: Mapping[str, Handler]
    writing: frozenset[str]
    observe: Observer

    def answer(self, session: ClientSession, message: bytes) -> Reply | None:
        """The reply to a whole message; None where nobody waits for one.

        Raises:
            ValueError, IndexError, struct.error: this is no message, so the connection is of no further use.
        """
        began = time.perf_counter()
        head = read_head(message)
        record = CallRecord(head.name, session.client)
        reply = self._answer(session, message, head, record)
        record.seconds = time.perf_counter() - began
        record.size = 0 if reply is None else reply.size
        self.observe(record)
        return reply

    def _answer(self, session: ClientSession, message: bytes, head: Head, record: CallRecord) -> Reply | None:
        method, handler = METHODS.get(head.name), self.handlers.get(head.name)
        if not head.is_call:
            return _refused(head, record, Refusal.INVALID_MESSAGE_TYPE, "the message is not a call")
        if method is None or handler is None:
            return _refused(head, record, Refusal.UNKNOWN_METHOD, f"Invalid method name: '{head.name}'")
        try:
            arguments, _ = method.arguments.read(message, head.body)
        except HbstoreError as error:  # such as a table whose name cannot be
            return _failed(head, method, record, error)
        except _UNREADABLE as error:
            return _refused(head, record, Refusal.PROTOCOL_ERROR, f"{head.name}: {error}")
        missing = [name for name in method.needed if getattr(arguments, name) is None]
        if missing:
            return _refused(head, record, Refusal.PROTOCOL_ERROR, f"{head.name}: no {missing[0]} was sent")
        return self._handled(head, handler, Call(self.service, session, method, arguments, record))

    def _handled(self, head: Head, handler: Handler, call: Call) -> Reply | None:
        """What a handler answers, or what it raises, as a reply."""
        method = call.method
        try:
            check_wanted()  # to read its arguments may have taken long
            self._check_writable(method)
            value = handler(call)
            return None if method.oneway else _reply(head, method, value, call.session.room)
        except NotAnswered as error:
            return _refused(head, call.record, Refusal.UNKNOWN_METHOD, str(error))
        except (HbstoreError, TException) as error:
            return _failed(head, method, call.record, error)
        except OSError as error:
            text = "the server's operating system refused a call: " + (error.strerror or str(error))
            return _failed(
                head,
                method,
                call.record,
                HbstoreError(
                    text,
                    hint="Check that the server's disks are mounted, have space, and may be written by the server",
                ),
            )
        except Exception as error:  # noqa: BLE001  a bug: client and log are told, and the server goes on
            _LOG.exception("%s failed", head.name)
            return _refused(head, call.record, Refusal.INTERNAL_ERROR, f"{head.name}: internal error: {error!r}")

    def _check_writable(self, method: Method) -> None:
        if self.service.read_only and method.name in self.writing:
            raise StoreReadOnly(
                "this server is read-only", method=method.name, hint="Connect to a server that may write"
            )


def endpoint(service: Service, modules: Mapping[str, Handlers], observe: Observer) -> Endpoint:
    """An endpoint with the handlers of some modules.

    Raises:
        ValueError: two modules answer the same method.
    """
    by_method: MutableMapping[str, Handler] = {}
    writing: set[str] = set()
    for name, handlers in modules.items():
        twice = by_method.keys() & handlers.by_method.keys()
        if twice:
            raise ValueError(f"{name} answers what another module answers: {', '.join(sorted(twice))}")
        by_method.update(handlers.by_method)
        writing |= handlers.writing
    return Endpoint(service, by_method, frozenset(writing), observe)


def _reply(head: Head, method: Method, value: Any, room: ReplyShare) -> Reply:
    if isinstance(value, (PartitionList, PartitionLists)):
        return Streamed(reply_head(head) + method.success_head, value, _STOP)
    reply = Whole(reply_head(head) + method.result(value))
    if reply.size > FREE:
        leave_selector()  # it may have to wait for room
        room.grow(reply.size)
    return reply


def _failed(head: Head, method: Method, record: CallRecord, error: Exception) -> Reply | None:
    declared = declared_error(error, method)
    record.error = type(declared).__name__
    record.message = getattr(error, "message", None) or str(error)  # what the IDL's exceptions say is in `message`
    if method.oneway:
        return None
    result = method.failure(declared)
    if result is None:
        return Whole(refusal(head, Refusal.INTERNAL_ERROR, record.message))
    return Whole(reply_head(head) + result)


def _refused(head: Head, record: CallRecord, kind: Refusal, text: str) -> Reply:
    record.error = f"TApplicationException.{kind.name}"
    record.message = text
    return Whole(refusal(head, kind, text))
