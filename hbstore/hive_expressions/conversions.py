"""How Hive compares and casts values of different types, where hbstore knows it exactly.

A value is Python's own, as the column types of `hbstore.keys.types` have it; None is NULL. What is not here is refused,
and not guessed.
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Final, TypeAlias

from hbstore.hive_expressions.refusal import unreadable
from hbstore.keys.number_types import MAX_PRECISION
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
    parse_type,
)

Convert: TypeAlias = Callable[[Value], "Value | None"]

STRING: Final = StringType("string")
DOUBLE: Final = FloatType("double", 8)
FLOAT: Final = FloatType("float", 4)
BIGINT: Final = IntegerType("bigint", 64)
_DATE: Final = DateType()
_INTEGER_DIGITS: Final = {8: 3, 16: 5, 32: 10, 64: 19}
_EXACT: Final = Context(prec=200)
_DAY_0: Final = dt.date(1970, 1, 1).toordinal()
_DAY_SECONDS: Final = 86_400
_JAVA_DOUBLE: Final = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)\Z", re.ASCII
)
_CUT_NUMBER: Final = re.compile(r"([+-]?)(?:([0-9]+)(?:\.[0-9]*)?|\.[0-9]+)\Z")
_MAX_DIGITS: Final = 40
_MOMENT: Final = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?: ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]+))?)?\Z"
)
_BLANKS: Final = "".join(map(chr, range(33)))


def is_char(column_type: ColumnType) -> bool:
    """Whether a type is char(n), whose values are compared without the blanks at their end."""
    return type(column_type) is StringType and column_type.name.startswith("char(")


def common_type(first: ColumnType, second: ColumnType) -> ColumnType:  # noqa: C901, PLR0911  one for each pair
    """The type in which Hive compares two types.

    Raises:
        ExpressionUnreadable: hbstore does not know how Hive compares them.
    """
    if type(first) is type(second):
        if isinstance(first, IntegerType):
            return BIGINT
        if isinstance(first, StringType):
            return STRING
        if isinstance(first, DecimalType) and isinstance(second, DecimalType):
            return _common_decimal(first, second)
        if isinstance(first, FloatType):
            return DOUBLE if 8 in (first.width, second.width) else FLOAT  # noqa: PLR2004
        return first
    for left, right in ((first, second), (second, first)):
        if isinstance(left, StringType) and not is_char(left):
            if isinstance(right, DateType | TimestampType):
                return right
            if isinstance(right, IntegerType | FloatType):
                return DOUBLE
        if isinstance(left, IntegerType) and isinstance(right, FloatType):
            return right
        if isinstance(left, IntegerType) and isinstance(right, DecimalType):
            return _common_decimal(DecimalType(_INTEGER_DIGITS[left.bits], 0), right)
        if isinstance(left, DecimalType) and isinstance(right, FloatType) and right.width == 8:  # noqa: PLR2004
            return right
    raise unreadable("hbstore does not know how Hive compares these types", one=first.name, other=second.name)


def _common_decimal(one: DecimalType, other: DecimalType) -> DecimalType:
    """A decimal that holds both without rounding."""
    scale = max(one.scale, other.scale)
    precision = max(one.precision - one.scale, other.precision - other.scale) + scale
    if precision > MAX_PRECISION:
        raise unreadable("Hive rounds decimals to compare these types", one=one.name, other=other.name)
    return DecimalType(precision, scale)


def check_alike(one: ColumnType, other: ColumnType) -> None:
    """Check that IN compares two types as ``=`` does: of others it makes another common type.

    Raises:
        ExpressionUnreadable: they are of different kinds.
    """
    if type(one) is not type(other) or (isinstance(one, FloatType) and one != other):
        raise unreadable("the values of an IN are of another type", one=one.name, other=other.name)


def implicit(source: ColumnType, target: ColumnType) -> Convert:
    """What Hive does to a value of one type before it compares it in a `common_type`."""
    if is_char(source) and target == STRING:
        return _without_blanks
    if type(source) is type(target):
        return _same
    if isinstance(target, FloatType):
        return _to_float(source, target)
    if isinstance(target, DecimalType) and isinstance(source, IntegerType):
        return _integer_to_decimal
    if isinstance(source, StringType) and isinstance(target, DateType):
        return _text_to_date
    if isinstance(source, StringType) and isinstance(target, TimestampType):
        return _text_to_timestamp
    raise unreadable("hbstore does not know how Hive converts these types", one=source.name, other=target.name)


def cast(source: ColumnType, target: ColumnType) -> Convert:  # noqa: C901, PLR0911  one for each pair
    """What CAST does to a value.

    Raises:
        ExpressionUnreadable: hbstore does not know it exactly.
    """
    if source == target and not isinstance(source, StringType):
        return _same
    if isinstance(target, StringType):
        return _to_text(source, target)
    if isinstance(source, IntegerType):
        if isinstance(target, IntegerType) and target.bits >= source.bits:
            return _same
        if isinstance(target, DecimalType):
            return _to_decimal(target)
    if isinstance(source, DecimalType) and isinstance(target, DecimalType):
        return _to_decimal(target)
    if isinstance(source, DateType) and isinstance(target, TimestampType):
        return _date_to_timestamp
    if isinstance(source, TimestampType) and isinstance(target, DateType):
        return _timestamp_to_date
    if target == DOUBLE and isinstance(source, IntegerType | FloatType | DecimalType | StringType):
        return _to_float(source, DOUBLE)
    if isinstance(source, StringType) and isinstance(target, IntegerType):
        return _text_to_integer(target)
    if isinstance(source, StringType) and isinstance(target, DateType):
        return _text_to_date
    raise unreadable("hbstore does not know this cast exactly", one=source.name, other=target.name)


@lru_cache(maxsize=256)
def type_of(name: str) -> ColumnType:
    """The type that Hive writes so, where it can be a partition column's.

    Raises:
        InvalidType: it cannot.
    """
    return parse_type(name)


def _same(value: Value) -> Value:
    return value


def _without_blanks(value: Value) -> Value:
    return str(value).rstrip(" ")


def _to_float(source: ColumnType, target: FloatType) -> Convert:
    if isinstance(source, StringType):
        return _text_to_double
    if target.width == 4 and not isinstance(source, IntegerType):  # noqa: PLR2004
        raise unreadable("hbstore does not know how Hive converts these types", one=source.name, other=target.name)

    def convert(value: Value) -> Value:
        assert isinstance(value, int | float | Decimal)
        if target.width == 8:  # noqa: PLR2004
            return float(value)
        return _nearest_single(int(value))

    return convert


def _nearest_single(number: int) -> float:
    """The float of four bytes nearest to a whole number of 64 bits, rounded once."""
    size = abs(number).bit_length()
    if size <= 24:  # noqa: PLR2004
        return float(number)
    shift = size - 24
    whole, rest = divmod(abs(number), 1 << shift)
    half = 1 << (shift - 1)
    whole += rest > half or (rest == half and whole & 1)
    return float((whole << shift) * (1 if number > 0 else -1))


def nearest_single(value: float) -> float:
    """The float of four bytes nearest to a number."""
    return float(struct.unpack(">f", struct.pack(">f", value))[0])


def _integer_to_decimal(value: Value) -> Value:
    assert isinstance(value, int)
    return Decimal(value)


def _to_decimal(target: DecimalType) -> Convert:
    """Rounded half up; NULL where it has too many digits."""
    step = Decimal(1).scaleb(-target.scale)
    limit = Decimal(10) ** (target.precision - target.scale)

    def convert(value: Value) -> Value | None:
        assert isinstance(value, int | Decimal)
        rounded = Decimal(value).quantize(step, ROUND_HALF_UP, _EXACT)
        return rounded if abs(rounded) < limit else None

    return convert


def _to_text(source: ColumnType, target: StringType) -> Convert:
    if isinstance(source, StringType):
        before: Convert = _without_blanks if is_char(source) else _same
    elif isinstance(source, IntegerType):
        before = str
    elif isinstance(source, DateType):
        before = _DATE.text
    else:
        raise unreadable("hbstore does not know this cast exactly", one=source.name, other=target.name)
    limit, char = target.limit, is_char(target)

    def convert(value: Value) -> Value:
        text = str(before(value))[:limit]
        return text.rstrip(" ") if char else text

    return convert


def _text_to_double(value: Value) -> Value | None:
    """As Java reads it, without the blanks around it."""
    text = str(value).strip(_BLANKS)
    if not _JAVA_DOUBLE.match(text):
        return None
    return float(text.rstrip("fFdD") if text[-1] in "fFdD" else text)


def _text_to_integer(target: IntegerType) -> Convert:
    """Digits, cut off at a point; NULL where the number is too large."""
    half = 1 << (target.bits - 1)

    def convert(value: Value) -> Value | None:
        found = _CUT_NUMBER.match(str(value))
        if not found or len(found[2] or "") > _MAX_DIGITS:
            return None
        number = int(f"{found[1]}{found[2] or 0}")
        return number if -half <= number < half else None

    return convert


def _text_to_date(value: Value) -> Value | None:
    moment = _text_to_timestamp(value)
    return None if moment is None else _timestamp_to_date(moment)


def _text_to_timestamp(value: Value) -> Value | None:
    """A date, and perhaps a time; NULL for all that Hive's versions do not read alike."""
    match = _MOMENT.match(str(value).strip(_BLANKS))
    if not match:
        return None
    hours, minutes, seconds = (int(part or 0) for part in match.group(4, 5, 6))
    try:
        day = dt.date(int(match[1]), int(match[2]), int(match[3])).toordinal() - _DAY_0
    except ValueError:
        return None
    if hours > 23 or minutes > 59 or seconds > 59:  # noqa: PLR2004
        return None
    nanoseconds = int((match[7] or "0")[:9].ljust(9, "0"))
    return day * _DAY_SECONDS + hours * 3600 + minutes * 60 + seconds, nanoseconds


def _date_to_timestamp(value: Value) -> Value:
    assert isinstance(value, dt.date)
    return (value.toordinal() - _DAY_0) * _DAY_SECONDS, 0


def _timestamp_to_date(value: Value) -> Value | None:
    assert isinstance(value, tuple)
    ordinal = value[0] // _DAY_SECONDS + _DAY_0
    return dt.date.fromordinal(ordinal) if 1 <= ordinal <= dt.date.max.toordinal() else None


def is_boolean(column_type: ColumnType) -> bool:
    """Whether a type is boolean."""
    return isinstance(column_type, BooleanType)
