r"""Thrift's binary protocol, for structs that are given as tables of fields.

A *kind* reads and writes values of one Thrift type: `STRING`, `I32`, `BOOL`, `ListOf`, `MapOf`, `Struct`, …. A struct
is a table of field numbers, kinds and the names of attributes of the Python class that it is made into.

thriftpy2 is not used for it, for two reasons: its memory buffer does not notice when bytes run out and goes on with
what lies in memory behind them; and it cannot read maps whose keys are lists (SkewedInfo has one).

>>> from types import SimpleNamespace
>>> struct = Struct(SimpleNamespace, {1: ("column", STRING), 2: ("order", I32)})
>>> struct.write(SimpleNamespace(column="ds", order=1))
b'\x0b\x00\x01\x00\x00\x00\x02ds\x08\x00\x02\x00\x00\x00\x01\x00'
>>> struct.read(struct.write(SimpleNamespace(column="ds", order=1)), 0)
(namespace(column='ds', order=1), 17)
>>> Struct(SimpleNamespace, {2: ("order", I32)}, rest="others").read(b"\2\0\5\1\0", 0)
(namespace(others=b'\x02\x00\x05\x01'), 5)
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from operator import attrgetter
from typing import Any, Final, Generic, Protocol, TypeVar

from hbstore.errors import InvalidInput

T = TypeVar("T")
_INT32 = struct.Struct(">i")
_int32: Final = _INT32.unpack_from
_STOP = 0
_FIXED = {2: 1, 3: 1, 4: 8, 6: 2, 8: 4, 10: 8}
"""Sizes of Thrift's fixed types: bool, byte, double, i16, i32, i64."""
_STRING, _STRUCT, _MAP, SET, _LIST = 11, 12, 13, 14, 15
MAX_DEPTH = 64
"""How deep unknown fields may nest, as in Thrift itself."""


class WireType(Protocol):
    """Reads and writes the values of one Thrift type."""

    @property
    def code(self) -> int:
        """The type's number on the wire."""

    def read(self, data: bytes, at: int) -> tuple[Any, int]:
        """The value at a position, and the position behind it.

        Raises:
            ValueError, IndexError, struct.error: the bytes are not such a value, or run out.
        """

    def write(self, value: Any) -> bytes:
        """The bytes of a value.

        Raises:
            ValueError, TypeError, AttributeError, struct.error: the value is of another type or cannot be written.
        """


@dataclass(frozen=True, slots=True)
class String:
    """string: its size in 4 bytes, then UTF-8."""

    code: int = _STRING

    def read(self, data: bytes, at: int) -> tuple[str, int]:
        """A str; invalid UTF-8 is an error."""
        begin = at + 4
        size = _int32(data, at)[0]
        end = begin + size
        text = data[begin:end]
        if len(text) != size:  # a size below zero, too
            raise ValueError("a text is cut off")
        return text.decode(), end

    def write(self, value: str) -> bytes:
        """From a str."""
        text = value.encode()
        return len(text).to_bytes(4, "big") + text


@dataclass(frozen=True, slots=True)
class Binary:
    """binary: as a string, of any bytes."""

    code: int = _STRING

    def read(self, data: bytes, at: int) -> tuple[bytes, int]:
        """The bytes."""
        begin = at + 4
        end = begin + _INT32.unpack_from(data, at)[0]
        if not begin <= end <= len(data):
            raise ValueError("a binary is cut off")
        return bytes(data[begin:end]), end

    def write(self, value: bytes) -> bytes:
        """From bytes."""
        return len(value).to_bytes(4, "big") + value


@dataclass(frozen=True, slots=True)
class PackedNumber:
    """byte, i16, i32, i64, double: what `struct` packs."""

    code: int
    form: struct.Struct

    def read(self, data: bytes, at: int) -> tuple[Any, int]:
        """An int or a float."""
        return self.form.unpack_from(data, at)[0], at + self.form.size

    def write(self, value: float) -> bytes:
        """From a number that fits."""
        return self.form.pack(value)


@dataclass(frozen=True, slots=True)
class Bool:
    """bool: one byte."""

    code: int = 2

    def read(self, data: bytes, at: int) -> tuple[bool, int]:
        """A bool."""
        return data[at] != 0, at + 1

    def write(self, value: object) -> bytes:
        """From the truth of a value."""
        return b"\x01" if value else b"\x00"


