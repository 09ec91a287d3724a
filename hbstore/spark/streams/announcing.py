"""Announcing the partitions of a running query: each second, whether rows come or not, and once after it has ended.

A thread does it, so that partitions are announced while the query waits for rows. The watermark is read from the
query's checkpoint, where each batch leaves that with which the next one begins: so it is that of all rows that were
written, also after the last batch, and where the query is started again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from hbstore.keys.partition_names import table_name
from hbstore.spark.opening import opened
from hbstore.spark.streams.checkpoint import checkpoint_watermark
from hbstore.spark.streams.commit import Announcer
from hbstore.store.partition_store import PartitionStore

_INTERVAL: Final = 1.0
"""Seconds between two looks at the partitions."""

_NEVER: Final = -1
"""Stands for a batch's number before the watermark was read."""

_LOG: Final = logging.getLogger("hbstore.spark")


@dataclass(slots=True)
class Announcing:
    """Announces the partitions of one query's table as their time comes.

    Attributes:
        announcer: what announces them.
        target: a store, or its URL.
        table: ``database.table``.
        checkpoint: the folder of the query's state.
        written: the names of partitions that got rows, batch by batch.
        error: what ended it; None if nothing did.
    """

    announcer: Announcer
    target: PartitionStore | str
    table: str
    checkpoint: str
    written: SimpleQueue[Iterable[str]] = field(default_factory=SimpleQueue)
    error: Exception | None = None
    _batch: int | None = _NEVER
    _watermark: datetime | None = None

    def run(self, query: StreamingQuery, ended: threading.Event) -> None:
        """Announce until the query has ended, and once more; an error ends the query.

        Args:
            query: Spark's.
            ended: set where somebody has seen that the query has ended.
        """
        try:
            while True:
                active = query.isActive
                self._announce(query)
                if not active:
                    return
                ended.wait(_INTERVAL)
        except Exception as error:  # noqa: BLE001  of whatever a policy does; `exception` shows it
            self.error = error
            _LOG.error("the partitions of %s are no longer announced: %s", self.table, error)
            with suppress(Exception):
                query.stop()

    def _announce(self, query: StreamingQuery) -> None:
        names = list(self._written())
        if self.announcer.commit.trigger == "partition-time":
            self._read_watermark(query)
        if names or self.announcer.has_due(self._watermark):
            with opened(self.target) as store:
                self.announcer.announce(store, *table_name(self.table), names, self._watermark)

    def _written(self) -> Iterator[str]:
        with suppress(Empty):
            while True:
                yield from self.written.get_nowait()

    def _read_watermark(self, query: StreamingQuery) -> None:
        """Read the watermark anew where a batch was reported since; each has said by then in the checkpoint."""
        progress = query.lastProgress
        batch = None if progress is None else progress["batchId"]
        if batch != self._batch:
            self._watermark = checkpoint_watermark(self.announcer.spark, self.checkpoint)
            self._batch = batch


class AnnouncedQuery(StreamingQuery):
    """A query whose end comes after the announcements of what it has written."""

    def __init__(self, query: StreamingQuery, announcing: Announcing) -> None:
        super().__init__(query._jsq)  # noqa: SLF001  there is no other way to make another object of a query
        self._announcing = announcing
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=announcing.run, args=(query, self._ended), name=f"announcing {announcing.table}", daemon=True
        )
        self._thread.start()

    def awaitTermination(self, timeout: int | None = None) -> bool | None:  # noqa: N802
        """Wait until the query has ended and what is due then is announced.

        Args:
            timeout: seconds; None: as long as it takes.

        Returns:
            Whether that was so in time; None without a timeout.

        Raises:
            StreamingQueryException: the query has ended with an error, or an announcement has failed.
        """
        until = None if timeout is None else time.monotonic() + timeout
        try:
            in_time = super().awaitTermination(timeout)
        finally:
            if not self.isActive:
                self._finish(None if until is None else max(0.0, until - time.monotonic()))
        failure = self._failure()
        if failure is not None:
            raise failure
        return in_time if in_time is None else in_time and not self._thread.is_alive()

    def stop(self) -> None:
        """Stop the query, and wait until what is due is announced."""
        super().stop()
        self._finish(None)

    def exception(self) -> StreamingQueryException | None:
        """What the query has ended with, be it that of an announcement; None if it runs, or ended without an error."""
        return super().exception() or self._failure()

    def _finish(self, timeout: float | None) -> None:
        self._ended.set()
        if threading.current_thread() is not self._thread:  # a policy may stop the query
            self._thread.join(timeout)

    def _failure(self) -> StreamingQueryException | None:
        error = self._announcing.error
        if error is None:
            return None
        failure = StreamingQueryException(f"partitions of {self._announcing.table} cannot be announced: {error}")
        failure.__cause__ = error
        return failure
