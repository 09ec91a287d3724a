"""How long a table keeps its partitions: two of its parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hbstore.errors import InvalidInput, did_you_mean
from hbstore.model.objects import Table

RETENTION: Final = "hbstore.retention"
"""The parameter of a table that says how long its partitions are kept, such as ``90d``."""
RETENTION_COLUMN: Final = "hbstore.retention.column"
"""The parameter that names the partition column whose times count; see `hbstore.retention.old_partitions`."""

_AGE: Final = re.compile(r"([1-9][0-9]{0,5})([hdw])", re.ASCII)
_UNITS: Final = {"h": "hours", "d": "days", "w": "weeks"}
_LONGEST: Final = timedelta(days=36_600)


@dataclass(frozen=True, slots=True)
class Retention:
    """How long partitions are kept.

    Attributes:
        age: behind the end of a partition's time.
        column: the partition column whose times count; None: the table says.
    """

    age: timedelta
    column: str | None = None


def parse_age(text: str) -> timedelta:
    """An age of hours, days or weeks.

    Raises:
        InvalidInput: it is none.

    >>> parse_age("90d") == timedelta(days=90), parse_age("36h") == timedelta(hours=36)
    (True, True)
    """
    matched = _AGE.fullmatch(text.strip().lower())
    if matched is None:
        raise InvalidInput(
            "the age cannot be read", age=text, hint="Give hours, days or weeks, such as 36h, 90d or 12w"
        )
    age = timedelta(**{_UNITS[matched[2]]: int(matched[1])})
    if age > _LONGEST:
        raise InvalidInput("the age is too long", age=text, hint="Give at most 100 years, such as 36500d")
    return age


def retention_of(table: Table) -> Retention | None:
    """How long a table keeps its partitions by its parameters; None: for ever.

    Raises:
        InvalidInput: the age cannot be read, or the column is no partition column.

    >>> from hbstore import Column
    >>> retention_of(Table("shop", "sales", partition_columns=[Column("ds", "date")], parameters={RETENTION: "90d"}))
    Retention(age=datetime.timedelta(days=90), column=None)
    """
    text = table.parameters.get(RETENTION)
    if not text:
        return None
    return Retention(parse_age(text), retention_column(table))


def retention_column(table: Table) -> str | None:
    """The partition column whose times count, if a table's parameters name one, whether or not they say how long.

    Raises:
        InvalidInput: the table has no such partition column.
    """
    return checked_column(table, table.parameters.get(RETENTION_COLUMN))


def check_retention(table: Table, before: Table | None = None) -> None:
    """See that a table's parameters say how long it keeps its partitions, or nothing of it.

    Args:
        table: as it is to be.
        before: as it is; what it says may stay.

    Raises:
        InvalidInput: as of `retention_of`, or the table has no partitions; servers would drop nothing.
    """
    if before is None or any(
        table.parameters.get(name) != before.parameters.get(name) for name in (RETENTION, RETENTION_COLUMN)
    ):
        retention_column(table)
        if retention_of(table) is not None and not table.partition_columns:
            hint = f"Only partitions expire: leave {RETENTION} out, or partition the table"
            raise InvalidInput("the table has no partition columns", table=table, hint=hint)


def checked_column(table: Table, column: str | None) -> str | None:
    """The name of a partition column, in lower case; None where none is named.

    Raises:
        InvalidInput: the table has no such partition column.
    """
    if column is None:
        return None
    names = table.partition_column_names
    if column.lower() not in names:
        raise InvalidInput(
            "the table has no such partition column",
            table=table,
            column=column,
            hint=did_you_mean(column, names, f"Name one of {', '.join(names) or 'a partitioned table'}"),
        )
    return column.lower()
