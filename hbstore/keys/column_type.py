"""What every type of a partition column does, and what its values are in Python."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Protocol, TypeAlias

Value: TypeAlias = int | float | str | bool | Decimal | dt.date | tuple[int, int]
"""A typed partition value; a timestamp is (seconds since 1970-01-01 00:00:00, nanoseconds)."""


class ColumnType(Protocol):
    """The type of a partition column, as `hbstore.Table.key_types` has them.

    >>> day, hour = sales.definition.key_types
    >>> hour.parse("05")
    5
    """

    @property
    def name(self) -> str:
        """The type as Hive writes it, such as ``decimal(10,2)``.

        >>> sales.definition.key_types[0].name
        'date'
        """

    @property
    def width(self) -> int | None:
        """Bytes in every payload; None where payloads end with a 00 instead.

        >>> sales.definition.key_types[0].width
        4
        """

    def parse(self, text: str) -> Value:
        """The value that a text stands for.

        Raises:
            ValueError: it stands for none.

        >>> sales.definition.key_types[0].parse("2013-1-5")
        datetime.date(2013, 1, 5)
        """

    def read(self, text: str) -> Value | None:
        """The value that Spark reads from a text that `parse` refuses; None where it reads none, or not always this.

        >>> sales.definition.key_types[0].read("2013-01-05 00:00:00")
        datetime.date(2013, 1, 5)
        """

    def encode(self, value: Value) -> bytes:
        """The payload of a value: byte order is value order, also with more bytes below FF behind it.

        >>> hour = sales.definition.key_types[1]
        >>> hour.encode(-1) < hour.encode(5) < hour.encode(10)
        True
        """

    def decode(self, payload: bytes) -> Value:
        """The value of a payload.

        >>> hour = sales.definition.key_types[1]
        >>> hour.decode(hour.encode(5))
        5
        """

    def text(self, value: Value) -> str:
        """The canonical text of a value: ``05`` as an int is ``5``.

        >>> hour = sales.definition.key_types[1]
        >>> hour.text(hour.parse("05"))
        '5'
        """


class ValueCondition(Protocol):
    """A condition on one column that is computed from the texts of its values, one after the other.

    It prints as people write it, with the column's name.
    """

    def matches(self, text: str | None) -> bool | None:
        """Whether it holds for a value; None where that is unknown.

        Args:
            text: the value's canonical text; None for the null partition and for text that is no value.
        """
