"""What is known of a column's values: summed up over partitions, and as Hive and Spark write it.

Hive keeps a ColumnStatisticsObj for each partition and column. Spark keeps texts among a table's parameters
(``spark.sql.statistics.colStats.<column>.min``), from which its optimizer estimates what filters and joins leave.
"""

from __future__ import annotations

import datetime as dt
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import Enum
from typing import Any, Final

from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType

from hbstore.metastore.protocol import THRIFT, struct_kind
from hbstore.model.service_objects import ColumnStatistic

_DATA: Final = struct_kind(THRIFT.ColumnStatisticsData)
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001  times without a zone, as Spark writes them here
_SECOND: Final = 1_000_000
_EXACT: Final = Context(prec=100)
"""Decimals have at most 38 digits, and scales that move them by as many."""

SPARK: Final = "spark.sql.statistics."
"""What the names of parameters begin with from which Spark's optimizer reads statistics."""

COLUMNS: Final = f"{SPARK}colStats."
"""What those begin with that are about a column."""

_VERSION: Final = "2"
"""Of Spark's texts: times are in UTC."""

_SHORT_DECIMAL: Final = 18
"""Digits that Spark keeps in 8 bytes; more take 16."""


class ColumnKind(Enum):
    """What can be said of a column; the values are the fields of Hive's ColumnStatisticsData."""

    WHOLE = "longStats"
    FLOAT = "doubleStats"
    DECIMAL = "decimalStats"
    TEXT = "stringStats"
    BINARY = "binaryStats"
    BOOLEAN = "booleanStats"
    DATE = "dateStats"
    TIME = "longStats of seconds"

    @property
    def has_length(self) -> bool:
        """Whether values are as long as they happen to be, and have no bounds."""
        return self in (ColumnKind.TEXT, ColumnKind.BINARY)


@dataclass(frozen=True, slots=True)
class SummaryColumn:
    """A column that can be summed up.

    Attributes:
        name: as in the files.
        type: its type as Hive writes it.
        kind: what can be said of it.
        width: the bytes that Spark reckons with for a value; for texts, where nothing is known.
        zoned: of times, whether they are moments and not what a clock shows.
    """

    name: str
    type: str
    kind: ColumnKind
    width: int
    zoned: bool = True

    @staticmethod
    def of(name: str, kind: DataType, text: str | None = None) -> SummaryColumn | None:
        """A column of a type of Spark's; None if nothing can be said of it, as of arrays.

        >>> price = SummaryColumn.of("price", spark_types.DecimalType(10, 2))
        >>> price.type, price.kind, price.width
        ('decimal(10,2)', <ColumnKind.DECIMAL: 'decimalStats'>, 8)
        """
        for known, (of_kind, width) in _KINDS.items():
            if isinstance(kind, known):
                long = isinstance(kind, spark_types.DecimalType) and kind.precision > _SHORT_DECIMAL
                zoned = not isinstance(kind, spark_types.TimestampNTZType)
                return SummaryColumn(name, text or kind.simpleString(), of_kind, 2 * width if long else width, zoned)
        return None


_KINDS: Final[Mapping[type[DataType], tuple[ColumnKind, int]]] = {
    spark_types.ByteType: (ColumnKind.WHOLE, 1),
    spark_types.ShortType: (ColumnKind.WHOLE, 2),
    spark_types.IntegerType: (ColumnKind.WHOLE, 4),
    spark_types.LongType: (ColumnKind.WHOLE, 8),
    spark_types.FloatType: (ColumnKind.FLOAT, 4),
    spark_types.DoubleType: (ColumnKind.FLOAT, 8),
    spark_types.DecimalType: (ColumnKind.DECIMAL, 8),
    spark_types.StringType: (ColumnKind.TEXT, 20),
    spark_types.CharType: (ColumnKind.TEXT, 20),
    spark_types.VarcharType: (ColumnKind.TEXT, 20),
    spark_types.BinaryType: (ColumnKind.BINARY, 100),
    spark_types.BooleanType: (ColumnKind.BOOLEAN, 1),
    spark_types.DateType: (ColumnKind.DATE, 4),
    spark_types.TimestampType: (ColumnKind.TIME, 8),
    spark_types.TimestampNTZType: (ColumnKind.TIME, 8),
}


