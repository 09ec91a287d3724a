"""Spark SQL as DuckDB runs it, with Spark's meaning: for the rewritten queries of tests, and for what they should say.

A text is read by sqlglot, which knows Spark's syntax, after its string literals were read here, as Spark 4 reads them.
No function is left to sqlglot: each becomes a macro of `MACROS`, or is an error. `tests/spark/test_spark_in_duckdb.py`
compares every macro, operator and literal with Spark itself.
"""

from __future__ import annotations

import re
from typing import Final

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser

_UNIT: Final = (
    "CASE WHEN lower({0}) IN ('yyyy', 'yy') THEN 'year' WHEN lower({0}) IN ('mm', 'mon') THEN 'month'"
    " WHEN lower({0}) = 'dd' THEN 'day' ELSE lower({0}) END"
)
_TIME: Final = "CAST({} AS TIMESTAMP)"
_LETTERS: Final = (
    *(("yyyy", "%Y"), ("MMMM", "%B"), ("MMM", "%b"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M")),
    *(("ss", "%S"), ("EEEE", "%A"), ("E", "%a")),
)
"""Letters of Spark's formats and what DuckDB calls them, in an order in which no value is taken for letters."""

_READ: Final = ("yyyy", "yyyy-MM", "yyyy-MM-dd", "yyyy-MM-dd-HH", "yyyy-MM-dd-HH-mm", "yyyy-MM-dd-HH-mm-ss")
"""Formats in which times are read."""


def _formatted(time: str) -> str:
    """A time in the format f; DuckDB takes no format that is not written out."""
    text = "f"
    for letters, theirs in _LETTERS:
        text = f"replace({text}, '{letters}', strftime({time}, '{theirs}'))"
    return text


def _read() -> str:
    cases = []
    for ours in _READ:
        theirs = ours
        for letters, sign in _LETTERS:
            theirs = theirs.replace(letters, sign)
        # DuckDB may read texts of rows that a condition leaves out.
        cases.append(f"WHEN '{ours}' THEN try_strptime(x, '{theirs}')")
    return f"CASE f {' '.join(cases)} END"


def _unit_of(name: str, of: dict[str, str]) -> str:
    cases = " ".join(f"WHEN lower({name}) IN ({units}) THEN {value}" for units, value in of.items())
    return f"CASE {cases} END"


MACROS: Final = {
    "abs(x)": "abs(x)",
    "and(a, b)": "a AND b",
    "add_months(d, n)": "CAST(CAST(d AS DATE) + to_months(CAST(n AS INT)) AS DATE)",
    "concat(a, b)": "CAST(a AS VARCHAR) || CAST(b AS VARCHAR)",
    "concat(a, b, c)": "CAST(a AS VARCHAR) || CAST(b AS VARCHAR) || CAST(c AS VARCHAR)",
    "convert_timezone(f, z, t)": "timezone(z, timezone(f, t))",
    "date(t)": "CAST(t AS DATE)",
    "date_add(d, n)": "CAST(d AS DATE) + CAST(n AS INT)",
    "date_format(t, f)": _formatted(_TIME.format("t")),
    "date_part(u, t)": _unit_of(
        "u",
        {
            "'year', 'years', 'y'": f"year({_TIME.format('t')})",
            "'quarter', 'qtr'": f"quarter({_TIME.format('t')})",
            "'month', 'months', 'mon'": f"month({_TIME.format('t')})",
            "'week', 'w'": f"weekofyear({_TIME.format('t')})",
            "'day', 'd'": f"day({_TIME.format('t')})",
            "'dow', 'dayofweek'": f"dayofweek({_TIME.format('t')}) + 1",
            "'doy'": f"dayofyear({_TIME.format('t')})",
            "'hour', 'h'": f"hour({_TIME.format('t')})",
            "'minute'": f"minute({_TIME.format('t')})",
        },
    ),
    "date_sub(d, n)": "CAST(d AS DATE) - CAST(n AS INT)",
    # DuckDB 1.5 takes date_trunc('month', NULL) != '2015-02-01 06:00:00' for true, unless something is added.
    "date_trunc(u, t)": f"date_trunc({_UNIT.format('u')}, {_TIME.format('t')}) + INTERVAL 0 DAY",
    "datediff(a, b)": "date_diff('day', CAST(b AS DATE), CAST(a AS DATE))",
    "day(t)": f"day({_TIME.format('t')})",
    "dayname(t)": f"strftime({_TIME.format('t')}, '%a')",
    "dayofmonth(t)": f"day({_TIME.format('t')})",
    "dayofweek(t)": f"dayofweek({_TIME.format('t')}) + 1",
    "dayofyear(t)": f"dayofyear({_TIME.format('t')})",
    "element_at(a, i)": "list_extract(a, i)",
    "from_unixtime(n, f)": _formatted("make_timestamp(n * 1000000)"),
    "from_utc_timestamp(t, z)": "timezone(z, timezone('UTC', t))",
    "greatest(a, b)": "greatest(a, b)",
    "hour(t)": f"hour({_TIME.format('t')})",
    "last_day(d)": "last_day(CAST(d AS DATE))",
    "least(a, b)": "least(a, b)",
    "left(x, n)": "left(x, n)",
    "length(x)": "length(x)",
    "lower(x)": "lower(x)",
    "make_date(y, m, d)": "make_date(y, m, d)",
    "minute(t)": f"minute({_TIME.format('t')})",
    "month(t)": f"month({_TIME.format('t')})",
    "monthname(t)": f"strftime({_TIME.format('t')}, '%b')",
    "next_day(d, x)": (
        "CAST(d AS DATE) + CAST((list_position(['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'], upper(left(x, 2)))"
        " - isodow(CAST(d AS DATE)) + 6) % 7 + 1 AS INT)"
    ),
    "not(a)": "NOT a",
    "or(a, b)": "a OR b",
    "pmod(a, b)": "CAST((a % b + b) % b AS BIGINT)",
    "quarter(t)": f"quarter({_TIME.format('t')})",
    "replace(x, a, b)": "replace(x, a, b)",
    "substr(x, i, n)": "substr(x, i, n)",
    "substring(x, i, n)": "substr(x, i, n)",
    "to_date(t)": "CAST(t AS DATE)",
    "to_timestamp(x, f)": _read(),
    "trunc(d, u)": f"CAST(date_trunc({_UNIT.format('u')}, CAST(d AS DATE)) AS DATE)",
    "unix_timestamp(t)": f"CAST(epoch({_TIME.format('t')}) AS BIGINT)",
    "upper(x)": "upper(x)",
    "weekday(t)": f"isodow({_TIME.format('t')}) - 1",
    "weekofyear(t)": f"weekofyear({_TIME.format('t')})",
    "year(t)": f"year({_TIME.format('t')})",
}
"""Functions of Spark, and what DuckDB computes for them."""

PREFIX: Final = "spark_"
_KNOWN: Final = frozenset(call.partition("(")[0] for call in MACROS)


def define(db: duckdb.DuckDBPyConnection) -> None:
    """Let a connection know the functions of Spark under their names behind `PREFIX`, and times in UTC."""
    db.execute("SET TimeZone = 'UTC'")
    overloads: dict[str, list[str]] = {}
    for call, meaning in MACROS.items():
        name, _, arguments = call.partition("(")
        overloads.setdefault(name, []).append(f"({arguments} AS ({meaning})")
    for name, bodies in overloads.items():
        db.execute(f"CREATE MACRO {PREFIX}{name}{', '.join(bodies)}")


class SparkText(Spark):
    """Spark SQL whose functions are names with arguments."""

    class Parser(SparkParser):
        """Knows aggregates, and functions that DuckDB has no macros for, as they take any number of arguments."""

        FUNCTIONS = {  # noqa: RUF012  as in sqlglot
            name: SparkParser.FUNCTIONS[name]
            for name in ("ARRAY", "AVG", "COALESCE", "COUNT", "IF", "MAP", "MAX", "MIN", "NULLIF", "SUM")
        }
        FUNCTION_PARSERS = {name: SparkParser.FUNCTION_PARSERS[name] for name in ("CAST", "EXTRACT")}  # noqa: RUF012


def in_duckdb(spark_sql: str) -> str:
    """A query, or an expression, of Spark as DuckDB runs it after `define`.

    >>> in_duckdb("SELECT month(`t`), 'o''brien' AS `it's`, array('a', 'b')[0]")
    'SELECT SPARK_MONTH("t"), \\'o\\'\\'brien\\' AS "it\\'s", [\\'a\\', \\'b\\'][1]'
    """
    tree = sqlglot.parse_one(with_plain_texts(spark_sql), dialect=SparkText)
    if isinstance(tree, exp.Select) and tree.args.get("order"):
        tree = _ordered_outside(tree) if tree.args.get("distinct") else _named_results_first(tree)
    for node in list(tree.walk()):
        if isinstance(node, exp.DataType) and node.is_type("timestamptz"):
            node.set("this", exp.DType.TIMESTAMP)
        elif isinstance(node, exp.Anonymous):
            name = str(node.this).lower()
            if name not in _KNOWN and name != "mean":  # which DuckDB calls so as well
                message = f"add {name} to MACROS"
                raise LookupError(message)
            node.set("this", name if name == "mean" else PREFIX + name)
        elif isinstance(node, exp.Bracket) and isinstance(node.this.unnest(), exp.Array | exp.Bracket):
            (index,) = node.expressions
            if not isinstance(index, exp.Literal):  # which sqlglot counts from 1 in DuckDB, but nothing else
                node.set("expressions", [exp.Add(this=exp.paren(index, copy=False), expression=exp.Literal.number(1))])
        elif isinstance(node, exp.And | exp.Or | exp.Not) and node.find_ancestor(exp.Where, exp.Join) is None:
            # DuckDB makes one AND of those within each other, = of NOT !=, and does not find what is grouped by in it.
            node.replace(exp.Anonymous(this=f"{PREFIX}{node.key}", expressions=list(node.iter_expressions())))
        elif isinstance(node, exp.Extract):
            arguments = [exp.Literal.string(node.name), node.expression]
            node.replace(exp.Anonymous(this=f"{PREFIX}date_part", expressions=arguments))
    return tree.sql("duckdb")


def _named_results_first(select: exp.Select) -> exp.Select:
    """Let names in ORDER BY be those of SELECT before those of rows, as in Spark, also within expressions."""
    results = {one.alias: one.this for one in select.expressions if isinstance(one, exp.Alias)}
    for ordered in select.args["order"].expressions:
        for name in list(ordered.find_all(exp.Column)):
            if not name.table and name.name in results and name.parent is not ordered:
                name.replace(exp.paren(results[name.name]))
    return select


def _ordered_outside(select: exp.Select) -> exp.Select:
    """The same where rows are distinct: then Spark orders by names of SELECT alone."""
    outside = {name: select.args.pop(name) for name in ("order", "limit") if select.args.get(name)}
    around = exp.select("*").from_(select.subquery("answer"))
    for name, value in outside.items():
        around.set(name, value)
    return around


_TOKEN: Final = re.compile(
    r"""(?P<name>`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/)|(?P<raw>\br(?:'[^']*'|"[^"]*"))"""
    r"""|(?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")""",
    re.DOTALL | re.IGNORECASE,
)
_ESCAPE: Final = r"\\(u[0-9a-fA-F]{4}|[01][0-7]{2}|.)"
_ESCAPED: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def with_plain_texts(spark_sql: str) -> str:
    r'''The same with each string literal in the one spelling that sqlglot reads right: in single quotes, with escapes.

    >>> print(with_plain_texts(r"""select 'o''brien', "it's", 'a""b', "a""b", r'\n', '\u0041\q', `a'b`"""))
    select 'o\'brien', 'it\'s', 'a""b', 'a"b', '\\n', 'Aq', `a'b`
    '''

    def plain(token: re.Match[str]) -> str:
        if token["name"]:
            return token[0]
        value = token["raw"][2:-1] if token["raw"] else text_of(token["text"])
        return "'{}'".format(value.replace("\\", "\\\\").replace("'", "\\'"))

    return _TOKEN.sub(plain, spark_sql)


def text_of(literal: str) -> str:
    r"""What a string literal of Spark 4 says.

    >>> text_of(r"'it''s'"), text_of(r"'it\'s'"), text_of(r'"a""b"')
    ("it's", "it's", 'a"b')
    """

    def said(sign: re.Match[str]) -> str:
        code = sign[1]
        if code is None:
            return sign[0][0]  # a quote that is doubled
        if len(code) > 1:
            return chr(int(code[1:], 16) if code[0] == "u" else int(code, 8))
        return _ESCAPED.get(code, code)

    return re.sub(f"{_ESCAPE}|{literal[0]}{literal[0]}", said, literal[1:-1], flags=re.DOTALL)
