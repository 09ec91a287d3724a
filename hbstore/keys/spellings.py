r"""Other spellings: the values that engines read from texts which the column's type does not write.

pandas and Sqoop name a date's folder ``d=2024-01-08 00:00:00``, an int's ``n=9.0``, and engines read the date and the
number all the same. The rules are those by which Spark 4.3 casts a text to the type where ``spark.sql.ansi.enabled`` is
off. Where it is on, Spark reads the same value or ends the query. tests/spark/test_spellings.py asks Spark itself.

A function gives None where Spark reads nothing, or a value that hbstore does not have (a year above 9999), or one that
depends on the session: a time with a zone, a time without a day. docs/keys.md has a table of what is read.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from math import inf, isfinite, nextafter
from struct import pack
from typing import Final

_BLANKS: Final = "".join(map(chr, (*range(0x21), 0x7F)))
"""What Spark takes off both ends of a text: ASCII's blanks and control characters."""
_JAVA_BLANKS: Final = "".join(map(chr, range(0x21)))
"""What Java takes off both ends of a decimal and of a float."""
_INTEGER: Final = re.compile(r"([+-]?)([0-9]*)(?:\.[0-9]*)?\Z")
_DATE: Final = re.compile(r"\+?([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?\Z", re.DOTALL)
_DAY: Final = re.compile(r"\+?([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?\Z")
_TIME: Final = re.compile(r"([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?)?)?\Z")
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?0*\d{1,9})?\Z")
_FLOAT: Final = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[dDfF]?\Z")
_HEXADECIMAL: Final = re.compile(r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[dDfF]?\Z")
_BEHIND_A_MIDDLE: Final = (1 << 28) - 1
"""The bits of a double that are 0 if it is a float of 4 bytes, or in the middle between two."""
_INFINITE: Final = frozenset(("inf", "infinity"))
_TRUTHS: Final = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}
_LONGEST_INTEGER: Final = 19
"""Digits of the greatest integer of 64 bits."""
_LONGEST_DECIMAL: Final = 38
_HALF_UP: Final = Context(prec=2 * _LONGEST_DECIMAL + 1, rounding=ROUND_HALF_UP)


def read_integer(text: str, bits: int) -> int | None:
    """An integer with blanks around it, or with decimals, which are cut off.

    >>> read_integer("9.0", 32), read_integer(" 9", 32), read_integer("-9.9", 32), read_integer("1e1", 32)
    (9, 9, -9, None)
    """
    stripped = text.strip(_BLANKS)
    number = _INTEGER.match(stripped)
    if number is None or stripped in ("", "+", "-"):
        return None
    digits = number[2].lstrip("0")
    if len(digits) > _LONGEST_INTEGER:
        return None
    value = int(f"{number[1]}{digits or 0}")
    half = 1 << (bits - 1)
    return value if -half <= value < half else None


def read_decimal(text: str, precision: int, scale: int) -> Decimal | None:
    """A decimal with blanks around it, or with more decimals than the scale, which are rounded half up.

    >>> read_decimal("1.555", 10, 2), read_decimal(" 1.5", 10, 2), read_decimal("1e9", 10, 2)
    (Decimal('1.56'), Decimal('1.50'), None)
    """
    stripped = text.strip(_JAVA_BLANKS)
    # Java reads digits of all scripts, but not those of two UTF-16 units.
    if _DECIMAL.match(stripped) is None or max(stripped) > "\uffff":
        return None
    number = Decimal(stripped)
    if not number:
        return Decimal(0)
    if number.adjusted() >= _LONGEST_DECIMAL:
        return None
    rounded = number.quantize(Decimal(1).scaleb(-scale), context=_HALF_UP)
    if rounded.copy_abs() >= Decimal(1).scaleb(precision - scale):
        return None
    return rounded or Decimal(0)  # -0 becomes 0


def nearest_single(text: str) -> float:
    """A double for the digits of a number, which rounds to the float of 4 bytes that is nearest to them.

    A double that is rounded from a text may lie in the middle between two floats where the text does not. Then it is
    moved to the text's side. A middle has 25 significant bits.

    >>> float("1.00000017881393432617187499"), nearest_single("1.00000017881393432617187499")
    (1.0000001788139343, 1.000000178813934)
    """
    number = float(text)
    if number and isfinite(number) and not int.from_bytes(pack(">d", number), "big") & _BEHIND_A_MIDDLE:
        exact = Decimal(text)
        if exact != number:
            number = nextafter(number, inf if exact > number else -inf)
    return number


def read_float(text: str, rounded: Callable[[str], float] = float) -> float | None:
    """A number with blanks around it, as Java writes a literal, also in hexadecimal; infinities and NaN in any case.

    Decimal digits become a number by ``rounded``.

    >>> read_float(" 1.5"), read_float("1.5d"), read_float("0x1.8p1"), read_float("-inf"), read_float("1,5")
    (1.5, 1.5, 3.0, -inf, None)
    """
    stripped = text.strip(_JAVA_BLANKS)
    number = _FLOAT.match(stripped)
    if number is not None:
        return rounded(number[1])
    number = _HEXADECIMAL.match(stripped)
    if number is not None:
        try:
            return float.fromhex(number[1])
        except OverflowError:
            return float("-inf" if stripped[0] == "-" else "inf")
    if stripped.lower() == "nan" or stripped in ("+NaN", "-NaN"):
        return float("nan")
    if stripped.lower().removeprefix("-").removeprefix("+") in _INFINITE and stripped[:2] != "-+":
        return float("-inf" if stripped[0] == "-" else "inf")
    return None


def read_date(text: str) -> dt.date | None:
    """A date with blanks around it, with anything behind a blank or a T; a month or a year is its first day.

    >>> read_date("2024-01-08 00:00:00"), read_date("2024-03"), read_date("20240108")
    (datetime.date(2024, 1, 8), datetime.date(2024, 3, 1), None)
    """
    day = _DATE.match(text.strip(_BLANKS))
    return None if day is None else _date(day)


def read_timestamp(text: str) -> tuple[dt.date, int, int] | None:
    """A timestamp with blanks around it or short fields: its day, the seconds in it and the nanoseconds in these.

    >>> read_timestamp("2024-1-8 5:06"), read_timestamp("2024-01-08 05:06:07Z")
    ((datetime.date(2024, 1, 8), 18360, 0), None)
    """
    stripped = text.strip(_BLANKS)
    marks = [at for at in map(stripped.find, " T") if at > 0]
    day = _DAY.match(stripped[: min(marks)] if marks else stripped)
    time = _TIME.match(stripped[min(marks) + 1 :]) if marks else None
    if day is None or (marks and (time is None or day[3] is None)):
        return None
    date = _date(day)
    if date is None or time is None:
        return None if date is None else (date, 0, 0)
    hour, minute, second = (int(field or 0) for field in time.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:  # noqa: PLR2004
        return None
    return date, hour * 3600 + minute * 60 + second, int((time[4] or "")[:9].ljust(9, "0"))


def read_boolean(text: str) -> bool | None:
    """The words and letters of Spark, with blanks around them.

    >>> read_boolean("T"), read_boolean("no"), read_boolean("on")
    (True, False, None)
    """
    return _TRUTHS.get(text.strip(_BLANKS).lower())


def _date(day: re.Match[str]) -> dt.date | None:
    try:
        return dt.date(int(day[1]), int(day[2] or 1), int(day[3] or 1))
    except ValueError:
        return None
