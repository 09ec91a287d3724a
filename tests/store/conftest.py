"""Fresh stores on the backends that need no server, and the table that most tests use."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table, connect

URLS = {"memory": "memory://", "nonatomic": "memory://?atomic=false", "sqlite": "sqlite://{}/store.db"}


@pytest.fixture(params=URLS)
def store(request, tmp_path):
    with connect(URLS[request.param].format(tmp_path)) as store:
        yield store


@pytest.fixture
def sales(store):
    """A store with the table shop.sales, partitioned by ds and hour."""
    store.create_database("shop")
    store.create_table(sales_table())
    return store


def sales_table(**fields):
    columns = [Column("ds", "date"), Column("hour", "int")]
    return Table("shop", "sales", partition_columns=columns, **{"location": "s3://shop/sales", **fields})


def hours(day, *numbers):
    """Partitions of one day."""
    return [Partition((f"2013-01-{day:02d}", str(number))) for number in numbers]


def values(partitions):
    return [one.values for one in partitions]
