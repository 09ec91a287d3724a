"""Names of partitions, ``ds=2013-01-01/hour=5``: listing them, and taking them apart.

Lists are in alphabetical order, as SHOW PARTITIONS prints them, not in key order: ``hour=10`` before ``hour=9``. With a
limit they are the first so many in that order, which every name has to be looked at for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import unescape_name
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.methods.expressions import ExpressionSelection, selection_of
from hbstore.metastore.methods.filters import EXPRESSION_DIALECT
from hbstore.metastore.methods.listing import Batches, note_plan, note_target, read_payloads
from hbstore.metastore.methods.name_order import in_order, parse_order
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.model.name_lists import HEAD, names_of_heads, partition_names
from hbstore.model.structs import partition_values
from hbstore.plans.execute import fetch_heads
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.store.reader import Filter, TableFilter
from hbstore.store.table_row import TableRow
from hbstore.warehouse.partial_values import partial_values

handlers = Handlers()
_NO_EXPRESSION: Final = (None, b"", b"\xff")
"""What clients send to select all partitions."""


@handlers.answers("get_partition_names")
def get_partition_names(call: Call) -> list[str]:
    """The names of all partitions, or the first so many of them; a limit of 0 is none, as with HMS.

    Raises:
        MetaException: there is no such table, as this method declares nothing that fits better.
    """
    arguments = call.arguments
    names = _names(call, arguments.db_name, arguments.tbl_name, None)
    return _cut(call, names, arguments.max_parts or None)


@handlers.answers("fetch_partition_names_req")
def fetch_partition_names_req(call: Call) -> list[str]:
    """As get_partition_names, but that a limit of 0 is none, as with Hive 4.

    Raises:
        NoSuchObjectException: there is no such table.
    """
    request = call.arguments.partitionReq
    return _cut(call, _names(call, request.dbName, request.tblName, None), request.maxParts)


@handlers.answers("get_partition_names_ps")
def get_partition_names_ps(call: Call) -> list[str]:
    """The names of the partitions with these values; an empty value, and each that is missing at the end, means any.

    Raises:
        MetaException: there are more values than columns.
    """
    arguments = call.arguments
    where = TableFilter(partial(partial_values, values=arguments.part_vals))
    names = _names(call, arguments.db_name, arguments.tbl_name, where)
    return _cut(call, names, arguments.max_parts)


@handlers.answers("get_partition_names_req")
def get_partition_names_req(call: Call) -> list[str]:
    """The names of the partitions that an expression selects, of all without one, in the order that is asked for.

    Raises:
        MetaException: the expression is no filter of this table, or is Hive's own and not read as a whole; or the order
            names no partition columns.
    """
    request = call.arguments.req
    note_target(call, request.dbName, request.tblName, None)
    selection = _selection(call, request)
    if selection.unread:
        raise THRIFT.MetaException(str(selection.unread[0]))

    def collect(row: TableRow, plan: MultiScanPlan, batches: Batches) -> list[str]:
        columns, order = row.table.partition_column_names, parse_order(row.table, request.order)
        values: dict[str, tuple[str, ...]] = {}
        for batch in batches:
            values.update(zip(partition_names(columns, batch), map(partition_values, batch), strict=True))
        note_plan(call, plan, row, len(values))
        return in_order(row.table, values, order)

    database, table = request.dbName, request.tblName
    names = read_payloads(call, database, table, selection.where, collect, like_dialect=EXPRESSION_DIALECT)
    return _cut(call, names, request.maxParts)


def _selection(call: Call, request: Any) -> ExpressionSelection:
    """What a request's expression selects."""
    if request.expr in _NO_EXPRESSION:
        return ExpressionSelection(None)
    table = call.store.get_table(database_name(request.dbName), request.tblName or "")
    return selection_of(table, request.expr, request.defaultPartitionName)


@handlers.answers("partition_name_to_vals")
def partition_name_to_vals(call: Call) -> list[str]:
    """The values in a name, in its order.

    Raises:
        MetaException: there is no name.
    """
    return list(_spec(call.arguments.part_name).values())


@handlers.answers("partition_name_to_spec")
def partition_name_to_spec(call: Call) -> dict[str, str]:
    """Columns and values in a name.

    Raises:
        MetaException: there is no name.
    """
    return _spec(call.arguments.part_name)


@handlers.answers("partition_name_has_valid_characters")
def partition_name_has_valid_characters(_: Call) -> bool:
    """Always: HMS has a pattern for it, hive.metastore.partition.name.whitelist.pattern, which is empty by default."""
    return True


def _names(call: Call, database: str | None, table: str | None, where: Filter | TableFilter) -> list[str]:
    """Names in alphabetical order."""
    note_target(call, database, table, where)

    def collect(row: TableRow, plan: MultiScanPlan, batches: Batches) -> list[str]:
        columns = row.table.partition_column_names
        names = _of_heads(columns, fetch_heads(plan, call.store.rows, HEAD)) or _of_payloads(columns, batches)
        note_plan(call, plan, row, len(names))
        names.sort()
        return names

    return read_payloads(call, database, table, where, collect)


def _of_heads(columns: Sequence[str], heads: Iterator[bytes]) -> list[str]:
    """Names from the beginnings of partitions; none where one has values that are too long for that."""
    names: list[str] = []
    for laid in heads:
        laid_names = names_of_heads(columns, laid)
        if laid_names is None:
            return []
        names += laid_names
    return names


def _of_payloads(columns: Sequence[str], batches: Batches) -> list[str]:
    return [name for batch in batches for name in partition_names(columns, batch)]


def _cut(call: Call, names: list[str], most: int | None) -> list[str]:
    if most is not None and most >= 0:
        del names[most:]
    call.note(partitions=len(names))
    return names


_PART = re.compile("([^/]+)=([^/]+)")


def _spec(name: str | None) -> dict[str, str]:
    """Columns and values in a name as Hive reads it: parts that are none are passed over."""
    if name is None:
        raise InvalidInput("the partition name is missing", hint="Give a name such as ds=2013-01-01/hour=5")
    parts = [found for part in name.split("/") if (found := _PART.fullmatch(part))]
    return {unescape_name(found[1]): unescape_name(found[2]) for found in parts}
