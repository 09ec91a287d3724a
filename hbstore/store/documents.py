"""Documents: small texts, each the state of a catalog row ``M db 00 kind 00 name``.

What the rooms above the store want to keep with a database, such as the facts of a cube, they keep as JSON under a kind
and a name. They are never empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hbstore.errors import (
    CorruptRow,
    InvalidInput,
    InvalidName,
)
from hbstore.keys.partition_names import identifier
from hbstore.rows.damage import RESTORE
from hbstore.store.table_row import database_key
from hbstore.store.tables import existing_database
from hbstore.texts.arguments import expect_texts
from hbstore.transactions.transaction import Scan, Transaction
from hbstore.transactions.transactions import Transactions

DOCUMENT_KEYS: Final = (b"M", b"N")
MAX_DOCUMENT: Final = 4 * 1024 * 1024
"""Bytes of a document; HBase takes 10 MiB in a cell, and a store should be movable to another backend."""

_KIND: Final = re.compile("[a-z][a-z_]{0,31}")


def document_key(database: str, kind: str, name: str) -> bytes:
    r"""The row of a document.

    >>> document_key("shop", "fact", "sales")
    b'Mshop\x00fact\x00sales'
    """
    return b"M" + b"\x00".join((database.encode(), kind.encode(), name.encode()))


@dataclass(frozen=True, slots=True, repr=False)
class Documents:
    """The documents of a store, to be read. `put_document` and `remove_document` write them, as a part of a change.

    Attributes:
        transactions: those of the rows where they are.
    """

    transactions: Transactions

    def __repr__(self) -> str:
        return f"<Documents of {self.transactions.rows.url}>"

    def get(self, database: str, kind: str, name: str) -> str | None:
        """Read a document; None if it is not there, nor can be by its name. One row.

        >>> cubes.store.documents.get("SHOP", "storage", "Lake"), cubes.store.documents.get("shop", "storage", "sea")
        ('{"name":"lake"}', None)
        """
        try:
            key = _key(database, kind, name)
        except InvalidName:
            return None
        return decoded_text(key, self.transactions.state(key)) or None

    def names(self, database: str, kind: str) -> list[str]:
        """The names of a database's documents of a kind in order; none where it is not there.

        >>> cubes.store.documents.names("shop", "fact")
        ['rides_daily']
        """
        return [name for name, _ in _scanned(self.transactions.scan, database, kind)]

    def all(self, database: str, kind: str) -> list[tuple[str, str]]:
        """The names and texts of a database's documents of a kind, in order of the names.

        >>> [name for name, _ in cubes.store.documents.all("shop", "fact")]
        ['rides_daily']
        """
        return list(_scanned(self.transactions.scan, database, kind))


def document_in(transaction: Transaction, database: str, kind: str, name: str) -> str | None:
    """Read a document in a transaction; None if it is not there, nor can be by its name."""
    try:
        key = _key(database, kind, name)
    except InvalidName:
        return None
    return decoded_text(key, transaction.row(key).state) or None


def documents_in(transaction: Transaction, database: str, kind: str) -> list[tuple[str, str]]:
    """The names and texts of a database's documents of a kind as they are now (see `Transaction.scan`)."""
    return list(_scanned(transaction.scan, database, kind))


def put_document(transaction: Transaction, database: str, kind: str, name: str, text: str) -> None:
    """Put a document in the place of what there is of its kind and name, in a database that must be there."""
    transaction.row(_key(database, kind, name)).set_state(encoded_text("document", text))
    owner = identifier("database", database)
    existing_database(owner, transaction.row(database_key(owner)).state)


def remove_document(transaction: Transaction, database: str, kind: str, name: str) -> None:
    """Remove a document, if it is there."""
    transaction.row(_key(database, kind, name)).set_state(b"")


def check_document(key: bytes, state: bytes) -> None:
    """See that a row is that of a document.

    Raises:
        CorruptRow: its key or its state is none.
    """
    try:
        database, kind, name = key[1:].decode().split("\0")
        sound = _key(database, kind, name) == key
    except (ValueError, InvalidName):
        sound = False
    if not sound:
        raise CorruptRow("the row key is not the key of a document", key=key.hex(), hint=RESTORE)
    decoded_text(key, state)


def _key(database: str, kind: str, name: str) -> bytes:
    return _start(database, kind) + identifier("document", name).encode()


def _start(database: str, kind: str) -> bytes:
    """What the keys of all documents of a kind begin with."""
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise InvalidName(
            "the kind of a document is invalid",
            kind=repr(kind),
            hint="Write a kind as one word in lower case, such as fact",
        )
    return document_key(identifier("database", database), kind, "")


def _scanned(scan: Scan, database: str, kind: str) -> Iterator[tuple[str, str]]:
    """The names and texts of a database's documents of a kind, in order of the names."""
    start = _start(database, kind)
    for key, log, _ in scan(start, start[:-1] + b"\x01"):
        if log.state:
            yield key[len(start) :].decode(), decoded_text(key, log.state)


def encoded_text(what: str, text: str) -> bytes:
    """The bytes of a text that a row is to hold.

    Args:
        what: a document or another thing, for the error.
        text: the text.

    Raises:
        InvalidInput: it is empty or too long, or cannot be written as UTF-8.
    """
    expect_texts(text=text)
    data = text.encode()
    if not data:
        raise InvalidInput(f"a {what} cannot be empty", hint=f"Write a text, such as {{}}, or drop the {what}")
    if len(data) > MAX_DOCUMENT:
        raise InvalidInput(f"the {what} is too large", bytes=len(data), limit=MAX_DOCUMENT, hint=f"Shorten the {what}")
    return data


def decoded_text(key: bytes, state: bytes) -> str:
    """The text that a row holds.

    Raises:
        CorruptRow: it is none.
    """
    try:
        return state.decode()
    except UnicodeDecodeError:
        raise CorruptRow("a document or record is not UTF-8", key=key.hex(), hint=RESTORE) from None
