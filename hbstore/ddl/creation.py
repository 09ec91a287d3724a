"""SHOW CREATE TABLE: the statement that creates a table like this one, in the language of the engine that it is of.

A table of one of Spark's data sources is shown as Spark writes it, all others as Hive does. Behind Hive's, statements
that add the table's constraints follow, as with Hive 4; Spark has none for such tables. Partitions are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from hbstore.ddl.constraint_texts import adding_statements
from hbstore.ddl.results import Result
from hbstore.ddl.statements import ShowCreateTable
from hbstore.ddl.texts import quoted_name, quoted_string
from hbstore.model.constraints import Constraint
from hbstore.model.objects import Column, StorageDescriptor, Table
from hbstore.model.spark_schema import schema_text
from hbstore.warehouse.quick_statistics import ACCURATE, NUM_FILES, TOTAL_SIZE
from hbstore.warehouse.table_kinds import is_external, is_view

_SOURCE: Final = "spark.sql.sources."
_OF_SPARK: Final = (_SOURCE, "spark.sql.create.version", "spark.sql.statistics.", "spark.sql.partitionProvider")
"""What the names of properties begin with in which Spark keeps what the statement says otherwise."""

_UNSAID: Final = frozenset(
    {"comment", "EXTERNAL", "transient_lastDdlTime", "numRows", "rawDataSize", NUM_FILES, TOTAL_SIZE, ACCURATE}
)
_TYPES: Final = {"byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT"}


def show_create_table(table: Table, constraints: Sequence[Constraint], statement: ShowCreateTable) -> Result:
    """One row with the statement; with constraints there are several, a semicolon between them."""
    adding: Iterable[str] = ()
    provider = table.parameters.get(f"{_SOURCE}provider")
    if is_view(table):
        lines = _view(table)
    elif provider is not None and provider.lower() != "hive":
        lines = _of_spark(table, provider)
    else:
        lines, adding = _of_hive(table), adding_statements(table, constraints)
    return Result(statement, ("createtab_stmt",), ((";\n".join(["\n".join(lines), *adding]),),))


def _view(table: Table) -> Iterator[str]:
    names = ", ".join(quoted_name(column.name) for column in table.columns)
    yield f"CREATE VIEW {_name(table)}{f' ({names})' if names else ''}"
    yield from _comment(table)
    yield from _properties(table)
    yield f"AS {table.view_original_text or table.view_expanded_text or ''}"


def _of_spark(table: Table, provider: str) -> Iterator[str]:
    yield f"CREATE TABLE {_name(table)} ("
    yield from _listed(_spark_columns(table) or [_declared(one) for one in (*table.columns, *table.partition_columns)])
    yield f"USING {provider}"
    hidden = ("path", "serialization.format")
    options = {name: text for name, text in table.storage.serde.parameters.items() if name not in hidden}
    if options:
        yield f"OPTIONS {_pairs(options)}"
    if table.partition_columns:
        yield f"PARTITIONED BY ({', '.join(quoted_name(name) for name in table.partition_column_names)})"
    if table.storage.num_buckets > 0:
        yield _buckets(table.storage)
    yield from _comment(table)
    if table.location and is_external(table):
        yield f"LOCATION {quoted_string(table.location)}"
    yield from _properties(table)


def _of_hive(table: Table) -> Iterator[str]:
    storage = table.storage
    yield f"CREATE {'EXTERNAL ' if is_external(table) else ''}TABLE {_name(table)} ("
    yield from _listed([_declared(column) for column in table.columns])
    yield from _comment(table)
    if table.partition_columns:
        yield f"PARTITIONED BY ({', '.join(map(_declared, table.partition_columns))})"
    if storage.num_buckets > 0:
        yield _buckets(storage)
    if storage.skew is not None and storage.skew.columns:
        names = ", ".join(map(quoted_name, storage.skew.columns))
        values = ", ".join(f"({', '.join(map(quoted_string, row))})" for row in storage.skew.values)
        stored = " STORED AS DIRECTORIES" if storage.stored_as_sub_directories else ""
        yield f"SKEWED BY ({names}) ON ({values}){stored}"
    if storage.serde.library:
        yield f"ROW FORMAT SERDE {quoted_string(storage.serde.library)}"
        if storage.serde.parameters:
            yield f"WITH SERDEPROPERTIES {_pairs(storage.serde.parameters)}"
    if storage.input_format and storage.output_format:
        yield f"STORED AS INPUTFORMAT {quoted_string(storage.input_format)}"
        yield f"OUTPUTFORMAT {quoted_string(storage.output_format)}"
    if table.location:
        yield f"LOCATION {quoted_string(table.location)}"
    yield from _properties(table)


def _name(table: Table) -> str:
    return f"{quoted_name(table.database)}.{quoted_name(table.name)}"


def _listed(declared: Sequence[str]) -> Iterator[str]:
    """Declarations of columns, a line each, and the bracket that ends them."""
    for at, one in enumerate(declared):
        yield f"  {one}{')' if at == len(declared) - 1 else ','}"
    if not declared:
        yield ")"


def _declared(column: Column) -> str:
    comment = "" if column.comment is None else f" COMMENT {quoted_string(column.comment)}"
    return f"{quoted_name(column.name)} {column.type}{comment}"


def _comment(table: Table) -> Iterator[str]:
    comment = table.parameters.get("comment")
    if comment:
        yield f"COMMENT {quoted_string(comment)}"


def _properties(table: Table) -> Iterator[str]:
    shown = {
        name: text
        for name, text in sorted(table.parameters.items())
        if name not in _UNSAID and not name.startswith(_OF_SPARK)
    }
    if shown:
        yield f"TBLPROPERTIES {_pairs(shown)}"


def _pairs(texts: Mapping[str, str]) -> str:
    return f"({', '.join(f'{quoted_string(name)} = {quoted_string(text)}' for name, text in texts.items())})"


def _buckets(storage: StorageDescriptor) -> str:
    by = ", ".join(map(quoted_name, storage.bucket_columns))
    order = ", ".join(f"{quoted_name(one.column)}{'' if one.order else ' DESC'}" for one in storage.sort_columns)
    return f"CLUSTERED BY ({by}){f' SORTED BY ({order})' if order else ''} INTO {storage.num_buckets} BUCKETS"


def _spark_columns(table: Table) -> list[str]:
    """The columns of Spark's own schema, which has types that Hive lacks; none where no such schema can be read."""
    try:
        text = schema_text(table.parameters)
        declared = [_spark_field(one, " ") for one in json.loads(text)["fields"]] if text else []
        "".join(declared).encode()  # JSON can write halves of letters, which are no text
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return []
    return declared


def _spark_field(field: Mapping[str, Any], between: str) -> str:
    comment = field.get("metadata", {}).get("comment")
    said = f" COMMENT {quoted_string(comment)}" if comment else ""
    not_null = "" if field.get("nullable", True) else " NOT NULL"
    return f"{quoted_name(field['name'])}{between}{_spark_type(field['type'])}{not_null}{said}"


def _spark_type(kind: Any) -> str:
    if isinstance(kind, str):
        return _TYPES.get(kind, kind.upper())
    if kind["type"] == "array":
        return f"ARRAY<{_spark_type(kind['elementType'])}>"
    if kind["type"] == "map":
        return f"MAP<{_spark_type(kind['keyType'])}, {_spark_type(kind['valueType'])}>"
    return f"STRUCT<{', '.join(_spark_field(one, ': ') for one in kind['fields'])}>"
