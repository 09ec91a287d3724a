"""Page tokens: the place behind which a page begins, as an opaque text that may stand in a URL.

A token names a place, and not what stands there: it goes on behind what was dropped meanwhile, and holds at each
server of the store. Files of a result never change, so that a `Position` names the same row while the result is there.
"""

from __future__ import annotations

import binascii
import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hbstore.errors import InvalidInput

_DIGEST: Final = 9
"""Bytes before the place."""


def page_token(place: Sequence[str | int], listing: Sequence[str]) -> str:
    """The token of a place.

    Args:
        place: such as the values of the last partition of the page before.
        listing: what tells this listing from others, such as its table's id and its filter.

    >>> page_place(page_token(["2013-01-01", "5"], ["shop.sales"]), ["shop.sales"])
    ['2013-01-01', '5']
    """
    data = json.dumps(place, ensure_ascii=False, separators=(",", ":")).encode()
    return urlsafe_b64encode(_digest(data, listing) + data).decode().rstrip("=")


def page_place(token: str, listing: Sequence[str]) -> list[Any]:
    """The place that a token names.

    Raises:
        InvalidInput: the text is no token of this listing.
    """
    try:
        data = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (binascii.Error, ValueError):
        data = b""
    # Decoding passes over strange letters, so the text must be the one that is made of these bytes.
    is_made_so = urlsafe_b64encode(data).decode().rstrip("=") == token
    if not is_made_so or data[:_DIGEST] != _digest(data[_DIGEST:], listing):
        raise InvalidInput(
            "the text is no page token of this listing",
            token=repr(token[:100]),
            hint="Give the token that came with the page before, with the same filter; or none for the first page",
        )
    place: list[Any] = json.loads(data[_DIGEST:])
    return place


def _digest(data: bytes, listing: Sequence[str]) -> bytes:
    """What tells a token from other texts, and from those of other listings. It keeps nothing secret."""
    about = hashlib.blake2b("\0".join(listing).encode(errors="replace")).digest()
    return hashlib.blake2b(data, digest_size=_DIGEST, key=about, person=b"page").digest()


@dataclass(frozen=True, slots=True)
class Position:
    """A row of a result.

    Attributes:
        file: the number of the file, from 0 on, in order of the files' names.
        row: the number of the row in it, from 0 on.
    """

    file: int = 0
    row: int = 0

    def token(self, id_: str) -> str:
        """The token of the position in a result.

        >>> Position.of_token(Position(1, 20).token("0" * 32), "0" * 32)
        Position(file=1, row=20)
        """
        return page_token((self.file, self.row), (id_,))

    @staticmethod
    def of_token(token: str, id_: str) -> Position:
        """The position that a token of a result names.

        Raises:
            InvalidInput: the text is no token of this result.
        """
        return Position(*page_place(token, (id_,)))


FIRST: Final = Position()
