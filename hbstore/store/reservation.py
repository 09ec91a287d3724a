"""Reservation: what stands for the definition of a table that another table is about to become.

Nobody can create a table of that name meanwhile, and nobody sees one. Whether the rename is decided stands in the
journal of the table that is renamed; until it is, a reservation whose writer is dead or slow can be taken over
(`hbstore.store.finishing`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import Cells
from hbstore.store.table_row import DEFINITION

_MARK: Final = b"reserved table = {"
"""Longer than what a definition has before its Table struct, which never begins so."""


@dataclass(frozen=True, slots=True)
class Reservation:
    r"""Who is about to become the table of this name.

    Attributes:
        id: of the rename's intent.
        source: the row key of the table that is renamed.
        sequence: the last sequence number in that table's journal at which alone the rename may be decided.

    >>> reservation = Reservation("1-a", b"Tshop\0sales", 7)
    >>> Reservation.of({"d:def": reservation.encode()}) == reservation
    True
    >>> Reservation.of({})
    """

    id: str
    source: bytes
    sequence: int

    def encode(self) -> bytes:
        """What stands in the definition's cell."""
        return _MARK[:-1] + json.dumps({"id": self.id, "source": self.source.hex(), "at": self.sequence}).encode()

    @staticmethod
    def of(cells: Cells | None) -> Reservation | None:
        """The reservation in a row; None where there is a definition, or nothing.

        Raises:
            CorruptRow: it does not decode.
        """
        cell = (cells or {}).get(DEFINITION, b"")
        if not cell.startswith(_MARK):
            return None
        try:
            found = json.loads(cell[len(_MARK) - 1 :])
            return Reservation(found["id"], bytes.fromhex(found["source"]), found["at"])
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptRow(
                "the reservation of a table's name cannot be decoded", cell=cell[:80], hint=RESTORE
            ) from error


def is_reserved(cells: Cells | None, intent_id: str) -> bool:
    """Whether a row waits for the table that an intent renames."""
    found = Reservation.of(cells)
    return found is not None and found.id == intent_id
