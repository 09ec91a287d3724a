"""One attempt of a transaction where only single cells change at once: lock, decide, write; or leave all as it was.

The numbers of the steps are those of docs/protocols/transactions.md. Steps 1 and 2 are here, as the step of the caller
asks for rows, and 3 and 4; the others, which any process may do, are in `hbstore.transactions.resolving`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from hbstore.errors import CommitStateUnknown, InvalidInput, StoreUnavailable
from hbstore.rows.interface import Cells, Rows
from hbstore.transactions.identity import new_id
from hbstore.transactions.log import LOG, Commit, Intent, Log, Span, Standing
from hbstore.transactions.outcome import decided, undecided
from hbstore.transactions.payloads import put_payload, remove_payload
from hbstore.transactions.resolving import Resolver
from hbstore.transactions.transaction import RestartError, RowView, Transaction
from hbstore.transactions.waiting import Waiting, row_text
from hbstore.transactions.writes import RowWrites, encode_writes, moves_partitions

MAX_LOG: Final = 8 * 1024 * 1024
"""Bytes of a log; with more, what is open is written first. HBase takes 10 MiB in a cell."""
MAX_CELLS: Final = 7 * 1024 * 1024
"""Bytes of the cells that a change puts into one row: its log lists them, in base64, when the change is decided."""
MAX_LISTED: Final = 4 * 1024
"""Bytes of writes that a log lists itself: a payload row is two requests more, also where others are faster."""


class Attempt:
    """An attempt.

    The first row that the step asks for is the *primary*: its log is read, and changed if nothing was decided since.
    All others are locked by an intent.

    Args:
        rows: where the rows are.
        waiting: the transaction's, over all attempts.
    """

    def __init__(self, rows: Rows, waiting: Waiting) -> None:
        self._resolver = Resolver(rows)
        self.transaction: Final = Transaction(self._open_row, self._resolver.scan)
        self._intent = Intent(new_id(), primary=b"", sequence=0, turn=0)
        self._rows = rows
        self._waiting = waiting
        self._locked: list[bytes] = []

    @property
    def primary(self) -> bytes:
        """The row whose log decides; nothing before the step has asked for one."""
        return self._intent.primary

    def saw_one_moment(self) -> bool:
        """Whether what the step has read was there at one moment."""
        views = list(self.transaction.views.values())
        if len(views) < 2 and not any(view.has_read_further for view in views):  # noqa: PLR2004
            return True
        return self._resolver.log(self.primary).standing(self._intent) is Standing.UNDECIDED

    def withdraw(self) -> None:
        """Unlock the other rows; where that fails, those who meet the intents do so."""
        locked, self._locked = self._locked, []
        for row in locked:
            with suppress(StoreUnavailable, CommitStateUnknown):
                self._resolver.unlock(row, self._intent.id)

    def commit(self) -> bool:
        """Decide what the step wants to write, and write it; False, and nothing is changed, where others came between.

        Raises:
            StoreUnavailable: nothing was changed.
            InvalidInput: it puts so much into one row that the row's log could not list it; nothing was changed.
            CommitStateUnknown: it may be decided.
        """
        writes = self.transaction.writes()
        self._check_size(writes)
        if not any(row_writes.changed for row_writes in writes):
            self.withdraw()
            return self.saw_one_moment()
        commit, payload = self._prepared(writes)
        try:
            # Step 3: the list of writes, where it is long. Nobody looks at it before step 4.
            if commit.stored:
                with undecided():
                    put_payload(self._rows, self.primary, commit.id, payload)
            # Step 4: this one write decides. Before it nothing has happened, after it everything has.
            is_decided = self._decide(commit, writes[0].state)
        except StoreUnavailable:
            self._leave_nothing(commit)
            raise
        if not is_decided:
            self._leave_nothing(commit)
            return False
        if commit.has_writes:
            # Steps 5 and 6: if this process dies from here on, the next one does them, and step 7.
            with decided("the change is decided, but the store became unavailable before all of it was written"):
                self._resolver.show(commit, writes)
                self._resolver.write(writes)
            # Step 7: what stays open is written again, which changes nothing.
            with suppress(StoreUnavailable):
                self._resolver.close(commit, writes)
        return True

    # Steps 1 and 2: read and lock rows, and what is decided about the partition rows that the step reads

    def _open_row(self, key: bytes) -> RowView:
        """Step 1: read the primary, and lock each other row with an intent."""
        if not self.primary:
            view = RowView(key, self._without_intent(key), self._rows, self._settle)
            self._intent = Intent(self._intent.id, primary=key, sequence=view.log.sequence, turn=view.log.turn)
            return view
        self._locked.append(key)  # even if the answer is lost, the intent may be there
        while True:
            cells = self._without_intent(key)
            locked = replace(Log.decode(cells.get(LOG)), intent=self._intent).encode()
            if self._rows.compare_and_put(key, LOG, cells.get(LOG), locked):
                self._resolver.written[key] = locked
                return RowView(key, cells, self._rows, self._settle)
            self._waiting.pause_for(key)

    def _without_intent(self, key: bytes) -> Cells:
        """A row's cells, once nobody has it locked."""
        while True:
            cells = self._rows.get(key) or {}
            intent = Log.decode(cells.get(LOG)).intent
            if intent is None:
                return cells
            patience = self._waiting.patience
            is_decided = self._resolver.standing(intent) is Standing.DECIDED
            if self._waiting.has_waited_for(intent.id, patience.decided if is_decided else patience.undecided):
                self._resolver.give_up(key, intent)
            elif len(self._locked) > 1:  # nobody waits while others may wait for him
                raise RestartError(key, intent.id)
            else:
                self._waiting.pause_for(key, intent.id)

    def _settle(self, view: RowView, spans: Sequence[Span]) -> None:
        """Step 2: wait until what is decided about some partition rows is written, or write it."""
        log = view.log
        while True:
            in_the_way = [commit for commit in log.commits if commit.meets(spans)]
            if not in_the_way:
                return
            for commit in in_the_way:
                if self._resolver.has_had_time(commit, self._waiting):
                    self._resolver.roll_forward(view.key, commit)
                else:
                    self._waiting.pause_for(view.key, commit.id)
            log = self._resolver.log(view.key)
            if not log.is_unchanged_since(view.log):
                raise RestartError(view.key)

    # Steps 3 and 4: make the list of writes, and decide

    def _check_size(self, writes: Sequence[RowWrites]) -> None:
        """See that each row can show what is put into it: once the change is decided, it has to."""
        for row_writes in writes:
            size = sum(map(len, row_writes.cells.values()))
            if size > MAX_CELLS:
                self.withdraw()
                raise InvalidInput(
                    "the change puts too much into one row",
                    row=row_text(row_writes.row),
                    bytes=size,
                    limit=MAX_CELLS,
                    hint="Shorten the table's definition, or have it keep fewer timelines",
                )

    def _prepared(self, writes: Sequence[RowWrites]) -> tuple[Commit, bytes]:
        """The commit of the primary, and what the payload row is to hold if the list of writes is long."""
        first, listed = writes[0], b""
        if len(writes) > 1 or first.has_partition_rows:
            listed = encode_writes(writes)
        is_stored = len(listed) > MAX_LISTED
        is_seen_at_once = self.transaction.views[self.primary].seen_at_once
        commit = Commit(
            id=self._intent.id,
            sequence=first.sequence,
            primary=self.primary,
            stored=is_stored,
            spans=first.spans(),
            moves=first.has_partition_rows and (is_seen_at_once or moves_partitions(writes)),
            cells=first.cells,
            writes=b"" if is_stored else listed,
        )
        return commit, listed

    def _decide(self, commit: Commit, state: bytes) -> bool:
        """Step 4: put the change into the primary's log if nothing was decided there since step 1; whether it is."""
        view = self.transaction.views[self.primary]
        log, cell = view.log, view.log_cell
        while True:
            data = log.committed(commit, state).encode()
            if len(data) > MAX_LOG and log.commits:
                for earlier in log.commits:
                    self._resolver.roll_forward(self.primary, earlier)
            else:
                try:
                    if self._rows.compare_and_put(self.primary, LOG, cell, data):
                        if not log.commits:  # where others write at the same time, the log will not stay as it is
                            self._resolver.written[self.primary] = data
                        return True
                except CommitStateUnknown:
                    return self._decided_or_given_up()
            cell = (self._rows.get(self.primary) or {}).get(LOG)
            log = Log.decode(cell)
            standing = log.standing(self._intent)
            if standing is not Standing.UNDECIDED:
                return standing is not Standing.OVERTAKEN
            if log.intent is not None:
                return False

    def _decided_or_given_up(self) -> bool:
        """Make sure that a change whose answer was lost is decided, or never will be; which of the two.

        It may arrive yet as long as the log is what it was: so the log is put into its next turn.
        """
        standing = Standing.UNDECIDED
        with suppress(StoreUnavailable):
            while standing is Standing.UNDECIDED:
                cell = (self._rows.get(self.primary) or {}).get(LOG)
                log = Log.decode(cell)
                standing = log.standing(self._intent)
                if standing is Standing.UNDECIDED:
                    if self._rows.compare_and_put(self.primary, LOG, cell, log.given_up().encode()):
                        return False
                elif standing is not Standing.OVERTAKEN:
                    return True
        raise CommitStateUnknown(
            "the connection broke while a change was being decided, and its outcome cannot be told",
            hint="Read the store to see whether the change was made; if it was, the next writer finishes it",
        )

    def _leave_nothing(self, commit: Commit) -> None:
        """Unlock what an attempt that is not decided has locked, and remove its payload row."""
        self.withdraw()
        if commit.stored:
            with suppress(StoreUnavailable):
                remove_payload(self._rows, self.primary, commit.id)
