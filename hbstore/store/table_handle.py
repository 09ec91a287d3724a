"""TableHandle: one table of a store, `store.table("shop.sales")`, with all that one asks of its partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hbstore.errors import HbstoreError
from hbstore.model.objects import Partition, PartitionValue, PartitionValues, Table
from hbstore.model.totals import Totals
from hbstore.pictures.html_table import html_table
from hbstore.plans.explain import Explain
from hbstore.plans.scan_plan import FilterPlan
from hbstore.store.partition_list import Partitions
from hbstore.store.puts import NEEDS_VALUES, InvalidValues
from hbstore.store.reader import Filter, Reader
from hbstore.store.schema import Schema
from hbstore.store.tables import Tables
from hbstore.store.timelines.stored_timelines import StoredTimelines
from hbstore.store.timelines.table_timelines import TableTimelines
from hbstore.store.value_texts import in_columns
from hbstore.store.writer import Writer
from hbstore.texts.arguments import expect_many
from hbstore.texts.like import LikeDialect


@dataclass(frozen=True, slots=True, repr=False)
class TableHandle:
    """One table of a store by its name; every call asks the store, nothing is kept here.

    Wherever a ``filter`` is taken it is text in the filter language (docs/filter-language.md), an expression made with
    `col`, or None for all partitions. Wherever partitions are taken they are `Partition` objects, values in column
    order, or specs (dicts), mixed at will; values are texts, None, or what filters take: dates, numbers, booleans.

    Raises, in all that follows:
        TableNotFound, DatabaseNotFound: the table is not there any more.
        StoreUnavailable: the backend does not answer.

    And wherever a filter is taken:
        FilterSyntaxError: it does not parse as a whole; the error says where.
        UnknownColumnError: it names a column that is not a partition column.
        FilterTypeError: a literal cannot be compared with its column exactly.
        FilterTooLarge: it is past the caps of docs/filter-language.md.

    >>> from hbstore import col
    >>> sales = store.table("shop.sales")
    >>> sales
    <TableHandle shop.sales>
    >>> sales.count("hour in (5, 6)"), sales.count(col("hour").isin(5, 6)), sales.count()
    (6, 6, 72)
    """

    _tables: Tables
    _reader: Reader
    _writer: Writer
    _timelines: StoredTimelines
    database: str
    table_name: str

    @property
    def name(self) -> str:
        """``database.table``, in lower case.

        >>> sales.name
        'shop.sales'
        """
        return f"{self.database}.{self.table_name}"

    @property
    def definition(self) -> Table:
        """The table as it is stored: columns, location, parameters, owner. One read, O(1).

        >>> sales.definition.location
        's3://shop/sales'
        """
        return self._tables.open(self.database, self.table_name).table

    @property
    def schema(self) -> Schema:
        """The table's columns. One read, O(1).

        >>> [column.name for column in sales.schema.partition_columns]
        ['ds', 'hour']
        """
        table = self.definition
        return Schema(tuple(table.columns), tuple(table.partition_columns))

    @property
    def timelines(self) -> TableTimelines:
        """The table's timelines: which times it has partitions for. Nothing is read before they are asked.

        >>> len(sales.timelines)
        0
        """
        return TableTimelines(self._timelines, self.database, self.table_name)

    # Reading

    def partition(self, partition: PartitionValues) -> Partition:
        """One partition by its values or its spec; an int's text "05" is not "5". One read, O(1).

        Raises:
            PartitionNotFound: there is none.
            InvalidPartitionValue: there are too many or too few values, or one does not suit its column.

        >>> sales.partition({"hour": 5, "ds": "2013-01-01"}).location
        's3://shop/sales/ds=2013-01-01/hour=5'
        """
        return self._reader.get(self.database, self.table_name, partition)

    def partitions(
        self, filter: Filter = None, *, max_parts: int = -1, like_dialect: LikeDialect = "sql"
    ) -> Partitions:
        """The partitions that a filter selects, in key order: a list of `Partition`. O(rows that its scans read).

        Args:
            filter: text, an expression, or None for all.
            max_parts: how many at most, -1 for all.
            like_dialect: "sql" (``%``, ``_``), or "hive2", where ``.*`` is any run and ``.`` one character.

        >>> [partition.values for partition in sales.partitions("ds > '2013-01-01' and hour = 5")]
        [('2013-01-02', '5'), ('2013-01-03', '5')]
        """
        row, selected = self._reader.selected(
            self.database, self.table_name, filter, max_parts=max_parts, like_dialect=like_dialect
        )
        return Partitions(row.table, selected)

    def names(
        self,
        filter: Filter = None,
        *,
        spec: Mapping[str, PartitionValue] | None = None,
        max_parts: int = -1,
        like_dialect: LikeDialect = "sql",
    ) -> list[str]:
        """The names of the partitions that a filter and a partial spec select, in key order. As `partitions`.

        >>> sales.names("hour = 5", spec={"ds": "2013-01-02"})
        ['ds=2013-01-02/hour=5']
        """
        return self._reader.names(
            self.database, self.table_name, filter, spec, max_parts=max_parts, like_dialect=like_dialect
        )

    def count(self, filter: Filter = None, *, like_dialect: LikeDialect = "sql") -> int:
        """How many partitions a filter selects. O(rows that its scans read), which stay where they are.

        >>> sales.count("ds = '2013-01-01' and hour >= 20")
        4
        """
        return self._reader.count(self.database, self.table_name, filter, like_dialect=like_dialect)

    def totals(self) -> Totals:
        """How many partitions the table has, and the rows, files and bytes that they say they have. O(1).

        >>> sales.totals().partitions, sales.totals().rows, sales.totals().size
        (72, 7200, 360000)
        """
        return self._tables.open(self.database, self.table_name).totals

    # Plans

    def plan(self, filter: Filter = None, *, like_dialect: LikeDialect = "sql") -> FilterPlan:
        """The scans that a filter becomes; nothing is read. O(terms of the filter).

        A plan is of the table as it is now: one that is kept while a column gets its first respelled value misses it.

        >>> print(sales.plan("ds = '2013-01-01' and hour in (5, 6)"))
        get ds = '2013-01-01' × hour = 5
        get ds = '2013-01-01' × hour = 6
        """
        return self._reader.plan(self.database, self.table_name, filter, like_dialect=like_dialect)

    def explain(self, filter: Filter = None, *, analyze: bool = False, like_dialect: LikeDialect = "sql") -> Explain:
        """What a filter becomes: its tree, the scans in values and bytes, the residuals.

        Args:
            filter: text, an expression, or None for all.
            analyze: run the scans, too, and measure each: rows read, rows returned, round trips, seconds.
            like_dialect: as for `partitions`.

        >>> explained = sales.explain("hour = 5", analyze=True)
        >>> explained.total.rows_returned, explained.totals.partitions
        (3, 72)
        """
        return self._reader.explain(self.database, self.table_name, filter, analyze=analyze, like_dialect=like_dialect)

    # Writing

    def add(
        self,
        partitions: Iterable[PartitionValues],
        *,
        if_not_exists: bool = False,
        invalid_values: InvalidValues = "reject",
    ) -> int:
        """Add partitions, all or none; how many were added. O(n log rows).

        A partition without a location gets the table's location and its own name; one without a storage the table's.

        Args:
            partitions: what to add.
            if_not_exists: pass over those that are there.
            invalid_values: "keep" takes values that do not fit their column's type; filters match them where engines
                read a value from the text. "reject" raises.

        Raises:
            AlreadyExists: one is there already, or stands twice among them, unless ``if_not_exists``.
            InvalidPartitionValue: a value does not fit its column's type, or there are too many or too few.
            TableNotPartitioned: the table has no partition columns.
            CommitStateUnknown: the backend went away in the middle; all of them will be there, or none.

        >>> sales.add([{"ds": "2013-01-04", "hour": "0"}, ("2013-01-04", "1"), Partition(("2013-01-04", "2"))])
        3
        """
        row = self._tables.open(self.database, self.table_name)
        schema = row.definition.schema
        made = [
            one if isinstance(one, Partition) else Partition(in_columns(schema.names, schema.types, one))
            for one in expect_many("partitions", partitions, hint=NEEDS_VALUES)
        ]
        return self._writer.add(row, made, if_not_exists=if_not_exists, invalid_values=invalid_values)

    def drop(self, partitions: Iterable[PartitionValues], *, if_exists: bool = False) -> int:
        """Drop partitions, all or none; how many were dropped. Files are not touched. O(n log rows).

        Args:
            partitions: what to drop; what `partitions` returns does, too.
            if_exists: pass over those that are not there.

        Raises:
            PartitionNotFound: one is not there, unless ``if_exists``.
            CommitStateUnknown: the backend went away in the middle; all of them will be gone, or none.

        >>> sales.drop(sales.partitions("ds = '2013-01-03'")), sales.drop([{"ds": "2013-01-02", "hour": "5"}])
        (24, 1)
        """
        row = self._tables.open(self.database, self.table_name)
        return self._writer.drop(row, partitions, if_exists=if_exists)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<TableHandle {self.name}>"

    def _repr_html_(self) -> str:
        """Its columns and its totals as tables for notebooks, or why they cannot be read. One read, O(1)."""
        try:
            row = self._tables.open(self.database, self.table_name)
        except HbstoreError as error:
            return html_table(self.name, [(error,)])
        return row.table._repr_html_() + row.totals._repr_html_()
