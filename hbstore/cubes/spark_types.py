"""Types of values as Spark SQL writes them, such as ``DECIMAL(10, 2)`` and ``MAP<STRING, ARRAY<INT>>``.

sqlglot knows the types of all engines, and takes each for that of its name. ``INT8`` is a BIGINT in Postgres, has one
byte in what sqlglot writes, and is no type of Spark.
"""

from __future__ import annotations

from typing import Final

from sqlglot import TokenType, exp

from hbstore.cubes.token_cursor import TokenCursor

_Kind = exp.DType
_SIMPLE: Final = {
    **dict.fromkeys(("BIGINT", "LONG"), _Kind.BIGINT),
    **dict.fromkeys(("BYTE", "TINYINT"), _Kind.TINYINT),
    **dict.fromkeys(("CHAR", "CHARACTER"), _Kind.CHAR),
    **dict.fromkeys(("DEC", "DECIMAL", "NUMERIC"), _Kind.DECIMAL),
    **dict.fromkeys(("FLOAT", "REAL"), _Kind.FLOAT),
    **dict.fromkeys(("INT", "INTEGER"), _Kind.INT),
    **dict.fromkeys(("SHORT", "SMALLINT"), _Kind.SMALLINT),
    "BINARY": _Kind.BINARY,
    "BOOLEAN": _Kind.BOOLEAN,
    "DATE": _Kind.DATE,
    "DOUBLE": _Kind.DOUBLE,
    "STRING": _Kind.TEXT,
    "TIME": _Kind.TIME,
    "TIMESTAMP": _Kind.TIMESTAMPTZ,
    "TIMESTAMP_LTZ": _Kind.TIMESTAMPLTZ,
    "TIMESTAMP_NTZ": _Kind.TIMESTAMPNTZ,
    "VARCHAR": _Kind.VARCHAR,
    "VARIANT": _Kind.VARIANT,
    "VOID": _Kind.NULL,
}
"""The types of one word that Spark has, with sqlglot's names for them."""

_NUMBERS: Final = {_Kind.CHAR: (1,), _Kind.DECIMAL: (0, 1, 2), _Kind.TIME: (0, 1), _Kind.VARCHAR: (1,)}
"""How many numbers a type may have in brackets, where it may have some."""

_SPANS: Final = (("YEAR", "MONTH"), ("DAY", "HOUR", "MINUTE", "SECOND"))
"""Units that an interval may reach from and to."""

LITERALS: Final = frozenset(("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"))
"""Types that may stand before a text: ``DATE'2020-01-31'``."""


def data_type(cursor: TokenCursor) -> exp.DataType:
    """The type that comes next.

    Raises:
        ParseError: there is none that Spark has.
    """
    word = cursor.word()
    if word in _SIMPLE:
        return _simple(cursor, _SIMPLE[word])
    if word not in ("ARRAY", "INTERVAL", "MAP", "STRUCT"):
        cursor.refuse("Expected a type of Spark")
    cursor.token()
    if word == "INTERVAL":
        return _interval(cursor)
    cursor.expect("<")
    kind = {"ARRAY": _Kind.ARRAY, "MAP": _Kind.MAP, "STRUCT": _Kind.STRUCT}[word]
    inner: list[exp.Expr] = [_field(cursor) if word == "STRUCT" else data_type(cursor)]
    if word == "MAP":
        cursor.expect(",")
        inner.append(data_type(cursor))
    while word == "STRUCT" and cursor.skips(","):
        inner.append(_field(cursor))
    cursor.expect(">")
    return exp.DataType(this=kind, expressions=inner, nested=True)


def _simple(cursor: TokenCursor, kind: exp.DType) -> exp.DataType:
    start = cursor.at
    cursor.token()
    numbers = []
    if kind in _NUMBERS and cursor.skips("("):
        numbers.append(_number(cursor))
        while cursor.skips(","):
            numbers.append(_number(cursor))
        cursor.expect(")")
    if len(numbers) not in _NUMBERS.get(kind, (0,)):
        cursor.at = start
        cursor.refuse("Expected a type of Spark with as many numbers in brackets as it has")
    if kind is _Kind.TIMESTAMPTZ and cursor.skips("WITH"):
        cursor.expect("LOCAL", "TIME", "ZONE")
    elif kind in (_Kind.TIME, _Kind.TIMESTAMPTZ) and cursor.skips("WITHOUT"):
        cursor.expect("TIME", "ZONE")
        kind = _Kind.TIMESTAMPNTZ if kind is _Kind.TIMESTAMPTZ else kind
    node = exp.DataType(this=kind, expressions=numbers, nested=False)
    if kind is _Kind.TEXT and cursor.skips("COLLATE"):
        node.set("collate", exp.var(_name(cursor).this))
    return node


def _number(cursor: TokenCursor) -> exp.Expr:
    token = cursor.literal(TokenType.NUMBER)
    if token is None or not token.text.isdecimal():
        cursor.refuse("Expected digits")
    return exp.DataTypeParam(this=exp.Literal.number(token.text))


def _interval(cursor: TokenCursor) -> exp.DataType:
    for units in _SPANS:
        first = cursor.word()
        if first not in units:
            continue
        unit: exp.Expr = exp.var(cursor.token().text.upper())
        if cursor.skips("TO"):
            if cursor.word() not in units[units.index(first) + 1 :]:
                cursor.refuse("Expected a smaller unit")
            unit = exp.IntervalSpan(this=unit, expression=exp.var(cursor.token().text.upper()))
        return exp.DataType(this=exp.Interval(unit=unit))
    return exp.DataType(this=_Kind.INTERVAL)


def _field(cursor: TokenCursor) -> exp.Expr:
    """A field of a struct: ``a: INT NOT NULL COMMENT 'of b'``; the colon may be left out."""
    name = _name(cursor)
    cursor.skips(":")
    field = exp.ColumnDef(this=name, kind=data_type(cursor), constraints=[])
    if cursor.skips("NOT"):
        cursor.expect("NULL")
        field.append("constraints", exp.ColumnConstraint(kind=exp.NotNullColumnConstraint()))
    if cursor.skips("COMMENT"):
        text = cursor.literal(TokenType.STRING)
        if text is None:
            cursor.refuse("Expected a text")
        comment = exp.CommentColumnConstraint(this=exp.Literal.string(text.text))
        field.append("constraints", exp.ColumnConstraint(kind=comment))
    return field


def _name(cursor: TokenCursor) -> exp.Identifier:
    token = cursor.name()
    if token is None:
        cursor.refuse("Expected a name")
    return exp.Identifier(this=token.text, quoted=token.token_type is TokenType.IDENTIFIER)
