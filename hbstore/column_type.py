"""What every type of a partition column does, and what its values are in Python."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Protocol, TypeAlias

Value: TypeAlias = "int | float | str | bool | Decimal | dt.date | tuple[int, int]"
"""A typed partition value; a timestamp is (seconds since 1970-01-01 00:00:00, nanoseconds)."""


class ColumnType(Protocol):
    """The type of a partition column."""

    @property
    def name(self) -> str:
        """The type as Hive writes it, such as ``decimal(10,2)``."""

    @property
    def width(self) -> int | None:
        """Bytes in every payload; None where payloads end with a 00 instead."""

    def parse(self, text: str) -> Value:
        """The value that a text stands for; ValueError where it stands for none."""

    def encode(self, value: Value) -> bytes:
        """The payload of a value: byte order is value order, also with more bytes below FF behind it."""

    def decode(self, payload: bytes) -> Value:
        """The value of a payload."""

    def text(self, value: Value) -> str:
        """The canonical text of a value: ``05`` as an int is ``5``."""
