"""Filters that select what lies in a range of a column's line, as texts."""

from __future__ import annotations

from hbstore.errors import FilterTypeError
from hbstore.filters.tree import And, Comparison, ExpressionTree, Integer, IsNull, Literal, Operator, Text
from hbstore.keys.row_key import TAG_END, TAG_NULL, TAG_TEXT, TAG_VALUE, after_cell, cell_text, is_cell
from hbstore.keys.types import ColumnType, IntegerType


def range_filter(name: str, start: bytes, stop: bytes, column_type: ColumnType) -> str | None:
    r"""The filter of a range between values of a column; None of texts that are no value, and where it has no form.

    >>> from hbstore.keys.types import parse_type
    >>> range_filter("eu", b"\x02\x00", b"\x02\x01", parse_type("boolean"))
    "eu = 'false'"
    >>> range_filter("hour", b"\x01", b"\x04", parse_type("int"))
    ''
    """
    if start <= TAG_NULL and stop >= TAG_END:
        return ""
    if (start, stop) in ((TAG_VALUE, TAG_TEXT), (TAG_VALUE, TAG_END)):
        return str(IsNull(name, negated=True))
    if (start, stop) == (TAG_NULL, TAG_VALUE):
        return str(IsNull(name))
    if start[:1] == TAG_TEXT:
        return None
    try:
        return _text(name, start, stop, column_type)
    except (FilterTypeError, ValueError, OverflowError):  # both kinds of quotes; a place that is no value
        return None


def _text(name: str, start: bytes, stop: bytes, column_type: ColumnType) -> str:
    if start <= TAG_NULL:
        return f"({IsNull(name)} or {_text(name, TAG_VALUE, stop, column_type)})"
    parts: list[ExpressionTree] = []
    if is_cell(start, column_type) and stop == after_cell(column_type, start):
        return str(Comparison(name, Operator.EQ, _literal(start, column_type)))
    if start > TAG_VALUE:
        parts.append(Comparison(name, Operator.GE, _literal(start, column_type)))
    if stop < TAG_TEXT:
        parts.append(Comparison(name, Operator.LT, _literal(stop, column_type)))
    return str(parts[0]) if len(parts) == 1 else str(And(tuple(parts)))


def _literal(cell: bytes, column_type: ColumnType) -> Literal:
    text = cell_text(column_type, cell)
    return Integer(int(text)) if isinstance(column_type, IntegerType) else Text(text)
