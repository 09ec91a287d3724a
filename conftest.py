"""The store that examples in docstrings go on from; the docstring of `hbstore.PartitionStore` shows how it is made."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table, connect


@pytest.fixture(autouse=True)
def _example_store(request: pytest.FixtureRequest, doctest_namespace: dict[str, object]) -> None:
    """A store in memory with three days of the table shop.sales, and that table's handle."""
    if not isinstance(request.node, pytest.DoctestItem):
        return
    store = connect("memory://")
    store.create_database("shop")
    store.create_table(
        Table(
            "shop",
            "sales",
            location="s3://shop/sales",
            columns=[Column("amount", "decimal(10,2)")],
            partition_columns=[Column("ds", "date"), Column("hour", "int")],
        )
    )
    store.add_partitions(
        "shop",
        "sales",
        [
            Partition((f"2013-01-0{day}", str(hour)), parameters={"numRows": "100", "totalSize": "5000"})
            for day in (1, 2, 3)
            for hour in range(24)
        ],
    )
    doctest_namespace["store"] = store
    doctest_namespace["sales"] = store.table("shop.sales")
