"""The SQLite file under a store: how it is recognized, created and opened.

A file is one of hbstore's if its ``application_id`` is `APPLICATION_ID`; ``user_version`` is its format number.
Anything else is left as it was. The file is never opened by other means than SQLite: closing any descriptor of a file
takes away all the locks that the process holds on it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar
from urllib.parse import quote

from hbstore.errors import InvalidUrl, StoreFull, StoreUnavailable
from hbstore.rows.format_number import FORMAT, check_format
from hbstore.rows.sqlite.errors import named_error, not_a_store
from hbstore.rows.sqlite.origin import claim, set_origin
from hbstore.rows.sqlite.predicate import FIRST_COLUMNS
from hbstore.rows.sqlite.reserve import OPENING, Reserve
from hbstore.rows.urls import StoreUrl

APPLICATION_ID: Final = 0x68627374
"""``hbst``."""

T = TypeVar("T")
Mode: TypeAlias = Literal["rw", "ro", "immutable"]

PAGE_SIZE: Final = 16_384
"""Rows of up to 4 KB stay whole on their page, and one has some 17 of 900 bytes: half the reads of 4 KB pages."""

MAPPED: Final = 1 << 30
"""Bytes of the file that a connection maps into memory."""

_CELLS: Final = ", ".join(f"k{column} BLOB" for column in range(FIRST_COLUMNS))
_SCHEMA: Final = (
    "CREATE TABLE catalog (key BLOB, cell TEXT, value BLOB NOT NULL, PRIMARY KEY (key, cell)) WITHOUT ROWID",
    # The cells stand before the payload, so that a residual is decided without walking over it.
    f"CREATE TABLE partitions (key BLOB PRIMARY KEY, {_CELLS}, payload BLOB NOT NULL) WITHOUT ROWID",
)
_PRAGMAS: Final = (
    "synchronous = FULL",  # a commit that was acknowledged outlives a power cut
    f"mmap_size = {MAPPED}",  # random gets 10 -> 7 µs against a page cache; processes share the memory
    "cache_size = -16384",  # 16 MB for pages that are in the WAL; mapped ones take none. More gained nothing
    "journal_size_limit = 67108864",  # a long reader lets the WAL grow; afterwards it shrinks to this
    "temp_store = MEMORY",
    "secure_delete = OFF",  # partitions are no secrets; zeroing them costs writes
    "trusted_schema = OFF",  # a file from somewhere else runs no functions of ours
)
_CACHED_STATEMENTS: Final = 256
_WAIT: Final = 0.01
_SMALLEST: Final = 512


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A file, and how to open it.

    Attributes:
        url: what the user gave.
        path: the absolute path.
        mode: rw, ro, or immutable (nobody changes the file, so that no locks and no files beside it are needed).
        timeout: seconds to wait for a lock.
    """

    url: str
    path: str
    mode: Mode = "rw"
    timeout: float = 30.0

    def prepare(self, *, create: bool = True) -> None:
        """Check that the file can be a store, and make it one where there is none, unless it must be there.

        Raises:
            NotAStore: it is something else.
            StoreUnavailable: it cannot be opened, or is not there and may not be created.
        """
        path = Path(self.path)
        self._named(lambda: _look_at(path))
        if path.exists() and not path.is_file():  # opening a pipe would wait
            raise not_a_store(self.path, "a folder" if path.is_dir() else "not a regular file")
        if not create and not _has_content(self.path):
            hint = "Create it with `hbstore init`, or name another store with --store or HBSTORE_URL"
            raise StoreUnavailable("the store does not exist", path=self.path, hint=hint)
        if not path.parent.is_dir():
            hint = f"Create it with: mkdir -p {path.parent}"
            raise StoreUnavailable("the store's folder does not exist", path=self.path, hint=hint)
        if path.exists():
            if 0 < path.stat().st_size < _SMALLEST:  # SQLite takes a few bytes for an empty database
                raise not_a_store(self.path, "a few bytes")
            self._inspect()
            if self.mode == "immutable":
                check_whole(self.path, "Copy both into a folder that may be written, and open the copy")
        elif self.mode != "rw":
            raise StoreUnavailable(
                "the store does not exist", path=self.path, hint="Leave out ?mode to create the store"
            )
        else:
            self._named(lambda: path.touch(0o600))  # SQLite gives the files beside it the same rights
        self._with_room(lambda: self._connect("rwc" if self.mode == "rw" else "ro", self._create_or_claim).close())

    def open(self) -> sqlite3.Connection:
        """A new connection, which any thread may use.

        Raises:
            NotAStore: the file has become something else.
            StoreUnavailable: it cannot be opened.
        """
        return self._with_room(lambda: self._connect("rw" if self.mode == "rw" else "ro", self._set_up))

    def _connect(self, mode: str, then: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
        immutable = "&immutable=1" if self.mode == "immutable" else ""
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(self.path))}?mode={mode}{immutable}",
            uri=True,
            timeout=self.timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_CACHED_STATEMENTS,
        )
        try:
            then(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _inspect(self) -> None:
        """Turn away what is not ours without touching it: no lock, no recovery, no file beside it."""
        uri = f"file:{quote(os.fsencode(self.path))}?mode=ro&immutable=1"
        try:
            connection = sqlite3.connect(uri, uri=True)
            try:
                if self._is_store(connection):
                    return
                others = _value(connection, "SELECT count(*) FROM sqlite_master") > 0
            finally:
                connection.close()
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB:
                raise not_a_store(self.path, str(error)) from error
            return  # a checkpoint of another process may be under way: what is behind its lock decides
        if others or _has_content(f"{self.path}-wal"):
            raise not_a_store(self.path, "the SQLite file of another program")

    def _is_store(self, connection: sqlite3.Connection) -> bool:
        """True for a store, False for a file without an owner; NotAStore for others."""
        identity = _value(connection, "PRAGMA application_id")
        if identity not in (0, APPLICATION_ID):
            raise not_a_store(self.path, f"SQLite file with application_id {identity:#x}")
        version = _value(connection, "PRAGMA user_version")
        if identity:
            check_format(version, self.path)
        return bool(identity)

    def _create_or_claim(self, connection: sqlite3.Connection) -> None:
        self._create_if_empty(connection)
        if self.mode == "rw":
            claim(connection, self.path)

    def _create_if_empty(self, connection: sqlite3.Connection) -> None:
        """One transaction of the rollback journal, so that another process sees nothing or all of it."""
        if self._is_store(connection):
            return
        if self.mode != "rw":
            raise not_a_store(self.path, "an empty file")
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        connection.execute("BEGIN EXCLUSIVE")
        try:
            if not self._is_store(connection):
                if _value(connection, "SELECT count(*) FROM sqlite_master"):
                    raise not_a_store(self.path, "the SQLite file of another program")
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                for statement in _SCHEMA:
                    connection.execute(statement)
                set_origin(connection, self.path)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _set_up(self, connection: sqlite3.Connection) -> None:
        self._create_if_empty(connection)  # again, if the process that created the file died on the way
        if self.mode == "rw":
            self._use_wal(connection)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Switch to the write-ahead log, which the file remembers; the first time nobody else may be at it."""
        until = time.monotonic() + self.timeout
        while True:
            try:
                if _value(connection, "PRAGMA journal_mode = WAL") == "wal":
                    return
                hint = "Keep the store on a local disk"
                raise StoreUnavailable("the file system does not support shared memory", path=self.path, hint=hint)
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY:
                    return  # may only be read: writes will say so
                if not busy or time.monotonic() > until:
                    raise
            time.sleep(_WAIT)

    def _with_room(self, action: Callable[[], T]) -> T:
        """What opens the store; on a full disk with some of the reserve's room, as opening one takes some."""
        try:
            return self._named(action)
        except StoreFull:
            if self.mode != "rw" or not Reserve(self.path).use(OPENING):
                raise
            return self._named(action)

    def _named(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except sqlite3.Error as error:
            raise named_error(error, self.path) from error
        except OSError as error:
            hint = "Check the path and its permissions"
            raise StoreUnavailable(
                "the store cannot be opened", path=self.path, reason=str(error), hint=hint
            ) from error


def parse_sqlite_url(url: StoreUrl) -> SqliteFile:
    """The file of a parsed URL.

    Raises:
        InvalidUrl: no path, or an option that makes no sense.
    """
    options = url.known_options(("mode", "timeout"))
    if not url.place or url.place.startswith(":") or "\0" in url.place:
        raise InvalidUrl(
            "the SQLite URL names no file",
            url=url.text,
            hint="Use sqlite:///abs/path.db, or memory:// for a store without a file",
        )
    mode = options.get("mode", "rw")
    if mode not in ("rw", "ro", "immutable"):
        raise InvalidUrl("the mode is unknown", url=url.text, mode=mode, hint="Use mode=rw, mode=ro or mode=immutable")
    try:
        timeout = float(options.get("timeout", "30"))
    except ValueError:
        timeout = -1.0
    if not 0 <= timeout <= 1e6:  # noqa: PLR2004  also turns away NaN
        raise InvalidUrl(
            "the timeout is invalid",
            url=url.text,
            timeout=options["timeout"],
            hint="Write a number of seconds: ?timeout=30",
        )
    return SqliteFile(url.text, str(Path(url.place).absolute()), mode, timeout)  # type: ignore[arg-type]


def check_whole(path: str, hint: str) -> None:
    """See that all of a store is in its file, where what is beside it will not be read.

    Raises:
        StoreUnavailable: the store was not closed, and has a write-ahead log.
    """
    if _has_content(f"{path}-wal"):
        raise StoreUnavailable(
            "what was written last is not in the file, but in the one beside it",
            path=path,
            beside=f"{path}-wal",
            hint=hint,
        )


def unmap(connection: sqlite3.Connection) -> None:
    """Let go of the file's pages that a long read brought into this process's memory; the system's cache has them."""
    with suppress(sqlite3.Error):  # the answer is there already
        for size in (0, MAPPED):
            connection.execute(f"PRAGMA mmap_size = {size}").fetchall()


def _value(connection: sqlite3.Connection, statement: str) -> Any:
    return connection.execute(statement).fetchone()[0]


def _look_at(path: Path) -> None:
    """Raise what the system has against a path, as a folder that may not be entered; it may be missing.

    Of Python's versions some raise it in `Path.exists`, and 3.14 says that there is nothing.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        path.stat()


def _has_content(path: str) -> bool:
    try:
        return Path(path).stat().st_size > 0
    except OSError:
        return False
