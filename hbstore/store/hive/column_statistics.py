"""Column statistics of tables and partitions, in companion rows: they go with what they belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from hbstore.model.objects import PartitionValues
from hbstore.model.service_objects import ColumnStatistic
from hbstore.model.service_structs import Companion
from hbstore.model.structs import partition_from_payload
from hbstore.store.changes import Change
from hbstore.store.companion_keys import companion_keys, table_companion_key
from hbstore.store.hive.companions import Also, CompanionChange, Companions
from hbstore.store.publications_cell import check_in_place
from hbstore.store.puts import NEEDS_VALUES, Puts, partition_key, texts_of
from hbstore.store.table_row import TableRow, check_same_table
from hbstore.store.writer import partitioned, write_change
from hbstore.texts.arguments import expect, expect_many, expect_texts
from hbstore.transactions.transaction import RowView

ParametersWith: TypeAlias = Callable[[Mapping[str, str], Sequence[str]], Mapping[str, str]]
"""What becomes of a partition's parameters, by those that it has and the names of some columns."""

_GIVE: Final = "Give a list of ColumnStatistics"


@dataclass(frozen=True, slots=True, repr=False)
class ColumnStatistics:
    """Reads and writes column statistics; columns are named in any case, and those of no such name have none.

    Attributes:
        companions: where they stand.

    >>> from hbstore import Column, Partition, Table, connect
    >>> from hbstore.store.tables import Tables
    >>> from hbstore.transactions.transactions import Transactions
    >>> store = connect("memory://")
    >>> store.create_database("shop")
    >>> store.create_table(Table("shop", "sales", [Column("ds", "date")], [Column("price", "int")]))
    >>> store.add_partitions("shop", "sales", [Partition(["2013-01-01"])])
    1
    >>> statistics = ColumnStatistics(Companions(Tables(Transactions(store.rows))))
    >>> statistics.write_partitions("shop", "sales", {("2013-01-01",): [ColumnStatistic("Price", "int", b"...")]})
    >>> found = statistics.read_partitions("shop", "sales", [["2013-01-01"], ["2013-01-02"]])
    >>> found[("2013-01-01",)][0].column
    'price'
    """

    companions: Companions

    def __repr__(self) -> str:
        return f"<ColumnStatistics of {self.companions.tables.transactions.rows.url}>"

    def write_table(self, database: str, table: str, statistics: Iterable[ColumnStatistic]) -> None:
        """Put statistics of a table's columns; those of other columns stay.

        Raises:
            TableNotFound, DatabaseNotFound: it is not there.

        >>> store.column_statistics.write_table("shop", "sales", [ColumnStatistic("amount", "decimal(10,2)", b"...")])
        """
        row = self.companions.tables.open(database, table)
        given = expect_many("statistics", statistics, ColumnStatistic, hint=_GIVE)
        self.companions.change(row, {table_companion_key(row): _put(given)}, {})

    def write_partitions(
        self,
        database: str,
        table: str,
        statistics: Mapping[tuple[str, ...], Iterable[ColumnStatistic]],
        *,
        parameters: ParametersWith | None = None,
    ) -> None:
        """Put statistics of columns of many partitions, by the partitions' values, all or none.

        Args:
            database: the table's.
            table: its name.
            statistics: what is put.
            parameters: what becomes of the parameters of each partition in the same step, by those it has and the names
                of the columns whose statistics are put; None where they stay.

        Raises:
            TableNotPartitioned: the table has no partition columns.
            PartitionNotFound: one is not there.
            InvalidPartitionValue: too many or too few values.

        >>> statistic = ColumnStatistic("amount", "decimal(10,2)", b"...")
        >>> store.column_statistics.write_partitions("shop", "sales", {("2013-01-01", "5"): [statistic]})
        """
        row = self._partitioned(database, table)
        expect("statistics", statistics, Mapping, hint='Give a dict, such as {("2013-01-01", "5"): [statistic]}')
        steps: dict[bytes, CompanionChange] = {}
        present: dict[bytes, tuple[str, ...]] = {}
        columns: dict[bytes, list[str]] = {}
        for values, some in statistics.items():
            key = partition_key(row, values)
            present[key] = texts_of(row, values)
            (companion_key,) = companion_keys(row, [key])
            given = list(expect_many(f"statistics[{values!r}]", some, ColumnStatistic, hint=_GIVE))
            columns.setdefault(key, []).extend(statistic.column for statistic in given)
            put = _put(given)
            steps[companion_key] = put if companion_key not in steps else _both(steps[companion_key], put)
        if not (parameters is None or callable(parameters)):
            hint = "Give a function of a partition's parameters and the names of columns, or None"
            expect("parameters", parameters, Callable, hint=hint)
        also = None if parameters is None else _parameters_of(columns, parameters)
        self.companions.change(row, steps, present, also=also)

    def read_table(self, database: str, table: str, columns: Sequence[str] | None = None) -> list[ColumnStatistic]:
        """The statistics of a table, of all its columns or some, in order of the columns' names.

        >>> store.column_statistics.read_table("shop", "sales")
        []
        """
        row, wanted = self.companions.tables.open(database, table), _lower(columns)
        key = table_companion_key(row)
        return _of(self.companions.read([key]).get(key), wanted)

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
        keys = companion_keys(row, [partition_key(row, one) for one in texts])
        companions = self.companions.read(keys)
        found = {one: _of(companions.get(key), wanted) for one, key in zip(texts, keys, strict=True)}
        return {one: statistics for one, statistics in found.items() if statistics}

    def delete_table(
        self, database: str, table: str, column: str | None = None, *, same_as: TableRow | None = None
    ) -> bool:
        """Remove a table's statistics, of one column or of all; whether there were any.

        Args:
            database: the table's.
            table: its name.
            column: the column; None for all.
            same_as: the row of the table that it must be; None: the one that has the name.

        Raises:
            ConcurrentChange: it is another table; nothing was changed.

        >>> store.column_statistics.delete_table("shop", "sales")
        False
        """
        row = self.companions.tables.open(database, table)
        check_same_table(row, same_as)
        return self._delete(row, table_companion_key(row), column, {})

    def delete_partition(
        self,
        database: str,
        table: str,
        values: PartitionValues,
        column: str | None = None,
        *,
        same_as: TableRow | None = None,
    ) -> bool:
        """Remove a partition's statistics, of one column or of all; whether there were any.

        Args:
            database: the table's.
            table: its name.
            values: the partition's values.
            column: the column; None for all.
            same_as: as for `delete_table`.

        Raises:
            ConcurrentChange: it is a partition of another table; nothing was changed.

        >>> store.column_statistics.delete_partition("shop", "sales", ("2013-01-01", "5"))
        False
        """
        row = self._partitioned(database, table)
        check_same_table(row, same_as)
        key = partition_key(row, values)
        (companion_key,) = companion_keys(row, [key])
        return self._delete(row, companion_key, column, {key: texts_of(row, values)})

    def _delete(self, row: TableRow, key: bytes, column: str | None, partitions: Mapping[bytes, Sequence[str]]) -> bool:
        expect_texts(or_none=True, column=column)
        gone = set() if column is None else {column.lower()}
        deleted = False

        def step(companion: Companion) -> Companion:
            nonlocal deleted
            kept = tuple(one for one in companion.statistics if gone and one.column not in gone)
            deleted = len(kept) < len(companion.statistics)
            return replace(companion, statistics=kept)

        self.companions.change(row, {key: step}, partitions, must_exist=False)
        return deleted

    def _partitioned(self, database: str, table: str) -> TableRow:
        row = self.companions.tables.open(database, table)
        partitioned(row.table)
        return row


