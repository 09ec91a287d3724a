"""Drawings in SVG for notebooks and pages: text in the page's own colour, nothing loaded from elsewhere, no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour of data.

    Attributes:
        name: its CSS class; a page's style sheet may say what it looks like.
        value: what it looks like where no style sheet says so.
    """

    name: str
    value: str

    @property
    def fill(self) -> str:
        """The attributes of a filled shape."""
        return f'class="{self.name}" fill="{self.value}"'


FULL: Final = Colour("full", "#4c78a8")
"""What is there, or is read."""
PARTLY: Final = Colour("partly", "#9ecae9")
"""What is there in part, or is read and checked."""
MISSING: Final = Colour("missing", "#d6604d")
"""What is missing."""
FAINT: Final = Colour("faint", "#8888")
"""Lines and empty places, on a light page as on a dark one."""
LINE_HEIGHT: Final = 18
CHARACTER: Final = 7.3
"""Width of a character of the text, in pixels."""


class Drawing:
    """An SVG picture that is drawn from the top left, in pixels.

    Args:
        width: its width.
        title: what it shows, for those who do not see it.
        styled: whether it says its font and that it shrinks with the page, as notebooks need it; a page with a style
            sheet of its own, and a policy that allows no other style, says so itself.

    >>> drawing = Drawing(100, "one box")
    >>> drawing.box(0, 0, 10, 10, FULL, "day 1")
    >>> str(drawing).count("<rect")
    1
    """

    __slots__ = ("_height", "_parts", "_role", "_styled", "_title", "_width")

    def __init__(self, width: float, title: str, *, styled: bool = True) -> None:
        self._width = width
        self._height = 0.0
        self._title = title
        self._styled = styled
        self._role = "img"
        self._parts: list[str] = []

    def box(
        self, x: float, y: float, width: float, height: float, fill: Colour, hint: str = "", opacity: float = 1
    ) -> None:
        """A filled box; the hint is shown where the mouse rests on it."""
        self._reach(y + height)
        size = f'width="{_number(width)}" height="{_number(height)}"'
        shape = f'<rect x="{_number(x)}" y="{_number(y)}" {size} {fill.fill}'
        if opacity != 1:
            shape += f' fill-opacity="{opacity:.2g}"'
        self._parts.append(f"{shape}><title>{escape(hint)}</title></rect>" if hint else f"{shape}/>")

    def boxes(self, boxes: Iterable[tuple[float, float, float, float]], fill: Colour, opacity: float = 1) -> None:
        """Many boxes of one colour (left, top, width, height), in a tenth of the bytes of as many `box`."""
        shapes = []
        left = above = 0  # in hundredths of a pixel, as each box is placed from the one before, which takes less text
        for x, y, width, height in boxes:
            self._reach(y + height)
            begin, top, right = round(x * 100), round(y * 100), _hundredths(round(width * 100))
            down = _hundredths(round(height * 100))
            shapes.append(f"m{_hundredths(begin - left)} {_hundredths(top - above)}h{right}v{down}h-{right}z")
            left, above = begin, top
        if shapes:
            see_through = f' fill-opacity="{opacity:.2g}"' if opacity != 1 else ""
            self._parts.append(f'<path d="{"".join(shapes)}" {fill.fill}{see_through}/>')

    def line(self, points: Iterable[tuple[float, float]], stroke: Colour, width: float = 1) -> None:
        """A line through points."""
        drawn = []
        for x, y in points:
            self._reach(y)
            drawn.append(f"{_number(x)},{_number(y)}")
        colour = f'class="{stroke.name} line" stroke="{stroke.value}" stroke-width="{_number(width)}"'
        self._parts.append(f'<polyline points="{" ".join(drawn)}" fill="none" {colour}/>')

    def text(self, x: float, y: float, text: str, anchor: Literal["start", "middle", "end"] = "start") -> None:
        """A line of text whose top is at y."""
        self._reach(y + LINE_HEIGHT)
        place = f'x="{_number(x)}" y="{_number(y + 13)}" text-anchor="{anchor}"'
        self._parts.append(f"<text {place}>{escape(text)}</text>")

    @contextmanager
    def link(self, address: str, name: str, *, tab: bool = True) -> Iterator[None]:
        """What is drawn meanwhile is a link to an address.

        Args:
            address: where it leads.
            name: says so to those who do not see it.
            tab: whether the keyboard reaches it; not where it is one of hundreds, and there is another way.
        """
        self._role = "group"  # what is inside of an image cannot be reached
        skipped = "" if tab else ' tabindex="-1"'
        self._parts.append(f'<a href="{escape(address)}" aria-label="{escape(name)}"{skipped}>')
        yield
        self._parts.append("</a>")

    def __str__(self) -> str:
        style = ' style="max-width:100%;font:12px ui-monospace,monospace;fill:currentColor"' if self._styled else ""
        width, height = _number(self._width), _number(self._height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="{self._role}" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}"{style}>'
            f"<title>{escape(self._title)}</title>{''.join(self._parts)}</svg>"
        )

    def _reach(self, bottom: float) -> None:
        self._height = max(self._height, bottom)


@lru_cache(4_096)
def _hundredths(number: int) -> str:
    """Hundredths of a pixel, in pixels; few of them differ in a drawing."""
    return _number(number / 100)


def _number(value: float) -> str:
    """A number of pixels, to a hundredth.

    >>> _number(1234.567), _number(20.0)
    ('1234.57', '20')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")
