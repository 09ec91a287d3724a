"""What a filter becomes, as a server explains it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hbstore.plans.execute import Measured
from hbstore.totals import Totals


@dataclass(frozen=True, slots=True, repr=False)
class RemoteExplain:
    """A filter, its scans and, when analyzed, what they cost.

    Attributes:
        table: ``database.table``.
        filter: the filter's text; None: all partitions.
        total: what running all scans cost; None unless analyzed.
        kept: what the partitions that it selects say together; None unless analyzed.
        totals: what all partitions of the table say together; None unless analyzed.
    """

    table: str
    filter: str | None
    total: Measured | None
    kept: Totals | None
    totals: Totals | None
    _document: Mapping[str, Any]

    @staticmethod
    def of(document: Mapping[str, Any]) -> RemoteExplain:
        """The explanation in a document of the server."""
        measured = ("rows_read", "rows_returned", "round_trips", "seconds")
        total = Measured(**{name: document[name] for name in measured}) if "seconds" in document else None
        kept, totals = (Totals(**document[name]) if document.get(name) else None for name in ("kept", "of"))
        return RemoteExplain(document["table"], document["filter"], total, kept, totals, document)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON values; keys are in hex. As `hbstore.Explain.to_dict`."""
        return {name: value for name, value in self._document.items() if name != "text"}

    def __str__(self) -> str:
        """The explanation for a terminal."""
        return str(self._document["text"])

    def __repr__(self) -> str:
        return f"<RemoteExplain {self.table}: {self.filter or 'no filter'}>"
