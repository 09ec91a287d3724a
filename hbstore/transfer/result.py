"""What a transfer did, table by table, and what it could not do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hbstore.texts.wording import plural
from hbstore.transfer.checksum import Checksum
from hbstore.transfer.work import Outcome

Done: TypeAlias = Literal["created", "same", "replaced", "kept"]
"""What became of a database or a table: it was there just so, or otherwise."""


@dataclass(frozen=True, slots=True, repr=False)
class TableTransfer:
    """What became of one table.

    Attributes:
        table: ``database.table``.
        done: what became of the table itself.
        partitions: what became of its partitions.
        untyped: names of partitions with a value that is none of its column's type; it is kept as text.
        unreadable: names that are none of the table's partitions, or another name of one, and why.
        extra: how many partitions only the target has.
        target: the checksum of the target's partitions that were to be copied.
    """

    table: str
    done: Done
    partitions: Outcome = field(default_factory=Outcome)
    untyped: tuple[str, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    extra: int = 0
    target: Checksum = field(default_factory=Checksum)

    def __repr__(self) -> str:
        left_out = f", {self.left_out:,} left out" if self.left_out else ""
        return f"<TableTransfer of {self.table}: {self.done}, {plural(self.source.count, 'partition')}{left_out}>"

    @property
    def source(self) -> Checksum:
        """The checksum of the source's partitions that were to be copied.

        >>> TableTransfer("shop.sales", "created").source.count
        0
        """
        return self.partitions.checksum

    @property
    def is_verified(self) -> bool:
        """Whether the target has what the source has, by number and by checksum.

        >>> TableTransfer("shop.sales", "created").is_verified
        True
        """
        return self.source == self.target

    @property
    def left_out(self) -> int:
        """How many partitions the target does not have.

        >>> TableTransfer("shop.sales", "created", unreadable=(("hour5", "not a partition name"),)).left_out
        1
        """
        return len(self.unreadable) + len(self.partitions.refused)

    @property
    def is_complete(self) -> bool:
        """Whether there is nothing to be looked at by a person.

        >>> TableTransfer("shop.sales", "created", untyped=("ds=noon",)).is_complete
        False
        """
        return self.is_verified and not self.left_out and not self.untyped


@dataclass(frozen=True, slots=True, repr=False)
class Transfer:
    """What a transfer did.

    Attributes:
        metastore: the other metastore's URI.
        databases: what became of each database.
        tables: what became of each table.
        refused: databases, tables, constraints and functions that could not be copied, and why.
        functions: how many functions were copied.
        constraints: how many constraints were copied.
    """

    metastore: str
    databases: dict[str, Done] = field(default_factory=dict)
    tables: tuple[TableTransfer, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    functions: int = 0
    constraints: int = 0

    def __repr__(self) -> str:
        return f"<Transfer with {self.metastore}: {plural(len(self.tables), 'table')}, {len(self.refused):,} refused>"

    @property
    def is_complete(self) -> bool:
        """Whether everything was copied and is just so in the target.

        >>> Transfer("thrift://host:9083").is_complete
        True
        """
        return not self.refused and all(table.is_complete for table in self.tables)
