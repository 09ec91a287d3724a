"""Constants beside columns: which literal of the filter language compares as Hive compares both."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from typing import Final

from hbstore.filters.tree import Boolean, Date, Integer, Literal, Number, Text, Timestamp
from hbstore.hive_expressions.computing import fits
from hbstore.hive_expressions.conversions import common_type, implicit, is_char, nearest_single, type_of
from hbstore.hive_expressions.nodes import ConstantNode, Unknown
from hbstore.hive_expressions.refusal import unreadable
from hbstore.keys.partition_names import unescape_name
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
)

_LIKE_A_DATE: Final = re.compile(r"\s*[+-]?[0-9]+-[0-9]")
_EXACT_BITS: Final = {4: 24, 8: 53}
"""Whole numbers of so many bits are floats of so many bytes, exactly."""


def literal_beside(column_type: ColumnType, constant: ConstantNode) -> Literal | None:
    """The literal that compares with a column as Hive compares the constant; None where there is none.

    Hive compares both in a common type. Where every value of the column is exactly itself in that type, comparing the
    column with the constant's value in that type is the same.

    Raises:
        ExpressionUnreadable: what the constant is cannot be told, or hbstore does not know how Hive compares both.
    """
    value = constant.value
    if isinstance(value, Unknown):
        raise unreadable(value.why)
    if value is None:
        return None
    source = type_of(constant.type)
    if value == NULL_PARTITION and not isinstance(source, StringType):
        return Text(NULL_PARTITION)
    if isinstance(source, FloatType) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if isinstance(column_type, StringType) and is_char(column_type) and isinstance(source, StringType):
        return Text(value) if isinstance(value, str) and fits(value, StringType("string")) else None
    if not fits(value, source):
        raise unreadable("a constant is not of its type", type=constant.type)
    common = common_type(column_type, source)
    if not _is_exact(column_type, common):
        return None
    found = implicit(source, common)(value)
    if found is None and isinstance(common, DateType | TimestampType) and _LIKE_A_DATE.match(str(value)):
        raise unreadable("Hive's versions read a text in different ways as a date", value=repr(value))
    return None if found is None else _literal(column_type, found)


def named_text(column_type: ColumnType, constant: ConstantNode) -> str | None:
    """The text of a partition that a constant names; None if it is a value.

    MSCK of Hive 3.1 drops a partition by the parts of its name: what stands there, escaped, is a constant of the
    column's type. Of a type of texts, this cannot be told from a value.
    """
    if isinstance(column_type, StringType) or not isinstance(constant.value, str):
        return None
    return unescape_name(constant.value) if type_of(constant.type) == column_type else None


def _is_exact(column_type: ColumnType, common: ColumnType) -> bool:
    """Whether every value of a column is itself in the type in which it is compared."""
    if isinstance(common, FloatType):
        if isinstance(column_type, IntegerType):
            return column_type.bits <= _EXACT_BITS[common.width]
        return isinstance(column_type, FloatType)
    return type(column_type) is type(common) or isinstance(common, DecimalType)


def _literal(column_type: ColumnType, value: object) -> Literal | None:  # noqa: C901, PLR0911  one for each type
    if isinstance(value, bool):
        return Boolean(value) if isinstance(column_type, BooleanType) else None
    if isinstance(value, str):
        return Text(value) if isinstance(column_type, StringType) else None
    if isinstance(value, int):
        return Integer(value)
    if isinstance(column_type, IntegerType) and isinstance(value, float | Decimal):
        # The filter language has no place for a number between two whole ones.
        return Integer(int(value)) if math.isfinite(value) and value == int(value) else None
    if isinstance(value, Decimal):
        return Number(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        if isinstance(column_type, FloatType) and column_type.width == 4 and nearest_single_or_none(value) != value:  # noqa: PLR2004
            return None  # between two floats, where the filter language takes the nearest
        return Number(Decimal(value))
    if isinstance(value, dt.date):
        return Date(value) if isinstance(column_type, DateType) else None
    if isinstance(value, tuple) and isinstance(column_type, TimestampType):
        return Timestamp(value)
    return None


def nearest_single_or_none(value: float) -> float | None:
    """The float of four bytes nearest to a number; None above the greatest."""
    try:
        return nearest_single(value)
    except OverflowError:
        return None
