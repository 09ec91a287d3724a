"""Column statistics of tables and partitions: written, read, made one, deleted.

A statistic's data is stored as the bytes that the client sent, and handed out as they are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from hbstore.metastore.accurate_columns import mark_partitions, mark_table
from hbstore.metastore.aggregate import aggregate
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.naming import database_name
from hbstore.metastore.partition_names import name_reader
from hbstore.metastore.protocol import THRIFT, struct_kind
from hbstore.model import Table
from hbstore.service_model import ColumnStatistic

handlers = Handlers()
_DATA: Final = struct_kind(THRIFT.ColumnStatisticsData)


@handlers.answers("update_table_column_statistics", writes=True)
def update_table_column_statistics(call: Call) -> bool:
    """Put statistics of a table's columns; those of other columns stay."""
    _write_table(call, call.arguments.stats_obj, merge=False)
    return True


@handlers.answers("update_partition_column_statistics", writes=True)
def update_partition_column_statistics(call: Call) -> bool:
    """Put statistics of a partition's columns; those of other columns stay."""
    _write_partitions(call, [call.arguments.stats_obj], merge=False)
    return True


@handlers.answers("update_table_column_statistics_req", writes=True)
def update_table_column_statistics_req(call: Call) -> Any:
    """As update_table_column_statistics; needMerge adds to what is there."""
    request = call.arguments.req
    for one in request.colStats or ():
        _write_table(call, one, merge=bool(request.needMerge))
    return THRIFT.SetPartitionsStatsResponse(result=True)


@handlers.answers("update_partition_column_statistics_req", writes=True)
def update_partition_column_statistics_req(call: Call) -> Any:
    """As update_partition_column_statistics; needMerge adds to what is there."""
    request = call.arguments.req
    if request.colStats:
        _write_partitions(call, request.colStats, merge=bool(request.needMerge))
    return THRIFT.SetPartitionsStatsResponse(result=True)


@handlers.answers("set_aggr_stats_for", writes=True)
def set_aggr_stats_for(call: Call) -> bool:
    """Put statistics of a table, or of many partitions of one; ``needMerge`` adds them to those that are there."""
    request = call.arguments.request
    given = request.colStats or ()
    if given and _described(given[0]).isTblLevel:
        for one in given:
            _write_table(call, one, merge=bool(request.needMerge))
    elif given:
        _write_partitions(call, given, merge=bool(request.needMerge))
    return True


@handlers.answers("get_table_column_statistics")
def get_table_column_statistics(call: Call) -> Any:
    """The statistics of one column of a table.

    Raises:
        NoSuchObjectException: there are none.
    """
    given = call.arguments
    database = database_name(given.db_name)
    found = call.store.column_statistics.read_table(database, given.tbl_name, [given.col_name or ""])
    return _one(found, database, given.tbl_name, None)


@handlers.answers("get_partition_column_statistics")
def get_partition_column_statistics(call: Call) -> Any:
    """The statistics of one column of a partition.

    Raises:
        NoSuchObjectException: there are none.
    """
    given = call.arguments
    database = database_name(given.db_name)
    table = call.store.get_table(database, given.tbl_name)
    values = name_reader(table)(given.part_name or "")
    found = call.store.column_statistics.read_partitions(database, given.tbl_name, [values], [given.col_name or ""])
    return _one(found.get(values, ()), database, given.tbl_name, given.part_name)


@handlers.answers("get_table_statistics_req")
def get_table_statistics_req(call: Call) -> Any:
    """The statistics of those of some columns of a table that have any."""
    request = call.arguments.request
    found = call.store.column_statistics.read_table(
        database_name(request.dbName), request.tblName, request.colNames or ()
    )
    return THRIFT.TableStatsResult(tableStats=[_object(one) for one in found])


@handlers.answers("get_partitions_statistics_req")
def get_partitions_statistics_req(call: Call) -> Any:
    """The statistics of some columns of many partitions, by the partitions' names as they were given."""
    request = call.arguments.request
    names, found = _of_partitions(call, request)
    by_name = {name: [_object(one) for one in found[values]] for name, values in names.items() if values in found}
    return THRIFT.PartitionsStatsResult(partStats=by_name)


@handlers.answers("get_aggr_stats_for")
def get_aggr_stats_for(call: Call) -> Any:
    """The statistics of some columns of many partitions as one, and how many partitions had all of them."""
    request = call.arguments.request
    _, found = _of_partitions(call, request)
    partitions = [[_object(one) for one in some] for some in found.values()]
    made, complete = aggregate(partitions, request.colNames or ())
    return THRIFT.AggrStats(colStats=made, partsFound=complete)


@handlers.answers("delete_table_column_statistics", writes=True)
def delete_table_column_statistics(call: Call) -> bool:
    """Remove the statistics of a table, of one column or of all.

    Raises:
        NoSuchObjectException: there were none.
    """
    given = call.arguments
    if not call.store.column_statistics.delete_table(database_name(given.db_name), given.tbl_name, given.col_name):
        raise _none(f"{database_name(given.db_name)}.{given.tbl_name}", given.col_name)
    return True


@handlers.answers("delete_partition_column_statistics", writes=True)
def delete_partition_column_statistics(call: Call) -> bool:
    """Remove the statistics of a partition, of one column or of all.

    Raises:
        NoSuchObjectException: there were none.
    """
    given = call.arguments
    database = database_name(given.db_name)
    values = name_reader(call.store.get_table(database, given.tbl_name))(given.part_name or "")
    if not call.store.column_statistics.delete_partition(database, given.tbl_name, values, given.col_name):
        raise _none(f"{database}.{given.tbl_name} {given.part_name}", given.col_name)
    return True


