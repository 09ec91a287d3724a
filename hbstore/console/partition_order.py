"""In which order partitions are listed: by their keys, page by page, or sorted by what they say of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import Partition, Table
from hbstore.model.structs import partition_from_payload
from hbstore.model.totals import Totals
from hbstore.web.catalog.quick_fields import quick_fields

SORTED: Final = 10_000
"""Partitions that are sorted at most: all of them are read for each page, which takes some tenths of a second."""

_SHORT: Final = 44
"""Characters of a location in a list."""

_COLUMNS: Final = ("name", "rows", "files", "size", "created")


@dataclass(frozen=True, slots=True)
class ListedPartition:
    """A partition in a list.

    Attributes:
        name: its name.
        partition: it.
        totals: what it says of its rows, files and bytes.
    """

    name: str
    partition: Partition
    totals: Totals

    @staticmethod
    def of(table: Table, payload: bytes) -> ListedPartition:
        """A stored partition of a table."""
        partition = partition_from_payload(payload)
        name = partition_name(table.partition_column_names, partition.values)
        return ListedPartition(name, partition, Totals.of([payload]))

    def number(self, column: str) -> int | None:
        """What it says in a column of the list, ``rows``, ``files`` or ``size``; None: nothing."""
        return number_in(self.totals, column)


def number_in(totals: Totals, column: str) -> int | None:
    """The rows, files or bytes of a partition by its totals; None: it does not say them.

    >>> number_in(Totals(1, rows=7, without_files=1), "rows"), number_in(Totals(1, without_files=1), "files")
    (7, None)
    """
    numbers = {
        "rows": None if totals.without_rows else totals.rows,
        "files": None if totals.without_files else totals.files,
        "size": None if totals.without_size else totals.size,
    }
    return numbers[column]


@dataclass(frozen=True, slots=True)
class PartitionOrder:
    """How a list of partitions is sorted.

    Attributes:
        column: by which of its columns; None: by their keys, as the store has them.
        is_falling: whether the largest comes first.
        first: how many come before the page that is shown.
    """

    column: str | None = None
    is_falling: bool = False
    first: int = 0

    @staticmethod
    def of(request: Request) -> PartitionOrder:
        """What a request says by ``sort=-size`` and ``at=100``.

        Raises:
            InvalidInput: there is no such column, or the place is no number.
        """
        text, at = request.query_params.get("sort", ""), request.query_params.get("at", "0")
        column = text.removeprefix("-")
        if text and column not in _COLUMNS:
            hint = f"Write one of {', '.join(_COLUMNS)}, with a - before it for the largest first"
            raise InvalidInput("partitions have no such column", sort=text[:100], hint=hint)
        if not (at.isascii() and at.isdecimal() and len(at) <= len(str(SORTED))):
            raise InvalidInput("the text is no number of a partition", at=at[:100], hint="Go to the page by its link")
        return PartitionOrder(column or None, text.startswith("-"), int(at))

    @property
    def text(self) -> str | None:
        """As an address has it."""
        return None if self.column is None else f"{'-' * self.is_falling}{self.column}"

    def sorted(self, payloads: Sequence[bytes]) -> list[bytes]:
        """Stored partitions, which stand in the order of their keys, in this order; those that do not say come last.

        What is sorted by is read from their bytes, without decoding them.
        """
        if self.column is None or self.column == "name":
            return list(reversed(payloads)) if self.is_falling else list(payloads)
        if self.column == "created":
            numbers: list[int | None] = [create_time or None for _, _, create_time, _ in quick_fields(payloads)]
        else:
            numbers = [number_in(Totals.of([payload]), self.column) for payload in payloads]
        numbered = [(number, at) for at, number in enumerate(numbers) if number is not None]
        numbered.sort(key=lambda pair: pair[0], reverse=self.is_falling)
        last = [payload for payload, number in zip(payloads, numbers, strict=True) if number is None]
        return [payloads[at] for _, at in numbered] + last

    def next_text(self, column: str) -> str:
        """What a click on a column asks for: the largest first, and the other way round where it is so.

        >>> PartitionOrder().next_text("size"), PartitionOrder("size", is_falling=True).next_text("size")
        ('-size', 'size')
        """
        if column == "name":
            return "name" if self.column == "name" and self.is_falling else "-name"
        return column if (self.column, self.is_falling) == (column, True) else f"-{column}"


def short_location(location: str | None, table: Table) -> str:
    """A location in a list: below the table's folder without that, and cut in the middle where it is long.

    >>> sales = Table("shop", "sales", location="s3://shop/sales")
    >>> short_location("s3://shop/sales/ds=2013-01-01/hour=5", sales), short_location(None, sales)
    ('…/ds=2013-01-01/hour=5', '–')
    >>> short_location("hdfs://namenode.example:8020/warehouse/tablespace/external/sales/2013/01/01", sales)
    'hdfs://namenode.example…l/sales/2013/01/01'
    """
    if not location:
        return "–"
    folder = (table.location or "").rstrip("/")
    text = f"…{location.removeprefix(folder)}" if folder and location.startswith(f"{folder}/") else location
    if len(text) <= _SHORT:
        return text
    return f"{text[: _SHORT // 2 + 1]}…{text[-(_SHORT // 2 - 4) :]}"
