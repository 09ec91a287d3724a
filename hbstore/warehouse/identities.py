"""What a table's partitions differ in: their values by type, so that ``hour=05`` and ``hour=5`` are one partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from hbstore.errors import DdlRefused
from hbstore.keys import text_cell
from hbstore.model import Table
from hbstore.warehouse.refusals import refusal

Identity: TypeAlias = tuple[bytes, ...]
"""A partition's values by type."""


def identity_of(table: Table) -> Callable[[Sequence[str]], Identity]:
    """A function that gives the identity of a partition's values.

    It raises DdlRefused where there are too many or too few of them.

    >>> from hbstore.model import Column
    >>> identify = identity_of(Table("shop", "sales", partition_columns=[Column("hour", "int")]))
    >>> identify(["05"]) == identify(["5"])
    True
    """
    types = table.key_types

    def identify(values: Sequence[str]) -> Identity:
        if len(values) != len(types) or not types:
            keys = ", ".join(table.partition_column_names)
            reason = f"Invalid partition key & values; keys [{keys}], values [{', '.join(values)}]"
            raise refusal(DdlRefused, reason)
        return tuple(map(text_cell, types, values))

    return identify
