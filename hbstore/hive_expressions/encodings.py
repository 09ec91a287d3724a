r"""Kryo's primitive forms in an expression's bytes, and where it has read to.

Hive 2.3 and 3.1 write with Kryo 3, Hive 4 with Kryo 5. Both share the forms here, but for the order of the bytes in
numbers of fixed width. Every read checks that the bytes are there; what is not raises ``IndexError``, which
`hbstore.hive_expressions.reading` turns into its error.

>>> ByteCursor(b"\xac\x02", fixed="big").varint()
300
>>> ByteCursor(b"d\xf3", fixed="big").text()
'ds'
"""

from __future__ import annotations

import re
import struct
from typing import Final, Literal

from hbstore.hive_expressions.refusal import unreadable

_VARINT_BYTES: Final = 5
_LONG_BYTES: Final = 9
_MORE: Final = 0x80
_FLAG: Final = 0x80
_FLAGGED_MORE: Final = 0x40
_LAST: Final = re.compile(rb"[\x80-\xff]").search


class ByteCursor:
    """Bytes, and how far they are read."""

    __slots__ = ("_fixed", "_float", "at", "data")

    def __init__(self, data: bytes, *, fixed: Literal["big", "little"]) -> None:
        """Begin to read.

        Args:
            data: the bytes.
            fixed: how numbers of fixed width are written.
        """
        self.data = data
        self.at = 0
        self._fixed = fixed
        self._float = ">" if fixed == "big" else "<"

    def byte(self) -> int:
        """One byte, as a number from 0 on."""
        value = self.data[self.at]
        self.at += 1
        return value

    def boolean(self) -> bool:
        """A byte that is 0 or 1."""
        value = self.data[self.at]
        if value > 1:
            raise unreadable("a byte is neither true nor false", at=self.at)
        self.at += 1
        return value == 1

    def varint(self) -> int:
        """A number of 32 bits without a sign, seven bits a byte, the least significant first."""
        value = self.data[self.at]
        self.at += 1
        if value < _MORE:
            return value
        value &= 0x7F
        for shift in range(7, 7 * _VARINT_BYTES, 7):
            part = self.data[self.at]
            self.at += 1
            value |= (part & 0x7F) << shift
            if part < _MORE:
                return value & 0xFFFFFFFF
        raise unreadable("a number has too many bytes", at=self.at)

    def flagged(self) -> tuple[bool, int]:
        """A flag and a number: bit 8 of the first byte is the flag, bit 7 says that more bytes follow."""
        first = self.byte()
        value = first & 0x3F
        if not first & _FLAGGED_MORE:
            return first >= _FLAG, value
        for shift in range(6, 6 + 7 * (_VARINT_BYTES - 1), 7):
            part = self.byte()
            value |= (part & 0x7F) << shift
            if part < _MORE:
                return first >= _FLAG, value & 0xFFFFFFFF
        raise unreadable("a number has too many bytes", at=self.at)

    def integer(self) -> int:
        """An int: a varint that alternates between the signs."""
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def long(self) -> int:
        """A long, likewise; its ninth byte is whole."""
        value = 0
        for number in range(_LONG_BYTES):
            part = self.byte()
            if number == _LONG_BYTES - 1 or part < _MORE:
                value |= part << 7 * number
                break
            value |= (part & 0x7F) << 7 * number
        return value >> 1 ^ -(value & 1)

    def short(self) -> int:
        """A short of two bytes."""
        return int.from_bytes(self.take(2), self._fixed, signed=True)

    def tiny(self) -> int:
        """A byte with its sign."""
        value = self.byte()
        return value - 256 if value >= _MORE else value

    def fixed(self, size: int) -> int:
        """A number of so many bytes, with its sign."""
        return int.from_bytes(self.take(size), self._fixed, signed=True)

    def single(self) -> float:
        """A float of four bytes."""
        return float(struct.unpack(self._float + "f", self.take(4))[0])

    def double(self) -> float:
        """A float of eight bytes."""
        return float(struct.unpack(self._float + "d", self.take(8))[0])

    def take(self, size: int) -> bytes:
        """So many bytes."""
        end = self.at + size
        if end > len(self.data):
            raise IndexError
        found = self.data[self.at : end]
        self.at = end
        return found

    def text(self) -> str | None:
        """A string; None for Java's null.

        Either ASCII whose last character has bit 8 set, or a flagged count and as many UTF-16 units, each of one to
        three bytes.
        """
        data, at = self.data, self.at
        if data[at] < _FLAG:
            last = _LAST(data, at)
            if last is None:
                raise IndexError
            end = last.start()
            self.at = end + 1
            return data[at:end].decode("ascii") + chr(data[end] & 0x7F)
        _, count = self.flagged()
        if not count:
            return None
        if count - 1 > len(data) - self.at:  # a unit takes a byte at least
            raise IndexError
        plain = data[self.at : self.at + count - 1]
        if plain.isascii():
            self.at += count - 1
            return plain.decode("ascii")
        units = [self._unit() for _ in range(count - 1)]
        if max(units, default=0) < 0xD800:  # noqa: PLR2004  the first surrogate
            return "".join(map(chr, units))
        pairs = b"".join([unit.to_bytes(2, "big") for unit in units])
        return pairs.decode("utf-16-be", "surrogatepass")

    def _unit(self) -> int:
        first = self.byte()
        kind = first >> 4
        if kind < 8:  # noqa: PLR2004
            return first
        if kind in (12, 13):
            return (first & 0x1F) << 6 | self._continued()
        if kind == 14:  # noqa: PLR2004
            return (first & 0x0F) << 12 | self._continued() << 6 | self._continued()
        raise unreadable("a character is none", at=self.at - 1)

    def _continued(self) -> int:
        value = self.byte()
        if value >> 6 != 2:  # noqa: PLR2004
            raise unreadable("a character is none", at=self.at - 1)
        return value & 0x3F
