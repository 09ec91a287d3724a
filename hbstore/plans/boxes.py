"""Boxes: one value for each of the leading columns and a range of the next, planned without step functions.

Most filters of real queries are such boxes. Below values that are fixed the planner has no choice to make, so that the
plan is the one that `Narrower` makes, in a quarter of its time, whatever the statistics say. ORs of whole keys are as
many gets, unless a scan could cost less than some of them.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from operator import itemgetter
from typing import TypeAlias

from hbstore.keys import after_cell, row_key
from hbstore.plans.estimate import Estimator
from hbstore.plans.generator import LINE_START, LINE_STOP
from hbstore.plans.points import is_point
from hbstore.plans.scan_plan import RelativeScan, ScanKind, ScanMarker, ScanPlan
from hbstore.plans.schema import KeySchema
from hbstore.rows.predicate import AllOf, AnyOf, CellIn, Predicate
from hbstore.types import ColumnType

Key: TypeAlias = tuple[bytes, ...]


def box_scan(predicate: Predicate, schema: KeySchema) -> ScanPlan | None:
    r"""The one scan or get of a box; None for any other predicate. O(columns).

    >>> from hbstore.types import parse_type
    >>> schema = KeySchema(b"", ("a", "b"), (parse_type("boolean"), parse_type("boolean")))
    >>> a, b = CellIn(0, ((b"\x02\x00", b"\x02\x01"),)), CellIn(1, ((b"\x02\x01", b"\x02\x02"),))
    >>> print(box_scan(AllOf((a, b)), schema), box_scan(a, schema), box_scan(b, schema), sep=", ")
    get a = 'false' × b = 'true', scan a = 'false', None
    """
    children = predicate.children if type(predicate) is AllOf else (predicate,)
    types = schema.types
    last = len(children) - 1
    cells: list[bytes] = []
    for column, child in enumerate(children):
        if type(child) is not CellIn or child.column != column or len(child.ranges) != 1:
            return None
        start, stop = child.ranges[0]
        if column < last or column + 1 == len(types):
            if not is_point(types[column], start, stop):
                return None  # on the last column, it may be a few gets
            cells.append(start)
        elif start == LINE_START or stop == LINE_STOP:
            return None  # perhaps all values: the residual of a shorter prefix
        else:
            before = schema.prefix + b"".join(cells)
            markers = ScanMarker(before + start), ScanMarker(before + stop)
            return ScanPlan(ScanKind.SCAN, *markers, None, schema, len(cells))
    if len(cells) < 2:  # noqa: PLR2004
        return None  # where a get is dear, it is a scan of one row
    key = row_key(schema.prefix, cells)
    return ScanPlan(ScanKind.GET, ScanMarker(key), ScanMarker(key + b"\x00"), None, schema, len(cells))


def box_gets(predicate: Predicate, estimator: Estimator, budget: int) -> list[RelativeScan] | None:
    """The gets of boxes that are one key each, ORed; None for any other predicate, or where a scan is to be weighed.

    O(n log n) for n keys.
    """
    keys = _keys(predicate, estimator.schema)
    if keys is None or len(keys) > budget or estimator.costs.get > estimator.costs.seek:
        return None
    return [RelativeScan(ScanKind.GET, key) for key in keys] if _are_apart(keys, 0, estimator) else None


def _keys(predicate: Predicate, schema: KeySchema) -> list[Key] | None:
    """The cells of the keys that boxes select, sorted; None where a box selects more than one, or none is ORed."""
    if type(predicate) is not AnyOf or not predicate.children:
        return None
    types = schema.types
    known: dict[int, bytes] = {}  # long filters hold the same few comparisons again and again
    keys = set()
    for box in predicate.children:
        if type(box) is not AllOf or len(box.children) != len(types):
            return None
        cells = []
        for column, child in enumerate(box.children):
            cell = known.get(id(child))
            if cell is None:
                cell = known[id(child)] = _point(child, column, types[column])
            if not cell:
                return None
            cells.append(cell)
        keys.add(tuple(cells))
    return sorted(keys)


def _point(predicate: Predicate, column: int, kind: ColumnType) -> bytes:
    """The one cell that a comparison with this column selects; empty if it is something else."""
    if type(predicate) is not CellIn or predicate.column != column or len(predicate.ranges) != 1:
        return b""
    start, stop = predicate.ranges[0]
    return start if is_point(kind, start, stop) else b""


def _are_apart(keys: list[Key], column: int, estimator: Estimator) -> bool:
    """Whether no scan replaces several of these gets, which have the cells before the column in common.

    The planner weighs the one over their hull on the column's line (and the whole line below each value, which is never
    shorter than a hull there), and it joins neighbours with the same cells behind them.
    """
    kind = estimator.schema.types[column]
    seconds = len(keys) * estimator.costs.get
    hull = estimator.rows(column, keys[0][column], after_cell(kind, keys[-1][column]))
    if hull is not None and estimator.scan(hull) < seconds:
        return False
    groups = [list(group) for _, group in groupby(keys, key=itemgetter(column))]
    behind = column + 1
    if kind.width is not None:
        for one, two in pairwise(groups):
            same = [key[behind:] for key in one] == [key[behind:] for key in two]
            if same and after_cell(kind, one[0][column]) == two[0][column]:
                return False
    return all(len(group) == 1 or _are_apart(group, behind, estimator) for group in groups)
