"""Pages of a result, and what is told of its columns, as bytes of TRowSet and TTableSchema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from hbstore.byte_cache import remembered
from hbstore.errors import ReadFailed
from hbstore.hiveserver2.columns import thrift_column
from hbstore.hiveserver2.result_types import result_type
from hbstore.query_service.query import ResultColumn
from hbstore.thrift.kinds import ReadyStruct
from hbstore.thrift.wire import BINARY, I32, I64, STRING, ListOf, MapOf, WireType, field_head

_STRUCT: Final = ReadyStruct(BINARY.read, bytes)
_STRUCTS: Final = ListOf(_STRUCT)


def row_set(start: int, columns: Sequence[ResultColumn], arrays: Sequence[pa.Array], zone: str) -> bytes:
    r"""A page as the bytes of a TRowSet, with a TColumn for each column, also where there are no rows.

    Args:
        start: the rows before the page.
        columns: the result's. Clients expect one at least.
        arrays: their values.
        zone: the time zone in which timestamps are written.

    Raises:
        ReadFailed: there are other arrays than columns, or as of `hbstore.hiveserver2.hive_texts.hive_texts`.
        InvalidInput: there is no such zone.

    >>> row_set(7, [], [], "UTC").hex(" ")
    '0a 00 01 00 00 00 00 00 00 00 07 0f 00 02 0c 00 00 00 00 0f 00 03 0c 00 00 00 00 00'
    """
    if len(columns) != len(arrays):
        text = "the files of the result have other columns than the query"
        raise ReadFailed(text, columns=len(columns), stored=len(arrays), hint="Run the query again")
    parts = [thrift_column(values, column.type, zone) for column, values in zip(columns, arrays, strict=True)]
    return _struct((1, I64, start), (2, _STRUCTS, []), (3, _STRUCTS, parts))


def table_schema(columns: Sequence[ResultColumn]) -> bytes:
    """The columns of a result as the bytes of a TTableSchema.

    Each column has one primitive entry, whatever its type is, as drivers read no other; positions begin with 0. Names
    may repeat. Comments are empty.

    >>> table_schema([]).hex(" ")
    '0f 00 01 0c 00 00 00 00 00'
    """
    described = [
        _struct((1, STRING, column.name), (2, _STRUCT, _type_desc(column.type)), (3, I32, at), (4, STRING, ""))
        for at, column in enumerate(columns)
    ]
    return _struct((1, _STRUCTS, described))


@remembered
def _type_desc(type: str) -> bytes:
    """The bytes of a TTypeDesc."""
    kind = result_type(type)
    numbers = {name: _struct((1, I32, number)) for name, number in kind.qualifiers.items()}
    qualifiers = _struct((1, MapOf(STRING, _STRUCT), numbers))
    entry = _struct((1, I32, kind.type_id), (2, _STRUCT, qualifiers))
    return _struct((1, _STRUCTS, [_struct((1, _STRUCT, entry))]))


def _struct(*fields: tuple[int, WireType, object]) -> bytes:
    """A struct of fields, each its number, its kind and its value."""
    return b"".join([field_head(kind, number) + kind.write(value) for number, kind, value in fields]) + b"\0"
