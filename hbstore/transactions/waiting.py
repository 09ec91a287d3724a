"""How long a transaction waits for others, and what it says when that was too long: the one policy of retries."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Final

from hbstore.errors import StoreBusy
from hbstore.transactions.identity import holder_of

_LONGEST_PAUSE: Final = 0.2
_MORE: Final = 0.002
"""Seconds by which each pause may be longer than the one before."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long others are waited for, in seconds.

    Attributes:
        total: after which a transaction gives up.
        decided: that another transaction, which is decided, gets to write its rows before this one writes them.
        undecided: that another transaction, which is not, may keep a row locked before it is given up for dead.

    >>> Patience(total=5.0).undecided
    1.0
    """

    total: float = 30.0
    decided: float = 0.05
    undecided: float = 1.0


@dataclass(slots=True)
class Waiting:
    """The waiting of one transaction, over all of its attempts.

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

    def pause(self, row: bytes, transaction_id: str | None = None) -> None:
        """Let others go first, longer and longer.

        Args:
            row: the catalog row that others change.
            transaction_id: whose transaction is in the way, where that is told.

        Raises:
            StoreBusy: that was long enough; nothing was changed.
        """
        waited = time.monotonic() - self._began
        if waited >= self.patience.total:
            holder = {} if transaction_id is None else {"holder": holder_of(transaction_id)}
            raise StoreBusy(
                "other writers kept changing the same row",
                row=_shown(row),
                **holder,
                seconds=round(waited, 1),
                hint="Nothing was changed; try again, or give the store more patience",
            )
        self._pauses += 1
        time.sleep(random.uniform(0, min(_LONGEST_PAUSE, _MORE * self._pauses)))  # noqa: S311


def _shown(row: bytes) -> str:
    """A row's key for people, without NULs."""
    return f"{row[:1].decode(errors='replace')} {row[1:].decode(errors='replace')}".replace("\0", " ")
