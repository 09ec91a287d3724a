"""Thrift's binary protocol as trees, without any struct's definition: what goes over the wire, field for field.

A struct is a dict of field numbers; a value is a pair of its type and what it holds:
``{1: (STRING, "ds"), 2: (LIST, (STRING, ["a"])), 3: (MAP, (STRING, I32, {"a": 1}))}``. Items of lists, and keys of maps
that are lists, are of the one type that stands before them; keys that are lists stand as tuples.
"""

from __future__ import annotations

import struct

BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
_PACKED = {BOOL: ">?", BYTE: ">b", DOUBLE: ">d", I16: ">h", I32: ">i", I64: ">q"}
_VERSION_AND_CALL = 0x80010001


def strings(*items):
    return LIST, (STRING, list(items))


def texts(**items):
    return MAP, (STRING, STRING, dict(items))


def structs(*items):
    return LIST, (STRUCT, list(items))


def call(method, arguments):
    """The bytes of a call."""
    name = method.encode()
    head = struct.pack(">II", _VERSION_AND_CALL, len(name)) + name + struct.pack(">i", 1)
    return head + _write(STRUCT, arguments)


def result(method, reply):
    """What a reply's result holds, as a struct: 0 is what the method returns, others are exceptions."""
    at = 4 + 4 + len(method) + 4
    found, end = _read(STRUCT, reply, at)
    assert end == len(reply)
    return found


def _write(kind, value):
    if kind in _PACKED:
        return struct.pack(_PACKED[kind], value)
    if kind == STRING:
        data = value if isinstance(value, bytes) else value.encode()
        return struct.pack(">i", len(data)) + data
    if kind == STRUCT:
        fields = (struct.pack(">bh", type_, number) + _write(type_, one) for number, (type_, one) in value.items())
        return b"".join(fields) + b"\0"
    if kind == MAP:
        key, item, entries = value
        parts = (_write(*_typed(key, one)) + _write(*_typed(item, entries[one])) for one in entries)
        return struct.pack(">bbi", _code(key), _code(item), len(entries)) + b"".join(parts)
    item, items = value
    return struct.pack(">bi", _code(item), len(items)) + b"".join(_write(*_typed(item, one)) for one in items)


def _code(kind):
    """The type's number; a list of something is given as a tuple."""
    return kind[0] if isinstance(kind, tuple) else kind


def _typed(kind, value):
    if isinstance(kind, tuple):
        return kind[0], (kind[1], value)
    return kind, value


def _read(kind, data, at):
    if kind in _PACKED:
        form = struct.Struct(_PACKED[kind])
        return form.unpack_from(data, at)[0], at + form.size
    if kind == STRING:
        end = at + 4 + struct.unpack_from(">i", data, at)[0]
        assert end <= len(data)
        return data[at + 4 : end].decode(), end
    if kind == STRUCT:
        found = {}
        while data[at]:
            type_, number = struct.unpack_from(">bh", data, at)
            value, at = _read(type_, data, at + 3)
            found[number] = type_, value
        return found, at + 1
    if kind == MAP:
        return _read_map(data, at)
    item, number = struct.unpack_from(">bi", data, at)
    return _read_items(item, number, data, at + 5)


def _read_items(item, number, data, at):
    items = []
    for _ in range(number):
        value, at = _read(item, data, at)
        items.append(value[1] if item == LIST else value)
    inner = (LIST, STRING) if item == LIST else item
    return (inner, items), at


def _read_map(data, at):
    key, item, number = struct.unpack_from(">bbi", data, at)
    at += 6
    entries = {}
    for _ in range(number):
        one, at = _read(key, data, at)
        value, at = _read(item, data, at)
        one = tuple(one[1]) if key == LIST else one
        entries[one] = value[1] if item == LIST else value
    inner = [(LIST, STRING if kind == key else STRUCT) if kind == LIST else kind for kind in (key, item)]
    return (*inner, entries), at
