r"""A row key, or a place between row keys, cut into its fields: what each of its bytes says.

>>> from hbstore.keys.types import parse_type
>>> schema = KeySchema(b"shop\0sales\0", ("ds", "hour"), (parse_type("date"), parse_type("int")))
>>> [field.text for field in key_fields(b"shop\0sales\0\x02\x80\x00\x3d\x5a", schema)]
['shop', 'sales', 'value', "ds '2013-01-01'"]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.keys.row_key import RESPELLED, TAG_NULL, TAG_TEXT, TAG_VALUE, is_cell, names_in, split_key
from hbstore.keys.types import ColumnType
from hbstore.plans.notation import bound_notation, cell_notation, cell_size
from hbstore.plans.schema import KeySchema

_BEHIND: Final = (b"\xff", RESPELLED)
_TAGS: Final = {TAG_NULL: "null", TAG_VALUE: "value", TAG_TEXT: "text"}


@dataclass(frozen=True, slots=True)
class KeyField:
    """Some bytes of a key.

    Attributes:
        kind: database, table, life, tag, payload or trailer; ``end`` of bytes that no key has there, and that only say
            where a range ends.
        data: the bytes.
        text: what they say.
    """

    kind: str
    data: bytes
    text: str


def key_fields(key: bytes, schema: KeySchema) -> list[KeyField]:
    """The fields of a whole key, or of an end of a scan, which may stop anywhere. O(columns)."""
    if not key.startswith(schema.prefix):
        return [KeyField("end", key, "behind the table")]
    prefix, (database, table) = schema.prefix, names_in(schema.prefix)
    behind_database, behind_table = len(database.encode()) + 1, len(f"{database} {table}".encode()) + 1
    fields = [
        KeyField("database", prefix[:behind_database], database),
        KeyField("table", prefix[behind_database:behind_table], table),
    ]
    if len(prefix) > behind_table:
        life = int.from_bytes(prefix[behind_table + 1 :], "big")
        fields.append(KeyField("life", prefix[behind_table:], f"the one of change {life:,}"))
    rest = key[len(prefix) :]
    trailer = _trailer(key, schema)
    rest = rest[: len(rest) - len(trailer)]
    for name, column_type in zip(schema.names, schema.types, strict=True):
        size = len(rest) - 1 if _is_behind(rest, column_type) else cell_size(rest, column_type)
        cell = rest[:size]
        if not size or not is_cell(cell, column_type):
            break
        rest = rest[size:]
        fields += _cell(name, cell, column_type)
        if rest in _BEHIND:
            break
    if rest:
        fields.append(_end(rest, schema, sum(field.kind == "tag" for field in fields)))
    if trailer:
        behind = trailer[2 * len(schema.names) :]
        trailer = trailer[: 2 * len(schema.names)]
        offsets = [str(int.from_bytes(trailer[at : at + 2], "big")) for at in range(0, len(trailer), 2)]
        fields.append(KeyField("trailer", trailer, f"cells at {', '.join(offsets)}"))
        if behind:
            fields.append(KeyField("end", behind, "behind this key"))
    return fields


def _trailer(key: bytes, schema: KeySchema) -> bytes:
    """The trailer of a key that has one."""
    columns = len(schema.names)
    for last in (key, key[:-1]):  # the stop of a point lookup is the key and a 00
        try:
            prefix, cells = split_key(last, columns)
        except CorruptRow:
            continue
        if prefix == schema.prefix and all(map(is_cell, cells, schema.types)):
            return key[len(prefix) + sum(map(len, cells)) :]
    return b""


def _cell(name: str, cell: bytes, column_type: ColumnType) -> list[KeyField]:
    tag = KeyField("tag", cell[:1], _TAGS[cell[:1]] if len(cell) > 1 else f"{name} null")
    if len(cell) == 1:
        return [tag]
    return [tag, KeyField("payload", cell[1:], f"{name} {cell_notation(cell, column_type)}")]


def _is_behind(rest: bytes, column_type: ColumnType) -> bool:
    """Whether this is a cell and the FF behind it, which begins a 00 FF where the cell ends with 00."""
    return column_type.width is None and rest[-1:] in _BEHIND and is_cell(rest[:-1], column_type)


def _end(rest: bytes, schema: KeySchema, column: int) -> KeyField:
    """What bytes say that are no whole cell."""
    if rest in _BEHIND:
        text = "behind this value"
    elif rest == TAG_VALUE:
        text = "behind nulls"
    elif rest == TAG_TEXT:
        text = "behind all values"
    elif rest[:1] > TAG_TEXT or column >= len(schema.names):
        text = "behind all"
    else:
        text = f"{schema.names[column]} {bound_notation(rest, schema.types[column])}"
    return KeyField("end", rest, text)
