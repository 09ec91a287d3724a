"""What errors say of a change: StoreUnavailable, that nothing was changed; CommitStateUnknown, that it may be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hbstore.errors import CommitStateUnknown, StoreUnavailable


@contextmanager
def decided(text: str, **fields: object) -> Iterator[None]:
    """Inside, a change is under way already: a backend that goes away leaves its state unknown to the caller."""
    try:
        yield
    except StoreUnavailable as error:
        raise CommitStateUnknown(
            text, hint="Reading tells how far it is; the next writer or `hbstore repair` finishes it", **fields
        ) from error
