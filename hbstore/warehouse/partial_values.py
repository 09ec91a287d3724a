"""Values of the leading partition columns, or of some: how the ``_ps`` methods select partitions.

A client gives values in the order of the partition columns. An empty one, and each that is missing at the end, stands
for any value. Values are compared by type, as everywhere: ``05`` selects the partition that was added as ``hour=5``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hbstore.errors import InvalidPartitionValue
from hbstore.filters.tree import And, Comparison, ExpressionTree, Operator, Text, joined
from hbstore.keys import TAG_TEXT, text_cell
from hbstore.model import Table
from hbstore.structs import partition_values


@dataclass(frozen=True, slots=True)
class PartialValues:
    """What partial values select.

    Attributes:
        where: a filter for the values that are values of their columns' types; None for all partitions.
        others: texts that are none, by column. No filter selects partitions that were kept with such a text, so they
            are looked for in what the filter selects.
    """

    where: ExpressionTree | None
    others: Mapping[int, str]

    def select(self, batches: Iterator[Sequence[bytes]]) -> Iterator[Sequence[bytes]]:
        """The partitions that hold the other texts."""
        for batch in batches:
            values = map(partition_values, batch)
            yield [
                payload
                for payload, texts in zip(batch, values, strict=True)
                if all(texts[column] == text for column, text in self.others.items())
            ]


def partial_values(table: Table, values: Sequence[str] | None) -> PartialValues:
    """What values select, given in the order of a table's partition columns.

    Raises:
        InvalidPartitionValue: there are more values than columns.

    >>> from hbstore.model import Column
    >>> table = Table("shop", "sales", partition_columns=[Column("ds", "date"), Column("hour", "int")])
    >>> print(partial_values(table, ["", "5"]).where)
    hour = '5'
    """
    texts = values or ()
    if len(texts) > len(table.partition_columns):
        raise InvalidPartitionValue(
            "there are more values than partition columns",
            table=table,
            values=len(texts),
            columns=len(table.partition_columns),
            hint="Give one value for each leading column; an empty value matches any",
        )
    parts: list[ExpressionTree] = []
    others = {}
    for at, (column, kind, text) in enumerate(zip(table.partition_columns, table.key_types, texts, strict=False)):
        if not text:
            continue
        if text_cell(kind, text)[:1] == TAG_TEXT:
            others[at] = text
        else:
            parts.append(Comparison(column.name, Operator.EQ, Text(text)))
    return PartialValues(joined(And, parts) if parts else None, others)
