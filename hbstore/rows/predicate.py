r"""Predicates over cells: what a scan must still check, evaluated where the rows are.

A predicate is a tree of four kinds: `CellIn` (a column's cell lies in one of some byte ranges), `CellLike` (its text
matches a pattern), `AllOf` and `AnyOf`. There is no NOT: planning pushes it down to the leaves. `all_of` and `any_of`
keep trees in normal form: no AND directly below an AND, at most one `CellIn` a column in each node, ``ALWAYS`` and
``NEVER`` only on their own.

>>> hour = CellIn(1, ((b"\x02a", b"\x02b"),))
>>> all_of([hour, CellIn(1, ((b"\x02c", b"\x02d"),))]) == NEVER
True
>>> any_of([hour, hour]) == hour
True
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, TypeAlias, TypeVar

from hbstore.keys.column_type import ValueCondition
from hbstore.keys.row_key import TAG_VALUE, cell_text, value_part
from hbstore.keys.types import ColumnType
from hbstore.rows.ranges import Ranges, contains, intersect, unite
from hbstore.texts.like import LikePattern


@dataclass(frozen=True, slots=True)
class CellIn:
    """The cell of a column lies in one of these byte ranges."""

    column: int
    ranges: Ranges


@dataclass(frozen=True, slots=True)
class CellLike:
    """The cell of a column is a value (tag 02) whose text matches the pattern, or does not where negated.

    The pattern may be any condition that is computed from the text; where its answer is unknown, the cell is not
    selected, negated or not.
    """

    column: int
    pattern: LikePattern | ValueCondition
    type: ColumnType
    negated: bool = False

    def matches(self, cell: bytes) -> bool:
        """Whether this cell is selected. The null partition and text of no value never are.

        A respelled value is what it is read as: its canonical text counts, as in a cast of the column to text.
        """
        if cell[:1] != TAG_VALUE:
            return False
        return self.pattern.matches(cell_text(self.type, value_part(self.type, cell))) is (not self.negated)


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every child holds; with no children: always."""

    children: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one child holds; with no children: never."""

    children: tuple[Predicate, ...]


Predicate: TypeAlias = CellIn | CellLike | AllOf | AnyOf
T = TypeVar("T")
_SMALL: Final = 16
"""Ranges that are compared by value; longer lists by their id."""

ALWAYS: Final = AllOf(())
NEVER: Final = AnyOf(())


def all_of(predicates: Iterable[Predicate]) -> Predicate:
    """The conjunction, in normal form. O(n) for n predicates and the ranges in them."""
    conjuncts = tuple(predicates)
    if _is_in_normal_form(conjuncts):
        return conjuncts[0] if len(conjuncts) == 1 else AllOf(conjuncts)
    leaves: dict[int, CellIn] = {}
    rest: dict[Hashable, Predicate] = {}
    pending = list(reversed(conjuncts))
    while pending:
        predicate = pending.pop()
        if type(predicate) is CellIn:
            leaf = leaves.get(predicate.column)
            if leaf is not None and leaf is not predicate:
                predicate = CellIn(predicate.column, intersect(leaf.ranges, predicate.ranges))
            if not predicate.ranges:
                return NEVER
            leaves[predicate.column] = predicate
        elif type(predicate) is AllOf:
            pending.extend(reversed(predicate.children))
        elif predicate == NEVER:
            return NEVER
        else:
            rest[identity(predicate)] = predicate
    children = (*(leaves[column] for column in sorted(leaves)), *rest.values())
    if not children:
        return ALWAYS
    return children[0] if len(children) == 1 else AllOf(children)


def identity(predicate: Predicate) -> Hashable:
    """Equal for predicates that are known to be the same, in O(children), and never equal for different ones.

    It looks one level deep and takes what is below by its id, as comparing whole trees is slow and recursive: two
    deep trees made apart count as different, which costs a repeated check and nothing else.
    """
    if isinstance(predicate, AllOf | AnyOf):
        return type(predicate), tuple(map(_leaf_identity, predicate.children))
    return _leaf_identity(predicate)


def _leaf_identity(predicate: Predicate) -> Hashable:
    small = isinstance(predicate, CellLike) or (isinstance(predicate, CellIn) and len(predicate.ranges) <= _SMALL)
    return predicate if small else id(predicate)


def _is_in_normal_form(predicates: tuple[Predicate, ...]) -> bool:
    """Whether these are ranges on rising columns, the usual conjunction, which is in normal form as it stands."""
    last = -1
    for predicate in predicates:
        if type(predicate) is not CellIn or predicate.column <= last or not predicate.ranges:
            return False
        last = predicate.column
    return last >= 0


def any_of(predicates: Iterable[Predicate]) -> Predicate:
    """The disjunction, in normal form. O(n log n) for n predicates and the ranges of columns that several speak of."""
    leaves: dict[int, list[CellIn]] = {}
    rest: dict[Hashable, Predicate] = {}
    pending = list(predicates)
    pending.reverse()
    while pending:
        predicate = pending.pop()
        if type(predicate) is CellIn:
            leaves.setdefault(predicate.column, []).append(predicate)
        elif type(predicate) is AnyOf:
            pending.extend(reversed(predicate.children))
        elif predicate == ALWAYS:
            return ALWAYS
        else:
            rest[identity(predicate)] = predicate
    children = (*(_united(leaves[column]) for column in sorted(leaves)), *rest.values())
    if not children:
        return NEVER
    return children[0] if len(children) == 1 else AnyOf(children)


def _united(leaves: list[CellIn]) -> CellIn:
    """Ranges of one column as one leaf; a leaf alone stays the object that it is, by which long ones are known."""
    if len(leaves) == 1:
        return leaves[0]
    return CellIn(leaves[0].column, unite(one for leaf in leaves for one in leaf.ranges))


def terms_of(predicate: Predicate) -> int:
    """How many ranges, patterns and conditions a predicate holds one level deep: what joining it takes. O(children).

    >>> terms_of(any_of([CellIn(0, ((b"a", b"b"), (b"d", b"e"))), CellIn(1, ((b"c", b"d"),))]))
    3
    """
    if type(predicate) is CellIn:
        return len(predicate.ranges)
    if type(predicate) is CellLike:
        return 1
    assert isinstance(predicate, AllOf | AnyOf)
    return sum(len(one.ranges) if type(one) is CellIn else 1 for one in predicate.children)


def columns_of(predicate: Predicate) -> frozenset[int]:
    """The columns that a predicate reads."""
    columns: set[int] = set()
    pending = [predicate]
    while pending:
        node = pending.pop()
        if isinstance(node, CellIn | CellLike):
            columns.add(node.column)
        else:
            pending.extend(node.children)
    return frozenset(columns)


def has_like(predicate: Predicate) -> bool:
    """Whether there is a pattern in a predicate."""
    pending = [predicate]
    while pending:
        node = pending.pop()
        if type(node) is CellLike:
            return True
        if type(node) is not CellIn:
            pending.extend(node.children)  # type: ignore[union-attr]
    return False


def matcher(predicate: Predicate) -> Callable[[Sequence[bytes]], bool]:
    """A function that tells whether a row with these cells is selected; O(comparisons) for each row.

    The tree becomes a program of leaves, each with the label to go to when it holds and when it does not, so that
    evaluation stops early and deep trees need no deep stack.
    """
    if not isinstance(predicate, CellIn | CellLike) and not predicate.children:
        return lambda _cells: predicate == ALWAYS
    program: dict[int, tuple[CellIn | CellLike, int, int]] = {}
    fresh = count(1)
    pending: list[tuple[Predicate, int, int, int]] = [(predicate, 0, _YES, _NO)]
    while pending:
        node, label, yes, no = pending.pop()
        if isinstance(node, CellIn | CellLike):
            program[label] = (node, yes, no)
            continue
        for position, child in enumerate(node.children):
            last = position == len(node.children) - 1
            if isinstance(node, AnyOf):
                following = no if last else next(fresh)
                pending.append((child, label, yes, following))
            else:
                following = yes if last else next(fresh)
                pending.append((child, label, following, no))
            label = following

    def matches(cells: Sequence[bytes]) -> bool:
        at = 0
        while at >= 0:
            leaf, yes, no = program[at]
            cell = cells[leaf.column]
            held = contains(leaf.ranges, cell) if type(leaf) is CellIn else leaf.matches(cell)  # type: ignore[union-attr]
            at = yes if held else no
        return at == _YES

    return matches


_YES: Final = -1
_NO: Final = -2


def fold(
    predicate: Predicate,
    leaf: Callable[[CellIn | CellLike], T],
    every: Callable[[list[T]], T],
    some: Callable[[list[T]], T],
) -> T:
    """One value for the whole tree, made from the leaves upwards, whatever the depth.

    Args:
        predicate: the tree.
        leaf: the value of a comparison.
        every: the value of an AND, from those of its children in order.
        some: the value of an OR.
    """
    done: list[T] = []
    pending: list[tuple[Predicate, bool]] = [(predicate, False)]
    while pending:
        node, expanded = pending.pop()
        if isinstance(node, CellIn | CellLike):
            done.append(leaf(node))
        elif expanded:
            size = len(node.children)
            values = done[len(done) - size :]
            del done[len(done) - size :]
            done.append(every(values) if isinstance(node, AllOf) else some(values))
        else:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(node.children))
    return done[0]
