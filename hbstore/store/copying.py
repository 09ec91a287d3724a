"""Copies of a store as it was at one moment, on rows of any kind: backups of HBase, and restores of them.

A row's log numbers its changes. So the rows that a look meets, each with the number at which it was copied before the
look began, are those of one moment: that at which it began. Rows that were changed meanwhile are copied again, and then
the copy looks again.

Rows that change all the time are locked in the end: a transaction that writes nothing locks them, copies them, and
looks at all others. Their writers wait for it, as for any transaction (docs/protocols/transactions.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Final

from hbstore.errors import InvalidInput, NotAStore, StoreBusy
from hbstore.keys.row_key import successor
from hbstore.rows.format_number import FORMAT, FORMAT_KEY, KEYS_OF_TEXTS, begin_restore, end_restore
from hbstore.rows.interface import CatalogCell, PartitionRow, Rows
from hbstore.rows.sqlite.backup import Copied, write_backup
from hbstore.rows.sqlite.file import SqliteFile
from hbstore.rows.sqlite.rows import SqliteRows
from hbstore.store.companion_keys import companions_of
from hbstore.store.table_row import DEFINITION, TABLE_KEYS, definition_of, prefix_of
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.payloads import PAYLOAD_KEYS
from hbstore.transactions.transaction import RowView, Scan, Transaction
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import row_text

_ALL: Final = ((b"A", PAYLOAD_KEYS[0]), (PAYLOAD_KEYS[1], FORMAT_KEY), (FORMAT_KEY + b"\0", b"["))
"""All catalog rows have a capital letter first. What a transaction stores until it is written is not copied."""
_PRIMARY: Final = b"Qbackup\0primary"
"""The row whose log decides whether what was locked stayed so. It holds nothing, and nobody else changes it."""
_ROUNDS: Final = 4
"""Looks at all rows before those that still change are locked."""
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
    """

    source: Transactions
    target: Rows
    numbers: dict[bytes, int] = field(default_factory=dict)
    owners: dict[bytes, bytes] = field(default_factory=dict)

    def make(self) -> None:
        """Copy all of the store. O(rows), and again what is changed meanwhile.

        Raises:
            StoreBusy: what changes all the time cannot be copied while its writers wait.
        """
        if self.source.reads_one_moment:
            with self.source.rows.snapshot():
                self._round()
            return
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
                    hint="Copy it while these rest for longer than it takes to copy them: a large table that changes "
                    "all the time cannot be copied in the second for which its writers wait",
                ) from error
            locked.update(changed)

    def _round(self) -> list[bytes]:
        """Copy what has another number than the copy has; the keys of these rows."""
        changed = self._changed(self.source.scan)
        with self._at_once():
            for key in changed:
                log, cells = self.source.read(key, timelines=True)
                for commit in log.commits:
                    self.source.roll_forward(key, commit)
                self._put(key, log, cells)
        return changed

    def _locked(self, keys: Collection[bytes]) -> list[bytes]:
        """Copy these rows while they are locked; the keys of others that were changed since they were copied."""

        def step(transaction: Transaction) -> list[bytes]:
            transaction.row(_PRIMARY)
            views = [transaction.row(key) for key in sorted(keys)]
            with self._at_once():
                for view in views:
                    if view.log.sequence != self.numbers.get(view.key):
                        self._put(view.key, view.log, view.all_cells(), view)
            return [key for key in self._changed(transaction.scan) if key not in keys]

        return self.source.run(step)

    def _changed(self, scan: Scan) -> list[bytes]:
        rows = chain.from_iterable(scan(start, stop) for start, stop in _ALL)
        return [key for key, log, _ in rows if key != _PRIMARY and log.sequence != self.numbers.get(key)]

    def _put(self, key: bytes, log: Log, cells: Mapping[str, bytes], view: RowView | None = None) -> None:
        """Write a row with its partition rows in place of what the copy has of it."""
        is_table = DEFINITION in cells and TABLE_KEYS[0] <= key < TABLE_KEYS[1]
        prefixes = []
        if is_table:
            definition = cells[DEFINITION]
            definition_of(definition)  # a damaged one would not tell which rows are the table's
            prefixes = [prefix_of(key, definition), companions_of(definition)]
        stale = set(prefixes)
        if self.numbers.pop(key, None) is not None:
            self.target.remove_row(key)
            stale.update(prefix for prefix, owner in self.owners.items() if owner == key)
        for prefix in stale:
            if self.owners.pop(prefix, None) is not None:
                self._clear(prefix, log.sequence)
        for prefix in prefixes:
            if view is not None:
                view.settle(prefix, successor(prefix))
            for rows in _batches(self.source.rows.whole_rows(prefix, successor(prefix))):
                self.target.write(rows, (), log.sequence)
            self.owners[prefix] = key
        self.target.put_cells([CatalogCell(key, name, value) for name, value in cells.items()], log.sequence)
        self.target.compare_and_put(key, LOG, None, replace(log, commits=(), intent=None).encode())
        self.numbers[key] = log.sequence

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


def _batches(rows: Iterator[PartitionRow]) -> Iterator[list[PartitionRow]]:
    while batch := list(islice(rows, _AT_ONCE)):
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
