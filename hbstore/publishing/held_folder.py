"""Holding folders while they move or are deleted: the process that holds one then looks at the catalog.

A process that only looked and then moved could come late, however soon after: others may have finished its change, and
taken it back, so that the folder is again where it was. They cannot while the folder is held, nor take the process for
dead. One that dies holds nothing any more.

A process that moves a folder of a table holds the table's; one that deletes a folder holds that itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Final

from hbstore.files.interface import Hold
from hbstore.files.warehouse import Warehouse
from hbstore.transactions.waiting import Patience, Waiting

_SETTLING: Final = 1.0
"""Seconds for which a reader or writer of a table waits for a process that moves folders of it: a batch takes less."""


def for_a_moment(patience: Patience) -> Patience:
    """The patience of a reader or writer that meets another process which moves folders of its table."""
    return replace(patience, total=min(_SETTLING, patience.total))


@contextmanager
def held_at_last(hold: Callable[[], AbstractContextManager[Hold]], patience: Patience, folder: str) -> Iterator[Hold]:
    """What came of holding a folder, once no other process holds it.

    Args:
        hold: tries to, as `hbstore.files.warehouse.Warehouse.held`.
        patience: how long others are waited for.
        folder: where it is, for the error.

    Raises:
        StoreBusy: others hold it all the time.
    """
    waiting = Waiting(patience)
    while True:
        with hold() as came:
            if came is not Hold.OTHERS:
                yield came
                return
        text = "another process moves folders of the table, or was halted while it did"
        waiting.pause(text, "Try again; if it was halted, let it go on or end it", folder=folder)


@contextmanager
def all_held(warehouse: Warehouse, folders: Sequence[str], patience: Patience | None = None) -> Iterator[bool]:
    """Hold folders, as far as they are there; whether no other process holds one.

    Args:
        warehouse: where they are.
        folders: their locations; what several of them name is held once, as who holds a folder cannot hold it again.
        patience: how long others are waited for; None: they are not.

    Raises:
        StoreBusy: others hold one all the time.
    """
    with ExitStack() as stack:
        for folder in {warehouse.real(folder): folder for folder in folders}.values():
            hold = partial(warehouse.held, folder)
            if patience is not None:
                stack.enter_context(held_at_last(hold, patience, folder))
            elif stack.enter_context(hold()) is Hold.OTHERS:
                yield False
                return
        yield True
