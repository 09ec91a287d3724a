"""What a statement did or found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hbstore.ddl.statements import Statement
from hbstore.texts.wording import clipped, plural

Row: TypeAlias = tuple[Any, ...]
"""Texts, or None; of the answer of a cube query, values as Spark has them."""

_REPR: Final = 120


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """What a statement did or found.

    Attributes:
        statement: the statement.
        columns: the names of the columns of ``rows``; none of a statement that only does something.
        rows: what it found.
        changed: how many partitions it changed; None where it is not about changing partitions, such as where a table
            without partition columns is truncated.
        notes: what people should know, such as files that could not be deleted.
    """

    statement: Statement
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    changed: int | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        changed = "" if self.changed is None else f", {plural(self.changed, 'partition')} changed"
        return f"<Result of {clipped(str(self.statement), _REPR)}: {plural(len(self.rows), 'row')}{changed}>"
