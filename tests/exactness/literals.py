"""Strategies for literals that a column's type converts exactly, most of them at or beside values of the table."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal, localcontext

from hypothesis import strategies as st

from hbstore.filters.literals import is_bounded
from hbstore.filters.tree import Boolean, Date, Integer, Number, Text, Timestamp
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import BooleanType, DateType, DecimalType, FloatType, IntegerType, StringType, TimestampType
from tests import strategies

_EDGES = [0, -1, 1, 127, 128, -128, -129, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1]
_integers = st.sampled_from([*_EDGES, 10**30, -(10**30)]) | st.integers()
_decimals = st.decimals(allow_nan=False, allow_infinity=False, places=2) | st.sampled_from(
    [Decimal("0.005"), Decimal("-1E-50"), Decimal("1E+60"), Decimal("1E+3"), Decimal("0.00")]
)


_FLOAT_EDGES = [
    *(0, 2**24 + 1, -(2**24) - 1, 2**25 + 1, 2**53 + 1, 2**60, 2**60 + 1, -(2**63) - 1, 10**23, 10**39, -(10**39)),
    *(2**128 - 2**103, 2**1024 - 2**970, 2**1024, 10**400, -(10**400)),
]
"""Integers that are values of float or double, that lie between two, or beyond all."""
_far_decimals = st.sampled_from(
    [Decimal(text) for text in ("3.5e38", "1e309", "-1e309", "1.7976931348623158e308", "1e-46", "-1e-400", "1e-3000")]
)


def literals(kind, texts):
    """Literals for a column of a type whose values have these texts."""
    values = [(text, kind.parse(text)) for text in texts if text != NULL_PARTITION and _parses(kind, text)]
    found = [_typed(kind), strategies.valid_texts(kind).map(Text), st.just(Text(NULL_PARTITION))]
    if values:
        near = st.sampled_from(values)
        found += [near.map(lambda pair: Text(pair[0])), near.flatmap(lambda pair: _near(kind, pair[1]))] * 4
    return st.one_of(found)


def _parses(kind, text):
    try:
        kind.parse(text)
    except ValueError:
        return False
    return True


def _typed(kind):  # noqa: PLR0911  one for each type
    """Literals of the type's own sort, anywhere."""
    match kind:
        case IntegerType():
            return _integers.map(Integer) | st.integers(-300, 300).map(lambda number: Number(Decimal(f"{number}.0")))
        case DecimalType():
            return _integers.map(Integer) | _decimals.map(Number)
        case FloatType():
            return st.sampled_from(_FLOAT_EDGES).map(Integer) | (_decimals | _far_decimals).map(Number)
        case DateType():
            return st.dates().map(Date)
        case TimestampType():
            return st.dates().map(Date) | st.tuples(st.integers(-(10**9), 10**10), st.integers(0, 999_999_999)).map(
                Timestamp
            )
        case BooleanType():
            return st.booleans().map(Boolean)
        case _:
            return strategies.key_text.map(Text)


def _near(kind, value):  # noqa: PLR0911  one for each type
    """The value as a literal, or one right beside it."""
    step = st.sampled_from((-1, 0, 0, 1))
    match kind:
        case IntegerType():
            return step.map(lambda by: Integer(value + by))
        case DecimalType(scale=scale):
            finer = st.sampled_from((Decimal(0), Decimal(1).scaleb(-scale), Decimal(1).scaleb(-scale - 1)))
            return st.builds(lambda by, unit: Number(value.normalize() + by * unit), step, finer)
        case FloatType() if math.isfinite(value):
            return st.sampled_from(beside_float(kind, value)).map(Number)
        case DateType():
            moved = step.map(lambda by: _moved(value, by))
            return moved.map(Date) | moved.map(lambda day: Timestamp(((day - dt.date(1970, 1, 1)).days * 86_400, 0)))
        case TimestampType():
            return st.sampled_from((value, (value[0], 0), (value[0], 999_999_999))).map(Timestamp)
        case BooleanType():
            return st.just(Boolean(value))
        case StringType():
            return st.sampled_from((value, f"{value}\0", value[:-1], f"{value}a")).map(Text)
    return st.just(Text(kind.text(value)))


def beside_float(kind, value):
    """Numbers that are written for a finite float or double, that are right beside it, and half way to the next."""
    with localcontext(prec=2_000):
        return [number for number in _beside_float(kind, value) if is_bounded(number)]


def _beside_float(kind, value):
    exact = Decimal(value)
    tiny = abs(exact).scaleb(-40) or Decimal("1e-400")
    found = [exact, Decimal(repr(value)), Decimal(kind.text(value)), Decimal(f"{value:.17g}"), Decimal(f"{value:.9g}")]
    found += [exact + tiny, exact - tiny, Decimal(repr(value)) + tiny, Decimal(kind.text(value)) - tiny]
    payload = int.from_bytes(kind.encode(value), "big")
    for step in (-1, 1):
        other = kind.decode((payload + step).to_bytes(kind.width, "big"))
        if math.isfinite(other):
            found += [Decimal(other), (Decimal(other) + exact) / 2, exact + (Decimal(other) - exact) / 4]
    return found


def _moved(day, by):
    return dt.date.fromordinal(min(max(day.toordinal() + by, 1), dt.date.max.toordinal()))
