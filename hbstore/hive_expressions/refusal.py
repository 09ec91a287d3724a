"""The error of bytes and of parts of an expression that hbstore does not read."""

from __future__ import annotations

from typing import Final

from hbstore.errors import ExpressionUnreadable

PREFIX: Final = "Hive's expression cannot be read: "
_HINT: Final = "Send the filter as UTF-8 text, such as ds < '2013-01-01', or drop partitions by their names"


def unreadable(text: str, **fields: object) -> ExpressionUnreadable:
    """An error with the hint that all of them have."""
    error = ExpressionUnreadable(PREFIX + text, hint=_HINT)
    error.fields = fields
    return error
