"""What a listing shows of a table, read from its stored bytes without the columns: a third of the time.

The columns are decoded when a listing asks for them. They are those that queries see: Spark's own, where it wrote them
among the table's parameters. Spark does so for tables whose columns Hive cannot have, or not in the case in which they
were written. As JSON they are
``{"type": "struct", "fields": [{"name": "Amount", "type": "long", "metadata": {"comment": "in cents"}}, …]}``.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hbstore.byte_cache import remembered
from hbstore.model.frozen import FrozenDict
from hbstore.model.layouts import PARAMETERS
from hbstore.model.objects import Column, Table
from hbstore.model.spark_schema import schema_text
from hbstore.model.structs import decode_table
from hbstore.thrift.wire import STRING, Struct

_SIZED: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""In the metadata of a column of strings: its type, if that is char or varchar."""

_NAMES: Final = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint", "null": "void"}


@dataclass(frozen=True, slots=True)
class TableHead:
    """A table as it is stored, and some of what that says.

    Attributes:
        name: in its database.
        table_type: in Hive's words, such as ``MANAGED_TABLE``.
        parameters: by name.
        stored: the bytes of the Hive Metastore's Table struct.
    """

    name: str
    table_type: str = "MANAGED_TABLE"
    parameters: Mapping[str, str] = field(default_factory=FrozenDict)
    stored: bytes = b""

    @staticmethod
    def of(stored: bytes) -> TableHead:
        """The head of a stored table.

        Raises:
            CorruptRow: the bytes are no table.

        >>> from hbstore import Table
        >>> from hbstore.model.structs import encode_table
        >>> TableHead.of(encode_table(Table("shop", "sales", table_type="VIRTUAL_VIEW"))).table_type
        'VIRTUAL_VIEW'
        """
        return _head(stored)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, as queries see them.

        Raises:
            CorruptRow: the bytes are no table.
        """
        return table_columns(decode_table(self.stored))


@remembered
def _head(stored: bytes) -> TableHead:
    """Tools ask again and again; more tables than these are read anew."""
    try:
        fields, _ = _HEAD.read_fields(stored, 0)
        return TableHead(**fields, stored=stored)
    except (ValueError, IndexError, TypeError, struct.error):
        table = decode_table(stored)
        return TableHead(table.name, table.table_type, table.parameters, stored)


_HEAD: Final = Struct(TableHead, {1: ("name", STRING), 9: ("parameters", PARAMETERS), 12: ("table_type", STRING)})


def table_columns(table: Table) -> tuple[Column, ...]:
    """The columns of a table; those that partition it come last.

    >>> written = '{"type":"struct","fields":[{"name":"Amount","type":"long","nullable":true,"metadata":{}}]}'
    >>> table_columns(Table("shop", "sales", parameters={"spark.sql.sources.schema": written}))
    (Column(name='Amount', type='bigint', comment=None),)
    """
    names = {column.name.lower() for column in table.partition_columns}
    data = [one for one in _written(table.parameters) or table.columns if one.name.lower() not in names]
    return (*data, *table.partition_columns)


def _written(parameters: Mapping[str, str]) -> list[Column]:
    """What Spark wrote; nothing if it wrote none, or if that does not parse."""
    try:
        text = schema_text(parameters)
        return [_column(field) for field in json.loads(text)["fields"]] if text else []
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return []


def _column(field: Mapping[str, Any]) -> Column:
    metadata = field.get("metadata") or {}
    name, type_, comment = (
        str(field["name"]),
        str(metadata.get(_SIZED) or _type(field["type"])),
        metadata.get("comment"),
    )
    f"{name}{type_}{comment}".encode()  # JSON can write halves of letters, which are no text
    return Column(name, type_, None if comment is None else str(comment))


def _type(written: Any) -> str:
    """The text of a type."""
    if isinstance(written, str):
        return _NAMES.get(written, written)
    match written["type"]:
        case "array":
            return f"array<{_type(written['elementType'])}>"
        case "map":
            return f"map<{_type(written['keyType'])},{_type(written['valueType'])}>"
        case "struct":
            fields = [f"{one['name']}:{_type(one['type'])}" for one in written["fields"]]
            return f"struct<{','.join(fields)}>"
        case _:
            return _type(written["sqlType"])  # a type of a program's own
