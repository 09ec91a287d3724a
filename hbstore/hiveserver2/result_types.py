"""Types of columns, from Spark's or Hive's texts to what TCLIService and JDBC say of them.

| type | TTypeId | java.sql.Types | size | digits | radix |
|---|---|---|---|---|---|
| boolean | 0 | 16 | 1 | | |
| tinyint, smallint, int, bigint | 1, 2, 3, 4 | -6, 5, 4, -5 | 3, 5, 10, 19 | 0 | 10 |
| float, double | 5, 6 | 6, 8 | 7, 15 | 7, 15 | 10 |
| decimal(p,s) | 15 | 3 | p | s | 10 |
| string, varchar(n), char(n) | 7, 18, 19 | 12, 12, 1 | 2^31 - 1, n, n | | |
| binary | 9 | -2 | 2^31 - 1 | | |
| date | 17 | 91 | 10 | | |
| timestamp, timestamp_ntz, timestamp_ltz | 8 | 93 | 29 | 9 | |
| interval … year, month | 20 | 1111 | | | |
| interval … day, hour, minute, second | 21 | 1111 | | | |
| array, map, struct | 10, 11, 12 | 2003, 2000, 2002 | | | |
| void | 16 | 0 | | | |
| all else: variant, time, interval, uniontype | 7 | 12 | 2^31 - 1 | | |

These are the sizes of Hive. Drivers of Hive 2.3 know no newer TTypeId, so a time zone of a timestamp is not told, and
what Hive does not have is a string. A type that a table's definition leaves open is a string, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from hbstore.byte_cache import remembered

LARGEST: Final = 2**31 - 1
"""The size of what has no bound."""

DECIMAL_RADIX: Final = 10
_WORD: Final = re.compile(r"\s*([a-z_]+)\s*(?:\(\s*([0-9]{1,9})\s*(?:,\s*([0-9]{1,9})\s*)?\))?", re.IGNORECASE)
_DECIMAL_DEFAULT: Final = (10, 0)


@dataclass(frozen=True, slots=True)
class ResultType:
    """What clients are told of a column's type.

    Attributes:
        name: as Hive writes it, without numbers and parts: ``decimal``.
        type_id: the number of its TTypeId.
        sql_type: its code in java.sql.Types.
        size: digits of numbers, characters of others; None where nobody can say.
        digits: those behind the point.
        radix: of what the digits count; None where there are none.
        precision: of decimal: all digits.
        scale: of decimal: those behind the point.
        length: characters of varchar and char.

    >>> result_type("decimal(10,2)").precision, result_type("array<decimal(10,2)>").precision
    (10, None)
    """

    name: str
    type_id: int
    sql_type: int
    size: int | None = None
    digits: int | None = None
    radix: int | None = None
    precision: int | None = None
    scale: int | None = None
    length: int | None = None

    @property
    def qualifiers(self) -> dict[str, int]:
        """The numbers of the type under the names of TTypeQualifiers.

        >>> result_type("decimal(10,2)").qualifiers, result_type("char(5)").qualifiers
        ({'precision': 10, 'scale': 2}, {'characterMaximumLength': 5})
        """
        numbers = {"precision": self.precision, "scale": self.scale, "characterMaximumLength": self.length}
        return {name: number for name, number in numbers.items() if number is not None}


BOOLEAN: Final = ResultType("boolean", 0, 16, 1)
TINYINT: Final = ResultType("tinyint", 1, -6, 3, 0, DECIMAL_RADIX)
SMALLINT: Final = ResultType("smallint", 2, 5, 5, 0, DECIMAL_RADIX)
INT: Final = ResultType("int", 3, 4, 10, 0, DECIMAL_RADIX)
BIGINT: Final = ResultType("bigint", 4, -5, 19, 0, DECIMAL_RADIX)
FLOAT: Final = ResultType("float", 5, 6, 7, 7, DECIMAL_RADIX)
DOUBLE: Final = ResultType("double", 6, 8, 15, 15, DECIMAL_RADIX)
STRING: Final = ResultType("string", 7, 12, LARGEST)
TIMESTAMP: Final = ResultType("timestamp", 8, 93, 29, 9)
BINARY: Final = ResultType("binary", 9, -2, LARGEST)
ARRAY: Final = ResultType("array", 10, 2003)
MAP: Final = ResultType("map", 11, 2000)
STRUCT: Final = ResultType("struct", 12, 2002)
DECIMAL: Final = ResultType("decimal", 15, 3, 38, 38, DECIMAL_RADIX)
VOID: Final = ResultType("void", 16, 0)
DATE: Final = ResultType("date", 17, 91, 10)
VARCHAR: Final = ResultType("varchar", 18, 12, 65_535)
CHAR: Final = ResultType("char", 19, 1, 255)
INTERVAL_YEAR_MONTH: Final = ResultType("interval_year_month", 20, 1111)
INTERVAL_DAY_TIME: Final = ResultType("interval_day_time", 21, 1111)

TYPES: Final = (
    *(BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL, STRING, VARCHAR, CHAR, BINARY, DATE, TIMESTAMP),
    *(INTERVAL_YEAR_MONTH, INTERVAL_DAY_TIME, ARRAY, MAP, STRUCT, VOID),
)
"""Every type that clients are told of, each with the largest numbers that it may have."""

_BY_NAME: Final = {
    **{one.name: one for one in TYPES},
    "integer": INT,
    "numeric": DECIMAL,
    "timestamp_ntz": TIMESTAMP,
    "timestamp_ltz": TIMESTAMP,
}
_INTERVALS: Final = {
    **dict.fromkeys(("year", "month"), INTERVAL_YEAR_MONTH),
    **dict.fromkeys(("day", "hour", "minute", "second"), INTERVAL_DAY_TIME),
}


@remembered
def result_type(text: str) -> ResultType:
    """The type that a text of Spark or Hive names.

    Args:
        text: such as ``decimal(10,2)``, ``array<int>``, ``interval day to second``; in any case.

    >>> result_type("Decimal(10,2)").digits, result_type("char(5)").length, result_type("interval day to second").name
    (2, 5, 'interval_day_time')
    >>> result_type("variant").name, result_type("timestamp with local time zone").name
    ('string', 'timestamp')
    """
    word = _WORD.match(text)
    if word is None:
        return STRING
    name = word[1].lower()
    if name == "interval":
        unit = _WORD.match(text, word.end())
        return _INTERVALS.get(unit[1].lower(), STRING) if unit else STRING  # without a unit Spark's calendar interval
    kind = _BY_NAME.get(name, STRING)
    if kind is DECIMAL:
        default, no_scale = _DECIMAL_DEFAULT
        precision = int(word[2] or default)
        scale = int(word[3] or no_scale)
        return replace(kind, size=precision, digits=scale, precision=precision, scale=scale)
    if kind in (VARCHAR, CHAR) and word[2]:
        length = int(word[2])
        return replace(kind, size=length, length=length)
    return kind