def _parameters_of(columns: Mapping[bytes, Sequence[str]], parameters: ParametersWith) -> Also:
    """Gives partitions other parameters, by their keys and the columns of each."""

    def write(view: RowView, row: TableRow, stored: Mapping[bytes, bytes]) -> None:
        batch = Puts(row, "keep")
        for key, names in columns.items():
            partition = partition_from_payload(stored[key])
            after = parameters(partition.parameters, names)
            if after != partition.parameters:
                batch.put(replace(partition, parameters=after), may_be_untimed=True)
        if batch.rows:
            check_in_place(row)
            puts = tuple(batch.rows.values())
            change = Change(puts, present=batch.values, times=batch.times, untimed=batch.untimed)
            write_change(view, row, change, stored=stored)

    return write


def _put(statistics: Iterable[ColumnStatistic]) -> CompanionChange:
    put = {one.column: one for one in statistics}

    def step(companion: Companion) -> Companion:
        merged = {**{one.column: one for one in companion.statistics}, **put}
        return replace(companion, statistics=tuple(merged[column] for column in sorted(merged)))

    return step


def _both(first: CompanionChange, second: CompanionChange) -> CompanionChange:
    """For values that are one partition: `""` and the name of the null partition."""
    return lambda companion: second(first(companion))


def _lower(columns: Sequence[str] | None) -> set[str] | None:
    """The names of columns in lower case; None for all of them."""
    if columns is None:
        return None
    hint = "Give a list of the columns' names, or None for all"
    return {column.lower() for column in expect_many("columns", columns, str, hint=hint)}


def _of(companion: Companion | None, wanted: set[str] | None) -> list[ColumnStatistic]:
    if companion is None:
        return []
    return [one for one in companion.statistics if wanted is None or one.column in wanted]
