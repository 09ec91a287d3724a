"""How documents of the model are kept with a database: as JSON, with what is still to be done about their tables.

    {"state": "settled", "stamp": "5f0c…", "document": {"name": "sales_daily", …}}
    {"state": "pending", "stamp": "a37e…", "document": {…}, "before": {…}}

A document decides and its storage tables follow: it is put as *pending*, the tables are made, altered and dropped, and
it is put as *settled*. A process that meets a pending one does what is left, which is idempotent, so a crash holds
nobody up. One that is altered is *proposed* first, and pending once all that it names was found to be there after that:
no table is touched before. A process that meets it decides, by one compare-and-put: it is pending, or what it was.
*leaving* is a document that is dropped as soon as its tables are. The stamp is new with every change, so that a late
compare-and-put never meets an equal state.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Final

from hbstore.cubes.document import Named
from hbstore.cubes.files import CLASSES, make
from hbstore.errors import CorruptRow, InvalidModel
from hbstore.rows.damage import RESTORE

_STAMP: Final = 8


class State(Enum):
    """Whether a document's tables are what it says."""

    SETTLED = "settled"
    PROPOSED = "proposed"
    PENDING = "pending"
    LEAVING = "leaving"


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as it is kept.

    Attributes:
        document: what it is, or is to be.
        state: whether its tables are so.
        before: what it was, while tables of that may have to go.
        stamp: no other state has it.
        stored: the text that it was read from; None if it was made here.
    """

    document: Named
    state: State = State.SETTLED
    before: Named | None = None
    stamp: str = field(default_factory=lambda: secrets.token_hex(_STAMP))
    stored: str | None = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str:
        """The entry as it is stored; that of one that was read is the very same, whatever release wrote it."""
        if self.stored is not None:
            return self.stored
        found = {"state": self.state.value, "stamp": self.stamp, "document": _data(self.document)}
        if self.before is not None:
            found["before"] = _data(self.before)
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"))

    @staticmethod
    def read(kind: str, text: str) -> Entry:
        """The entry of a text.

        Raises:
            CorruptRow: it is none.
        """
        return _read(kind, text)


@lru_cache(maxsize=1024)
def _read(kind: str, text: str) -> Entry:
    """An entry is frozen, and the same ones are read again and again."""
    try:
        found = json.loads(text)
        before = found.get("before")
        return Entry(
            make(kind, found["document"]),
            State(found["state"]),
            None if before is None else make(kind, before),
            found["stamp"],
            text,
        )
    except (ValueError, KeyError, TypeError, AttributeError, InvalidModel) as error:
        raise CorruptRow(
            "a document of the model cannot be decoded", kind=kind, reason=str(error), hint=RESTORE
        ) from None


def _data(document: Named) -> dict[str, object]:
    assert document.kind in CLASSES
    return {key: value for key, value in document.to_dict().items() if key != "kind"}
