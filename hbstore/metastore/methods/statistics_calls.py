"""Column statistics of tables and partitions: written, read, made one, deleted.

A statistic's data is stored as the bytes that the client sent, and handed out as they are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hbstore.keys.partition_names import name_reader, named_values
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.methods.aggregate import aggregate
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT, struct_kind
from hbstore.model.objects import Table
from hbstore.model.service_objects import ColumnStatistic
from hbstore.warehouse.accurate_columns import accurate_columns, mark_table, with_accurate

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
    """As update_table_column_statistics; needMerge as for set_aggr_stats_for."""
    request = call.arguments.req
    for table_statistics in request.colStats or ():
        _write_table(call, table_statistics, merge=bool(request.needMerge))
    return THRIFT.SetPartitionsStatsResponse(result=True)


@handlers.answers("update_partition_column_statistics_req", writes=True)
def update_partition_column_statistics_req(call: Call) -> Any:
    """As update_partition_column_statistics; needMerge as for set_aggr_stats_for."""
    request = call.arguments.req
    if request.colStats:
        _write_partitions(call, request.colStats, merge=bool(request.needMerge))
    return THRIFT.SetPartitionsStatsResponse(result=True)


@handlers.answers("set_aggr_stats_for", writes=True)
def set_aggr_stats_for(call: Call) -> bool:
    """Put statistics of a table, or of many partitions of one; ``needMerge`` adds them to those that are there.

    Only to those that are marked as accurate, as by a Hive Metastore since 3.0: what they would be added to is not all
    that there is, or nobody knows.

    Raises:
        MetaException: statistics of a table, and more with them.
    """
    request = call.arguments.request
    statistics = request.colStats or ()
    if statistics and _described(statistics[0]).isTblLevel:
        if len(statistics) != 1:
            text = f"Expecting only 1 ColumnStatistics for table's column stats, but find {len(statistics)}"
            raise THRIFT.MetaException(text)
        _write_table(call, statistics[0], merge=bool(request.needMerge))
    elif statistics:
        _write_partitions(call, statistics, merge=bool(request.needMerge))
    return True


@handlers.answers("get_table_column_statistics")
def get_table_column_statistics(call: Call) -> Any:
    """The statistics of one column of a table.

    Raises:
        NoSuchObjectException: there are none.
    """
    arguments = call.arguments
    database = database_name(arguments.db_name)
    statistics = call.store.column_statistics.read_table(database, arguments.tbl_name, [arguments.col_name or ""])
    return _one(statistics, database, arguments.tbl_name, None)


@handlers.answers("get_partition_column_statistics")
def get_partition_column_statistics(call: Call) -> Any:
    """The statistics of one column of a partition.

    Raises:
        NoSuchObjectException: there are none.
    """
    arguments = call.arguments
    database = database_name(arguments.db_name)
    table = call.store.get_table(database, arguments.tbl_name)
    values = name_reader(table.partition_column_names)(arguments.part_name or "")
    statistics = call.store.column_statistics.read_partitions(
        database, arguments.tbl_name, [values], [arguments.col_name or ""]
    )
    return _one(statistics.get(values, ()), database, arguments.tbl_name, arguments.part_name)


@handlers.answers("get_table_statistics_req")
def get_table_statistics_req(call: Call) -> Any:
    """The statistics of those of some columns of a table that have any."""
    request = call.arguments.request
    statistics = call.store.column_statistics.read_table(
        database_name(request.dbName), request.tblName, request.colNames or ()
    )
    return THRIFT.TableStatsResult(tableStats=[_object(statistic) for statistic in statistics])


@handlers.answers("get_partitions_statistics_req")
def get_partitions_statistics_req(call: Call) -> Any:
    """The statistics of some columns of many partitions, by the partitions' names as they were given."""
    request = call.arguments.request
    names, statistics = _of_partitions(call, request)
    by_name = {
        name: [_object(statistic) for statistic in statistics[values]]
        for name, values in names.items()
        if values in statistics
    }
    return THRIFT.PartitionsStatsResult(partStats=by_name)


@handlers.answers("get_aggr_stats_for")
def get_aggr_stats_for(call: Call) -> Any:
    """The statistics of some columns of many partitions as one, and how many partitions had all of them."""
    request = call.arguments.request
    _, statistics = _of_partitions(call, request)
    partitions = [[_object(statistic) for statistic in some] for some in statistics.values()]
    merged, complete = aggregate(partitions, request.colNames or ())
    return THRIFT.AggrStats(colStats=merged, partsFound=complete)


@handlers.answers("delete_table_column_statistics", writes=True)
def delete_table_column_statistics(call: Call) -> bool:
    """Remove the statistics of a table, of one column or of all.

    Raises:
        NoSuchObjectException: there were none.
    """
    arguments = call.arguments
    if not call.store.column_statistics.delete_table(
        database_name(arguments.db_name), arguments.tbl_name, arguments.col_name
    ):
        raise _none(f"{database_name(arguments.db_name)}.{arguments.tbl_name}", arguments.col_name)
    return True


@handlers.answers("delete_partition_column_statistics", writes=True)
def delete_partition_column_statistics(call: Call) -> bool:
    """Remove the statistics of a partition, of one column or of all.

    Raises:
        NoSuchObjectException: there were none.
    """
    arguments = call.arguments
    database = database_name(arguments.db_name)
    values = name_reader(call.store.get_table(database, arguments.tbl_name).partition_column_names)(
        arguments.part_name or ""
    )
    if not call.store.column_statistics.delete_partition(database, arguments.tbl_name, values, arguments.col_name):
        raise _none(f"{database}.{arguments.tbl_name} {arguments.part_name}", arguments.col_name)
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
        part_names = request.part_names
        names = call.store.partition_names(database, name) if part_names is None else part_names
        values = map(name_reader(table.partition_column_names), names)
        removed = [statistics.delete_partition(database, name, one, column) for one in values for column in columns]
    if not any(removed):
        raise _none(str(table), None)
    return True


