"""Reading partitions: one, all, by names, by values, by a filter. Stored bytes are the reply; none is decoded.

Lists come in key order: by typed value of the first column, then of the second. With a limit they are the first so many
in that order. (HMS orders by the partition's name, so that hour 10 comes before hour 9 there.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from hbstore.errors import InvalidPartitionValue
from hbstore.keys.partition_names import name_reader, named_values
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.methods.filters import dialect_of_request
from hbstore.metastore.methods.listing import (
    Batches,
    note_plan,
    note_target,
    read_payloads,
    read_selected,
    spool_partitions,
)
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.replies import PartitionList, PartitionSpool
from hbstore.metastore.short_calls import FEW, leave_selector
from hbstore.model.objects import Table
from hbstore.plans.execute import count
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.rows.interface import Rows, StoredRow
from hbstore.servers.call_limits import check_wanted
from hbstore.store.puts import partition_key
from hbstore.store.reader import TableFilter
from hbstore.store.table_row import TableRow
from hbstore.warehouse.partial_values import partial_values

handlers = Handlers()
T = TypeVar("T")
_PAGE: Final = 4_000
"""Partitions that are asked for by name and are in memory at once: some 3 MB."""


@handlers.answers("get_partition", "get_partition_with_auth")
def get_partition(call: Call) -> bytes:
    """One partition by its values.

    Raises:
        NoSuchObjectException: there is none.
    """
    arguments = call.arguments
    return _one(call, arguments.db_name, arguments.tbl_name, lambda _: arguments.part_vals or ())


@handlers.answers("get_partition_by_name")
def get_partition_by_name(call: Call) -> bytes:
    """One partition by its name, with the columns in any order and case.

    Raises:
        MetaException: the name is empty.
        NoSuchObjectException: there is no such partition, or the name does not name all columns, once each.
    """
    arguments = call.arguments
    if not arguments.part_name:
        raise THRIFT.MetaException("Partition name is invalid: it is empty")

    def values_of(table: Table) -> Sequence[str]:
        return name_reader(table.partition_column_names)(arguments.part_name)

    try:
        return _one(call, arguments.db_name, arguments.tbl_name, values_of)
    except InvalidPartitionValue as error:
        raise THRIFT.NoSuchObjectException(str(error)) from error


@handlers.answers("get_partitions", "get_partitions_with_auth")
def get_partitions(call: Call) -> PartitionList:
    """All partitions of a table, or the first so many in key order."""
    arguments = call.arguments
    return PartitionList(
        spool_partitions(call, arguments.db_name, arguments.tbl_name, None, max_parts=arguments.max_parts)[1]
    )


@handlers.answers("get_partitions_ps", "get_partitions_ps_with_auth")
def get_partitions_ps(call: Call) -> PartitionList:
    """The partitions with these values; an empty value, and each that is missing at the end, stands for any.

    Raises:
        MetaException: there are more values than columns.
    """
    arguments = call.arguments
    return _with_values(call, arguments.db_name, arguments.tbl_name, arguments.part_vals, arguments.max_parts)


@handlers.answers("get_partitions_ps_with_auth_req")
def get_partitions_ps_with_auth_req(call: Call) -> PartitionList:
    """As get_partitions_ps; where the request holds names of partitions, as get_partitions_by_names.

    Raises:
        MetaException: there are more values than columns.
    """
    request = call.arguments.req
    if request.partNames is not None:
        return _named(call, request.dbName, request.tblName, request.partNames).in_struct()
    return _with_values(call, request.dbName, request.tblName, request.partVals, request.maxParts).in_struct()


@handlers.answers("get_partitions_by_names")
def get_partitions_by_names(call: Call) -> PartitionList:
    """Those of some partitions that exist, each once, in key order; read by multi-gets, a page after the other."""
    arguments = call.arguments
    return _named(call, arguments.db_name, arguments.tbl_name, arguments.names or ())


@handlers.answers("get_partitions_by_filter")
def get_partitions_by_filter(call: Call) -> PartitionList:
    """The partitions that a filter selects; `hbstore.metastore.methods.filters` says which filters are errors."""
    arguments = call.arguments
    _, spool = spool_partitions(
        call, arguments.db_name, arguments.tbl_name, arguments.filter, max_parts=arguments.max_parts
    )
    return PartitionList(spool)


@handlers.answers("get_partitions_by_filter_req")
def get_partitions_by_filter_req(call: Call) -> PartitionList:
    """As get_partitions_by_filter, with LIKE as Hive 4 reads it: see `hbstore.metastore.methods.filters`."""
    request = call.arguments.req
    _, spool = spool_partitions(
        call,
        request.dbName,
        request.tblName,
        request.filter,
        max_parts=request.maxParts,
        like_dialect=dialect_of_request(request.filter),
    )
    return PartitionList(spool)


@handlers.answers("get_num_partitions_by_filter")
def get_num_partitions_by_filter(call: Call) -> int:
    """How many partitions a filter selects; they are not read where the backend can count them."""
    arguments = call.arguments

    def counted(row: TableRow, plan: MultiScanPlan, _: Batches) -> int:
        number = count(plan, call.store.rows)
        note_plan(call, plan, row, number)
        return number

    number = read_selected(call, arguments.db_name, arguments.tbl_name, arguments.filter, counted)
    call.note(partitions=number)
    return number


def read_named(
    call: Call,
    database: str | None,
    table: str | None,
    names: Sequence[str],
    make: Callable[[Table, Batches], T],
) -> T:
    """What ``make`` makes of those of some partitions that exist, each once, in key order.

    They are read by multi-gets, a page after the other.

    Args:
        call: what is answered.
        database: as the client names it, with a catalog or without.
        table: the table's name.
        names: the partitions'.
        make: takes the table and its partitions; it may be called again, and begins anew then.
    """
    note_target(call, database, table, None)
    if len(names) > FEW:
        leave_selector()

    def consume(row: TableRow, _: MultiScanPlan, __: Batches) -> T:
        whole = named_values(row.table.partition_column_names, names)
        keys = sorted({key for _, values in whole if (key := _wanted_key(row, values))})
        call.note(scans=[f"get {len(keys):,} by values"])
        return make(row.table, _pages(row.unpacked(call.store.rows), keys))

    return read_payloads(call, database, table, None, consume)


def _wanted_key(row: TableRow, values: tuple[str, ...]) -> bytes:
    """The key of a partition of which one call may name a million."""
    check_wanted()
    return partition_key(row, values)


def _pages(rows: Rows, keys: Sequence[bytes]) -> Batches:
    for at in range(0, len(keys), _PAGE):
        check_wanted()
        yield [payload for _, payload in rows.multi_get(keys[at : at + _PAGE])]


def _with_values(
    call: Call, database: str | None, name: str | None, values: Sequence[str] | None, max_parts: int | None
) -> PartitionList:
    where = TableFilter(partial(partial_values, values=values))
    return PartitionList(spool_partitions(call, database, name, where, max_parts=max_parts)[1])


def _named(call: Call, database: str | None, table: str | None, names: Sequence[str]) -> PartitionList:
    spool = PartitionSpool(share=call.session.room)

    def fill(_: Table, batches: Batches) -> None:
        spool.clear()
        spool.extend(batches)

    try:
        read_named(call, database, table, names, fill)
    except BaseException:
        spool.close()
        raise
    call.note(partitions=spool.count, rows_read=spool.count)
    return PartitionList(spool)


def _one(call: Call, database: str | None, table: str | None, values_of: Callable[[Table], Sequence[str]]) -> bytes:
    """The partition of the values that ``values_of`` makes of the table."""
    note_target(call, database, table, None)

    def get(row: TableRow, _: MultiScanPlan, __: Batches) -> tuple[Sequence[str], list[StoredRow]]:
        values = values_of(row.table)
        return values, row.unpacked(call.store.rows).multi_get([partition_key(row, values)])

    values, rows = read_payloads(call, database, table, None, get)
    call.note(scans=["get 1 by values"], partitions=len(rows), rows_read=len(rows))
    if not rows:
        raise THRIFT.NoSuchObjectException(f"no such partition: partition values=[{', '.join(values)}]")
    return rows[0][1]
