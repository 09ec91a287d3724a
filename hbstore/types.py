"""Types of partition columns, and the order-preserving bytes of their values.

A type turns a value's text into a value (`parse`), a value into bytes whose order is the values' order (`encode`), and
back (`decode`, `text`). The layout of every payload, with vectors, is in docs/keys.md. Design: "binary sortable" keys
as the Hive wiki's page on partition filters over HBase asks for.
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Protocol, TypeAlias

from hbstore.errors import InvalidType

Value: TypeAlias = "int | float | str | bool | Decimal | dt.date | tuple[int, int]"
"""A typed partition value; a timestamp is (seconds since 1970-01-01 00:00:00, nanoseconds)."""

_DAY_0 = dt.date(1970, 1, 1).toordinal()
_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})\Z")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?\Z")
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?\Z")
_FLOAT = re.compile(r"(?:[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|Infinity)|NaN)\Z")
_DAY_SECONDS = 86_400
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
MAX_PRECISION = 38
_EXACT = Context(prec=1000, traps=[Inexact, InvalidOperation])
"""Decimal's own context rounds to 28 digits, without a word; this one raises where it would have to round."""


class ColumnType(Protocol):
    """The type of a partition column."""

    @property
    def name(self) -> str:
        """The type as Hive writes it, such as ``decimal(10,2)``."""

    @property
    def width(self) -> int | None:
        """Bytes in every payload; None where payloads end with a 00 instead."""

    def parse(self, text: str) -> Value:
        """The value that a text stands for; ValueError where it stands for none."""

    def encode(self, value: Value) -> bytes:
        """The payload of a value: byte order is value order, also with more bytes below FF behind it."""

    def decode(self, payload: bytes) -> Value:
        """The value of a payload."""

    def text(self, value: Value) -> str:
        """The canonical text of a value: ``05`` as an int is ``5``."""


@dataclass(frozen=True, slots=True)
class IntegerType:
    """tinyint, smallint, int or bigint: 8 bytes big-endian with the sign flipped, whatever the declared size.

    One width for all of them, so that an int column can become a bigint column without a rewrite of its rows.
    """

    name: str
    bits: int

    @property
    def width(self) -> int:
        """Always 8 bytes."""
        return 8

    def parse(self, text: str) -> int:
        """Optional sign and digits, within the declared size."""
        if not _INTEGER.match(text):
            raise ValueError(f"not a whole number: {text!r}")
        if len(text) > 20:  # noqa: PLR2004  longer than any 64-bit number unless padded; int() is quadratic
            text = text[0] + text[1:].lstrip("0") if text[0] in "+-" else text.lstrip("0")
            if len(text) > 20:  # noqa: PLR2004
                raise ValueError(f"out of range for {self.name}")
        number = int(text or "0") if text not in ("+", "-") else 0
        half = 1 << (self.bits - 1)
        if not -half <= number < half:
            raise ValueError(f"out of range for {self.name}: {number}")
        return number

    def encode(self, value: Value) -> bytes:
        """8 bytes; any 64-bit integer is taken, in the declared range or not."""
        assert isinstance(value, int)
        return (value + (1 << 63)).to_bytes(8, "big")

    def decode(self, payload: bytes) -> int:
        """The integer of 8 bytes."""
        return int.from_bytes(payload, "big") - (1 << 63)

    def text(self, value: Value) -> str:
        """Decimal digits without leading zeros."""
        return str(value)


@dataclass(frozen=True, slots=True)
class StringType:
    """string, varchar(n) or char(n): UTF-8 with 00 written as 00 FF, ended by 00."""

    name: str
    limit: int | None = None

    @property
    def width(self) -> None:
        """Payloads vary in length."""
        return

    def parse(self, text: str) -> str:
        """Any text that UTF-8 can carry, at most ``limit`` characters."""
        if self.limit is not None and len(text) > self.limit:
            raise ValueError(f"longer than {self.limit} characters")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError("text with a lone surrogate cannot be stored as UTF-8") from error
        return text

    def encode(self, value: Value) -> bytes:
        """UTF-8, escaped and ended."""
        return escape(str(value))

    def decode(self, payload: bytes) -> str:
        """The text of an escaped and ended payload."""
        return unescape(payload)

    def text(self, value: Value) -> str:
        """The value itself."""
        return str(value)


