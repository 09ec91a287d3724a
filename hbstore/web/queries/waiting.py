"""Requests that wait for a change of a query. They hold no thread while they wait, so thousands may."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from starlette.concurrency import run_in_threadpool

from hbstore.query_service.query import Query
from hbstore.query_service.service import QueryService

_LOOKED_EVERY: Final = 1.0
"""Seconds between two looks at a query that another server may run."""

_SHOWN_EVERY: Final = 0.1
"""Seconds between two looks at one that keeps changing."""


class QueryWaiting:
    """What waits for changes of a service's queries."""

    def __init__(self, service: QueryService) -> None:
        self._service = service
        self._changed = asyncio.Event()
        self._stopped = False
        self._loop: asyncio.AbstractEventLoop | None = None
        service.changes.listen(self._heard)

    async def ended(self, id_: str, seconds: float) -> Query:
        """A query when it has ended, the time is over, or the server stops."""
        until = asyncio.get_running_loop().time() + seconds
        async for query in self._states(id_, until):
            if query.state.is_final:
                break
        return query

    async def states(self, id_: str) -> AsyncIterator[Query | None]:
        """A query at each change until it has ended; None now and then where it did not change."""
        seen: Query | None = None
        async for query in self._states(id_):
            yield query if query != seen else None
            seen = query
            if query.state.is_final:
                return

    async def _states(self, id_: str, until: float = float("inf")) -> AsyncIterator[Query]:
        self._loop = loop = asyncio.get_running_loop()
        while True:
            changed = self._changed
            yield await run_in_threadpool(self._service.get, id_)
            left = until - loop.time()
            if left <= 0 or self._stopped:
                return
            try:
                await asyncio.wait_for(changed.wait(), min(left, _LOOKED_EVERY))
            except TimeoutError:
                continue
            await asyncio.sleep(min(left, _SHOWN_EVERY))

    def stop(self) -> None:
        """End all waits, as the server stops. Called in any thread."""
        self._stopped = True
        self._heard()

    def _heard(self) -> None:
        """Called at each change, in any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def server_sent(query: Query) -> str:
    """A query as a server-sent event."""
    return f"event: {query.state}\ndata: {query.model_dump_json()}\n\n"
