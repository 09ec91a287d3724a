"""A query that a server runs: followed, fetched, cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, Self

from urllib3.response import BaseHTTPResponse

from hbstore.client.transport import Transport
from hbstore.errors import HbstoreError, QueryCancelled, error_of
from hbstore.extras import check_extra

if TYPE_CHECKING:  # imported where rows are fetched
    import pyarrow as pa

_POLL_SECONDS: Final = 20.0
_FINAL: Final = frozenset({"succeeded", "failed", "cancelled", "expired"})


class RemoteQuery:
    """A query that a server runs.

    Attributes:
        id: of the query, for `Connection.get`.
    """

    def __init__(self, transport: Transport, document: Mapping[str, Any]) -> None:
        self._transport = transport
        self._document = document
        self.id: str = document["id"]

    def __repr__(self) -> str:
        return f"<RemoteQuery {self.id[:8]}: {self.state}>"

    @property
    def state(self) -> str:
        """How far it was when the server was last asked: queued, running, succeeded, failed, cancelled or expired."""
        state: str = self._document["state"]
        return state

    @property
    def is_final(self) -> bool:
        """Whether it has ended."""
        return self.state in _FINAL

    @property
    def error(self) -> HbstoreError | None:
        """Why it failed; None where it did not."""
        problem = self._document["problem"]
        if problem is None:
            return None
        return error_of(problem["error"], problem["text"], problem["fields"], problem["hint"], problem["highlight"])

    @property
    def missing(self) -> list[tuple[str, str]]:
        """The ranges of time of which a cube query has no rows; none, unless it was asked with partial."""
        plan = self._document["plan"] or {}
        return [(start, end) for start, end in plan.get("missing", ())]

    @property
    def warnings(self) -> list[str]:
        """What the user should know about the answer."""
        return list(self._document["warnings"])

    def to_dict(self) -> dict[str, Any]:
        """All that the server said of it, as JSON has it."""
        return dict(self._document)

    def refresh(self, wait: float = 0) -> Self:
        """Ask the server how far it is.

        Args:
            wait: seconds, up to 60, that the server may wait for its end.
        """
        self._document = self._transport.document("GET", f"/queries/{self.id}", query={"wait": wait or None})
        return self

    def wait(self) -> Self:
        """Wait until it has ended.

        Raises:
            HbstoreError: it failed; the error is the query's own.
            QueryCancelled: it was cancelled.
        """
        while not self.is_final:
            self.refresh(_POLL_SECONDS)
        if self.error is not None:
            raise self.error
        if self.state == "cancelled":
            raise QueryCancelled("the query was cancelled", query=self.id, hint="Ask again")
        return self

    def cancel(self) -> Self:
        """Cancel it; if it has ended, nothing happens."""
        self._document = self._transport.document("DELETE", f"/queries/{self.id}")
        return self

    def to_arrow(self) -> pa.Table:
        """The result as a table of Arrow, after `wait`. O(rows) memory.

        Raises:
            QueryNotFinished: it has not ended, or ended without a result.
            ResultExpired: the server has removed it.
        """
        check_extra("client", "the rows of a query")
        import pyarrow as pa

        with self.fetch("arrow") as reply, pa.ipc.open_stream(reply) as reader:
            return reader.read_all()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in batches as they come, after `wait`.

        Raises:
            QueryNotFinished, ResultExpired: as of `to_arrow`.
        """
        check_extra("client", "the rows of a query")
        import pyarrow as pa

        with self.fetch("arrow") as reply, pa.ipc.open_stream(reply) as reader:
            yield from reader

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows, after `wait`. O(rows) memory; `batches` needs less.

        Raises:
            QueryNotFinished, ResultExpired: as of `to_arrow`.
        """
        table = self.to_arrow()
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def fetch(self, form: str) -> AbstractContextManager[BaseHTTPResponse]:
        """The result as a stream of bytes, to be read inside.

        Args:
            form: json, ndjson, csv or arrow.

        Raises:
            QueryNotFinished, ResultExpired: as of `to_arrow`.
        """
        return self._transport.reply("GET", f"/queries/{self.id}/results", query={"format": form})
