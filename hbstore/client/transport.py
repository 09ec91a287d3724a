"""Requests to a server, whose problem details become errors of hbstore again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NoReturn
from urllib.parse import quote, urlencode, urlsplit

import urllib3
from urllib3.response import BaseHTTPResponse

from hbstore.errors import CommitStateUnknown, HbstoreError, InvalidUrl, ServerUnavailable, error_of, not_picklable

_CONNECT_SECONDS: Final = 10.0
_READ_SECONDS: Final = 120.0
_RETRIES: Final = urllib3.Retry(
    total=3, backoff_factor=0.2, status_forcelist=(429, 503), allowed_methods=None, raise_on_status=False
)
"""Of requests that the server did not take, and of those that change nothing: submits carry a key."""

_RETRIES_OF_CHANGES: Final = _RETRIES.new(read=0, other=0)
"""Of requests that change the catalog: those alone that the server did not take."""

_BAD: Final = 400


class Transport:
    """The way to one server. Threads may share it.

    Args:
        url: of the server: ``http://host:port``.
        token: the access token, where the server asks for one.
    """

    def __init__(self, url: str, token: str | None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidUrl("not the URL of a server", url=url, hint="Write http://HOST:PORT")
        self.url = url.rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=_READ_SECONDS), retries=_RETRIES
        )

    def __reduce__(self) -> NoReturn:
        raise not_picklable(self.url, "hbstore.client.connect")

    def document(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        is_change: bool = False,
    ) -> dict[str, Any]:
        """The JSON document of a reply.

        Raises:
            HbstoreError: what the server says.
            ServerUnavailable: it does not answer.
        """
        with self.reply(method, path, query=query, body=body, headers=headers, is_change=is_change) as reply:
            document: dict[str, Any] = json.loads(reply.data)
            return document

    @contextmanager
    def reply(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        is_change: bool = False,
    ) -> Iterator[BaseHTTPResponse]:
        """A reply, whose body is read as it comes.

        Args:
            method: of the request.
            path: of the request.
            query: of the request; None is left out.
            body: of the request, as JSON.
            headers: of the request.
            is_change: whether to send it twice would change something twice.

        Raises:
            HbstoreError: what the server says.
            ServerUnavailable: it does not answer, or breaks off.
            CommitStateUnknown: it took a change, and its answer was lost.
        """
        parameters = {name: value for name, value in (query or {}).items() if value is not None}
        url = f"{self.url}{path}{'?' if parameters else ''}{urlencode(parameters, doseq=True)}"
        sent = {**self._headers, **(headers or {})}
        data = None if body is None else json.dumps(body)
        if data is not None:
            sent["Content-Type"] = "application/json"
        try:
            retries = _RETRIES_OF_CHANGES if is_change else _RETRIES
            reply = self._pool.request(method, url, body=data, headers=sent, preload_content=False, retries=retries)
            if reply.status >= _BAD:
                refused = _error_of(reply)
                reply.release_conn()
                raise refused
            at_end = False
            try:
                yield reply
                at_end = not reply.read(1)  # a reader of Arrow leaves the end, which the next would get
            finally:
                if not at_end:
                    reply.close()
                reply.release_conn()
        except urllib3.exceptions.HTTPError as error:
            if is_change and not _was_not_taken(error):
                raise CommitStateUnknown(
                    "the answer of the server was lost",
                    url=self.url,
                    reason=_reason_of(error),
                    hint="Read what was to be changed to see whether it was",
                ) from error
            raise ServerUnavailable(
                "the server does not answer",
                url=self.url,
                reason=_reason_of(error),
                hint="Start it with `hbstore serve --http-port`, or give its URL",
            ) from error

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()


def segment(name: str) -> str:
    """A name as one part of a path; dots are written in numbers, as ``..`` would lead to another address.

    >>> segment("a b/é"), segment("..")
    ('a%20b%2F%C3%A9', '%2E%2E')
    """
    return quote(name, safe="").replace(".", "%2E")


def _reason_of(error: urllib3.exceptions.HTTPError) -> str:
    """What went wrong, as the system says it, without the names of what asked it."""
    reason = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason else error
    cause = reason.__cause__
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return str(reason).rpartition(": ")[2]


def _was_not_taken(error: urllib3.exceptions.HTTPError) -> bool:
    """Whether a request surely never came to a server."""
    reason = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) else error
    return isinstance(reason, urllib3.exceptions.NewConnectionError | urllib3.exceptions.ConnectTimeoutError)


def _error_of(reply: BaseHTTPResponse) -> HbstoreError:
    """The error that a reply tells."""
    try:
        problem = json.loads(reply.data)
        return error_of(problem["error"], problem["title"], problem["fields"], problem["hint"], problem["highlight"])
    except (ValueError, KeyError, TypeError):
        return ServerUnavailable(
            "the reply is none of hbstore's", status=reply.status, hint="Give the URL of `hbstore serve --http-port`"
        )
