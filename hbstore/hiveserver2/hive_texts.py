"""Columns of values as the texts that Hive's clients expect, a column at a time.

* boolean, integers: ``true``, ``-5``.
* decimal: all digits: ``12.50``.
* date: ``2013-01-01``; behind the year 9999 and before the year 0 with a sign: ``+10000-01-01``.
* timestamp: in a time zone, which is not named, and without zeros at its end: ``2013-01-01 05:00:00.12``.
* timestamp_ntz: the same, as it is.
* time: ``05:00:00.12``.
* string: itself. binary: the text that its bytes are.
* interval year to month: ``1-2``. interval day to second: ``1 02:03:04.500000000``, negative ``-1 02:03:04.500000000``.

What arrays, maps and structs hold looks like JSON and is none: ``["a",null]``, ``{"k":[1.5]}``,
``{"a":1,"at":2013-01-01 00:00:00}``. Texts stand in quotes, whatever letters they have, and all else is bare. The
entries of a map are sorted by their texts. float and double, which stand alone as numbers, are here written as Java
does: ``0.1``, ``1.0E10``, ``NaN``.

These are the texts of Spark's own server where its ``spark.sql.datetime.java8API.enabled`` is true: without it, Spark
shifts times before 1900 and loses days in October of 1582. There are these exceptions:

* Java before 19 writes some doubles with more digits than they need: ``2.0E23`` is there ``1.9999999999999998E23``.
* A value with an interval, a variant or a void inside of it is the text that Spark's cast makes of the whole:
  ``[INTERVAL '1' DAY]``.
* Entries of maps are sorted by code points, and not by Java's halves of those beyond U+FFFF.
* Bytes that are not UTF-8 may become fewer or more U+FFFD than in Java.
* Python's time zones and Java's come from different files, which may differ about clocks before 1970.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from hbstore.hiveserver2.result_types import INTERVAL_DAY_TIME, INTERVAL_YEAR_MONTH, ResultType
from hbstore.hiveserver2.zones import local_times
from hbstore.query_service.texts import TEXT, glued, is_binary, is_string, joined, mended, objects, plain, times

_LEAST_PLAIN: Final = 1e-3
_MOST_PLAIN: Final = 1e7
"""Java writes doubles from the one to below the other without an exponent."""

_UNITS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")
_YEARS: Final = re.compile(r"INTERVAL '(-?)(\d+)(?:-(\d+))?' (YEAR|MONTH)(?: TO MONTH)?")
_DAYS: Final = re.compile(r"INTERVAL '(-?)([\d :]+)(?:\.(\d+))?' (DAY|HOUR|MINUTE|SECOND)(?: TO [A-Z]+)?")
_MONTHS: Final = 12


def hive_texts(column: pa.Array, client_type: ResultType, zone: str) -> pa.Array:
    """A column's values as the list above says; NULL stays NULL.

    Args:
        column: as `hbstore.query_service.results.Results` gives it.
        client_type: the type that clients are told of; it tells intervals, which results keep as texts, from texts.
        zone: the time zone in which timestamps are written.

    Raises:
        ReadFailed: there is no text for a type that Spark does not write.
        InvalidInput: there is no such zone.

    >>> from hbstore.hiveserver2.result_types import ARRAY
    >>> hive_texts(pa.array([["a", None], None]), ARRAY, "UTC").to_pylist()
    ['["a",null]', None]
    >>> hive_texts(pa.array(["INTERVAL '2' YEAR"]), INTERVAL_YEAR_MONTH, "UTC").to_pylist()
    ['2-0']
    """
    interval = _INTERVALS.get(client_type.name)
    if interval and is_string(column.type):
        return pa.array([None if text is None else interval(text) for text in column.to_pylist()], TEXT)
    return _text(column, zone)


def _text(column: pa.Array, zone: str) -> pa.Array:
    """A column's values, in which texts stand alone."""
    kind = column.type
    for fits, text in _TEXTS:
        if fits(kind):
            return text(column, zone)
    return plain(column)


def _part(column: pa.Array, zone: str) -> pa.Array:
    """A column's values as they stand within others."""
    text = _text(column, zone)
    return glued('"', text, '"') if is_string(column.type) else text


