"""Adding and dropping partitions: all or nothing, with the errors that say what stood in the way."""

from __future__ import annotations

import time

import pytest

from hbstore import (
    AlreadyExists,
    Column,
    InvalidPartitionValue,
    Partition,
    PartitionNotFound,
    StorageDescriptor,
    Table,
)
from tests.store.conftest import hours, values

ONE, TWO = ("2013-01-01", "1"), ("2013-01-01", "2")


def names(store):
    return store.partition_names("shop", "sales")


def test_adding_says_how_many(sales):
    assert sales.add_partitions("shop", "sales", []) == 0
    assert sales.add_partitions("shop", "sales", iter(hours(1, 1, 2, 3))) == 3
    assert sales.add_partitions("SHOP", "Sales", hours(2, 1)) == 1
    assert names(sales) == [f"ds=2013-01-01/hour={hour}" for hour in (1, 2, 3)] + ["ds=2013-01-02/hour=1"]


@pytest.mark.parametrize("one", [ONE, ("2013-1-1", "01"), ("2013-01-01", "+1"), ("2013-01-01", f"{30 * '0'}1")])
def test_a_partition_is_added_once(sales, one):
    sales.add_partitions("shop", "sales", [Partition(one, parameters={"first": "yes"})])
    batch = [Partition(TWO), Partition(one), Partition(("2013-01-01", "3"))]
    with pytest.raises(AlreadyExists) as caught:
        sales.add_partitions("shop", "sales", batch)
    assert str(caught.value.fields["table"]) == "shop.sales"
    assert caught.value.fields["partition"] == f"ds={one[0]}/hour={one[1]}"
    assert "if_not_exists=True" in caught.value.hint
    assert names(sales) == [f"ds={one[0]}/hour={one[1]}"], "all or nothing"
    assert sales.add_partitions("shop", "sales", batch, if_not_exists=True) == 2
    assert sales.add_partitions("shop", "sales", batch, True) == 0
    assert sales.get_partition("shop", "sales", one).parameters == {"first": "yes"}
    assert sales.add_partitions("shop", "sales", [Partition(("2013-01-01", "001"))]) == 1


def test_a_batch_that_names_a_partition_twice_is_refused(sales):
    batch = [Partition(ONE, location="s3://a"), Partition(ONE, location="s3://b"), Partition(TWO)]
    with pytest.raises(AlreadyExists) as caught:
        sales.add_partitions("shop", "sales", batch)
    assert "twice" in caught.value.text
    assert caught.value.fields["partition"] == "ds=2013-01-01/hour=1"
    assert names(sales) == []
    assert sales.add_partitions("shop", "sales", batch, if_not_exists=True) == 2
    assert sales.get_partition("shop", "sales", ONE).location == "s3://a"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (("2013-01-01",), "columns"),
        (("2013-01-01", "1", "2"), "columns"),
        ((), "columns"),
        (("2013-02-30", "1"), "column"),
        (("2013-01-01", "x"), "column"),
        (("2013-01-01", " "), "column"),
        (("2013-01-01", " 1"), "column"),
        (("2013-01-01", "2147483648"), "column"),
        (("2013-01-01", "1.0"), "column"),
        (("null", "1"), "column"),
    ],
)
def test_values_that_do_not_fit_are_refused_and_nothing_is_added(sales, given, field):
    with pytest.raises(InvalidPartitionValue) as caught:
        sales.add_partitions("shop", "sales", [Partition(ONE), Partition(given), Partition(TWO)])
    assert field in caught.value.fields
    assert names(sales) == []


def test_a_value_that_does_not_fit_is_named_with_its_column(sales):
    with pytest.raises(InvalidPartitionValue) as caught:
        sales.add_partitions("shop", "sales", [Partition(("2013-01-01", "noon"))])
    assert caught.value.fields == {"column": "hour", "type": "int", "value": "'noon'"}
    assert "keep" in caught.value.hint


@pytest.mark.parametrize("bad", ["2013-01-01", b"ab", None, 5, (5.5, "1"), (b"x", "1"), ("\ud800", "1")])
def test_values_that_are_no_texts_are_refused(bad):
    with pytest.raises(InvalidPartitionValue) as caught:
        Partition(bad)
    assert caught.value.hint


def test_texts_that_do_not_fit_can_be_kept_and_are_found_by_name_only(sales):
    kept = [Partition(("someday", "noon")), Partition(("2013-01-01", "noon")), Partition(("someday", "5"))]
    assert sales.add_partitions("shop", "sales", [*kept, Partition(ONE)], invalid_values="keep") == 4
    listed = [ONE, ("2013-01-01", "noon"), ("someday", "5"), ("someday", "noon")]
    assert values(sales.get_partitions_by_filter("shop", "sales", None)) == listed
    assert values(sales.get_partitions_by_filter("shop", "sales", "ds != '2013-01-02'")) == listed[:2]
    assert values(sales.get_partitions_by_filter("shop", "sales", "hour < 9 or hour >= 9")) == [ONE, ("someday", "5")]
    assert sales.get_partitions_by_filter("shop", "sales", "ds like '%some%'") == []
    assert sales.get_partition("shop", "sales", ("someday", "noon")).values == ("someday", "noon")
    with pytest.raises(AlreadyExists):
        sales.add_partitions("shop", "sales", kept[:1], invalid_values="keep")
    assert sales.drop_partitions("shop", "sales", [("someday", "noon")]) == 1
    assert list(sales.check("shop", "sales")) == [None] * 3


