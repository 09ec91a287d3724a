"""The partitions of one table to be copied, by their names: in key order and in pages.

Values that are none of their column's type stay the texts that they are; they are told by name, as no filter that
compares finds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from hbstore.errors import InvalidPartitionValue
from hbstore.keys.partition_names import name_reader
from hbstore.keys.row_key import TAG_TEXT, text_cell
from hbstore.model.objects import Table

Identity: TypeAlias = tuple[bytes, ...]
"""What partitions of a table differ in: their values, as cells, which sort by type."""

PAGE: Final = 1000
"""Partitions that are asked for and written at once."""


class Identities:
    """The identities of values of one table's partitions; each text of a column is read once.

    >>> from hbstore.model.objects import Column
    >>> identities = Identities(Table("shop", "sales", partition_columns=[Column("hour", "int")]))
    >>> identities.of(["5"]) < identities.of(["05"]) < identities.of(["10"])
    True
    """

    def __init__(self, table: Table) -> None:
        self._cells: list[dict[str, bytes]] = [{} for _ in table.key_types]
        self._types = table.key_types

    def of(self, values: Sequence[str]) -> Identity:
        """The identity of values.

        Raises:
            InvalidPartitionValue: too many or too few of them.
        """
        if len(values) != len(self._types):
            raise InvalidPartitionValue(
                "the partition has too many or too few values",
                values=", ".join(values),
                hint="Correct the partition in the source: it needs one value for each partition column",
            )
        return tuple([self._cell(at, value) for at, value in enumerate(values)])

    def _cell(self, at: int, value: str) -> bytes:
        cells = self._cells[at]
        cell = cells.get(value)
        if cell is None:
            cell = cells[value] = text_cell(self._types[at], value)
        return cell


@dataclass(slots=True)
class TableListing:
    """What there is to be copied of one table.

    Attributes:
        names: by identity, in key order.
        untyped: names with a value that is none of its column's type.
        unreadable: names that are none of the table's partitions, or another name of one, and why.
    """

    names: dict[Identity, str] = field(default_factory=dict)
    untyped: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def pages(self, size: int) -> list[list[str]]:
        """The names, so many at once."""
        names = list(self.names.values())
        return [names[at : at + size] for at in range(0, len(names), size)]


def listing(table: Table, names: Iterable[str]) -> TableListing:
    """Sort out the names of a table's partitions. O(n log n), some microseconds for each.

    >>> from hbstore.model.objects import Column
    >>> table = Table("shop", "sales", partition_columns=[Column("hour", "int")])
    >>> listed = listing(table, ["hour=05", "hour=10", "hour=5", "hour=noon"])
    >>> list(listed.names.values()), listed.untyped, listed.unreadable
    (['hour=5', 'hour=05', 'hour=10', 'hour=noon'], ['hour=noon'], [])
    """
    listed = TableListing()
    identify, read = Identities(table).of, name_reader(table.partition_column_names)
    for name in names:
        try:
            first = listed.names.setdefault(identify(read(name)), name)
        except InvalidPartitionValue as error:
            listed.unreadable.append((name, error.text))
        else:
            if first != name:
                listed.unreadable.append((name, f"its values are those of {first}"))
    listed.names = dict(sorted(listed.names.items()))
    listed.untyped = [name for identity, name in listed.names.items() if any(cell[:1] == TAG_TEXT for cell in identity)]
    return listed
