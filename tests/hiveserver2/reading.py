"""Reads TRowSet and TTableSchema with the Thrift library, which knows nothing of hbstore: every value on its own."""

from __future__ import annotations

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TType
from thrift.transport.TTransport import TMemoryBuffer

KINDS = {1: TType.BOOL, 2: TType.BYTE, 3: TType.I16, 4: TType.I32, 5: TType.I64, 6: TType.DOUBLE, 7: "text", 8: "bytes"}
"""The fields of the union TColumn, and what their lists hold."""


def struct_of(data):
    """A whole struct: field number -> value; there is nothing behind it."""
    buffer = TMemoryBuffer(data)
    value = _value(TBinaryProtocol(buffer), TType.STRUCT)
    assert not buffer._buffer.read()
    return value


def _value(protocol, kind):
    if kind == TType.STRUCT:
        fields = {}
        protocol.readStructBegin()
        while True:
            _, kind, number = protocol.readFieldBegin()
            if kind == TType.STOP:
                return fields
            assert number not in fields
            fields[number] = _value(protocol, kind)
    if kind == TType.LIST:
        kind, size = protocol.readListBegin()
        return Items(kind, [_value(protocol, kind) for _ in range(size)])
    if kind == TType.MAP:
        key, kind, size = protocol.readMapBegin()
        return {_value(protocol, key): _value(protocol, kind) for _ in range(size)}
    read = {
        TType.BOOL: protocol.readBool,
        TType.BYTE: protocol.readByte,
        TType.I16: protocol.readI16,
        TType.I32: protocol.readI32,
        TType.I64: protocol.readI64,
        TType.DOUBLE: protocol.readDouble,
        TType.STRING: protocol.readBinary,
    }[kind]
    return read()


class Items(list):
    """A list that knows the type of its items."""

    def __init__(self, kind, items):
        super().__init__(items)
        self.kind = kind


def column_of(fields):
    """A TColumn: the field of the union, its values with None where they are NULL, and what stands there."""
    [(field, inner)] = fields.items()
    assert set(inner) == {1, 2}
    values, nulls = inner[1], inner[2]
    kind = KINDS[field]
    assert values.kind == (kind if isinstance(kind, int) else TType.STRING)
    if kind == "text":
        values = [value.decode() for value in values]
    assert not nulls.endswith(b"\0")
    bits = [at < 8 * len(nulls) and nulls[at // 8] >> at % 8 & 1 for at in range(len(values))]
    assert not any(nulls[at // 8] >> at % 8 & 1 for at in range(len(values), 8 * len(nulls)))
    fillers = [value for value, null in zip(values, bits, strict=True) if null]
    return field, [None if null else value for value, null in zip(values, bits, strict=True)], fillers


def row_set_of(data):
    """A TRowSet: the rows before it, and its columns as `column_of` gives them."""
    fields = struct_of(data)
    assert set(fields) == {1, 2, 3}
    assert fields[2] == []
    assert fields[2].kind == fields[3].kind == TType.STRUCT
    return fields[1], [column_of(one) for one in fields[3]]


def schema_of(data):
    """A TTableSchema: for each column its name, TTypeId, qualifiers, position and comment."""
    columns = []
    for fields in struct_of(data)[1]:
        [entry] = fields[2][1]
        [(union, primitive)] = entry.items()
        assert union == 1
        qualifiers = {name.decode(): value[1] for name, value in primitive[2][1].items()}
        columns.append((fields[1].decode(), primitive[1], qualifiers, fields[3], fields[4].decode()))
    return columns
