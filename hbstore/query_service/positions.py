"""Positions in a result, and the opaque texts by which users ask for the page behind one.

Files of a result never change, so that a position names the same row for as long as the result is there, at each server
of the store.
"""

from __future__ import annotations

import binascii
import hashlib
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Final

from hbstore.errors import InvalidInput

_NUMBERS: Final = struct.Struct(">IQ")
_DIGEST: Final = 9
"""Bytes; together they are 21, so that base64 needs no padding and has one text for each."""


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
        """The position as an opaque text of a result: 28 letters that may stand in a URL.

        >>> Position(1, 20).token("0" * 32)
        'AAAAAQAAAAAAAAAUSVzg5gD3J9B_'
        """
        numbers = _NUMBERS.pack(self.file, self.row)
        return urlsafe_b64encode(numbers + _digest(id_, numbers)).decode()

    @staticmethod
    def of_token(token: str, id_: str) -> Position:
        """The position that a token of a result names.

        Raises:
            InvalidInput: the text is no token of this result.

        >>> Position.of_token(Position(1, 20).token("0" * 32), "0" * 32)
        Position(file=1, row=20)
        """
        try:
            data = urlsafe_b64decode(token)
        except (binascii.Error, ValueError):
            data = b""
        numbers = data[: _NUMBERS.size]
        # Decoding passes over strange letters, so the text must be the one that is made of these bytes.
        if data[_NUMBERS.size :] != _digest(id_, numbers) or urlsafe_b64encode(data).decode() != token:
            raise InvalidInput(
                "the text is no page token of this result",
                token=repr(token[:100]),
                query=id_,
                hint="Give the token that came with the page before, or none for the first page",
            )
        return Position(*_NUMBERS.unpack(numbers))


FIRST: Final = Position()


def _digest(id_: str, numbers: bytes) -> bytes:
    """What tells a token from other texts, and from those of other results. It keeps nothing secret."""
    return hashlib.blake2b(numbers, digest_size=_DIGEST, key=id_.encode(errors="replace")[:64], person=b"page").digest()
