"""How long a change waits for other writers, and what it says when that was too long: the one policy of retries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from hbstore.errors import ConcurrentChange, HbstoreError, InvalidInput, StoreBusy, VersionMismatch
from hbstore.texts.arguments import expect
from hbstore.transactions.identity import holder_of

T = TypeVar("T")

_LONGEST_PAUSE: Final = 0.2
_MORE: Final = 0.03
"""Seconds by which each pause may be longer than the one before: about as long as a change takes on HBase.

With much shorter ones, writers of one row lose most of their attempts to each other (see docs/benchmarks.md).
"""
_SECONDS: Final = "Give a number of seconds, 0 or more"
_FEWEST_PAUSES: Final = 2
"""A change that takes long is tried three times, however little patience is left."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long others are waited for, in seconds.

    Attributes:
        total: after which a change that others were always faster than is given up.
        decided: that another transaction, which is decided, gets to write its rows before this one writes them.
        undecided: that another transaction, which is not, may keep a row locked before it is given up for dead.

    >>> Patience(total=5.0).undecided
    1.0
    """

    total: float = 30.0
    decided: float = 0.05
    undecided: float = 1.0

    def __post_init__(self) -> None:
        for name in ("total", "decided", "undecided"):
            seconds = getattr(self, name)
            expect(name, seconds, int, float, hint=_SECONDS)
            if not seconds >= 0:
                raise InvalidInput("the patience is not 0 or more", **{name: seconds}, hint=_SECONDS)

    def retry(
        self, change: Callable[[], T], *outrun: type[HbstoreError], text: str, hint: str = "Try again", **fields: object
    ) -> T:
        """What a change returns, which reads and then writes if all is still as it was read.

        Args:
            change: called again where it raises ConcurrentChange.
            outrun: further errors that say that others were faster.
            text: what others kept doing.
            hint: what to do then.
            fields: of the error, such as the table.

        Raises:
            StoreBusy: others were faster for as long as this waits; its cause is how the last try failed.

        >>> Patience().retry(lambda: "written", text="other writers kept changing the table", table="shop.sales")
        'written'
        """
        outrun = (ConcurrentChange, *outrun)
        waiting: Waiting | None = None  # the first try is nearly always the last
        while True:
            try:
                return change()
            except (StoreBusy, VersionMismatch):  # it has waited already; another version is not what is to be changed
                raise
            except outrun as error:
                waiting = waiting or Waiting(self)
                waiting.pause(text, hint, error, **fields)


@dataclass(slots=True)
class Waiting:
    """The waiting of one change, over all of its attempts.

    Attributes:
        patience: how long.
    """

    patience: Patience
    _began: float = field(default_factory=time.monotonic)
    _pauses: int = 0
    _met: dict[str, float] = field(default_factory=dict)

    def has_waited_for(self, transaction_id: str, seconds: float) -> bool:
        """Whether another transaction has been in the way for so long; from the first time that this is asked."""
        now = time.monotonic()
        return now - self._met.setdefault(transaction_id, now) >= seconds

    def pause(self, text: str, hint: str, cause: HbstoreError | None = None, **fields: object) -> None:
        """Let others go first, longer and longer.

        Args:
            text: what others keep doing.
            hint: what to do when that was long enough.
            cause: how the last try failed.
            fields: of the error, such as the table.

        Raises:
            StoreBusy: that was long enough; nothing was changed.
        """
        waited = time.monotonic() - self._began
        if waited >= self.patience.total and self._pauses >= _FEWEST_PAUSES:
            reason = {} if cause is None else {"reason": cause.text}
            raise StoreBusy(text, **fields, seconds=round(waited, 1), **reason, hint=hint) from cause
        self._pauses += 1
        time.sleep(random.uniform(0, min(_LONGEST_PAUSE, _MORE * self._pauses)))  # noqa: S311

    def pause_for(self, row: bytes, transaction_id: str | None = None) -> None:
        """The same, for those who change a catalog row.

        Args:
            row: the row's key.
            transaction_id: whose transaction is in the way, where that is told.

        Raises:
            StoreBusy: that was long enough; nothing was changed.
        """
        fields: dict[str, object] = {} if transaction_id is None else {"holder": holder_of(transaction_id)}
        hint = "Nothing was changed; try again, or give the store more patience"
        self.pause("other writers kept changing the same row", hint, None, row=row_text(row), **fields)


def row_text(row: bytes) -> str:
    """A row's key for people, without NULs."""
    return f"{row[:1].decode(errors='replace')} {row[1:].decode(errors='replace')}".replace("\0", " ")
