r"""Where a message ends: without frames, only walking over it tells.

A `Walker` passes over the head of a call and its struct, field by field, without making anything of them. Where the
bytes run out it stops, and goes on from there when there are more: each byte is looked at once, however small the
pieces are that come. It does not call itself, so that no nesting is too deep for it.

It is also where a message is refused. All that a later reader allocates or descends into was counted here before:
the depth, the sizes of texts, the elements that containers claim, the size of the whole.

>>> call = b"\x80\x01\x00\x01\x00\x00\x00\x07getName\x00\x00\x00\x05\x00"
>>> walker = Walker()
>>> walker.walk(call[:9]), walker.walk(call + b"what follows")
(False, True)
>>> call[: walker.at] == call
True
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Final

from hbstore.errors import ProtocolViolation

MAX_MESSAGE: Final = 128 * 1024 * 1024
"""Bytes of one message, where the server is not told otherwise: a little more than Java's clients take themselves."""

MAX_TEXT: Final = 64 * 1024 * 1024
"""Bytes of one string or binary."""

MAX_DEPTH: Final = 64
"""Structs and containers inside each other, as in Thrift itself."""

MAX_ELEMENTS: Final = 4_000_000
"""Elements of all containers of a message together, of a map's entry two: some 40 for each of 100,000 partitions."""

MAX_NAME: Final = 256
"""Bytes of a method's name."""

_VERSION: Final = 0x8001
_NAME: Final = re.compile(rb"[A-Za-z0-9_.:$-]*\Z")
_unpack = struct.Struct(">i").unpack_from
_FIXED: Final = {2: 1, 3: 1, 4: 8, 6: 2, 8: 4, 10: 8}
"""Sizes of bool, byte, double, i16, i32, i64."""

_STOP, _STRING, _STRUCT, _MAP, _SET, _LIST = 0, 11, 12, 13, 14, 15
_LEAST: Final = {**_FIXED, _STRING: 4, _STRUCT: 1, _MAP: 6, _SET: 5, _LIST: 5}
"""The fewest bytes that a value takes."""

_IN_STRUCT: Final = -1
_EXPECTED: Final = "Send a message in Thrift's binary protocol"


def expected(_first: bytes) -> str:
    """What to do for any client that sends something else."""
    return _EXPECTED