def _described(statistics: Any) -> Any:
    """What statistics are of."""
    if statistics.statsDesc is None:
        raise THRIFT.InvalidInputException("the statistics have no statsDesc")
    return statistics.statsDesc


def _write_table(call: Call, table_statistics: Any, *, merge: bool) -> None:
    description = _described(table_statistics)
    database, name = database_name(description.dbName), description.tableName
    row = call.store.table_row(database, name)
    _check_columns(row.table, table_statistics.statsObj or ())
    statistics = list(table_statistics.statsObj or ())
    if merge:
        statistics = _mergeable(row.table.parameters, statistics)
        statistics = _merged(call.store.column_statistics.read_table(database, name), statistics)
    if not statistics:
        return
    call.store.column_statistics.write_table(database, name, map(_statistic, statistics))
    mark_table(call.store, row, [statistic.colName for statistic in statistics])


def _write_partitions(call: Call, batch: Sequence[Any], *, merge: bool) -> None:
    """The statistics of partitions of one table, all or none."""
    first = _described(batch[0])
    database, name = database_name(first.dbName), first.tableName
    table = call.store.get_table(database, name)
    read = name_reader(table.partition_column_names)
    by_values: dict[tuple[str, ...], list[Any]] = {}
    for partition_statistics in batch:
        if (database_name(_described(partition_statistics).dbName), partition_statistics.statsDesc.tableName) != (
            database,
            name,
        ):
            raise THRIFT.InvalidInputException("the statistics belong to partitions of several tables")
        by_values.setdefault(read(partition_statistics.statsDesc.partName or ""), []).extend(
            partition_statistics.statsObj or ()
        )
    if merge:
        for partition in call.store.get_partitions(database, name, list(by_values)):
            mergeable = _mergeable(partition.parameters, by_values.pop(partition.values))
            if mergeable:
                by_values[partition.values] = mergeable
        stored = call.store.column_statistics.read_partitions(database, name, by_values)
        by_values = {values: _merged(stored.get(values, ()), some) for values, some in by_values.items()}
    statistics = {values: [_statistic(statistic) for statistic in some] for values, some in by_values.items()}
    call.store.column_statistics.write_partitions(database, name, statistics, parameters=with_accurate)
    call.note(table=f"{database}.{name}", partitions=len(statistics))


def _of_partitions(
    call: Call, request: Any
) -> tuple[dict[str, tuple[str, ...]], dict[tuple[str, ...], list[ColumnStatistic]]]:
    """Values by the names that were asked for, and the statistics by values."""
    database = database_name(request.dbName)
    columns = call.store.get_table(database, request.tblName).partition_column_names
    names = dict(named_values(columns, request.partNames or ()))
    statistics = call.store.column_statistics.read_partitions(
        database, request.tblName, names.values(), request.colNames or ()
    )
    call.note(table=f"{database}.{request.tblName}", partitions=len(statistics))
    return names, statistics


def _mergeable(parameters: Mapping[str, str], statistics: Iterable[Any]) -> list[Any]:
    """Those statistics whose columns have accurate ones."""
    accurate = accurate_columns(parameters)
    return [statistic for statistic in statistics if (statistic.colName or "").lower() in accurate]


def _merged(stored: Iterable[ColumnStatistic], sent: Iterable[Any]) -> list[Any]:
    new = list(sent)
    merged, _ = aggregate([[_object(statistic) for statistic in stored], new], [statistic.colName for statistic in new])
    return merged


def _statistic(statistic: Any) -> ColumnStatistic:
    if statistic.statsData is None:
        raise THRIFT.InvalidInputException(f"the statistics of the column {statistic.colName} hold no data")
    return ColumnStatistic(statistic.colName, statistic.colType, _DATA.write(statistic.statsData), int(time.time()))


def _object(statistic: ColumnStatistic) -> Any:
    data, _ = _DATA.read(statistic.data, 0)
    return THRIFT.ColumnStatisticsObj(colName=statistic.column, colType=statistic.type, statsData=data)


def _one(statistics: Sequence[ColumnStatistic], database: str, table: str, partition: str | None) -> Any:
    if not statistics:
        raise _none(f"{database}.{table}" if partition is None else f"{database}.{table} {partition}", None)
    described = THRIFT.ColumnStatisticsDesc(
        isTblLevel=partition is None,
        dbName=database,
        tableName=table,
        partName=partition,
        lastAnalyzed=statistics[0].analyzed,
    )
    objects = [_object(statistic) for statistic in statistics]
    return THRIFT.ColumnStatistics(statsDesc=described, statsObj=objects, engine=None)  # which Hive 2.3 does not know


def _check_columns(table: Table, statistics: Sequence[Any]) -> None:
    names = {column.name.lower() for column in (*table.columns, *table.partition_columns)}
    for statistic in statistics:
        if (statistic.colName or "").lower() not in names:
            raise THRIFT.MetaException(f"Column {statistic.colName} doesn't exist in table {table}")


def _none(what: str, column: str | None) -> Exception:
    text = f"No statistics for {what}" if column is None else f"No statistics for {what} column {column}"
    error: Exception = THRIFT.NoSuchObjectException(text)
    return error
