"""Structs that pass through as bytes: nobody here looks into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hbstore.wire import skip

_STRUCT: Final = 12


@dataclass(frozen=True, slots=True)
class Raw:
    """The kind of a struct that is read and written as its bytes."""

    code: int = _STRUCT

    def read(self, data: bytes, at: int) -> tuple[bytes, int]:
        """Its bytes."""
        end = skip(data, at, _STRUCT)
        if end > len(data):
            raise ValueError("a struct is cut off")
        return data[at:end], end

    def write(self, value: bytes) -> bytes:
        """The bytes as they are."""
        return value


RAW: Final = Raw()