@dataclass(frozen=True, slots=True)
class Summary:
    """The values of one column in some rows.

    Attributes:
        rows: how many there are.
        nulls: how many of them are NULL.
        distinct: about how many distinct values there are; of a sum the greatest number, which is a lower bound.
        low: the least value: a number, for dates days, for times microseconds since 1970; None if there is none.
        high: the greatest value.
        length: the characters or bytes of all values.
        longest: those of the longest.
        trues: how many are true.

    >>> one, two = Summary(rows=3, nulls=1, distinct=2, low=4, high=5), Summary(rows=2, distinct=2, low=1, high=4)
    >>> one + two
    Summary(rows=5, nulls=1, distinct=2, low=1, high=5, length=0, longest=0, trues=0)
    """

    rows: int = 0
    nulls: int = 0
    distinct: int = 0
    low: Any = None
    high: Any = None
    length: float = 0
    longest: int = 0
    trues: int = 0

    @property
    def values(self) -> int:
        """How many rows are not NULL."""
        return self.rows - self.nulls

    @property
    def average(self) -> float:
        """The average length of a value."""
        return self.length / self.values if self.values else 0.0

    def __add__(self, other: Summary) -> Summary:
        """Of the rows of both."""
        return Summary(
            self.rows + other.rows,
            self.nulls + other.nulls,
            max(self.distinct, other.distinct),
            _one_of(min, self.low, other.low),
            _one_of(max, self.high, other.high),
            self.length + other.length,
            max(self.longest, other.longest),
            self.trues + other.trues,
        )


def to_hive(column: SummaryColumn, summary: Summary) -> ColumnStatistic:
    """The statistics of a column as the metastore keeps them; the data is Thrift's ColumnStatisticsData.

    Times are seconds since 1970, as Hive has them.
    """
    nulls, distinct = {"numNulls": summary.nulls}, {"numDVs": summary.distinct}
    bounds = {"lowValue": _hive(column.kind, summary.low), "highValue": _hive(column.kind, summary.high)}
    lengths = {"maxColLen": summary.longest, "avgColLen": summary.average}
    match column.kind:
        case ColumnKind.WHOLE | ColumnKind.TIME:
            data = {"longStats": THRIFT.LongColumnStatsData(**bounds, **nulls, **distinct)}
        case ColumnKind.FLOAT:
            data = {"doubleStats": THRIFT.DoubleColumnStatsData(**bounds, **nulls, **distinct)}
        case ColumnKind.DECIMAL:
            data = {"decimalStats": THRIFT.DecimalColumnStatsData(**bounds, **nulls, **distinct)}
        case ColumnKind.DATE:
            data = {"dateStats": THRIFT.DateColumnStatsData(**bounds, **nulls, **distinct)}
        case ColumnKind.TEXT:
            data = {"stringStats": THRIFT.StringColumnStatsData(**lengths, **nulls, **distinct)}
        case ColumnKind.BINARY:
            data = {"binaryStats": THRIFT.BinaryColumnStatsData(**lengths, **nulls)}
        case ColumnKind.BOOLEAN:
            counts = {"numTrues": summary.trues, "numFalses": summary.values - summary.trues}
            data = {"booleanStats": THRIFT.BooleanColumnStatsData(**counts, **nulls)}
    return ColumnStatistic(column.name, column.type, _DATA.write(THRIFT.ColumnStatisticsData(**data)), int(time.time()))