@dataclass(frozen=True, slots=True)
class DateType:
    """date: days since 1970-01-01 in 4 bytes with the sign flipped; years 0001 to 9999."""

    name: str = "date"

    @property
    def width(self) -> int:
        """Always 4 bytes."""
        return 4

    def parse(self, text: str) -> dt.date:
        """yyyy-MM-dd; month and day may have one digit, as in Hive."""
        found = _DATE.match(text)
        if not found:
            raise ValueError(f"not a date as yyyy-MM-dd: {text!r}")
        return dt.date(int(found[1]), int(found[2]), int(found[3]))

    def encode(self, value: Value) -> bytes:
        """4 bytes."""
        assert isinstance(value, dt.date)
        return (value.toordinal() - _DAY_0 + (1 << 31)).to_bytes(4, "big")

    def decode(self, payload: bytes) -> dt.date:
        """The date of 4 bytes."""
        return dt.date.fromordinal(int.from_bytes(payload, "big") - (1 << 31) + _DAY_0)

    def text(self, value: Value) -> str:
        """yyyy-MM-dd."""
        assert isinstance(value, dt.date)
        return value.isoformat()


@dataclass(frozen=True, slots=True)
class TimestampType:
    """timestamp without a zone: seconds in 8 bytes with the sign flipped, then nanoseconds in 4."""

    name: str = "timestamp"

    @property
    def width(self) -> int:
        """Always 12 bytes."""
        return 12

    def parse(self, text: str) -> tuple[int, int]:
        """yyyy-MM-dd, then optionally a space or T and HH:mm:ss with up to nine decimals."""
        day, time = (text[:10], text[11:]) if len(text) > 10 and text[10] in " T" else _split_time(text)  # noqa: PLR2004
        date = DateType().parse(day)
        seconds = (date.toordinal() - _DAY_0) * _DAY_SECONDS
        if time is None:
            return seconds, 0
        found = _TIME.match(time)
        if not found or int(found[1]) > 23 or int(found[2]) > 59 or int(found[3]) > 59:  # noqa: PLR2004
            raise ValueError(f"not a time as HH:mm:ss: {time!r}")
        nanoseconds = int((found[4] or "0").ljust(9, "0"))
        return seconds + int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3]), nanoseconds

    def encode(self, value: Value) -> bytes:
        """12 bytes."""
        assert isinstance(value, tuple)
        return (value[0] + (1 << 63)).to_bytes(8, "big") + value[1].to_bytes(4, "big")

    def decode(self, payload: bytes) -> tuple[int, int]:
        """Seconds and nanoseconds of 12 bytes."""
        return int.from_bytes(payload[:8], "big") - (1 << 63), int.from_bytes(payload[8:], "big")

    def text(self, value: Value) -> str:
        """yyyy-MM-dd HH:mm:ss, with decimals only where there are any."""
        assert isinstance(value, tuple)
        days, rest = divmod(value[0], _DAY_SECONDS)
        day = dt.date.fromordinal(days + _DAY_0).isoformat()
        whole = f"{day} {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
        return f"{whole}.{value[1]:09d}".rstrip("0") if value[1] else whole


