"""What a statement did or found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from hbstore.ddl.statements import Statement

Row: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What a statement did or found.

    Attributes:
        statement: the statement.
        columns: the names of the columns of ``rows``; none of a statement that only does something.
        rows: what it found, as texts.
        changed: how many partitions it changed; None where it is not about changing partitions, such as where a table
            without partition columns is truncated.
        notes: what people should know, such as files that could not be deleted.
    """

    statement: Statement
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    changed: int | None = None
    notes: tuple[str, ...] = ()
