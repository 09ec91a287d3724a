"""What the query service allows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from hbstore.errors import HbstoreError, QueryTimedOut, ResultTooLarge, TooManyQueries


@dataclass(frozen=True, slots=True)
class Limits:
    """What the query service allows.

    Attributes:
        running: queries that Spark runs at once; others wait in the queue.
        running_of_user: of one user.
        queued: queries that wait.
        run_time: of a query, from when Spark begins.
        result_size: bytes of a result's files.
        keep_results: how long a result can be fetched.

    >>> Limits(running=2).running_of_user
    4
    """

    running: int = 8
    running_of_user: int = 4
    queued: int = 200
    run_time: timedelta = timedelta(hours=1)
    result_size: int = 10 * 2**30
    keep_results: timedelta = timedelta(days=2)

    def check_queue(self, waiting: int) -> None:
        """See that one more query may wait.

        Raises:
            TooManyQueries: it may not.
        """
        if waiting >= self.queued:
            raise TooManyQueries(
                "the queue of the server is full", queued=waiting, hint="Ask again when some of the queries have run"
            )

    def next_of(self, waiting: Iterable[str], running: Iterable[str]) -> int | None:
        """Which of the waiting queries runs next: the first whose user does not run too many; None: they all wait.

        Args:
            waiting: the users of the queries in the queue, the first one first.
            running: the users of the queries that run.

        >>> Limits(running_of_user=1).next_of(["ann", "bob"], ["ann"])
        1
        """
        now = list(running)
        if len(now) >= self.running:
            return None
        return next((at for at, user in enumerate(waiting) if now.count(user) < self.running_of_user), None)

    def passed(self, ran: timedelta, size: int) -> HbstoreError | None:
        """Why a query must end that ran so long and wrote so many bytes; None: it may go on."""
        if ran > self.run_time:
            hint = "Ask for less, or let the server allow more by --max-run-time"
            return QueryTimedOut("the query ran longer than the server allows", limit=self.run_time, hint=hint)
        if size > self.result_size:
            hint = "Ask for fewer rows, or let the server allow more by --max-result"
            return ResultTooLarge("the result is larger than the server allows", limit=self.result_size, hint=hint)
        return None
