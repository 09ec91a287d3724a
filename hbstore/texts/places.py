"""Places in a text: line and column, and the line with a caret."""

from __future__ import annotations

import re
from typing import Any, Final

_WINDOW: Final = 100
_LEAD: Final = 60


def place(text: str, offset: int) -> tuple[int, int]:
    r"""Line and column, both from 1.

    >>> place("a = 1\nand b", 6)
    (2, 1)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def highlight(text: str, offset: int) -> str:
    """The line of a place with a caret below the place; of a long line, what stands round it.

    >>> print(highlight("hour = 1 || hour = 2", 9))
    hour = 1 || hour = 2
             ^
    """
    begin = text.rfind("\n", 0, offset) + 1
    line, at = one_line(text[begin:].partition("\n")[0]), offset - begin
    if len(line) > _WINDOW:
        left = max(0, min(at - _LEAD, len(line) - _WINDOW))
        right = left + _WINDOW
        line = ("…" if left else "") + line[left:right] + ("…" if right < len(line) else "")
        at += (1 if left else 0) - left
    return f"{line.rstrip()}\n{' ' * at}^"


def shown_at(text: str, offset: int) -> dict[str, Any]:
    """What an error says of a place: its line, its column, and the line with a caret.

    >>> shown_at("hour = 1", 5)["column"]
    6
    """
    line, column = place(text, offset)
    return {"line": line, "column": column, "highlight": highlight(text, offset)}


def one_line(text: str) -> str:
    """Tabs, line ends and other characters without a width of one as spaces."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text)
