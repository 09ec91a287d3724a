r"""Row keys: ``db 00 table 00 value1 … valueN trailer``.

Names are those that the table was created with. A table of a name that was used before has ``01`` and the number of its
life in place of the second ``00``, so it never meets rows or delete markers of an earlier one.

A value is a *cell*: a tag byte and a payload. Tag 01 is the null partition, 02 a value of the column's type, 03 text
that is no value of that type. A *respelled* value, a text such as ``05`` or ``9.0`` in an int column, has FE and the
text behind the payload of the value that engines read: it is found by the value, and stays a partition of its own.

Cells sort as their values do, whatever stands behind them, so the keys of a table sort as its partitions do. The
trailer holds each cell's offset in 2 bytes, so that the k-th cell is found without reading the others. docs/keys.md has
the layout with vectors; the source of the three properties is the Hive wiki's page on partition filters over HBase.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from hbstore.errors import CorruptRow, InvalidPartitionValue
from hbstore.keys.types import ColumnType, Value, escape, read_value, unescape

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""Hive's name for the partition of rows whose partition column is NULL or the empty text."""

TAG_NULL, TAG_VALUE, TAG_TEXT = b"\x01", b"\x02", b"\x03"
TAG_END = b"\x04"
"""Above every cell."""

RESPELLED = b"\xfe"
"""Stands between the payload of a value and a text that spells it otherwise. Behind a cell stands a tag or a trailer,
all of which are less; so ``cell + RESPELLED`` ends the range of exactly this spelling."""

MAX_KEY = 32_767
"""Bytes in a row key; HBase takes no more."""


FIRST_LIFE, LATER_LIFE = b"\0", b"\1"
"""What ends the table's name in keys of the first table that has it, and of those after it."""
_NAMES: Final = re.compile(rb"[^\0]+\0[^\0\1]+([\0\1])")


def table_prefix(database: str, table: str, life: int = 0) -> bytes:
    r"""What the keys of all partitions of a table begin with.

    Args:
        database: the database that the table was created in.
        table: the name that it was created with.
        life: 0 for the first table of the name; for a later one a number that no other table of the name has.

    >>> table_prefix("shop", "sales"), table_prefix("shop", "sales", 7), table_prefix("shop", "sales", 300)
    (b'shop\x00sales\x00', b'shop\x00sales\x01\x01\x07', b'shop\x00sales\x01\x02\x01,')
    """
    names = f"{database}\0{table}".encode()
    if not life:
        return names + FIRST_LIFE
    size = (life.bit_length() + 7) // 8
    return names + LATER_LIFE + bytes((size,)) + life.to_bytes(size, "big")


def prefix_in(key: bytes) -> bytes | None:
    r"""The prefix of a partition's key, or None where it begins with none.

    >>> prefix_in(b"shop\0sales\0\2..."), prefix_in(b"shop\0sales\1\1\7\2..."), prefix_in(b"shop\0")
    (b'shop\x00sales\x00', b'shop\x00sales\x01\x01\x07', None)
    """
    names = _NAMES.match(key)
    if names is None or names[1] == FIRST_LIFE:
        return names and names[0]
    end = names.end() + 1 + key[names.end()] if len(key) > names.end() else 0
    return key[:end] if 0 < end <= len(key) else None


def names_in(prefix: bytes) -> tuple[str, str]:
    r"""The database and the table that a prefix begins with.

    Raises:
        UnicodeDecodeError: they are no text.

    >>> names_in(b"shop\0sales\1\1\7")
    ('shop', 'sales')
    """
    database, table = re.split(rb"[\0\1]", prefix, maxsplit=2)[:2]
    return database.decode(), table.decode()


def successor(prefix: bytes) -> bytes:
    r"""The smallest byte string above every string that begins with ``prefix``. It carries.

    >>> successor(b"a\xff")
    b'b'
    """
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        raise ValueError("no bytes are above a prefix of FF alone")
    return stripped[:-1] + bytes((stripped[-1] + 1,))


def after_cell(column_type: ColumnType, cell: bytes) -> bytes:
    r"""The end of the range that holds just this cell, its value's other spellings, and the keys that go on behind it.

    A payload of fixed width is counted up with its length kept, so that the end of 255 is the cell of 256 and
    neighbouring values make one range; where it overflows, the next tag follows. Behind the end of a text stands a
    tag or a trailer, both below FF, while a longer text that begins with this one goes on with FF: so FF it is.

    >>> from hbstore.keys.types import parse_type
    >>> after_cell(parse_type("boolean"), b"\x02\x00")
    b'\x02\x01'
    >>> after_cell(parse_type("boolean"), b"\x02\xff")
    b'\x03'
    >>> after_cell(parse_type("string"), b"\x02a\x00")
    b'\x02a\x00\xff'
    """
    tag = cell[:1]
    if tag == TAG_NULL:
        return TAG_VALUE
    if tag == TAG_TEXT or column_type.width is None or len(cell) > 1 + column_type.width:
        return cell + b"\xff"
    size = len(cell) - 1
    number = int.from_bytes(cell[1:], "big") + 1
    return TAG_TEXT if number >> (8 * size) else tag + number.to_bytes(size, "big")


def is_cell(data: bytes, column_type: ColumnType) -> bool:
    """Whether these bytes are one whole cell of the type, not a part of one."""
    tag = data[:1]
    if tag == TAG_NULL:
        return len(data) == 1
    if tag == TAG_VALUE and column_type.width is not None:
        return len(data) == 1 + column_type.width or (is_respelled(column_type, data) and data[-1] == 0)
    return tag in (TAG_VALUE, TAG_TEXT) and len(data) > 1 and data[-1] == 0


