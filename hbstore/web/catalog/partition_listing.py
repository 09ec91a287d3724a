"""Partitions by filter, page by page: no more of them than a page is held at once, however many there are.

Each page is what the table held at one moment. A listing of several pages has every partition once that stays where it
is meanwhile; one that is added, renamed or dropped between two pages may be in it or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from hbstore.errors import TableNotFound
from hbstore.keys.partition_names import parse_partition_name
from hbstore.model.objects import Table
from hbstore.model.structs import partition_values
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.query_service.page_tokens import page_place, page_token
from hbstore.store.reader import Filter, TableFilter, with_spec
from hbstore.store.table_row import TableRow
from hbstore.texts.like import LikeDialect
from hbstore.warehouse.service import Service

STEP: Final = 2_000
"""Partitions that are read at once for a stream."""


@dataclass(frozen=True, slots=True)
class PartitionPage:
    """Some partitions of a table in key order.

    Attributes:
        table: as it was when they were read.
        payloads: their stored bytes.
        next: the token of the next page; None behind the last.
    """

    table: Table
    payloads: Sequence[bytes]
    next: str | None


@dataclass(frozen=True, slots=True)
class PartitionListing:
    """The partitions of a table that a filter selects.

    Attributes:
        service: where they are.
        database: the table's database.
        name: the table's name.
        filter: text; None: all.
        like_dialect: of the filter.
        spec: a partial spec, as a partition name; it names texts.
    """

    service: Service
    database: str
    name: str
    filter: str | None = None
    like_dialect: LikeDialect = "sql"
    spec: str | None = None

    def page(self, token: str | None, size: int) -> PartitionPage:
        """A page of partitions.

        Raises:
            InvalidInput: the token is none of this listing.
            InvalidPartitionValue: the spec is none of the table.
            TableNotFound: as of `pages`.
            FilterError: as `PartitionStore.read_payloads`.
        """
        return self._page(*self._after(token), size)[1]

    def pages(self, token: str | None, limit: int | None) -> Iterator[PartitionPage]:
        """All pages from a token on, at least one, until there are so many partitions as the limit says.

        Raises:
            TableNotFound: the table was dropped or renamed between two pages; others as of `page`.
        """
        first, after = self._after(token)
        left = limit
        while True:
            first, page, after = self._page(first, after, STEP if left is None else min(STEP, left))
            yield page
            left = None if left is None else left - len(page.payloads)
            if after is None or left == 0:
                return

    def _after(self, token: str | None) -> tuple[TableRow | None, tuple[str, ...] | None]:
        """The table that a token holds for, and the values that it names: another table of the name has its own."""
        if token is None:
            return None, None
        row = self.service.store.table_row(self.database, self.name)
        return row, tuple(page_place(token, self._about(row)))

    def _page(
        self, first: TableRow | None, after: tuple[str, ...] | None, size: int
    ) -> tuple[TableRow, PartitionPage, tuple[str, ...] | None]:
        """The table, a page, and the values of its last partition if there are more behind: one row more tells that.

        Raises:
            TableNotFound: it is not the table of the page before.
        """
        row, payloads = self._read(after, size + 1)
        if first is not None and row.table_id != first.table_id:
            raise TableNotFound(
                "the table was dropped or renamed, and another one has its name now",
                table=row.table,
                hint="List the partitions again",
            )
        if len(payloads) <= size:
            return row, PartitionPage(row.table, payloads, None), None
        payloads = payloads[:size]
        last = partition_values(payloads[-1])
        return row, PartitionPage(row.table, payloads, page_token(last, self._about(row))), last

    def _read(self, after: tuple[str, ...] | None, size: int) -> tuple[TableRow, list[bytes]]:
        def collect(
            row: TableRow, _: MultiScanPlan, batches: Iterator[Sequence[bytes]]
        ) -> tuple[TableRow, list[bytes]]:
            return row, list(chain.from_iterable(batches))

        selecting: Filter | TableFilter = self.filter
        if self.spec is not None:
            spec = parse_partition_name(self.spec)
            selecting = TableFilter(lambda table: with_spec(self.filter, spec, table, self.like_dialect))
        row, payloads = self.service.store.read_payloads(
            self.database,
            self.name,
            selecting,
            collect,
            max_parts=size,
            like_dialect=self.like_dialect,
            after=after,
        )
        self.service.show_files(row)
        return row, payloads

    def _about(self, row: TableRow) -> tuple[str, ...]:
        """What a token of this listing holds for."""
        return row.table_id.hex(), self.filter or "", self.like_dialect, self.spec or ""
