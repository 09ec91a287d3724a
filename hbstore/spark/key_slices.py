"""Key slices: a range of keys cut into as many as there are to be tasks, by seeks alone.

A range is cut about half-way between its first key and its end, by bytes, at the next key that is there. That takes a
few seeks and tells nothing of how many rows are in each half; where there are many keys there are many slices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from hbstore.rows.interface import Rows

KeyRange: TypeAlias = tuple[bytes, bytes]
"""Keys ``[start, stop)``."""


def key_slices(
    rows: Rows, start: bytes, stop: bytes, number: int, fence: Callable[[bytes, bytes], bytes] | None = None
) -> list[KeyRange]:
    """Cut the keys from ``start`` up to ``stop`` into slices, each with at least one key. Some 15 seeks for each cut.

    Args:
        rows: where the keys are.
        start: the first key.
        stop: the key behind the last.
        number: how many slices at most; without a fence there are fewer only if there are fewer keys.
        fence: of a slice's first key and the key to cut at, where it may be cut near that; it stays whole where that is
            not inside of it. None: anywhere.

    Returns:
        Ranges that touch, sorted, from ``start`` up to ``stop``.
    """
    uncut, whole = deque([(start, stop)]), list[KeyRange]()
    while uncut and len(uncut) + len(whole) < number:
        low, high = uncut.popleft()
        cut = _cut(rows, low, high, fence)
        if cut is None:
            whole.append((low, high))
        else:
            uncut += [(low, cut), (cut, high)]
    return sorted([*whole, *uncut])


def _cut(rows: Rows, start: bytes, stop: bytes, fence: Callable[[bytes, bytes], bytes] | None) -> bytes | None:
    """Where to cut a range so that there are keys on both sides; None where that cannot be."""
    first = rows.first_key(start, stop)
    second = None if first is None else rows.first_key(first + b"\0", stop)
    if first is None or second is None:
        return None
    cut, high = second, stop
    while (middle := _middle(first, high)) is not None:
        key = rows.first_key(middle, high)
        if key is not None:
            cut = key
            break
        high = middle
    if fence is None:
        return cut
    cut = fence(first, cut)
    return cut if first < cut < stop and rows.first_key(cut, stop) is not None else None


def _middle(low: bytes, high: bytes) -> bytes | None:
    """Bytes about half-way above ``low`` and below ``high``; None where there are none of their length.

    >>> _middle(b"a0", b"a4"), _middle(b"a", b"b")
    (b'a2', None)
    """
    width = max(len(low), len(high))
    ends = [int.from_bytes(one.ljust(width, b"\0"), "big") for one in (low, high)]
    middle = sum(ends) // 2
    return None if middle == ends[0] else middle.to_bytes(width, "big")