@dataclass(frozen=True, slots=True)
class BooleanType:
    """boolean: one byte, false before true."""

    name: str = "boolean"

    @property
    def width(self) -> int:
        """Always 1 byte."""
        return 1

    def parse(self, text: str) -> bool:
        """The words true and false in any case."""
        word = text.lower()
        if word not in ("true", "false"):
            raise ValueError(f"neither true nor false: {text!r}")
        return word == "true"

    def encode(self, value: Value) -> bytes:
        """00 or 01."""
        return b"\x01" if value else b"\x00"

    def decode(self, payload: bytes) -> bool:
        """The truth of one byte."""
        return payload != b"\x00"

    def text(self, value: Value) -> str:
        """The words true and false."""
        return "true" if value else "false"


@dataclass(frozen=True, slots=True)
class DecimalType:
    """decimal(p,s): the unscaled value in 16 bytes with the sign flipped."""

    precision: int = 10
    scale: int = 0

    @property
    def name(self) -> str:
        """``decimal(p,s)``."""
        return f"decimal({self.precision},{self.scale})"

    @property
    def width(self) -> int:
        """Always 16 bytes."""
        return 16

    def parse(self, text: str) -> Decimal:
        """A number that the precision and scale hold without rounding."""
        if not _DECIMAL.match(text):
            raise ValueError(f"not a decimal number: {text!r}")
        number = parse_decimal(text)
        try:
            unscaled = number.scaleb(self.scale, _EXACT)
        except Inexact:
            raise ValueError(f"does not fit {self.name}: {text[:50]!r}…") from None
        if unscaled != unscaled.to_integral_value() or unscaled.copy_abs() >= 10**self.precision:
            raise ValueError(f"does not fit {self.name}: {text!r}")
        return number or Decimal(0)  # -0 becomes 0

    def encode(self, value: Value) -> bytes:
        """16 bytes."""
        assert isinstance(value, Decimal | int)
        return (int(Decimal(value).scaleb(self.scale, _EXACT)) + (1 << 127)).to_bytes(16, "big")

    def decode(self, payload: bytes) -> Decimal:
        """The number of 16 bytes, with exactly ``scale`` decimals."""
        return Decimal(int.from_bytes(payload, "big") - (1 << 127)).scaleb(-self.scale, _EXACT)

    def text(self, value: Value) -> str:
        """Plain digits with exactly ``scale`` decimals, as Hive prints them."""
        return f"{value:.{self.scale}f}"


@dataclass(frozen=True, slots=True)
class FloatType:
    """float (4 bytes) or double (8): IEEE 754, all bits flipped below zero and the sign bit above.

    -0.0 is 0.0, and every NaN is one value above infinity, as in Hive's and Spark's ordering.
    """

    name: str
    width: int

    def parse(self, text: str) -> float:
        """A number, Infinity or NaN; a float is rounded to the nearest of its 4 bytes."""
        if not _FLOAT.match(text):
            raise ValueError(f"not a number: {text!r}")
        return self._rounded(float(text))

    def _rounded(self, number: float) -> float:
        if self.width == 4 and number == number:  # noqa: PLR0124, PLR2004  not NaN
            try:
                number = float(struct.unpack(">f", struct.pack(">f", number))[0])
            except OverflowError:
                number = float("inf") if number > 0 else float("-inf")
        return number + 0.0  # -0.0 becomes 0.0

    def encode(self, value: Value) -> bytes:
        """4 or 8 bytes."""
        assert isinstance(value, float | int)
        number = self._rounded(float(value))
        form, bits = (">f", 32) if self.width == 4 else (">d", 64)  # noqa: PLR2004
        if number != number:  # noqa: PLR0124  NaN
            number = float("nan")
        pattern = int.from_bytes(struct.pack(form, number), "big")
        if number != number:  # noqa: PLR0124
            pattern &= (1 << (bits - 1)) - 1  # one NaN, the positive one
        sign = 1 << (bits - 1)
        return (pattern ^ ((sign << 1) - 1) if pattern & sign else pattern | sign).to_bytes(self.width, "big")

    def decode(self, payload: bytes) -> float:
        """The number of 4 or 8 bytes."""
        form, bits = (">f", 32) if self.width == 4 else (">d", 64)  # noqa: PLR2004
        pattern = int.from_bytes(payload, "big")
        sign = 1 << (bits - 1)
        pattern = pattern ^ sign if pattern & sign else pattern ^ ((sign << 1) - 1)
        return float(struct.unpack(form, pattern.to_bytes(self.width, "big"))[0])

    def text(self, value: Value) -> str:
        """The shortest digits that read back as the same number."""
        assert isinstance(value, float | int)
        if value != value:  # noqa: PLR0124
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        number = self._rounded(float(value))
        if self.width == 4:  # noqa: PLR2004  nine digits tell any two floats of 4 bytes apart, often fewer do
            texts = (float(f"{number:.{digits}g}") for digits in range(1, 10))
            number = next(shorter for shorter in texts if self._rounded(shorter) == number)
        return repr(number)