STRING: Final = String()
BINARY: Final = Binary()
DOUBLE: Final = PackedNumber(4, struct.Struct(">d"))
BYTE: Final = PackedNumber(3, struct.Struct(">b"))
I16: Final = PackedNumber(6, struct.Struct(">h"))
I32: Final = PackedNumber(8, _INT32)
I64: Final = PackedNumber(10, struct.Struct(">q"))
BOOL: Final = Bool()


@dataclass(frozen=True, slots=True)
class ListOf:
    """list, or with the code `SET` set: the code of its items, their number, the items. Read as a tuple."""

    item: WireType
    code: int = _LIST

    def read(self, data: bytes, at: int) -> tuple[tuple[Any, ...], int]:
        """A tuple of items."""
        number = _size(data, at + 1)
        if number and data[at] != self.item.code:
            raise ValueError("a list holds items of another type")
        at += 5
        items = []
        read = self.item.read
        for _ in range(number):
            item, at = read(data, at)
            items.append(item)
        return tuple(items), at

    def write(self, value: Any) -> bytes:
        """From a sequence."""
        write = self.item.write
        return bytes((self.item.code,)) + _INT32.pack(len(value)) + b"".join([write(item) for item in value])


@dataclass(frozen=True, slots=True)
class MapOf:
    """map: the codes of keys and values, their number, and both in turn. Read as what ``make`` makes of a dict."""

    key: WireType
    value: WireType
    make: Callable[[dict[Any, Any]], Any] = dict
    code: int = _MAP

    def read(self, data: bytes, at: int) -> tuple[Any, int]:
        """A mapping in the order of the bytes."""
        number = _size(data, at + 2)
        if number and (data[at] != self.key.code or data[at + 1] != self.value.code):
            raise ValueError("a map holds keys or values of another type")
        at += 6
        mapping = {}
        read_key, read_value = self.key.read, self.value.read
        for _ in range(number):
            key, at = read_key(data, at)
            mapping[key], at = read_value(data, at)
        return self.make(mapping), at

    def write(self, value: Mapping[Any, Any]) -> bytes:
        """From a mapping, in its order."""
        parts = [bytes((self.key.code, self.value.code)), _INT32.pack(len(value))]
        for key, item in value.items():
            parts += (self.key.write(key), self.value.write(item))
        return b"".join(parts)


