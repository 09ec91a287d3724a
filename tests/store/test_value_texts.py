"""Values of partitions as Python has them: the texts that are stored, and filters that find them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, InvalidPartitionValue, Partition, Table, col, connect

DECIMALS = st.decimals(-99_999_999, 99_999_999, places=2)
BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
SUITING = {
    **{name: st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) for name, bits in BITS.items()},
    "date": st.dates(),
    "timestamp": st.datetimes() | st.dates(),
    "boolean": st.booleans(),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "float": st.floats(allow_nan=False, allow_infinity=False, width=32),
    "decimal(10,2)": DECIMALS | st.integers(-99_999_999, 99_999_999),
    "string": st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
}
"""Values that suit a column, by its type."""


def one_column(column_type):
    store = connect("memory://")
    store.create_database("d")
    store.create_table(Table("d", "t", partition_columns=[Column("p", column_type)]))
    return store.table("d.t")


@pytest.mark.parametrize("column_type", SUITING)
@given(st.data())
def test_values_are_stored_and_found(column_type, data):
    value = data.draw(SUITING[column_type])
    table = one_column(column_type)
    table.add([(value,)])
    ((text,),) = (partition.values for partition in table.partitions())
    (kind,) = table.definition.key_types
    assert text == value if isinstance(value, str) else text == kind.text(kind.parse(text))
    assert table.partitions(col("p") == value).names == table.names() == table.names(spec={"P": value})
    assert table.partition([value]) == table.partition({"p": value}) == table.partitions()[0]
    assert table.add([{"p": value}], if_not_exists=True) == 0
    assert table.drop(iter([(value,)])) == 1


@pytest.mark.parametrize(
    ("column_type", "value", "text"),
    [
        ("int", 5, "5"),
        ("int", Decimal("5.0"), "5"),
        ("bigint", -5, "-5"),
        ("date", date(13, 1, 2), "0013-01-02"),
        ("date", datetime.fromisoformat("2013-01-02"), "2013-01-02"),
        ("timestamp", date(2013, 1, 2), "2013-01-02 00:00:00"),
        ("timestamp", datetime.fromisoformat("2013-01-02 03:04:05.12"), "2013-01-02 03:04:05.12"),
        ("boolean", True, "true"),
        ("decimal(10,2)", Decimal("1E+2"), "100.00"),
        ("decimal(10,2)", 5, "5.00"),
        ("double", 1e10, "1.0E10"),
        ("double", 5, "5.0"),
        ("float", 0.1, "0.1"),
        ("int", None, "__HIVE_DEFAULT_PARTITION__"),
        ("string", "05", "05"),
        ("int", "05", "05"),
    ],
)
def test_texts_are_those_of_hive(column_type, value, text):
    table = one_column(column_type)
    table.add([(value,)])
    assert table.partition([value]).values == (text,)


@pytest.mark.parametrize(
    ("column_type", "value", "hint"),
    [
        ("string", 5, "Give its text, such as '5'"),
        ("string", date(2013, 1, 1), "Give its text, such as '2013-01-01'"),
        ("int", True, "Give an int, or its text"),
        ("int", 5.5, "Give an int, or its text"),
        ("int", date(2013, 1, 1), "Give an int, or its text"),
        ("tinyint", 128, "Correct it, or keep it as text"),
        ("bigint", 1 << 63, "Give an int, or its text"),
        ("boolean", 1, "Give True or False, or its text"),
        ("date", 20130101, "Give a date, such as date"),
        ("date", datetime.fromisoformat("2013-01-01 05:00"), "Give a date, such as date"),
        ("timestamp", datetime(2013, 1, 1, tzinfo=UTC), "value.replace"),
        ("timestamp", 5, "Give a datetime without a time zone"),
        ("decimal(10,2)", Decimal("1.555"), "that it holds without rounding"),
        ("float", 16777217, "that it holds without rounding"),
        ("double", float("nan"), "Write it as text"),
        ("int", b"5", "Use str, int, float"),
    ],
)
def test_values_that_do_not_suit_are_refused(column_type, value, hint):
    table = one_column(column_type)
    with pytest.raises(InvalidPartitionValue, match="does not fit its column's type: column=p") as caught:
        table.add([(value,)])
    assert hint in caught.value.hint
    assert caught.value.fields["type"] == column_type
    assert not table.count()


def test_a_partition_takes_values_that_each_column_writes_so():
    made = Partition([date(2013, 1, 1), 5, True, datetime.fromisoformat("2013-01-01 05:00"), None])
    assert made.values == ("2013-01-01", "5", "true", "2013-01-01 05:00:00", "__HIVE_DEFAULT_PARTITION__")
    for value in (0.5, Decimal("0.5"), datetime(2013, 1, 1, tzinfo=UTC), b"5"):
        with pytest.raises(InvalidPartitionValue, match="is not known") as caught:
            Partition([value])
        assert "in a tuple or a dict to a table" in caught.value.hint
