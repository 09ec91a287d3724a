"""A condition that is computed from a column's values, as those that Hive's expressions become."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any
from zlib import crc32

ANSWERS = (True, False, None)


@dataclass(frozen=True, slots=True)
class Computed:
    """True for some values, false or unknown for others, as their numbers have it.

    Attributes:
        kind: the column's type.
        shift: which values it holds for.
        of_null: what it is for NULL, and for text that is no value.
    """

    kind: Any
    shift: int
    of_null: bool | None

    def matches(self, text):
        """What it is for a value's canonical text."""
        try:
            return self.of_null if text is None else self.of(self.kind.parse(text))
        except ValueError:  # a text that is too long, or a place between values
            value = self.kind.read(text)
        return self.of_null if value is None else self.of(value)

    def of(self, value):
        """What it is for a value."""
        return ANSWERS[(_number(value) + self.shift) % len(ANSWERS)]

    def __str__(self):
        return f"computed({self.kind.name}, {self.shift}, {self.of_null})"


def _number(value):
    """A number that equal values share, in every process."""
    if isinstance(value, str):
        return crc32(value.rstrip(" ").encode("utf-8", "surrogatepass"))
    if isinstance(value, dt.date):
        return value.toordinal()
    return 0 if value != value else hash(value)  # noqa: PLR0124  NaN, whose hash is another each time
