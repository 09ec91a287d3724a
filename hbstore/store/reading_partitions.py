"""The methods of a store that read partitions; `hbstore.store.partition_store` says what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from hbstore.model.objects import Partition, PartitionValue, PartitionValues
from hbstore.model.structs import partitions_from_payloads
from hbstore.model.totals import Totals
from hbstore.plans.explain import Explain
from hbstore.plans.scan_plan import FilterPlan, MultiScanPlan
from hbstore.store.reader import Filter, Reader, joined_filters
from hbstore.store.table_row import TableRow
from hbstore.store.tables import Tables
from hbstore.store.writer import partitioned
from hbstore.texts.like import LikeDialect

T = TypeVar("T")


class ReadingPartitions:
    """Finds partitions by values and by filters, counts them, and says how."""

    _tables: Tables
    _reader: Reader

    def get_partition(self, database: str, table: str, values: PartitionValues) -> Partition:
        """Read a partition by its values or its spec; an int's text "05" is not "5". One read, O(log rows).

        Raises:
            PartitionNotFound: there is none with these values.

        >>> store.get_partition("shop", "sales", ("2013-01-01", "5"))
        <Partition ('2013-01-01', '5') at s3://shop/sales/ds=2013-01-01/hour=5>
        """
        return self._reader.get(database, table, values)

    def get_partitions(self, database: str, table: str, values: Sequence[PartitionValues]) -> list[Partition]:
        """Read those of some partitions that exist, each once, in key order. One batch of reads, O(n log rows).

        >>> some = [("2013-01-02", "5"), ("2013-01-01", "5"), ("2099-01-01", "5")]
        >>> [partition.values for partition in store.get_partitions("shop", "sales", some)]
        [('2013-01-01', '5'), ('2013-01-02', '5')]
        """
        return partitions_from_payloads(self.get_payloads(database, table, values))

    def get_payloads(self, database: str, table: str, values: Sequence[PartitionValues]) -> list[bytes]:
        """The stored bytes of those of some partitions that exist, each once, in key order: Partition structs.

        >>> len(store.get_payloads("shop", "sales", [("2013-01-01", "5"), ("2099-01-01", "5")]))
        1
        """
        return self._reader.get_many(database, table, values)

    def get_partitions_by_filter(
        self, database: str, table: str, filter: Filter, max_parts: int = -1, like_dialect: LikeDialect = "sql"
    ) -> list[Partition]:
        """The partitions that a filter selects, in key order.

        ``filter`` is text in Hive's partition filter language, empty or None for all; ``max_parts`` the most that are
        wanted, -1 for all; ``like_dialect`` "sql", or "hive2" where ``.*`` is any run and ``.`` one character.

        Raises:
            FilterSyntaxError: it does not parse as a whole; the error says where.
            UnknownColumnError: it names a column that is not a partition column.
            FilterTypeError: a literal cannot be compared with its column exactly.
            FilterTooLarge: it is past the documented caps.

        >>> [one.values for one in store.get_partitions_by_filter("shop", "sales", "ds < '2013-01-03' and hour = 5")]
        [('2013-01-01', '5'), ('2013-01-02', '5')]
        """
        return self._reader.partitions(database, table, filter, max_parts=max_parts, like_dialect=like_dialect)

    def get_partitions_by_expr(
        self, database: str, table: str, expression: Filter, max_parts: int = -1
    ) -> list[Partition]:
        """The partitions that a Python expression selects, in key order; None: all. As `get_partitions_by_filter`.

        >>> from hbstore import col
        >>> len(store.get_partitions_by_expr("shop", "sales", (col("ds") >= "2013-01-02") & col("hour").isin(5, 6)))
        4
        """
        return self._reader.partitions(database, table, expression, max_parts=max_parts, like_dialect="sql")

    def list_partitions_by_filter(
        self, database: str, table: str, expressions: Filter | Sequence[Filter]
    ) -> list[dict[str, str]]:
        """The specs of the partitions that all of some filters select, in key order; of none: all specs.

        A filter may be text or an expression, mixed at will; a single one needs no list.

        Raises:
            TableNotPartitioned: the table has no partition columns.

        >>> from hbstore import col
        >>> store.list_partitions_by_filter("shop", "sales", ["ds = '2013-01-01'", col("hour") > 22])
        [{'ds': '2013-01-01', 'hour': '23'}]
        """
        partitioned(self._tables.open(database, table).table)
        where = joined_filters(expressions)
        row, found = self._reader.selected(database, table, where, max_parts=-1, like_dialect="sql")
        columns = row.table.partition_column_names
        return [dict(zip(columns, one.values, strict=True)) for one in found]

    def read_payloads(
        self,
        database: str,
        table: str,
        filter: Filter,
        consume: Callable[[TableRow, MultiScanPlan, Iterator[Sequence[bytes]]], T],
        *,
        max_parts: int = -1,
        like_dialect: LikeDialect = "sql",
        after: PartitionValues | None = None,
    ) -> T:
        """Hand the stored bytes of the partitions that a filter selects to a function; no object is made of them.

        ``consume`` takes the table's row, the plan, and batches of Partition structs in key order, and reads them in
        this thread before it returns. On HBase it is called again, from the start, where the table was altered or
        partitions moved while it read: what it did must be forgotten then. Returned is what it returned last.
        ``after`` leaves out all partitions up to these values in key order, whether there is a partition of them or
        not: so a listing goes on behind a page of ``max_parts``.

        >>> store.read_payloads("shop", "sales", "hour = 5", lambda row, plan, batches: sum(map(len, batches)))
        3
        >>> evening = ("2013-01-02", "23")
        >>> store.read_payloads("shop", "sales", "hour = 5", lambda *read: sum(map(len, read[2])), after=evening)
        1
        """
        return self._reader.read(
            database, table, filter, consume, max_parts=max_parts, like_dialect=like_dialect, after=after
        )[1]

    def partition_names(
        self,
        database: str,
        table: str,
        filter: Filter = None,
        *,
        spec: Mapping[str, PartitionValue] | None = None,
        max_parts: int = -1,
        like_dialect: LikeDialect = "sql",
    ) -> list[str]:
        """The names of the partitions that a filter and a partial spec select, in key order.

        >>> store.partition_names("shop", "sales", "ds > '2013-01-01'", spec={"hour": "5"})
        ['ds=2013-01-02/hour=5', 'ds=2013-01-03/hour=5']
        """
        return self._reader.names(database, table, filter, spec, max_parts=max_parts, like_dialect=like_dialect)

    def count_partitions(
        self, database: str, table: str, filter: Filter = None, like_dialect: LikeDialect = "sql"
    ) -> int:
        """How many partitions a filter selects. O(rows that its scans read); the backend counts where it can.

        >>> store.count_partitions("shop", "sales", "hour in (5, 6)")
        6
        """
        return self._reader.count(database, table, filter, like_dialect=like_dialect)

    def totals(self, database: str, table: str) -> Totals:
        """How many partitions a table has, and the rows, files and bytes that they say they have.

        O(1): every change of partitions keeps it, and `repair` counts it anew.

        >>> store.drop_partitions("shop", "sales", [("2013-01-01", "5")])
        1
        >>> store.totals("shop", "sales")
        Totals(partitions=71, rows=7100, files=0, size=355000, without_rows=0, without_files=71, without_size=0)
        """
        return self._tables.open(database, table).totals

    def plan(self, database: str, table: str, filter: Filter = None, like_dialect: LikeDialect = "sql") -> FilterPlan:
        """The scans that a filter becomes; nothing but the table's row is read. O(terms of the filter).

        Raises:
            FilterSyntaxError, UnknownColumnError, FilterTypeError, FilterTooLarge: as `get_partitions_by_filter`.

        >>> print(store.plan("shop", "sales", "ds = '2013-01-01' and hour >= 22"))
        scan ds = '2013-01-01' × hour ∈ [22, ∞)
        """
        return self._reader.plan(database, table, filter, like_dialect=like_dialect)

    def explain(
        self,
        database: str,
        table: str,
        filter: Filter = None,
        analyze: bool = False,  # noqa: FBT001, FBT002  the name is a contract
        like_dialect: LikeDialect = "sql",
    ) -> Explain:
        """What a filter becomes: tree, scans in values and bytes, residuals.

        Args:
            database: the database's name.
            table: the table's name.
            filter: text, an expression, or None for all partitions.
            analyze: run the scans, too, and measure each: rows read, rows returned, round trips, seconds.
            like_dialect: as for `get_partitions_by_filter`.

        >>> store.explain("shop", "sales", "hour = 5", analyze=True).total.rows_returned
        3
        """
        return self._reader.explain(database, table, filter, analyze=analyze, like_dialect=like_dialect)
