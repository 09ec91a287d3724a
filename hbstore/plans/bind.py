"""Bind: ExpressionTree and table to a Predicate over cells.

Columns are looked up, literals converted to the columns' types, and NOT is pushed down to the leaves by De Morgan's
laws, which hold in three-valued logic too: what is unknown at a leaf is unknown in its negation and selects nothing.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections.abc import Hashable
from typing import Final

from hbstore.errors import FilterTypeError, InvalidTimeRange
from hbstore.filters.tree import (
    And,
    Between,
    Comparison,
    ExpressionTree,
    Holds,
    In,
    IsNull,
    Leaf,
    Like,
    Not,
    Operator,
    Or,
    SpecValue,
    StructIn,
    Text,
    TimeRangeIn,
)
from hbstore.keys.row_key import NULL_PARTITION, TAG_VALUE, after_cell, value_cell
from hbstore.keys.types import ColumnType, DateType, StringType, escape
from hbstore.plans.literals import (
    NO_VALUES,
    NOT_NULLS,
    NULLS,
    VALUES,
    between_ranges,
    comparison_ranges,
    in_ranges,
    spec_ranges,
)
from hbstore.plans.schema import KeySchema
from hbstore.plans.time_ranges import time_ranges
from hbstore.rows.predicate import ALWAYS, NEVER, CellIn, CellLike, Predicate, all_of, any_of
from hbstore.rows.ranges import Ranges, subtract
from hbstore.texts.places import highlight
from hbstore.times.clock import Now
from hbstore.times.moments import moments
from hbstore.times.time_range import written_time

_NEGATED: Final = {
    Operator.EQ: Operator.NE,
    Operator.NE: Operator.EQ,
    Operator.LT: Operator.GE,
    Operator.LE: Operator.GT,
    Operator.GT: Operator.LE,
    Operator.GE: Operator.LT,
}


def bind(tree: ExpressionTree | None, schema: KeySchema, now: Now) -> Predicate:
    """The predicate of a filter on a table; no filter selects everything. O(n log n), whatever the depth.

    Only time ranges that are relative ask for ``now``.

    Raises:
        UnknownColumnError: the filter names a column that is not a partition column.
        FilterTypeError: a literal or a time range cannot be compared with its column exactly.
        InvalidTimeRange: a time range ends before it begins.
        InvalidTime: a relative time is outside of the years 1 to 9999.
    """
    if tree is None:
        return ALWAYS
    done: list[Predicate] = []
    # Long filters compare with the same few literals again and again.
    comparisons: dict[Hashable, Predicate] = {}
    pending: list[tuple[ExpressionTree, bool, bool]] = [(tree, False, False)]
    while pending:
        node, negated, expanded = pending.pop()
        if type(node) is Comparison:
            literal = node.literal
            key = node.column, node.operator, negated, literal.__class__, literal.value
            found = comparisons.get(key)
            if found is None:
                found = comparisons[key] = _comparison(node, schema, negated=negated)
            done.append(found)
        elif isinstance(node, Not):
            pending.append((node.child, not negated, False))
        elif not isinstance(node, And | Or):
            done.append(_leaf(node, schema, now, negated=negated))
        elif expanded:
            size = len(node.children)
            values = done[len(done) - size :]
            del done[len(done) - size :]
            done.append(all_of(values) if isinstance(node, And) is not negated else any_of(values))
        else:
            pending.append((node, negated, True))
            pending.extend((child, negated, False) for child in reversed(node.children))
    return done[0]


def _comparison(node: Comparison, schema: KeySchema, *, negated: bool) -> Predicate:
    column = schema.column(node.column)
    operator = _NEGATED[node.operator] if negated else node.operator
    return _cell_in(column, comparison_ranges(node.column, schema.types[column], operator, node.literal))


def _leaf(  # noqa: PLR0911  one for each kind of leaf
    node: Leaf, schema: KeySchema, now: Now, *, negated: bool
) -> Predicate:
    negated = negated is not getattr(node, "negated", False)
    if isinstance(node, StructIn):
        return _struct_in(node, schema, negated=negated)
    column = schema.column(node.column)
    column_type = schema.types[column]
    if isinstance(node, Like):
        return _like(column, node, schema, negated=negated)
    if isinstance(node, Comparison):
        return _comparison(node, schema, negated=negated)
    if isinstance(node, IsNull):
        if node.as_hive:
            return CellIn(column, (VALUES,) if negated else NO_VALUES)
        return CellIn(column, (NOT_NULLS if negated else NULLS,))
    if isinstance(node, SpecValue):
        ranges = spec_ranges(column_type, node.text, respelled=column in schema.respelled)
        return _cell_in(column, subtract((NULLS, NOT_NULLS), ranges) if negated else ranges)
    if isinstance(node, Holds):
        return _holds(column, node, column_type, negated=negated)
    if isinstance(node, In):
        ranges = in_ranges(node.column, column_type, node.literals, negated=negated)
    elif isinstance(node, Between):
        ranges = between_ranges(node.column, column_type, node.low, node.high, negated=negated)
    else:
        ranges = time_ranges(node.column, column_type, *_moments(node, now), negated=negated)
    return _cell_in(column, ranges)


def _cell_in(column: int, ranges: Ranges) -> Predicate:
    return CellIn(column, ranges) if ranges else NEVER


def _moments(node: TimeRangeIn, now: Now) -> tuple[int, int]:
    """When a time range begins and ends."""
    try:
        return moments(written_time(node.start).at(now), written_time(node.end).at(now))
    except InvalidTimeRange as error:
        text = str(node)
        at_end = highlight(text, len(text) - len(node.end) - len("'')"))
        raise InvalidTimeRange(error.text, highlight=at_end, hint=error.hint, **error.fields) from None


def _struct_in(node: StructIn, schema: KeySchema, *, negated: bool) -> Predicate:
    """``(c1, c2) in ((v1, v2), …)`` is an OR of ANDs; its negation an AND of ORs."""
    operator = Operator.NE if negated else Operator.EQ
    inner, outer = (any_of, all_of) if negated else (all_of, any_of)
    rows = []
    for row in node.rows:
        if len(row) != len(node.columns):
            raise FilterTypeError(
                "a struct in the list has a wrong number of fields",
                columns=len(node.columns),
                fields=len(row),
                hint="Give each CONST STRUCT one literal for each column",
            )
        pairs = zip(node.columns, row, strict=True)
        rows.append(inner(_comparison(Comparison(name, operator, cell), schema, negated=False) for name, cell in pairs))
    return outer(rows)


def _like(column: int, node: Like, schema: KeySchema, *, negated: bool) -> Predicate:
    """A literal pattern is an equality, ``prefix%`` a range, another pattern the range of its prefix and a check."""
    column_type = schema.types[column]
    pattern = node.pattern
    if pattern.is_literal and isinstance(column_type, StringType):
        if pattern.prefix == NULL_PARTITION:  # no value has this text, and a pattern never selects the null partition
            return CellIn(column, (VALUES,)) if negated else NEVER
        operator = Operator.NE if negated else Operator.EQ
        at = comparison_ranges(node.column, column_type, operator, Text(pattern.prefix))
        return _cell_in(column, at)
    ranges = _prefix_ranges(column_type, pattern.prefix)
    if ranges is not None and pattern.is_prefix:
        return _cell_in(column, subtract((VALUES,), ranges) if negated else ranges)
    like = CellLike(column, pattern, column_type, negated)
    if negated or ranges is None:
        return all_of([CellIn(column, (VALUES,)), like])
    return all_of([_cell_in(column, ranges), like])


def _holds(column: int, node: Holds, column_type: ColumnType, *, negated: bool) -> Predicate:
    """What a computed condition or its negation selects: values one by one, and of what is no value all or nothing."""
    values = all_of([CellIn(column, (VALUES,)), CellLike(column, node.condition, column_type, negated)])
    if node.condition.matches(None) is (not negated):
        return any_of([CellIn(column, NO_VALUES), values])
    return values


def _prefix_ranges(column_type: ColumnType, prefix: str) -> Ranges | None:
    """The cells of values whose text begins with the prefix; None where text order is not value order."""
    if not prefix:
        return (VALUES,)
    if isinstance(column_type, StringType):
        start = TAG_VALUE + escape(prefix)[:-1]
        # Behind the prefix stands UTF-8 or the 00 of an end or an escape: all below FF.
        return ((start, start + b"\xff"),)
    if isinstance(column_type, DateType):
        # Dates sort as their texts do, so the first with the prefix is found by halving the calendar.
        first = bisect_left(_CALENDAR, prefix, key=_iso)
        past = bisect_left(_CALENDAR, prefix + "\U0010ffff", key=_iso)
        if first == past:
            return ()
        start = value_cell(column_type, dt.date.fromordinal(_CALENDAR[first]))
        last = value_cell(column_type, dt.date.fromordinal(_CALENDAR[past - 1]))
        return ((start, after_cell(column_type, last)),)
    return None


_CALENDAR: Final = range(1, dt.date.max.toordinal() + 1)


def _iso(ordinal: int) -> str:
    return dt.date.fromordinal(ordinal).isoformat()