def _timestamps(column: pa.Array, zone: str) -> pa.Array:
    local = local_times(column, zone) if column.type.tz else column.cast(pa.timestamp("us"))
    return _cut(times(local, " "))


def _cut(text: pa.Array) -> pa.Array:
    """Texts that end with a fraction of six digits, without the zeros at its end."""
    return compute.utf8_rtrim(compute.utf8_rtrim(text, "0"), ".")


def _floats(column: pa.Array, zone: str) -> pa.Array:
    del zone
    text, size = plain(column), compute.abs(column)
    small = compute.and_(compute.less(size, _LEAST_PLAIN), compute.not_equal(size, 0))
    large = compute.and_(compute.greater_equal(size, _MOST_PLAIN), compute.is_finite(size))
    return mended(text, text, compute.or_(small, large), _scientific)


def _scientific(text: str) -> str:
    """A number as Java writes it, with one digit before the point."""
    sign, digits, exponent = Decimal(text).normalize().as_tuple()
    assert isinstance(exponent, int)
    first, *others = map(str, digits)
    return f"{'-' if sign else ''}{first}.{''.join(others) or '0'}E{exponent + len(others)}"


def _binaries(column: pa.Array, zone: str) -> pa.Array:
    del zone
    try:
        return column.cast(TEXT)
    except pa.ArrowInvalid:
        each = column.to_pylist()
        return pa.array([None if one is None else one.decode(errors="replace") for one in each], TEXT)


def _lists(column: pa.Array, zone: str) -> pa.Array:
    return joined(column, lambda within: _part(column.values.slice(*within), zone), "[", "]")


def _structs(column: pa.Array, zone: str) -> pa.Array:
    return objects(column, [f'"{part.name}"' for part in column.type], lambda part: _part(part, zone))


def _maps(column: pa.Array, zone: str) -> pa.Array:
    def entries(within: tuple[int, int]) -> pa.Array:
        keys, values = (_part(part.slice(*within), zone) for part in (column.keys, column.items))
        texts = glued(keys, ":", values, null="null")
        rows = np.repeat(np.arange(len(column)), np.diff(column.offsets.to_numpy()))
        order = compute.sort_indices(
            pa.table({"row": rows, "text": texts}), sort_keys=[("row", "ascending"), ("text", "ascending")]
        )
        return texts.take(order)

    return joined(column, entries, "{", "}")


def _years(text: str) -> str:
    """An interval of years and months."""
    parts = _YEARS.fullmatch(text)
    if parts is None:
        return text
    sign, first, second, unit = parts.groups()
    years, months = divmod(int(first), _MONTHS) if unit == "MONTH" else (int(first), int(second or 0))
    return f"{sign}{years}-{months}"


def _days(text: str) -> str:
    """An interval of days, hours, minutes and seconds."""
    parts = _DAYS.fullmatch(text)
    if parts is None:
        return text
    sign, numbers, fraction, unit = parts.groups()
    amounts = [0, 0, 0, 0]
    for at, number in enumerate(re.split("[ :]", numbers), _UNITS.index(unit)):
        amounts[at] = int(number)
    days, hours, minutes, seconds = amounts
    # A unit that comes first may be any number: INTERVAL '26' HOUR.
    minutes, seconds = minutes + seconds // 60, seconds % 60
    hours, minutes = hours + minutes // 60, minutes % 60
    days, hours = days + hours // 24, hours % 24
    return f"{sign}{days} {hours:02}:{minutes:02}:{seconds:02}.{fraction or '':0<9}"


_INTERVALS: Final[dict[str, Callable[[str], str]]] = {
    INTERVAL_YEAR_MONTH.name: _years,
    INTERVAL_DAY_TIME.name: _days,
}
_TEXTS: Final[Sequence[tuple[Callable[[Any], bool], Callable[[pa.Array, str], pa.Array]]]] = (
    (types.is_timestamp, _timestamps),
    (types.is_floating, _floats),
    (types.is_time64, lambda column, _: _cut(column.cast(TEXT))),
    (is_binary, _binaries),
    (types.is_list, _lists),
    (types.is_map, _maps),
    (types.is_struct, _structs),
)
