"""Cube queries on Spark: the rows of the answer, read from just the partitions that were chosen."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from datetime import datetime
from os import PathLike
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp, parse_one

from hbstore.cubes.cubes import Cubes
from hbstore.cubes.query.latest_partitions import Latest
from hbstore.cubes.query.rewriting import Rewritten, notes_of
from hbstore.cubes.query.text import DIALECT
from hbstore.cubes.rereading import written
from hbstore.cubes.storage_tables import PREFIX
from hbstore.errors import UnsupportedQuery
from hbstore.filters.builder import Expression
from hbstore.model.objects import Table
from hbstore.spark.arguments import check_arguments
from hbstore.spark.cover import rows_of_runs
from hbstore.spark.cube_options import with_session
from hbstore.spark.formats import data_schema, format_of, readable
from hbstore.spark.hive_text import Asked
from hbstore.spark.opening import opened
from hbstore.spark.reads import read_of_one_moment
from hbstore.store.partition_store import PartitionStore

_TIME_ZONE: Final = "spark.sql.session.timeZone"
"""The setting of the session's time zone."""

_LOG: Final = logging.getLogger("hbstore.spark")


def cube(
    spark: SparkSession,
    store: PartitionStore | str,
    text: str,
    *,
    database: str,
    now: datetime | None = None,
    partial: bool = False,
    options: Mapping[str, str] | str | PathLike[str] | None = None,
) -> DataFrame:
    """The rows that answer a cube query. Reads just the partitions that were chosen, and needs no metastore.

    Args:
        spark: the session.
        store: a store, or its URL.
        text: ``cube select …`` (docs/cube-queries.md).
        database: the database of the cube.
        now: for relative times; by default the system's time.
        partial: whether what there is will do. What is missing is logged as a warning; `Cubes.rewrite` gives it.
        options: such as ``{"join_type": "inner"}``, which count more than the session's settings
            ``spark.hbstore.cube.join_type`` or ``lens.cube.query.join.type``; or the path of a file, which counts less.

    Raises:
        CubeQueryError, NoCandidate, InvalidInput: as `Cubes.rewrite`.
        UnsupportedQuery: the query tells times, and the time zone of the session is not UTC.
        PartitionNotFound: a partition that was chosen, or the latest one of a dimension, was dropped before it was
            read.
        InvalidInput: the folder of a partition is gone.

    >>> question = "cube select sum(amount) as sold from sold where time_range_in(day, '2013-01-01', '2013-01-03')"
    >>> cube(spark, store, question, database="shop").first().sold
    6.0
    """
    check_arguments(spark=spark, store=store, text=text, database=database)
    with opened(store) as open_store:
        said = with_session(spark, options)
        rewritten = Cubes(open_store, database).rewrite(text, now=now, partial=partial, options=said)
        for note in notes_of(rewritten):
            _LOG.warning("%s", note)
        return answer(spark, open_store, database, rewritten)


def answer(spark: SparkSession, store: PartitionStore, database: str, rewritten: Rewritten) -> DataFrame:
    """The rows of a query that was rewritten.

    Raises:
        UnsupportedQuery: it needs a session in UTC, and this one is not.
    """
    if rewritten.needs_utc:
        _check_zone(spark)
    reads = rewritten.reads
    views = {table: f"hbstore_{secrets.token_hex(8)}_{table}" for table in reads}
    tree = parse_one(rewritten.sql, dialect=DIALECT)
    names_asked: dict[str, set[str]] = {}
    for node in list(tree.find_all(exp.Table)):
        names_asked.setdefault(node.name, set()).update(_columns_asked(node))
        node.replace(exp.table_(views[node.name], quoted=True))
    try:
        for table, where in reads.items():
            described = store.get_table(database, table)
            if table in rewritten.partitions:
                frame = rows_of_runs(spark, store, described, *rewritten.chosen(table), names_asked=names_asked[table])
            else:
                frame = _rows(spark, store, described, where, names_asked[table])
            frame.createOrReplaceTempView(views[table])
        return spark.sql(written(tree))
    finally:
        for view in views.values():
            spark.catalog.dropTempView(view)


def _check_zone(spark: SparkSession) -> None:
    """See that Spark computes times in UTC, and so as hbstore means them."""
    zone = spark.conf.get(_TIME_ZONE, "UTC")
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001  which names are UTC's, only Java can tell
    zones = getattr(jvm, "org.apache.spark.sql.catalyst.util.DateTimeUtils")
    if zones.getZoneId(zone).normalized().getId() != "Z":
        raise UnsupportedQuery(
            "the query tells times, which are in UTC, and the time zone of the Spark session is not",
            time_zone=zone,
            hint=f"SET TIME ZONE 'UTC', or spark.conf.set('{_TIME_ZONE}', 'UTC')",
        )


def _columns_asked(table: exp.Table) -> set[str]:
    """The columns of a table that a query names: in its own SELECT, or around one of all columns."""
    select = table.parent_select
    while select is not None and select.is_star:
        select = select.parent_select
    return set() if select is None else {column.name.lower() for column in select.find_all(exp.Column)}


def _rows(
    spark: SparkSession, store: PartitionStore, table: Table, where: Expression | None, names_asked: Asked
) -> DataFrame:
    """The rows of a dimension table; or of no partition of a fact, for the columns alone."""
    if table.partition_columns:
        frame, read = read_of_one_moment(spark, store, str(table), where, {}, names_asked)
        if where is not None and f"{PREFIX}dimtable" in table.parameters:
            Latest.check(table, where, len(read.partitions))
        return frame
    form, data = format_of(table, table.storage), readable(data_schema(table))
    return form.rows(form.reader(spark, data).load(table.location), data, [], names_asked)