def test_values_too_long_for_a_key_are_refused(store):
    store.create_database("shop")
    store.create_table(Table("shop", "long", partition_columns=[Column("a", "string")]))
    longest = "x" * (32_767 - 2 * 129 - 2 - 2)  # whatever name the table gets
    assert store.add_partitions("shop", "long", [Partition((longest,))]) == 1
    assert values(store.get_partitions_by_filter("shop", "long", "a like 'xx%'")) == [(longest,)]
    with pytest.raises(InvalidPartitionValue) as caught:
        store.add_partitions("shop", "long", [Partition(("a",)), Partition((longest + "x",))])
    assert caught.value.fields == {"bytes": 32_768, "limit": 32_767}
    assert store.count_partitions("shop", "long") == 1


def test_the_null_partition_is_none_or_its_name(sales):
    sales.add_partitions("shop", "sales", [Partition((None, None)), Partition((None, "1")), Partition(ONE)])
    with pytest.raises(AlreadyExists):
        sales.add_partitions("shop", "sales", [Partition(("__HIVE_DEFAULT_PARTITION__", "1"))])
    assert names(sales)[0] == "ds=__HIVE_DEFAULT_PARTITION__/hour=__HIVE_DEFAULT_PARTITION__"
    assert sales.get_partition("shop", "sales", (None, "1")).values == ("__HIVE_DEFAULT_PARTITION__", "1")
    assert sales.drop_partitions("shop", "sales", [(None, None)]) == 1


def test_dropping_says_how_many_and_is_all_or_nothing(sales):
    sales.add_partitions("shop", "sales", hours(1, 1, 2, 3))
    with pytest.raises(PartitionNotFound) as caught:
        sales.drop_partitions("shop", "sales", [ONE, ("2013-01-01", "04"), TWO])
    assert str(caught.value.fields["table"]) == "shop.sales"
    assert caught.value.fields["partition"] == "ds=2013-01-01/hour=04"
    assert len(names(sales)) == 3
    assert sales.drop_partitions("shop", "sales", [ONE, ("2013-01-01", "04"), TWO], if_exists=True) == 2
    assert sales.drop_partitions("shop", "sales", [ONE], if_exists=True) == 0
    assert sales.drop_partitions("shop", "sales", []) == 0
    assert sales.drop_partitions("shop", "sales", [("2013-01-01", "3"), ("2013-01-01", "3")]) == 1
    assert names(sales) == []


@pytest.mark.parametrize("given", [("2013-01-01",), ("2013-01-01", "1", "2"), ()])
def test_dropping_needs_a_value_for_each_column(sales, given):
    sales.add_partitions("shop", "sales", hours(1, 1))
    with pytest.raises(InvalidPartitionValue):
        sales.drop_partitions("shop", "sales", [given])
    assert len(names(sales)) == 1


def test_what_was_dropped_can_be_added_again(sales):
    for turn in range(20):
        sales.add_partitions("shop", "sales", [Partition(ONE, parameters={"turn": str(turn)})])
        assert sales.get_partition("shop", "sales", ONE).parameters["turn"] == str(turn)
        sales.drop_partitions("shop", "sales", [ONE])
        assert names(sales) == []
        with pytest.raises(PartitionNotFound):
            sales.get_partition("shop", "sales", ONE)


def test_a_partition_inherits_what_it_does_not_say(store):
    storage = StorageDescriptor(input_format="in", num_buckets=4)
    store.create_database("shop")
    store.create_table(
        Table("shop", "sales", [Column("ds", "string")], [Column("x", "int")], location="s3://b/t", storage=storage)
    )
    began = int(time.time())
    store.add_partitions("shop", "sales", [Partition(("a/b",)), Partition(("c",), location="s3://c", create_time=7)])
    first, second = store.get_partitions_by_filter("shop", "sales", None)
    assert first.location == "s3://b/t/ds=a%2Fb"
    assert began <= first.create_time <= time.time()
    assert first.storage.input_format == "in"
    assert first.storage.num_buckets == 4
    assert first.storage.columns == (Column("x", "int"),)
    assert (second.location, second.create_time) == ("s3://c", 7)


def test_a_table_without_a_location_gives_none(store):
    store.create_database("shop")
    store.create_table(Table("shop", "sales", [Column("ds", "string")]))
    store.add_partitions("shop", "sales", [Partition(("a",))])
    assert store.get_partition("shop", "sales", ("a",)).location is None
