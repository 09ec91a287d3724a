"""Calls of functions: most are names with arguments, and some have words between their arguments.

sqlglot has classes for some 700 functions of all engines, and writes what Spark calls them. Some lose an argument on
the way, or gain one: ``to_char(12454, '99G999')`` becomes a CAST, ``listagg(a)`` gets a comma between its values. So
only functions that hbstore looks at have classes here. All others are written as they were read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser

from hbstore.cubes.spark_types import data_type
from hbstore.cubes.token_cursor import TokenCursor

LOOKED_AT: Final = (
    *("APPROX_COUNT_DISTINCT", "AVG", "BIT_AND", "BIT_OR", "BOOL_AND", "BOOL_OR", "COLLECT_SET", "COUNT"),
    *("MAX", "MIN", "SUM"),
)
"""Functions that have classes: aggregates that are made from parts, or do not mind how often a value comes."""

_OF_ONE: Final = ("MAX", "MIN")
"""Of these, what has several arguments is another function for sqlglot."""

_UNITS: Final = frozenset(
    ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
)
_WITH_UNITS: Final = frozenset(
    ("DATEADD", "DATE_ADD", "DATEDIFF", "DATE_DIFF", "TIMEDIFF", "TIMESTAMPADD", "TIMESTAMPDIFF")
)
"""Functions that may have the word for a unit, such as ``DATEADD(MONTH, 1, t)``, before two other arguments."""

_SIDES: Final = ("BOTH", "LEADING", "TRAILING")


class ArgumentReader(Protocol):
    """What reads the arguments between the words of a call."""

    cursor: TokenCursor

    def expression(self, first: exp.Expr | None = None) -> exp.Expr:
        """The next expression, of which the first operand may have been read."""

    def value(self) -> exp.Expr:
        """The next expression, but for IN, LIKE and such, NOT, AND and OR."""

    def first_operand(self) -> exp.Expr:
        """The next operand; the whole expression where no operand begins with its first word."""

    def arguments(self, first: exp.Expr | None = None) -> list[exp.Expr]:
        """The next arguments and their bracket; of the first one, the first operand may have been read."""

    def named_expressions(self) -> list[exp.Expr]:
        """The next expressions, which may have aliases, to the bracket that closes them."""


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A call of a function that has no class.

    >>> call("length", exp.column("a")).sql("spark")
    'LENGTH(a)'
    """
    return exp.Anonymous(this=name.upper(), expressions=list(arguments))


def name_of(node: exp.Expr) -> str | None:
    """The name, in lower case, of a function that has no class; None for other nodes.

    >>> name_of(call("instr", exp.column("a")))
    'instr'
    """
    return str(node.this).lower() if isinstance(node, exp.Anonymous) else None


def called(name: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """A call by a name that has no quotes, which the user may have written in any case."""
    upper = name.upper()
    if upper in LOOKED_AT and (len(arguments) == 1 or upper not in _OF_ONE):
        node: exp.Expr = SparkParser.FUNCTIONS[upper](list(arguments))
        return node
    if upper == "IF" and len(arguments) == 3:  # noqa: PLR2004
        return exp.If(this=arguments[0], true=arguments[1], false=arguments[2])
    if upper in _WITH_UNITS and len(arguments) == 3 and _is_unit(arguments[0]):  # noqa: PLR2004
        arguments = (exp.var(arguments[0].name.upper()), *arguments[1:])
    return exp.Anonymous(this=name, expressions=list(arguments))


def _is_unit(argument: exp.Expr) -> bool:
    is_word = isinstance(argument, exp.Column) and not (argument.table or argument.this.quoted)
    return is_word and argument.name.upper() in _UNITS


def _cast(reader: ArgumentReader, kind: type[exp.Cast]) -> exp.Expr:
    value = reader.expression()
    reader.cursor.expect("AS")
    cast = kind(this=value, to=data_type(reader.cursor), safe=kind is exp.TryCast)
    reader.cursor.expect(")")
    return cast


def _struct(reader: ArgumentReader) -> exp.Expr:
    return exp.Anonymous(this="STRUCT", expressions=reader.named_expressions())


def _first(reader: ArgumentReader, name: str) -> exp.Expr:
    if reader.cursor.word() in ("ALL", "DISTINCT"):
        return exp.Anonymous(this=name, expressions=reader.arguments())
    value = reader.expression()
    if not reader.cursor.skips("IGNORE", "NULLS"):
        return exp.Anonymous(this=name, expressions=reader.arguments(value))
    reader.cursor.expect(")")
    if not isinstance(value, exp.Paren):  # else Spark takes the words for those of a call that the value ends with
        value = exp.Paren(this=value)
    return exp.Anonymous(this=name, expressions=[exp.IgnoreNulls(this=value)])


def _extract(reader: ArgumentReader) -> exp.Expr:
    field = reader.cursor.name()
    if field is None:
        reader.cursor.refuse("Expected the field of a time")
    reader.cursor.expect("FROM")
    extract = exp.Extract(this=exp.var(field.text.upper()), expression=reader.value())
    reader.cursor.expect(")")
    return extract


def _overlay(reader: ArgumentReader) -> exp.Expr:
    first = reader.first_operand()
    if not reader.cursor.skips("PLACING"):
        return call("OVERLAY", *reader.arguments(first))
    overlay = exp.Overlay(this=first, expression=reader.value())
    reader.cursor.expect("FROM")
    overlay.set("from_", reader.value())
    if reader.cursor.skips("FOR"):
        overlay.set("for_", reader.value())
    reader.cursor.expect(")")
    return overlay


def _position(reader: ArgumentReader) -> exp.Expr:
    first = reader.first_operand()
    if not reader.cursor.skips("IN"):
        return call("POSITION", *reader.arguments(first))
    position = call("POSITION", first, reader.value())
    reader.cursor.expect(")")
    return position


def _substring(reader: ArgumentReader) -> exp.Expr:
    parts = [reader.first_operand()]
    if not reader.cursor.skips("FROM"):
        return call("SUBSTRING", *reader.arguments(parts[0]))
    parts.append(reader.value())
    if reader.cursor.skips("FOR"):
        parts.append(reader.value())
    reader.cursor.expect(")")
    return call("SUBSTRING", *parts)


def _trim(reader: ArgumentReader) -> exp.Expr:
    cursor = reader.cursor
    side = cursor.word() if cursor.word() in _SIDES and cursor.word(1) not in (")", ",", ".") else ""
    if side:
        cursor.token()
    signs = None if cursor.word() == "FROM" else reader.first_operand()
    if not cursor.skips("FROM"):
        if side or signs is None:
            cursor.refuse("Expected FROM")
        return call("TRIM", *reader.arguments(signs))
    text = reader.value()
    cursor.expect(")")
    if signs is None:
        return call({"LEADING": "LTRIM", "TRAILING": "RTRIM"}.get(side, "TRIM"), text)
    trim = exp.Trim(this=text, expression=signs)
    if side:
        trim.set("position", side)
    return trim


SPELLED: Final[dict[str, Callable[[ArgumentReader], exp.Expr]]] = {
    **{name: partial(_first, name=name) for name in ("ANY_VALUE", "FIRST", "LAST")},
    "CAST": partial(_cast, kind=exp.Cast),
    "EXTRACT": _extract,
    "OVERLAY": _overlay,
    "POSITION": _position,
    "STRUCT": _struct,
    "SUBSTR": _substring,
    "SUBSTRING": _substring,
    "TRIM": _trim,
    "TRY_CAST": partial(_cast, kind=exp.TryCast),
}
"""What reads calls that may have words between their arguments, from behind their first bracket on."""
