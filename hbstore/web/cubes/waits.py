"""Requests that wait until nothing of a range of a fact is missing.

A waiting request is an entry in a table: no thread is held for it. While there are any, one thread looks at the
timelines of all facts that are waited for, as often as `pause_after` says. Requests for the same range share a cover,
and a cover is made again only where something of its fact has changed. So a commit is seen wherever it was made: by
this process, by the metastore's, by another server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from starlette.concurrency import run_in_threadpool

from hbstore.cubes import Cover
from hbstore.cubes.fact_times import Coverable, FactTimes, pause_after
from hbstore.cubes.stored_model import Model
from hbstore.errors import ConcurrentChange, HbstoreError, TooManyWaiters
from hbstore.store.partition_store import PartitionStore
from hbstore.times.clock import Clock, utc_now

MOST_WAITERS: Final = 10_000
"""Requests that wait at once."""


@dataclass(frozen=True, slots=True)
class WaitSource:
    """What a wait looks at.

    Attributes:
        database: of the fact.
        fact: its name.
        time_dimension: as of `Cubes.cover`.
    """

    database: str
    fact: str
    time_dimension: str | None

    def look(self, store: PartitionStore, clock: Clock) -> Coverable:
        """What its covers are made of now. Raises as `Cubes.cover`."""
        return FactTimes.of(Model(store, self.database), self.fact).coverable(self.time_dimension, clock())


@dataclass(frozen=True, slots=True)
class Wanted:
    """A range that is to be covered: requests for the same one are told together.

    Attributes:
        source: of which fact.
        start: where it begins.
        end: where it ends; not part of it.
    """

    source: WaitSource
    start: datetime
    end: datetime

    def cover(self, now: Coverable) -> Cover:
        """The cover, with what is missing. Raises as `Cubes.cover`."""
        return now.cover(self.start, self.end, partial=True)


Outcome: TypeAlias = Cover | HbstoreError
"""What is known of a range: its cover, or why there is none."""


class Waits:
    """The waiting requests of a process. All but the looks runs in the thread of its event loop.

    Args:
        store: which is looked at.
        clock: what time it is, for facts that start or end relative to now.
        most: how many requests may wait at once.
    """

    def __init__(self, store: PartitionStore, clock: Clock = utc_now, most: int = MOST_WAITERS) -> None:
        self._store = store
        self.clock = clock
        self._most = most
        self._waiters: dict[Wanted, set[asyncio.Future[Cover]]] = {}
        self._latest: dict[Wanted, Cover] = {}
        self._looked: dict[Wanted, Coverable] = {}
        self._new: set[Wanted] = set()
        self._looking = ThreadPoolExecutor(1, thread_name_prefix="hbstore-waits")
        self._reader: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False
        self.number = 0

    async def cover(self, range_: Wanted, seconds: float) -> Cover:
        """The cover of a range when nothing of it is missing, as it is after so many seconds, or at the server's stop.

        Raises:
            TooManyWaiters: as many as may are waiting.
            ModelNotFound, NoStorageTables, UnknownTimeDimension, InvalidTimeRange: as `Cubes.cover`; also where the
                fact is dropped or altered meanwhile.
        """
        self._loop = asyncio.get_running_loop()
        if range_ not in self._latest:  # else others wait for the same, and the next look tells all
            cover = await run_in_threadpool(lambda: range_.cover(range_.source.look(self._store, self.clock)))
            if not cover.missing or seconds <= 0 or self._stopped:
                return cover
            self._latest.setdefault(range_, cover)
        latest = self._latest[range_]
        if not latest.missing:  # those who waited have been told of it, and no look will tell it again
            return latest
        return await self._waited(range_, seconds)

    def stop(self) -> None:
        """Answer all who wait with what is missing now, as the server stops. Called in any thread."""
        self._stopped = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._answer_all)

    def _answer_all(self) -> None:
        for range_, waiters in self._waiters.items():
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(self._latest[range_])

    async def _waited(self, range_: Wanted, seconds: float) -> Cover:
        if self.number >= self._most:
            self._forget(range_)
            raise TooManyWaiters(
                "the server holds as many waiting requests as it may",
                limit=self._most,
                hint="Ask again later, or wait for one range with one request",
            )
        waiter: asyncio.Future[Cover] = asyncio.get_running_loop().create_future()
        if range_ not in self._waiters:
            self._new.add(range_)  # its first look may be older than the last one of the reader
        self._waiters.setdefault(range_, set()).add(waiter)
        self.number += 1
        if self._reader is None:
            self._reader = asyncio.create_task(self._read())
            self._reader.add_done_callback(self._ended)
        try:
            return await asyncio.wait_for(waiter, max(seconds, 0))
        except TimeoutError:
            return self._latest[range_]
        finally:
            self.number -= 1
            self._waiters[range_].discard(waiter)
            self._forget(range_)

    def _forget(self, range_: Wanted) -> None:
        """Forget a range that nobody waits for."""
        if not self._waiters.get(range_):
            self._waiters.pop(range_, None)
            self._latest.pop(range_, None)

    async def _read(self) -> None:
        """Look again and again, as long as somebody waits."""
        loop = asyncio.get_running_loop()
        while self._waiters:
            began = loop.time()
            new, self._new = self._new, set()
            outcomes = await loop.run_in_executor(self._looking, self._look, tuple(self._waiters), new)
            took = loop.time() - began
            for range_, outcome in outcomes.items():
                self._tell(range_, outcome)
            await asyncio.sleep(pause_after(took))

    def _look(self, ranges: Collection[Wanted], new: Collection[Wanted]) -> dict[Wanted, Outcome]:
        """Called in the thread that looks: what is new of some ranges."""
        by_source: dict[WaitSource, list[Wanted]] = {}
        for range_ in ranges:
            by_source.setdefault(range_.source, []).append(range_)
        outcomes: dict[Wanted, Outcome] = {}
        looked: dict[Wanted, Coverable] = {}
        for source, of_source in by_source.items():
            try:
                now = source.look(self._store, self.clock)
                before = next((self._looked[range_] for range_ in of_source if range_ in self._looked), None)
                if before is not None and now.is_as(before):
                    now = before
                outcomes |= {
                    range_: range_.cover(now)
                    for range_ in of_source
                    if range_ in new or self._looked.get(range_) is not now
                }
                looked |= dict.fromkeys(of_source, now)
            except ConcurrentChange:
                continue  # the next look comes soon
            except HbstoreError as error:
                outcomes |= dict.fromkeys(of_source, error)
        self._looked = looked
        return outcomes

    def _tell(self, range_: Wanted, outcome: Outcome) -> None:
        if isinstance(outcome, HbstoreError):
            _end(self._waiters.get(range_, ()), outcome)
        elif range_ in self._waiters:
            self._latest[range_] = outcome
            if not outcome.missing:
                for waiter in self._waiters[range_]:
                    if not waiter.done():
                        waiter.set_result(outcome)

    def _ended(self, reader: asyncio.Task[None]) -> None:
        """Called when nobody waits any more, or looking has failed as it should not: then all who wait hear of it."""
        self._reader = None
        error = None if reader.cancelled() else reader.exception()
        if error is not None:
            _end((waiter for waiters in self._waiters.values() for waiter in waiters), error)
        elif self._waiters and not reader.cancelled():  # who came while it ended
            self._reader = asyncio.create_task(self._read())
            self._reader.add_done_callback(self._ended)


def _end(waiters: Iterable[asyncio.Future[Cover]], error: BaseException) -> None:
    for waiter in waiters:
        if not waiter.done():
            waiter.set_exception(error)
