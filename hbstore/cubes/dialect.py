"""How texts of expressions and queries are read and written: as Spark SQL, with each function as it was written.

sqlglot has classes for some 700 functions of all engines, and writes what Spark calls them. Some lose an argument on
the way, or gain one: ``to_char(12454, '99G999')`` becomes a CAST, ``listagg(a)`` gets a comma between its values. So
only functions that hbstore looks at have classes here. All others are names with arguments, and are written as they
were read.

>>> from sqlglot import parse_one
>>> parse_one("instr(lower(a), 'b', 1, 2)", dialect=QueryDialect).sql(QueryDialect)
"INSTR(LOWER(a), 'b', 1, 2)"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.spark import SparkParser

LOOKED_AT: Final = (
    *("APPROX_COUNT_DISTINCT", "AVG", "BIT_AND", "BIT_OR", "BOOL_AND", "BOOL_OR", "COLLECT_SET", "COUNT"),
    *("MAX", "MIN", "SUM"),
)
"""Functions that have classes: aggregates that are made from parts, or do not mind how often a value comes."""

_SPELLED: Final = ("CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTR", "SUBSTRING", "TRIM", "TRY_CAST")
"""Functions whose arguments have words between them, such as ``CAST(a AS INT)``."""


def _greatest(arguments: Sequence[exp.Expr]) -> exp.Expr:
    return _of_one(exp.Max, arguments)


def _least(arguments: Sequence[exp.Expr]) -> exp.Expr:
    return _of_one(exp.Min, arguments)


def _of_one(kind: type[exp.Func], arguments: Sequence[exp.Expr]) -> exp.Expr:
    """A call of one argument; sqlglot takes it for another function where there are several."""
    if len(arguments) == 1:
        return kind(this=arguments[0])
    return exp.Anonymous(this=kind.sql_name(), expressions=list(arguments))


class QueryDialect(Spark):
    """Spark SQL in which a function is written as it was read."""

    class Parser(SparkParser):
        """Reads functions that hbstore does not look at as names with arguments."""

        FUNCTIONS = {  # noqa: RUF012  as in sqlglot
            **{name: SparkParser.FUNCTIONS[name] for name in LOOKED_AT},
            "MAX": _greatest,
            "MIN": _least,
        }
        FUNCTION_PARSERS = {name: SparkParser.FUNCTION_PARSERS[name] for name in _SPELLED}  # noqa: RUF012
        NO_PAREN_FUNCTION_PARSERS = {  # noqa: RUF012
            name: parse for name, parse in SparkParser.NO_PAREN_FUNCTION_PARSERS.items() if name != "ANY"
        }

    class Generator(SparkGenerator):
        """Writes the type TIME, which Spark has."""

        TYPE_MAPPING = {**SparkGenerator.TYPE_MAPPING, exp.DType.TIME: "TIME"}  # noqa: RUF012


def name_of(call: exp.Expr) -> str | None:
    """The name, in lower case, of a function that has no class; None for other nodes.

    >>> name_of(exp.func("instr", exp.column("a"), dialect=QueryDialect))
    'instr'
    """
    return str(call.this).lower() if isinstance(call, exp.Anonymous) else None
