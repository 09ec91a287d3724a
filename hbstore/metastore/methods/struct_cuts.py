r"""Structs without the fields that nobody asks for, cut out of their bytes.

A *cut* says which fields stay: field number -> None, where the whole field stays, or the cut of the structs inside. It
is made from names as clients write them, ``sd.serdeInfo.serializationLib``, by the IDL's own names.

>>> from hbstore.metastore.protocol import THRIFT
>>> cut = cut_of(THRIFT.hive_metastore.Partition, ["values", "sd.location", "sd.cols.name"])
>>> cut
{1: None, 6: {2: None, 1: {1: None}}}
>>> STRUCT_OF_TWO = b"\x0b\0\1\0\0\0\1a\x0b\0\2\0\0\0\1b\0"
>>> cut_struct(STRUCT_OF_TWO, 0, {2: None})
b'\x0b\x00\x02\x00\x00\x00\x01b\x00'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from thriftpy2.thrift import TType

from hbstore.errors import InvalidInput
from hbstore.thrift.wire import skip

Cut: TypeAlias = Mapping[int, "Cut | None"]
_STOP: Final = 0
_HEAD: Final = 3
_LIST_HEAD: Final = 5


def cut_of(struct: Any, names: Iterable[str]) -> Cut:
    """The cut that leaves the named fields, and what is inside them.

    Args:
        struct: thriftpy2's class of the struct.
        names: of fields, and of fields inside them behind a dot.

    Raises:
        InvalidInput: the struct has no such field.
    """
    cut: dict[int, Any] = {}
    for name in names:
        inside: dict[int, Any] | None = cut
        kind = struct
        parts = name.split(".")
        for at, part in enumerate(parts):
            number, kind = _field(kind, part, name)
            last = at == len(parts) - 1
            if inside is None or (number in inside and inside[number] is None):
                inside = None  # all of what is around it stays
            elif last:
                inside[number] = None
            else:
                inside = inside.setdefault(number, {})
    return cut


def cut_struct(data: bytes, at: int, cut: Cut) -> bytes:
    """A struct at a position in bytes, with only the fields that a cut leaves.

    Raises:
        ValueError, IndexError, struct.error: there is no struct.
    """
    kept: list[bytes] = []
    while (code := data[at]) != _STOP:
        begin, at = at, skip(data, at + _HEAD, code)
        number = int.from_bytes(data[begin + 1 : begin + _HEAD])
        if number in cut:
            inside = cut[number]
            kept.append(data[begin:at] if inside is None else _cut_inside(data, begin, at, inside))
    return b"".join((*kept, b"\0"))


def field_slices(data: bytes, at: int) -> dict[int, tuple[int, int]]:
    """Where the values of a struct's fields are: number -> begin, end."""
    slices = {}
    while (code := data[at]) != _STOP:
        begin, at = at, skip(data, at + _HEAD, code)
        slices[int.from_bytes(data[begin + 1 : begin + _HEAD])] = begin + _HEAD, at
    return slices


def _field(struct: Any, part: str, name: str) -> tuple[int, Any]:
    """The number of a struct's field, and the class of the structs inside it; None where there are none."""
    for number, spec in () if struct is None else struct.thrift_spec.items():
        if spec[1] == part:
            inner = spec[2] if len(spec) > 3 else None  # noqa: PLR2004  of containers and structs
            if spec[0] == TType.LIST:
                inner = inner[1] if isinstance(inner, tuple) and inner[0] == TType.STRUCT else None
            return number, inner if spec[0] in (TType.STRUCT, TType.LIST) else None
    raise InvalidInput("a partition has no such field", field=name, hint="Name fields such as values or sd.location")


def _cut_inside(data: bytes, begin: int, end: int, cut: Cut) -> bytes:
    """A field whose value is a struct or a list of structs, with these cut."""
    head, at = data[begin : begin + _HEAD], begin + _HEAD
    if head[0] == TType.STRUCT:
        return head + cut_struct(data, at, cut)
    parts = [head, data[at : at + _LIST_HEAD]]
    at += _LIST_HEAD
    while at < end:
        parts.append(cut_struct(data, at, cut))
        at = skip(data, at, TType.STRUCT)
    return b"".join(parts)
