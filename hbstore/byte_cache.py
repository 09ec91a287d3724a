"""What a process keeps in memory to be quick, with a bound in bytes: one cache, and functions that remember results.

Everything that lives as long as a store or the process and grows with what users ask or keep is in a `ByteCache`, or
has entries of a few bytes and a fixed number of them. docs/metastore.md lists all of it.
"""

from __future__ import annotations

import gc
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, Final, TypeVar, TypeVarTuple, Unpack

Arguments = TypeVarTuple("Arguments")
T = TypeVar("T")

DECODED_BYTES: Final = 64 * 1024 * 1024
"""Bytes of all that the process's functions remember (`remembered`)."""
_LARGEST: Final = 8
_ENTRY: Final = 400
"""Bytes of an entry of a cache, without its key and its value."""
_SHARED: Final = (type, ModuleType, FunctionType, BuiltinFunctionType, CodeType, MappingProxyType)
"""What values refer to and do not own."""
_LEAVES: Final = frozenset((str, bytes, int, float, bool, type(None)))
"""Types of values that refer to nothing, which most are."""
_MISSING: Final = object()


class ByteCache:
    """Values by key; those that were not used for longest leave when all together weigh more than the bound.

    Args:
        bound: bytes of all entries.
        largest: what takes more than this part of the bound is not kept, as it would push out too much.

    >>> cache = ByteCache(bound=80)
    >>> for key in "abcdefghi":
    ...     cache.put(key, key.upper(), size=10)
    >>> cache.get("a"), cache.get("b"), cache.size
    (None, 'B', 80)
    """

    __slots__ = ("_bound", "_entries", "_largest", "_lock", "size")

    def __init__(self, bound: int, largest: int = _LARGEST) -> None:
        self._bound = bound
        self._largest = largest
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()
        self.size = 0

    def get(self, key: Hashable, default: object = None) -> Any:
        """The value of a key, or the default. O(1)."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return default
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: object, size: int) -> None:
        """Keep a value in place of the key's last one, unless it is too large for this cache.

        Args:
            key: what `get` finds it by.
            value: anything, None included.
            size: about how many bytes it takes, with its key.
        """
        with self._lock:
            before = self._entries.pop(key, None)
            if before is not None:
                self.size -= before[1]
            if size * self._largest > self._bound:
                return
            self._entries[key] = value, size
            self.size += size
            while self.size > self._bound:
                self.size -= self._entries.popitem(last=False)[1][1]


def size_of(*values: object) -> int:
    """Bytes of values and of all that they refer to, each object once, but for classes and functions. O(objects).

    >>> size_of(b"x" * 1_000) - size_of(b""), size_of([b"x" * 1_000] * 3) < 1_200
    (1000, True)
    """
    size, seen = 0, set[int]()
    level = list(values)
    while level:
        holders = []
        for value in level:
            if id(value) not in seen:
                seen.add(id(value))
                if type(value) in _LEAVES:
                    size += sys.getsizeof(value)
                elif not isinstance(value, _SHARED):
                    size += sys.getsizeof(value)
                    holders.append(value)
        level = gc.get_referents(*holders)
    return size


_decoded: Final = ByteCache(DECODED_BYTES)


def remembered(function: Callable[[Unpack[Arguments]], T]) -> Callable[[Unpack[Arguments]], T]:
    """A function that keeps its results by its arguments, in one cache that all such functions of the process share.

    For functions whose results depend on nothing else, and that nobody changes. What they raise is not kept.

    >>> @remembered
    ... def halves(text: str) -> tuple[str, str]:
    ...     print("asked")
    ...     return text[: len(text) // 2], text[len(text) // 2 :]
    >>> halves("abcd"), halves("abcd")
    asked
    (('ab', 'cd'), ('ab', 'cd'))
    """

    @wraps(function)
    def recalled(*arguments: *Arguments) -> T:
        key = function, arguments
        value = _decoded.get(key, _MISSING)
        if value is _MISSING:
            value = function(*arguments)
            _decoded.put(key, value, _ENTRY + size_of(arguments, value))
        return value  # type: ignore[no-any-return]

    return recalled
