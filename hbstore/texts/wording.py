"""Short texts for people: numbers with their nouns, and texts cut to a length."""

from __future__ import annotations


def plural(number: int, noun: str) -> str:
    """A number and its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def clipped(text: str, characters: int) -> str:
    """A text of at most so many characters; what is cut off ends in an ellipsis.

    >>> clipped("2013-01-01", 10), clipped("2013-01-01", 5)
    ('2013-01-01', '2013…')
    """
    return text if len(text) <= characters else f"{text[: max(characters - 1, 0)]}…"
