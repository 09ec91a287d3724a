"""The values that documents of the model are made of: names, types, periods, times, properties.

Each is a type for pydantic: what may stand there, what it becomes, and how a file has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, StringConstraints

from hbstore.errors import HbstoreError, UnknownUpdatePeriod
from hbstore.keys.partition_names import identifier
from hbstore.model.frozen import FrozenDict
from hbstore.timelines import UpdatePeriod, parse_time

T = TypeVar("T")


def refusing(check: Callable[[Any], T]) -> Callable[[Any], T]:
    """A validator of a function that raises hbstore's errors."""

    def validate(value: Any) -> T:
        try:
            return check(value)
        except HbstoreError as error:
            raise ValueError(HbstoreError.__str__(error)) from None  # without a caret below

    return validate


def _field_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_]{1,128}", text):
        raise ValueError("a name of letters, digits and underscores, at most 128 of them")
    return text.lower()


def _type(text: str) -> str:
    """Hive's text of a type, in lower case. Structs keep theirs: their fields have names."""
    text = text.strip()
    if not text:
        raise ValueError("a type, such as bigint")
    return text if "<" in text else re.sub(r"\s*([(),])\s*", r"\1", " ".join(text.lower().split()))


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _period(value: object) -> object:
    try:
        return value if isinstance(value, UpdatePeriod) else UpdatePeriod.named(value)  # type: ignore[arg-type]
    except UnknownUpdatePeriod:
        raise ValueError(f"one of {', '.join(UpdatePeriod.__members__)}") from None


def _time(value: object) -> object:
    """A time with a time zone; what has none is in UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value) if "T" in value else parse_time(value, datetime.now(UTC))
        except ValueError:
            raise ValueError("a time such as 2015-03-01 or 2015-03-01T06:30:00") from None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    return value


def _validity(text: str) -> str:
    """A time, absolute or relative to now, as it was written."""
    parse_time(text, datetime(2015, 1, 1, tzinfo=UTC))
    return text


def _bounds(text: str) -> str:
    for one in bounds_of(text):
        _validity(one)
    return text


def bounds_of(text: str) -> list[str]:
    """The times of a text that has one, or two with ``and`` between them.

    >>> bounds_of("2015-01-01 and now.day - 90 days")
    ['2015-01-01', 'now.day - 90 days']
    """
    return re.split(r"\s+and\s+", text, maxsplit=1, flags=re.IGNORECASE)


def no_twins(items: Iterable[str], what: str) -> None:
    """See that no name stands twice; ValueError with the first that does."""
    seen: set[str] = set()
    for name in items:
        if name in seen:
            raise ValueError(f"{what} named {name} only once")
        seen.add(name)


Name = Annotated[str, AfterValidator(refusing(lambda text: identifier("model", text)))]
"""What a storage, a cube, a fact … is called: letters, digits and underscores; becomes lower case."""

FieldName = Annotated[str, AfterValidator(_field_name)]
"""What a field or a column is called; becomes lower case."""

HiveType = Annotated[str, AfterValidator(_type)]
"""A type as Hive writes it."""

Text = Annotated[str, StringConstraints(min_length=1)]

Period = Annotated[UpdatePeriod, BeforeValidator(_period), PlainSerializer(lambda one: one.name)]
"""An update period; files have its name."""

Time = Annotated[
    datetime,
    BeforeValidator(refusing(_time)),
    PlainSerializer(lambda one: one.isoformat().removesuffix("+00:00"), when_used="json"),
]
"""A time written out, in UTC."""

ValidityTime = Annotated[str, AfterValidator(refusing(_validity))]
"""A time written out, or relative to now: ``now.day-3days``."""

BoundingTimes = Annotated[str, AfterValidator(refusing(_bounds))]
"""Such a time; or two with ``and`` between them, which both bound: ``2015-01-01 and now.day-90days``."""

Properties = Annotated[Mapping[str, str], AfterValidator(FrozenDict)]
"""Names and values, all of them texts."""

Items = BeforeValidator(_as_tuple)
"""Takes lists where tuples are kept."""
