"""Where a page of partitions ends, as an opaque text: the values of its last partition.

A token names a place in key order, not a row: it goes on behind partitions that were dropped meanwhile, and holds at
each server of the store for as long as the table lives.
"""

from __future__ import annotations

import binascii
import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Final

from hbstore.errors import InvalidInput

_DIGEST: Final = 9
"""Bytes before the values."""


def page_token(values: Sequence[str], listing: Sequence[str]) -> str:
    """The token behind a partition.

    Args:
        values: the partition's.
        listing: what tells this listing from others, such as its table's id and its filter.

    >>> page_values(page_token(["2013-01-01", "5"], ["shop.sales"]), ["shop.sales"])
    ('2013-01-01', '5')
    """
    data = json.dumps(list(values), ensure_ascii=False, separators=(",", ":")).encode()
    return urlsafe_b64encode(_digest(data, listing) + data).decode().rstrip("=")


def page_values(token: str, listing: Sequence[str]) -> tuple[str, ...]:
    """The values that a token names.

    Raises:
        InvalidInput: the text is no token of this listing.
    """
    try:
        data = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (binascii.Error, ValueError):
        data = b""
    if data[:_DIGEST] != _digest(data[_DIGEST:], listing):
        raise InvalidInput(
            "the text is no page token of this listing",
            token=repr(token[:100]),
            hint="Give the token that came with the page before, with the same filter; or none for the first page",
        )
    return tuple(json.loads(data[_DIGEST:]))


def _digest(data: bytes, listing: Sequence[str]) -> bytes:
    """What tells a token from other texts, and from those of other listings. It keeps nothing secret."""
    about = hashlib.blake2b("\0".join(listing).encode(errors="replace")).digest()
    return hashlib.blake2b(data, digest_size=_DIGEST, key=about, person=b"partitions").digest()
