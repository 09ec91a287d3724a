"""Filters written in Python instead of text.

>>> print((col("ds") >= "2013-01-01") & col("hour").isin(5, 6))
ds >= '2013-01-01' and hour in (5, 6)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final, NoReturn, TypeAlias

from hbstore.errors import FilterTypeError
from hbstore.filters.literals import MAX_DIGITS, is_bounded
from hbstore.filters.tree import (
    And,
    Between,
    Boolean,
    Comparison,
    Date,
    ExpressionTree,
    In,
    Integer,
    IsNull,
    Like,
    Literal,
    Not,
    Number,
    Operator,
    Or,
    SpecValue,
    Text,
    TimeRangeIn,
    Timestamp,
    joined,
)
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.texts.like import parse_like
from hbstore.texts.wording import clipped
from hbstore.times.time_range import check_time_range

PythonValue: TypeAlias = "str | int | float | bool | Decimal | date | datetime"
"""What columns can be compared with; a datetime must be naive, as partition values have no time zone."""

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  without a zone, as timestamps are
_SECOND: Final = timedelta(seconds=1)
_MICROSECOND: Final = 1_000  # nanoseconds
_INTEGER_BOUND: Final = 10**MAX_DIGITS
_REPR: Final = 120
_SMALLER: Final = (
    "No partition column holds such a number: compare with the largest or smallest number that the column can hold"
)


@dataclass(frozen=True, slots=True, repr=False)
class Expression:
    """A condition; ``&``, ``|`` and ``~`` make larger ones of it, ``str`` its text as a filter.

    >>> str(~(col("hour") == 5) | col("ds").is_null())
    'not hour = 5 or ds is null'
    """

    tree: ExpressionTree

    def __and__(self, other: Expression) -> Expression:
        """Both hold. O(children)."""
        if not isinstance(other, Expression):
            return NotImplemented
        return Expression(joined(And, (self.tree, other.tree)))

    def __or__(self, other: Expression) -> Expression:
        """One of them holds. O(children)."""
        if not isinstance(other, Expression):
            return NotImplemented
        return Expression(joined(Or, (self.tree, other.tree)))

    def __invert__(self) -> Expression:
        """It does not hold, by SQL's three-valued logic. O(1)."""
        return Expression(Not(self.tree))

    def __bool__(self) -> NoReturn:
        raise TypeError("a filter has no truth value: use & for and, | for or, ~ for not, and no chained a < b < c")

    def __str__(self) -> str:
        return str(self.tree)

    def __repr__(self) -> str:
        return f"<Expression {clipped(str(self), _REPR)}>"


class ColumnReference:
    """A column of a table that is not known yet. Made by `col`; its operators and methods make Expressions."""

    __slots__ = ("name",)
    __hash__ = None  # type: ignore[assignment]  # == makes an Expression, so it cannot be a key

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise FilterTypeError(
                "the name of a column must be a text that is not empty", name=repr(name), hint='Write col("ds")'
            )
        self.name = name

    def __eq__(self, value: PythonValue) -> Expression:  # type: ignore[override]
        return self._compared(Operator.EQ, value)

    def __ne__(self, value: PythonValue) -> Expression:  # type: ignore[override]
        return self._compared(Operator.NE, value)

    def __lt__(self, value: PythonValue) -> Expression:
        return self._compared(Operator.LT, value)

    def __le__(self, value: PythonValue) -> Expression:
        return self._compared(Operator.LE, value)

    def __gt__(self, value: PythonValue) -> Expression:
        return self._compared(Operator.GT, value)

    def __ge__(self, value: PythonValue) -> Expression:
        return self._compared(Operator.GE, value)

    def __bool__(self) -> NoReturn:
        raise TypeError("a column has no truth value: compare it, and join conditions with &, | and ~")

    def __repr__(self) -> str:
        return f"col({self.name!r})"

    def isin(self, *values: PythonValue | Iterable[PythonValue]) -> Expression:
        """It is one of the values, given one by one or as one iterable. O(values).

        Raises:
            FilterTypeError: there is no value, or one of a type that has no literal.

        >>> print(col("hour").isin(range(3)))
        hour in (0, 1, 2)
        """
        listed: Iterable[object] = values
        if len(values) == 1 and isinstance(values[0], Iterable) and not isinstance(values[0], str):
            listed = values[0]
        literals = tuple([literal(value) for value in listed])
        if not literals:
            hint = "Leave out the condition, or do not query at all: no value matches an empty list"
            raise FilterTypeError("isin() needs at least one value", column=self.name, hint=hint)
        return Expression(In(self.name, literals))

    def between(self, low: PythonValue, high: PythonValue) -> Expression:
        """It is from low to high, both included.

        >>> print(col("hour").between(5, 8))
        hour between 5 and 8
        """
        return Expression(Between(self.name, literal(low), literal(high)))

    def like(self, pattern: str) -> Expression:
        """It matches a pattern in SQL's dialect: ``%`` is any run of characters, ``_`` one, a backslash escapes both.

        >>> print(col("ds").like("2013-__-01%"))
        ds like '2013-__-01%'
        """
        return Expression(Like(self.name, parse_like(_text(pattern), "sql")))

    def startswith(self, prefix: str) -> Expression:
        r"""It begins with this very text.

        >>> print(col("region").startswith("eu_"))
        region like 'eu\_%'
        """
        return self.like(re.sub(r"([%_\\])", r"\\\1", _text(prefix)) + "%")

    def in_time_range(self, start: str, end: str) -> Expression:
        """It is a time in [start, end), each written as in ``2015-01-29`` or ``now.day-3days``.

        Raises:
            TimeRangeSyntaxError: a text is no time; the error says where and what was expected.
            InvalidTimeRange: both are written out, and the range ends before it begins.

        >>> print(col("ds").in_time_range("2015-01-29", "now.day"))
        time_range_in(ds, '2015-01-29', 'now.day')
        """
        check_time_range(_text(start), _text(end))
        return Expression(TimeRangeIn(self.name, _text(start), _text(end)))

    def is_null(self) -> Expression:
        """It is the null partition's value.

        >>> print(col("region").is_null())
        region is null
        """
        return Expression(IsNull(self.name))

    def is_not_null(self) -> Expression:
        """It is not the null partition's value.

        >>> print(col("region").is_not_null())
        region is not null
        """
        return Expression(IsNull(self.name, negated=True))

    def _compared(self, operator: Operator, value: object) -> Expression:
        return Expression(Comparison(self.name, operator, literal(value)))


