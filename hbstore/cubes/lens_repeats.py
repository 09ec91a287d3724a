"""What Lens's XML declares more than once: it counts as it is declared first, if all mean the same.

Lens repeats an attribute in each hierarchy that it is a part of, and takes two declarations that differ in nothing but
what people read of them. Two meanings under one name stay two, so that the document is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from hbstore.cubes.xml_reader import ElementReader

_LOG: Final = logging.getLogger("hbstore.cubes")
_READ_BY_PEOPLE: Final = ("description", "display", "tags")


def each_once(reader: ElementReader, declared: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is declared, without equal repeats. Of those that are described differently, a warning says which counts."""
    first: dict[str, dict[str, Any]] = {}
    others: list[dict[str, Any]] = []
    for declaration in declared:
        known = first.setdefault(str(declaration.get("name")).lower(), declaration)
        if _meaning(known) != _meaning(declaration):
            others.append(declaration)
        elif known != declaration:
            text = "%s, line %d: %s is declared more than once, and described differently; the first declaration counts"
            _LOG.warning(text, reader.file, reader.element.line, declaration.get("name"))
    return [*first.values(), *others]


def _meaning(declared: Mapping[str, Any]) -> dict[str, Any]:
    """What a declaration says to queries; names and types have no case."""
    told = {name: value for name, value in declared.items() if name not in _READ_BY_PEOPLE}
    return told | {name: str(told[name]).lower() for name in ("name", "type") if name in told}
