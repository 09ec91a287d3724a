"""Rows that plans look at: as counted by running them, exactly or about."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.plans.rows_looked_at import rows_looked_at
from hbstore.plans.statistics import Statistics
from hbstore.store.table_row import statistics_of

DAYS, HOURS, REGIONS = range(1, 29), range(24), ("cn", "eu", "in", "jp", "us")


@pytest.fixture(scope="module")
def shop():
    with connect("memory://") as store:
        store.create_database("shop")
        columns = [Column("ds", "date"), Column("hour", "int"), Column("region", "string")]
        store.create_table(Table("shop", "sales", partition_columns=columns))
        store.add_partitions(
            "shop",
            "sales",
            [Partition((f"2013-01-{d:02d}", str(hour), region)) for d in DAYS for hour in HOURS for region in REGIONS],
        )
        yield store


def looked_at(shop, filter):
    """What the function says, and what explain measured."""
    explained = shop.explain("shop", "sales", filter, analyze=True)

    def estimate(row, plan, batches):
        return rows_looked_at(plan, statistics_of(row), sum(map(len, batches)))

    return shop.read_payloads("shop", "sales", filter, estimate), explained.total.rows_read


@pytest.mark.parametrize(
    "filter",
    [
        None,
        "ds = '2013-01-05'",
        "ds = '2013-01-05' and hour in (3, 4, 9)",
        "ds = '2013-01-05' and hour = 3 and region = 'eu'",
        "ds = '2014-01-05' and hour = 3 and region = 'eu'",
        "ds > '2013-01-20'",
        "hour > 77 and hour < 5",
    ],
)
def test_where_keys_decide_the_number_is_exact(shop, filter):
    said, measured = looked_at(shop, filter)
    assert said == measured


@pytest.mark.parametrize(
    "filter",
    [
        "region = 'eu'",
        "hour = 3 or region = 'eu'",
        "region like '%n'",
        "ds = '2013-01-05' and region like '%n'",
        "ds = '2013-01-05' and hour >= 3 and hour < 9 and region like '%n'",
        "hour = 3",
        "ds >= '2013-01-10' and ds < '2013-01-20' and (hour = 3 or region = 'eu')",
        "ds = '2013-01-05' and hour = 3 and region = 'eu' or ds = '2013-01-20' and region like '_s'",
    ],
)
def test_elsewhere_it_comes_from_statistics(shop, filter):
    said, measured = looked_at(shop, filter)
    assert said == pytest.approx(measured, rel=0.25)


def test_without_statistics_it_is_what_was_returned(shop):
    plan = shop.plan("shop", "sales", "region = 'eu'")
    assert rows_looked_at(plan, Statistics(), 672) == 672
