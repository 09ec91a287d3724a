"""Requests to a server, whose problem details become errors of hbstore again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import urllib3
from urllib3.response import BaseHTTPResponse

from hbstore.errors import HbstoreError, InvalidUrl, ServerUnavailable, error_of

_CONNECT_SECONDS: Final = 10.0
_READ_SECONDS: Final = 120.0
_RETRIES: Final = urllib3.Retry(
    total=3, backoff_factor=0.2, status_forcelist=(429, 503), allowed_methods=None, raise_on_status=False
)
"""Of requests that the server did not take, and of those that change nothing: submits carry a key."""

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

    def document(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The JSON document of a reply.

        Raises:
            HbstoreError: what the server says.
            ServerUnavailable: it does not answer.
        """
        with self.reply(method, path, query=query, body=body, headers=headers) as reply:
            found: dict[str, Any] = json.loads(reply.data)
            return found

    @contextmanager
    def reply(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[BaseHTTPResponse]:
        """A reply, whose body is read as it comes.

        Raises:
            HbstoreError: what the server says.
            ServerUnavailable: it does not answer, or breaks off.
        """
        said = {name: value for name, value in (query or {}).items() if value is not None}
        url = f"{self.url}{path}{'?' if said else ''}{urlencode(said, doseq=True)}"
        sent = {**self._headers, **(headers or {})}
        data = None if body is None else json.dumps(body)
        if data is not None:
            sent["Content-Type"] = "application/json"
        try:
            reply = self._pool.request(method, url, body=data, headers=sent, preload_content=False)
            try:
                if reply.status >= _BAD:
                    raise _error_of(reply)
                yield reply
            finally:
                reply.release_conn()
        except urllib3.exceptions.HTTPError as error:
            raise ServerUnavailable(
                "the server does not answer",
                url=self.url,
                reason=str(error),
                hint="Start it with `hbstore serve --http-port`, or give its URL",
            ) from error

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()


def _error_of(reply: BaseHTTPResponse) -> HbstoreError:
    """The error that a reply tells."""
    try:
        problem = json.loads(reply.data)
        return error_of(problem["error"], problem["title"], problem["fields"], problem["hint"], problem["highlight"])
    except (ValueError, KeyError, TypeError):
        return ServerUnavailable(
            "the reply is none of hbstore's", status=reply.status, hint="Give the URL of `hbstore serve --http-port`"
        )
