"""Covers on Spark: the rows of a range of time, read from just the partitions that a cover consists of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from hbstore.cubes.cover import Cover, CoverPartitions, CoverRun
from hbstore.cubes.descriptions import value_text
from hbstore.errors import InvalidInput, PartitionNotFound, Uncoverable, UnknownTimeDimension, did_you_mean
from hbstore.filters.builder import col
from hbstore.keys.partition_names import identifier
from hbstore.keys.types import ColumnType, parse_type, read_value
from hbstore.model.objects import Table
from hbstore.spark.arguments import check_arguments
from hbstore.spark.hive_text import Asked
from hbstore.spark.opening import opened
from hbstore.spark.reads import PrunedRead, read_of_one_moment
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines.declaration import PARTITION_UPDATE_PERIOD, declaration_of
from hbstore.times.update_period import UpdatePeriod


def read_cover(
    spark: SparkSession,
    store: PartitionStore | str,
    cover: Cover,
    *,
    database: str,
    column: str | None = None,
    partial: bool = False,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """The rows of a cover's partitions: of exactly these, each once. Needs no metastore.

    The columns are those of all storage tables of the cover, by name; a column that a table does not have is NULL in
    its rows.

    Args:
        spark: the session.
        store: a store, or its URL.
        cover: the partitions, as `hbstore.cubes.Cubes.cover` finds them.
        database: the database of the storage tables.
        column: the partition column that the cover's times are of; None: the only time partition column of each table.
        partial: whether rows of what there is will do, if the cover lacks some times.
        options: further options of the file format, as of `read_table`.

    Raises:
        Uncoverable: the cover lacks some times, unless ``partial``.
        UnknownTimeDimension: a table has no such partition column; or none is named, and it has several, or none, of
            times.
        PartitionNotFound: a partition of the cover was dropped meanwhile.
        InvalidInput: the cover has no partitions; a table has partitions of another update period for the same times;
            an argument is of another type; a partition's folder is gone.
        TableNotFound, ConcurrentChange: as `read_table`.

    >>> from hbstore.cubes import CoverPartition
    >>> day = UpdatePeriod.DAILY
    >>> cover = Cover([CoverPartition(day, day.parse("2013-01-01"), "sales")], [])
    >>> read_cover(spark, store, cover, database="shop").count()
    2
    """
    check_arguments(
        spark=spark, store=store, cover=cover, database=database, column=column, partial=partial, options=options
    )
    if cover.missing and not partial:
        raise Uncoverable(cover.missing)
    runs: dict[str, list[CoverRun]] = {}
    for run in _runs(cover):
        runs.setdefault(run.storage_table, []).append(run)
    if not runs:
        raise InvalidInput(
            "the cover has no partitions, so nothing says which columns its rows have",
            missing=len(cover.missing),
            hint="Look at cover.partitions before you read",
        )
    with opened(store) as open_store:
        frames = []
        for table, some in runs.items():
            described = open_store.get_table(identifier("database", database), table)
            frames.append(rows_of_runs(spark, open_store, described, _time_column(described, column), some, options))
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def rows_of_runs(
    spark: SparkSession,
    store: PartitionStore,
    table: Table,
    column: str,
    runs: Iterable[CoverRun],
    options: Mapping[str, str] | None = None,
    names_asked: Asked = None,
) -> DataFrame:
    """The rows of runs of partitions of one table: of exactly these, each once.

    Args:
        spark: the session.
        store: the store.
        table: the storage table.
        column: the partition column that holds the runs' times.
        runs: of this table.
        options: further options of the file format.
        names_asked: the columns of the files that are asked for, in lower case; None: all.

    Raises:
        PartitionNotFound: a partition was dropped meanwhile.
        InvalidInput: the table has a partition of another update period for one of the times.
    """
    kind = next(parse_type(one.type) for one in table.partition_columns if one.name == column)
    chosen: dict[str, set[UpdatePeriod]] = {}
    for run in runs:
        for at in range(run.start, run.stop):
            chosen.setdefault(value_text(kind, run.period, at), set()).add(run.period)
    frame, read = read_of_one_moment(spark, store, str(table), col(column).isin(*chosen), options or {}, names_asked)
    _check(read, column, kind, chosen)
    return frame


def _runs(cover: Cover) -> Iterable[CoverRun]:
    if isinstance(cover.partitions, CoverPartitions):
        return cover.partitions.runs
    places = ((period, period.index(time), table) for period, time, table in cover.partitions)
    return (CoverRun(period, at, at + 1, table) for period, at, table in places)


def _time_column(table: Table, column: str | None) -> str:
    """The partition column that times are of."""
    declared = declaration_of(table.parameters, table.partition_column_names)
    times = () if declared is None else declared.columns
    if column is None and len(times) == 1:
        return times[0]
    if column is not None and column.lower() in table.partition_column_names:
        return column.lower()
    raise UnknownTimeDimension(
        "the table does not have just one time partition column"
        if column is None
        else "the table has no such partition column",
        table=table,
        column=column,
        partition_columns=", ".join(times or table.partition_column_names) or "none",
        hint=did_you_mean(
            column or "",
            times or table.partition_column_names,
            "Name the partition column that the cover's times are of: column='dt'",
        ),
    )


def _check(read: PrunedRead, column: str, kind: ColumnType, chosen: Mapping[str, set[UpdatePeriod]]) -> None:
    """See that the partitions are those that were chosen: none is gone, and none is of another update period.

    Raises:
        PartitionNotFound, InvalidInput: see `rows_of_runs`.
    """
    place = read.table.partition_column_names.index(column)
    periods = {_plain(kind, text): some for text, some in chosen.items()}
    lacking = set(periods)
    for partition in read.partitions:
        text = _plain(kind, partition.values[place])
        period = partition.parameters.get(PARTITION_UPDATE_PERIOD)
        if period is not None and UpdatePeriod.named(period) not in periods[text]:
            raise InvalidInput(
                "the table has a partition of another update period for a time that was chosen",
                table=read.table,
                partition=partition,
                update_period=period,
                hint="Register update periods whose partitions have the same values on different storages",
            )
        lacking.discard(text)
    if lacking:
        raise PartitionNotFound(
            "a partition that was chosen does not exist any more",
            table=read.table,
            partition=f"{column}={min(lacking)}",
            hint="Somebody dropped it meanwhile; ask again",
        )


def _plain(kind: ColumnType, text: str) -> str:
    """A value as its type writes it, however its writer spelled it."""
    value = read_value(kind, text)
    return text if value is None else kind.text(value)
