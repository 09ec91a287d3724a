"""Rolling transactions forward, or giving them up: what any process may do with a transaction that it meets.

Steps 5 to 7 of docs/protocols/transactions.md, which tells why their order is safe: each may be repeated, at once with
others and late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from hbstore.errors import CommitStateUnknown, CorruptRow
from hbstore.rows.damage import RESTORE
from hbstore.rows.interface import Cells, Rows
from hbstore.transactions.log import LOG, UNSETTLED, Commit, Intent, Log, Standing, is_settled
from hbstore.transactions.payloads import get_payload, remove_payload
from hbstore.transactions.waiting import Waiting
from hbstore.transactions.writes import RowWrites, decode_writes, moves_partitions


@dataclass(frozen=True, slots=True)
class Resolver:
    """Finishes what others began.

    Attributes:
        rows: where the rows are.
        written: logs as an attempt has just written them, by their rows. The next change of such a log begins with
            that, in place of reading it: if others have changed it meanwhile, compare-and-put says so.
    """

    rows: Rows
    written: dict[bytes, bytes] = field(default_factory=dict, compare=False)

    def log(self, row: bytes) -> Log:
        """A row's log as it is now."""
        return Log.decode((self.rows.get(row) or {}).get(LOG))

    def standing(self, intent: Intent) -> Standing:
        """How the transaction that holds an intent stands now."""
        return self.log(intent.primary).standing(intent)

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

    def scan_logs(self, start: bytes, stop: bytes) -> Iterator[tuple[bytes, Log]]:
        """The logs of the rows between two keys, each as it was at one moment."""
        for row, cells in self.rows.scan_catalog(start, stop, (LOG,)):
            log = Log.decode(cells.get(LOG))
            yield row, log if log.intent is None else self.read(row)[0]

    def scan_cell(self, start: bytes, stop: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
        """One cell of the rows between two keys that have it, each as it was at one moment."""
        holding = ((name, b""), *((LOG, mark) for mark in UNSETTLED))  # rows of what was dropped hold neither
        for row, cells in self.rows.scan_catalog(start, stop, (name, LOG), holding):
            value = (cells if is_settled(cells.get(LOG)) else self.read(row)[1]).get(name)
            if value:
                yield row, value

    def has_had_time(self, commit: Commit, waiting: Waiting) -> bool:
        """Whether its process had time enough to write a commit."""
        return waiting.has_waited_for(commit.id, waiting.patience.decided)

    # Meeting what others began

    def roll_forward(self, row: bytes, commit: Commit) -> None:
        """Write all that an open commit of a row has to write, in this row and in others, and close it."""
        if commit.primary != row:  # another row's log decided it, and lists it until all is written here, too
            primary = self.log(commit.primary).open_commit(commit.id)
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
            self.show(commit, writes)
            self.write(writes)
            self.close(commit, writes)
        elif self.log(row).open_commit(commit.id) is not None:
            raise CorruptRow("the writes of an open commit are missing", row=row, commit=commit.id, hint=RESTORE)

    def roll_forward_intent(self, intent: Intent) -> bool:
        """Write all of the transaction that holds an intent, if it is decided; whether it is."""
        commit = self.log(intent.primary).open_commit(intent.id)
        if commit is None:
            return False
        self.roll_forward(intent.primary, commit)
        return True

    def give_up(self, row: bytes, intent: Intent) -> None:
        """Unlock a row: the transaction that has locked it is rolled forward if it is decided, and else never will be.

        Its primary's log is put into the next turn, so that its step 4 must fail however late it comes.
        """
        while True:
            cell = (self.rows.get(intent.primary) or {}).get(LOG)
            log = Log.decode(cell)
            commit = log.open_commit(intent.id)
            if commit is not None:
                self.roll_forward(intent.primary, commit)
                return
            if log.standing(intent) is not Standing.UNDECIDED:
                break
            with suppress(CommitStateUnknown):
                if self.rows.compare_and_put(intent.primary, LOG, cell, log.given_up().encode()):
                    break
        self.unlock(row, intent.id)

    def unlock(self, row: bytes, transaction_id: str) -> None:
        """Take the intent of a transaction that is not decided out of a row's log."""
        self._change(
            row, lambda log: replace(log, intent=None) if log.intent and log.intent.id == transaction_id else None
        )

    def give_up_undecided(self, row: bytes) -> Log:
        """See that a row's log decides no transaction that has begun; the log then, with those that are decided."""
        self._change(row, Log.given_up)
        return self.log(row)

    # Steps 5 to 7 of a transaction that is decided

    def show(self, commit: Commit, writes: Sequence[RowWrites]) -> None:
        """Step 5: in each other row an open commit replaces the intent, so that its readers see the change, too.

        The first of the rows decided it. All rows show the change before any partition row does.
        """
        moves = moves_partitions(writes)
        for row_writes in writes[1:]:
            self._show(row_writes, commit, moves=moves)

    def write(self, writes: Sequence[RowWrites]) -> None:
        """Step 6: the partition rows and cells, with each row's number as their timestamp.

        Those of the primary come last: what a table's rows become elsewhere is there before they go.
        """
        for row_writes in (*writes[1:], writes[0]):
            row_writes.apply(self.rows)

    def close(self, commit: Commit, writes: Sequence[RowWrites]) -> None:
        """Step 7: take the commits off the logs, that of the primary last, and remove the payload row.

        So as long as an intent or an open commit of it is anywhere, the primary says that it is decided. A row that
        stays what it was has no commit (`_show`).
        """
        for row_writes in (*(others for others in writes[1:] if others.changed), writes[0]):
            self._change(row_writes.row, lambda log: log.closed(commit.id) if log.open_commit(commit.id) else None)
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
                id=decided.id,
                sequence=writes.sequence,
                primary=decided.primary,
                stored=writes.has_partition_rows,
                spans=writes.spans(),
                moves=moves and writes.has_partition_rows,
                cells=writes.cells,
            )
            return log.committed(commit, writes.state)

        self._change(writes.row, shown)

    def _change(self, row: bytes, change: Callable[[Log], Log | None]) -> None:
        """Change a row's log, unless there is nothing to change.

        Others change it between two attempts, which comes to an end: what a change takes away never comes back.
        """
        while True:
            guessed = self.written.pop(row, None)
            cell = guessed or (self.rows.get(row) or {}).get(LOG)
            changed = change(Log.decode(cell))
            if changed is None and guessed:
                continue
            if changed is None:
                return
            data = changed.encode()
            with suppress(CommitStateUnknown):  # looking again tells
                if self.rows.compare_and_put(row, LOG, cell, data):
                    self.written[row] = data
                    return

    def _cells(self, row: bytes, *, timelines: bool) -> Cells:
        return self.rows.get_all(row) if timelines else self.rows.get(row) or {}
