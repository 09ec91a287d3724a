"""AND and OR of plans: only plans of one table can be combined."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from hbstore import Column, InvalidInput, Table, connect


@pytest.fixture
def store():
    with connect("memory://") as store:
        store.create_database("shop")
        for name, column in (("sales", "ds"), ("sold", "ds"), ("hours", "hour")):
            store.create_table(Table("shop", name, partition_columns=[Column(column, "int")]))
        yield store


@pytest.mark.parametrize("combine", ["and_", "or_"])
@pytest.mark.parametrize(("name", "where"), [("sold", "ds = 1"), ("hours", "hour = 1"), ("sold", "ds = 1 and ds = 2")])
def test_plans_of_two_tables_are_refused(store, combine, name, where):
    plan, other = store.plan("shop", "sales", "ds = 1"), store.plan("shop", name, where)
    column = where.split()[0]
    text = (
        rf"plans of different tables cannot be combined: plan=shop.sales \(ds int\), other=shop.{name} \({column} int\)"
    )
    with pytest.raises(InvalidInput, match=text):
        getattr(plan, combine)(other)
    if other.get_plans():
        with pytest.raises(InvalidInput, match=text):  # of a plan of another class
            getattr(plan, combine)(SimpleNamespace(get_plans=other.get_plans))


def test_plans_of_one_table_that_was_read_twice_are_combined(store):
    plan = store.plan("shop", "sales", "ds = 1")
    store.alter_table(Table("shop", "sales", owner="ann", partition_columns=[Column("ds", "int")]))
    assert str(plan.or_(store.plan("shop", "sales", "ds = 2"))) == "get ds = 1\nget ds = 2"
