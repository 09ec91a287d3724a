"""What is done with a page of partitions, the threads that do it, and what comes back."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from hbstore.errors import HbstoreError
from hbstore.store.partition_store import PartitionStore
from hbstore.transfer.checksum import Checksum
from hbstore.transfer.connection import Address
from hbstore.transfer.metastore import Metastore

T = TypeVar("T")
OnConflict: TypeAlias = Literal["fail", "keep", "replace"]
"""What to do with what is there already and differs."""

POLICIES: Final = ("fail", "keep", "replace")
Page: TypeAlias = Sequence[str]
"""Names of partitions."""

Told: TypeAlias = Callable[[int], object]
"""Is told how many partitions were done."""

THREADS: Final = 4
_REFUSALS: Final = 20
"""Partitions of one page that are refused one by one; more of them have one reason."""


@dataclass(frozen=True, slots=True, repr=False)
class Outcome:
    """What became of pages of partitions.

    Attributes:
        added: how many were added.
        replaced: how many were there otherwise, and were replaced.
        same: how many were there just so.
        statistics: of how many partitions the statistics were written.
        kept: names of those that were there otherwise, and stay.
        conflicts: names of those that were there otherwise, where that is an error.
        gone: names of those that the source does not have any more.
        refused: names of those that cannot be, and why.
        wrong: names of those that are otherwise than they should be, where that was looked at.
        checksum: of those that are to be there.
        error: what ended the work.

    >>> Outcome(added=5, same=2) + Outcome(added=1)
    <Outcome: 6 added, 0 replaced, 2 the same, 0 refused>
    """

    added: int = 0
    replaced: int = 0
    same: int = 0
    statistics: int = 0
    kept: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    wrong: tuple[str, ...] = ()
    checksum: Checksum = field(default_factory=Checksum)
    error: HbstoreError | None = None

    def __repr__(self) -> str:
        counts = f"{self.added:,} added, {self.replaced:,} replaced, {self.same:,} the same"
        return f"<Outcome: {counts}, {len(self.refused):,} refused>"

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.added + other.added,
            self.replaced + other.replaced,
            self.same + other.same,
            self.statistics + other.statistics,
            self.kept + other.kept,
            self.conflicts + other.conflicts,
            self.gone + other.gone,
            self.refused + other.refused,
            self.wrong + other.wrong,
            self.checksum + other.checksum,
            self.error or other.error,
        )


class Work(Protocol):
    """What is done with each page of one table."""

    def __call__(self, store: PartitionStore, metastore: Metastore, page: Page) -> Outcome:
        """Do it with one page.

        Raises:
            HbstoreError: it cannot be done; doing it again is harmless.
        """


@dataclass(frozen=True, slots=True)
class Workers:
    """Threads of this process that copy pages.

    Attributes:
        store: the store, which they share.
        address: the metastore, to which each has a connection of its own.
        by_requests: whether it is one of Hive 4.
        number: how many there are.
    """

    store: PartitionStore
    address: Address
    by_requests: bool
    number: int = THREADS

    def run(self, work: Work, pages: Sequence[Page], told: Told) -> Outcome:
        """Do work with all pages, and say what became of them; the first error ends it and comes back as a value."""
        left = deque(pages)
        lock = threading.Lock()
        outcome = Outcome()

        def serve() -> None:
            nonlocal outcome
            with closing(Metastore(self.address, by_requests=self.by_requests)) as metastore:
                while outcome.error is None and not outcome.conflicts:
                    try:
                        page = left.popleft()
                    except IndexError:
                        return
                    try:
                        page_outcome, done = work(self.store, metastore, page), len(page)
                    except HbstoreError as error:
                        page_outcome, done = Outcome(error=error), 0
                    with lock:
                        outcome += page_outcome
                        told(done)

        number = min(self.number, len(pages))
        with ThreadPoolExecutor(max(1, number), "hbstore-transfer") as pool:
            try:
                for served in [pool.submit(serve) for _ in range(number)]:
                    served.result()
            except BaseException:  # an interrupt: the threads end with their pages
                left.clear()
                raise
        return outcome


def singled_out(
    write: Callable[[Sequence[T]], object], some: Sequence[T], refusal: tuple[type[HbstoreError], ...]
) -> list[tuple[T, HbstoreError]]:
    """Write things at once, and where that is refused, find out which of them it is for: these, and why.

    Halves are tried until one stands alone. Where many are refused the reason is another one.

    Args:
        write: writes all that it is given or nothing.
        some: what to write.
        refusal: how something is refused.

    Raises:
        HbstoreError: too many are refused.

    >>> from hbstore.errors import InvalidInput
    >>> def write(some):
    ...     if 3 in some:
    ...         raise InvalidInput("no 3 can be written")
    >>> [(one, error.text) for one, error in singled_out(write, [1, 2, 3, 4, 5], (InvalidInput,))]
    [(3, 'no 3 can be written')]
    """
    refused: list[tuple[T, HbstoreError]] = []
    halves = [some] if some else []
    while halves:
        half = halves.pop()
        try:
            write(half)
        except refusal as error:
            if len(half) > 1:
                middle = len(half) // 2
                halves += (half[middle:], half[:middle])
                continue
            refused.append((half[0], error))
            if len(refused) > _REFUSALS:
                raise
    return refused
