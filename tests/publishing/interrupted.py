"""A change that is interrupted at one of its steps, by others or for ever, and what may be read afterwards."""

from __future__ import annotations

from copy import deepcopy
from itertools import count, permutations, product

from hbstore.errors import CommitStateUnknown, HbstoreError
from hbstore.files.local_files import LocalFiles, LocalFolders
from hbstore.files.remote_files import RemoteFiles
from hbstore.transactions.transactions import Transactions
from tests.interleaved import Between
from tests.publishing.operations import BEFORE, CHANGES, NotPossible

_FILES = ("make_folder", "delete", "delete_empty", "move", "bring")
_COPIES = ("copy", "delete_copies")
STEPS = [
    *((LocalFiles, name) for name in _FILES),
    *((RemoteFiles, name) for name in _FILES + _COPIES),
    (LocalFolders, "make_folder"),
    (Transactions, "run"),
]


AND_HOLDING = [*STEPS, (LocalFiles, "held")]
"""Also the moment in which a process has read what it changes, and nobody yet waits for it."""


class Died(BaseException):
    """What a process does that is killed: nothing that it has around the step runs, either."""


class Process(Between):
    """A change that is interrupted at a step: by another one, or for ever, or first by others and later for ever.

    Args:
        at: the step.
        other: what comes there.
        lives_for: how many steps it makes after that; None: all.
    """

    def __init__(self, at, other, lives_for=None):
        super().__init__(at, other)
        self.is_dead = False
        self._lives_for = lives_for

    def step(self):
        if self.is_dead and not self.in_other:
            raise Died
        super().step()
        if self._lives_for is not None and not self.in_other and self.left < -1 - self._lives_for:
            self.die()

    def die(self):
        self.is_dead, self.in_other = True, False
        raise Died


def attempt(name, store, here, changes=CHANGES):
    """How a change ends: True, it is acknowledged; False, it is refused; None, nobody can tell."""
    try:
        changes[name].make(store, here)
    except CommitStateUnknown:
        return None
    except HbstoreError:
        return False
    except Died:
        return None
    return True


def at_each_step(folder, interrupt, every=1):
    """How a change ends that is interrupted at each of its steps, or at each third one, say.

    Args:
        folder: gets a folder for each.
        interrupt: makes the change in a folder and interrupts it at the step of a number; None: it has no such step.
        every: the distance from one step that is tried to the next.
    """
    ends, steps = [], count(0, every)
    while True:
        at = next(steps)
        own = folder / str(at)
        own.mkdir()
        end = interrupt(own, at)
        if end is None:
            return ends
        ends.append(end)


def may_be_made(name, end):
    """Whether a change may have been made that ended so.

    A truncation says of itself that files may be gone where it is refused: its table was renamed meanwhile.
    """
    return [True, False] if end is None or (name == "truncate" and not end) else [end]


def meanings(ended, orders=permutations):
    """What the rows may be after changes, of each of which is told how it has ended.

    Args:
        ended: the names of the changes, and their ends.
        orders: of the numbers of those that were made, gives the orders in which that may have been.
    """
    for choice in product(*(may_be_made(name, end) for name, end in ended)):
        for order in orders([number for number, is_made in enumerate(choice) if is_made]):
            tables = deepcopy(BEFORE)
            try:
                for number in order:
                    CHANGES[ended[number][0]].mean(tables)
            except (NotPossible, KeyError):
                continue
            yield tables
