"""get_partition_values: columns, distinct values, order, limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import connect
from tests.metastore.asking import Asking, add, fields, table_of
from tests.metastore.client import TYPES

NULL = "__HIVE_DEFAULT_PARTITION__"
VALUES = [
    ("2013-01-01", "9", "x/y"),
    ("2013-01-01", "10", "eu"),
    ("2013-01-02", "09", "eu"),
    ("2013-01-02", "10", "x/y"),
    ("2013-01-03", None, "a"),
]
SALES = table_of("sales", ds="date", hour="int", region="string")


@pytest.fixture
def shop(asking):
    add(asking, SALES, VALUES)
    return asking


def ask(shop, *columns, order=(), table="sales", **options):
    request = TYPES.PartitionValuesRequest(
        dbName="shop", tblName=table, partitionKeys=fields(*columns), partitionOrder=fields(*order), **options
    )
    return [tuple(one.row) for one in shop.get_partition_values(request).partitionValues]


def test_values_of_a_column_are_distinct_and_in_order(shop):
    assert ask(shop, "ds") == [("2013-01-01",), ("2013-01-02",), ("2013-01-03",)]
    assert ask(shop, "HOUR") == [(NULL,), ("9",), ("09",), ("10",)]
    assert ask(shop, "region") == [("a",), ("eu",), ("x/y",)]
    assert shop.notes["partitions"] == 3


def test_all_rows_where_distinct_is_not_asked_for(shop):
    assert ask(shop, "region", applyDistinct=False) == [("a",), ("eu",), ("eu",), ("x/y",), ("x/y",)]


def test_columns_in_any_order(shop):
    assert ask(shop, "region", "ds")[:3] == [("a", "2013-01-03"), ("eu", "2013-01-01"), ("eu", "2013-01-02")]


def test_filters(shop):
    assert ask(shop, "region", filter="hour = 10") == [("eu",), ("x/y",)]
    assert ask(shop, "region", filter='region like "x.*"') == [("x/y",)]
    for wrong in ("hour = 'x'", "nope = 1", "hour ="):
        with pytest.raises(TYPES.MetaException):
            ask(shop, "region", filter=wrong)


def test_order(shop):
    assert ask(shop, "hour", ascending=False) == [("10",), ("9",), ("09",), (NULL,)]
    assert ask(shop, "ds", "hour", order=["hour", "ds"]) == [
        ("2013-01-03", NULL),
        ("2013-01-01", "9"),
        ("2013-01-02", "09"),
        ("2013-01-01", "10"),
        ("2013-01-02", "10"),
    ]
    assert ask(shop, "ds", order=["hour"]) == [("2013-01-03",), ("2013-01-01",), ("2013-01-02",)]
    assert ask(shop, "ds", order=["ds"], ascending=False) == [("2013-01-03",), ("2013-01-02",), ("2013-01-01",)]


def test_limits(shop):
    assert ask(shop, "ds", maxParts=2) == [("2013-01-01",), ("2013-01-02",)]
    assert ask(shop, "ds", maxParts=2, ascending=False) == [("2013-01-03",), ("2013-01-02",)]
    assert len(ask(shop, "ds", maxParts=0)) == len(ask(shop, "ds", maxParts=-1)) == 3  # as HMS has it


def test_errors(shop):
    with pytest.raises(TYPES.MetaException, match="no partition columns"):
        ask(shop)
    with pytest.raises(TYPES.MetaException, match="the column is not a partition column"):
        ask(shop, "amount")
    with pytest.raises(TYPES.MetaException, match="the column is not a partition column"):
        ask(shop, "ds", order=["amount"])
    with pytest.raises(TYPES.NoSuchObjectException):
        ask(shop, "ds", table="nope")


@given(data=st.data())
def test_rows_equal_a_naive_reading(data):
    rows = data.draw(st.lists(st.tuples(st.sampled_from("ab"), st.integers(-3, 12)), max_size=15, unique=True))
    names = ("name", "n")
    columns = data.draw(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=2, unique=True))
    order = data.draw(st.lists(st.sampled_from([0, 1]), max_size=2, unique=True))
    distinct, ascending = data.draw(st.booleans()), data.draw(st.booleans())
    most = data.draw(st.integers(-1, 6))
    expected = sorted(sorted(rows), key=lambda row: [row[at] for at in order or columns], reverse=not ascending)
    expected = [tuple(row[at] for at in columns) for row in expected]
    if distinct:
        expected = list(dict.fromkeys(expected))
    with connect("memory://") as store:
        shop = Asking(store)
        store.create_database("shop")
        add(shop, table_of("t", name="string", n="int"), [(name, str(n)) for name, n in rows])
        found = ask(
            shop,
            *[names[at] for at in columns],
            order=[names[at] for at in order],
            table="t",
            applyDistinct=distinct,
            ascending=ascending,
            maxParts=most,
        )
    assert found == [tuple(map(str, row)) for row in (expected[:most] if most > 0 else expected)]
