"""Copies of a store's file while it is in use, and stores from such copies.

A store's file alone is no copy of it: what was written last is in the ``-wal`` file beside it. SQLite's own backup
reads both in one transaction, so that a backup is the store at one moment, and writers go on meanwhile.

A backup is complete before it has its name: it is written beside it, verified, and linked. A restored store is one
transaction of its file. So a process that is killed
leaves no backup, or a whole one; the old store, or the new one.
"""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from hbstore.errors import CorruptRow, InvalidInput, StoreBusy, StoreUnavailable
from hbstore.rows.format_number import check_format
from hbstore.rows.sqlite.errors import named_error, not_a_store
from hbstore.rows.sqlite.file import APPLICATION_ID, SqliteFile, check_whole
from hbstore.rows.sqlite.origin import COPY, is_copy, set_origin

T = TypeVar("T")
_SOUND: Final = "ok"


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied.

    Attributes:
        path: the file that holds it now.
        size: its bytes.
    """

    path: Path
    size: int


def back_up(file: SqliteFile, target: Path, now: datetime | None = None) -> Copied:
    """Copy a store, as it is at one moment, into a file that is not there yet.

    Args:
        file: the store's.
        target: the file, whose name has an ending; or a folder, in which the file is called after the store and the
            time.
        now: the time; None: that of the clock.

    Raises:
        StoreUnavailable: the store or the target's folder is not there.
        InvalidInput: the target is.
        StoreFull: the target's disk is full.
        CorruptRow: the store's file is damaged.
    """
    file.prepare(create=False)

    def fill(part: Path) -> None:
        with closing(file.open()) as source, closing(sqlite3.connect(part, isolation_level=None)) as copy:
            source.backup(copy)

    return write_backup(fill, Path(file.path).stem, target, now)


def write_backup(fill: Callable[[Path], None], name: str, target: Path, now: datetime | None = None) -> Copied:
    """A backup that is there when it is whole and verified: ``fill`` writes it into the file that it is given.

    Args:
        fill: writes it.
        name: what the file begins with in a folder.
        target: see `back_up`.
        now: likewise.
    """
    if target.is_dir():
        moment = (now or datetime.now(UTC)).isoformat(timespec="seconds")[:19]
        target /= f"{name}-{re.sub('[-:]', '', moment)}Z.db"
    if target.exists():
        raise InvalidInput("the backup is there already", path=target, hint="Name another file, or a folder")
    if not target.parent.is_dir():
        raise StoreUnavailable(
            "the backup's folder does not exist", path=target, hint=f"Create it with: mkdir -p {target.parent}"
        )
    if not target.suffix:  # mostly a folder that was meant to be there, in whose place a file would be in the way
        raise StoreUnavailable(
            "the backup's folder does not exist",
            path=target,
            hint=f"Create it with: mkdir -p {target}; or name a file with an ending: {target}.db",
        )
    return _named(str(target), lambda: _written(fill, target))


def restore(backup: Path, file: SqliteFile, *, replace: bool = False) -> Copied:
    """Make a store what it was when a backup was taken.

    Args:
        backup: the file that `back_up` left.
        file: the store's.
        replace: whether a store may be there, which is lost.

    Raises:
        StoreUnavailable: the backup is not there, or a copy of a store that was open.
        NotAStore: it is no store, or what is to be replaced is none.
        CorruptRow: it is damaged.
        InvalidInput: there is a store, which may not be replaced.
        StoreBusy: a process has it open.
    """
    if backup.is_file() and Path(file.path).exists() and not replace:
        hint = "Restore into another file, or add --replace: what the store holds is lost then"
        raise InvalidInput("the store is there already", path=file.path, hint=hint)
    check_backup(backup)
    return _named(file.path, lambda: _restore(backup, file))


def check_backup(backup: Path) -> None:
    """See that a file is a backup, and sound. O(bytes).

    Raises:
        StoreUnavailable: it is not there, or a copy of a store that was open.
        NotAStore: it is no store.
        CorruptRow: it is damaged.
    """
    if not backup.is_file():
        raise StoreUnavailable("the backup does not exist", path=backup, hint="Name a file that `hbstore backup` left")
    check_whole(str(backup), f"It is no backup: make one with `hbstore --store {backup} backup FILE`")
    _named(str(backup), lambda: _check(backup))
    with closing(_opened(backup)) as copy:
        if is_copy(copy, str(backup)):
            hint = "If nobody had the store open then, name the file with --store and accept it with `hbstore repair`"
            raise StoreUnavailable(COPY, path=backup, hint=hint)


def _written(fill: Callable[[Path], None], target: Path) -> Copied:
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(descriptor)
    part = Path(name)
    try:
        fill(part)
        with closing(sqlite3.connect(part, isolation_level=None)) as copy:
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()  # so that the file alone is the copy
            copy.execute("BEGIN IMMEDIATE")
            set_origin(copy, None)  # it is whole wherever somebody takes it
            copy.execute("COMMIT")
        _check(part)
        _sync(part)
        os.link(part, target)  # unlike a renaming, it never takes the place of another file
        _sync(target.parent)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    return Copied(target, target.stat().st_size)


def _restore(backup: Path, file: SqliteFile) -> Copied:
    Path(file.path).touch(0o600)  # a new one is its owner's alone, as each new store
    with (
        closing(_opened(backup)) as source,
        closing(sqlite3.connect(file.path, isolation_level=None, timeout=0)) as store,
    ):
        try:
            store.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            store.execute("BEGIN IMMEDIATE")  # takes the lock that nobody else may share
            identity = _value(store, "PRAGMA application_id")
            others = _value(store, "SELECT count(*) FROM sqlite_master")
            store.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            hint = "Stop the servers and jobs that use it"
            raise StoreBusy("the store is open in a process", path=file.path, hint=hint) from error
        if others and identity != APPLICATION_ID:
            raise not_a_store(file.path, "the SQLite file of another program")
        store.execute("PRAGMA synchronous = FULL")
        source.backup(store)
        # The header of a backup that was opened wants a -wal file, and then SQLite would leave the -journal file here.
        store.execute("PRAGMA journal_mode = DELETE").fetchall()
        store.execute("BEGIN IMMEDIATE")
        set_origin(store, file.path)
        store.execute("COMMIT")
    return Copied(Path(file.path), Path(file.path).stat().st_size)


def _check(path: Path) -> None:
    """See that a file is a sound store."""
    with closing(_opened(path)) as copy:
        if _value(copy, "PRAGMA application_id") != APPLICATION_ID:
            raise not_a_store(str(path), "no backup of a store")
        check_format(_value(copy, "PRAGMA user_version"), str(path))
        found = _value(copy, "PRAGMA integrity_check(1)")
        if found != _SOUND:
            hint = "Take another backup; a damaged store is found by `hbstore check`"
            raise CorruptRow("the backup is damaged", path=path, reason=found, hint=hint)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def _named(path: str, action: Callable[[], T]) -> T:
    try:
        return action()
    except sqlite3.Error as error:
        raise named_error(error, path) from error
    except OSError as error:
        hint = "Check the path and its permissions, and the disk"
        raise StoreUnavailable("the backup cannot be written", path=path, reason=error.strerror, hint=hint) from error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _value(connection: sqlite3.Connection, statement: str) -> Any:
    return connection.execute(statement).fetchone()[0]
