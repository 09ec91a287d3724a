"""Arguments of public calls that are of another type than they must be: one error, which says which and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from hbstore.errors import InvalidInput

T = TypeVar("T")


def expect(argument: str, value: T, *kinds: type, hint: str) -> T:
    """The value of an argument itself.

    Raises:
        InvalidInput: it is of none of these types.
    """
    if not isinstance(value, kinds):
        raise InvalidInput("the argument has the wrong type", argument=argument, type=type(value).__name__, hint=hint)
    return value


def expect_choice(argument: str, value: str, *choices: str) -> None:
    """See that an argument is one of a few words.

    Raises:
        InvalidInput: it is none of them.
    """
    if value not in choices:
        hint = f"Give one of {', '.join(map(repr, choices))}"
        raise InvalidInput("the argument has an invalid value", argument=argument, value=repr(value), hint=hint)


def expect_many(argument: str, values: Iterable[T], *kinds: type, hint: str) -> list[T]:
    """The items of an argument that takes several; of any type where no types are named.

    Raises:
        InvalidInput: it is no collection, or one of the items is of none of these types.
    """
    expect(argument, values, Iterable, hint=hint)
    if isinstance(values, str | bytes):
        raise InvalidInput("the argument has the wrong type", argument=argument, type=type(values).__name__, hint=hint)
    items = list(values)
    if kinds:
        for at, item in enumerate(items):
            if not isinstance(item, kinds):
                expect(f"{argument}[{at}]", item, *kinds, hint=hint)
    return items
