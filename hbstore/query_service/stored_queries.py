"""Queries in the store, where each change of a state is one compare-and-put."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hbstore.errors import InvalidInput, QueryNotFound
from hbstore.query_service.query import Query, Request, State
from hbstore.store.records import Records

_KIND: Final = "query"
_KEYS: Final = "query_key"
_MILLISECONDS: Final = 2**48
_RANDOM: Final = 10
_HINT: Final = "`hbstore query list` shows the queries that the server keeps"


@dataclass(frozen=True, slots=True)
class StoredQueries:
    """The queries of a store, the newest first: their ids sort so.

    Attributes:
        records: where they are.
    """

    records: Records

    def create(self, request: Request, server: str, now: datetime, key: str | None = None) -> tuple[Query, bool]:
        """Add a query that waits.

        Args:
            request: what is asked.
            server: who will run it.
            now: the time.
            key: two requests of a user with one key are one query.

        Returns:
            The query, and whether it is new.

        Raises:
            InvalidInput: the key is that of another request.
        """
        query = Query(id=_new_id(now), request=request, server=server, submitted_at=now)
        if key is not None:
            name = hashlib.sha256(f"{request.user}\0{key}".encode()).hexdigest()
            if not self.records.create(_KEYS, name, query.id):
                query = query.changed(id=self.records.get(_KEYS, name) or query.id)
        if self.records.create(_KIND, query.id, query.model_dump_json()):
            return query, True
        stored = self.get(query.id)
        if stored.request != request:
            raise InvalidInput(
                "the idempotency key was used for another query", query=stored.id, hint="Use a new key for each query"
            )
        return stored, False

    def find(self, id_: str) -> Query | None:
        """The query of an id; None if there is none."""
        text = self.records.get(_KIND, id_)
        return None if text is None else Query.model_validate_json(text)

    def get(self, id_: str) -> Query:
        """The query of an id.

        Raises:
            QueryNotFound: there is none.
        """
        found = self.find(id_)
        if found is None:
            raise QueryNotFound("the query does not exist", query=id_, hint=_HINT)
        return found

    def change(self, id_: str, step: Callable[[Query], Query]) -> Query:
        """Change a query, if its state may become what it shall be; a state that may not is left.

        Returns:
            The query as it is now.

        Raises:
            QueryNotFound: there is none.
        """

        def changed(text: str) -> str | None:
            old = Query.model_validate_json(text)
            new = step(old)
            if new == old or (new.state is not old.state and not old.state.may_become(new.state)):
                return None
            return new.model_dump_json()

        now = self.records.change(_KIND, id_, changed)
        if now is None:
            raise QueryNotFound("the query does not exist", query=id_, hint=_HINT)
        return Query.model_validate_json(now)

    def all(self, before: str | None = None) -> Iterator[Query]:
        """All queries, the newest first; those that were submitted before one, with an id."""
        for _, text in self.records.list(_KIND, start="" if before is None else f"{before}0"):
            yield Query.model_validate_json(text)

    def drop(self, id_: str) -> None:
        """Forget a query."""
        self.records.drop(_KIND, id_)

    def drop_keys(self, kept: Collection[str], before: datetime) -> None:
        """Forget idempotency keys whose queries are no longer there. O(keys).

        Args:
            kept: the ids of the queries that are there.
            before: keys from then on stay, as their queries may be about to be added.
        """
        first = _time_prefix(before)
        for name, id_ in list(self.records.list(_KEYS)):
            if id_ > first and id_ not in kept:
                self.records.drop(_KEYS, name)


def ended(query: Query, state: State, now: datetime, **fields: object) -> Query:
    """A query that came to an end."""
    return query.changed(state=state, ended_at=now, **fields)


def _new_id(now: datetime) -> str:
    """An id: the milliseconds until the year 10889, then random digits. So ids of later queries sort first."""
    return f"{_time_prefix(now)}{secrets.token_hex(_RANDOM)}"


def _time_prefix(now: datetime) -> str:
    return f"{_MILLISECONDS - int(now.timestamp() * 1_000):012x}"
