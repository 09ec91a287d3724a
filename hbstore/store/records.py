"""Records: small texts of the store that belong to no database, as rows of the catalog, ``Q kind 00 name``.

Rooms above the store keep in them what servers share, such as the queries of the query service, by a kind and a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from hbstore.errors import CorruptRow, InvalidName
from hbstore.rows.interface import Rows
from hbstore.store.damage import RESTORE
from hbstore.store.shared_cell import change_cell, content_of, read_cell
from hbstore.store.table_row import DEFINITION

T = TypeVar("T")
RECORD_KEYS: Final = (b"Q", b"R")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a store.

    Attributes:
        rows: where they are.

    >>> from hbstore import connect
    >>> records = Records(connect("memory://").rows)
    >>> records.create("note", "monday", "{}"), records.create("note", "monday", "[]")
    (True, False)
    >>> records.change("note", "monday", lambda text: "[1]"), records.get("note", "../friday")
    ('[1]', None)
    >>> list(records.list("note"))
    [('monday', '[1]')]
    >>> records.drop("note", "monday")
    """

    rows: Rows

    def create(self, kind: str, name: str, text: str) -> bool:
        """Add a record; whether there was none of that kind and name.

        Raises:
            InvalidName: the kind or the name is not made of letters, digits, ``_`` and ``-``.
        """
        return self._change(kind, name, lambda old: (text if old is None else None, old is None))

    def get(self, kind: str, name: str) -> str | None:
        """Read a record; None if there is none, nor can be by its name. One row."""
        try:
            key = _key(kind, name)
        except InvalidName:
            return None
        return _text(key, read_cell(self.rows, key, DEFINITION))

    def change(self, kind: str, name: str, step: Callable[[str], str | None]) -> str | None:
        """Change a record, as if nobody else did at the same time.

        Args:
            kind: the record's kind.
            name: its name.
            step: takes its text and gives another one, or None to leave it; called again where another was faster.

        Returns:
            The text that it has now; None if there is no such record.
        """

        def changed(old: str | None) -> tuple[str | None, str | None]:
            new = None if old is None else step(old)
            return new, old if new is None else new

        return self._change(kind, name, changed)

    def drop(self, kind: str, name: str) -> None:
        """Remove a record, if it is there."""
        key = _key(kind, name)
        while cell := (self.rows.get(key) or {}).get(DEFINITION):
            if self.rows.compare_and_put(key, DEFINITION, cell, b""):
                return

    def list(self, kind: str, start: str = "") -> Iterator[tuple[str, str]]:
        """The names and texts of the records of a kind, in order of the names, from one on."""
        first = _key(kind, "-")[:-1]
        for key, cells in self.rows.scan_catalog(first + start.encode(), first[:-1] + b"\x01"):
            text = _text(key, content_of(cells, DEFINITION))
            if text is not None:
                yield key[len(first) :].decode(), text

    def _change(self, kind: str, name: str, step: Callable[[str | None], tuple[str | None, T]]) -> T:
        key = _key(kind, name)

        def changed(content: bytes) -> tuple[bytes | None, T]:
            new, result = step(_text(key, content))
            return None if new is None else new.encode(), result

        return change_cell(self.rows, key, DEFINITION, changed)


def check_record(key: bytes, cell: bytes) -> None:
    """See that a row is that of a record.

    Raises:
        CorruptRow: its key or its cell is none.
    """
    kind, _, name = key[1:].decode(errors="replace").partition("\0")
    try:
        sound = _key(kind, name) == key
    except InvalidName:
        sound = False
    if not sound:
        raise CorruptRow("the row key is not the key of a record", key=key.hex(), hint=RESTORE)
    _text(key, content_of({DEFINITION: cell}, DEFINITION))


def _key(kind: str, name: str) -> bytes:
    for what in (kind, name):
        if not _NAME.fullmatch(what):
            hint = "Use up to 128 letters, digits, _ and -"
            raise InvalidName("the text cannot name a record", name=repr(what), hint=hint)
    return b"Q" + kind.encode() + b"\0" + name.encode()


def _text(key: bytes, content: bytes) -> str | None:
    try:
        return content.decode() or None
    except UnicodeDecodeError:
        raise CorruptRow("the record cannot be decoded", key=key.hex(), hint=RESTORE) from None
