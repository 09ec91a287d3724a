"""Conditions as people read them."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table, connect


@pytest.fixture
def sales():
    with connect("memory://") as store:
        store.create_database("shop")
        columns = [Column("ds", "date"), Column("region", "string")]
        store.create_table(Table("shop", "sales", partition_columns=columns))
        store.add_partitions("shop", "sales", [Partition(("2013-01-01", "eu"))])
        yield store


@pytest.mark.parametrize(
    "condition",
    [
        "region like 'e%'",
        "region like 'e''s%'",
        r"region like 'e\%\_%'",
        "region = 'eu'",
        "region in ('eu', 'us')",
        "region > 'eu'",
        "region <= 'eu'",
        "region is null",
    ],
)
def test_a_residual_reads_like_the_filter(sales, condition):
    """Escaped quotes are the notation's own: the filter language takes the other kind of quotes."""
    given = condition.replace("'e''s%'", '"e\'s%"')
    (scan,) = sales.explain("shop", "sales", f"ds > '2013-01-01' and {given}").to_dict()["scans"]
    assert scan["residual"] == condition
