"""Pruned reads: a DataFrame over just the partitions that a filter selects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, TypeAlias

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StringType, StructField, StructType

from hbstore.errors import FileOperationFailed, InvalidInput
from hbstore.files.locations import parse_location
from hbstore.filters.builder import Expression
from hbstore.keys import NULL_PARTITION, TAG_VALUE, text_cell
from hbstore.model import Partition, Table
from hbstore.names import partition_name, table_name
from hbstore.publishing.publisher import Publisher
from hbstore.spark.formats import Format, data_schema, format_of, partition_schema
from hbstore.spark.hadoop import hadoop_path
from hbstore.store.partition_store import PartitionStore, connect
from hbstore.store.writer import partitioned
from hbstore.totals import Totals
from hbstore.types import ColumnType

Where: TypeAlias = "str | Expression | None"
_LOCATION: Final = "hbstore_location"
_GLOB: Final = re.compile(r"[\\*?\[\]{}]")
_PLAIN: Final = re.compile(
    r"(?:file:|[a-z][a-z0-9+.-]*://[A-Za-z0-9.:_-]+)(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9_.!~*'(),;:$&+=@-]+)+"
)
"""Locations that are the same text as a URI."""


@dataclass(frozen=True, slots=True)
class PrunedRead:
    """Which partitions a read is of.

    Attributes:
        table: the table.
        partitions: those that the filter selects, in key order.
        kept: what their statistics say together.
        of: what those of all partitions of the table say.
    """

    table: Table
    partitions: Sequence[Partition]
    kept: Totals
    of: Totals

    def __str__(self) -> str:
        parts = [f"{self.kept.partitions:,} of {self.of.partitions:,} partitions"]
        if self.of.size:
            parts.append(f"{self.kept.size:,} of {self.of.size:,} bytes")
        unknown = self.of.without_size if self.of.size else 0
        more = f" (as far as known: {unknown:,} partitions do not say)" if unknown else ""
        return f"{self.table}: {', '.join(parts)}{more}"


def read_table(
    spark: SparkSession,
    store: PartitionStore | str,
    table: str,
    where: Where = None,
    *,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """The rows of the partitions that a filter selects; no other folder is listed or opened.

    The DataFrame's alias says which part of the table it is, as `pruned_read` does: ``explain(True)`` shows it.

    The columns are the table's, then its partition columns, typed; the null partition is NULL, as is text that does not
    fit its column's type. Columns that were added to the table after files were written are NULL in their rows.

    Args:
        spark: the session.
        store: a store, or its URL.
        table: ``database.table``.
        where: a filter as text or as a Python expression; None for all partitions.
        options: further options of the file format, such as ``mergeSchema``.

    Raises:
        InvalidInput: no such name; the table does not say in which format its files are; a partition's folder is gone.
        FilterSyntaxError, UnknownColumnError, FilterTypeError: the filter.
        TableNotFound, TableNotPartitioned: there is no such partitioned table.
    """
    if isinstance(store, str):
        with connect(store, create=False) as opened:
            return read_table(spark, opened, table, where, options=options)
    Publisher(store).finish_before_use(store.publications.row(*table_name(table)))
    read = pruned_read(store, table, where)
    return frame_of(spark, read, options=options or {}).alias(str(read))


def pruned_read(store: PartitionStore, table: str, where: Where = None) -> PrunedRead:
    """Which partitions a read is of, of how many, and their bytes; `PartitionStore.totals` knows those of the table.

    >>> from hbstore import Column, connect
    >>> store = connect("memory://")
    >>> store.create_database("shop")
    >>> store.create_table(Table("shop", "sales", partition_columns=[Column("ds", "date")], location="/data"))
    >>> sizes = {"2013-01-01": "1000", "2013-01-02": "2000"}
    >>> added = [Partition([ds], parameters={"totalSize": size}) for ds, size in sizes.items()]
    >>> store.add_partitions("shop", "sales", added)
    2
    >>> print(pruned_read(store, "shop.sales", "ds = '2013-01-02'"))
    shop.sales: 1 of 2 partitions, 2,000 of 3,000 bytes
    """
    database, name = table_name(table)
    described = partitioned(store.get_table(database, name))
    if where is None or isinstance(where, str):
        found = store.get_partitions_by_filter(database, name, where)
    else:
        found = store.get_partitions_by_expr(database, name, where)
    kept = Totals.of(one.payload for one in found if one.payload is not None)
    return PrunedRead(described, found, kept, store.totals(database, name))


def frame_of(spark: SparkSession, read: PrunedRead, *, options: Mapping[str, str]) -> DataFrame:
    """The rows of partitions as one DataFrame.

    Partitions where Hive would put them are one scan, whose folders' names tell Spark the values. Those elsewhere are
    another one, which is joined with their values by the files' folders.
    """
    table = read.table
    roots = _roots(table)
    groups: dict[tuple[str, bool, tuple[tuple[str, str], ...]], list[Partition]] = {}
    for one in read.partitions:
        form = format_of(table, one.storage)
        key = form.name, _is_at_home(table, roots, one), tuple(sorted(form.options.items()))
        groups.setdefault(key, []).append(one)
    frames = [
        (_at_home if at_home else _elsewhere)(spark, table, Format(name, {**dict(own), **options}), partitions)
        for (name, at_home, own), partitions in groups.items()
    ]
    if not frames:
        fields = [*data_schema(table).fields, *partition_schema(table).fields]
        return spark.createDataFrame([], StructType([StructField(one.name, one.dataType) for one in fields]))
    return reduce(DataFrame.unionAll, frames)


def _roots(table: Table) -> tuple[str, ...]:
    """The table's location as it is written, and as jobs write it."""
    written = (table.location or "").rstrip("/")
    try:
        return (written, str(parse_location(written))) if written else ()
    except FileOperationFailed:  # a text that is none: its partitions may be elsewhere
        return (written,)


