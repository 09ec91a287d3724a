"""The values of a partition as a client gives them: as many as the table has columns, and nulls by Hive's name."""

from __future__ import annotations

from collections.abc import Sequence

from hbstore.errors import DdlRefused
from hbstore.model import Table, partition_value_texts
from hbstore.warehouse.refusals import refusal


def checked_values(table: Table, values: Sequence[str]) -> tuple[str, ...]:
    """The texts in which the partitions of a table differ.

    Raises:
        DdlRefused: there are too many or too few values, or the table has no partition columns.

    >>> from hbstore.model import Column
    >>> checked_values(Table("shop", "sales", partition_columns=[Column("hour", "int")]), [""])
    ('__HIVE_DEFAULT_PARTITION__',)
    """
    columns = table.partition_column_names
    if len(values) != len(columns) or not columns:
        reason = f"Invalid partition key & values; keys [{', '.join(columns)}], values [{', '.join(values)}]"
        raise refusal(DdlRefused, reason)
    return partition_value_texts(values)
