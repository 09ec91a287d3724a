"""Rolling transactions forward, or giving them up: what any process may do with a transaction that it meets.

Every step may be repeated, at once with others and late. docs/protocols/transactions.md tells why the order is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from hbstore.errors import CommitStateUnknown, CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import Cells, Rows
from hbstore.transactions.log import LOG, Commit, Intent, Log, is_settled
from hbstore.transactions.payloads import StoredProgress, get_payload, remove_payload
from hbstore.transactions.progress import NoProgress
from hbstore.transactions.waiting import Waiting
from hbstore.transactions.writes import RowWrites, decode_writes, moves_partitions


@dataclass(frozen=True, slots=True)
class Resolver:
    """Finishes what others began.

    Attributes:
        rows: where the rows are.
    """

    rows: Rows

    def log(self, row: bytes) -> Log:
        """A row's log as it is now."""
        return Log.decode((self.rows.get(row) or {}).get(LOG))

    def read(self, row: bytes, *, timelines: bool = False) -> tuple[Log, dict[str, bytes]]:
        """A row's log and its cells, as they were at one moment; those of what is decided are among them."""
        cells = self._cells(row, timelines=timelines)
        return self.seen(row, cells, timelines=timelines)

    def seen(self, row: bytes, cells: Cells, *, timelines: bool = False) -> tuple[Log, dict[str, bytes]]:
        """As `read`, of cells that were just read."""
        log = Log.decode(cells.get(LOG))
        if log.intent is not None and self.roll_forward_intent(log.intent):
            cells = self._cells(row, timelines=timelines)
            log = Log.decode(cells.get(LOG))
        return log, log.overlaid(cells)

    def scan(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, Log, dict[str, bytes]]]:
        """The rows between two keys with their logs and cells, each as it was at one moment."""
        for row, cells in self.rows.scan_catalog(start, stop):
            yield row, *self.seen(row, cells)

    def scan_cell(self, start: bytes, stop: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
        """One cell of the rows between two keys that have it, each as it was at one moment."""
        for row, cells in self.rows.scan_catalog(start, stop, (name, LOG)):
            value = (cells if is_settled(cells.get(LOG)) else self.read(row)[1]).get(name)
            if value:
                yield row, value

    def has_had_time(self, commit: Commit, waiting: Waiting) -> bool:
        """Whether its process had time enough to write a commit; a long one has it as long as it gets on."""
        if not commit.is_long:
            return waiting.has_waited_for(commit.id, waiting.patience.decided)
        reached = StoredProgress(self.rows, commit).reached()
        return waiting.has_waited_for(f"{commit.id} at {reached!r}", waiting.patience.undecided)

    def roll_forward(self, row: bytes, commit: Commit) -> None:
        """Write all that an open commit of a row has to write, in this row and in others, and close it."""
        if commit.primary != row:  # another row's log decided it, and lists it until all is written here, too
            primary = self.log(commit.primary).find(commit.id)
            if primary is not None:
                self.roll_forward(commit.primary, primary)
            return
        writes: tuple[RowWrites, ...] | None
        if commit.stored:
            writes = get_payload(self.rows, row, commit.id)
        elif commit.writes:
            writes = decode_writes(commit.writes)
        else:
            writes = (RowWrites(row, commit.sequence, b"", commit.cells),)  # its state is there already
        if writes is not None:
            self.write_and_close(commit, writes)
        elif self.log(row).find(commit.id) is not None:
            raise CorruptRow("the writes of an open commit are missing", row=row, commit=commit.id, hint=RESTORE)

    def roll_forward_intent(self, intent: Intent) -> bool:
        """Write all of the transaction that holds an intent, if it is decided; whether it is."""
        commit = self.log(intent.primary).find(intent.id)
        if commit is None:
            return False
        self.roll_forward(intent.primary, commit)
        return True

    def give_up(self, row: bytes, intent: Intent) -> None:
        """Take an intent off a row: its transaction is rolled forward if it is decided, and else never will be."""
        while True:
            cell = (self.rows.get(intent.primary) or {}).get(LOG)
            log = Log.decode(cell)
            commit = log.find(intent.id)
            if commit is not None:
                self.roll_forward(intent.primary, commit)
                return
            if (log.sequence, log.turn) != (intent.sequence, intent.turn):
                break
            with suppress(CommitStateUnknown):
                if self.rows.compare_and_put(intent.primary, LOG, cell, log.given_up().encode()):
                    break
        self.take_off(row, intent.id)

    def take_off(self, row: bytes, transaction_id: str) -> None:
        """Take the intent of a transaction that is not decided off a row."""
        self._change(
            row, lambda log: replace(log, intent=None) if log.intent and log.intent.id == transaction_id else None
        )

    def give_up_undecided(self, row: bytes) -> Log:
        """See that a row's log decides no transaction that has begun; the log then, with those that are decided."""
        self._change(row, Log.given_up)
        return self.log(row)

    def write_and_close(self, commit: Commit, writes: Sequence[RowWrites]) -> None:
        """Write what a decided transaction writes, and close it; the first of the rows decided it."""
        self.write(commit, writes)
        self.close(commit, writes)

    def write(self, commit: Commit, writes: Sequence[RowWrites]) -> None:
        """Write what a decided transaction writes. All its rows show the change before any partition row does."""
        moves = moves_partitions(writes)
        for one in writes[1:]:
            self._show(one, commit, moves=moves)
        progress = StoredProgress(self.rows, commit) if commit.stored else NoProgress()
        for one in (*writes[1:], writes[0]):  # what a table's rows become elsewhere is there before they go
            one.apply(self.rows, progress)

    def close(self, commit: Commit, writes: Sequence[RowWrites]) -> None:
        """Close a transaction all of which is written, at last in the row that decided it.

        So as long as an intent or an open commit of it is anywhere, that row says that it is decided.
        """
        for one in (*writes[1:], writes[0]):
            self._change(one.row, lambda log: log.closed(commit.id) if log.find(commit.id) else None)
        if commit.stored:
            remove_payload(self.rows, writes[0].row, commit.id)

    def _show(self, writes: RowWrites, decided: Commit, *, moves: bool) -> None:
        """Replace the intent in a row's log by the change that it was for."""

        def shown(log: Log) -> Log | None:
            if log.intent is None or log.intent.id != decided.id:
                return None
            if not writes.changed:  # it stays what it was, but those who read it before must notice
                return replace(log, intent=None, turn=log.turn + 1)
            commit = Commit(
                decided.id,
                writes.sequence,
                decided.primary,
                writes.has_partition_rows,
                writes.spans(),
                moves and writes.has_partition_rows,
                writes.cells,
                writes.is_long,
            )
            return log.committed(commit, writes.state)

        self._change(writes.row, shown)

    def _change(self, row: bytes, change: Callable[[Log], Log | None]) -> None:
        """Change a row's log, unless there is nothing to change.

        Others change it between two attempts, which comes to an end: what is to be taken off comes never back.
        """
        while True:
            cell = (self.rows.get(row) or {}).get(LOG)
            changed = change(Log.decode(cell))
            if changed is None:
                return
            with suppress(CommitStateUnknown):  # looking again tells
                if self.rows.compare_and_put(row, LOG, cell, changed.encode()):
                    return

    def _cells(self, row: bytes, *, timelines: bool) -> Cells:
        return self.rows.get_all(row) if timelines else self.rows.get(row) or {}
