"""What a query service tells those who count: its queries and how they end, what is fetched, how its Spark is."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from hbstore.query_service.query import Query


class SparkState(StrEnum):
    """How a server's Spark is."""

    ABSENT = "absent"
    """None runs, as none was asked for."""
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
    """The last attempts to start one failed; the next query is another attempt."""


class QueryObserver:
    """Hears of a service's queries, in any thread. This one does nothing of it; it raises nothing, and is quick."""

    __slots__ = ()

    def queue(self, waiting: int, running: int) -> None:
        """So many queries wait and run now."""

    def ended(self, query: Query) -> None:
        """A query has ended; it is as it was at its end."""

    def fetched(self, rows: int, size: int) -> None:
        """So many rows of a result were read for a user, and bytes in Arrow's form."""

    def spark_lost(self) -> None:
        """Spark died, and is started again."""

    def spark(self, state: SparkState) -> None:
        """Spark is so now."""


UNOBSERVED: Final = QueryObserver()