def col(name: str) -> ColumnReference:
    """A column by its name, in any case; which table's is known only when the filter is used.

    >>> print(col("date") < date(2013, 1, 1))
    date < date '2013-01-01'
    """
    return ColumnReference(name)


def spec_filter(spec: Mapping[str, str]) -> Expression | None:
    """The partitions that have the values of a spec, whole or partial; None for an empty one, which is all partitions.

    >>> print(spec_filter({"ds": "2013-01-01", "region": NULL_PARTITION}))
    ds = '2013-01-01' and region is null
    """
    terms = [
        IsNull(column) if text in ("", NULL_PARTITION) else SpecValue(column, text) for column, text in spec.items()
    ]
    return Expression(joined(And, terms)) if terms else None


def literal(value: object) -> Literal:
    """The Literal of a Python value.

    Raises:
        FilterTypeError: a value of a type that has no literal, None, NaN or an infinity, an aware datetime, or a number
            of more than 4,000 digits.

    >>> literal(0.1)
    <Number 0.1>
    """
    match value:
        case str():
            return Text(_text(value))
        case bool():
            return Boolean(value)
        case int():
            if not -_INTEGER_BOUND < value < _INTEGER_BOUND:
                raise FilterTypeError(
                    f"a number of more than {MAX_DIGITS} digits cannot stand in a filter", hint=_SMALLER
                )
            return Integer(int(value))
        case float() | Decimal():
            return _number(Decimal(repr(float(value))) if isinstance(value, float) else value)
        case datetime():
            return _timestamp(value)
        case date():
            return Date(value)
        case None:
            raise FilterTypeError("None cannot be compared", hint="Use is_null() or is_not_null()")
        case ColumnReference() | Expression():
            hint = "Compare each with a value, and join the conditions by & or |"
            raise FilterTypeError("columns cannot be compared with each other", value=repr(value), hint=hint)
        case _:
            raise FilterTypeError(
                "a column cannot be compared with a value of this type",
                type=type(value).__name__,
                hint="Use str, int, float, bool, Decimal, date or datetime",
            )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise FilterTypeError(
            "a pattern, a prefix or an end of a time range is not a text", type=type(value).__name__, hint="Give a str"
        )
    return str.__str__(value)  # an enum that is also a str prints itself otherwise


def _number(value: Decimal) -> Number:
    if not value.is_finite():
        text = "NaN" if value.is_nan() else str(value)
        raise FilterTypeError(
            "neither NaN nor an infinity can stand in a filter as a number",
            value=value,
            hint=f"Write it as text, which float and double columns are compared with: {text!r}",
        )
    if not is_bounded(value):
        raise FilterTypeError(
            f"a number of more than {MAX_DIGITS} digits cannot stand in a filter", value=value, hint=_SMALLER
        )
    return Number(value)


def _timestamp(value: datetime) -> Timestamp:
    if value.tzinfo is not None:
        raise FilterTypeError(
            "the datetime has a time zone, but partition values have none",
            value=value.isoformat(),
            hint="Convert it to the zone of the partition values, then value.replace(tzinfo=None)",
        )
    since = value - _EPOCH
    return Timestamp((since // _SECOND, since.microseconds * _MICROSECOND))
