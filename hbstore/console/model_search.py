"""The cubes of a database beside its tables, and what of its model a search finds, by measures and fields as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.console.rendering import address
from hbstore.cubes import Cube, DerivedCube, Dimension
from hbstore.cubes.document import Named
from hbstore.cubes.stored_model import Model
from hbstore.store.partition_store import PartitionStore

_LISTED: Final = ("cube", "derived_cube")
_SEARCHED: Final = (*_LISTED, "dimension", "fact", "dimtable")
_FIELDS: Final = 12
"""Of a document, in a list."""


@dataclass(frozen=True, slots=True)
class ModelLine:
    """A document of a model in a list.

    Attributes:
        name: its name.
        kind: what it is, such as ``derived cube``.
        leads_to: the address of its page.
        fields: its measures; of one that a search finds, the fields that have one of the words.
        others: how many more fields.
    """

    name: str
    kind: str
    leads_to: str
    fields: Sequence[str]
    others: int


def model_lines(store: PartitionStore, database: str, words: Sequence[str]) -> Iterator[ModelLine]:
    """The cubes of a database, or what a search finds of its model. A scan for each kind.

    Args:
        store: where the model is.
        database: in which database.
        words: of a search, in small letters: each must be in a name of the database, the document or its fields; none:
            all cubes are listed.
    """
    model = Model(store, database)
    for kind in _SEARCHED if words else _LISTED:
        for document in model.list(kind):
            fields = _fields(document)
            text = " ".join((database, document.name, *fields)).lower()
            if not all(word in text for word in words):
                continue
            with_word = [field for field in fields if any(word in field.lower() for word in words)]
            yield ModelLine(
                document.name,
                kind.replace("_", " "),
                address("databases", database, "model", f"{kind}s", document.name),
                (with_word or _measures(document))[:_FIELDS],
                max(len(with_word or _measures(document)) - _FIELDS, 0),
            )


def _measures(document: Named) -> list[str]:
    if isinstance(document, Cube):
        return [field.name for field in document.measures]
    return list(document.measures) if isinstance(document, DerivedCube) else []


def _fields(document: Named) -> list[str]:
    """The names by which queries ask for something of a document."""
    fields = _measures(document)
    if isinstance(document, Cube | Dimension):
        fields += [field.name for field in document.dim_attributes]
        fields += [field.name for field in document.expressions]
    elif isinstance(document, DerivedCube):
        fields += document.dim_attributes
    return fields
