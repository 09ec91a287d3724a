"""Column statistics of many partitions made one, on the very classes that the protocol hands over."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.metastore.methods.aggregate import KINDS, aggregate
from hbstore.metastore.protocol import THRIFT


def longs(column="a", type="bigint", **fields):
    return of(column, type, longStats=THRIFT.LongColumnStatsData(**fields))


def of(column, type, **data):
    return THRIFT.ColumnStatisticsObj(colName=column, colType=type, statsData=THRIFT.ColumnStatisticsData(**data))


def one(partitions, columns=("a",)):
    """The data of the only statistics that come out."""
    (made,), _ = aggregate(partitions, columns)
    return next(getattr(made.statsData, kind) for kind in KINDS if getattr(made.statsData, kind) is not None)


def decimal(unscaled, scale):
    return THRIFT.Decimal(unscaled=unscaled.to_bytes(17, "big", signed=True), scale=scale)


def test_every_kind_and_field_of_the_idl_is_known():
    assert set(KINDS) == {spec[1] for spec in THRIFT.ColumnStatisticsData.thrift_spec.values()}
    for spec in THRIFT.ColumnStatisticsData.thrift_spec.values():
        fields = {field[1] for field in spec[2].thrift_spec.values()}
        assert set(KINDS[spec[1]]) == fields - {"bitVectors", "histogram"}


def test_whole_numbers():
    made = one(
        [
            [longs(lowValue=5, highValue=9, numNulls=2, numDVs=3, bitVectors=b"x")],
            [longs(lowValue=-7, highValue=1, numNulls=0, numDVs=8)],
            [],
        ]
    )
    assert made == THRIFT.LongColumnStatsData(lowValue=-7, highValue=9, numNulls=2, numDVs=8)


def test_bounds_that_are_unknown_are_passed_over():
    made = one([[longs(numNulls=4, numDVs=0)], [longs(lowValue=0, highValue=0, numNulls=1, numDVs=1)]])
    assert made == THRIFT.LongColumnStatsData(lowValue=0, highValue=0, numNulls=5, numDVs=1)
    made = one([[longs(numNulls=4)], [longs(numNulls=1)]])
    assert made == THRIFT.LongColumnStatsData(numNulls=5, numDVs=0)


def test_truth_values():
    data = [THRIFT.BooleanColumnStatsData(numTrues=1, numFalses=2, numNulls=3) for _ in range(3)]
    made = one([[of("a", "boolean", booleanStats=some)] for some in data])
    assert made == THRIFT.BooleanColumnStatsData(numTrues=3, numFalses=6, numNulls=9)


def test_texts_and_bytes():
    texts = [
        THRIFT.StringColumnStatsData(maxColLen=9, avgColLen=2.5, numNulls=1, numDVs=4),
        THRIFT.StringColumnStatsData(maxColLen=3, avgColLen=3.0, numNulls=1, numDVs=2),
    ]
    made = one([[of("a", "string", stringStats=some)] for some in texts])
    assert made == THRIFT.StringColumnStatsData(maxColLen=9, avgColLen=3.0, numNulls=2, numDVs=4)
    data = [THRIFT.BinaryColumnStatsData(maxColLen=size, avgColLen=size / 2, numNulls=1) for size in (4, 2)]
    made = one([[of("a", "binary", binaryStats=some)] for some in data])
    assert made == THRIFT.BinaryColumnStatsData(maxColLen=4, avgColLen=2.0, numNulls=2)


def test_fractions_without_a_place_are_no_bounds():
    data = [(1.5, 2.5), (math.nan, math.nan), (-math.inf, 0.0)]
    made = one(
        [
            [of("a", "double", doubleStats=THRIFT.DoubleColumnStatsData(lowValue=low, highValue=high, numNulls=0))]
            for low, high in data
        ]
    )
    assert made == THRIFT.DoubleColumnStatsData(lowValue=-math.inf, highValue=2.5, numNulls=0, numDVs=0)


def test_days():
    data = [
        THRIFT.DateColumnStatsData(lowValue=THRIFT.Date(low), highValue=THRIFT.Date(high), numNulls=1, numDVs=2)
        for low, high in ((10, 20), (-5, 15))
    ]
    made = one([[of("a", "date", dateStats=some)] for some in data])
    assert (made.lowValue.daysSinceEpoch, made.highValue.daysSinceEpoch, made.numNulls) == (-5, 20, 2)


@given(st.lists(st.tuples(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(0, 38)), min_size=1, max_size=5))
def test_decimals_are_compared_by_value(numbers):
    bounds = [decimal(*number) for number in numbers]
    made = one(
        [
            [of("a", "decimal(38,9)", decimalStats=THRIFT.DecimalColumnStatsData(lowValue=some, highValue=some))]
            for some in bounds
        ]
    )
    values = {id(bound): Fraction(number, 10**scale) for bound, (number, scale) in zip(bounds, numbers, strict=True)}
    assert values[id(made.lowValue)] == min(values.values())
    assert values[id(made.highValue)] == max(values.values())


def test_columns_come_in_the_order_asked_for_and_others_not_at_all():
    partitions = [[longs("b", numNulls=1), longs("A", numNulls=2), longs("c", numNulls=4)]]
    made, found = aggregate(partitions, ["C", "a", "none"])
    assert [(some.colName, some.statsData.longStats.numNulls) for some in made] == [("c", 4), ("a", 2)]
    assert found == 0


@pytest.mark.parametrize(("columns", "expected"), [(["a"], 3), (["a", "B"], 2), (["a", "b", "c"], 0), ([], 0)])
def test_partitions_are_found_that_have_all_columns(columns, expected):
    partitions = [[longs("a"), longs("b")], [longs("a")], [], [longs("b"), longs("a")]]
    assert aggregate(partitions, columns)[1] == expected


def test_types_that_differ_are_kept_apart():
    made, found = aggregate(
        [
            [longs(type="int", numNulls=1)],
            [of("a", "string", stringStats=THRIFT.StringColumnStatsData(numNulls=2))],
            [longs(type="int", numNulls=4)],
        ],
        ["a"],
    )
    assert [(some.colType, some.statsData.longStats is not None) for some in made] == [("int", True), ("string", False)]
    assert made[0].statsData.longStats.numNulls == 5
    assert found == 3


def test_nothing_of_nothing():
    assert aggregate([], ["a"]) == ([], 0)
    assert aggregate([[of("a", "int")]], ["a"]) == ([], 1)


partitions_of_numbers = st.lists(
    st.lists(
        st.builds(
            longs,
            st.sampled_from("abc"),
            lowValue=st.none() | st.integers(-9, 9),
            highValue=st.none() | st.integers(-9, 9),
            numNulls=st.integers(0, 9),
            numDVs=st.integers(0, 9),
        ),
        unique_by=lambda some: some.colName,
    ),
    max_size=6,
)


@given(partitions_of_numbers, st.randoms())
def test_the_order_of_partitions_says_nothing(partitions, random):
    shuffled = random.sample(partitions, len(partitions))
    assert aggregate(partitions, "abc") == aggregate(shuffled, "abc")


@given(partitions_of_numbers, partitions_of_numbers)
def test_parts_of_the_partitions_may_be_made_one_first(some, others):
    first, second = (aggregate(partitions, "abc") for partitions in (some, others))
    together = aggregate([*some, *others], "abc")
    assert aggregate([first[0], second[0]], "abc")[0] == together[0]
    assert first[1] + second[1] == together[1]
