"""Expressions as clients send them for a table, by which partitions are listed or dropped.

An expression is the UTF-8 text of a filter in the SQL dialect, or Hive's own: bytes of Kryo, which
`hbstore.hive_expressions` reads (docs/hive-expressions.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hbstore.errors import FilterError
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import And, Comparison, ExpressionTree, Operator, Or, SpecValue, Text, joined
from hbstore.hive_expressions.meaning import meaning_of
from hbstore.hive_expressions.reading import read_expression
from hbstore.hive_expressions.refusal import unreadable
from hbstore.keys.partition_names import unescape_name
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.metastore.methods.filters import EXPRESSION_DIALECT, expression_text
from hbstore.model.objects import Table
from hbstore.store.reader import Filter

EVALUATORS: Final = ("metastore.expression.proxy", "hive.metastore.expression.proxy")
"""The settings by which a client names the class that is to evaluate its expressions: here no class is loaded."""

_OF_MSCK: Final = "MsckPartitionExpressionProxy"


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


def is_msck(settings: Mapping[str, str]) -> bool:
    """Whether a connection with these settings is one of MSCK of Hive 4."""
    return any(settings.get(name, "").endswith(_OF_MSCK) for name in EVALUATORS)


def named_partitions(text: str) -> ExpressionTree | None:
    """The partitions that MSCK of Hive 4 names: its filter has the texts of partition names, with their escapes.

    Raises:
        FilterSyntaxError, FilterTooLarge: it is no filter.

    >>> named_partitions("(hour='05' AND at='12%3A00') OR (hour='5' AND at='12')").children[0].children[0]
    <SpecValue hour = '05'>
    """
    tree = parse_filter(text, EXPRESSION_DIALECT)
    if tree is None:
        return None
    partitions = tree.children if isinstance(tree, Or) else (tree,)
    named = (one.children if isinstance(one, And) else (one,) for one in partitions)
    return joined(Or, [joined(And, [_named_text(part) for part in parts]) for parts in named])


def _named_text(part: ExpressionTree) -> ExpressionTree:
    if isinstance(part, Comparison) and part.operator is Operator.EQ and isinstance(part.literal, Text):
        return SpecValue(part.column, unescape_name(part.literal.value))
    return part