def _is_at_home(table: Table, roots: Sequence[str], partition: Partition) -> bool:
    """Whether a partition is in the folder of its name below the table's, and its values are of their types."""
    name = partition_name(table.partition_column_names, partition.values)
    return any(partition.location == f"{root}/{name}" for root in roots) and all(
        _fits(kind, value) for kind, value in zip(table.key_types, partition.values, strict=True)
    )


def _fits(kind: ColumnType, value: str) -> bool:
    return value == NULL_PARTITION or text_cell(kind, value)[:1] == TAG_VALUE


def _at_home(spark: SparkSession, table: Table, form: Format, partitions: Sequence[Partition]) -> DataFrame:
    schema = StructType([*data_schema(table).fields, *partition_schema(table).fields])  # as Spark orders them anyway
    reader = spark.read.format(form.name).options(**form.options).schema(schema)
    return _load(reader.option("basePath", table.location), table, partitions)


def _elsewhere(spark: SparkSession, table: Table, form: Format, partitions: Sequence[Partition]) -> DataFrame:
    values = partition_schema(table)
    texts = StructType(
        [StructField(_LOCATION, StringType()), *(StructField(f"v{at}", StringType()) for at in range(len(values)))]
    )
    rows = [(_key_of(spark, one), *_texts(table, one)) for one in partitions]
    places = spark.createDataFrame(rows, texts)
    files = _load(spark.read.format(form.name).options(**form.options).schema(data_schema(table)), table, partitions)
    folder = f.regexp_replace(f.regexp_replace(f.col("_metadata.file_path"), "/[^/]*$", ""), "^file:/+", "file:/")
    joined = files.withColumn(_LOCATION, folder).join(f.broadcast(places), _LOCATION)
    data = [_quoted(field.name) for field in data_schema(table).fields]
    typed = [f.col(f"v{at}").cast(field.dataType).alias(field.name) for at, field in enumerate(values.fields)]
    return joined.select(*data, *typed)


def _load(reader: DataFrameReader, table: Table, partitions: Sequence[Partition]) -> DataFrame:
    paths = sorted({_GLOB.sub(r"\\\g<0>", one.location or "") for one in partitions})
    try:
        return reader.load(paths)
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        raise InvalidInput(
            "the folder of a partition is not there",
            table=table,
            reason=str(error).partition("SQLSTATE")[0].strip(),
            hint=f"Drop partitions whose folders are gone: hbstore repair {table} --mode drop",
        ) from None


def _texts(table: Table, partition: Partition) -> list[str | None]:
    """A partition's values for a cast; NULL for the null partition and what does not fit."""
    pairs = zip(table.key_types, partition.values, strict=True)
    return [value if value != NULL_PARTITION and _fits(kind, value) else None for kind, value in pairs]


def _key_of(spark: SparkSession, partition: Partition) -> str:
    """A partition's folder as Spark names it in ``_metadata.file_path``; Java, who knows, is asked where it must be."""
    location = partition.location or ""
    if _PLAIN.fullmatch(location):
        return location
    path, system = hadoop_path(spark, location)
    return re.sub("^file:/+", "file:/", system.makeQualified(path).toUri().toString())


def _quoted(name: str) -> Column:
    return f.col("`" + name.replace("`", "``") + "`")
