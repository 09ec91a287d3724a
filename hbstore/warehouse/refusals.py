"""What the rules of a Hive Metastore refuse, told in its own words.

Hive's clients compare texts, so the endpoint answers them with those words alone. All others get an error of hbstore
whose reason they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from hbstore.errors import (
    AlreadyExists,
    DatabaseNotEmpty,
    DdlRefused,
    HbstoreError,
    InvalidInput,
    InvalidType,
    PartitionNotFound,
)

E = TypeVar("E", bound=HbstoreError)

_TEXTS: Final[Mapping[type[HbstoreError], tuple[str, str]]] = {
    AlreadyExists: ("it already exists", "Use another name, or alter what is there"),
    DatabaseNotEmpty: ("the database is not empty", "Drop what is in it first, or say cascade"),
    DdlRefused: ("the metastore's rules do not allow it", "Change what the reason names"),
    InvalidInput: ("the metastore's rules do not allow it", "Change what the reason names"),
    InvalidType: ("the metastore's rules do not allow the type", "Change what the reason names"),
    PartitionNotFound: ("the partition does not exist", "List the table's partitions"),
}
"""Text and hint of each kind."""


class HiveWords(str):
    """A reason in the words of a Hive Metastore."""

    __slots__ = ()


def refusal(kind: type[E], reason: str) -> E:
    """An error of a kind, with a reason in the words of a Hive Metastore.

    >>> print(refusal(AlreadyExists, "Database shop already exists"))
    it already exists: reason=Database shop already exists. Use another name, or alter what is there
    """
    text, hint = _TEXTS[kind]
    return kind(text, reason=HiveWords(reason), hint=hint)


def words_for_hive(error: HbstoreError) -> str:
    """What a client of Hive is told of an error: the reason alone, where that is in Hive's words.

    >>> words_for_hive(refusal(AlreadyExists, "Database shop already exists"))
    'Database shop already exists'
    """
    reason = error.fields.get("reason")
    return reason if isinstance(reason, HiveWords) else str(error)
