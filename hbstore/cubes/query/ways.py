"""Ways: a query may be resolved in several ways, as a chain has several paths and a field several sources.

A resolution asks `ResolutionWay.one_of` at each place where there are several. It is done once for each combination.

>>> def resolve(ways):
...     return ways.one_of("path", ["short", "long"]), ways.one_of("name", ["column", "chain"])
>>> in_all_ways(resolve)
[('short', 'column'), ('short', 'chain'), ('long', 'column'), ('long', 'chain')]
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from hbstore.errors import CubeQueryError

T = TypeVar("T")

MOST: Final = 64
"""Combinations that are tried; with more, the first ones are."""


@dataclass(slots=True)
class ResolutionWay:
    """The way that one resolution takes.

    Attributes:
        taken: which of the alternatives, at the first places; the first one at all others.
    """

    taken: tuple[int, ...] = ()
    _places: dict[Hashable, tuple[int, int]] = field(default_factory=dict)

    def one_of(self, place: Hashable, alternatives: Sequence[T]) -> T:
        """The alternative that is taken at a place; the same whenever it is asked for."""
        if place not in self._places:
            at = len(self._places)
            self._places[place] = self.taken[at] if at < len(self.taken) else 0, len(alternatives)
        return alternatives[self._places[place][0]]

    def next(self) -> ResolutionWay | None:
        """The next combination; None after the last."""
        choices = list(self._places.values())
        while choices:
            choice, count = choices.pop()
            if choice + 1 < count:
                return ResolutionWay((*(one for one, _ in choices), choice + 1))
        return None


def in_all_ways(resolve: Callable[[ResolutionWay], T]) -> list[T]:
    """What a resolution gives in each way in which it succeeds, the preferred ones first.

    Raises:
        CubeQueryError: it succeeds in no way; the error is that of the first one.
    """
    results: list[T] = []
    errors: list[CubeQueryError] = []
    ways: ResolutionWay | None = ResolutionWay()
    for _ in range(MOST):
        if ways is None:
            break
        try:
            results.append(resolve(ways))
        except CubeQueryError as error:
            errors.append(error)
        ways = ways.next()
    if not results:
        raise errors[0]
    return results
