"""The partitions of one table to be copied, by their names: in key order, in pages, and what cannot be kept apart.

A Hive Metastore tells partitions apart by their names. In a store values are compared by type, so that ``hour=05`` and
``hour=5`` of an int are one partition. Of those the one that is written as its value is goes in, and the others are
told by name. Values that are none of their column's type stay the texts that they are; they are told, too, as no filter
that compares finds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from hbstore.errors import InvalidPartitionValue
from hbstore.keys import TAG_TEXT, cell_text, text_cell
from hbstore.model import Table
from hbstore.names import name_reader

Identity: TypeAlias = tuple[bytes, ...]
"""What partitions of a table differ in: their values by type, as cells."""

PAGE: Final = 1000
"""Partitions that are asked for and written at once."""


class Identities:
    """The identities of values of one table's partitions; each text of a column is read once.

    >>> from hbstore.model import Column
    >>> identities = Identities(Table("shop", "sales", partition_columns=[Column("hour", "int")]))
    >>> identities.of(["05"]) == identities.of(["5"])
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

    def is_canonical(self, values: Sequence[str]) -> bool:
        """Whether values are written as they are: 5 and not 05."""
        texts = map(cell_text, self._types, self.of(values))
        return tuple(texts) == tuple(values)

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
        collided: names that are left out, and the name that goes in for each.
        untyped: names with a value that is none of its column's type.
        unreadable: names that are none of the table's partitions, and why.
    """

    names: dict[Identity, str] = field(default_factory=dict)
    collided: list[tuple[str, str]] = field(default_factory=list)
    untyped: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def pages(self, size: int) -> list[list[str]]:
        """The names, so many at once."""
        names = list(self.names.values())
        return [names[at : at + size] for at in range(0, len(names), size)]


def listing(table: Table, names: Iterable[str]) -> TableListing:
    """Sort out the names of a table's partitions. O(n log n), some microseconds for each.

    >>> from hbstore.model import Column
    >>> table = Table("shop", "sales", partition_columns=[Column("hour", "int")])
    >>> listed = listing(table, ["hour=05", "hour=10", "hour=5", "hour=noon"])
    >>> list(listed.names.values()), listed.collided, listed.untyped
    (['hour=5', 'hour=10', 'hour=noon'], [('hour=05', 'hour=5')], ['hour=noon'])
    """
    listed = TableListing()
    identities = Identities(table)
    others: dict[Identity, list[str]] = {}
    for identity, name in _read(table, identities, names, listed):
        first = listed.names.setdefault(identity, name)
        if first is not name:
            others.setdefault(identity, [first]).append(name)
    read = name_reader(table.partition_column_names)
    for identity, same in others.items():
        kept = min(same, key=lambda name: (not identities.is_canonical(read(name)), name))
        listed.names[identity] = kept
        listed.collided += [(name, kept) for name in sorted(same) if name != kept]
    listed.names = dict(sorted(listed.names.items()))
    listed.untyped = [name for identity, name in listed.names.items() if any(cell[:1] == TAG_TEXT for cell in identity)]
    return listed


def _read(
    table: Table, identities: Identities, names: Iterable[str], listed: TableListing
) -> Iterator[tuple[Identity, str]]:
    read = name_reader(table.partition_column_names)
    for name in names:
        try:
            yield identities.of(read(name)), name
        except InvalidPartitionValue as error:
            listed.unreadable.append((name, error.text))
