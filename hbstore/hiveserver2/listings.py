"""Listings of the catalog: rows with the columns that JDBC's metadata calls have, as Hive names and types them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pyarrow as pa

from hbstore.query_service.query import ResultColumn

Shape: TypeAlias = tuple[ResultColumn, ...]
"""The columns of a listing."""

_ARROW: Final = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
}


@dataclass(frozen=True, slots=True)
class CatalogRows:
    """Rows of the catalog.

    Attributes:
        columns: what clients are told of the columns.
        batch: the rows.
    """

    columns: Shape
    batch: pa.RecordBatch


def shape(text: str) -> Shape:
    """Columns, each a name and, behind a colon, its type where it is not string.

    >>> shape("COLUMN_NAME DATA_TYPE:int")[1]
    ResultColumn(name='DATA_TYPE', type='int')
    """
    parts = [column.partition(":") for column in text.split()]
    return tuple(ResultColumn(name=name, type=type_ or "string") for name, _, type_ in parts)


def listing(columns: Shape, names: str, rows: Sequence[tuple[Any, ...]], **alike: Any) -> CatalogRows:
    """A listing of rows.

    Args:
        columns: its columns.
        names: those that the rows have, in their order.
        rows: the values of each row.
        **alike: values of columns that are the same in all rows. Columns that are missing are NULL.

    >>> listing(shape("TABLE_CAT TABLE_NAME REMARKS"), "TABLE_NAME", [("a",), ("b",)], REMARKS="").batch.to_pylist()[1]
    {'TABLE_CAT': None, 'TABLE_NAME': 'b', 'REMARKS': ''}
    """
    values = dict(zip(names.split(), zip(*rows, strict=True), strict=True)) if rows else {}

    def array(name: str, kind: pa.DataType) -> pa.Array:
        return (
            pa.array(values[name], kind) if name in values else pa.repeat(pa.scalar(alike.get(name), kind), len(rows))
        )

    arrays = [array(column.name, _ARROW[column.type]) for column in columns]
    return CatalogRows(columns, pa.RecordBatch.from_arrays(arrays, names=[column.name for column in columns]))


CATALOGS: Final = shape("TABLE_CAT")
SCHEMAS: Final = shape("TABLE_SCHEM TABLE_CATALOG")
TABLE_TYPES: Final = shape("TABLE_TYPE")
TABLES: Final = shape(
    "TABLE_CAT TABLE_SCHEM TABLE_NAME TABLE_TYPE REMARKS TYPE_CAT TYPE_SCHEM TYPE_NAME SELF_REFERENCING_COL_NAME "
    "REF_GENERATION"
)
COLUMNS: Final = shape(
    "TABLE_CAT TABLE_SCHEM TABLE_NAME COLUMN_NAME DATA_TYPE:int TYPE_NAME COLUMN_SIZE:int BUFFER_LENGTH:tinyint "
    "DECIMAL_DIGITS:int NUM_PREC_RADIX:int NULLABLE:int REMARKS COLUMN_DEF SQL_DATA_TYPE:int SQL_DATETIME_SUB:int "
    "CHAR_OCTET_LENGTH:int ORDINAL_POSITION:int IS_NULLABLE SCOPE_CATALOG SCOPE_SCHEMA SCOPE_TABLE "
    "SOURCE_DATA_TYPE:smallint IS_AUTO_INCREMENT"
)
TYPE_INFO: Final = shape(
    "TYPE_NAME DATA_TYPE:int PRECISION:int LITERAL_PREFIX LITERAL_SUFFIX CREATE_PARAMS NULLABLE:smallint "
    "CASE_SENSITIVE:boolean SEARCHABLE:smallint UNSIGNED_ATTRIBUTE:boolean FIXED_PREC_SCALE:boolean "
    "AUTO_INCREMENT:boolean LOCAL_TYPE_NAME MINIMUM_SCALE:smallint MAXIMUM_SCALE:smallint SQL_DATA_TYPE:int "
    "SQL_DATETIME_SUB:int NUM_PREC_RADIX:int"
)
FUNCTIONS: Final = shape("FUNCTION_CAT FUNCTION_SCHEM FUNCTION_NAME REMARKS FUNCTION_TYPE:int SPECIFIC_NAME")
PRIMARY_KEYS: Final = shape("TABLE_CAT TABLE_SCHEM TABLE_NAME COLUMN_NAME KEQ_SEQ:int PK_NAME")
CROSS_REFERENCE: Final = shape(
    "PKTABLE_CAT PKTABLE_SCHEM PKTABLE_NAME PKCOLUMN_NAME FKTABLE_CAT FKTABLE_SCHEM FKTABLE_NAME FKCOLUMN_NAME "
    "KEQ_SEQ:int UPDATE_RULE:int DELETE_RULE:int FK_NAME PK_NAME DEFERRABILITY:int"
)
