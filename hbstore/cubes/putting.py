"""Putting documents: those that are not there are created, others altered, in an order in which each step is sound.

What is to be done is decided before anything is: each document is checked as it would stand after those before it. One
that still needs what another takes away waits for that other. So a check alone says what would be done, and does not
do it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from hbstore.cubes.document import Named
from hbstore.cubes.files import in_order
from hbstore.cubes.references import Overlay
from hbstore.cubes.stored_model import Model, not_found, there
from hbstore.errors import HbstoreError, InvalidModel, ModelInUse


class Action(StrEnum):
    """What is to be done about a document."""

    CREATE = "create"
    ALTER = "alter"
    KEEP = "keep"


ONLY: Final = (Action.CREATE, Action.ALTER)
"""What a caller may restrict the actions to."""


@dataclass(frozen=True, slots=True)
class Step:
    """A document, and what is to be done about it.

    Attributes:
        document: as it is to be.
        action: what is to be done.
        before: what it is now; None if it is not there, or only a server knows.
    """

    document: Named
    action: Action
    before: Named | None = field(default=None, compare=False, repr=False)


def steps_of(
    model: Model, documents: Iterable[Named], *, only: Action | None = None, if_not_exists: bool = False
) -> list[Step]:
    """What is to be done to put some documents, in its order. Nothing is changed.

    Args and what it raises are as of `Cubes.put`.
    """
    left, steps = in_order(documents), list[Step]()
    _check_once(left)
    while left:
        waiting: list[Named] = []
        for document in left:
            try:
                steps.append(_step(model, document, steps, only, if_not_exists=if_not_exists))
            except ModelInUse:
                waiting.append(document)
                if len(waiting) == len(left):
                    raise
        left = waiting
    return steps


def put(
    model: Model, documents: Iterable[Named], *, only: Action | None = None, if_not_exists: bool = False
) -> list[Step]:
    """Put documents, one after another; what was done. Raises as `steps_of`, and before it has changed anything.

    Raises:
        ConcurrentChange: another writer came between; ``done`` of the error's fields says what was put before.
    """
    steps = steps_of(model, documents, only=only, if_not_exists=if_not_exists)
    for number, step in enumerate(steps):
        try:
            if step.action is Action.CREATE:
                model.add([step.document], if_not_exists=False)
            elif step.action is Action.ALTER:
                model.alter(step.document, replaces=step.before)
        except HbstoreError as error:
            done = [str(one.document) for one in steps[:number] if one.action is not Action.KEEP]
            if done:
                error.fields["done"] = ", ".join(done)
            raise
    return steps


def _step(model: Model, document: Named, steps: Iterable[Step], only: Action | None, *, if_not_exists: bool) -> Step:
    before = model.find(document.kind, document.name)
    overlay = Overlay.of(model, *(step.document for step in steps), document)
    if before is None:
        if only is Action.ALTER:
            raise not_found(model.database, document.kind, document.name, model, (document.kind,))
        model.check(document, None, overlay)
        return Step(document, Action.CREATE)
    if only is Action.CREATE:
        if not if_not_exists:
            raise there(model.database, document)
        return Step(before, Action.KEEP, before)
    if document == before:
        return Step(document, Action.KEEP, before)
    model.check(document, before, overlay)
    return Step(document, Action.ALTER, before)


def _check_once(documents: Iterable[Named]) -> None:
    counts = Counter((document.kind, document.name) for document in documents)
    for (kind, name), count in counts.items():
        if count > 1:
            raise InvalidModel("a description occurs twice", kind=kind, name=name, hint="Write each description once")