@dataclass(frozen=True, slots=True)
class Struct(Generic[T]):
    """struct: each field as its kind's code, its number in 2 bytes and the value; a 00 ends it.

    Args:
        make: what reading calls with the fields found, by name; fields that are absent are left to its defaults.
        fields: field number -> (attribute, kind), in the order of writing. An attribute that is None is not written.
        rest: the attribute that keeps all other fields unchanged; None passes them over.
    """

    make: Callable[..., T]
    fields: Mapping[int, tuple[str, WireType]]
    code: int = _STRUCT
    rest: str | None = None
    _readers: dict[bytes, tuple[str, Callable[[bytes, int], tuple[Any, int]]]] = field(init=False, repr=False)
    _writers: tuple[tuple[bytes, Callable[[Any], Any], Callable[[Any], bytes]], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        heads = [(field_head(kind, number), name, kind) for number, (name, kind) in self.fields.items()]
        object.__setattr__(self, "_readers", {head: (name, kind.read) for head, name, kind in heads})
        object.__setattr__(self, "_writers", tuple((head, attrgetter(name), kind.write) for head, name, kind in heads))

    def read(self, data: bytes, at: int) -> tuple[T, int]:
        """What ``make`` makes of the fields.

        Raises:
            InvalidInput: a field that ``make`` has no default for is absent.
        """
        fields, at = self.read_fields(data, at)
        try:
            return self.make(**fields), at
        except TypeError as error:
            self._check_required(fields, error)
            raise

    def read_fields(self, data: bytes, at: int) -> tuple[dict[str, Any], int]:
        """The fields by name; fields of another type, and unknown ones without ``rest``, are passed over."""
        fields: dict[str, Any] = {}
        others: list[bytes] = []
        readers = self._readers
        while True:
            known = readers.get(data[at : at + 3])
            if known is not None:
                fields[known[0]], at = known[1](data, at + 3)
            elif data[at] == _STOP:
                break
            else:
                begin, at = at, skip(data, at + 3, data[at])
                if int.from_bytes(data[begin + 1 : begin + 3]) not in self.fields:
                    others.append(data[begin:at])
        if others and self.rest is not None:
            fields[self.rest] = b"".join(others)
        return fields, at + 1

    def _check_required(self, fields: dict[str, Any], error: TypeError) -> None:
        parameters = signature(self.make).parameters
        absent = [name for name, _ in self.fields.values() if name in parameters and name not in fields]
        required = [name for name in absent if parameters[name].default is Parameter.empty]
        if required:
            name = self.make.__name__.lstrip("_")
            raise InvalidInput("fields are missing", struct=name, fields=required, hint="Give each a value") from error

    def write(self, value: Any) -> bytes:
        """From an object with the fields as attributes."""
        return self.write_fields(value, self.fields) + self.write_rest(value) + b"\0"

    def write_fields(self, value: Any, numbers: Any) -> bytes:
        """Some of the fields, without the end of the struct.

        Args:
            value: an object with the fields as attributes.
            numbers: a container of the numbers of those that are written.
        """
        parts: list[bytes] = []
        for number, (head, get, write) in zip(self.fields, self._writers, strict=True):
            if number in numbers and (given := get(value)) is not None:
                parts += (head, write(given))
        return b"".join(parts)

    def write_rest(self, value: Any) -> bytes:
        """The fields that came besides those of the table.

        Raises:
            ValueError, IndexError, struct.error, TypeError: they are no such fields.
        """
        others = b"" if self.rest is None else getattr(value, self.rest)
        if not isinstance(others, bytes):
            raise TypeError(f"fields of later versions are bytes, not {type(others).__name__}")
        at = 0
        while at < len(others):
            if int.from_bytes(others[at + 1 : at + 3]) in self.fields:
                raise ValueError("a field stands among the others")
            at = skip(others, at + 3, others[at])
        if at > len(others):
            raise ValueError("a field is cut off")
        return others


def field_head(kind: WireType, number: int) -> bytes:
    r"""What stands before a field's value.

    >>> field_head(STRING, 2)
    b'\x0b\x00\x02'
    """
    return bytes((kind.code, number >> 8, number & 255))


def find_field(data: bytes, at: int, head: bytes) -> int:
    """The position behind a field's head in the struct that begins at a position.

    Raises:
        ValueError, IndexError, struct.error: it has no such field, or the bytes are no struct.
    """
    while data[at] != _STOP:
        if data.startswith(head, at):
            return at + 3
        at = skip(data, at + 3, data[at])
    raise ValueError("no such field")


def skip(data: bytes, at: int, code: int, depth: int = MAX_DEPTH) -> int:
    """The position behind a value of any type.

    Raises:
        ValueError, IndexError, struct.error: there is no such type, it is nested too deeply, or the bytes run out.
    """
    if code in _FIXED:
        return at + _FIXED[code]
    if code == _STRING:
        return at + 4 + _size(data, at)
    if not depth:
        raise ValueError("nested too deeply")
    if code == _STRUCT:
        while (inner := data[at]) != _STOP:
            at = skip(data, at + 3, inner, depth - 1)
        return at + 1
    if code in (_LIST, SET, _MAP):
        return _skip_container(data, at, 2 if code == _MAP else 1, depth)
    raise ValueError(f"no such Thrift type: {code}")


def _skip_container(data: bytes, at: int, codes: int, depth: int) -> int:
    """Behind a container whose head holds the codes of its items, or of its keys and values."""
    kinds = data[at : at + codes]
    number = _size(data, at + codes)
    at += codes + 4
    for _ in range(number):
        for kind in kinds:
            at = skip(data, at, kind, depth - 1)
        if at > len(data):
            raise ValueError("the bytes run out")
    return at


def _size(data: bytes, at: int) -> int:
    size: int = _INT32.unpack_from(data, at)[0]
    if size < 0:
        raise ValueError("a size is below zero")
    return size
