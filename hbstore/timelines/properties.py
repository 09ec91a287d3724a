"""Lists of texts in a table's properties, which hold 4,000 characters each.

A list is joined by commas and cut into chunks: before an element is appended to a chunk, a new chunk begins if the
lengths of both come to 3,999 or more. A chunk that another one continues ends with a comma. The number of chunks stands
beside them.

    holes.size = 2    holes0 = 2015-01-03,2015-01-04,…,2015-12-29,    holes1 = 2015-12-30,2015-12-31

Before there were chunks, a list was one property of the bare name, `holes`; it counts where there is no `holes.size`.
Chunks past the size are left-overs of a longer list, as properties of a Hive table can be changed and not taken away.

>>> chunks("holes", ["2015-01-03", "2015-01-04"])
{'holes.size': '1', 'holes0': '2015-01-03,2015-01-04'}
>>> elements({"holes": "2015-01-03,2015-01-04"}, "holes")
['2015-01-03', '2015-01-04']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

MAX_CHUNK: Final = 3_999
_SIZE: Final = re.compile("0|[1-9][0-9]{0,8}")


class UnreadableProperty(ValueError):
    """A property that is missing or does not parse.

    Attributes:
        key: which property.
        reason: what is wrong with it.
    """

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


def chunks(key: str, texts: Iterable[str]) -> dict[str, str]:
    """The properties of a list. O(characters)."""
    values: list[str] = []
    chunk: list[str] = []
    length = 0
    for text in texts:
        if chunk and length + len(text) >= MAX_CHUNK:
            values.append(",".join([*chunk, ""]))
            chunk = []
            length = 0
        chunk.append(text)
        length += len(text) + 1
    if chunk:
        values.append(",".join(chunk))
    return {f"{key}.size": str(len(values)), **{f"{key}{number}": text for number, text in enumerate(values)}}


def elements(properties: Mapping[str, str], key: str) -> list[str]:
    """The list of some properties, without spaces round its commas. O(characters).

    Raises:
        UnreadableProperty: the size is no number, a chunk is missing, or an element is empty.
    """
    text = _whole(properties, key)
    if not text or text.isspace():
        return []
    found = [element.strip() for element in text.split(",")]
    if "" in found:
        raise UnreadableProperty(key, f"element {found.index('') + 1:,} is empty")
    return found


def _whole(properties: Mapping[str, str], key: str) -> str:
    size = properties.get(f"{key}.size")
    if size is None:
        if key not in properties and f"{key}0" in properties:
            raise UnreadableProperty(f"{key}.size", "it is missing")
        return properties.get(key, "")
    if not _SIZE.fullmatch(size):
        raise UnreadableProperty(f"{key}.size", f"{size!r} is not a number of chunks")
    texts = []
    for number in range(int(size)):
        chunk = properties.get(f"{key}{number}")
        if chunk is None:
            raise UnreadableProperty(f"{key}{number}", f"it is missing, and there should be {size} chunks")
        texts.append(chunk)
    return "".join(texts)
