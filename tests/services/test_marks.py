"""Marks of partitions for events."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import (
    Column,
    DatabaseNotFound,
    InvalidPartitionValue,
    Partition,
    Table,
    TableNotFound,
    TableNotPartitioned,
)
from hbstore.model.service_objects import ColumnStatistic
from tests.store.conftest import sales_table

SPEC = {"ds": "2013-01-01", "hour": "5"}


@pytest.fixture
def sales(services):
    services.store.create_table(sales_table())
    return services


def test_a_partition_is_marked_for_one_kind_of_event(sales):
    assert not sales.marks.is_marked("shop", "sales", SPEC)
    sales.marks.mark("shop", "sales", SPEC)
    sales.marks.mark("shop", "sales", SPEC)
    assert sales.marks.is_marked("SHOP", "Sales", SPEC)
    assert not sales.marks.is_marked("shop", "sales", SPEC, 2)
    assert not sales.marks.is_marked("shop", "sales", {**SPEC, "hour": "6"})
    sales.marks.mark("shop", "sales", SPEC, 2)
    assert sales.marks.is_marked("shop", "sales", SPEC, 2)
    assert sales.marks.is_marked("shop", "sales", SPEC)


def test_the_spec_is_taken_in_any_order_and_case(sales):
    sales.marks.mark("shop", "sales", {"HOUR": "5", "ds": "2013-01-01"})
    assert sales.marks.is_marked("shop", "sales", SPEC)


@pytest.mark.parametrize("spec", [{}, {"ds": "2013-01-01"}, {**SPEC, "other": "1"}, {**SPEC, "DS": "2013-01-02"}])
def test_a_spec_that_names_no_partition_is_refused(sales, spec):
    for call in (sales.marks.mark, sales.marks.is_marked):
        with pytest.raises(InvalidPartitionValue):
            call("shop", "sales", spec)


def test_what_has_no_partitions_has_no_marks(sales):
    sales.store.create_table(Table("shop", "plain", columns=[Column("a", "int")]))
    for database, table, expected in [
        ("shop", "plain", TableNotPartitioned),
        ("shop", "none", TableNotFound),
        ("none", "sales", DatabaseNotFound),
    ]:
        for call in (sales.marks.mark, sales.marks.is_marked):
            with pytest.raises(expected):
                call(database, table, SPEC)


def test_a_mark_goes_with_its_partition(sales):
    values = tuple(SPEC.values())
    sales.store.add_partitions("shop", "sales", [Partition(values)])
    sales.marks.mark("shop", "sales", SPEC)
    assert sales.marks.is_marked("shop", "sales", SPEC)
    sales.store.drop_partitions("shop", "sales", [values])
    sales.store.add_partitions("shop", "sales", [Partition(values)])
    assert not sales.marks.is_marked("shop", "sales", SPEC)


def test_a_mark_of_a_partition_that_is_not_there_stays_where_a_drop_passes_it_over(sales):
    sales.marks.mark("shop", "sales", SPEC)
    assert not sales.store.drop_partitions("shop", "sales", [tuple(SPEC.values())], if_exists=True)
    assert sales.marks.is_marked("shop", "sales", SPEC)


def test_a_mark_goes_with_its_table(sales):
    sales.marks.mark("shop", "sales", SPEC)
    sales.store.drop_table("shop", "sales")
    sales.store.create_table(sales_table())
    assert not sales.marks.is_marked("shop", "sales", SPEC)


def test_marks_and_statistics_of_a_partition_leave_each_other_alone(sales):
    sales.marks.mark("shop", "sales", SPEC)
    assert sales.statistics.read_partitions("shop", "sales", [tuple(SPEC.values())]) == {}
    assert not sales.statistics.delete_partition("shop", "sales", tuple(SPEC.values()))
    assert sales.marks.is_marked("shop", "sales", SPEC)
    sales.store.add_partitions("shop", "sales", [Partition(tuple(SPEC.values()))])
    sales.statistics.write_partitions("shop", "sales", {tuple(SPEC.values()): [ColumnStatistic("a")]})
    assert sales.statistics.delete_partition("shop", "sales", tuple(SPEC.values()))
    assert sales.marks.is_marked("shop", "sales", SPEC)


def test_a_renamed_or_exchanged_partition_leaves_none_behind(sales):
    values = tuple(SPEC.values())
    sales.store.create_table(replace(sales_table(), name="sold"))
    sales.store.add_partitions("shop", "sales", [Partition(values)])
    sales.marks.mark("shop", "sales", SPEC)
    sales.store.rename_partition("shop", "sales", values, ("2013-01-01", "6"))
    sales.store.add_partitions("shop", "sales", [Partition(values)])
    assert not sales.marks.is_marked("shop", "sales", SPEC)
    sales.marks.mark("shop", "sales", SPEC)
    sales.store.exchange_partitions(("shop", "sales"), ("shop", "sold"), [values])
    sales.store.add_partitions("shop", "sales", [Partition(values)])
    assert not sales.marks.is_marked("shop", "sales", SPEC)
