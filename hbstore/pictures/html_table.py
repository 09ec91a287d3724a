"""Tables in HTML for notebooks: escaped texts, in the page's own look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from hbstore.texts.wording import clipped

_TEXT = 500
"""Characters of a text at most."""


def html_table(title: str, rows: Iterable[Sequence[object]]) -> str:
    """A table below its title, if it has one. O(texts).

    >>> html_table("a < b", [("ds", 5)])
    '<div>a &lt; b</div><table><tr><td>ds</td><td>5</td></tr></table>'
    """
    lines = ("".join(f"<td>{_html(text)}</td>" for text in row) for row in rows)
    heading = f"<div>{_html(title)}</div>" if title else ""
    return f"{heading}<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _html(text: object) -> str:
    return escape(clipped(str(text), _TEXT))
