r"""The kinds (`hbstore.thrift.wire`) of what an IDL declares: thriftpy2 reads the IDL, and hbstore the bytes.

thriftpy2 makes a class of each struct and exception. Some structs are not made into these: an IDL's `StructKinds` is
told the kinds of those that hbstore has values or ready bytes for.

>>> ReadyStruct(STRING.read, str.encode).write(b"bytes that are made already")
b'bytes that are made already'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import thriftpy2
from thriftpy2.thrift import TType

from hbstore.thrift.wire import BINARY, BOOL, BYTE, DOUBLE, I16, I32, I64, SET, STRING, ListOf, MapOf, Struct, WireType

_STRUCT: Final = 12
_TEXTS: Final = ListOf(STRING)
_TEXTS_HEAD: Final = bytes((STRING.code,))
_SIZES: Final = [size.to_bytes(4, "big").decode("ascii") for size in range(128)]
"""What stands before a text of so many bytes, as far as that is ASCII."""

_SIMPLE: Final[Mapping[int, WireType]] = {
    TType.STRING: STRING,
    TType.BINARY: BINARY,
    TType.BOOL: BOOL,
    TType.DOUBLE: DOUBLE,
    TType.BYTE: BYTE,
    TType.I16: I16,
    TType.I32: I32,
    TType.I64: I64,
}


def load_idl(file: Path, name: str, *, includes: Sequence[Path] = ()) -> Any:
    """What thriftpy2 makes of an IDL: a module with its structs, exceptions and services as classes.

    Args:
        file: the IDL.
        name: the module's, which ends with ``_thrift``.
        includes: folders of the files that it includes.
    """
    return thriftpy2.load(str(file), module_name=name, include_dirs=[str(folder) for folder in includes])


@dataclass(frozen=True, slots=True)
class ReadyStruct:
    """The kind of a struct whose bytes are there already, or that is written from a value.

    Attributes:
        read: as of every kind.
        encode: the bytes of a value.
    """

    read: Callable[[bytes, int], tuple[Any, int]]
    encode: Callable[[Any], bytes]
    code: int = _STRUCT

    def write(self, value: Any) -> bytes:
        """From bytes, as they are, or from a value."""
        return value if isinstance(value, bytes) else self.encode(value)


@dataclass(frozen=True, slots=True)
class Texts:
    r"""list<string>, of which there may be 100,000: ASCII texts of less than 128 characters are written all at once.

    >>> Texts().write(["ds=1"]), Texts().write(["é"])
    (b'\x0b\x00\x00\x00\x01\x00\x00\x00\x04ds=1', b'\x0b\x00\x00\x00\x01\x00\x00\x00\x02\xc3\xa9')
    """

    code: int = _TEXTS.code

    def read(self, data: bytes, at: int) -> tuple[tuple[str, ...], int]:
        """A tuple of str."""
        return _TEXTS.read(data, at)

    def write(self, value: Sequence[str]) -> bytes:
        """From a sequence of str."""
        try:
            text = "".join([_SIZES[len(one)] + one for one in value]).encode("ascii")
        except (IndexError, UnicodeEncodeError):
            return _TEXTS.write(value)
        return _TEXTS_HEAD + len(value).to_bytes(4, "big") + text


class StructKinds:
    """The kinds of an IDL's structs and types.

    Args:
        own: the kinds of structs that are not made into thriftpy2's classes, by the structs' names.
        mapping: what a map becomes, from a dict.
    """

    __slots__ = ("_by_class", "_mapping", "_own")

    def __init__(self, own: Mapping[str, WireType], mapping: Callable[[dict[Any, Any]], Any] = dict) -> None:
        self._own = own
        self._mapping = mapping
        self._by_class: dict[type, WireType] = {}

    def struct(self, made: type) -> WireType:
        """The kind of a struct, given as thriftpy2's class of it."""
        kind = self._own.get(made.__name__) or self._by_class.get(made)
        if kind is None:
            specs: Mapping[int, tuple[Any, ...]] = made.thrift_spec  # type: ignore[attr-defined]
            fields = {number: (spec[1], self.field(spec)) for number, spec in sorted(specs.items())}
            kind = self._by_class[made] = Struct(made, fields)
        return kind

    def field(self, spec: tuple[Any, ...]) -> WireType:
        """The kind of a field, as thriftpy2's ``thrift_spec`` gives it."""
        return self._kind(spec[0], spec[2] if len(spec) > 3 else None)  # noqa: PLR2004  of containers and structs

    def _kind(self, code: int, inner: Any) -> WireType:
        """The kind of a type as thriftpy2 gives it: a code, and of containers and structs what is inside."""
        if code == TType.STRUCT:
            return self.struct(inner)
        if code == TType.LIST and inner == TType.STRING:
            return Texts()
        if code in (TType.LIST, TType.SET):
            return ListOf(self._item(inner), *([SET] if code == TType.SET else []))
        if code == TType.MAP:
            return MapOf(self._item(inner[0]), self._item(inner[1]), self._mapping)
        return _SIMPLE[code]

    def _item(self, given: Any) -> WireType:
        """The kind of a container's items: a bare code, or a pair of a code and what is inside."""
        return self._kind(*given) if isinstance(given, tuple) else self._kind(given, None)
