"""Column statistics of many partitions as one, as a metastore of Hive 2.3 makes them in SQL.

Counts of nulls, trues and falses add up. Low and high values are the least and the greatest. The longest length is the
greatest, and so is the average length: the greatest of the averages. The number of distinct values is the greatest of
the numbers, a lower bound: bit vectors and histograms, from which more could be known, are passed over. Partitions
without statistics count for nothing; nothing is extrapolated to them.

The objects are those of Thrift's structs ColumnStatisticsObj, ColumnStatisticsData, LongColumnStatsData, …: any classes
with these attributes that are made from keyword arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Context, Decimal
from typing import Any, Final

KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "booleanStats": ("numTrues", "numFalses", "numNulls"),
    "longStats": ("lowValue", "highValue", "numNulls", "numDVs"),
    "doubleStats": ("lowValue", "highValue", "numNulls", "numDVs"),
    "stringStats": ("maxColLen", "avgColLen", "numNulls", "numDVs"),
    "binaryStats": ("maxColLen", "avgColLen", "numNulls"),
    "decimalStats": ("lowValue", "highValue", "numNulls", "numDVs"),
    "dateStats": ("lowValue", "highValue", "numNulls", "numDVs"),
    "timestampStats": ("lowValue", "highValue", "numNulls", "numDVs"),
}
"""The fields of each kind of statistics that are made one of."""

_EXACT: Final = Context(prec=100)
"""Decimals have at most 38 digits, and scales that move them by as many."""


def aggregate(partitions: Iterable[Sequence[Any]], columns: Iterable[str]) -> tuple[list[Any], int]:
    """Make one of the statistics of many partitions. O(statistics).

    Args:
        partitions: of each partition its ColumnStatisticsObjs.
        columns: the names of the columns that are asked for, in any case.

    Returns:
        A ColumnStatisticsObj for each asked column that has any, in the order of the columns; where partitions disagree
        about a column's type, one for each type. And the number of partitions that had all of the columns.
    """
    by_column: dict[str, list[Any]] = {column.lower(): [] for column in columns}
    complete = 0
    for statistics in partitions:
        present = set()
        for statistic in statistics:
            name = statistic.colName.lower()
            if name in by_column:
                by_column[name].append(statistic)
                present.add(name)
        complete += bool(by_column) and len(present) == len(by_column)
    return [merged for some in by_column.values() for merged in _by_type(some)], complete


def _by_type(statistics: Sequence[Any]) -> list[Any]:
    """One of a column's statistics for each type and kind."""
    groups: dict[tuple[str | None, str], list[Any]] = {}
    for statistic in statistics:
        for kind in KINDS:
            if getattr(statistic.statsData, kind, None) is not None:
                groups.setdefault((statistic.colType, kind), []).append(statistic)
    merged = []
    for (_, kind), some in groups.items():
        first = some[0]
        values = [getattr(statistic.statsData, kind) for statistic in some]
        combined = type(values[0])(**{name: _combined(name, values) for name in KINDS[kind]})
        data = type(first.statsData)(**{kind: combined})
        merged.append(type(first)(colName=first.colName.lower(), colType=first.colType, statsData=data))
    return merged


def _combined(name: str, values: Sequence[Any]) -> Any:
    """One field of some statistics of one kind; a bound that none of them has is left out, other numbers are 0 then."""
    fields = [field for data in values if (field := getattr(data, name)) is not None]
    fields = [field for field in fields if _order(field) == _order(field)]  # NaN, which equals nothing, is no bound
    if name == "lowValue":
        return min(fields, key=_order, default=None)
    if name == "highValue":
        return max(fields, key=_order, default=None)
    return _COUNTS[name](fields)


def _greatest(numbers: Sequence[Any]) -> Any:
    return max(numbers, default=0)


_COUNTS: Final[Mapping[str, Callable[[Sequence[Any]], Any]]] = {
    "numTrues": sum,
    "numFalses": sum,
    "numNulls": sum,
    "numDVs": _greatest,
    "maxColLen": _greatest,
    "avgColLen": _greatest,
}


def _order(value: Any) -> Any:
    """What a bound is compared by: a number as it is, a Date's days, a Timestamp's seconds, a Decimal's value."""
    if hasattr(value, "daysSinceEpoch"):
        return value.daysSinceEpoch or 0
    if hasattr(value, "secondsSinceEpoch"):
        return value.secondsSinceEpoch or 0
    if hasattr(value, "unscaled"):
        unscaled = int.from_bytes(value.unscaled or b"", "big", signed=True)
        return Decimal(unscaled).scaleb(-(value.scale or 0), _EXACT)
    return value
