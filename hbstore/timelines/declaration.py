"""What a table says of its timelines, in its parameters.

    cube.storagetable.time.partcols                  dt,pt           the time partition columns
    cube.storagetable.update.periods                 HOURLY,DAILY    how often it gets partitions

A table with both keeps a timeline for each update period and each of these columns. A partition says by its parameter
`cube.storagetable.partition.update.period` which period it belongs to. One that does not belongs to the only declared
period whose texts its times are: `2015-01-29-06` is an hour and no day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hbstore.errors import TimelineMismatch, did_you_mean
from hbstore.times.update_period import UpdatePeriod

TIME_PARTITION_COLUMNS: Final = "cube.storagetable.time.partcols"
UPDATE_PERIODS: Final = "cube.storagetable.update.periods"
PARTITION_UPDATE_PERIOD: Final = "cube.storagetable.partition.update.period"

LATEST: Final = "latest"
"""What stands for a time in the newest partition of a dimension table; no time."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """The update periods and the time partition columns of a table.

    Attributes:
        periods: from the smallest to the largest.
        columns: as the table calls them, in the order in which they were declared.

    >>> str(Declaration((UpdatePeriod.HOURLY, UpdatePeriod.DAILY), ("dt",)))
    'HOURLY,DAILY|dt'
    """

    periods: tuple[UpdatePeriod, ...]
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"{','.join(period.name for period in self.periods)}|{','.join(self.columns)}"


def declaration_of(parameters: Mapping[str, str], partition_columns: tuple[str, ...]) -> Declaration | None:
    """What a table's parameters declare; None if it keeps no timelines.

    Raises:
        UnknownUpdatePeriod: it names a period that there is not.
        TimelineMismatch: it names a period or a column twice, or a column that is no partition column.

    >>> declaration_of({TIME_PARTITION_COLUMNS: "DT", UPDATE_PERIODS: "daily, hourly"}, ("dt", "region"))
    Declaration(periods=(<UpdatePeriod.HOURLY: 'HOURLY'>, <UpdatePeriod.DAILY: 'DAILY'>), columns=('dt',))
    """
    periods = [UpdatePeriod.named(name) for name in _names(parameters, UPDATE_PERIODS)]
    columns = [name.lower() for name in _names(parameters, TIME_PARTITION_COLUMNS)]
    column_names = {name.lower(): name for name in partition_columns}
    for what, given in ((UPDATE_PERIODS, [period.name for period in periods]), (TIME_PARTITION_COLUMNS, columns)):
        twice = next((name for name in given if given.count(name) > 1), None)
        if twice is not None:
            raise TimelineMismatch(
                "the table's parameter names something twice", parameter=what, name=twice, hint="Name it once"
            )
    for name in columns:
        if name not in column_names:
            raise TimelineMismatch(
                "a time partition column is not a partition column of the table",
                parameter=TIME_PARTITION_COLUMNS,
                name=name,
                partition_columns=", ".join(partition_columns),
                hint=did_you_mean(name, column_names, "Name one of the partition columns"),
            )
    if not periods or not columns:
        return None
    periods.sort(key=lambda period: period.rank)
    return Declaration(tuple(periods), tuple(column_names[name] for name in columns))


def _names(parameters: Mapping[str, str], key: str) -> list[str]:
    return [name for part in parameters.get(key, "").split(",") if (name := part.strip())]
