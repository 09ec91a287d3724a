"""Partition specs: one list in an envelope that names its table and its folder."""

from __future__ import annotations

import pytest

from tests.metastore.asking import add, table_of, values
from tests.metastore.client import TYPES

VALUES = [(f"2013-01-{day:02d}", str(hour)) for day in range(1, 4) for hour in (1, 2, 10)]


@pytest.fixture
def shop(asking):
    add(asking, table_of("sales", ds="date", hour="int"), VALUES)
    return asking


def inside(specs):
    """The partitions of one spec, whose envelope is checked."""
    (spec,) = specs
    assert (spec.dbName, spec.tableName, spec.rootPath) == ("shop", "sales", "/sales")
    assert spec.sharedSDPartitionSpec is None
    return spec.partitionList.partitions


def test_all_partitions_are_one_spec(shop):
    assert values(inside(shop.get_partitions_pspec("shop", "sales", -1))) == VALUES
    assert values(inside(shop.get_partitions_pspec("@hive#shop", "Sales"))) == VALUES
    assert values(inside(shop.get_partitions_pspec("shop", "sales", 4))) == VALUES[:4]
    assert inside(shop.get_partitions_pspec("shop", "sales", 0)) == []
    assert shop.notes["partitions"] == 0


def test_partitions_of_a_spec_are_whole(shop):
    assert inside(shop.get_partitions_pspec("shop", "sales", -1)) == shop.get_partitions("shop", "sales", -1)


# The second is as Flink writes it; it reads the partitions by their names afterwards.
@pytest.mark.parametrize(
    "filter",
    [
        "hour > 1",
        "((ds = '2013-01-01') or (ds = '2013-01-03')) and ((hour = 1) or (hour = 2))",
        "hour <> 2",
        "hour = 5",
        None,
    ],
)
def test_partitions_of_a_filter_are_one_spec(shop, filter):
    expected = shop.get_partitions_by_filter("shop", "sales", filter, -1)
    assert inside(shop.get_part_specs_by_filter("shop", "sales", filter, -1)) == expected
    assert inside(shop.get_part_specs_by_filter("shop", "sales", filter, 2)) == expected[:2]


def test_a_table_without_folder_or_columns_has_a_spec_too(shop):
    shop.store.create_table(table_of("plain"))
    (spec,) = shop.get_partitions_pspec("shop", "plain", -1)
    assert (spec.dbName, spec.tableName, spec.rootPath) == ("shop", "plain", "/plain")
    assert spec.partitionList.partitions == []


def test_errors(shop):
    with pytest.raises(TYPES.NoSuchObjectException):
        shop.get_partitions_pspec("shop", "nope", -1)
    with pytest.raises(TYPES.NoSuchObjectException):
        shop.get_part_specs_by_filter("shop", "nope", "hour = 1", -1)
    with pytest.raises(TYPES.MetaException, match="the column is not a partition column"):
        shop.get_part_specs_by_filter("shop", "sales", "amount = 1", -1)
