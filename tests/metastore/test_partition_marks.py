"""Marks on partitions over the wire."""

from __future__ import annotations

import pytest

from tests.metastore.writing import TYPES, partition_of, table_of


@pytest.fixture
def shop(shop):
    shop.create_table(table_of())
    return shop


def test_a_mark_is_one_partition_s(shop):
    spec = {"ds": "a", "hour": "1"}
    assert shop.isPartitionMarkedForEvent("shop", "sales", spec, 1) is False
    shop.markPartitionForEvent("shop", "sales", spec, 1)
    assert shop.isPartitionMarkedForEvent("shop", "sales", {"HOUR": "1", "ds": "a"}, 1) is True
    assert shop.isPartitionMarkedForEvent("shop", "sales", {"ds": "a", "hour": "2"}, 1) is False


def test_a_mark_goes_with_its_partition(shop):
    shop.add_partition(partition_of("a", "1"))
    shop.markPartitionForEvent("shop", "sales", {"ds": "a", "hour": "1"}, 1)
    shop.drop_partition("shop", "sales", ["a", "1"], True)
    assert shop.isPartitionMarkedForEvent("shop", "sales", {"ds": "a", "hour": "1"}, 1) is False


@pytest.mark.parametrize("method", ["markPartitionForEvent", "isPartitionMarkedForEvent"])
@pytest.mark.parametrize(
    ("database", "table", "spec", "error"),
    [
        ("shop", "nothing", {"ds": "a", "hour": "1"}, "UnknownTableException"),
        ("nothing", "sales", {"ds": "a", "hour": "1"}, "UnknownDBException"),
        ("shop", "sales", {"ds": "a"}, "InvalidPartitionException"),
        ("shop", "sales", {"ds": "a", "minute": "1"}, "InvalidPartitionException"),
        ("shop", "flat", {"ds": "a"}, "InvalidPartitionException"),
    ],
)
def test_what_cannot_be_marked(shop, method, database, table, spec, error):
    shop.create_table(table_of("flat", partitionKeys=[]))
    with pytest.raises(getattr(TYPES, error)):
        getattr(shop, method)(database, table, spec, 1)