def escape(text: str) -> bytes:
    r"""UTF-8 with 00 written as 00 FF, ended by 00: byte order is code point order.

    >>> escape("a\0b")
    b'a\x00\xffb\x00'
    """
    data = text.encode()
    if b"\x00" in data:
        data = data.replace(b"\x00", b"\x00\xff")
    return data + b"\x00"


def unescape(payload: bytes) -> str:
    r"""The text of `escape`'s bytes.

    >>> unescape(b"a\x00\xffb\x00")
    'a\x00b'
    """
    return payload[:-1].replace(b"\x00\xff", b"\x00").decode()


def parse_decimal(text: str) -> Decimal:
    """A decimal number exactly as written; ValueError where it is none or has an absurd exponent."""
    if not _DECIMAL.match(text):
        raise ValueError(f"not a decimal number: {text!r}")
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"not a decimal number: {text!r}") from error


def _split_time(text: str) -> tuple[str, str | None]:
    for mark in " T":
        day, found, time = text.partition(mark)
        if found:
            return day, time
    return text, None


_SIMPLE: dict[str, ColumnType] = {
    "tinyint": IntegerType("tinyint", 8),
    "smallint": IntegerType("smallint", 16),
    "int": IntegerType("int", 32),
    "integer": IntegerType("int", 32),
    "bigint": IntegerType("bigint", 64),
    "string": StringType("string"),
    "date": DateType(),
    "timestamp": TimestampType(),
    "boolean": BooleanType(),
    "float": FloatType("float", 4),
    "double": FloatType("double", 8),
    "decimal": DecimalType(),
    "numeric": DecimalType(),
}
_SIZED = re.compile(r"(varchar|char|decimal|numeric)\s*\(\s*([0-9]{1,5})\s*(?:,\s*([0-9]{1,2})\s*)?\)\Z")
_MAX_LENGTH = {"varchar": 65_535, "char": 255}


def parse_type(text: str) -> ColumnType:
    """The partition column type that Hive writes as ``text``.

    Raises:
        InvalidType: an unknown type, or one that cannot partition a table (binary, array, map, struct, …).

    >>> parse_type("DECIMAL(10,2)").name
    'decimal(10,2)'
    """
    words = text.strip().lower() if isinstance(text, str) else ""
    if words in _SIMPLE:
        return _SIMPLE[words]
    found = _SIZED.match(words)
    if found:
        kind, first, second = found[1], int(found[2]), int(found[3] or 0)
        if kind in _MAX_LENGTH and found[3] is None and 1 <= first <= _MAX_LENGTH[kind]:
            return StringType(f"{kind}({first})", first)
        if kind not in _MAX_LENGTH and 1 <= first <= MAX_PRECISION and second <= first:
            return DecimalType(first, second)
    raise InvalidType(
        "no such partition column type",
        type=text,
        hint=f"Use one of {', '.join(sorted(set(_SIMPLE) - {'integer', 'numeric'}))}, "
        "varchar(n), char(n), decimal(p,s)",
    )
