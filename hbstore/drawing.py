"""Drawings in SVG for notebooks and pages: text in the page's own colour, nothing loaded from elsewhere, no script."""

from __future__ import annotations

from html import escape
from typing import Final, Literal

FULL: Final = "#4c78a8"
"""What is there, or is read."""
PARTLY: Final = "#9ecae9"
"""What is there in part, or is read and checked."""
MISSING: Final = "#d6604d"
"""What is missing."""
FAINT: Final = "#8888"
"""Lines and empty places, on a light page as on a dark one."""
LINE_HEIGHT: Final = 18
CHARACTER: Final = 7.3
"""Width of a character of the text, in pixels."""


class Drawing:
    """An SVG picture that is drawn from the top left, in pixels.

    Args:
        width: its width.
        title: what it shows, for those who do not see it.

    >>> drawing = Drawing(100, "one box")
    >>> drawing.box(0, 0, 10, 10, FULL, "day 1")
    >>> str(drawing).count("<rect")
    1
    """

    __slots__ = ("_height", "_parts", "_title", "_width")

    def __init__(self, width: float, title: str) -> None:
        self._width = width
        self._height = 0.0
        self._title = title
        self._parts: list[str] = []

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, hint: str = "", opacity: float = 1
    ) -> None:
        """A filled box; the hint is shown where the mouse rests on it."""
        self._reach(y + height)
        shape = f'<rect x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:.4g}" fill="{fill}"'
        if opacity != 1:
            shape += f' fill-opacity="{opacity:.2g}"'
        self._parts.append(f"{shape}><title>{escape(hint)}</title></rect>" if hint else f"{shape}/>")

    def text(self, x: float, y: float, text: str, anchor: Literal["start", "middle", "end"] = "start") -> None:
        """A line of text whose top is at y."""
        self._reach(y + LINE_HEIGHT)
        self._parts.append(f'<text x="{x:.4g}" y="{y + 13:.4g}" text-anchor="{anchor}">{escape(text)}</text>')

    def __str__(self) -> str:
        size = f'width="{self._width:.4g}" height="{self._height:.4g}"'
        style = "max-width:100%;font:12px ui-monospace,monospace;fill:currentColor"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} '
            f'viewBox="0 0 {self._width:.4g} {self._height:.4g}" style="{style}">'
            f"<title>{escape(self._title)}</title>{''.join(self._parts)}</svg>"
        )

    def _reach(self, bottom: float) -> None:
        self._height = max(self._height, bottom)
