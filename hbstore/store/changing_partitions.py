"""The methods of a store that change partitions; `hbstore.store.partition_store` says what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from hbstore.errors import HbstoreError
from hbstore.keys.partition_names import table_name
from hbstore.model.objects import Partition, PartitionValues, Table
from hbstore.model.structs import partitions_from_payloads
from hbstore.store.exchange import PartitionExchange
from hbstore.store.puts import InvalidValues
from hbstore.store.reader import Reader
from hbstore.store.table_changes import TableChanges
from hbstore.store.table_row import TableRow
from hbstore.store.table_step import TableStep, run_step
from hbstore.store.tables import Tables
from hbstore.store.writer import Expected, Writer
from hbstore.texts.arguments import expect, expect_many, expect_texts

T = TypeVar("T")


class ChangingPartitions:
    """Adds, alters, renames, moves and drops partitions: each time all of those that are given, or none."""

    _tables: Tables
    _reader: Reader
    _writer: Writer
    _table_changes: TableChanges
    _exchange: PartitionExchange

    def add_partitions(
        self,
        database: str,
        table: str,
        partitions: Iterable[Partition],
        if_not_exists: bool = False,  # noqa: FBT001, FBT002  the name is a contract
        *,
        invalid_values: InvalidValues = "reject",
        same_as: TableRow | Table | None = None,
    ) -> int:
        """Add partitions, all or none; how many, as with ``if_not_exists`` those that are there are passed over.

        A partition without a location gets the table's and its own name; without a storage it inherits the table's.
        ``invalid_values="keep"`` takes values that do not fit their column's type: a filter matches such a value where
        engines read one from the text, as from ``9.0`` in an int column. "reject" raises. ``same_as`` is the table as
        the caller has read it: its row, or its definition, whose location it must still have.

        Raises:
            AlreadyExists: one is there already, or stands twice in the batch, unless ``if_not_exists``.
            InvalidPartitionValue: a value does not fit its type, or there are too many or too few.
            TableNotPartitioned: the table has no partition columns.
            ConcurrentChange: it is not the table of ``same_as``; nothing was changed.
            CommitStateUnknown: HBase went away in the middle; the batch will be there wholly or not at all.

        >>> store.add_partitions("shop", "sales", [Partition(("2013-01-04", "0")), Partition(("2013-01-04", "1"))])
        2
        """
        row = self._tables.open(database, table)
        return self._writer.add(
            row, partitions, if_not_exists=if_not_exists, invalid_values=invalid_values, same_as=same_as
        )

    def drop_partitions(
        self, database: str, table: str, values: Iterable[PartitionValues], *, if_exists: bool = False
    ) -> int:
        """Drop partitions, all or none; how many were dropped. Files are not touched. O(n log rows).

        Args:
            database: the database's name.
            table: the table's name.
            values: values in column order, or specs, of each partition.
            if_exists: whether to pass over partitions that are not there.

        Raises:
            PartitionNotFound: one is not there, unless ``if_exists``.
            CommitStateUnknown: the backend went away in the middle; all of them will be gone, or none.

        >>> store.drop_partitions("shop", "sales", [("2013-01-01", "5"), {"hour": "6", "ds": "2013-01-01"}])
        2
        """
        return self._writer.drop(self._tables.open(database, table), values, if_exists=if_exists)

    def alter_partitions(
        self, database: str, table: str, partitions: Iterable[Partition], *, expected: Expected | None = None
    ) -> None:
        """Replace all of partitions but their values, all or none. O(n log rows).

        Args:
            database: the database's name.
            table: the table's name.
            partitions: what they become.
            expected: as for `change_partitions`.

        Raises:
            PartitionNotFound: one is not there; nothing was changed.
            ConcurrentChange: one is not what is expected; nothing was changed.

        >>> store.alter_partitions("shop", "sales", [Partition(("2013-01-01", "5"), parameters={"numRows": "7"})])
        >>> store.get_partition("shop", "sales", ("2013-01-01", "5")).parameters["numRows"]
        '7'
        """
        self._writer.alter(self._tables.open(database, table), partitions, {} if expected is None else expected)

    def rename_partition(
        self,
        database: str,
        table: str,
        values: PartitionValues,
        renamed: Partition | PartitionValues,
        *,
        expected: Expected | None = None,
        moved: str | None = None,
        invalid_values: InvalidValues = "reject",
        same_as: TableRow | None = None,
    ) -> None:
        """Give a partition other values; a `Partition` replaces all else of it as well. Its column statistics stay.

        Args:
            database: the database's name.
            table: the table's name.
            values: the partition's values.
            renamed: its new values, or all of it.
            expected: as for `change_partitions`.
            moved: the publication of `FolderChanges.begin_move` for which its folder has moved.
            invalid_values: as for `add_partitions`.
            same_as: the row of the table that it must be; None: the one that has the name.

        Raises:
            TableNotPartitioned: the table has no partition columns.
            PartitionNotFound: there is none with these values.
            AlreadyExists: there is one with the new values.
            PublicationLost: the publication ``moved`` was given up; nothing was changed.
            ConcurrentChange: a partition is not what is expected; nothing was changed.

        >>> store.rename_partition("shop", "sales", ("2013-01-01", "5"), {"ds": "2013-01-09", "hour": "5"})
        >>> store.partition_names("shop", "sales", "ds > '2013-01-03'")
        ['ds=2013-01-09/hour=5']
        """
        row = self._tables.open(database, table)
        payloads = {} if expected is None else expected
        self._writer.rename(row, values, renamed, payloads, moved=moved, invalid_values=invalid_values, same_as=same_as)

    def exchange_partitions(
        self,
        source: str | tuple[str, str],
        target: str | tuple[str, str],
        values: Sequence[PartitionValues],
        *,
        relocated: tuple[str, str] | None = None,
        publication: str | None = None,
    ) -> list[Partition]:
        """Move partitions from one table to another, all or none; what they are there, in key order. O(n log rows).

        Args:
            source: the table that they leave, ``"database.table"`` or both names.
            target: the table that they come to, with the same partition columns.
            values: values or spec of each partition.
            relocated: the beginning of locations, and what replaces it; locations elsewhere stay.
            publication: the id under which both tables have leased the partitions (`Publisher.lease`), if they have.

        Raises:
            InvalidInput: the partition columns differ, or it is one table.
            PublicationLost: one of the tables has no such lease any more.
            PartitionNotFound: one is not in the source.
            AlreadyExists: one is in the target.

        >>> from dataclasses import replace
        >>> store.create_table(replace(store.get_table("shop", "sales"), name="sold", location="s3://shop/sold"))
        >>> moved = store.exchange_partitions("shop.sales", "shop.sold", [("2013-01-01", "5")])
        >>> store.table("shop.sold").names()
        ['ds=2013-01-01/hour=5']
        """
        leave, come = (table_name(table) if isinstance(table, str) else table for table in (source, target))
        return partitions_from_payloads(
            self._exchange.move(leave, come, values, relocated=relocated, publication=publication)
        )

    def change_partitions(
        self,
        database: str,
        table: str,
        *,
        add: Iterable[Partition] = (),
        put: Iterable[Partition] = (),
        drop: Iterable[PartitionValues] = (),
        expected: Expected | None = None,
        invalid_values: InvalidValues = "reject",
    ) -> None:
        """Add, replace and drop partitions at once, all or none; a listing sees all of it or nothing.

        ``put`` are partitions that are added, or replaced where they are there. ``expected`` are stored bytes
        (`get_payloads`) by values that partitions must still have; None: there must be no such partition.

        Raises:
            AlreadyExists: one of ``add`` is there already.
            PartitionNotFound: one of ``drop`` is not there.
            ConcurrentChange: one is not what is expected; nothing was changed.
            InvalidInput: one stands twice.

        >>> there = store.get_payloads("shop", "sales", [("2013-01-01", "5")])[0]
        >>> renewed = [Partition(("2013-01-01", "5"), parameters={"numRows": "7"})]
        >>> store.change_partitions("shop", "sales", put=renewed, expected={("2013-01-01", "5"): there})
        """
        row = self._tables.open(database, table)
        self._writer.replace(row, add, put, drop, {} if expected is None else expected, invalid_values)

    def change(
        self,
        table: str,
        step: Callable[[TableStep], T],
        *,
        outrun: tuple[type[HbstoreError], ...] = (),
        hint: str = "Try again",
        same_as: TableRow | None = None,
    ) -> T:
        """Change a table by a step that reads of it and then writes, as if nobody else wrote meanwhile.

        Args:
            table: its name, ``"database.table"``.
            step: takes the table as it is, reads partitions by its methods, and writes by them. What it writes about is
                still what it read, in the very same table; where another writer was faster, the step is called again.
            outrun: errors of the step that say that others were faster, besides ConcurrentChange.
            hint: of the error where they always are.
            same_as: the row of the table that it must be; None: the one that has the name now.

        Returns:
            What the step returned in the end.

        Raises:
            TableNotFound: the table is not there, or was dropped meanwhile, even if there is another of its name.
            StoreBusy: others were faster for as long as the store has patience.

        >>> def announce(sales):
        ...     hours = sales.select("ds = '2013-01-01'")
        ...     sales.change(put=[replace(hour, parameters={**hour.parameters, "done": "yes"}) for hour in hours])
        ...     return len(hours)
        >>> from dataclasses import replace
        >>> store.change("shop.sales", announce)
        24
        """
        expect("step", step, Callable, hint="Give a function of a table in a step")  # type: ignore[arg-type]
        expect_many("outrun", outrun, type, hint="Give a tuple of classes of errors")
        expect_texts(hint=hint)
        names = table_name(table)

        def begin() -> TableStep:
            return TableStep(self._tables.open(*names), self._reader, self._writer, self._table_changes)

        return run_step(begin, step, self._tables.transactions.patience, outrun, hint, same_as)
