"""Tables: created, read, altered, listed, dropped and made again."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings

from hbstore import (
    AlreadyExists,
    Column,
    InvalidInput,
    InvalidName,
    InvalidType,
    Partition,
    StoreBusy,
    Table,
    TableNotFound,
    TableNotPartitioned,
    connect,
)
from hbstore.rows import connect as connect_rows
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import statistics_of
from hbstore.transactions.transactions import Transactions
from tests.store.conftest import hours, sales_table, values
from tests.store.stepping import play, schedules
from tests.strategies import full_tables


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(full_tables())
def test_every_field_of_any_table_is_kept(table):
    with connect("memory://") as store:
        store.create_database(table.database)
        store.create_table(table, invalid_types="keep")
        found = store.get_table(table.database, table.name)
        assert replace(found, create_time=table.create_time) == table
        assert found.create_time == (table.create_time or found.create_time) != 0
        assert store.tables(table.database) == [found]


def test_tables_are_listed_in_order_of_their_names(sales):
    for name in ("z", "Sales2", "a"):
        sales.create_table(Table("shop", name))
    assert [one.name for one in sales.tables("SHOP")] == ["a", "sales", "sales2", "z"]


def test_a_table_that_is_there_is_not_replaced(sales):
    sales.add_partitions("shop", "sales", hours(1, 1))
    with pytest.raises(AlreadyExists) as caught:
        sales.create_table(sales_table(owner="bob"))
    assert str(caught.value.fields["table"]) == "shop.sales"
    sales.create_table(sales_table(owner="bob"), if_not_exists=True)
    assert sales.get_table("shop", "sales").owner is None
    assert sales.count_partitions("shop", "sales") == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.get_table("shop", "none"),
        lambda store: store.alter_table(Table("shop", "none")),
        lambda store: store.drop_table("shop", "none"),
        lambda store: store.add_partitions("shop", "none", hours(1, 1)),
        lambda store: store.drop_partitions("shop", "none", [("2013-01-01", "1")]),
        lambda store: store.alter_partitions("shop", "none", hours(1, 1)),
        lambda store: store.rename_partition("shop", "none", ("1",), ("2",)),
        lambda store: store.get_partition("shop", "none", ("1",)),
        lambda store: store.get_partitions("shop", "none", []),
        lambda store: store.get_partitions_by_filter("shop", "none", None),
        lambda store: store.partition_names("shop", "none"),
        lambda store: store.count_partitions("shop", "none"),
        lambda store: store.plan("shop", "none"),
        lambda store: store.explain("shop", "none"),
        lambda store: list(store.check("shop", "none")),
        lambda store: store.repair("shop", "none"),
    ],
)
@pytest.mark.parametrize("was_there", [False, True])
def test_what_is_not_there_is_named(sales, call, was_there):
    if was_there:
        sales.create_table(sales_table().__class__("shop", "none", partition_columns=[Column("a", "int")]))
        sales.add_partitions("shop", "none", [Partition(("1",))])
        sales.drop_table("shop", "none")
    with pytest.raises(TableNotFound) as caught:
        call(sales)
    assert caught.value.fields == {"table": "shop.none"}
    assert "hbstore tables shop" in caught.value.hint
    sales.drop_table("shop", "none", if_exists=True)
    sales.drop_table("none", "none", if_exists=True)


def test_all_but_the_partition_columns_can_be_altered(sales):
    sales.add_partitions("shop", "sales", hours(1, 1))
    altered = sales_table(owner="ann", parameters={"a": "b"}, columns=[Column("x", "int")], location="s3://new")
    sales.alter_table(altered)
    assert sales.get_table("shop", "sales") == altered
    assert sales.get_partition("shop", "sales", ("2013-01-01", "1")).location == "s3://shop/sales/ds=2013-01-01/hour=1"
    sales.add_partitions("shop", "sales", hours(1, 2))
    assert sales.get_partition("shop", "sales", ("2013-01-01", "2")).location == "s3://new/ds=2013-01-01/hour=2"


@pytest.mark.parametrize(
    "columns",
    [
        [Column("ds", "date")],
        [Column("ds", "string"), Column("hour", "int")],
        [Column("hour", "int"), Column("ds", "date")],
        [Column("ds", "date"), Column("hours", "int")],
        [Column("ds", "date"), Column("hour", "int"), Column("x", "int")],
        [],
    ],
)
def test_partition_columns_cannot_be_altered(sales, columns):
    sales.add_partitions("shop", "sales", hours(1, 1))
    with pytest.raises(InvalidInput) as caught:
        sales.alter_table(Table("shop", "sales", partition_columns=columns))
    assert str(caught.value.fields["table"]) == "shop.sales"
    assert caught.value.hint
    assert values(sales.get_partitions_by_filter("shop", "sales", "hour = 1")) == [("2013-01-01", "1")]


def test_an_unpartitioned_table_takes_no_partitions(store):
    store.create_database("shop")
    store.create_table(Table("shop", "flat", columns=[Column("a", "int")]))
    for call in (
        lambda: store.add_partitions("shop", "flat", [Partition(())]),
        lambda: store.drop_partitions("shop", "flat", [()]),
        lambda: store.alter_partitions("shop", "flat", [Partition(())]),
    ):
        with pytest.raises(TableNotPartitioned) as caught:
            call()
        assert str(caught.value.fields["table"]) == "shop.flat"
    assert store.partition_names("shop", "flat") == []
    assert store.count_partitions("shop", "flat") == 0
    assert store.get_partitions_by_filter("shop", "flat", None) == []


@pytest.mark.parametrize("kind", ["binary", "array<int>", "map<int,int>", "struct<a:int>", "", "decimal(39,0)", "text"])
def test_types_that_cannot_partition_are_refused(kind):
    with pytest.raises(InvalidType) as caught:
        Table("d", "t", partition_columns=[Column("a", kind)])
    assert caught.value.fields["type"] == kind


def test_columns_of_other_types_than_hives_are_not_created(store):
    store.create_database("shop")
    with pytest.raises(InvalidType) as caught:
        store.create_table(Table("shop", "odd", columns=[Column("a", "int"), Column("b", "array<intt>")]))
    assert (caught.value.fields["column"], caught.value.fields["expected"]) == ("b", "int")
    assert store.table_names("shop") == []
    odd = Table("shop", "odd", columns=[Column("a", "money")])
    store.create_table(odd, invalid_types="keep")
    assert store.get_table("shop", "odd").columns == odd.columns


def test_columns_are_not_altered_to_other_types_than_hives(store):
    store.create_database("shop")
    odd = Table("shop", "odd", columns=[Column("a", "money"), Column("b", "int")])
    store.create_table(odd, invalid_types="keep")
    store.alter_table(replace(odd, parameters={"k": "v"}))  # what was there before stays
    later = replace(odd, columns=[Column("a", "money"), Column("b", "intt")])
    with pytest.raises(InvalidType, match="column=b"):
        store.alter_table(later)
    with pytest.raises(InvalidType, match="column=b"):
        store.rename_table("shop", "odd", replace(later, name="other"))
    assert (store.table_names("shop"), store.get_table("shop", "odd").columns) == (["odd"], odd.columns)
    store.rename_table("shop", "odd", replace(odd, name="other"))
    store.alter_table(replace(later, name="other"), invalid_types="keep")
    assert store.get_table("shop", "other").columns == later.columns


def test_column_names_are_there_and_differ():
    for columns in ([Column("a", "int"), Column("A", "int")], [Column("", "int")], [Column(" ", "int")]):
        with pytest.raises(InvalidName):
            Table("d", "t", partition_columns=columns)


def test_a_dropped_table_that_comes_back_is_empty_and_so_are_its_statistics(sales):
    sales.add_partitions("shop", "sales", [one for day in range(1, 20) for one in hours(day, *range(24))])
    assert statistics_of(sales._tables.open("shop", "sales")).distinct == (19, pytest.approx(456, rel=0.2))
    sales.drop_table("shop", "sales")
    sales.create_table(sales_table())
    assert sales.partition_names("shop", "sales") == []
    assert statistics_of(sales._tables.open("shop", "sales")).known is False
    assert sales.add_partitions("shop", "sales", hours(1, 1)) == 1
    assert statistics_of(sales._tables.open("shop", "sales")).distinct == (1, 1)
    assert list(sales.check("shop", "sales")) == [None]


def test_a_table_comes_back_with_other_columns_again_and_again(store):
    store.create_database("d")
    for turn, kinds in enumerate([("int",), ("string", "int"), ("date",), ("int",)]):
        text = {"int": "5", "string": "5", "date": "2013-01-05"}
        columns = [Column(f"c{at}", kind) for at, kind in enumerate(kinds)]
        store.create_table(Table("d", "t", partition_columns=columns))
        partition = tuple(text[kind] for kind in kinds)
        assert store.partition_names("d", "t", f"c0 = '{partition[0]}'") == []
        store.add_partitions("d", "t", [Partition(partition)])
        assert values(store.get_partitions_by_filter("d", "t", f"c0 = '{partition[0]}'")) == [partition], turn
        assert list(store.check("d", "t")) == [None]
        store.drop_table("d", "t")
    assert store.tables("d") == []


def test_a_large_table_is_dropped_whole(sales):
    sales.add_partitions("shop", "sales", [Partition(("2013-01-01", str(hour))) for hour in range(12_000)])
    sales.drop_table("shop", "sales")
    sales.create_table(sales_table())
    assert sales.count_partitions("shop", "sales") == 0
    sales.repair_catalog()
    assert list(sales.rows.whole_rows(b"shop", b"shoq")) == []


@pytest.mark.parametrize("times", [1, 100])
def test_tables_that_are_renamed_while_they_are_listed(monkeypatch, times):
    """Where a scan is no snapshot, they are looked at until they stay; for as long as the store has patience."""
    with connect("memory://?atomic=false", patience=0) as store:
        store.create_database("shop")
        store.create_table(replace(sales_table(), name="t0"))
        scan, renamed = Transactions.scan_cell, iter(range(times))

        def scan_beside_a_writer(self, *arguments):
            seen = list(scan(self, *arguments))
            for number in islice(renamed, 1):
                store.rename_table("shop", f"t{number}", replace(sales_table(), name=f"t{number + 1}"))
            return seen

        monkeypatch.setattr(Transactions, "scan_cell", scan_beside_a_writer)
        if times == 1:
            assert store.table_names("shop") == ["t1"]
        else:
            with pytest.raises(StoreBusy, match="kept renaming or creating tables"):
                store.table_names("shop")


@pytest.mark.parametrize("target", ["a0", "t9"])
@pytest.mark.parametrize("before", [0, 1])
def test_a_list_beside_a_rename_has_the_table_once(target, before):
    """At each step of both: under the old name or the new one, which sorts before others or behind them.

    A store that has listed the tables before needs less for the next list.
    """

    def fresh():
        rows = connect_rows("memory://?atomic=false")
        store = PartitionStore(rows)
        store.create_database("shop")
        for name in ("t0", "t5"):
            store.create_table(replace(sales_table(), name=name))
        return rows

    def rename(store):
        store.rename_table("shop", "t0", replace(sales_table(), name=target))

    def names(store):
        for _ in range(before):
            store.table_names("shop")
        return store.table_names("shop")

    _, (renaming, listing) = play(fresh(), [rename, names], [])
    for schedule in schedules((renaming, listing), step=2):
        results, _ = play(fresh(), [rename, names], schedule)
        assert results[1] in (["t0", "t5"], sorted([target, "t5"])), schedule
