"""Partitions named by specs: dicts of columns, in any order and case, wherever values are taken."""

from __future__ import annotations

from datetime import date

import pytest

from hbstore import Column, InvalidInput, InvalidPartitionValue, Partition, Table
from hbstore.model.service_objects import ColumnStatistic
from tests.store.conftest import sales_table

DAY = "2013-01-01"


@pytest.fixture
def full(sales):
    sales.create_table(
        Table("shop", "old", partition_columns=sales_table().partition_columns, location="s3://shop/old")
    )
    sales.add_partitions("shop", "sales", [Partition((DAY, str(hour))) for hour in (5, 6, 7)])
    return sales


def names(store, table="sales"):
    return store.partition_names("shop", table)


SPELLINGS = [{"ds": DAY, "hour": "5"}, {"HOUR": "5", "Ds": DAY}]


@pytest.mark.parametrize("spec", SPELLINGS)
def test_specs_find_partitions(full, spec):
    assert full.get_partition("shop", "sales", spec).values == (DAY, "5")
    assert [one.values for one in full.get_partitions("shop", "sales", [spec, (DAY, "6")])] == [(DAY, "5"), (DAY, "6")]
    assert full.get_payloads("shop", "sales", [spec]) == full.get_payloads("shop", "sales", [(DAY, "5")])
    assert full.table("shop.sales").partition(spec).values == (DAY, "5")


@pytest.mark.parametrize("spec", SPELLINGS)
def test_specs_name_what_is_changed(full, spec):
    full.rename_partition("shop", "sales", spec, {"hour": "8", "ds": "2014-01-01"})
    assert names(full) == ["ds=2013-01-01/hour=6", "ds=2013-01-01/hour=7", "ds=2014-01-01/hour=8"]
    full.rename_partition("shop", "sales", {"hour": "8", "ds": "2014-01-01"}, Partition((DAY, "5")))
    full.change_partitions("shop", "sales", drop=[spec], add=[Partition((DAY, "9"))])
    assert names(full) == [f"ds={DAY}/hour={hour}" for hour in (6, 7, 9)]


def test_what_a_filter_lists_is_dropped(full):
    listed = full.list_partitions_by_filter("shop", "sales", ["hour < 7"])
    assert full.drop_partitions("shop", "sales", listed) == 2
    assert names(full) == [f"ds={DAY}/hour=7"]
    assert full.drop_partitions("shop", "sales", full.get_partitions_by_filter("shop", "sales", None)) == 1
    assert names(full) == []


@pytest.mark.parametrize("spec", SPELLINGS)
def test_specs_are_exchanged(full, spec):
    full.exchange_partitions(("shop", "sales"), ("shop", "old"), [spec])
    assert names(full, "old") == [f"ds={DAY}/hour=5"]
    assert len(names(full)) == 2


@pytest.mark.parametrize("spec", SPELLINGS)
def test_specs_name_whose_statistics_are_meant(full, spec):
    statistic = ColumnStatistic("c", "bigint", b"1", 7)
    full.column_statistics.write_partitions("shop", "sales", {(DAY, "5"): [statistic]})
    assert list(full.column_statistics.read_partitions("shop", "sales", [spec]).values()) == [[statistic]]
    assert full.column_statistics.delete_partition("shop", "sales", spec)


def test_none_in_a_spec_is_the_null_partition(full):
    full.add_partitions("shop", "sales", [Partition((DAY, None))])
    assert full.drop_partitions("shop", "sales", [{"ds": DAY, "hour": None}]) == 1


CALLS = {
    "get_partition": lambda store, values: store.get_partition("shop", "sales", values),
    "get_partitions": lambda store, values: store.get_partitions("shop", "sales", [values]),
    "get_payloads": lambda store, values: store.get_payloads("shop", "sales", [(DAY, "5"), values]),
    "drop_partitions": lambda store, values: store.drop_partitions("shop", "sales", [values], if_exists=True),
    "rename_partition": lambda store, values: store.rename_partition("shop", "sales", values, (DAY, "9")),
    "rename_partition to": lambda store, values: store.rename_partition("shop", "sales", (DAY, "5"), values),
    "exchange_partitions": lambda store, values: store.exchange_partitions(
        ("shop", "sales"), ("shop", "old"), [values]
    ),
    "change_partitions": lambda store, values: store.change_partitions("shop", "sales", drop=[values]),
    "column_statistics": lambda store, values: store.column_statistics.read_partitions("shop", "sales", [values]),
    "handle": lambda store, values: store.table("shop.sales").drop([values], if_exists=True),
}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"ds": DAY}, "leaves out columns: .*missing=hour.*Name all of ds, hour"),
        ({}, "leaves out columns: .*missing=ds, hour"),
        ({"ds": DAY, "hour": "5", "region": "eu"}, "not a partition column: column=region.*are ds, hour"),
        ({"ds": DAY, "DS": "5"}, "names a column twice: column=DS"),
        ({"ds": DAY, 5: "5"}, "is not a column name: key=5, type=int"),
        (
            {"ds": DAY, "hour": b"5"},
            "does not fit its column's type: column=hour, type=int, value=b'5'",
        ),
        (f"ds={DAY}/hour=5", "are not a sequence: type=str"),
        (b"ab", "are not a sequence: type=bytes"),
        (bytearray(b"ab"), "are not a sequence: type=bytearray"),
        ({DAY}, "are not a sequence: type=set"),
        ({"ds": DAY, "hour": "5"}.keys(), "are not a sequence: type=dict_keys"),
        (5, "are not a sequence: type=int"),
        (None, "are not a sequence: type=NoneType"),
        ([(DAY, "5"), "5"], "a partition value does not fit its column's type: column=ds, type=.*value=\\('2013"),
        ((DAY, date(2013, 1, 1)), "does not fit its column's type: .*Give an int, or its text"),
        ((DAY,), "needs one value for each partition column: .*values=1, columns=ds, hour"),
    ],
    ids=repr,
)
def test_what_names_no_partition_is_refused(full, values, says):
    before = full.get_partitions_by_filter("shop", "sales", None)
    for call in CALLS.values():
        with pytest.raises(InvalidPartitionValue, match=says) as caught:
            call(full, values)
        assert caught.value.hint
    assert full.get_partitions_by_filter("shop", "sales", None) == before


@pytest.mark.parametrize("spec", [{"ds": DAY, "hour": "5"}, {}])
def test_a_partition_is_not_made_of_a_spec(spec):
    with pytest.raises(InvalidInput, match="cannot be read without") as caught:
        Partition(spec)
    assert "in the order of the table's partition columns" in caught.value.hint


def test_columns_of_odd_names_are_found(store):
    store.create_database("shop")
    store.create_table(Table("shop", "odd", partition_columns=[Column("Größe", "string"), Column("a b", "int")]))
    store.add_partitions("shop", "odd", [Partition(("x", "1"))])
    assert store.drop_partitions("shop", "odd", [{"a b": "1", "größe": "x"}]) == 1
