"""What callers give to the functions of this room: checked before anything is opened, read or written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from os import PathLike
from types import NoneType
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from hbstore.cubes.cover import Cover
from hbstore.errors import InvalidInput
from hbstore.filters.builder import Expression
from hbstore.store.partition_store import PartitionStore


class _Kind(NamedTuple):
    """What an argument may be.

    Attributes:
        types: the types of its values.
        expected: the same in words.
        texts: whether all that is in a collection or a mapping has to be text; else only the keys of a mapping.
        empty: whether the empty text is one.
    """

    types: tuple[Any, ...]
    expected: str
    texts: bool = False
    empty: bool = False


_TEXT: Final = _Kind((str,), "a text")
_TEXT_OR_NONE: Final = _Kind((str, NoneType), "a text, or None")
_NUMBER: Final = _Kind((int,), "a whole number")
_FLAG: Final = _Kind((bool,), "True or False")
_FRAME: Final = _Kind((DataFrame,), "a DataFrame")
_FILTER: Final = _Kind((str, Expression, NoneType), "a filter as text or as an expression, or None", empty=True)
_TEXTS: Final = _Kind((Mapping, NoneType), "a dict of texts, or None", texts=True)
_VALUES: Final = _Kind((Mapping, NoneType), "a dict by names, or None")

_KINDS: Final = {
    "spark": _Kind((SparkSession,), "a SparkSession"),
    "store": _Kind((str, PartitionStore), "an open store, or its URL as a text"),
    "columns": _Kind((list, tuple, set, frozenset, NoneType), 'a list of names, "all", or None', texts=True),
    "slices": _Kind((int, NoneType), "a whole number, or None"),
    "progress": _Kind((Callable, NoneType), "a function, or None"),
    **dict.fromkeys(("frame", "stream", "partitions"), _FRAME),
    **dict.fromkeys(("url", "uri", "database", "table", "text", "checkpoint", "query_id"), _TEXT),
    **dict.fromkeys(("sink_id", "warehouse", "writer", "extractor", "column"), _TEXT_OR_NONE),
    "cover": _Kind((Cover,), "a Cover, such as Cubes(store, database).cover(…)"),
    "root": _Kind((str, PathLike), "a path, or a file: location"),
    "delay": _Kind((timedelta,), "a timedelta"),
    "policies": _Kind((list, tuple), "a list"),
    "filter": _FILTER,
    **dict.fromkeys(("options", "parameters", "spec"), _TEXTS),
    **dict.fromkeys(("static", "trigger"), _VALUES),
    **dict.fromkeys(("batch", "batch_id"), _NUMBER),
    **dict.fromkeys(("dry_run", "force", "only_missing", "if_not_exists", "partial"), _FLAG),
}


def check_arguments(**arguments: object) -> None:
    """Refuse values that are not what an argument of their name takes.

    Args:
        **arguments: the values, by the names of the arguments.

    Raises:
        InvalidInput: one is of another type, or empty.

    >>> check_arguments(table="shop.sales", filter=None)
    >>> check_arguments(table=("shop", "sales"))
    Traceback (most recent call last):
    hbstore.errors.InvalidInput: the argument has the wrong type: argument=table, type=tuple. Give a text
    """
    for name, value in arguments.items():
        kind = _KINDS[name]
        hint = f"Give {kind.expected}"
        if not _is_of(kind, value):
            raise InvalidInput("the argument has the wrong type", argument=name, type=type(value).__name__, hint=hint)
        if value == "" and not kind.empty:
            raise InvalidInput("the argument is empty", argument=name, hint=hint)


def _is_of(kind: _Kind, value: Any) -> bool:
    if not isinstance(value, kind.types) or (isinstance(value, bool) and bool not in kind.types):
        return False
    if isinstance(value, Mapping):
        return all(isinstance(text, str) for text in (*value, *(value.values() if kind.texts else ())))
    return not kind.texts or value is None or all(isinstance(text, str) for text in value)
