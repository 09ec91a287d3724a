"""The columns of tables whose Avro schema is named in their parameters, as Hive 2.3's AvroSerDe makes them of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from hbstore.errors import InvalidInput
from hbstore.files.warehouse import Warehouse
from hbstore.model.objects import Column, Table

_LITERAL: Final = "avro.schema.literal"
_URL: Final = "avro.schema.url"
_NONE: Final = "none"
"""What stands in a parameter in place of a schema where there is none."""
_SERDE: Final = "org.apache.hadoop.hive.serde2.avro.AvroSerDe"
MAX_SCHEMA: Final = 4 * 1024 * 1024
"""Bytes of a schema, and characters of all types that are made of it: a name can stand for a long type many times."""

_PLAIN: Final[Mapping[str, str]] = {
    "null": "void",
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "string": "string",
}
_LOGICAL: Final = {("int", "date"): "date", ("long", "timestamp-millis"): "timestamp"}
_LENGTHS: Final = {"char": 255, "varchar": 65_535}
_NAME: Final = re.compile(r"[A-Za-z_]\w*\Z")


def has_avro_schema(table: Table) -> bool:
    """Whether a table's columns are those of an Avro schema that its parameters hold or name."""
    parameters = _parameters(table)
    return table.storage.serde.library == _SERDE and (_LITERAL in parameters or _URL in parameters)


def avro_columns(table: Table, warehouse: Warehouse) -> list[Column]:
    """The columns of such a table.

    Args:
        table: the table.
        warehouse: reads the file that ``avro.schema.url`` names, if that is below a root.

    Raises:
        InvalidInput: it is no schema of a record, or one of which Hive makes no types.
        OutsideWarehouse: the file is not below a root.
        FileOperationFailed: the file cannot be read.
    """
    parameters = _parameters(table)
    text: str | bytes = parameters.get(_LITERAL, _NONE)
    if text == _NONE:
        url = parameters.get(_URL, _NONE)
        if url == _NONE:
            raise _invalid(f"there is neither {_LITERAL} nor {_URL}")
        text = warehouse.read(url, MAX_SCHEMA + 1)
    if len(text) > MAX_SCHEMA:
        raise _invalid(f"it has more than {MAX_SCHEMA} bytes")
    try:
        return _Types().columns(json.loads(text))
    except RecursionError:
        raise _invalid("it is nested too deeply, or a record is in itself") from None
    except ValueError as error:
        raise _invalid(error) from error


def _parameters(table: Table) -> Mapping[str, str]:
    return {**table.storage.serde.parameters, **table.parameters}


def _invalid(reason: object) -> InvalidInput:
    hint = f"Correct the table's {_LITERAL}, or the file that its {_URL} names"
    return InvalidInput("Hive's AvroSerDe takes no columns from the schema", reason=reason, hint=hint)


