"""Types of partition columns, and the order-preserving bytes of their values.

A type turns a value's text into a value (`parse`), a value into bytes whose order is the values' order (`encode`), and
back (`decode`, `text`). The layout of every payload, with vectors, is in docs/keys.md. Design: "binary sortable" keys
as the Hive wiki's page on partition filters over HBase asks for.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from hbstore.errors import InvalidType, did_you_mean
from hbstore.keys.column_type import ColumnType, Value
from hbstore.keys.number_types import MAX_PRECISION, DecimalType, FloatType, IntegerType, parse_decimal
from hbstore.keys.spellings import read_boolean, read_date, read_timestamp

__all__ = [
    "BooleanType",
    "ColumnType",
    "DateType",
    "DecimalType",
    "FloatType",
    "IntegerType",
    "StringType",
    "TimestampType",
    "Value",
    "escape",
    "parse_decimal",
    "parse_type",
    "read_value",
    "unescape",
]

_DAY_0 = dt.date(1970, 1, 1).toordinal()
_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})\Z")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?\Z")
_DAY_SECONDS = 86_400


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

    def read(self, text: str) -> str | None:
        """A longer text: Spark cuts nothing off."""
        try:
            text.encode()
        except UnicodeEncodeError:
            return None
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

    def read(self, text: str) -> dt.date | None:
        """See `read_date`: the first day of a month or a year, the day of a timestamp."""
        return read_date(text)

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

    def read(self, text: str) -> tuple[int, int] | None:
        """See `read_timestamp`: short fields, but no zone."""
        found = read_timestamp(text)
        return None if found is None else ((found[0].toordinal() - _DAY_0) * _DAY_SECONDS + found[1], found[2])

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

    def read(self, text: str) -> bool | None:
        """See `read_boolean`: also t, yes, y, 1 and f, no, n, 0."""
        return read_boolean(text)

    def encode(self, value: Value) -> bytes:
        """00 or 01."""
        return b"\x01" if value else b"\x00"

    def decode(self, payload: bytes) -> bool:
        """The truth of one byte."""
        return payload != b"\x00"

    def text(self, value: Value) -> str:
        """The words true and false."""
        return "true" if value else "false"


def read_value(column_type: ColumnType, text: str) -> Value | None:
    """The value that a text is read as, in whatever spelling; None where it is none.

    >>> day = parse_type("date")
    >>> read_value(day, "2024-01-08"), read_value(day, "2024-01-08 00:00:00"), read_value(day, "soon")
    (datetime.date(2024, 1, 8), datetime.date(2024, 1, 8), None)
    """
    try:
        return column_type.parse(text)
    except ValueError:
        return column_type.read(text)


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
    hint = f"Use one of {', '.join(sorted(set(_SIMPLE) - {'integer', 'numeric'}))}, varchar(n), char(n), decimal(p,s)"
    raise InvalidType(
        "the type cannot be the type of a partition column", type=text, hint=did_you_mean(words, _SIMPLE, hint)
    )
