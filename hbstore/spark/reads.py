"""Pruned reads: a DataFrame over just the partitions that a filter selects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, TypeAlias

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StringType, StructField, StructType

from hbstore.errors import ConcurrentChange, FileOperationFailed, InvalidInput
from hbstore.files.locations import parse_location
from hbstore.filters.builder import Expression
from hbstore.keys.partition_names import partition_namer, table_name
from hbstore.keys.row_key import NULL_PARTITION, fits
from hbstore.keys.types import ColumnType, DecimalType, read_value
from hbstore.model.objects import Partition, Table
from hbstore.model.totals import Totals
from hbstore.publishing.publisher import Publisher
from hbstore.spark.arguments import check_arguments
from hbstore.spark.formats import FileFormat, data_schema, format_of, partition_schema, readable
from hbstore.spark.frames import local_frame
from hbstore.spark.hive_text import Asked, asked_of
from hbstore.spark.listed_files import file_column, listed_files, load_folders, path_namer
from hbstore.spark.opening import opened
from hbstore.spark.texts import quoted
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.store.writer import partitioned
from hbstore.texts.arguments import expect

Where: TypeAlias = "str | Expression | None"
_FOLDER: Final = "hbstore_folder"


@dataclass(frozen=True, slots=True, repr=False)
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

    def __repr__(self) -> str:
        return f"<PrunedRead {self}>"

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
    filter: Where = None,
    *,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """The rows of the partitions that a filter selects; no other folder is listed or opened.

    The DataFrame's alias says which part of the table it is, as `pruned_read` does: ``explain(True)`` shows it.

    The columns are the table's, then its partition columns, typed; the null partition is NULL, as is text that Spark
    reads no value from. Columns that were added to the table after files were written are NULL in their rows.

    Args:
        spark: the session.
        store: a store, or its URL.
        table: ``database.table``.
        filter: text, an expression, or None for all partitions.
        options: further options of the file format, such as ``mergeSchema``.

    Raises:
        InvalidInput: an argument is of another type; no such name; the table does not say in which format its files
            are; a partition's folder is gone.
        FilterSyntaxError, UnknownColumnError, FilterTypeError: the filter.
        TableNotFound, TableNotPartitioned: there is no such partitioned table.
        StoreBusy: writers kept changing the partitions while their files were listed.

    >>> read_table(spark, store, "shop.sales", "ds = '2013-01-01'").columns
    ['amount', 'ds', 'hour']
    >>> read_table(spark, store, "shop.sales", "hour = 5").count()
    1
    """
    check_arguments(spark=spark, store=store, table=table, filter=filter, options=options)
    with opened(store) as given:
        return read_of_one_moment(spark, given, table, filter, options or {})[0]


def read_of_one_moment(
    spark: SparkSession,
    store: PartitionStore,
    table: str,
    filter: Where,
    options: Mapping[str, str],
    names_asked: Asked = None,
) -> tuple[DataFrame, PrunedRead]:
    """The rows of `read_table`, with the columns that are asked for, and of which partitions. Raises as it does."""

    def read_once() -> tuple[DataFrame, PrunedRead]:
        listing = _Listing.begin(store, table, filter)
        try:
            frame = frame_of(spark, listing.read, options=options, names_asked=names_asked)
        except InvalidInput:
            listing.check_one_moment()
            raise
        listing.check_one_moment()
        return frame.alias(str(listing.read)), listing.read

    text = "other writers kept changing the table while its files were listed"
    return store.patience.retry(read_once, text=text, table=table)


@dataclass(frozen=True, slots=True)
class _Listing:
    """Folders are listed file by file, and a write may be decided or shown in between: then the list mixes two states.

    Attributes:
        store: the store.
        row: the table's, before its partitions were read.
        filter: which partitions are read.
        read: the partitions.
        hidden: the writes in them whose files could not be shown: these partitions are read as their folders are.
    """

    store: PartitionStore
    row: TableRow
    filter: Where
    read: PrunedRead
    hidden: frozenset[str]

    @classmethod
    def begin(cls, store: PartitionStore, table: str, filter: Where) -> _Listing:
        """Read the partitions, then show the files of what is decided about them."""
        publications, names = store.publications, table_name(table)
        before = publications.row(*names)
        read = pruned_read(store, table, filter)
        Publisher(store).roll_forward_before_use(publications.row(*names))
        return cls(store, before, filter, read, publications.decided(publications.row(*names)))

    def check_one_moment(self) -> None:
        """See that nothing was decided or shown since, or only of partitions that the read is not of.

        Raises:
            ConcurrentChange: a write was.
        """
        table = self.row.table
        now = self.store.publications.row(table.database, table.name)
        if now.log == self.row.log:
            return
        again = pruned_read(self.store, str(table), self.filter)
        is_same = [one.payload for one in again.partitions] == [one.payload for one in self.read.partitions]
        if not is_same or not self.hidden <= self.store.publications.decided(now):
            raise ConcurrentChange(
                "another writer changed the table while its files were listed", table=table, hint="Try again"
            )


def pruned_read(store: PartitionStore, table: str, filter: Where = None) -> PrunedRead:
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
    check_arguments(table=table, filter=filter)
    expect("store", store, PartitionStore, hint="Give an open store")
    database, name = table_name(table)
    described = partitioned(store.get_table(database, name))
    found = store.get_partitions_by_filter(database, name, filter)
    kept = Totals.of(one.payload for one in found if one.payload is not None)
    return PrunedRead(described, found, kept, store.totals(database, name))


def frame_of(
    spark: SparkSession, read: PrunedRead, *, options: Mapping[str, str], names_asked: Asked = None
) -> DataFrame:
    """The rows of partitions as one DataFrame: of the files' columns those that are asked for.

    Partitions where Hive would put them are one scan, whose folders' names tell Spark the values. Those elsewhere are
    another one, which is joined with their values by the files' folders. Both hold what is in folders below.

    Raises:
        InvalidInput: a partition has no location, or its folder does not exist.
    """
    table = read.table
    is_at_home = _at_home_in(table)
    groups: dict[tuple[FileFormat, bool], list[Partition]] = {}
    for one in read.partitions:
        groups.setdefault((format_of(table, one.storage), is_at_home(one)), []).append(one)
    nowhere = next((one for one in read.partitions if not one.location), None)
    if nowhere is not None:
        raise InvalidInput(
            "a partition has no location",
            table=table,
            partition=partition_namer(table.partition_column_names)(nowhere.values),
            hint="Give its table a location before partitions are added, or each partition its own",
        )
    frames = [
        (_at_home if at_home else _elsewhere)(
            spark, table, replace(form, options={**form.options, **options}), partitions, names_asked
        )
        for (form, at_home), partitions in groups.items()
    ]
    if not frames:
        data = data_schema(table)
        fields = [*(data[name] for name in asked_of(data, names_asked)), *partition_schema(table).fields]
        return local_frame(spark, [], readable(StructType(fields)))
    return reduce(DataFrame.unionAll, frames)


def _roots(table: Table) -> tuple[str, ...]:
    """The table's location as it is written, and as jobs write it."""
    written = (table.location or "").rstrip("/")
    try:
        return (written, str(parse_location(written))) if written else ()
    except FileOperationFailed:  # a text that is none: its partitions may be elsewhere
        return (written,)


