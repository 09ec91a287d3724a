"""The columns of a table as queries see them: Spark's own, where it wrote them among the table's parameters.

Spark does so for tables whose columns Hive cannot have, or not in the case in which they were written. As JSON they are
``{"type": "struct", "fields": [{"name": "Amount", "type": "long", "metadata": {"comment": "in cents"}}, …]}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hbstore.model import Column, Table

_SCHEMA: Final = "spark.sql.sources.schema"
_SIZED: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""In the metadata of a column of strings: its type, if that is char or varchar."""

_NAMES: Final = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint", "null": "void"}


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
        text = parameters.get(_SCHEMA) or "".join(
            parameters[f"{_SCHEMA}.part.{number}"] for number in range(int(parameters.get(f"{_SCHEMA}.numParts", "0")))
        )
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
