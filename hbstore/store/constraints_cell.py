"""The cell ``d:constraints`` of a table's row: its constraints, and the foreign keys of other tables that refer to it.

A foreign key stands in the rows of both tables, so that either is answered by one row, and a rename or drop of one of
them knows the other. The cell goes along with its table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from hbstore.errors import CorruptRow, HbstoreError, InvalidInput
from hbstore.model.constraints import Constraint, ConstraintKind, ForeignKey, References
from hbstore.rows.damage import RESTORE

CONSTRAINTS: Final = "d:constraints"
MAX_CONSTRAINTS: Final = 256 * 1024
"""Bytes of the cell, which is read with each read of its table."""


@dataclass(frozen=True, slots=True)
class TableConstraints:
    """What a cell says.

    Attributes:
        own: the table's constraints, in the order in which they came.
        referring: foreign keys that refer to it, of other tables and of itself.
    """

    own: tuple[Constraint, ...] = ()
    referring: tuple[ForeignKey, ...] = ()

    @staticmethod
    def decode(cell: bytes | None) -> TableConstraints:
        """What a cell says; nothing where there is none.

        Raises:
            CorruptRow: it cannot be decoded.
        """
        if not cell:
            return _NOTHING
        try:
            own, referring = json.loads(cell)
            return TableConstraints(
                tuple(map(_constraint, own)),
                tuple(ForeignKey(database, table, _constraint(one)) for database, table, one in referring),
            )
        except (ValueError, TypeError, HbstoreError) as error:
            raise CorruptRow("the constraints of a table cannot be decoded", cell=cell[:80], hint=RESTORE) from error

    def encode(self) -> bytes:
        """The cell; empty where there is nothing to say.

        Raises:
            InvalidInput: it would be too large.
        """
        if not self.own and not self.referring:
            return b""
        referring = [(one.database, one.table, _fields(one.constraint)) for one in self.referring]
        cell = json.dumps([[_fields(one) for one in self.own], referring], separators=(",", ":")).encode()
        if len(cell) > MAX_CONSTRAINTS:
            raise InvalidInput(
                "the constraints of one table are too many",
                bytes=len(cell),
                limit=MAX_CONSTRAINTS,
                hint="Leave some out, or shorten their texts",
            )
        return cell

    def names(self) -> Iterable[str]:
        """The names of all that it has."""
        return [*(one.name for one in self.own), *(one.constraint.name for one in self.referring)]


_NOTHING: Final = TableConstraints()


def _fields(one: Constraint) -> list[Any]:
    to = one.references
    references = to and [to.database, to.table, to.columns, to.key, to.update_rule, to.delete_rule]
    return [one.kind.value, one.columns, one.name, one.text, references, one.enabled, one.validated, one.relied]


def _constraint(fields: list[Any]) -> Constraint:
    kind, columns, name, text, references, *flags = fields
    return Constraint(ConstraintKind(kind), columns, name, text, references and References(*references), *flags)
