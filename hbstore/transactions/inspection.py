"""What a row's log says, for a person who looks for a fault: what is open, who has rows locked, what is left behind.

Everything is read as it is; nothing is waited for, rolled forward or given up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from hbstore.errors import CorruptRow
from hbstore.rows.interface import Rows
from hbstore.transactions.identity import began_at, holder_of
from hbstore.transactions.log import LOG, Commit, Intent, Log, Standing, is_settled
from hbstore.transactions.payloads import get_payload, old_payloads
from hbstore.transactions.resolving import Resolver
from hbstore.transactions.waiting import row_text
from hbstore.transactions.writes import RowWrites, decode_writes


@dataclass(frozen=True, slots=True)
class RowLock:
    """A row that a transaction has locked.

    Attributes:
        row: the row's key.
        intent: says whose transaction that is, and which change of which row decides it.
        standing: whether it does.
    """

    row: bytes
    intent: Intent
    standing: Standing

    def to_dict(self) -> dict[str, object]:
        """The lock for JSON."""
        decided_by = {"row": row_text(self.intent.primary), "change": self.intent.sequence + 1}
        transaction = who(self.intent.id)
        return {"row": row_text(self.row), **transaction, "decided_by": decided_by, "standing": self.standing.value}


@dataclass(frozen=True, slots=True)
class OpenCommit:
    """A change that is decided and perhaps not written yet.

    Attributes:
        commit: as the log lists it.
        writes: what it does to each of its rows; None where that is gone, or another row's log tells.
    """

    commit: Commit
    writes: tuple[RowWrites, ...] | None

    @property
    def puts(self) -> int:
        """How many partition rows it puts."""
        return sum(len(row_writes.puts) for row_writes in self.writes or ())

    @property
    def deletes(self) -> int:
        """How many single partition rows it deletes."""
        return sum(len(row_writes.deletes) for row_writes in self.writes or ())

    def to_dict(self) -> dict[str, object]:
        """The commit for JSON."""
        commit = self.commit
        return {
            "change": commit.sequence,
            **who(commit.id),
            "decided_by": row_text(commit.primary),
            "list_of_writes": "payload row" if commit.stored else "log" if commit.writes else "cells",
            "is_list_there": self.writes is not None,
            "rows": [row_text(row_writes.row) for row_writes in self.writes or ()],
            "cells": sorted(commit.cells),
            "puts": self.puts,
            "deletes": self.deletes,
            "spans": [[first.hex(), last.hex()] for first, last in commit.spans],
        }


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a row's log says, and what other rows say of it.

    Attributes:
        log: the row's log.
        open: its open commits.
        lock: who has the row locked.
        locks: other rows that are locked for transactions which this log decides.
        left: the ids of transactions of which there is a payload row and no open commit.
    """

    log: Log
    open: tuple[OpenCommit, ...]
    lock: RowLock | None
    locks: tuple[RowLock, ...]
    left: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """All of it for JSON."""
        return {
            "changes": self.log.sequence,
            "turn": self.log.turn,
            "moves": self.log.moves,
            "last": who(self.log.last) if self.log.last else None,
            "state": self.log.state.decode(errors="replace"),
            "open": [commit.to_dict() for commit in self.open],
            "locked_by": None if self.lock is None else self.lock.to_dict(),
            "locks": [lock.to_dict() for lock in self.locks],
            "payload_rows_of_no_commit": [who(transaction_id) for transaction_id in self.left],
        }


def inspected(rows: Rows, row: bytes) -> Inspection:
    """Look at a row's log. O(rows of the catalog): any of them may be locked for a transaction that this log decides.

    Raises:
        CorruptRow: the row's log, or a list of writes, cannot be decoded.
    """
    resolver = Resolver(rows)
    log = resolver.log(row)
    lock = None if log.intent is None else RowLock(row, log.intent, resolver.standing(log.intent))
    locks = tuple(_locked_for(rows, row, log))
    payloads = old_payloads(rows, row, datetime.now(UTC).timestamp())
    left = tuple(transaction_id for transaction_id in payloads if log.open_commit(transaction_id) is None)
    return Inspection(log, tuple(_open_commit(rows, row, commit) for commit in log.commits), lock, locks, left)


def who(transaction_id: str) -> dict[str, object]:
    """Whose a transaction is, and since when, by its id."""
    described: dict[str, object] = {"transaction": transaction_id}
    with suppress(ValueError):  # of a damaged log, or an example's
        began = datetime.fromtimestamp(began_at(transaction_id), UTC).isoformat(timespec="seconds")
        described |= {"process": holder_of(transaction_id), "began": began.replace("+00:00", "Z")}
    return described


def _open_commit(rows: Rows, row: bytes, commit: Commit) -> OpenCommit:
    writes = None
    if commit.stored:
        writes = get_payload(rows, commit.primary, commit.id)
    elif commit.primary == row:
        writes = decode_writes(commit.writes) if commit.writes else ()
    return OpenCommit(commit, writes)


def _locked_for(rows: Rows, primary: bytes, log: Log) -> Iterator[RowLock]:
    """The rows that are locked for transactions which a row's log decides; a log that is damaged locks none."""
    for row, cells in rows.scan_catalog(b"", b"\xff", (LOG,)):  # payload rows have none; they may be large
        if not is_settled(cells.get(LOG)):
            with suppress(CorruptRow):
                intent = Log.decode(cells.get(LOG)).intent
                if intent is not None and intent.primary == primary and row != primary:
                    yield RowLock(row, intent, log.standing(intent))
