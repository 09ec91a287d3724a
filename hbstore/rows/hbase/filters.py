"""Predicates as HBase filter strings: what region servers check, next to the rows.

Everything that a filter string can say is said in it. What it cannot say, or only at great length, is weakened to a
condition that selects more, and the caller checks the returned cells again (`Pushed.exact`).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from hbstore.keys.row_key import TAG_VALUE, successor
from hbstore.rows.hbase.like import java_pattern, text_prefix
from hbstore.rows.predicate import CellIn, CellLike, Predicate, fold
from hbstore.rows.ranges import Range, Ranges, intersect, unite
from hbstore.texts.like import LikePattern

MAX_WEIGHT: Final = 300
"""What a filter string may cost: each unit costs a region server about 40 ns a row; sending a row here costs 15 µs.

A comparison weighs 1, and every AND or OR around it adds 1 again: HBase asks a list of filters whether all is over
by asking all in it, at each level and for each cell.
"""
MAX_BYTES: Final = 65_536
_HULL_RANGES: Final = 16
_MANY_RANGES: Final = 64

_VALUES: Final[Ranges] = ((TAG_VALUE, successor(TAG_VALUE)),)


@dataclass(frozen=True, slots=True)
class Pushed:
    """What is pushed of a predicate.

    Attributes:
        text: the filter string; None where every row has to be fetched.
        exact: whether it selects just what the predicate does; where not, it selects that and more.
        columns: the partition columns whose cells it tests, which a scan must ask for.
    """

    text: bytes | None
    exact: bool
    columns: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Node:
    """A part of a filter string; ``hull`` is a shorter condition that selects at least as much, by column."""

    text: bytes | None
    exact: bool
    filters: int
    weight: int
    hull: dict[int, Ranges]
    columns: frozenset[int]


def push(predicate: Predicate) -> Pushed:
    r"""The filter string for a predicate.

    >>> push(CellIn(2, ((b"\x02eu\x00", b"\x02eu\x01"),))).text
    b"SingleColumnValueFilter('k','2',=,'binaryprefix:\x02eu\x00',true,false)"
    """
    nodes: dict[int, _Node] = {}  # residuals of large filters hold one long list a thousand times

    def leaf(condition: CellIn | CellLike) -> _Node:
        if id(condition) not in nodes:
            nodes[id(condition)] = _leaf(condition)
        return nodes[id(condition)]

    node = fold(predicate, leaf, _every, _some)
    return Pushed(node.text, node.exact, node.columns)


def single_column(column: int, operator: bytes, comparator: bytes, value: bytes) -> bytes:
    """One comparison. Rows without the cell fail it, and only a quote has to be escaped.

    The last argument says whether the region server is to jump to the next row where a cell fails. A jump takes it
    longer than the few cells that are left. It is there for cells of several versions, which HBase 2 counts before it
    asks a filter.
    """
    value = value.replace(b"'", b"''")
    return b"SingleColumnValueFilter('k','%d',%s,'%s:%s',true,false)" % (column, operator, comparator, value)


def holding_one_of(texts: Sequence[tuple[str, bytes]]) -> bytes:
    """The filter string for catalog rows that have one of some texts in their cells; the empty text stands for any.

    >>> holding_one_of([("d:def", b""), ("i:log", b"open")])
    b"SingleColumnValueFilter('d','def',!=,'binary:',true,true) OR \
SingleColumnValueFilter('i','log',=,'substring:open',true,true)"
    """
    parts = []
    for cell, text in texts:
        family, _, name = cell.encode().partition(b":")
        test = b"=,'substring:%s'" % text.replace(b"'", b"''") if text else b"!=,'binary:'"
        parts.append(b"SingleColumnValueFilter('%s','%s',%s,true,true)" % (family, name, test))
    return b" OR ".join(parts)


def _leaf(leaf: CellIn | CellLike) -> _Node:
    return _ranges(leaf.column, leaf.ranges) if isinstance(leaf, CellIn) else _like(leaf)


def _ranges(column: int, ranges: Ranges) -> _Node:
    if not ranges:
        return _never(column)
    hull = {column: _fewer(ranges, _HULL_RANGES)}
    for kept in (ranges, _fewer(ranges, _MANY_RANGES)):
        if len(kept) <= MAX_WEIGHT:
            parts = [_one_range(column, one) for one in kept]
            node = _list(parts, b" OR ", hull, exact=kept == ranges)
            if _fits(node):
                return node
    return _superset(hull)


def _one_range(column: int, cell_range: Range) -> _Node:
    """A range of cells, as one comparison where that says the same.

    The end of a text cell is followed by FF in longer ones only, so from a cell to the cell and FF is just that cell;
    and from a number's cell to the next number's there are only cells that begin with the first.
    """
    start, stop = cell_range
    hull: dict[int, Ranges] = {column: (cell_range,)}
    if stop == start + b"\x00" or (stop == start + b"\xff" and start[-1:] == b"\x00"):
        return _single(column, b"=", b"binary", start, hull)
    if (start.rstrip(b"\xff") and stop == successor(start)) or _next_number(start) == stop:
        return _single(column, b"=", b"binaryprefix", start, hull)
    below = _single(column, b"<", b"binary", stop, hull)
    return _list([_single(column, b">=", b"binary", start, hull), below], b" AND ", hull) if start else below


def _like(leaf: CellLike) -> _Node:
    """A pattern over text becomes a prefix and a regular expression; over other types only values can be told."""
    if leaf.type.width is not None or not isinstance(leaf.pattern, LikePattern):
        return _superset({leaf.column: _VALUES})
    try:
        prefix = text_prefix(leaf.pattern.prefix)
        expression = java_pattern(leaf.pattern)
    except UnicodeEncodeError:
        return _superset({leaf.column: _VALUES})
    if leaf.negated:
        prefix = TAG_VALUE
    hull: dict[int, Ranges] = {leaf.column: ((prefix, successor(prefix)),)}
    if leaf.pattern.is_literal and not leaf.negated:
        return _single(leaf.column, b"=", b"binary", prefix + b"\x00", hull)
    begins = _single(leaf.column, b"=", b"binaryprefix", prefix, hull)
    if leaf.pattern.is_prefix and not leaf.negated:
        return begins
    if expression is None:
        return replace(begins, exact=False)
    matches = _single(leaf.column, b"!=" if leaf.negated else b"=", b"regexstring", expression, hull)
    return _list([begins, matches], b" AND ", hull)


def _every(nodes: list[_Node]) -> _Node:
    """Of an AND every part can be left out; those that cost most are."""
    hull: dict[int, Ranges] = {}
    for node in nodes:
        for column, ranges in node.hull.items():
            both = intersect(hull[column], ranges) if column in hull else ranges
            hull[column] = _fewer(both, _HULL_RANGES)
    kept: list[_Node] = []
    exact = True
    for whole in sorted(nodes, key=lambda node: node.weight):
        node = whole if _fits(whole, *kept) else _superset(whole.hull)
        exact = exact and node.exact
        if node.text is not None and _fits(node, *kept):
            kept.append(node)
        else:
            exact = exact and node.text is None
    if kept:
        return _list(kept, b" AND ", hull, exact=exact)
    return _Node(None, exact, 0, 0, hull, frozenset())


def _some(nodes: list[_Node]) -> _Node:
    """Of an OR no part can be left out."""
    if not nodes:
        return _never(0)
    common = set.intersection(*(set(node.hull) for node in nodes))
    hull = {
        column: _fewer(unite(one for node in nodes for one in node.hull[column]), _HULL_RANGES) for column in common
    }
    if any(node.text is None for node in nodes):
        return _superset(hull)
    node = _list(nodes, b" OR ", hull)
    return node if _fits(node) else _superset(hull)


def _superset(hull: dict[int, Ranges]) -> _Node:
    """A condition on each column alone, which selects more than was asked for."""
    kept: list[_Node] = []
    for column, ranges in sorted(hull.items()):
        parts = [_one_range(column, one) for one in ranges]
        node = _list(parts, b" OR ", hull) if parts else _never(column)
        if _fits(node, *kept):
            kept.append(node)
    return _list(kept, b" AND ", hull, exact=False) if kept else _Node(None, False, 0, 0, hull, frozenset())


def _never(column: int) -> _Node:
    """No cell is below the empty string."""
    return _single(column, b"<", b"binary", b"", {column: ()})


def _single(column: int, operator: bytes, comparator: bytes, value: bytes, hull: dict[int, Ranges]) -> _Node:
    text = single_column(column, operator, comparator, value)
    return _Node(text, exact=True, filters=1, weight=1, hull=hull, columns=frozenset({column}))


def _list(nodes: list[_Node], operator: bytes, hull: dict[int, Ranges], *, exact: bool = True) -> _Node:
    """Parts joined by AND or OR; all of them have a text."""
    exact = exact and all(node.exact for node in nodes)
    if len(nodes) == 1:
        return replace(nodes[0], exact=exact, hull=hull)
    text = b"(%s)" % operator.join(node.text for node in nodes if node.text is not None)
    filters = sum(node.filters for node in nodes)
    weight = filters + sum(node.weight for node in nodes)
    return _Node(text, exact, filters + 1, weight, hull, frozenset[int]().union(*(node.columns for node in nodes)))


def _fits(node: _Node, *others: _Node) -> bool:
    """Whether a part can be pushed, beside others in one AND."""
    all_of_them = [node, *others]
    size = sum(len(one.text or b"") for one in all_of_them)
    return size <= MAX_BYTES and sum(one.weight + one.filters for one in all_of_them) <= MAX_WEIGHT


def _fewer(ranges: Ranges, most: int) -> Ranges:
    """At most so many ranges around the given ones: the widest gaps stay, as far as eight bytes tell."""
    if len(ranges) <= most:
        return ranges
    shared = _shared(ranges[0][0], ranges[-1][1])
    cuts = sorted(
        heapq.nsmallest(
            most - 1,
            range(1, len(ranges)),
            key=lambda at: _position(ranges[at - 1][1], shared) - _position(ranges[at][0], shared),
        )
    )
    bounds = [0, *cuts, len(ranges)]
    return tuple((ranges[first][0], ranges[last - 1][1]) for first, last in pairwise(bounds))


def _next_number(data: bytes) -> bytes:
    number = int.from_bytes(data, "big") + 1
    return b"" if number >> (8 * len(data)) else number.to_bytes(len(data), "big")


def _shared(left: bytes, right: bytes) -> int:
    """How many bytes two strings begin with in common."""
    size = min(len(left), len(right))
    return next((at for at in range(size) if left[at] != right[at]), size)


def _position(data: bytes, skip: int) -> int:
    return int.from_bytes(data[skip : skip + 8].ljust(8, b"\x00"), "big")
