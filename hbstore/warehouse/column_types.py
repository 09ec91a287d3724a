"""Which types a column may change to, by the rule of a Hive Metastore that is asked to watch over it.

With Hive's ``hive.metastore.disallow.incompatible.col.type.changes`` columns are compared place by place, not by name:
files of text and of some other formats are read by places. A type may become itself, or a primitive one into which Hive
converts it without being told to. Table formats such as Iceberg keep the history of their columns themselves, and alter
tables in ways that this rule refuses: so it is off here by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hbstore.model import Column

_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")
"""Each may become one further to the right."""

_TEXTS: Final = frozenset({"string", "varchar", "char"})
_TO_TEXT: Final = frozenset({*_NUMBERS, *_TEXTS, "date", "timestamp"})
_ANY: Final = "void"
_COMPLEX: Final = frozenset({"array", "map", "struct", "uniontype"})
"""They become nothing but themselves."""


def incompatible_columns(before: Sequence[Column], after: Sequence[Column]) -> list[str]:
    """The names of columns, as they are given, whose types the columns in their places cannot become.

    >>> before = [Column("a", "int"), Column("b", "string"), Column("c", "date")]
    >>> incompatible_columns(before, [Column("a", "bigint"), Column("b", "int"), Column("d", "string")])
    ['b']
    """
    pairs = zip(before, after, strict=False)
    return [new.name for old, new in pairs if not may_become(old.type, new.type)]


def may_become(before: str, after: str) -> bool:
    """Whether a type may become another.

    >>> may_become("int", "decimal(10,2)"), may_become("bigint", "int"), may_become("date", "varchar(10)")
    (True, False, True)
    """
    if before.lower() == after.lower():
        return True
    old, new = (text.lower().partition("(")[0].partition("<")[0].strip() for text in (before, after))
    if old in _COMPLEX or new in _COMPLEX:
        return False
    if old in (new, _ANY):
        return True
    if new in _TEXTS:
        return old in _TO_TEXT
    if old in _TEXTS:
        return new == "double"
    return old in _NUMBERS and new in _NUMBERS and _NUMBERS.index(old) < _NUMBERS.index(new)
