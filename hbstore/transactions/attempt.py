"""One attempt of a transaction where only single cells change at once: lock, decide, write; or leave all as it was."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from hbstore.errors import CommitStateUnknown, StoreUnavailable
from hbstore.rows.interface import Cells, Rows
from hbstore.transactions.identity import new_id
from hbstore.transactions.log import LOG, Commit, Intent, Log, Span
from hbstore.transactions.outcome import decided, undecided
from hbstore.transactions.payloads import put_payload, remove_payload
from hbstore.transactions.resolving import Resolver
from hbstore.transactions.transaction import AgainError, RowView, Transaction
from hbstore.transactions.waiting import Waiting
from hbstore.transactions.writes import encode_writes, moves_partitions

MAX_LOG: Final = 8 * 1024 * 1024
"""Bytes of a log; with more, what is open is written first. HBase takes 10 MiB in a cell."""
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
        self.primary = b""
        self._id = new_id()
        self._rows = rows
        self._waiting = waiting
        self._locked: list[bytes] = []

    def stood_still(self) -> bool:
        """Whether what the step has read was there at one moment."""
        views = list(self.transaction.views.values())
        if len(views) < 2 and not any(view.looked_further for view in views):  # noqa: PLR2004
            return True
        return self._resolver.log(self.primary).decides_as(views[0].log)

    def withdraw(self) -> None:
        """Take off the intents; where that fails, those who meet them do so."""
        locked, self._locked = self._locked, []
        for row in locked:
            with suppress(StoreUnavailable, CommitStateUnknown):
                self._resolver.take_off(row, self._id)

    def commit(self) -> bool:
        """Decide what the step wants to write, and write it; False, and nothing is changed, where others came between.

        Raises:
            StoreUnavailable: nothing was changed.
            CommitStateUnknown: it may be decided.
        """
        writes = self.transaction.writes()
        if not any(row_writes.changed for row_writes in writes):
            self.withdraw()
            return self.stood_still()
        first, listed = writes[0], b""
        if len(writes) > 1 or first.has_partition_rows:
            listed = encode_writes(writes)
        stored = len(listed) > MAX_LISTED or any(row_writes.is_long for row_writes in writes)
        at_once = self.transaction.views[self.primary].seen_at_once
        moves = first.has_partition_rows and (at_once or moves_partitions(writes))
        commit = Commit(
            self._id,
            first.sequence,
            self.primary,
            stored,
            first.spans(),
            moves,
            first.cells,
            first.is_long,
            b"" if stored else listed,
        )
        try:
            if stored:
                with undecided():
                    put_payload(self._rows, self.primary, self._id, listed)
            is_decided = self._decide(commit, first.state)
        except StoreUnavailable:
            self._clean(commit)
            raise
        if not is_decided:
            self._clean(commit)
            return False
        if commit.has_writes:
            with decided("the change is decided, but the store became unavailable before all of it was written"):
                self._resolver.write(commit, writes)
            with suppress(StoreUnavailable):  # what stays open is written again, which changes nothing
                self._resolver.close(commit, writes)
        return True

    def _decide(self, commit: Commit, state: bytes) -> bool:
        """Put the change into the primary's log if nothing was decided there since the read; whether it is there."""
        view = self.transaction.views[self.primary]
        log, cell = view.log, view.log_cell
        while True:
            data = log.committed(commit, state).encode()
            if len(data) > MAX_LOG and log.commits:
                for earlier in log.commits:
                    self._resolver.roll_forward(self.primary, earlier)
                is_lost = False
            else:
                try:
                    if self._rows.compare_and_put(self.primary, LOG, cell, data):
                        return True
                    is_lost = False
                except CommitStateUnknown:
                    is_lost = True
            cell, log = self._look_again(is_lost=is_lost)
            if log.shows(commit.id):
                return True
            stands = log.decides_as(view.log)
            if is_lost:
                if not stands:
                    raise _unknown()
                # It may arrive yet, unless the log is another by then.
                return self._decided_or_given_up(commit)
            if not stands or log.intent is not None:
                return False

    def _decided_or_given_up(self, commit: Commit) -> bool:
        """Make sure that a change whose answer was lost is decided, or never will be; which of the two."""
        view = self.transaction.views[self.primary]
        while True:
            cell, log = self._look_again(is_lost=True)
            if log.shows(commit.id):
                return True
            if not log.decides_as(view.log):
                raise _unknown()
            if self._rows.compare_and_put(self.primary, LOG, cell, log.given_up().encode()):
                return False

    def _look_again(self, *, is_lost: bool) -> tuple[bytes | None, Log]:
        try:
            cell = (self._rows.get(self.primary) or {}).get(LOG)
        except StoreUnavailable as error:
            if is_lost:
                raise _unknown() from error
            raise
        return cell, Log.decode(cell)

    def _clean(self, commit: Commit) -> None:
        """Take off what an attempt that is not decided has left."""
        self.withdraw()
        if commit.stored:
            with suppress(StoreUnavailable):
                remove_payload(self._rows, self.primary, self._id)

    def _open_row(self, key: bytes) -> RowView:
        if not self.primary:
            self.primary = key
            return RowView(key, self._without_intent(key), self._rows, self._settle)
        log = self.transaction.views[self.primary].log
        intent = Intent(self._id, self.primary, log.sequence, log.turn)
        self._locked.append(key)  # even if the answer is lost, the intent may be there
        while True:
            cells = self._without_intent(key)
            locked = replace(Log.decode(cells.get(LOG)), intent=intent)
            if self._rows.compare_and_put(key, LOG, cells.get(LOG), locked.encode()):
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
            is_decided = self._resolver.log(intent.primary).find(intent.id) is not None
            if self._waiting.has_waited_for(intent.id, patience.decided if is_decided else patience.undecided):
                self._resolver.give_up(key, intent)
            elif len(self._locked) > 1:  # nobody waits while others may wait for him
                raise AgainError(key, intent.id)
            else:
                self._waiting.pause_for(key, intent.id)

    def _settle(self, view: RowView, spans: Sequence[Span]) -> None:
        """Wait until what is decided about some partition rows is written, or write it."""
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
            if not log.decides_as(view.log):
                raise AgainError(view.key)


def _unknown() -> CommitStateUnknown:
    return CommitStateUnknown(
        "the connection broke while a change was being decided, and its outcome cannot be told",
        hint="Read the store to see whether the change was made; if it was, the next writer finishes it",
    )
