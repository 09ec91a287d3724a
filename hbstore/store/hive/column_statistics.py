"""Column statistics of tables and partitions. They stand in annexes, which say how they go with what they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hbstore.arguments import expect, expect_many, expect_texts
from hbstore.model import PartitionValues
from hbstore.service_model import ColumnStatistic
from hbstore.service_structs import Annex
from hbstore.store.hive.annex_keys import annex_keys, table_annex_key
from hbstore.store.hive.annexes import Annexes, Step
from hbstore.store.puts import NEEDS_VALUES, partition_key, texts_of
from hbstore.store.table_row import TableRow
from hbstore.store.writer import partitioned


@dataclass(frozen=True, slots=True, repr=False)
class ColumnStatistics:
    """Reads and writes column statistics; columns are named in any case, and those of no such name have none.

    Attributes:
        annexes: where they stand.

    >>> from hbstore import Column, Partition, Table, connect
    >>> from hbstore.store.tables import Tables
    >>> from hbstore.transactions.transactions import Transactions
    >>> store = connect("memory://")
    >>> store.create_database("shop")
    >>> store.create_table(Table("shop", "sales", [Column("ds", "date")], [Column("price", "int")]))
    >>> store.add_partitions("shop", "sales", [Partition(["2013-01-01"])])
    1
    >>> statistics = ColumnStatistics(Annexes(Tables(Transactions(store.rows))))
    >>> statistics.write_partitions("shop", "sales", {("2013-01-01",): [ColumnStatistic("Price", "int", b"...")]})
    >>> found = statistics.read_partitions("shop", "sales", [["2013-01-01"], ["2013-01-02"]])
    >>> found[("2013-01-01",)][0].column
    'price'
    """

    annexes: Annexes

    def __repr__(self) -> str:
        return f"<ColumnStatistics of {self.annexes.tables.transactions.rows.url}>"

    def write_table(self, database: str, table: str, statistics: Iterable[ColumnStatistic]) -> None:
        """Put statistics of a table's columns; those of other columns stay.

        Raises:
            TableNotFound, DatabaseNotFound: it is not there.

        >>> store.column_statistics.write_table("shop", "sales", [ColumnStatistic("amount", "decimal(10,2)", b"...")])
        """
        row = self.annexes.tables.open(database, table)
        self.annexes.change(row, {table_annex_key(row): _put("statistics", statistics)}, {})

    def write_partitions(
        self, database: str, table: str, statistics: Mapping[tuple[str, ...], Iterable[ColumnStatistic]]
    ) -> None:
        """Put statistics of columns of many partitions, by the partitions' values, all or none.

        Raises:
            TableNotPartitioned: the table has no partition columns.
            PartitionNotFound: one is not there.
            InvalidPartitionValue: too many or too few values.

        >>> statistic = ColumnStatistic("amount", "decimal(10,2)", b"...")
        >>> store.column_statistics.write_partitions("shop", "sales", {("2013-01-01", "5"): [statistic]})
        """
        row = self._partitioned(database, table)
        expect("statistics", statistics, Mapping, hint='Give a dict, such as {("2013-01-01", "5"): [statistic]}')
        steps: dict[bytes, Step] = {}
        present: dict[bytes, tuple[str, ...]] = {}
        for values, some in statistics.items():
            key = partition_key(row, values)
            present[key] = texts_of(row, values)
            (annex_key,) = annex_keys(row, [key])
            put = _put(f"statistics[{values!r}]", some)
            steps[annex_key] = put if annex_key not in steps else _both(steps[annex_key], put)
        self.annexes.change(row, steps, present)

    def read_table(self, database: str, table: str, columns: Sequence[str] | None = None) -> list[ColumnStatistic]:
        """The statistics of a table, of all its columns or some, in order of the columns' names.

        >>> store.column_statistics.read_table("shop", "sales")
        []
        """
        row, wanted = self.annexes.tables.open(database, table), _lower(columns)
        key = table_annex_key(row)
        return _of(self.annexes.read([key]).get(key), wanted)

    def read_partitions(
        self, database: str, table: str, values: Iterable[PartitionValues], columns: Sequence[str] | None = None
    ) -> dict[tuple[str, ...], list[ColumnStatistic]]:
        """The statistics of many partitions, of all their columns or some.

        O(partitions): no row is read but those that are asked for, 1,000 in a request to HBase.

        Returns:
            Lists in order of the columns' names by partition values as they were given; partitions without such
            statistics are left out, whether they are there or not.

        >>> store.column_statistics.read_partitions("shop", "sales", [("2013-01-01", "5")])
        {}
        """
        row, wanted = self._partitioned(database, table), _lower(columns)
        texts = [texts_of(row, one) for one in expect_many("values", values, hint=NEEDS_VALUES)]
        keys = annex_keys(row, [partition_key(row, one) for one in texts])
        annexes = self.annexes.read(keys)
        found = {one: _of(annexes.get(key), wanted) for one, key in zip(texts, keys, strict=True)}
        return {one: statistics for one, statistics in found.items() if statistics}

    def delete_table(self, database: str, table: str, column: str | None = None) -> bool:
        """Remove a table's statistics, of one column or of all; whether there were any.

        >>> store.column_statistics.delete_table("shop", "sales")
        False
        """
        row = self.annexes.tables.open(database, table)
        return self._delete(row, table_annex_key(row), column, {})

    def delete_partition(self, database: str, table: str, values: PartitionValues, column: str | None = None) -> bool:
        """Remove a partition's statistics, of one column or of all; whether there were any.

        >>> store.column_statistics.delete_partition("shop", "sales", ("2013-01-01", "5"))
        False
        """
        row = self._partitioned(database, table)
        key = partition_key(row, values)
        (annex_key,) = annex_keys(row, [key])
        return self._delete(row, annex_key, column, {key: texts_of(row, values)})

    def _delete(self, row: TableRow, key: bytes, column: str | None, partitions: Mapping[bytes, Sequence[str]]) -> bool:
        expect_texts(or_none=True, column=column)
        gone = set() if column is None else {column.lower()}
        deleted = False

        def step(annex: Annex) -> Annex:
            nonlocal deleted
            kept = tuple(one for one in annex.statistics if gone and one.column not in gone)
            deleted = len(kept) < len(annex.statistics)
            return replace(annex, statistics=kept)

        self.annexes.change(row, {key: step}, partitions, must_exist=False)
        return deleted

    def _partitioned(self, database: str, table: str) -> TableRow:
        row = self.annexes.tables.open(database, table)
        partitioned(row.table)
        return row


def _put(argument: str, statistics: Iterable[ColumnStatistic]) -> Step:
    hint = "Give a list of ColumnStatistics"
    put = {one.column: one for one in expect_many(argument, statistics, ColumnStatistic, hint=hint)}

    def step(annex: Annex) -> Annex:
        merged = {**{one.column: one for one in annex.statistics}, **put}
        return replace(annex, statistics=tuple(merged[column] for column in sorted(merged)))

    return step


def _both(first: Step, second: Step) -> Step:
    """For values that are one partition in two spellings."""
    return lambda annex: second(first(annex))


def _lower(columns: Sequence[str] | None) -> set[str] | None:
    """The names of columns in lower case; None for all of them."""
    if columns is None:
        return None
    hint = "Give a list of the columns' names, or None for all"
    return {column.lower() for column in expect_many("columns", columns, str, hint=hint)}


def _of(annex: Annex | None, wanted: set[str] | None) -> list[ColumnStatistic]:
    if annex is None:
        return []
    return [one for one in annex.statistics if wanted is None or one.column in wanted]
