"""Columns of results as texts, a column at a time: what stands in JSON and CSV for a value of each type.

* boolean, tinyint, smallint, int: ``true``, ``-5``; the same in JSON.
* bigint: ``5``; in JSON a number, and a string beyond 2^53 - 1, as many programs read the numbers of JSON as doubles.
* float, double: the shortest text that reads back as the same: ``0.1``, ``1e+20``, ``-0.0``. ``NaN``, ``Infinity`` and
  ``-Infinity`` are strings in JSON.
* decimal: all digits, ``12.50``; in JSON a string, for the reason of bigint.
* string, and types that are kept as strings: itself.
* date: ``2013-01-01``; behind the year 9999 and before the year 0 with a sign: ``+10000-01-01``.
* timestamp: in UTC, ``2013-01-01T05:00:00Z``; with six digits behind the seconds where these are not zero.
* timestamp_ntz: the same without ``Z``.
* time: ``05:00:00``.
* binary: base64.
* array: JSON's array.
* struct: JSON's object; names that repeat get a number: ``a``, ``a_2``.
* map: an object where the keys are strings, else an array of pairs: ``[[1,"a"]]``.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import MAXYEAR, date
from typing import Any, Final

import pyarrow as pa
from pyarrow import compute, types

from hbstore.errors import ReadFailed

TEXT: Final = pa.large_string()
"""The type of texts here: those of a batch may take more bytes than the offsets of a string column can tell."""

_EXACT_IN_DOUBLES: Final = 2**53 - 1
_DAY: Final = 86_400_000_000
"""Microseconds."""

_FIRST_DAY: Final = -719_162  # 0001-01-01, from 1970 on
_LAST_DAY: Final = 2_932_896  # 9999-12-31
_ESCAPED: Final = {chr(code): json.dumps(chr(code))[1:-1] for code in range(32)}
"""How JSON writes control characters."""


def scalar(text: str) -> pa.Scalar:
    """A text that stands in every row."""
    return pa.scalar(text, TEXT)


def glued(*parts: pa.Array | pa.Scalar | str, null: str | None = None) -> pa.Array:
    """The texts of each row, one behind the other.

    Args:
        parts: columns of texts, or a text for all rows.
        null: what stands for NULL; None: a row with a NULL is NULL.

    >>> glued("<", pa.array(["a", None], TEXT), ">", null="-").to_pylist()
    ['<a>', '<->']
    """
    columns = [scalar(part) if isinstance(part, str) else part for part in parts]
    if null is None:
        return compute.binary_join_element_wise(*columns, scalar(""))
    return compute.binary_join_element_wise(*columns, scalar(""), null_handling="replace", null_replacement=null)


def distinct(names: Sequence[str]) -> list[str]:
    """Names that differ, as keys of an object must: repeated ones get the next number that makes no other name.

    >>> distinct(["a", "b", "a", "a_2", "a"])
    ['a', 'b', 'a_3', 'a_2', 'a_4']
    """
    taken, keys = set(names), []
    seen: dict[str, int] = {}
    for name in names:
        number = seen.get(name, 0) + 1
        unique = name
        while number > 1 and (unique := f"{name}_{number}") in taken:
            number += 1
        seen[name] = number
        taken.add(unique)
        keys.append(unique)
    return keys


def plain(column: pa.Array) -> pa.Array:
    """A column's values as texts, as the table above says; NULL stays NULL.

    Raises:
        ReadFailed: there is no text for a type that Spark does not write.

    >>> plain(pa.array([1.0, float("nan"), None])).to_pylist()
    ['1.0', 'NaN', None]
    """
    kind = column.type
    for fits, text in _PLAIN:
        if fits(kind):
            return text(column)
    hint = "Fetch the result in Arrow's format, or cast the column to string"
    raise ReadFailed("the result has a column of a type without a text", type=kind, hint=hint)


def as_json(column: pa.Array) -> pa.Array:
    """A column's values in JSON, as the table above says; NULL stays NULL.

    >>> as_json(pa.array([[1, None], None, [2**60]])).to_pylist()
    ['[1,null]', None, '["1152921504606846976"]']
    """
    kind, text = column.type, plain(column)
    if _is_nested(kind) or types.is_boolean(kind) or types.is_null(kind):
        return text
    if is_string(kind):
        return glued('"', _escaped(text), '"')
    if types.is_integer(kind):
        if kind.bit_width < 64:  # noqa: PLR2004
            return text
        large = compute.or_(compute.greater(column, _EXACT_IN_DOUBLES), compute.less(column, -_EXACT_IN_DOUBLES))
        return _where(large, lambda: glued('"', text, '"'), text)
    if types.is_floating(kind):
        return _where(compute.invert(compute.is_finite(column)), lambda: glued('"', text, '"'), text)
    return glued('"', text, '"')


def _is_nested(kind: pa.DataType) -> bool:
    """Whether values have parts, so that their texts are JSON."""
    return bool(types.is_list(kind) or types.is_map(kind) or types.is_struct(kind))


def _where(condition: pa.Array, changed: Callable[[], pa.Array], text: pa.Array) -> pa.Array:
    """Texts, of which some are others; NULL where the condition is NULL."""
    return compute.if_else(condition, changed(), text) if compute.any(condition).as_py() else text


def mended(column: pa.Array, text: pa.Array, condition: pa.Array, text_of: Callable[[Any], str]) -> pa.Array:
    """Texts, of which a few are made value by value.

    Args:
        column: the values.
        text: their texts.
        condition: where the values' own texts come instead.
        text_of: makes one of them.
    """
    if not compute.any(condition).as_py():
        return text
    condition = compute.fill_null(condition, False)
    return compute.replace_with_mask(
        text, condition, pa.array(map(text_of, column.filter(condition).to_pylist()), TEXT)
    )


def is_string(kind: pa.DataType) -> bool:
    """Whether values are texts."""
    return bool(types.is_string(kind) or types.is_large_string(kind))


def is_binary(kind: pa.DataType) -> bool:
    """Whether values are bytes."""
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))


def _cast(column: pa.Array) -> pa.Array:
    return column.cast(TEXT)


def _floats(column: pa.Array) -> pa.Array:
    text = _cast(column)
    # Without a point, JSON's readers take them for integers, which have no -0.
    whole = compute.match_substring_regex(text, "^-?[0-9]+$")
    text = _where(whole, lambda: glued(text, ".0"), text)
    return mended(column, text, compute.invert(compute.is_finite(column)), _no_number)


def _no_number(value: float) -> str:
    if value != value:  # noqa: PLR0124
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _decimals(column: pa.Array) -> pa.Array:
    text = _cast(column)
    return mended(column, text, compute.match_substring(text, "E"), lambda value: format(value, "f"))


def _dates(column: pa.Array) -> pa.Array:
    days = column.cast(pa.int32())
    far = compute.or_(compute.less(days, _FIRST_DAY), compute.greater(days, _LAST_DAY))
    return mended(days, _cast(column), far, _date)


def _timestamps(column: pa.Array) -> pa.Array:
    local = column.cast(pa.timestamp("us"))  # much faster than with a zone, and the same as it is UTC
    text = _whole_seconds(times(local, "T"))
    return glued(text, "Z") if column.type.tz else text


def times(local: pa.Array, between: str) -> pa.Array:
    """Times without a zone as texts, with six digits behind the seconds.

    Args:
        local: of the type ``timestamp[us]``.
        between: the letter between a date and the time of the day.

    >>> times(pa.array([0, 2**59]).cast(pa.timestamp("us")), " ").to_pylist()
    ['1970-01-01 00:00:00.000000', '+20237-04-25 10:45:03.423488']
    """
    moments = local.cast(pa.int64())
    # Arrow's own texts are wrong from the year 32768 on.
    far = compute.or_(compute.less(moments, _FIRST_DAY * _DAY), compute.greater_equal(moments, (_LAST_DAY + 1) * _DAY))
    text = compute.binary_replace_slice(local.cast(TEXT), 10, 11, between)
    return mended(moments, text, far, lambda moment: _moment(moment, between))


def _whole_seconds(text: pa.Array) -> pa.Array:
    return compute.replace_substring(text, ".000000", "")


def _date(days: int) -> str:
    """A date of the calendar that goes on as it is now in both directions, in which the year 0 is before the year 1."""
    cycle, day = divmod(days - _FIRST_DAY, 146_097)  # 400 years, after which the calendar repeats
    like = date.fromordinal(day + 1)
    year = like.year + 400 * cycle
    sign = "-" if year < 0 else "+" if year > MAXYEAR else ""
    return f"{sign}{abs(year):04}{like.isoformat()[4:]}"


def _moment(moment: int, between: str) -> str:
    days, rest = divmod(moment, _DAY)
    seconds, micros = divmod(rest, 1_000_000)
    return f"{_date(days)}{between}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micros:06}"


def _base64(column: pa.Array) -> pa.Array:
    return pa.array([None if value is None else b64encode(value).decode() for value in column.to_pylist()], TEXT)


def _escaped(text: pa.Array) -> pa.Array:
    """Texts as they stand between the quotes of JSON."""
    if not compute.any(compute.match_substring_regex(text, r'["\\\x00-\x1f]')).as_py():
        return text
    text = compute.replace_substring(text, "\\", "\\\\")
    text = compute.replace_substring(text, '"', '\\"')
    if compute.any(compute.match_substring_regex(text, r"[\x00-\x1f]")).as_py():
        for letter, written in _ESCAPED.items():
            text = compute.replace_substring(text, letter, written)
    return text


def _lists(column: pa.Array) -> pa.Array:
    return joined(column, lambda within: as_json(column.values.slice(*within)), "[", "]")


def _maps(column: pa.Array) -> pa.Array:
    texts = is_string(column.type.key_type)

    def pairs(within: tuple[int, int]) -> pa.Array:
        keys, values = (as_json(part.slice(*within)) for part in (column.keys, column.items))
        return glued(keys, ":", values, null="null") if texts else glued("[", keys, ",", values, "]", null="null")

    return joined(column, pairs, *("{}" if texts else "[]"))


def joined(column: pa.Array, parts: Callable[[tuple[int, int]], pa.Array], before: str, after: str) -> pa.Array:
    """What a column of lists holds, its parts with commas between.

    Args:
        column: of lists or maps.
        parts: the texts of parts, of those from one on, so many.
        before: what stands before them.
        after: what stands behind them.
    """
    if not len(column):
        return pa.array([], TEXT)
    offsets = column.offsets  # of a slice they do not begin with 0, and its parts are those of the whole
    first = offsets[0].as_py()
    texts = compute.fill_null(parts((first, offsets[-1].as_py() - first)), "null")
    lists = pa.ListArray.from_arrays(compute.subtract(offsets, pa.scalar(first, pa.int32())), texts)
    return where_valid(column, glued(before, compute.binary_join(lists, scalar(",")), after))


def _structs(column: pa.Array) -> pa.Array:
    keys = [json.dumps(name, ensure_ascii=False) for name in distinct([part.name for part in column.type])]
    return objects(column, keys, as_json)


def objects(column: pa.Array, keys: Sequence[str], text: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """What a column of structs holds, each part behind its key.

    Args:
        column: of structs.
        keys: as they are written.
        text: makes the texts of a part.
    """
    parts = [
        one
        for number, (key, part) in enumerate(zip(keys, column.flatten(), strict=True))
        for one in (f"{',' if number else '{'}{key}:", text(part))
    ]
    return where_valid(column, glued(*parts, "}", null="null"))


def where_valid(column: pa.Array, text: pa.Array) -> pa.Array:
    """Texts, NULL where the column is."""
    return compute.if_else(column.is_valid(), text, pa.scalar(None, TEXT)) if column.null_count else text


_PLAIN: Final[Sequence[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], pa.Array]]]] = (
    (is_string, _cast),
    (types.is_integer, _cast),
    (types.is_boolean, _cast),
    (types.is_null, _cast),
    (types.is_floating, _floats),
    (types.is_decimal, _decimals),
    (types.is_date32, _dates),
    (types.is_timestamp, _timestamps),
    (types.is_time64, lambda column: _whole_seconds(_cast(column))),
    (is_binary, _base64),
    (types.is_list, _lists),
    (types.is_map, _maps),
    (types.is_struct, _structs),
)
