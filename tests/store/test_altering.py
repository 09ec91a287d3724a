"""Altering and renaming partitions."""

from __future__ import annotations

import pytest

from hbstore import AlreadyExists, InvalidPartitionValue, Partition, PartitionNotFound, StorageDescriptor
from hbstore.errors import ConcurrentChange, InvalidInput
from hbstore.model.service_objects import ColumnStatistic
from hbstore.store.table_row import statistics_of
from tests.store.conftest import hours, values

ONE, TWO, NINE = (("2013-01-01", hour) for hour in "129")


def test_altering_replaces_all_but_the_values(sales):
    sales.add_partitions("shop", "sales", hours(1, 1, 2))
    altered = Partition(
        ONE, location="s3://x", parameters={"a": "b"}, create_time=5, storage=StorageDescriptor(input_format="orc")
    )
    sales.alter_partitions("shop", "sales", [altered])
    assert sales.get_partition("shop", "sales", ONE) == altered
    assert sales.get_partition("shop", "sales", TWO).parameters == {}
    assert values(sales.get_partitions_by_filter("shop", "sales", "hour = 1")) == [ONE]


def test_altering_is_all_or_nothing(sales):
    sales.add_partitions("shop", "sales", hours(1, 1, 2))
    changed = [Partition(one, parameters={"a": "b"}) for one in (ONE, ("2013-01-01", "09"), TWO)]
    with pytest.raises(PartitionNotFound) as caught:
        sales.alter_partitions("shop", "sales", changed)
    assert caught.value.fields["partition"] == "ds=2013-01-01/hour=09"
    assert all(one.parameters == {} for one in sales.get_partitions_by_filter("shop", "sales", None))
    sales.alter_partitions("shop", "sales", [])
    with pytest.raises(InvalidPartitionValue):
        sales.alter_partitions("shop", "sales", [changed[0], Partition(("2013-01-01",))])
    assert sales.get_partition("shop", "sales", ONE).parameters == {}


def test_altering_needs_the_text_of_the_values(sales):
    sales.add_partitions("shop", "sales", hours(1, 1))
    with pytest.raises(PartitionNotFound):
        sales.alter_partitions("shop", "sales", [Partition(("2013-01-01", "01"))])


def test_renaming_moves_a_partition_with_all_that_it_has(sales):
    sales.add_partitions("shop", "sales", [Partition(ONE, parameters={"a": "b"}, create_time=7), *hours(1, 2)])
    before = sales.get_partition("shop", "sales", ONE)
    sales.rename_partition("shop", "sales", ("2013-01-01", "1"), NINE)
    after = sales.get_partition("shop", "sales", NINE)
    assert (after.location, after.parameters, after.create_time) == (before.location, {"a": "b"}, 7)
    assert after.storage == before.storage
    assert sales.partition_names("shop", "sales") == ["ds=2013-01-01/hour=2", "ds=2013-01-01/hour=9"]
    with pytest.raises(PartitionNotFound):
        sales.get_partition("shop", "sales", ONE)
    assert list(sales.check("shop", "sales")) == [None, None]


def test_renaming_with_a_partition_replaces_all(sales):
    sales.add_partitions("shop", "sales", [Partition(ONE, parameters={"a": "b"})])
    renamed = Partition(NINE, location="s3://new", create_time=3, storage=StorageDescriptor())
    sales.rename_partition("shop", "sales", ONE, renamed)
    assert sales.get_partition("shop", "sales", NINE) == renamed


def test_renaming_to_the_same_values_in_other_words(sales):
    sales.add_partitions("shop", "sales", [Partition(("2013-01-01", "05"), parameters={"a": "b"})])
    for new in ("05", "5"):
        sales.rename_partition("shop", "sales", ("2013-01-01", "05"), ("2013-01-01", new))
        assert sales.partition_names("shop", "sales") == [f"ds=2013-01-01/hour={new}"]
        assert sales.get_partition("shop", "sales", ("2013-01-01", new)).parameters == {"a": "b"}
        assert list(sales.check("shop", "sales")) == [None]


@pytest.mark.parametrize("whole", [False, True])
def test_renaming_needs_the_old_and_not_the_new(sales, whole):
    def renamed(values):
        return Partition(values) if whole else values

    sales.add_partitions("shop", "sales", hours(1, 1, 2))
    with pytest.raises(PartitionNotFound) as caught:
        sales.rename_partition("shop", "sales", NINE, renamed(("2013-01-01", "8")))
    assert caught.value.fields["partition"] == "ds=2013-01-01/hour=9"
    with pytest.raises(AlreadyExists) as caught:
        sales.rename_partition("shop", "sales", ONE, renamed(("2013-01-01", "2")))
    assert caught.value.fields["partition"] == "ds=2013-01-01/hour=2"
    for bad in (("2013-01-01",), ("2013-01-01", "noon"), ("2013-01-01", "1", "2")):
        with pytest.raises(InvalidPartitionValue):
            sales.rename_partition("shop", "sales", ONE, renamed(bad))
    assert sales.partition_names("shop", "sales") == ["ds=2013-01-01/hour=1", "ds=2013-01-01/hour=2"]


