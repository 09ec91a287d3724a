"""Copies of a store as it was at one moment, on rows of any kind: backups of HBase, and restores of them.

A row's log numbers its changes. So the rows that a look meets, each with the number at which it was copied before the
look began, are those of one moment: that at which it began. Rows that were changed meanwhile are copied again, and then
the copy looks again. Of a table that was changed, it has the further changes noted (`noted_tables.py`): it copies the
table once more, and from then on only the partitions that its changes wrote.

Rows that change all the time are locked in the end: a transaction that writes nothing locks them, copies what changed
last, and looks at all others. Their writers wait for it, as for any transaction (docs/protocols/backups.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeVar

from hbstore.errors import CommitStateUnknown, InvalidInput, NotAStore, StoreBusy, StoreUnavailable
from hbstore.keys.row_key import split_key, successor
from hbstore.rows.format_number import FORMAT, FORMAT_KEY, KEYS_OF_TEXTS, begin_restore, end_restore
from hbstore.rows.interface import CatalogCell, PartitionRow, Rows
from hbstore.rows.sqlite.backup import Copied, write_backup
from hbstore.rows.sqlite.file import SqliteFile
from hbstore.rows.sqlite.rows import SqliteRows
from hbstore.store.companion_keys import companions_of, is_companion
from hbstore.store.noted_tables import begin_noting, end_noting, notes_of
from hbstore.store.table_row import DEFINITION, TABLE_KEYS, definition_of, prefix_of
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.noted_changes import NOTING, Noting
from hbstore.transactions.payloads import PAYLOAD_KEYS
from hbstore.transactions.transaction import Transaction
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import row_text

T = TypeVar("T")

_ALL: Final = ((b"A", PAYLOAD_KEYS[0]), (PAYLOAD_KEYS[1], FORMAT_KEY), (FORMAT_KEY + b"\0", b"["))
"""All catalog rows have a capital letter first. What a transaction stores until it is written is not copied."""
_PRIMARY: Final = b"Qbackup\0primary"
"""The row whose log decides whether what was locked stayed so. It holds nothing, and nobody else changes it."""
_ROUNDS: Final = 4
"""Looks at all rows before those that still change are locked: the first copies all, the second begins to note changes
of tables and copies these again, the third follows what came meanwhile, and the last what came during that."""
_AT_ONCE: Final = 1_000
_NAMED: Final = 5
"""So many rows does an error name."""


@dataclass(slots=True)
class StoreCopy:
    """A copy as it is made.

    Attributes:
        source: the store.
        target: rows that get all of it, and had none.
        numbers: of the rows that are copied, the numbers of the changes that the copy has.
        owners: with which row the partition rows that begin with something were copied last: a table that is renamed
            takes them along.
        noting: whether changes of tables are noted, for this copy or one that died.
    """

    source: Transactions
    target: Rows
    numbers: dict[bytes, int] = field(default_factory=dict)
    owners: dict[bytes, bytes] = field(default_factory=dict)
    noting: bool = False

    def make(self) -> None:
        """Copy all of the store. O(rows), and again of the tables that are changed meanwhile.

        Raises:
            StoreBusy: what changes all the time cannot be copied while its writers wait.
        """
        if self.source.reads_one_moment:
            with self.source.rows.snapshot():
                self._round()
            return
        try:
            self._make_beside_writers()
        finally:
            if self.noting:
                with suppress(StoreBusy, StoreUnavailable, CommitStateUnknown):  # another copy ends it, or `repair`
                    end_noting(self.source)

    def _make_beside_writers(self) -> None:
        changed: list[bytes] = []
        for _ in range(_ROUNDS):
            changed = self._round()
            if not changed:
                return
        locked = set(changed)
        while changed:
            try:
                changed = self._locked(locked)
            except StoreBusy as error:
                raise StoreBusy(
                    "writers leave no moment in which the store could be copied",
                    changing=", ".join(map(row_text, sorted(locked)[:_NAMED])),
                    hint="Copy it while these rest: what changed since the last look could not be copied in the second "
                    "for which their writers wait",
                ) from error
            locked.update(changed)
            for _ in changed and range(_ROUNDS - 1):
                self._round()

    def _round(self) -> list[bytes]:
        """Copy what has another number than the copy has; the keys of these rows.

        Changes of a table that was copied before are noted from now on.
        """
        changed = self._changed()
        with self._at_once():
            for key in changed:
                log, cells = self._read(key)
                written = self._written(key, log, cells)
                if written is None and key in self.numbers and _definition(key, cells):
                    begin_noting(self.source, key)
                    log, cells = self._read(key)
                self._put(key, log, cells, written)
        return changed

    def _read(self, key: bytes) -> tuple[Log, Mapping[str, bytes]]:
        """A row, all of whose changes are written."""
        log, cells = self.source.read(key, timelines=True)
        for commit in log.commits:
            self.source.roll_forward(key, commit)
        return log, cells

    def _locked(self, keys: Collection[bytes]) -> list[bytes]:
        """Copy these rows while they are locked; the keys of others that were changed since they were copied."""

        def step(transaction: Transaction) -> list[bytes]:
            transaction.row(_PRIMARY)
            views = [transaction.row(key) for key in sorted(keys)]
            with self._at_once():
                for view in views:
                    if view.log.sequence != self.numbers.get(view.key):
                        cells = view.all_cells()
                        view.settle()
                        self._put(view.key, view.log, cells, self._written(view.key, view.log, cells))
            return [key for key in self._changed() if key not in keys]

        return self.source.run(step)

    def _changed(self) -> list[bytes]:
        rows = chain.from_iterable(self.source.scan_logs(start, stop) for start, stop in _ALL)
        return [key for key, log in rows if key != _PRIMARY and log.sequence != self.numbers.get(key)]

    def _put(self, key: bytes, log: Log, cells: Mapping[str, bytes], written: Collection[bytes] | None) -> None:
        """Write a row in place of what the copy has of it, with its partition rows: all, or those that were written."""
        definition = _definition(key, cells)
        self.noting |= NOTING in cells
        if written is None:
            self._replace(key, definition, log.sequence)
        elif definition:
            self._follow(definition, written, log.sequence)
        if self.numbers.pop(key, None) is not None:
            self.target.remove_row(key)
        copied = [CatalogCell(key, name, value) for name, value in cells.items() if name != NOTING]
        self.target.put_cells(copied, log.sequence)
        self.target.compare_and_put(key, LOG, None, replace(log, commits=(), intent=None).encode())
        self.numbers[key] = log.sequence

    def _written(self, key: bytes, log: Log, cells: Mapping[str, bytes]) -> set[bytes] | None:
        """The keys of partition rows that were written since a table was copied; None where no notes say that."""
        definition, noting, before = _definition(key, cells), cells.get(NOTING), self.numbers.get(key)
        if not (definition and noting) or before is None or self.owners.get(companions_of(definition)) != key:
            return None
        return Noting.decode(noting).keys_since(self.source.rows, before, log.sequence)

    def _follow(self, definition: bytes, written: Iterable[bytes], sequence: int) -> None:
        """Copy some partition rows of a table that is copied."""
        notes, columns = notes_of(definition), len(definition_of(definition).table.partition_columns)
        for keys in _batches(sorted(key for key in written if not key.startswith(notes))):
            payloads = dict(self.source.rows.multi_get(keys))
            rows = [
                PartitionRow(key, () if is_companion(key) else split_key(key, columns)[1], payload)
                for key, payload in payloads.items()
            ]
            self.target.write(rows, [key for key in keys if key not in payloads], sequence)

    def _replace(self, key: bytes, definition: bytes | None, sequence: int) -> None:
        """Copy all partition rows of a table in place of those that were copied with its row."""
        prefixes = []
        if definition:
            definition_of(definition)  # a damaged one would not tell which rows are the table's
            prefixes = [prefix_of(key, definition), companions_of(definition)]
        stale = {*prefixes, *(prefix for prefix, owner in self.owners.items() if owner == key)}
        for prefix in stale:
            if self.owners.pop(prefix, None) is not None:
                self._clear(prefix, sequence)
        for prefix in prefixes:
            notes, rows = notes_of(definition or b""), self.source.rows.whole_rows(prefix, successor(prefix))
            for some in _batches(row for row in rows if not row.key.startswith(notes)):
                self.target.write(some, (), sequence)
            self.owners[prefix] = key

    def _clear(self, prefix: bytes, sequence: int) -> None:
        while keys := [row.key for row in islice(self.target.whole_rows(prefix, successor(prefix)), _AT_ONCE)]:
            self.target.write((), keys, sequence)

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """What is written inside is there with what is said of it, or neither is."""
        before = dict(self.numbers), dict(self.owners)
        try:
            with self.target.transaction() if self.target.atomic else nullcontext():
                yield
        except BaseException:
            self.numbers, self.owners = before
            raise


def _definition(key: bytes, cells: Mapping[str, bytes]) -> bytes | None:
    """The ``d:def`` cell of a table that is there."""
    return cells.get(DEFINITION) if TABLE_KEYS[0] <= key < TABLE_KEYS[1] else None


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    left = iter(items)
    while batch := list(islice(left, _AT_ONCE)):
        yield batch


def back_up(source: Transactions, name: str, target: Path) -> Copied:
    """Copy a store, as it is at one moment, into a file that is a store of its own and is not there yet.

    Args:
        source: the store.
        name: what the file begins with in a folder.
        target: the file, or a folder.

    Raises:
        StoreBusy: its writers leave no moment.
        CorruptRow: the definition of a table is damaged, so that its partitions cannot be told from others.
        InvalidInput: the file is there.
        StoreUnavailable: the folder is not.
        StoreFull: its disk is full.
    """

    def fill(part: Path) -> None:
        with closing(SqliteRows(SqliteFile(str(part), str(part)))) as rows:
            StoreCopy(source, rows).make()

    return write_backup(fill, name, target)


def restore(backup: Path, target: Rows) -> None:
    """Make an empty store what another was when a backup was taken. Where it is broken off, the store is refused.

    Args:
        backup: the file.
        target: the rows, of which there are none yet.

    Raises:
        InvalidInput: there are some.
        NotAStore: the file is no backup, or of an earlier version.
    """
    first = next(chain.from_iterable(target.scan_catalog(start, stop) for start, stop in _ALL), None)
    if first is not None or target.first_key(b"", b"\xff") is not None:
        raise InvalidInput(
            "the store is there already",
            store=target.url,
            hint="Restore into another prefix, and start the servers on that",
        )
    with closing(SqliteRows(SqliteFile(str(backup), str(backup.absolute()), "immutable"), create=False)) as rows:
        if not KEYS_OF_TEXTS <= rows.format_number() <= FORMAT:  # rows of both are read as they are
            raise NotAStore(
                "the backup is of an earlier version",
                path=backup,
                version=rows.format_number(),
                hint="Copy it, and bring up the copy: hbstore --store COPY upgrade",
            )
        begin_restore(target)
        StoreCopy(Transactions(rows), target).make()
        end_restore(target)