def _at_home_in(table: Table) -> Callable[[Partition], bool]:
    """Whether a partition is in the folder of its name below the table's, and Spark reads its values from that."""
    roots, name_of, kinds = _roots(table), partition_namer(table.partition_column_names), table.key_types

    def is_at_home(partition: Partition) -> bool:
        name = name_of(partition.values)
        return any(partition.location == f"{root}/{name}" for root in roots) and all(
            map(_is_told_by_name, kinds, partition.values)
        )

    return is_at_home


def _is_told_by_name(kind: ColumnType, text: str) -> bool:
    """Whether Spark reads a value from a folder's name: its rules there are not those of a cast."""
    if not fits(kind, text):
        return False
    # Spark takes the digits of a decimal for one of the type's scale: 5 is 0.05 in a decimal(10,2).
    return text == NULL_PARTITION or not isinstance(kind, DecimalType) or kind.text(kind.parse(text)) == text


def _at_home(
    spark: SparkSession, table: Table, form: FileFormat, partitions: Sequence[Partition], names_asked: Asked
) -> DataFrame:
    data, values = readable(data_schema(table)), readable(partition_schema(table))
    reader = form.reader(spark, data, values.fields).option("basePath", table.location)
    return form.rows(_load(spark, reader, table, partitions), data, values.names, names_asked)


def _elsewhere(
    spark: SparkSession, table: Table, form: FileFormat, partitions: Sequence[Partition], names_asked: Asked
) -> DataFrame:
    values = readable(partition_schema(table))
    texts = StructType(
        [StructField(_FOLDER, StringType()), *(StructField(f"v{at}", StringType()) for at in range(len(values)))]
    )
    path_of = path_namer(spark)
    values_by_path: dict[str, list[list[str | None]]] = {}
    for partition in partitions:
        values_by_path.setdefault(path_of(partition.location or ""), []).append(_texts(table, partition))
    data = readable(data_schema(table))
    # Folders in folders belong to the partition, as in folders below the table's, and do not tell its values.
    reader = form.reader(spark, data).option("recursiveFileLookup", "true")
    files = _load(spark, reader, table, partitions)
    folders = local_frame(spark, _folders(listed_files(files), values_by_path), texts)
    folder = f.regexp_replace(file_column(files), "/[^/]*$", "")
    rows = form.rows(files.withColumn(_FOLDER, folder), data, [_FOLDER], names_asked)
    joined = rows.join(f.broadcast(folders), _FOLDER)
    typed = [f.col(f"v{at}").try_cast(field.dataType).alias(field.name) for at, field in enumerate(values.fields)]
    return joined.select(*map(quoted, asked_of(data, names_asked)), *typed)


def _folders(
    files: Mapping[str, str], values_by_path: Mapping[str, Sequence[Sequence[str | None]]]
) -> Iterator[tuple[str | None, ...]]:
    """The folders of listed files, each with the values of a partition that it is in; it may be in several."""
    folders = {path.rpartition("/")[0]: text.rpartition("/")[0] for path, text in files.items()}
    for path, text in folders.items():
        above = path
        while above:
            yield from ((text, *values) for values in values_by_path.get(above, ()))
            above = above.rpartition("/")[0]


def _load(spark: SparkSession, reader: DataFrameReader, table: Table, partitions: Sequence[Partition]) -> DataFrame:
    try:
        return load_folders(spark, reader, (partition.location or "" for partition in partitions))
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        raise InvalidInput(
            "the folder of a partition does not exist",
            table=table,
            reason=str(error).partition("SQLSTATE")[0].strip(),
            hint=f"Drop partitions whose folders are gone: `hbstore repair {table} --mode drop`",
        ) from None


def _texts(table: Table, partition: Partition) -> list[str | None]:
    """A partition's values for a cast: in the spelling of their types, where hbstore reads them; None is NULL."""
    return [_text(kind, text) for kind, text in zip(table.key_types, partition.values, strict=True)]


def _text(kind: ColumnType, text: str) -> str | None:
    if text == NULL_PARTITION:
        return None
    value = read_value(kind, text)
    return text if value is None else kind.text(value)
