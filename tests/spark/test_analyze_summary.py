"""Summaries of columns: sums do not depend on how rows are parted, and what Hive keeps comes back."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark_types

from hbstore.metastore.methods.aggregate import aggregate
from hbstore.metastore.protocol import THRIFT
from hbstore.spark.analysis.summary import ColumnKind, Summary, SummaryColumn, from_hive, to_hive, to_spark
from tests.spark.analyzing import DATA_OF

COLUMNS = {
    kind: SummaryColumn.of("x", spark_type)
    for kind, spark_type in {
        ColumnKind.WHOLE: spark_types.LongType(),
        ColumnKind.FLOAT: spark_types.DoubleType(),
        ColumnKind.DECIMAL: spark_types.DecimalType(38, 10),
        ColumnKind.TEXT: spark_types.StringType(),
        ColumnKind.BINARY: spark_types.BinaryType(),
        ColumnKind.BOOLEAN: spark_types.BooleanType(),
        ColumnKind.DATE: spark_types.DateType(),
        ColumnKind.TIME: spark_types.TimestampType(),
    }.items()
}
VALUES = {
    ColumnKind.WHOLE: st.integers(-(2**63), 2**63 - 1),
    ColumnKind.FLOAT: st.floats(allow_nan=False),
    ColumnKind.DECIMAL: st.integers(-(10**38) + 1, 10**38 - 1).map(lambda one: Decimal(f"{one}e-10")),
    ColumnKind.TEXT: st.text(max_size=5),
    ColumnKind.BINARY: st.binary(max_size=5),
    ColumnKind.BOOLEAN: st.booleans(),
    ColumnKind.DATE: st.integers(-719_162, 2_932_896),
    ColumnKind.TIME: st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999),
}


def summed_up(kind, values):
    """What a query would say of some values."""
    there = [one for one in values if one is not None]
    rows, nulls, distinct = len(values), len(values) - len(there), len(set(there))
    if kind.has_length:
        lengths = list(map(len, there))
        return Summary(rows, nulls, distinct, length=sum(lengths), longest=max(lengths, default=0))
    if kind is ColumnKind.BOOLEAN:
        return Summary(rows, nulls, distinct, trues=there.count(True))
    return Summary(rows, nulls, distinct, min(there, default=None), max(there, default=None))


@st.composite
def some_values(draw):
    kind = draw(st.sampled_from(list(ColumnKind)))
    return kind, *draw(st.tuples(*[st.lists(st.none() | VALUES[kind], max_size=6)] * 3))


@given(some_values())
def test_sums_are_those_of_all_rows_but_for_distinct_values(given_values):
    kind, *parts = given_values
    one, two, three = (summed_up(kind, part) for part in parts)
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + Summary() == one
    whole, total = summed_up(kind, [value for part in parts for value in part]), one + two + three
    assert max(one.distinct, two.distinct, three.distinct) == total.distinct <= whole.distinct
    assert (total.rows, total.nulls, total.low, total.high, total.length, total.longest, total.trues) == (
        *(whole.rows, whole.nulls, whole.low, whole.high, whole.length, whole.longest, whole.trues),
    )


@given(some_values())
def test_what_hive_keeps_comes_back(given_values):
    kind, values, *_ = given_values
    summary = summed_up(kind, values)
    back = from_hive(COLUMNS[kind], to_hive(COLUMNS[kind], summary), summary.rows)
    if kind is ColumnKind.TIME and summary.low is not None:  # to the second
        assert summary.low - 10**6 < back.low <= summary.low
        assert summary.high <= back.high < summary.high + 10**6
        return
    if kind is ColumnKind.BINARY:  # of which Hive keeps no distinct values
        assert back.distinct == 0
    else:
        assert back.distinct == summary.distinct
    assert back.length == pytest.approx(summary.length)
    assert (back.nulls, back.low, back.high, back.longest, back.trues) == (
        *(summary.nulls, summary.low, summary.high, summary.longest, summary.trues),
    )


@given(some_values())
def test_the_metastore_makes_one_of_them(given_values):
    kind, *parts = given_values
    column = COLUMNS[kind]
    kept = [to_hive(column, summed_up(kind, part)) for part in parts]
    read = [(one.type, DATA_OF.read(one.data, 0)[0]) for one in kept]
    objects = [[THRIFT.ColumnStatisticsObj(colName="x", colType=text, statsData=data)] for text, data in read]
    (made,), _ = aggregate(objects, ["x"])
    field = kind.value.partition(" ")[0]
    total = summed_up(kind, parts[0]) + summed_up(kind, parts[1]) + summed_up(kind, parts[2])
    assert getattr(made.statsData, field).numNulls == total.nulls


def test_a_column_of_another_kind_than_it_was_is_not_known():
    text = to_hive(COLUMNS[ColumnKind.TEXT], Summary(rows=1, distinct=1))
    assert from_hive(COLUMNS[ColumnKind.WHOLE], text, 1) is None


def test_nothing_can_be_said_of_arrays():
    assert SummaryColumn.of("x", spark_types.ArrayType(spark_types.LongType())) is None


@pytest.mark.parametrize(
    ("kind", "low", "high", "expected"),
    [
        (ColumnKind.WHOLE, -5, 7, ("-5", "7")),
        (ColumnKind.FLOAT, float("-inf"), float("inf"), ("-Infinity", "Infinity")),
        (ColumnKind.FLOAT, -0.5, 1e300, ("-0.5", "1e+300")),
        (ColumnKind.DECIMAL, Decimal("-0E-10"), Decimal("1E+3"), ("-0.0000000000", "1000")),
        (ColumnKind.DATE, -719_162, 2_932_896, ("0001-01-01", "9999-12-31")),
        (ColumnKind.DATE, 0, 2_932_897, (None, None)),
        (ColumnKind.TIME, -1, 1, ("1969-12-31 23:59:59.999999", "1970-01-01 00:00:00.000001")),
    ],
)
def test_bounds_as_spark_reads_them(kind, low, high, expected):
    found = to_spark(COLUMNS[kind], Summary(rows=2, distinct=2, low=low, high=high))
    start = "spark.sql.statistics.colStats.x."
    assert (found.get(f"{start}min"), found.get(f"{start}max")) == expected
    assert found[f"{start}version"] == "2"


def test_columns_without_values_and_without_bounds():
    start = "spark.sql.statistics.colStats.x."
    nothing = {"version": "2", "distinctCount": "0", "nullCount": "3", "avgLen": "20", "maxLen": "20"}
    found = to_spark(COLUMNS[ColumnKind.TEXT], Summary(rows=3, nulls=3))
    assert found == {start + name: text for name, text in nothing.items()}
    found = to_spark(COLUMNS[ColumnKind.TEXT], Summary(rows=3, nulls=1, distinct=5, length=5, longest=4))
    assert (found[f"{start}avgLen"], found[f"{start}maxLen"], found[f"{start}distinctCount"]) == ("3", "4", "2")
    found = to_spark(COLUMNS[ColumnKind.BOOLEAN], Summary(rows=3, nulls=1, distinct=1, trues=2))
    assert (found[f"{start}min"], found[f"{start}max"]) == ("true", "true")
