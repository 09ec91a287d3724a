"""Running a transaction: a step that reads and writes, and whose writes are all made or none.

On memory and SQLite it is one transaction of the backend's. Elsewhere one compare-and-put on the log of the first row
decides it; see docs/protocols/transactions.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hbstore.errors import StoreFull, StoreUnavailable
from hbstore.rows.interface import Rows
from hbstore.transactions.attempt import Attempt
from hbstore.transactions.identity import new_id
from hbstore.transactions.log import LOG, Commit, Log, Span
from hbstore.transactions.outcome import undecided
from hbstore.transactions.payloads import old_payloads, remove_payload
from hbstore.transactions.resolving import Resolver
from hbstore.transactions.transaction import RestartError, RowView, Transaction
from hbstore.transactions.waiting import Patience, Waiting
from hbstore.transactions.writes import only_removes

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Transactions:
    r"""Runs transactions on rows.

    Attributes:
        rows: where the rows are.
        patience: how long others are waited for.

    >>> from hbstore.rows.memory import MemoryRows
    >>> transactions = Transactions(MemoryRows())
    >>> transactions.run(lambda transaction: transaction.row(b"Xnote").set_state(b"milk"))
    >>> transactions.state(b"Xnote")
    b'milk'
    """

    rows: Rows
    patience: Patience = field(default_factory=Patience)

    def run(self, step: Callable[[Transaction], T]) -> T:
        """Make what a step writes happen at once, as if nobody else wrote meanwhile; what the step returned then.

        Args:
            step: reads rows of a transaction and says what to write. It is called again where others came between; what
                it raises leaves everything as it is. It must not write in any other way.

        Raises:
            StoreBusy: others were always faster; nothing was changed.
            StoreUnavailable: the backend does not answer; nothing was changed.
            CommitStateUnknown: it went away when the change may have been decided.
        """
        if self.rows.atomic:
            return self._run_at_once(step)
        waiting = Waiting(self.patience)
        while True:
            attempt = Attempt(self.rows, waiting)
            try:
                with undecided():
                    result = step(attempt.transaction)
            except RestartError as restart:
                attempt.withdraw()
                waiting.pause_for(restart.row, restart.transaction_id)
                continue
            except StoreUnavailable:
                attempt.withdraw()
                raise
            except Exception:  # a step that has seen two moments may fail in any way
                attempt.withdraw()
                if attempt.saw_one_moment():
                    raise
                waiting.pause_for(attempt.primary)
                continue
            except BaseException:
                attempt.withdraw()
                raise
            if attempt.commit():
                return result
            waiting.pause_for(attempt.primary)

    @property
    def reads_one_moment(self) -> bool:
        """Whether all that is read within a snapshot is of one moment; elsewhere a reader looks whether rows moved."""
        return self.rows.atomic

    def read(self, row: bytes, *, timelines: bool = False) -> tuple[Log, dict[str, bytes]]:
        """A row's log and its other cells, as they were at one moment. One read where nobody has the row locked."""
        return Resolver(self.rows).read(row, timelines=timelines)

    def read_many(self, rows: Sequence[bytes]) -> dict[bytes, tuple[Log, dict[str, bytes]]]:
        """What `read` gives of some rows that there are, each as it was at one moment."""
        resolver = Resolver(self.rows)
        return {row: resolver.seen(row, cells) for row, cells in self.rows.get_many(rows).items()}

    def state(self, row: bytes) -> bytes:
        """What a row's log holds; nothing where it was never changed."""
        return self.read(row)[0].state

    def scan(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, Log, dict[str, bytes]]]:
        """The rows between two keys with their logs and other cells, each as it was at one moment."""
        return Resolver(self.rows).scan(start, stop)

    def scan_logs(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, Log]]:
        """The logs of the rows between two keys, each as it was at one moment; of other cells nothing is read."""
        return Resolver(self.rows).scan_logs(start, stop)

    def scan_cell(self, start: bytes, stop: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
        """One cell of the rows between two keys that have it; of logs only those are decoded that are being changed."""
        if self.rows.atomic:  # what is decided is written
            return ((row, cells[name]) for row, cells in self.rows.scan_catalog(start, stop, (name,)) if cells[name])
        return Resolver(self.rows).scan_cell(start, stop, name)

    def change_state(self, row: bytes, change: Callable[[bytes], tuple[bytes | None, T]]) -> T:
        """Change what one row's log holds, as if nobody else did at the same time.

        Args:
            row: the row's key.
            change: takes the state and gives the next one (None: it stays) and a result. It is called again where
                another writer was faster; what it raises leaves the state as it is.
        """

        def step(transaction: Transaction) -> T:
            view = transaction.row(row)
            state, result = change(view.state)
            if state is not None:
                view.set_state(state)
            return result

        return self.run(step)

    def roll_forward(self, row: bytes, commit: Commit) -> None:
        """Wait until all of an open commit is written, or write it.

        Raises:
            StoreBusy: its process is at it, for longer than this one has patience.
        """
        waiting, resolver = Waiting(self.patience), Resolver(self.rows)
        while not resolver.has_had_time(commit, waiting):
            waiting.pause_for(row, commit.id)
            if resolver.log(row).open_commit(commit.id) is None:
                return
        resolver.roll_forward(row, commit)

    def roll_forward_row(self, row: bytes, older_than: float) -> int:
        """Bring to an end what dead processes left in a row; how many changes and locks that were.

        Args:
            row: the row's key.
            older_than: seconds; what was stored, but never decided, is removed if it is older.
        """
        if self.rows.atomic:
            return 0
        resolver = Resolver(self.rows)
        log = resolver.log(row)
        for commit in log.commits:
            resolver.roll_forward(row, commit)
        if log.intent is not None:
            resolver.give_up(row, log.intent)
        old = list(old_payloads(self.rows, row, time.time() - older_than))
        decided = resolver.give_up_undecided(row) if old else log
        left = [transaction_id for transaction_id in old if not decided.open_commit(transaction_id)]
        for transaction_id in left:
            remove_payload(self.rows, row, transaction_id)
        return len(log.commits) + (log.intent is not None) + len(left)

    def _run_at_once(self, step: Callable[[Transaction], T]) -> T:
        removes = False
        try:
            with self.rows.transaction():

                def open_row(key: bytes) -> RowView:
                    return RowView(key, self.rows.get(key) or {}, self.rows, _nothing_to_settle)

                transaction = Transaction(open_row, self.scan)
                result = step(transaction)
                changes = list(zip(transaction.views.values(), transaction.writes(), strict=True))
                removes = only_removes(writes for _, writes in changes)
                for view, writes in (*changes[1:], *changes[:1]):  # in the order of step 6
                    if not writes.changed:
                        continue
                    commit = Commit(id=new_id(), sequence=writes.sequence, primary=writes.row)
                    log = view.log.committed(commit, writes.state)
                    self.rows.compare_and_put(writes.row, LOG, view.log_cell, log.encode())
                    writes.apply(self.rows)
        except StoreFull:
            if not removes or not self.rows.use_reserve():
                raise
        else:
            return result
        return self._run_at_once(step)


def _nothing_to_settle(view: RowView, spans: Sequence[Span]) -> None:
    """See `Settle`: with transactions, what is decided is written."""
