r"""The bytes of an expression to its nodes; docs/hive-expressions.md says what is read and what is refused."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from hbstore.errors import ExpressionUnreadable
from hbstore.hive_expressions.classes import KRYO3, KRYO5, KRYO5_LATER_TEXT, ROOT
from hbstore.hive_expressions.nodes import Node, NodeMaker
from hbstore.hive_expressions.objects import ObjectReader
from hbstore.hive_expressions.refusal import unreadable
from hbstore.hive_expressions.used import TEXT, Fields

MAX_BYTES: Final = 2 * 1024 * 1024
"""Room for an IN list of 30,000 values."""

_TEXT: Final = TEXT[:-1].encode()
"""The class's name but for its last character, which is marked as such."""


def read_expression(data: bytes) -> Node:
    r"""The nodes of an expression as Hive 2.3, 3.1, 4.0 or 4.1 writes it. O(bytes).

    Hive 4 writes the root's class before it and uses Kryo 5; the others write the root alone, with Kryo 3. Bytes are
    only looked at: no class that they name is looked for or loaded.

    Raises:
        ExpressionUnreadable: the bytes are no such expression, or one beyond what is documented.

    >>> read_expression(b"\x01\x00\x01")
    Traceback (most recent call last):
    hbstore.errors.ExpressionUnreadable: Hive's expression cannot be read: the bytes end too early: bytes=3...
    """
    if len(data) > MAX_BYTES:
        raise unreadable("it has too many bytes", bytes=len(data), limit=MAX_BYTES)
    if data[1:2] != b"\x00":
        return _read(data, KRYO3, kryo5=False)
    try:
        return _read(data, KRYO5, kryo5=True)
    except ExpressionUnreadable:
        if _TEXT not in data:
            raise
        return _read(data, KRYO5_LATER_TEXT, kryo5=True)  # which Hadoop the client has, the bytes do not say


def _read(data: bytes, fields: Mapping[str, Fields], *, kryo5: bool) -> Node:
    reader = ObjectReader(data, fields, kryo5=kryo5)
    try:
        root = reader.any_object() if kryo5 else reader.root(ROOT)
    except (IndexError, struct.error):
        raise unreadable("the bytes end too early", bytes=len(data)) from None
    if reader.cursor.at != len(data):
        raise unreadable("bytes follow behind it", at=reader.cursor.at, bytes=len(data))
    return NodeMaker().node(root)[0]
