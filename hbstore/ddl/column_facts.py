"""What DESCRIBE EXTENDED says of a column's values, as far as somebody has analyzed them.

Of a table these are the texts in which Spark keeps them among its parameters; where there are none, and of a partition,
the metastore's own column statistics.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any, Final

from hbstore.metastore.protocol import THRIFT, struct_kind
from hbstore.model.objects import Column, Partition, Table
from hbstore.model.service_objects import ColumnStatistic
from hbstore.store.partition_store import PartitionStore
from hbstore.times.moments import sql_text

UNKNOWN: Final = "NULL"
"""What is shown for what nobody has found out, as Spark does."""

_SPARK: Final = "spark.sql.statistics.colStats."
_DATA: Final = struct_kind(THRIFT.ColumnStatisticsData)
_KINDS: Final = tuple(spec[1] for spec in THRIFT.ColumnStatisticsData.thrift_spec.values())
_NAMES: Final = {
    "min": ("min", "lowValue"),
    "max": ("max", "highValue"),
    "num_nulls": ("nullCount", "numNulls"),
    "distinct_count": ("distinctCount", "numDVs"),
    "avg_col_len": ("avgLen", "avgColLen"),
    "max_col_len": ("maxLen", "maxColLen"),
}
"""What is shown, and how Spark and the metastore call it."""

_TRUTHS: Final = {"num_trues": "numTrues", "num_falses": "numFalses"}
"""Of booleans, which only the metastore counts."""

_EXACT: Final = Context(prec=100)


def column_facts(store: PartitionStore, table: Table, partition: Partition | None, column: Column) -> dict[str, str]:
    """The facts by the names that Spark gives them, `UNKNOWN` where one is not known. Two rows are read at most."""
    if partition is None:
        texts = _of_spark(table, column)
        statistics = [] if texts else store.column_statistics.read_table(table.database, table.name, [column.name])
    else:
        texts = {}
        by_values = store.column_statistics.read_partitions(
            table.database, table.name, [partition.values], [column.name]
        )
        statistics = by_values.get(partition.values, [])
    for statistic in statistics:
        texts = _of_metastore(statistic)
    return dict.fromkeys(_NAMES, UNKNOWN) | texts


def _of_spark(table: Table, column: Column) -> dict[str, str]:
    prefix = f"{_SPARK}{column.name}.".lower()
    texts = {name[len(prefix) :]: text for name, text in table.parameters.items() if name.lower().startswith(prefix)}
    return {shown: texts[name] for shown, (name, _) in _NAMES.items() if name in texts}


def _of_metastore(statistic: ColumnStatistic) -> dict[str, str]:
    """The facts in a ColumnStatisticsData struct; bounds of times are seconds since 1970 there."""
    data, _ = _DATA.read(statistic.data, 0)
    fields = {shown: name for shown, (_, name) in _NAMES.items()} | _TRUTHS
    is_time = (statistic.type or "").lower().startswith("timestamp")
    facts = {}
    for struct in (getattr(data, kind) for kind in _KINDS):
        for shown, name in fields.items():
            value = getattr(struct, name, None)
            if value is not None:
                facts[shown] = _time(value) if is_time and shown in {"min", "max"} else _text(value)
    return facts


def _text(value: Any) -> str:
    r"""A number, date or decimal.

    >>> _text(THRIFT.Decimal(unscaled=b"\x05", scale=1)), _text(THRIFT.Date(daysSinceEpoch=1)), _text(1.5)
    ('0.5', '1970-01-02', '1.5')
    """
    if isinstance(value, THRIFT.Decimal):
        unscaled = int.from_bytes(value.unscaled or b"", "big", signed=True)
        return format(Decimal(unscaled).scaleb(-(value.scale or 0), _EXACT), "f")
    if isinstance(value, THRIFT.Date):
        with suppress(OverflowError):  # a date that Python does not have
            return (date(1970, 1, 1) + timedelta(days=value.daysSinceEpoch or 0)).isoformat()
        return f"{value.daysSinceEpoch} days since 1970"
    return str(value)


def _time(seconds: int) -> str:
    with suppress(OverflowError):
        return f"{sql_text(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))} UTC"
    return f"{seconds} seconds since 1970"
