"""Expressions as clients send them for a table, by which partitions are listed or dropped.

An expression is the UTF-8 text of a filter in the SQL dialect, or Hive's own: bytes of Kryo, which
`hbstore.hive_expressions` reads (docs/hive-expressions.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from hbstore.errors import FilterError
from hbstore.hive_expressions.meaning import meaning_of
from hbstore.hive_expressions.reading import read_expression
from hbstore.hive_expressions.refusal import unreadable
from hbstore.keys import NULL_PARTITION
from hbstore.metastore.methods.filters import expression_text
from hbstore.model import Table
from hbstore.store.reader import Filter


@dataclass(frozen=True, slots=True)
class ExpressionSelection:
    """What an expression selects.

    Attributes:
        where: the filter.
        unread: the parts that were left out; where there are any, the filter selects more than the expression.
    """

    where: Filter
    unread: tuple[FilterError, ...] = ()


def selection_of(table: Table, expression: bytes | None, null_partition: str | None = None) -> ExpressionSelection:
    """What an expression selects of a table.

    Args:
        table: the table.
        expression: its bytes.
        null_partition: what the client calls the null partition, where it says so.

    Raises:
        FilterSyntaxError, FilterTooLarge: it is text, but no filter's.
        UnknownColumnError: it is Hive's own, and names a column that is not a partition column.
        ExpressionUnreadable: it is Hive's own, and hbstore does not read it.
    """
    text = expression_text(expression)
    if text is not None:
        return ExpressionSelection(text)
    if null_partition not in (None, "", NULL_PARTITION):
        raise unreadable("the client has another name for the null partition", name=null_partition)
    columns = {
        name.lower(): column_type
        for name, column_type in zip(table.partition_column_names, table.key_types, strict=True)
    }
    meaning = meaning_of(read_expression(expression or b""), columns)
    return ExpressionSelection(meaning.tree, meaning.unread)