def from_hive(column: SummaryColumn, statistic: ColumnStatistic, rows: int) -> Summary | None:
    """What `to_hive` wrote of some rows; None if it is of another kind. Times come back to the second."""
    data, _ = _DATA.read(statistic.data, 0)
    figures = getattr(data, column.kind.value.partition(" ")[0], None)
    if figures is None:
        return None
    nulls = figures.numNulls or 0
    if column.kind is ColumnKind.BOOLEAN:
        trues, falses = figures.numTrues or 0, figures.numFalses or 0
        return Summary(rows, nulls, (trues > 0) + (falses > 0), trues=trues)
    distinct = getattr(figures, "numDVs", None) or 0
    if column.kind.has_length:
        length = (figures.avgColLen or 0.0) * (rows - nulls)
        return Summary(rows, nulls, distinct, length=length, longest=figures.maxColLen or 0)
    low, high = _of_hive(column.kind, figures.lowValue), _of_hive(column.kind, figures.highValue)
    if column.kind is ColumnKind.TIME and high is not None:
        high += _SECOND - 1
    return Summary(rows, nulls, distinct, low, high)


def to_spark(column: SummaryColumn, summary: Summary) -> dict[str, str]:
    """The parameters in which Spark keeps what it knows of a table's column.

    >>> price = SummaryColumn("price", "int", ColumnKind.WHOLE, 4)
    >>> to_spark(price, Summary(rows=5, nulls=1, distinct=3, low=1, high=9))["spark.sql.statistics.colStats.price.max"]
    '9'
    """
    low, high = summary.low, summary.high
    if column.kind is ColumnKind.BOOLEAN and summary.values:
        low, high = summary.trues == summary.values, summary.trues > 0
    average, longest = column.width, column.width
    if column.kind.has_length and summary.values:
        average, longest = math.ceil(summary.average), summary.longest
    texts = {
        "version": _VERSION,
        "distinctCount": str(min(summary.distinct, summary.values)),
        "nullCount": str(summary.nulls),
        "avgLen": str(average),
        "maxLen": str(longest),
    }
    if low is not None and high is not None:
        with suppress(OverflowError):  # a date that Python does not have
            texts |= {"min": _spark(column.kind, low), "max": _spark(column.kind, high)}
    return {f"{COLUMNS}{column.name}.{name}": text for name, text in texts.items()}


def _one_of(choose: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """The lesser or greater of two, where there are two."""
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)


def _hive(kind: ColumnKind, value: Any) -> Any:
    """A bound as Hive has it."""
    if value is None:
        return None
    if kind is ColumnKind.DATE:
        return THRIFT.Date(daysSinceEpoch=value)
    if kind is ColumnKind.TIME:
        return value // _SECOND
    if kind is ColumnKind.DECIMAL:
        scale = -value.as_tuple().exponent
        unscaled = int(value.scaleb(scale, _EXACT))
        # As Java's BigInteger: the fewest bytes that hold the sign as well.
        size = (unscaled.bit_length() if unscaled >= 0 else (unscaled + 1).bit_length()) // 8 + 1
        return THRIFT.Decimal(unscaled=unscaled.to_bytes(size, "big", signed=True), scale=scale)
    return value


def _of_hive(kind: ColumnKind, value: Any) -> Any:
    if value is None:
        return None
    if kind is ColumnKind.DATE:
        return value.daysSinceEpoch
    if kind is ColumnKind.TIME:
        return value * _SECOND
    if kind is ColumnKind.DECIMAL:
        unscaled = int.from_bytes(value.unscaled or b"", "big", signed=True)
        return Decimal(unscaled).scaleb(-(value.scale or 0), _EXACT)
    return value


def _spark(kind: ColumnKind, value: Any) -> str:
    """A bound as text, as Spark reads it."""
    if kind is ColumnKind.DATE:
        return (_EPOCH + dt.timedelta(days=value)).date().isoformat()
    if kind is ColumnKind.TIME:
        return (_EPOCH + dt.timedelta(microseconds=value)).isoformat(" ", "microseconds")
    if kind is ColumnKind.DECIMAL:
        return format(value, "f")
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return str(value).lower() if isinstance(value, bool) else repr(value)