class Walker:
    """Walks over one message.

    Args:
        limit: bytes that the message may have.
        hint: what to do where it has more.
        strangers: what to do where it is no message, by its first four bytes.
        elements: how many its containers may have together.

    Attributes:
        at: how far it came; once it is over, the message's size. It may point beyond the bytes that are there.
        elements: how many elements the containers seen so far claim.
    """

    __slots__ = (
        "_even",
        "_headless",
        "_hint",
        "_left",
        "_limit",
        "_most",
        "_odd",
        "_stack",
        "_strangers",
        "at",
        "elements",
    )

    def __init__(
        self,
        limit: int = MAX_MESSAGE,
        hint: str | None = None,
        strangers: Callable[[bytes], str | None] = expected,
        elements: int = MAX_ELEMENTS,
    ) -> None:
        self._limit = limit
        self._most = elements
        self._hint = hint
        self._strangers = strangers
        self._headless = True
        self._stack: list[tuple[int, int, int]] = []
        # What is being walked over: a struct (_left is _IN_STRUCT), or a container of which _left elements are to
        # come. Where their number is even the next is of the type _even, else _odd: a map's keys and values in turn.
        self._left = _IN_STRUCT
        self._even = self._odd = _STOP
        self.at = 0
        self.elements = 0

    def walk(self, data: bytes | memoryview) -> bool:  # noqa: C901, PLR0912  a step costs less than a call would
        """Go on; whether the message is over.

        Args:
            data: the message from its beginning, as far as it is there. Other bytes may follow.

        Raises:
            ProtocolViolation: it is no message, or past a limit.
        """
        if self._headless and not self._pass_head(data):
            return False
        at, left, even, odd, stack = self.at, self._left, self._even, self._odd, self._stack
        try:
            while True:
                # Nothing is changed before the bytes are there that say how.
                if left == _IN_STRUCT:
                    code = data[at]
                    if code == _STRING:  # most fields are, so that these have a way of their own
                        size = _unpack(data, at + 3)[0]
                        if 0 <= size <= MAX_TEXT:
                            at += 7 + size
                            continue
                    elif code == _STOP:
                        at += 1
                        if not stack:
                            return True
                        left, even, odd = stack.pop()
                        continue
                    value, after = at + 3, left
                elif left:
                    code = odd if left & 1 else even
                    value, after = at, left - 1
                else:
                    left, even, odd = stack.pop()
                    continue
                if code == _STRING:
                    size = _unpack(data, value)[0]
                    if not 0 <= size <= MAX_TEXT:
                        raise ProtocolViolation(
                            "the size of a text is invalid", size=size, limit=MAX_TEXT, hint=_EXPECTED
                        )
                    at, left = value + 4 + size, after
                elif code in _FIXED:
                    at, left = value + _FIXED[code], after
                else:
                    if code == _STRUCT:
                        inside, begin = (_IN_STRUCT, _STOP, _STOP), value
                    else:
                        inside, begin = self._container(data, value, code)
                    if len(stack) >= MAX_DEPTH:
                        raise ProtocolViolation(
                            "values are nested too deeply", limit=MAX_DEPTH, hint="Nest values less deeply"
                        )
                    stack.append((after, even, odd))
                    left, even, odd = inside
                    at = begin
        except (IndexError, struct.error):  # the bytes ran out
            if at > self._limit:
                raise ProtocolViolation("a message is too large", limit=self._limit, hint=self._hint) from None
            return False
        finally:
            self.at, self._left, self._even, self._odd = at, left, even, odd

    def _container(self, data: bytes | memoryview, at: int, code: int) -> tuple[tuple[int, int, int], int]:
        """What there is to walk over in a list, set or map, and where that begins."""
        if code == _MAP:
            even, odd = data[at], data[at + 1]
            number, begin, each = _unpack(data, at + 2)[0], at + 6, 2
        elif code in (_LIST, _SET):
            even = odd = data[at]
            number, begin, each = _unpack(data, at + 1)[0], at + 5, 1
        else:
            raise ProtocolViolation("the type of a value is unknown", type=code, hint=_EXPECTED)
        if number <= 0:
            if number < 0:
                raise ProtocolViolation("the size of a container is invalid", size=number, hint=_EXPECTED)
            return (0, _STOP, _STOP), begin
        if even not in _LEAST or odd not in _LEAST:
            raise ProtocolViolation(
                "the type of a value is unknown", type=even if odd in _LEAST else odd, hint=_EXPECTED
            )
        least = number * (_LEAST[even] + _LEAST[odd] * (each - 1))
        if least > self._limit - begin:
            raise ProtocolViolation(
                "a container claims more than a message can hold",
                elements=number,
                limit=self._limit,
                hint=self._hint,
            )
        self.elements += number * each
        if self.elements > self._most:
            raise ProtocolViolation("a message has too many elements", limit=self._most, hint="Send smaller batches")
        if even in _FIXED and odd in _FIXED:
            return (0, _STOP, _STOP), begin + least
        return (number * each, even, odd), begin

    def _pass_head(self, data: bytes | memoryview) -> bool:
        """Go behind the head of the message; whether it is there wholly."""
        if len(data) < 4:  # noqa: PLR2004  a number
            return False
        size = _unpack(data, 0)[0]
        begin, behind = 4, 5
        if size < 0:
            if (size >> 16) & 0xFFFF != _VERSION:
                raise ProtocolViolation(
                    "the message is not in Thrift's binary protocol", hint=self._strangers(bytes(data[:4]))
                )
            if len(data) < 8:  # noqa: PLR2004  two numbers
                return False
            size = _unpack(data, 4)[0]
            begin, behind = 8, 4
        if not 0 < size <= MAX_NAME or not _NAME.match(data, begin, begin + size):
            raise ProtocolViolation("the message does not begin like a call", hint=self._strangers(bytes(data[:4])))
        end = begin + size + behind
        if len(data) < end:
            return False
        self.at, self._headless = end, False
        return True
