"""Literals to places among a column's cells.

A literal lies somewhere on the line of a column's cells: `place` gives the two points around it. Where the literal is a
value of the column's type, they enclose its cell; where it lies between two values (8589934592 beside an int column,
1.555 beside decimal(10,2), 16777217 beside float), they are one point, and every comparison still has its exact answer.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import ROUND_CEILING, Context, Decimal
from typing import Final, TypeAlias

from hbstore.errors import FilterTypeError
from hbstore.filters.tree import Boolean, Date, Integer, Literal, Number, Operator, Text, Timestamp
from hbstore.keys.row_key import (
    NULL_PARTITION,
    RESPELLED,
    TAG_END,
    TAG_NULL,
    TAG_TEXT,
    TAG_VALUE,
    after_cell,
    text_cell,
    value_cell,
)
from hbstore.keys.types import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    Value,
    escape,
    parse_decimal,
)
from hbstore.rows.ranges import Range, Ranges, intersect, subtract, unite
from hbstore.times.moments import DAY_SECONDS

Place: TypeAlias = tuple[bytes, bytes]
"""(at, after): cells below ``at`` are less than the literal, cells from ``after`` on are greater."""

VALUES: Final[Range] = (TAG_VALUE, TAG_TEXT)
"""All values of the type: what a comparison can select."""
NULLS: Final[Range] = (TAG_NULL, TAG_VALUE)
NOT_NULLS: Final[Range] = (TAG_VALUE, TAG_END)
NO_VALUES: Final[Ranges] = (NULLS, (TAG_TEXT, TAG_END))
"""The null partition, and texts that are no values: what is NULL to Hive."""

# Looking up an enum's member takes as long as comparing with all of them.
_EQ, _NE, _LT, _LE, _GT = Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT
_ABOVE: Final[Place] = (TAG_TEXT, TAG_TEXT)
_BELOW: Final[Place] = (TAG_VALUE, TAG_VALUE)
_INT64: Final = 1 << 63
_INTEGER_CELL: Final = int.from_bytes(TAG_VALUE + _INT64.to_bytes(8, "big"), "big")
"""The cell of 0 as a number; the cell of n is n above it."""
_EXACT: Final = Context(prec=20_000)  # more digits than any literal of sane length needs
_MAX_EXPONENT: Final = 5_000
_KIND: Final = {
    Text: "string",
    Integer: "integer",
    Number: "decimal",
    Boolean: "boolean",
    Date: "date",
    Timestamp: "timestamp",
}


def comparison_ranges(column: str, column_type: ColumnType, operator: Operator, literal: Literal) -> Ranges:
    """The cells that ``column operator literal`` selects.

    The null partition is unknown to every comparison, so that it is never selected, with one exception: written out as
    ``'__HIVE_DEFAULT_PARTITION__'``, ``=`` selects it and ``!=`` selects all others.

    Raises:
        FilterTypeError: the literal cannot be converted exactly; the text names both types.
    """
    if type(literal) is Text and literal.value == NULL_PARTITION:
        return {Operator.EQ: (NULLS,), Operator.NE: (NOT_NULLS,)}.get(operator, ())
    at, after = place(column, column_type, literal)
    if operator is _EQ:
        return ((at, after),) if at is not after and at < after else ()
    if operator is _NE:
        return unite(((VALUES[0], at), (after, VALUES[1])))
    if operator is _LT:
        selected = (VALUES[0], at)
    elif operator is _LE:
        selected = (VALUES[0], after)
    elif operator is _GT:
        selected = (after, VALUES[1])
    else:
        selected = (at, VALUES[1])
    return (selected,) if selected[0] < selected[1] else ()


def between_ranges(column: str, column_type: ColumnType, low: Literal, high: Literal, *, negated: bool) -> Ranges:
    """The cells that ``column [not] between low and high`` selects; both ends are included.

    ``not between`` is ``column < low or column > high``, where an end that is the null partition is unknown.
    """
    if negated:
        below = comparison_ranges(column, column_type, Operator.LT, low)
        return unite((*below, *comparison_ranges(column, column_type, Operator.GT, high)))
    above = comparison_ranges(column, column_type, Operator.GE, low)
    return intersect(above, comparison_ranges(column, column_type, Operator.LE, high))


def in_ranges(column: str, column_type: ColumnType, literals: tuple[Literal, ...], *, negated: bool) -> Ranges:
    """The cells that ``column [not] in (…)`` selects: points that touch become one range. O(n log n)."""
    points: list[Range] = []
    null = False
    for literal in literals:
        if type(literal) is Text and literal.value == NULL_PARTITION:
            null = True
        else:
            points.append(place(column, column_type, literal))
    found = unite(points)
    if not negated:
        return (NULLS, *found) if null else found
    # NOT IN of the null partition alone is IS NOT NULL, as != is.
    return subtract((NOT_NULLS,) if null and not points else (VALUES,), found)


def spec_ranges(column_type: ColumnType, text: str, *, respelled: bool) -> Ranges:
    """The cell that a text of a partition spec has; values that are written otherwise are others.

    Raises:
        FilterTypeError: UTF-8 cannot carry the text.
    """
    try:
        cell = text_cell(column_type, text)
    except ValueError:
        raise FilterTypeError(
            "a partition value with a lone surrogate cannot be stored as UTF-8", value=repr(text), hint="Correct it"
        ) from None
    # Where no value is respelled, a value has one cell, and neighbouring values make one range.
    return ((cell, cell + RESPELLED if respelled and cell != TAG_NULL else after_cell(column_type, cell)),)


def place(column: str, column_type: ColumnType, literal: Literal) -> Place:
    """Where a literal lies among the cells of a column.

    Raises:
        FilterTypeError: it cannot be compared with this type exactly.
    """
    if type(column_type) is IntegerType:
        number = literal.value if type(literal) is Integer else _integer(literal)
        if number is not None:
            if not -_INT64 <= number < _INT64 - 1:
                return _far_integer(column_type, number)
            return integer_place(number)
    elif type(column_type) is StringType:
        if type(literal) is Text and (literal.value.isascii() or _is_utf8(literal.value)):
            return text_place(literal.value)
    elif type(column_type) is DecimalType:
        decimal = _decimal(literal)
        if decimal is not None:
            return _decimal_place(column_type, decimal)
    elif type(column_type) is FloatType and isinstance(literal, Integer | Number):
        return _float_place(column_type, Decimal(literal.value))
    else:
        value = _value(column_type, literal)
        if value is not None:
            cell = value_cell(column_type, value)
            return cell, after_cell(column_type, cell)
    raise _mismatch(column, column_type, literal)


def integer_place(number: int) -> Place:
    """Where a number of 64 bits that is not the greatest lies among the cells of an integer column."""
    cell = number + _INTEGER_CELL
    return cell.to_bytes(9, "big"), (cell + 1).to_bytes(9, "big")


def text_place(text: str) -> Place:
    """Where a text that UTF-8 can carry lies among the cells of a text column."""
    cell = TAG_VALUE + escape(text)
    return cell, cell + b"\xff"


def _far_integer(column_type: IntegerType, number: int) -> Place:
    if number == _INT64 - 1:
        cell = value_cell(column_type, number)
        return cell, after_cell(column_type, cell)
    return _ABOVE if number > 0 else _BELOW


def _integer(literal: Literal) -> int | None:
    if type(literal) is Number:
        whole = abs(literal.value.adjusted()) <= _MAX_EXPONENT and literal.value == literal.value.to_integral_value()
        return int(literal.value) if whole else None
    if type(literal) is Text:
        digits = literal.value[1:] if literal.value[:1] in ("+", "-") else literal.value
        if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_EXPONENT // 2:
            return int(literal.value)
    return None


def _decimal(literal: Literal) -> Decimal | None:
    if isinstance(literal, Integer | Number):
        return Decimal(literal.value)
    if isinstance(literal, Text):
        try:
            found = parse_decimal(literal.value)
        except ValueError:
            return None
        return found if found.is_finite() else None
    return None


def _decimal_place(column_type: DecimalType, number: Decimal) -> Place:
    if not number:
        number = Decimal(0)
    if number.adjusted() > 2 * column_type.precision:
        return _ABOVE if number > 0 else _BELOW
    if number.adjusted() < -_MAX_EXPONENT:  # as good as zero, on its own side of it
        number = Decimal(1 if number > 0 else -1).scaleb(-column_type.scale - 1)
    unscaled = number.scaleb(column_type.scale, _EXACT)
    above = int(unscaled.to_integral_value(ROUND_CEILING))
    if not -(1 << 127) <= above < 1 << 127:
        return _ABOVE if above > 0 else _BELOW
    cell = TAG_VALUE + (above + (1 << 127)).to_bytes(16, "big")
    return (cell, after_cell(column_type, cell)) if above == unscaled else (cell, cell)


def _float_place(column_type: FloatType, number: Decimal) -> Place:
    """Beside the value that the number rounds to, where that is not the same; no number is an infinity.

    Decimals of any exponents are compared in O(digits).
    """
    value = column_type.parse(str(number))
    at = value_cell(column_type, value)
    after = after_cell(column_type, at)
    if math.isinf(value):
        return (at, at) if value > 0 else (after, after)
    least, greatest = column_type.written(value)
    if number < least:
        return at, at
    return (after, after) if number > greatest else (at, after)


def _value(column_type: ColumnType, literal: Literal) -> Value | None:  # noqa: PLR0911  one line for each pair of types
    if isinstance(literal, Text):
        try:
            return column_type.parse(literal.value)
        except ValueError:
            return None
    if isinstance(column_type, DateType):
        if isinstance(literal, Timestamp):
            days, seconds = divmod(literal.value[0], DAY_SECONDS)
            whole = seconds == literal.value[1] == 0
            return dt.date(1970, 1, 1) + dt.timedelta(days=days) if whole else None
        return literal.value if isinstance(literal, Date) else None
    if isinstance(column_type, TimestampType):
        if isinstance(literal, Date):
            return (literal.value.toordinal() - dt.date(1970, 1, 1).toordinal()) * DAY_SECONDS, 0
        return literal.value if isinstance(literal, Timestamp) else None
    if isinstance(column_type, BooleanType):
        return literal.value if isinstance(literal, Boolean) else None
    return None


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mismatch(column: str, column_type: ColumnType, literal: Literal) -> FilterTypeError:
    shown = repr(literal.value) if isinstance(literal, Text) else str(literal.value)
    if isinstance(column_type, StringType):
        hint = f"Quote the literal to compare it as text: '{literal.value}'"
    else:
        hint = f"Write a literal of type {column_type.name}"
    return FilterTypeError(
        f"a column of type {column_type.name} cannot be compared with a literal of type {_KIND[type(literal)]} exactly",
        column=column,
        literal=shown,
        hint=hint,
    )