def test_what_was_kept_as_text_can_be_renamed_to_what_it_means(sales):
    sales.add_partitions("shop", "sales", [Partition(("2013-01-01", "five"))], invalid_values="keep")
    sales.rename_partition("shop", "sales", ("2013-01-01", "five"), ("2013-01-01", "5"))
    assert values(sales.get_partitions_by_filter("shop", "sales", "hour = 5")) == [("2013-01-01", "5")]


def test_statistics_learn_of_renamed_partitions(sales):
    sales.add_partitions("shop", "sales", hours(1, 1))
    sales.rename_partition("shop", "sales", ONE, ("2014-01-01", "1"))
    assert statistics_of(sales._tables.open("shop", "sales")).distinct == (2, 2)
    sales.repair("shop", "sales")
    assert statistics_of(sales._tables.open("shop", "sales")).distinct == (1, 1)


def test_only_a_partition_that_is_as_it_was_read_is_altered_or_renamed(sales):
    elsewhere = ("2013-01-03", "1")
    sales.add_partitions("shop", "sales", [Partition(ONE), Partition(TWO)])
    read = sales.get_partition("shop", "sales", ONE).payload
    sales.alter_partitions("shop", "sales", [Partition(ONE, parameters={"a": "1"})], expected={ONE: read})
    for wrong in ({ONE: read}, {ONE: None}, {elsewhere: read}):
        with pytest.raises(ConcurrentChange):
            sales.alter_partitions("shop", "sales", [Partition(TWO, parameters={"a": "2"})], expected=wrong)
        for new in (elsewhere, ("2013-01-01", "01")):  # other values, and the same in other words
            with pytest.raises(ConcurrentChange):
                sales.rename_partition("shop", "sales", ONE, new, expected=wrong)
    parameters = {one.values: one.parameters for one in sales.get_partitions_by_filter("shop", "sales", None)}
    assert parameters == {ONE: {"a": "1"}, TWO: {}}
    read = sales.get_partition("shop", "sales", ONE).payload
    sales.rename_partition("shop", "sales", ONE, elsewhere, expected={ONE: read, elsewhere: None})
    assert values(sales.get_partitions_by_filter("shop", "sales", None)) == [TWO, elsewhere]


def test_a_renamed_partition_keeps_its_column_statistics(sales):
    price, elsewhere = ColumnStatistic("price", "int", b"some bytes", 5), ("2013-01-03", "1")
    sales.add_partitions("shop", "sales", [Partition(ONE, parameters={"numRows": "3"}), Partition(TWO)])
    sales.column_statistics.write_partitions("shop", "sales", {ONE: [price]})
    before = sales.totals("shop", "sales")
    sales.rename_partition("shop", "sales", ONE, elsewhere)
    assert sales.column_statistics.read_partitions("shop", "sales", [ONE, TWO, elsewhere]) == {elsewhere: [price]}
    assert sales.totals("shop", "sales") == before
    sales.drop_partitions("shop", "sales", [elsewhere])
    sales.add_partitions("shop", "sales", [Partition(elsewhere), Partition(ONE)])
    assert sales.column_statistics.read_partitions("shop", "sales", [ONE, elsewhere]) == {}


def test_marks_are_about_values_and_stay_when_a_partition_gets_them(sales):
    """Jobs mark what they have loaded, also before there is a partition."""
    new, price = ("2013-01-03", "1"), ColumnStatistic("price", "int", b"some bytes", 5)
    sales.add_partitions("shop", "sales", [Partition(ONE)])
    sales.column_statistics.write_partitions("shop", "sales", {ONE: [price]})
    sales.hive.marks.mark("shop", "sales", dict(zip(("ds", "hour"), new, strict=True)))
    sales.rename_partition("shop", "sales", ONE, new)
    assert sales.hive.marks.is_marked("shop", "sales", {"ds": "2013-01-03", "hour": "1"})
    assert sales.column_statistics.read_partitions("shop", "sales", [new]) == {new: [price]}


@pytest.mark.parametrize("payload", ["text", 5, [b""], Partition(ONE)])
def test_what_is_expected_of_a_partition_is_bytes(sales, payload):
    sales.add_partitions("shop", "sales", [Partition(ONE)])
    expected = {ONE: payload}
    for change in (
        lambda: sales.alter_partitions("shop", "sales", [Partition(ONE)], expected=expected),
        lambda: sales.rename_partition("shop", "sales", ONE, TWO, expected=expected),
        lambda: sales.change_partitions("shop", "sales", drop=[ONE], expected=expected),
    ):
        with pytest.raises(InvalidInput, match="stored bytes by partition values"):
            change()
    assert values(sales.get_partitions_by_filter("shop", "sales", None)) == [ONE]
