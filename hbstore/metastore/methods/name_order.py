"""The order in which a client of Hive 4 asks for names of partitions.

``0,1:+-`` is the first column rising, then the second one falling. Values are ordered by type, the null partition
first: hour 9 comes before hour 10.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.errors import InvalidInput
from hbstore.keys.row_key import text_cell, value_part
from hbstore.model.objects import Table

_FORM: Final = re.compile(r"(\d{1,4}(?:,\d{1,4})*):([+-]+)")


@dataclass(frozen=True, slots=True)
class Ordering:
    """One column of an order.

    Attributes:
        column: its position among the partition columns.
        falling: whether the largest value comes first.
    """

    column: int
    falling: bool


def parse_order(table: Table, text: str | None) -> Sequence[Ordering]:
    """The columns by which partitions are ordered; none, if the text is empty.

    Raises:
        InvalidInput: it is no order, or names a column that is not there.

    >>> from hbstore.model.objects import Column
    >>> parse_order(Table("shop", "sales", partition_columns=[Column("ds", "date"), Column("hour", "int")]), "1:-")
    (Ordering(column=1, falling=True),)
    """
    if not text:
        return ()
    form = _FORM.fullmatch(text)
    columns = [] if form is None else [int(number) for number in form[1].split(",")]
    if form is None or len(columns) != len(form[2]) or max(columns) >= len(table.partition_columns):
        raise InvalidInput(
            "the order of partition names cannot be read",
            order=text,
            table=table,
            hint="Write positions of partition columns and a direction for each, such as 0,1:+-",
        )
    return tuple(Ordering(column, sign == "-") for column, sign in zip(columns, form[2], strict=True))


def in_order(table: Table, values: Mapping[str, Sequence[str]], order: Sequence[Ordering]) -> list[str]:
    """Names of partitions in an order; where that leaves several equal, alphabetically.

    Args:
        table: the table.
        values: the partitions' values, by their names.
        order: the columns by which they are ordered.
    """
    ordered = sorted(values)
    for ordering in reversed(order):
        kind = table.key_types[ordering.column]
        cells = {name: value_part(kind, text_cell(kind, some[ordering.column])) for name, some in values.items()}
        ordered.sort(key=cells.__getitem__, reverse=ordering.falling)
    return ordered
