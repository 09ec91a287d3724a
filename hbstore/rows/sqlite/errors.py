"""SQLite's errors under the names that hbstore gives them."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Final

from hbstore.errors import (
    CommitStateUnknown,
    CorruptRow,
    HbstoreError,
    InvalidInput,
    NotAStore,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

NOT_OURS: Final = "The file was not changed; name another file"
_FULL_BELOW: Final = 1 << 20
"""Free bytes below which an I/O error is put down to a full disk."""

_LOCKED: Final = "Another program writes to it, or holds a lock; repeat the call, or raise ?timeout="
_DAMAGED: Final = "Restore it from a backup; `sqlite3 FILE .recover` saves what it can"
_READ_ONLY: Final = "Open it without ?mode=ro, as a user who may write the file and its folder"
_BROKEN: Final = "Read the system's log; the disk may be broken, or a quota may be used up"
_UNKNOWN: Final = "Read the data again to learn whether it was written"
_FAILED: Final = "`sqlite3 FILE 'PRAGMA integrity_check'` tells whether the file is sound"
_UNOPENED: Final = (
    "Check that its folder exists and is writable, because readers keep a -shm file there too;"
    " open a file that nobody changes as sqlite:///PATH?mode=immutable"
)

_PRIMARY: Final[dict[int, tuple[type[HbstoreError], str, str]]] = {
    sqlite3.SQLITE_BUSY: (StoreUnavailable, "the store is locked", _LOCKED),
    sqlite3.SQLITE_LOCKED: (StoreUnavailable, "the store is locked", _LOCKED),
    sqlite3.SQLITE_INTERRUPT: (StoreUnavailable, "the store was closed", "Connect again"),
    sqlite3.SQLITE_CANTOPEN: (StoreUnavailable, "the store cannot be opened", _UNOPENED),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "the disk cannot be read or written", _BROKEN),
    sqlite3.SQLITE_FULL: (StoreFull, "the disk under the store is full", "Free some space and repeat"),
    sqlite3.SQLITE_READONLY: (StoreReadOnly, "the store cannot be written", _READ_ONLY),
    sqlite3.SQLITE_PERM: (StoreReadOnly, "the store cannot be written", _READ_ONLY),
    sqlite3.SQLITE_NOTADB: (NotAStore, "the file is not an hbstore store", NOT_OURS),
    sqlite3.SQLITE_CORRUPT: (CorruptRow, "the store's file is damaged", _DAMAGED),
    sqlite3.SQLITE_TOOBIG: (InvalidInput, "the row is too large for SQLite", "Shorten the parameters"),
}
_EXTENDED: Final[dict[int, tuple[type[HbstoreError], str, str]]] = {
    # A reader of a WAL that cannot write its -shm file, rather than a writer that may not write.
    sqlite3.SQLITE_READONLY_CANTINIT: _PRIMARY[sqlite3.SQLITE_CANTOPEN],
    sqlite3.SQLITE_READONLY_DIRECTORY: _PRIMARY[sqlite3.SQLITE_CANTOPEN],
    sqlite3.SQLITE_READONLY_RECOVERY: _PRIMARY[sqlite3.SQLITE_CANTOPEN],
    sqlite3.SQLITE_READONLY_CANTLOCK: _PRIMARY[sqlite3.SQLITE_CANTOPEN],
    # Only commits sync. What was written may be found by the recovery after a crash, or overwritten before it.
    sqlite3.SQLITE_IOERR_FSYNC: (CommitStateUnknown, "the disk failed while committing", _UNKNOWN),
    sqlite3.SQLITE_IOERR_DIR_FSYNC: (CommitStateUnknown, "the disk failed while committing", _UNKNOWN),
}


def named_error(error: sqlite3.Error, path: str) -> HbstoreError:
    """The error to raise for one of SQLite's, on the store at this path."""
    extended: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    primary = extended & 0xFF
    if primary == sqlite3.SQLITE_IOERR and _disk_is_full(path):
        extended = primary = sqlite3.SQLITE_FULL
    kind, text, hint = _EXTENDED.get(extended) or _PRIMARY.get(primary) or (StoreUnavailable, "SQLite failed", _FAILED)
    reason = f"{getattr(error, 'sqlite_errorname', type(error).__name__)}: {error}"
    return kind(text, path=path, reason=reason, hint=hint)


def not_a_store(path: str, reason: str) -> NotAStore:
    """The error for a file that belongs to something else."""
    return NotAStore("the file is not an hbstore store", path=path, reason=reason, hint=NOT_OURS)


def _disk_is_full(path: str) -> bool:
    try:
        return shutil.disk_usage(Path(path).absolute().parent).free < _FULL_BELOW
    except OSError:
        return False
