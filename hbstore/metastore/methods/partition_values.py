"""get_partition_values: the values that some partition columns have, distinct and in order.

They are ordered by type, the null partition first: hour 9 comes before hour 10. (HMS 2.3 orders by the partition's
name, escapes values, and with a filter gives all columns whatever was asked for; none of that is copied.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, Final

from hbstore.errors import InvalidInput
from hbstore.keys.row_key import text_cell, value_part
from hbstore.keys.types import ColumnType
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.methods.listing import Batches, read_partitions
from hbstore.metastore.protocol import THRIFT
from hbstore.model.objects import Column, Table
from hbstore.model.structs import partition_values
from hbstore.plans.schema import KeySchema

handlers = Handlers()

_KEPT: Final = 4096
"""Cells of a column that are kept while its values are read."""


@handlers.answers("get_partition_values")
def get_partition_values(call: Call) -> Any:
    """Rows of the values of the columns asked for.

    With applyDistinct each row stands once. Rows are in the order of the columns of partitionOrder, or else of those
    asked for; descending where ascending is false. A limit of 0 is none, as with HMS.

    Raises:
        MetaException: no columns, a column that is no partition column, or a filter that cannot be answered exactly.
    """
    request = call.arguments.request
    if not request.partitionKeys:
        raise InvalidInput("the request names no partition columns", hint="Name at least one in partitionKeys")

    def collect(table: Table, batches: Batches) -> list[tuple[str, ...]]:
        return _rows(table, batches, request)

    rows = read_partitions(call, request.dbName, request.tblName, request.filter, collect)
    call.note(partitions=len(rows))
    return THRIFT.PartitionValuesResponse([THRIFT.PartitionValuesRow(row) for row in rows])


def _rows(table: Table, batches: Batches, request: Any) -> list[tuple[str, ...]]:
    keys = _Columns(table, request.partitionKeys)
    order = _Columns(table, request.partitionOrder or request.partitionKeys)
    keyed_rows = [
        (order.cells(values), keys.texts(values)) for batch in batches for values in map(partition_values, batch)
    ]
    keyed_rows.sort(key=itemgetter(0), reverse=request.ascending is False)
    rows = [texts for _, texts in keyed_rows]
    if request.applyDistinct is not False:
        rows = list(dict.fromkeys(rows))
    limit = request.maxParts
    return rows[:limit] if limit is not None and limit > 0 else rows


class _Columns:
    """Some of a table's partition columns, by the names that a client gives them."""

    def __init__(self, table: Table, named: Sequence[Column]) -> None:
        schema = KeySchema(b"", table.partition_column_names, table.key_types)
        positions = [schema.column(column.name) for column in named]
        self._typed = [(at, lru_cache(maxsize=_KEPT)(partial(_value_cell, schema.types[at]))) for at in positions]

    def texts(self, values: Sequence[str]) -> tuple[str, ...]:
        """Their values in a partition."""
        return tuple([values[at] for at, _ in self._typed])

    def cells(self, values: Sequence[str]) -> tuple[bytes, ...]:
        """The cells of the values, which sort by type; all texts of a value have one."""
        return tuple([cell(values[at]) for at, cell in self._typed])


def _value_cell(column_type: ColumnType, text: str) -> bytes:
    return value_part(column_type, text_cell(column_type, text))