def is_respelled(column_type: ColumnType, cell: bytes) -> bool:
    """Whether a cell holds a value and a text that engines read as that, but that is not how the type spells it.

    >>> from hbstore.keys.types import parse_type
    >>> [is_respelled(parse_type("int"), text_cell(parse_type("int"), text)) for text in ("9", "09", "9.0", "nine")]
    [False, True, True, False]
    """
    width = column_type.width
    return width is not None and cell[1 + width : 2 + width] == RESPELLED and cell[:1] == TAG_VALUE


def value_part(column_type: ColumnType, cell: bytes) -> bytes:
    """The cell of the same value in its own spelling; the cell itself where it holds no other."""
    return cell[: 1 + column_type.width] if is_respelled(column_type, cell) else cell  # type: ignore[operator]


def value_cell(column_type: ColumnType, value: Value) -> bytes:
    """The cell of a typed value in its own spelling."""
    return TAG_VALUE + column_type.encode(value)


def text_cell(column_type: ColumnType, text: str) -> bytes:
    """The cell of a value's text: 01 for the null partition, 02 where it is a value, else 03 and the text itself.

    Each text has a cell of its own: the value's if the type spells the value so, else that of a respelled value. A text
    that is too long for its type is a value as it stands. The empty text is the null partition's, too, as in Hive's
    names and folders.

    Raises:
        ValueError: the text cannot be stored at all (a lone surrogate).
    """
    if not text or text == NULL_PARTITION:
        return TAG_NULL
    value = read_value(column_type, text)
    if value is None:
        return TAG_TEXT + escape(text)
    cell = value_cell(column_type, value)
    is_own = column_type.width is None or column_type.text(value) == text
    return cell if is_own else cell + RESPELLED + escape(text)


def fits(column_type: ColumnType, text: str) -> bool:
    """Whether a text is the null partition's, or one that Hive reads as a value of the type, such as ``05`` of an int.

    >>> from hbstore.keys.types import parse_type
    >>> fits(parse_type("int"), "05"), fits(parse_type("int"), "5.0")
    (True, False)
    """
    if not text or text == NULL_PARTITION:
        return True
    try:
        column_type.parse(text)
    except ValueError:
        return False
    return True


def cell_text(column_type: ColumnType, cell: bytes) -> str:
    """The text of a cell, as it was written.

    >>> from hbstore.keys.types import parse_type
    >>> cell_text(parse_type("int"), text_cell(parse_type("int"), "05"))
    '05'
    """
    tag = cell[:1]
    if tag == TAG_NULL:
        return NULL_PARTITION
    if is_respelled(column_type, cell):
        return unescape(cell[2 + column_type.width :])  # type: ignore[operator]
    if tag == TAG_VALUE:
        return column_type.text(column_type.decode(cell[1:]))
    return unescape(cell[1:])


@lru_cache(maxsize=64)
def _trailer_format(columns: int) -> struct.Struct:
    return struct.Struct(f">{columns}H")


def row_key(prefix: bytes, cells: Sequence[bytes]) -> bytes:
    r"""The key of the partition with these cells, one for each partition column in order.

    Raises:
        InvalidPartitionValue: the key would be longer than `MAX_KEY` bytes.

    >>> row_key(b"d\0t\0", [b"\x01", b"\x01"])
    b'd\x00t\x00\x01\x01\x00\x04\x00\x05'
    """
    offsets = []
    position = len(prefix)
    for cell in cells:
        offsets.append(position)
        position += len(cell)
    if position + 2 * len(offsets) > MAX_KEY:
        raise InvalidPartitionValue(
            "the partition values are too long",
            bytes=position + 2 * len(offsets),
            limit=MAX_KEY,
            hint="Shorten the values: names and values together must fit into one row key",
        )
    return prefix + b"".join(cells) + _trailer_format(len(offsets)).pack(*offsets)


def cell_at(key: bytes, column: int, columns: int) -> bytes:
    """The cell of one column, found from the trailer in O(1).

    Args:
        key: a whole row key.
        column: which column, from 0.
        columns: how many partition columns the table has.
    """
    return key[cell_start(key, column, columns) : cell_start(key, column + 1, columns)]


def cell_start(key: bytes, column: int, columns: int) -> int:
    """Where a column's cell begins in the key; for ``column == columns``, where the trailer begins."""
    trailer = len(key) - 2 * columns
    if column == columns:
        return trailer
    at = trailer + 2 * column
    return key[at] << 8 | key[at + 1]


def split_key(key: bytes, columns: int) -> tuple[bytes, tuple[bytes, ...]]:
    """The table prefix and the cells of a key.

    Raises:
        CorruptRow: the trailer does not fit the key.
    """
    trailer = len(key) - 2 * columns
    if trailer < 0:
        raise CorruptRow(
            "the row key is shorter than its trailer",
            key=key.hex(),
            hint="Run `hbstore check`: it lists all damaged rows",
        )
    starts = [*_trailer_format(columns).unpack(key[trailer:]), trailer]
    if any(left >= right for left, right in pairwise(starts)):
        raise CorruptRow(
            "the trailer does not match the row key",
            key=key.hex(),
            hint="Run `hbstore check`: it lists all damaged rows",
        )
    return key[: starts[0]], tuple(key[starts[at] : starts[at + 1]] for at in range(columns))
