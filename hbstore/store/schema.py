"""Schema: the columns of a table, those of its data and those that partition it."""

from __future__ import annotations

from dataclasses import dataclass

from hbstore.model.objects import Column, column_rows
from hbstore.pictures.html_table import html_table
from hbstore.texts.wording import clipped


@dataclass(frozen=True, slots=True, repr=False)
class Schema:
    """The columns of a table.

    Attributes:
        columns: the columns of the data, in their order.
        partition_columns: the columns that partitions differ in, most significant first.

    >>> sales.schema
    <Schema amount decimal(10,2); partitioned by ds date, hour int>
    >>> print(sales.schema)
    amount  decimal(10,2)
    ds      date           partition column
    hour    int            partition column
    """

    columns: tuple[Column, ...]
    partition_columns: tuple[Column, ...]

    def __str__(self) -> str:
        """A line for each column: name, type, what it is, comment."""
        lines = column_rows(self.columns, self.partition_columns)
        names, types = (max((len(line[at]) for line in lines), default=0) for at in (0, 1))
        kinds = max((len(line[2]) for line in lines), default=0)
        return "\n".join(
            f"{name:{names}}  {kind:{types}}  {role:{kinds}}  {comment}".rstrip() for name, kind, role, comment in lines
        )

    def __repr__(self) -> str:
        data, keys = (", ".join(f"{one.name} {one.type}" for one in columns) for columns in self._both())
        return f"<Schema {clipped(data or 'no columns', 80)}; partitioned by {clipped(keys or 'nothing', 60)}>"

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        return html_table("", column_rows(self.columns, self.partition_columns))

    def _both(self) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
        return self.columns, self.partition_columns
