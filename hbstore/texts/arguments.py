"""Arguments of public calls that are of another type than they must be: one error, which says which and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from hbstore.errors import InvalidInput

T = TypeVar("T")


def expect(argument: str, value: T, *kinds: type, hint: str) -> T:
    """The value of an argument itself.

    Raises:
        InvalidInput: it is of none of these types.
    """
    if not isinstance(value, kinds) or (isinstance(value, bool) and not {bool, object}.intersection(kinds)):
        raise InvalidInput("the argument has the wrong type", argument=argument, type=type(value).__name__, hint=hint)
    return value


def expect_flags(**flags: object) -> None:
    """See that arguments are True or False. Any other value has a truth too, ``"no"`` the one that nobody means.

    Raises:
        InvalidInput: one is neither.

    >>> expect_flags(cascade="no")
    Traceback (most recent call last):
    hbstore.errors.InvalidInput: the argument has the wrong type: argument=cascade, type=str. Give True or False
    """
    for argument, value in flags.items():
        if value is not True and value is not False:
            expect(argument, value, bool, hint="Give True or False")


def expect_numbers(**numbers: object) -> None:
    """See that arguments are whole numbers.

    Raises:
        InvalidInput: one is none.
    """
    for argument, value in numbers.items():
        expect(argument, value, int, hint="Give a whole number")


def expect_texts(*, or_none: bool = False, **texts: object) -> None:
    """See that arguments are texts.

    Args:
        or_none: whether None does, too.
        **texts: the values, by the names of the arguments.

    Raises:
        InvalidInput: one is none, or cannot be written as UTF-8.
    """
    hint = "Give a text, or None" if or_none else "Give a text"
    for argument, value in texts.items():
        if value is None and or_none:
            continue
        text = str(expect(argument, value, str, hint=hint))
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidInput(
                "the argument cannot be written as UTF-8",
                argument=argument,
                value=ascii(text),
                hint="Remove the lone surrogate",
            ) from None


def expect_dict(argument: str, values: Mapping[str, object], *kinds: type, hint: str) -> None:
    """See that an argument is a dict by texts, of values of some types.

    Raises:
        InvalidInput: it is no dict, a key in it is no text, or a value is of none of these types.
    """
    for name, value in expect(argument, values, Mapping, hint=hint).items():
        expect(f"key of {argument}", name, str, hint=hint)
        expect(f"{argument}[{name!r}]", value, *kinds, hint=hint)


def expect_choice(argument: str, value: str, *choices: str) -> None:
    """See that an argument is one of a few words.

    Raises:
        InvalidInput: it is none of them.
    """
    if not isinstance(value, str) or value not in choices:
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
