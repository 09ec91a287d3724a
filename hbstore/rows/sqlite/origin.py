"""Which file a store was written in, so that a copy of an open store's file is told from the store.

What was written last is in the ``-wal`` file beside a store that is open. A copy of the file alone lacks it, and all
that it has is sound. So a store keeps the inode of its file: in a copy that was not made by `back_up` it is another's.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

COPY: Final = (
    "the file is a copy of a store's file that `hbstore backup` did not make: if the store was open then, what was"
    " written last is missing"
)
_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS origin (inode INTEGER)"


def set_origin(connection: sqlite3.Connection, path: str | None) -> None:
    """Let the store in a file be at home there, or (None) wherever it is opened next. Within a transaction."""
    connection.execute(_SCHEMA)
    connection.execute("DELETE FROM origin")
    connection.execute("INSERT INTO origin VALUES (?)", (None if path is None else Path(path).stat().st_ino,))


def claim(connection: sqlite3.Connection, path: str) -> None:
    """Let a store that has no home yet, as a backup or one of an earlier version, be at home in its file."""
    if _origin(connection) is not None:
        return
    with suppress(sqlite3.OperationalError):  # full, locked or not to be written: another time
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _origin(connection) is None:
                set_origin(connection, path)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def is_copy(connection: sqlite3.Connection, path: str) -> bool:
    """Whether the store was at home in another file."""
    return _origin(connection) not in (None, Path(path).stat().st_ino)


def _origin(connection: sqlite3.Connection) -> int | None:
    try:
        row = connection.execute("SELECT inode FROM origin").fetchone()
    except sqlite3.OperationalError:  # of an earlier version
        return None
    return None if row is None else row[0]
