"""What makes the fields of frozen values unchangeable: sequences become tuples, mappings become `FrozenDict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn, TypeVar

from hbstore.texts.arguments import expect, expect_many

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict that cannot be changed, so that many partitions may share one; ``|`` and ``copy()`` give plain dicts.

    A dict and not a `types.MappingProxyType`: those cannot be pickled, written as JSON or hashed.
    """

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping cannot be changed; make a changed copy with `dataclasses.replace`")

    __setitem__ = __delitem__ = _refuse
    clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict[K, V]], tuple[dict[K, V]]]:
        return FrozenDict, (dict(self),)


def freeze_sequence(owner: object, name: str) -> None:
    """Make a field of a frozen dataclass a tuple, whatever sequence it was given.

    Raises:
        InvalidInput: it is none.
    """
    value = getattr(owner, name)
    if type(value) is not tuple:
        object.__setattr__(owner, name, tuple(expect_many(name, value, hint="Give a list")))


def freeze_mapping(owner: object, name: str) -> None:
    """Make a field of a frozen dataclass a `FrozenDict`.

    Raises:
        InvalidInput: it is no mapping.
    """
    value = getattr(owner, name)
    if type(value) is not FrozenDict:
        object.__setattr__(owner, name, FrozenDict(expect(name, value, Mapping, hint="Give a dict")))
