"""Documents as they would be if some of them were put: what a change is checked against before it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hbstore.cubes.document import Named
from hbstore.cubes.references import Known


@dataclass(frozen=True, slots=True)
class Overlay:
    """Documents with others in the place of some, or beside them.

    Attributes:
        documents: those that are there.
        put: those that are to be, by kind and name.
    """

    documents: Known
    put: Mapping[tuple[str, str], Named]

    @staticmethod
    def of(documents: Known, *put: Named) -> Overlay:
        """Documents with these put."""
        return Overlay(documents, {(one.kind, one.name): one for one in put})

    def find(self, kind: str, name: str) -> Named | None:
        """The document of a kind and name; None if there is none."""
        return self.put.get((kind, name)) or self.documents.find(kind, name)

    def list(self, kind: str) -> Sequence[Named]:
        """All documents of a kind; new ones come last."""
        found = {(one.kind, one.name): one for one in self.documents.list(kind)}
        return list((found | {key: one for key, one in self.put.items() if one.kind == kind}).values())
