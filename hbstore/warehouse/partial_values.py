"""Values of the leading partition columns, or of some: how the ``_ps`` methods select partitions.

A client gives values in the order of the partition columns. An empty one, and each that is missing at the end, stands
for any value. Values are texts, as in specs: ``5`` selects ``hour=5``, and not ``hour=05``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hbstore.errors import InvalidPartitionValue
from hbstore.filters.tree import And, ExpressionTree, SpecValue, joined
from hbstore.model.objects import Table


def partial_values(table: Table, values: Sequence[str] | None) -> ExpressionTree | None:
    """The filter of values in the order of a table's partition columns; None where they select all partitions.

    Raises:
        InvalidPartitionValue: there are more values than columns.

    >>> from hbstore.model.objects import Column
    >>> table = Table("shop", "sales", partition_columns=[Column("ds", "date"), Column("hour", "int")])
    >>> print(partial_values(table, ["", "5"]))
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
    parts = [SpecValue(name, text) for name, text in zip(table.partition_column_names, texts, strict=False) if text]
    return joined(And, parts) if parts else None
