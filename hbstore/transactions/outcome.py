"""What errors say of a change: StoreUnavailable, that nothing was changed; CommitStateUnknown, that it may be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hbstore.errors import CommitStateUnknown, StoreUnavailable


@contextmanager
def undecided() -> Iterator[None]:
    """Inside, nothing is decided yet: where an answer is lost, nothing was changed that anybody could see."""
    try:
        yield
    except CommitStateUnknown as error:
        raise StoreUnavailable(error.text, hint=error.hint, **error.fields) from error


@contextmanager
def decided(text: str, **fields: object) -> Iterator[None]:
    """Inside, a change is under way already: a backend that goes away leaves its state unknown to the caller."""
    try:
        yield
    except StoreUnavailable as error:
        raise CommitStateUnknown(
            text,
            hint="Read the store to see what was changed; the next writer or `hbstore repair` finishes the change",
            **fields,
        ) from error
