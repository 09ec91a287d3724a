"""A server that is reached over HTTP: its catalog, and the queries that it runs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from hbstore.client.remote_catalog import RemoteCatalog
from hbstore.client.remote_query import RemoteQuery
from hbstore.client.transport import Transport
from hbstore.errors import QueryNotFound
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.texts.arguments import expect_texts


def connect(url: str, *, token: str | None = None) -> Connection:
    """A server at a URL. Nothing is sent before the first request.

    Args:
        url: ``http://host:port``, as `hbstore serve --http-port` prints it.
        token: the access token, where the server asks for one.

    Raises:
        InvalidUrl: the text is no such URL.

    >>> connect("http://127.0.0.1:8080")
    <Connection to http://127.0.0.1:8080>
    """
    expect_texts(url=url)
    expect_texts(or_none=True, token=token)
    return Connection(Transport(url, token))


class Connection(RemoteCatalog):
    """A server: queries here, databases and tables as of `RemoteCatalog`. Threads may share it.

    Raises, in all that follows:
        ServerUnavailable: the server does not answer.
        AccessRefused: it asks for a token, and has not got the right one.
    """

    def __repr__(self) -> str:
        return f"<Connection to {self._transport.url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; queries go on."""
        self._transport.close()

    def query(
        self,
        text: str,
        *,
        database: str = DEFAULT_DATABASE,
        user: str | None = None,
        name: str | None = None,
        partial: bool = False,
        now: datetime | None = None,
        options: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> RemoteQuery:
        """Ask the server to run a statement. Returns at once.

        Args:
            text: a cube query, a statement of Spark SQL, or one of hbstore's own.
            database: the current database of the statement.
            user: who asks; a server that asks for tokens takes the token's user.
            name: what to call the query.
            partial: whether a cube query is answered from the partitions that exist.
            now: what relative times of a cube query are relative to.
            options: those of a cube query by name.
            key: two queries of a user with one key are one; by default a new one, so that a request that is sent
                twice, as its answer was lost, runs once.

        Raises:
            TooManyQueries: the server's queue is full.
            InvalidInput: an argument or an option is none that the server takes.
        """
        body = _query_document(text, database, user, name, partial, now, options)
        headers = {"Idempotency-Key": key or secrets.token_hex(16)}
        return RemoteQuery(self._transport, self._transport.document("POST", "/queries", body=body, headers=headers))

    def explain(
        self,
        text: str,
        *,
        database: str = DEFAULT_DATABASE,
        partial: bool = False,
        now: datetime | None = None,
        options: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """What a cube query would read and why, and its Spark SQL; arguments as of `query`.

        Raises:
            CubeQueryError, NoCandidate: as `hbstore.cubes.Cubes.rewrite`.
        """
        return self._transport.document(
            "POST", "/explain", body=_query_document(text, database, None, None, partial, now, options)
        )

    def get(self, id_: str) -> RemoteQuery:
        """The query of an id.

        Raises:
            QueryNotFound: there is none.
        """
        expect_texts(id_=id_)
        if not (id_.isascii() and id_.isalnum()):  # in an address, it would lead to something else
            raise QueryNotFound(
                "the query does not exist",
                query=id_,
                hint="`hbstore query list` shows the queries that the server keeps",
            )
        return RemoteQuery(self._transport, self._transport.document("GET", f"/queries/{id_}"))

    def queries(
        self, *, user: str | None = None, state: str | None = None, before: str | None = None, limit: int = 100
    ) -> list[RemoteQuery]:
        """The queries that the server keeps, the newest first.

        Args:
            user: whose; None: everybody's.
            state: in which state; None: in any.
            before: only those that were submitted before the query of this id.
            limit: how many at most, up to 1,000.
        """
        parameters = {"user": user, "state": state, "before": before, "limit": limit}
        listed = self._transport.document("GET", "/queries", query=parameters)
        return [RemoteQuery(self._transport, document) for document in listed["queries"]]


def _query_document(
    text: str,
    database: str,
    user: str | None,
    name: str | None,
    partial: bool,  # noqa: FBT001  as of the methods
    now: datetime | None,
    options: Mapping[str, str] | None,
) -> dict[str, Any]:
    body = {"text": text, "database": database, "user": user, "name": name, "partial": partial, "options": options}
    return {
        **{key: value for key, value in body.items() if value is not None},
        **({} if now is None else {"now": now.isoformat()}),
    }