@handlers.answers("delete_column_statistics_req", writes=True)
def delete_column_statistics_req(call: Call) -> bool:
    """Remove the statistics of a table, or of some of its partitions or all; of some columns or all.

    Column by column and partition by partition: where that breaks off, the call can be repeated.

    Raises:
        NoSuchObjectException: there were none at all, or there is no such table.
    """
    request = call.arguments.req
    database, name = database_name(request.db_name), request.tbl_name or ""
    table = call.store.get_table(database, name)
    statistics = call.store.column_statistics
    columns = request.col_names or (None,)
    if request.tableLevel:
        removed = [statistics.delete_table(database, name, column) for column in columns]
    else:
        given = request.part_names
        names = call.store.partition_names(database, name) if given is None else given
        values = map(name_reader(table), names)
        removed = [statistics.delete_partition(database, name, one, column) for one in values for column in columns]
    if not any(removed):
        raise _none(str(table), None)
    return True


def _described(given: Any) -> Any:
    """What statistics are of."""
    if given.statsDesc is None:
        raise THRIFT.InvalidInputException("the statistics have no statsDesc")
    return given.statsDesc


def _write_table(call: Call, given: Any, *, merge: bool) -> None:
    description = _described(given)
    database, name = database_name(description.dbName), description.tableName
    table = call.store.get_table(database, name)
    _check_columns(table, given.statsObj or ())
    statistics = list(given.statsObj or ())
    if merge:
        statistics = _merged(call.store.column_statistics.read_table(database, name), statistics)
    call.store.column_statistics.write_table(database, name, map(_statistic, statistics))
    mark_table(call.store, database, name, [one.colName for one in statistics])


def _write_partitions(call: Call, given: Sequence[Any], *, merge: bool) -> None:
    """The statistics of partitions of one table, all or none."""
    first = _described(given[0])
    database, name = database_name(first.dbName), first.tableName
    table = call.store.get_table(database, name)
    read = name_reader(table)
    wanted: dict[tuple[str, ...], list[Any]] = {}
    for one in given:
        if (database_name(_described(one).dbName), one.statsDesc.tableName) != (database, name):
            raise THRIFT.InvalidInputException("the statistics belong to partitions of several tables")
        _check_columns(table, one.statsObj or ())
        wanted.setdefault(read(one.statsDesc.partName or ""), []).extend(one.statsObj or ())
    if merge:
        known = call.store.column_statistics.read_partitions(database, name, wanted)
        wanted = {values: _merged(known.get(values, ()), some) for values, some in wanted.items()}
    statistics = {values: [_statistic(one) for one in some] for values, some in wanted.items()}
    call.store.column_statistics.write_partitions(database, name, statistics)
    mark_partitions(call.store, table, {values: [one.column for one in some] for values, some in statistics.items()})
    call.note(table=f"{database}.{name}", partitions=len(statistics))


def _of_partitions(
    call: Call, request: Any
) -> tuple[dict[str, tuple[str, ...]], dict[tuple[str, ...], list[ColumnStatistic]]]:
    """Values by the names that were asked for, and the statistics by values."""
    database = database_name(request.dbName)
    read = name_reader(call.store.get_table(database, request.tblName))
    names = {name: read(name) for name in request.partNames or ()}
    found = call.store.column_statistics.read_partitions(
        database, request.tblName, names.values(), request.colNames or ()
    )
    call.note(table=f"{database}.{request.tblName}", partitions=len(found))
    return names, found


def _merged(known: Iterable[ColumnStatistic], given: Iterable[Any]) -> list[Any]:
    new = list(given)
    made, _ = aggregate([[_object(one) for one in known], new], [one.colName for one in new])
    return made


def _statistic(one: Any) -> ColumnStatistic:
    if one.statsData is None:
        raise THRIFT.InvalidInputException(f"the statistics of the column {one.colName} hold no data")
    return ColumnStatistic(one.colName, one.colType, _DATA.write(one.statsData), int(time.time()))


def _object(one: ColumnStatistic) -> Any:
    data, _ = _DATA.read(one.data, 0)
    return THRIFT.ColumnStatisticsObj(colName=one.column, colType=one.type, statsData=data)


def _one(found: Sequence[ColumnStatistic], database: str, table: str, partition: str | None) -> Any:
    if not found:
        raise _none(f"{database}.{table}" if partition is None else f"{database}.{table} {partition}", None)
    described = THRIFT.ColumnStatisticsDesc(
        isTblLevel=partition is None,
        dbName=database,
        tableName=table,
        partName=partition,
        lastAnalyzed=found[0].analyzed,
    )
    return THRIFT.ColumnStatistics(statsDesc=described, statsObj=[_object(one) for one in found])


def _check_columns(table: Table, given: Sequence[Any]) -> None:
    known = {column.name.lower() for column in (*table.columns, *table.partition_columns)}
    for one in given:
        if (one.colName or "").lower() not in known:
            raise THRIFT.MetaException(f"Column {one.colName} doesn't exist in table {table}")


def _none(what: str, column: str | None) -> Exception:
    text = f"No statistics for {what}" if column is None else f"No statistics for {what} column {column}"
    error: Exception = THRIFT.NoSuchObjectException(text)
    return error
