"""Records: small texts of the store that belong to no database, as states of the catalog rows ``Q kind 00 name``.

Rooms above the store keep in them what servers share, such as the queries of the query service, by a kind and a name.
They are never empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from hbstore.errors import ConcurrentChange, CorruptRow, InvalidInput, InvalidName
from hbstore.rows.damage import RESTORE
from hbstore.store.documents import decoded_text, encoded_text
from hbstore.texts.arguments import expect, expect_numbers, expect_texts
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions

T = TypeVar("T")
RECORD_KEYS: Final = (b"Q", b"R")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


class NewRecord(NamedTuple):
    """A record that a step of something else puts."""

    kind: str
    name: str
    text: str

    def put(self, transaction: Transaction) -> None:
        """Put it."""
        transaction.row(_key(self.kind, self.name)).set_state(encoded_text("record", self.text))


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a store.

    Attributes:
        transactions: those of the rows where they are.

    Raises, in all that follows:
        InvalidName: the kind or the name is not made of letters, digits, ``_`` and ``-``, or longer than 128.
        CommitStateUnknown: the connection broke, and the record may be changed.

    >>> from hbstore import connect
    >>> store = connect("memory://")
    >>> store.records.create("note", "monday", "{}"), store.records.create("note", "monday", "[]")
    (True, False)
    >>> store.records.get("note", "monday")
    '{}'
    """

    transactions: Transactions

    def create(self, kind: str, name: str, text: str) -> bool:
        """Add a record; whether there was none of that kind and name.

        Raises:
            InvalidInput: the text is empty or too long, or cannot be written as UTF-8.

        >>> store.records.create("note", "monday", "{}"), store.records.create("note", "monday", "[]")
        (True, False)
        """
        data = encoded_text("record", text)
        return self._change(kind, name, lambda old: (data if old is None else None, old is None))

    def get(self, kind: str, name: str) -> str | None:
        """Read a record; None if there is none, nor can be by its name. One row.

        >>> store.records.create("note", "monday", "{}")
        True
        >>> store.records.get("note", "monday"), store.records.get("note", "../friday")
        ('{}', None)
        """
        try:
            key = _key(kind, name)
        except InvalidName:
            return None
        return _text(key, self.transactions.state(key))

    def change(self, kind: str, name: str, step: Callable[[str], str | None]) -> str | None:
        """Change a record, as if nobody else did at the same time.

        Args:
            kind: the record's kind.
            name: its name.
            step: takes its text and gives another one, or None to leave it; called again where another was faster. What
                it raises leaves the record as it is.

        Returns:
            The text that it has now; None if there is no such record.

        Raises:
            ConcurrentChange: other writers were always faster; nothing was changed.
            InvalidInput: the new text is as `create` does not take it.

        >>> store.records.create("count", "visits", "1")
        True
        >>> store.records.change("count", "visits", lambda text: str(int(text) + 1))
        '2'
        >>> store.records.change("count", "sales", lambda text: str(int(text) + 1))
        """
        expect("step", step, Callable, hint="Give a function of the text")  # type: ignore[arg-type]

        def changed(old: str | None) -> tuple[bytes | None, str | None]:
            new = None if old is None else step(old)
            return (None, old) if new is None else (encoded_text("record", new), new)

        return self._change(kind, name, changed)

    def drop(self, kind: str, name: str, expected: str | None = None) -> bool:
        """Remove a record; whether it was there.

        Args:
            kind: the record's kind.
            name: its name.
            expected: the text that it must have; None for any.

        Raises:
            ConcurrentChange: it has another text; nothing was changed.

        >>> store.records.create("note", "monday", "{}")
        True
        >>> store.records.drop("note", "monday"), store.records.drop("note", "monday")
        (True, False)
        """
        expect_texts(or_none=True, expected=expected)

        def dropped(old: str | None) -> tuple[bytes | None, bool]:
            if old is not None and expected not in (None, old):
                raise ConcurrentChange(
                    "another writer changed the record", kind=kind, name=name, hint="Read it again, then try again"
                )
            return b"", old is not None

        return self._change(kind, name, dropped)

    def list(self, kind: str, start: str = "", limit: int | None = None) -> Iterator[tuple[str, str]]:
        """The names and texts of the records of a kind, in order of the names, from one on, read as they are taken.

        Args:
            kind: the records' kind.
            start: the first name, which need not be there.
            limit: how many at most; None: all.

        >>> store.records.create("note", "monday", "{}"), store.records.create("note", "friday", "[]")
        (True, True)
        >>> list(store.records.list("note")), list(store.records.list("note", start="g"))
        ([('friday', '[]'), ('monday', '{}')], [('monday', '{}')])
        """
        expect_texts(start=start)
        if limit is not None:
            expect_numbers(limit=limit)
            if limit < 0:
                raise InvalidInput("the limit is negative", limit=limit, hint="Give 0 or more, or None for all")
        return islice(self._scan(_key(kind, "-")[:-1], start.encode()), limit)

    def _scan(self, first: bytes, start: bytes) -> Iterator[tuple[str, str]]:
        for key, log, _ in self.transactions.scan(first + start, first[:-1] + b"\x01"):
            text = _text(key, log.state)
            if text is not None:
                yield key[len(first) :].decode(), text

    def _change(self, kind: str, name: str, step: Callable[[str | None], tuple[bytes | None, T]]) -> T:
        key = _key(kind, name)
        return self.transactions.change_state(key, lambda state: step(_text(key, state)))


def check_record(key: bytes, state: bytes) -> None:
    """See that a row is that of a record.

    Raises:
        CorruptRow: its key or its state is none.
    """
    kind, _, name = key[1:].decode(errors="replace").partition("\0")
    try:
        sound = _key(kind, name) == key
    except InvalidName:
        sound = False
    if not sound:
        raise CorruptRow("the row key is not the key of a record", key=key.hex(), hint=RESTORE)
    _text(key, state)


def _key(kind: str, name: str) -> bytes:
    expect_texts(kind=kind, name=name)
    for what in (kind, name):
        if not _NAME.fullmatch(what):
            hint = "Use up to 128 letters, digits, _ and -"
            raise InvalidName("the text cannot name a record", name=repr(what), hint=hint)
    return b"Q" + kind.encode() + b"\0" + name.encode()


def _text(key: bytes, state: bytes) -> str | None:
    return decoded_text(key, state) or None
