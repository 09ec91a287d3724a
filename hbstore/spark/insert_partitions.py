"""INSERT … PARTITION (date = 'x') of a table with more partition columns, written so that Spark takes it.

Spark wants all partition columns in the clause: those without a value are dynamic, and come from the query's last
columns. Here the ones that are left out are put behind those that are there; nothing else of the text is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from pyspark.sql import SparkSession

from hbstore.spark.texts import quoted
from hbstore.texts.quotes import COMMENT, comment_end

_CATALOG: Final = "spark_catalog"
_WORTH_READING: Final = re.compile(r"\binsert\b.*\bpartition\b", re.IGNORECASE | re.DOTALL)

# As Spark's lexer has them. Texts that are not closed reach to the end.
_TOKEN: Final = re.compile(
    rf"""(?P<blank>\s+|{COMMENT})
    |(?P<comment>/\*)
    |(?P<text>[rR]'[^']*+'?|[rR]"[^"]*+"?|'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?
        |\$(?P<tag>[A-Za-z]*)\$.*?\$(?P=tag)\$)
    |`(?P<quoted>(?:[^`]|``)*)`?
    |(?P<word>\w+)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)


class _Token(NamedTuple):
    """A name, a keyword, a text or a sign.

    Attributes:
        start: its place.
        sign: a sign, or a keyword in upper case; empty for all others.
        name: a name without back-quotes; None for all others.
    """

    start: int
    sign: str
    name: str | None


@dataclass(frozen=True, slots=True)
class InsertPartition:
    """A PARTITION clause of an INSERT.

    Attributes:
        table: the parts of the table's name.
        columns: the names of the columns in the clause.
        end: the place of its closing parenthesis.
    """

    table: tuple[str, ...]
    columns: tuple[str, ...]
    end: int


def with_all_partition_columns(spark: SparkSession, text: str) -> str:
    """A statement whose INSERTs into tables of Spark's own catalog name all partition columns; others as they are."""
    if not _WORTH_READING.search(text):
        return text
    parts, begin = [], 0
    for clause in insert_partitions(text):
        added = "".join(f", {quoted(name)}" for name in _left_out(spark, clause))
        parts += [text[begin : clause.end], added]
        begin = clause.end
    return "".join([*parts, text[begin:]])


def insert_partitions(text: str) -> Iterator[InsertPartition]:
    """The PARTITION clauses of the INSERTs of a text. O(length).

    >>> list(insert_partitions("INSERT INTO shop.`t` PARTITION (ds = 'x', Hour) SELECT 1, 2"))
    [InsertPartition(table=('shop', 't'), columns=('ds', 'Hour'), end=46)]
    """
    tokens = _tokens(text)
    for token in tokens:
        if token.sign == "INSERT":
            clause = _clause(tokens)
            if clause is not None:
                yield clause


def _left_out(spark: SparkSession, clause: InsertPartition) -> list[str]:
    """The partition columns that a clause leaves out; none where Spark has to say what is wrong with it."""
    name = ".".join(map(quoted, clause.table))
    if not spark.catalog.tableExists(name) or spark.catalog.getTable(name).catalog != _CATALOG:
        return []
    columns = [column.name for column in spark.catalog.listColumns(name) if column.isPartition]
    named = {column.lower() for column in clause.columns}
    if not named <= {column.lower() for column in columns}:
        return []
    return [column for column in columns if column.lower() not in named]


def _clause(tokens: Iterator[_Token]) -> InsertPartition | None:
    """The PARTITION clause behind INSERT; None if there is none."""
    end = _Token(0, "", None)
    if next(tokens, end).sign not in {"INTO", "OVERWRITE"}:
        return None
    token = next(tokens, end)
    if token.sign == "TABLE":
        token = next(tokens, end)
    table = []
    while token.name is not None:
        table.append(token.name)
        token = next(tokens, end)
        if token.sign != ".":
            break
        token = next(tokens, end)
    if token.sign == "WITH":
        _skip_parentheses(tokens)
        token = next(tokens, end)
    if not table or token.sign != "PARTITION" or next(tokens, end).sign != "(":
        return None
    return _columns(tokens, tuple(table))


def _columns(tokens: Iterator[_Token], table: tuple[str, ...]) -> InsertPartition | None:
    """The columns up to the closing parenthesis; None if the clause is not one that Spark knows."""
    columns: list[str] = []
    begins = True
    for token in tokens:
        if begins and token.name is not None:
            columns.append(token.name)
        elif begins or token.sign == "(":
            return None
        elif token.sign == ")":
            return InsertPartition(table, tuple(columns), token.start)
        begins = token.sign == ","
    return None


def _skip_parentheses(tokens: Iterator[_Token]) -> None:
    depth = 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token.sign, 0)
        if depth <= 0:
            return


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None
        at = match.end()
        if match["comment"]:
            at = comment_end(text, match.start()) or len(text)
        elif match["word"]:
            yield _Token(match.start(), match["word"].upper(), match["word"])
        elif match["quoted"] is not None:
            yield _Token(match.start(), "", match["quoted"].replace("``", "`"))
        elif not match["blank"]:
            yield _Token(match.start(), match["sign"] or "", None)
