r"""Replies that are sent again without a look at the call: those of operations that have ended.

Drivers ask how far an operation is for every row that a program reads (2.3.10), long after it has ended. Such a call
differs from the one before in its sequence number only. So the server keeps the reply for the bytes of the call, and
answers the next one before anything of it is decoded.

>>> quick = QuickReplies()
>>> call = b"\x80\x01\x00\x01\x00\x00\x00\x12GetOperationStatus\x00\x00\x00\x07" + b"which one"
>>> reply = b"\x80\x01\x00\x02\x00\x00\x00\x12GetOperationStatus\x00\x00\x00\x07" + b"it has ended"
>>> quick.allow("operation")
>>> quick.keep("operation", call, reply)
>>> quick(call.replace(b"\x07", b"\x08")) == reply.replace(b"\x07", b"\x08")
True
>>> quick.remove("operation")
>>> quick(call) is None
True
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Final

METHOD: Final = "GetOperationStatus"
"""The method whose replies are kept."""

MAX_FORMS: Final = 4
"""Forms of the call that are kept of one operation: drivers of one connection send one or two."""

MAX_SIZE: Final = 4096
"""Bytes of a call, and of a reply, that are kept."""

_CALL: Final = b"\x80\x01\x00\x01" + len(METHOD).to_bytes(4, "big") + METHOD.encode()
_SEQUENCE: Final = len(_CALL)
_BODY: Final = _SEQUENCE + 4
_FRAME: Final = 4
"""Bytes before a message in a frame: its size."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What stands around the sequence number in a reply, bare and in a frame, and the beginning of the call's frame."""

    bare: tuple[bytes, bytes]
    framed: tuple[bytes, bytes]
    frame: bytes

    @staticmethod
    def of(message: bytes, reply: bytes) -> _Kept:
        head, tail = reply[:_SEQUENCE], reply[_BODY:]
        return _Kept((head, tail), (_frame(reply) + head, tail), _frame(message))


def _frame(message: bytes) -> bytes:
    return len(message).to_bytes(_FRAME, "big")


class QuickReplies:
    """The replies that are kept, by what stands in a call behind its sequence number.

    The owner of operations allows replies of one to be kept as long as it lives. So none is kept of an operation that
    was closed while the reply was made.
    """

    __slots__ = ("_forms", "_lock", "_replies")

    def __init__(self) -> None:
        self._lock = Lock()
        self._forms: dict[Hashable, list[bytes]] = {}
        self._replies: dict[bytes, _Kept] = {}

    def __call__(self, message: bytes) -> bytes | None:
        """The reply to a whole message, if it was kept. O(size of the message)."""
        if not message.startswith(_CALL):
            return None
        kept = self._replies.get(message[_BODY:])
        return None if kept is None else message[_SEQUENCE:_BODY].join(kept.bare)

    def in_frames(self, data: bytes) -> bytes | None:
        """The same for a message in a frame, which the reply has, too."""
        if not data.startswith(_CALL, _FRAME):
            return None
        kept = self._replies.get(data[_FRAME + _BODY :])
        if kept is None or not data.startswith(kept.frame):
            return None
        return data[_FRAME + _SEQUENCE : _FRAME + _BODY].join(kept.framed)

    def allow(self, operation: Hashable) -> None:
        """From now on, replies about an operation may be kept."""
        with self._lock:
            self._forms.setdefault(operation, [])

    def keep(self, operation: Hashable, message: bytes, reply: bytes) -> None:
        """Keep the reply to a call about an operation, if that is allowed, and the call is one of this method.

        Args:
            operation: what was allowed.
            message: the call.
            reply: with the same sequence number, behind a head of the same size.
        """
        if not message.startswith(_CALL) or max(len(message), len(reply)) > MAX_SIZE:
            return
        body = message[_BODY:]
        with self._lock:
            forms = self._forms.get(operation)
            if forms is not None and body not in forms and len(forms) < MAX_FORMS:
                forms.append(body)
                self._replies[body] = _Kept.of(message, reply)

    def remove(self, operation: Hashable) -> None:
        """Keep nothing of an operation any more: it was closed, or its replies change."""
        with self._lock:
            for body in self._forms.pop(operation, ()):
                self._replies.pop(body, None)
