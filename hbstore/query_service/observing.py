"""What a query service tells those who count: how many queries wait and run, how they end, what is fetched."""

from __future__ import annotations

from typing import Protocol

from hbstore.query_service.query import Query


class QueryObserver(Protocol):
    """Hears of a service's queries, in any thread. What it does is short, and raises nothing."""

    def queue(self, waiting: int, running: int) -> None:
        """So many queries wait and run now."""

    def ended(self, query: Query) -> None:
        """A query has ended; it is as it was at its end."""

    def fetched(self, rows: int, size: int) -> None:
        """So many rows of a result were read for a user, and bytes in Arrow's form."""

    def spark_lost(self) -> None:
        """Spark died, and is started again."""


class Unobserved:
    """Where nobody counts."""

    def queue(self, waiting: int, running: int) -> None:
        """See `QueryObserver`."""

    def ended(self, query: Query) -> None:
        """See `QueryObserver`."""

    def fetched(self, rows: int, size: int) -> None:
        """See `QueryObserver`."""

    def spark_lost(self) -> None:
        """See `QueryObserver`."""


UNOBSERVED = Unobserved()