class _Types:
    """Hive's types of the types in one schema. Its methods raise ValueError where the schema is wrong."""

    def __init__(self) -> None:
        self._by_name: dict[str, str | None] = {}
        """Those of named types; None where the type is not complete yet."""
        self._left = MAX_SCHEMA

    def columns(self, schema: Any) -> list[Column]:
        """The columns of a record."""
        if not isinstance(schema, dict) or schema.get("type") not in ("record", "error"):
            raise ValueError("it is not the schema of a record")
        space = self._declare(schema, "")
        fields = self._fields(schema, space)
        docs = [doc if isinstance(doc := field.get("doc"), str) else "" for field in schema["fields"]]
        return [Column(name, kind, doc) for (name, kind), doc in zip(fields, docs, strict=True)]

    def _type(self, schema: Any, space: str) -> str:
        if isinstance(schema, str):
            kind = _PLAIN.get(schema) or self._named(schema, space)
        elif isinstance(schema, list):
            kind = self._union(schema, space)
        elif isinstance(schema, dict):
            kind = self._complex(schema, space)
        else:
            raise ValueError(f"{_short(schema)} is no type")  # noqa: TRY004
        self._left -= len(kind)
        if self._left < 0:
            raise ValueError("its types are too long")
        return kind

    def _named(self, name: str, space: str) -> str:
        full = f"{space}.{name}" if space and "." not in name else name
        kind = self._by_name.get(full, self._by_name.get(name, ""))
        if not kind:
            raise ValueError(f"the type {_short(name)} is in itself" if kind is None else f"no type {_short(name)}")
        return kind

    def _union(self, schemas: list[Any], space: str) -> str:
        """A union with null is the other type, as any column may be null."""
        if any(isinstance(schema, list) for schema in schemas):
            raise ValueError("a union is in a union")
        kept = [schema for schema in schemas if schema not in ("null", {"type": "null"})]
        if not kept or len(schemas) == 1:
            kept = schemas
        kinds = [self._type(schema, space) for schema in kept]
        return kinds[0] if len(kinds) == 1 and len(schemas) > 1 else f"uniontype<{','.join(kinds)}>"

    def _complex(self, schema: dict[str, Any], space: str) -> str:
        kind = schema.get("type")
        if kind in ("record", "error", "enum", "fixed"):
            inner = self._declare(schema, space)
            made = "string" if kind == "enum" else "binary"
            if kind in ("record", "error"):
                made = f"struct<{','.join(map(':'.join, self._fields(schema, inner)))}>"
            self._by_name[_full_name(schema, space)] = made
            return made
        if kind == "array":
            return f"array<{self._type(schema.get('items'), space)}>"
        if kind == "map":
            return f"map<string,{self._type(schema.get('values'), space)}>"
        if not isinstance(kind, str):
            raise ValueError(f"{_short(schema)} is no type")  # noqa: TRY004
        logical = str(schema.get("logicalType")).lower()
        if kind == "bytes" and logical == "decimal":
            precision, scale = _number(schema, "precision", 1, 38), schema.get("scale", 0)
            return f"decimal({precision},{_number({'scale': scale}, 'scale', 0, precision)})"
        if kind == "string" and logical in _LENGTHS:
            return f"{logical}({_number(schema, 'maxLength', 1, _LENGTHS[logical])})"
        return _LOGICAL.get((kind, logical)) or _PLAIN.get(kind) or self._named(kind, space)

    def _fields(self, schema: dict[str, Any], space: str) -> list[tuple[str, str]]:
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise ValueError(f"{_short(schema.get('name'))} has no list of fields")  # noqa: TRY004
        pairs = []
        for field in fields:
            name = field.get("name") if isinstance(field, dict) else None
            if not isinstance(name, str) or not _NAME.match(name):
                raise ValueError(f"{_short(field)} is no field with a name")
            pairs.append((name.lower(), self._type(field.get("type"), space)))
        if len({field["name"] for field in fields}) < len(fields):
            raise ValueError(f"a field of {_short(schema.get('name'))} is there twice")
        return pairs

    def _declare(self, schema: dict[str, Any], space: str) -> str:
        """The namespace of what is inside a named type; its name is taken from here on."""
        full = _full_name(schema, space)
        if full in self._by_name:
            raise ValueError(f"two types are called {_short(full)}")
        self._by_name[full] = None
        return full.rpartition(".")[0]


def _full_name(schema: dict[str, Any], space: str) -> str:
    name, own = schema.get("name"), schema.get("namespace", space)
    if not isinstance(name, str) or not name or not isinstance(own, str):
        raise ValueError(f"{_short(schema)} has no name")
    return f"{own}.{name}" if own and "." not in name else name


def _number(schema: Mapping[str, Any], name: str, least: int, most: int) -> int:
    number = schema.get(name)
    if not isinstance(number, int) or not least <= number <= most:
        raise ValueError(f"{name} is {_short(number)}, and not from {least} to {most}")
    return number


def _short(value: object) -> str:
    return repr(value)[:80]
