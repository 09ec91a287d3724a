"""Kryo 3 and Kryo 5 as Hive writes expressions with them: bytes for tests, made from small Python values."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache

PLAN = "org.apache.hadoop.hive.ql.plan."
GENERIC = "org.apache.hadoop.hive.ql.udf.generic."
TYPES = "org.apache.hadoop.hive.serde2.typeinfo."
LIST = "java.util.ArrayList"
COMPARE = ("compareOI", "compareType", "opDisplayName", "opName", "result")


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """An object: its class and its fields, each as bytes or another value of this module."""

    name: str
    fields: tuple


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Listed:
    """A list."""

    elements: tuple


def varint(number):
    """A number without a sign."""
    data = b""
    while number > 0x7F:
        data += bytes((number & 0x7F | 0x80,))
        number >>= 7
    return data + bytes((number,))


def zigzag(number, bits=32):
    """An int or a long."""
    number = (number << 1) ^ (number >> (bits - 1))
    number &= (1 << bits) - 1
    if bits == 32:
        return varint(number)
    data = b""
    for _ in range(8):
        if number <= 0x7F:
            return data + bytes((number,))
        data += bytes((number & 0x7F | 0x80,))
        number >>= 7
    return data + bytes((number,))


def flagged(number, flag=True):  # noqa: FBT002
    """A number whose first byte has a flag."""
    first = (0x80 if flag else 0) | number & 0x3F
    number >>= 6
    return bytes((first,)) if not number else bytes((first | 0x40,)) + varint(number)


def string(text):
    """A string."""
    if text is None:
        return b"\x80"
    if 2 <= len(text) <= 32 and text.isascii():
        data = text.encode()
        return data[:-1] + bytes((data[-1] | 0x80,))
    units = memoryview(text.encode("utf-16-be", "surrogatepass")).tobytes()
    codes = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return flagged(len(codes) + 1) + b"".join(map(_unit, codes))


def _unit(code):
    if code < 0x80:
        return bytes((code,))
    if code < 0x800:
        return bytes((0xC0 | code >> 6, 0x80 | code & 0x3F))
    return bytes((0xE0 | code >> 12, 0x80 | code >> 6 & 0x3F, 0x80 | code & 0x3F))


def column(name, type_name="string"):
    """A column."""
    return Thing(PLAN + "ExprNodeColumnDesc", (text(name), Raw(b"\1"), Raw(b"\0"), Raw(b"\0"), kind(type_name)))


def text(value):
    """A string field: its marker and itself."""
    return Raw(b"\1" + string(value))


@cache
def kind(name):
    """A type without a length; as in Hive, there is one object of each."""
    return Thing(TYPES + "PrimitiveTypeInfo", (text(name),))


def constant(value, type_name=None):
    """A constant: a str, an int, a bool, a float, None, or a value of this module."""
    if type_name is None:
        type_name = {str: "string", int: "int", bool: "boolean", float: "double"}.get(type(value), "void")
    return Thing(PLAN + "ExprNodeConstantDesc", (kind(type_name), _boxed(value)))


def _boxed(value):
    if value is None:
        return Raw(b"\0")
    if isinstance(value, bool):
        return Raw(bytes((3 + 2, value)))
    if isinstance(value, int):
        return Raw(b"\2" + zigzag(value))
    if isinstance(value, str):
        return Raw(b"\3\1" + string(value))
    if isinstance(value, float):
        return Raw(b"\x0a" + struct.pack(">d", value))
    return value


RESULT = Thing("org.apache.hadoop.io.BooleanWritable", (Raw(b"\0"),))
FIELDS = {
    "In": (RESULT, Raw(b"\0")),
    "Between": (Raw(b"\0"), Raw(b"\0"), Raw(b"\0"), RESULT),
    "Struct": (),
    "Upper": (),
    "ToDate": (),
    **dict.fromkeys(("OPAnd", "OPOr", "OPNot", "OPNull", "OPNotNull", "RegExp"), (RESULT,)),
}
OPERATORS = {
    "=": "OPEqual",
    "<>": "OPNotEqual",
    "<": "OPLessThan",
    "<=": "OPEqualOrLessThan",
    ">": "OPGreaterThan",
    ">=": "OPEqualOrGreaterThan",
    "<=>": "OPEqualNS",
    "and": "OPAnd",
    "or": "OPOr",
    "not": "OPNot",
    "is null": "OPNull",
    "is not null": "OPNotNull",
    "in": "In",
    "between": "Between",
    "rlike": "RegExp",
    "struct": "Struct",
    "upper": "Upper",
}


def call(function, *children, type_name="boolean"):
    """A call of a function."""
    if function == "like" or function.startswith("UDF"):
        old = "UDFLike" if function == "like" else function
        fields = (Raw(b"\0"), text(f"org.apache.hadoop.hive.ql.udf.{old}"), text(function))
        made = Thing(GENERIC + "GenericUDFBridge", fields)
    else:
        name = OPERATORS.get(function, function)
        compared = (Raw(b"\0"), Raw(b"\0"), text(function), text(function), RESULT)  # a Hive Metastore reads the first
        made = Thing(f"{GENERIC}GenericUDF{name}", FIELDS.get(name, compared))
    return Thing(PLAN + "ExprNodeGenericFuncDesc", (Listed(children), made, Raw(b"\0"), kind(type_name)))


class Writer:
    """Writes one expression; what occurs twice is written once, and then referred to."""

    def __init__(self, *, kryo5=False):
        self.kryo5 = kryo5
        self.names = []
        self.numbers = {}
        self.kept = []
        self.count = 0

    def expression(self, root):
        """The bytes of an expression."""
        return self.value(root) if self.kryo5 else self.content(root)

    def value(self, one):
        """Something with its class before it."""
        if isinstance(one, Raw):
            return one.data
        return self.named(LIST if isinstance(one, Listed) else one.name) + self.content(one)

    def named(self, name):
        """A class."""
        if name in self.names:
            return b"\1" + varint(self.names.index(name))
        self.names.append(name)
        return b"\1" + varint(len(self.names) - 1) + _ascii(name)

    def content(self, one):
        """The marker, and the fields or elements."""
        if id(one) in self.numbers:
            return varint(self.numbers[id(one)] + 2)
        self.numbers[id(one)] = self.count
        self.kept.append(one)  # as another object could get its id
        self.count += 1
        if isinstance(one, Listed):
            size = len(one.elements)
            head = varint(size) if not self.kryo5 else flagged(size + 1, flag=False)
            return b"\1" + head + b"".join(map(self._field, one.elements))
        later = b"\0" if self.kryo5 and one.name == GENERIC + "GenericUDFRegExp" else b""  # a field of Hive 4's
        return b"\1" + b"".join(map(self._field, one.fields)) + later

    def _field(self, one):
        if isinstance(one, Raw) and one.data[:1] == b"\1" and len(one.data) > 1:
            self.count += 1  # a text
        if isinstance(one, Raw) and one.data[:2] in (b"\3\1", b"\x0c\1", b"\x0d\1"):  # a text, a date, a timestamp
            self.count += 1
        return self.value(one)


def _ascii(name):
    data = name.encode()
    return data[:-1] + bytes((data[-1] | 0x80,))


def written(root, *, kryo5=False):
    """The bytes of an expression."""
    return Writer(kryo5=kryo5).expression(root)
