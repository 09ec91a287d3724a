"""Random messages: calls as thriftpy2 writes them, and structs of any form."""

from __future__ import annotations

import struct

from hypothesis import strategies as st
from thriftpy2.thrift import TType

from hbstore.metastore.protocol import METHODS, THRIFT
from tests.metastore.client import message

_NUMBERS = {TType.BYTE: 8, TType.I16: 16, TType.I32: 32, TType.I64: 64}
FIXED = {2: 1, 3: 1, 4: 8, 6: 2, 8: 4, 10: 8}
"""Sizes of Thrift's fixed types by their codes."""


SOME_TEXTS = st.text(max_size=8)


@st.composite
def calls(draw, texts=SOME_TEXTS):
    """A method's name, and the bytes of a call of it with random arguments; its texts are drawn from some."""
    name = draw(st.sampled_from(sorted(METHODS)))
    given = getattr(THRIFT.ThriftHiveMetastore, f"{name}_args")
    arguments = [draw(_field(spec, texts)) for _, spec in sorted(given.thrift_spec.items())]
    return name, message(name, *arguments)


def _field(spec, texts):
    return st.none() | _values(spec[0], spec[2] if len(spec) > 3 else None, texts)


def _values(code, inner, texts):  # noqa: PLR0911  a type, a return
    if code in _NUMBERS:
        bits = _NUMBERS[code]
        return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) | st.integers(-2, 20)
    if code == TType.BOOL:
        return st.booleans()
    if code == TType.DOUBLE:
        return st.floats(allow_nan=False)
    if code == TType.STRUCT:
        return _structs(inner, texts)
    if code in (TType.LIST, TType.SET):
        return st.lists(_item(inner, texts), max_size=3)
    if code == TType.MAP:
        key, value = inner
        return st.dictionaries(_hashable(key, texts), _item(value, texts), max_size=3)
    return texts


def _item(given, texts):
    code, inner = given if isinstance(given, tuple) else (given, None)
    return _values(code, inner, texts)


def _hashable(key, texts):
    return _item(key, texts).map(tuple) if isinstance(key, tuple) else _item(key, texts)


@st.composite
def _structs(draw, made, texts):
    fields = {spec[1]: draw(_field(spec, texts)) for _, spec in sorted(made.thrift_spec.items())}
    return made(**fields)


@st.composite
def any_messages(draw):
    """The bytes of a message with any struct behind its head, with a version or without."""
    name = draw(st.text("abcXYZ_019.", min_size=1, max_size=12)).encode()
    body = draw(any_values()).get(12, b"\0")
    sequence = draw(st.binary(min_size=4, max_size=4))
    sized = struct.pack(">i", len(name)) + name
    if draw(st.booleans()):
        return b"\x80\x01\x00\x01" + sized + sequence + body
    return sized + b"\x01" + sequence + body


def any_values():
    """Values of any type, as a mapping from the code of each type to the bytes of a value of it."""
    simple = st.fixed_dictionaries(
        {code: st.binary(min_size=size, max_size=size) for code, size in FIXED.items()}
        | {11: st.binary(max_size=6).map(lambda text: struct.pack(">i", len(text)) + text)}
    )
    return st.recursive(simple, _containers, max_leaves=6)


@st.composite
def _containers(draw, values):
    """Containers and structs of values that one draw made."""
    made = draw(values)
    codes = st.sampled_from(sorted(made))
    item, key, number = draw(codes), draw(codes), draw(st.integers(0, 3))
    size = struct.pack(">i", number)
    listed = bytes((item,)) + size + made[item] * number
    fields = [
        bytes((code,)) + draw(st.binary(min_size=2, max_size=2)) + made[code]
        for code in draw(st.lists(codes, max_size=3))
    ]
    return {
        **made,
        15: listed,
        14: listed,
        13: bytes((key, item)) + size + (made[key] + made[item]) * number,
        12: b"".join(fields) + b"\0",
    }
