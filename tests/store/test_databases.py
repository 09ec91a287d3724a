"""Databases: created, read, altered, listed, dropped, and every error with its fields and what to do next."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from hbstore import (
    AlreadyExists,
    Column,
    ConcurrentChange,
    Database,
    DatabaseNotEmpty,
    DatabaseNotFound,
    InvalidName,
    Partition,
    Table,
    TableNotFound,
    connect,
)
from tests.strategies import databases

BAD_NAMES = ["", " ", "a b", "a/b", "a.b", "a-b", "it's", '"a"', "größe", "a\0", "a\n", "é", "x" * 257, "a;drop"]


def test_a_database_is_kept_whole(store):
    made = Database(
        "Shop",
        description="all shops",
        location="s3://shop",
        parameters={"a": "b", "": "é\0"},
        owner="ann",
        owner_type=1,
    )
    store.create_database(made)
    assert store.get_database("SHOP") == made
    assert store.get_database("shop").name == "shop"
    assert store.databases() == [made]


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(databases)
def test_every_field_of_any_database_is_kept(database):
    with connect("memory://") as store:
        store.create_database(database)
        assert store.get_database(database.name) == database
        store.alter_database(Database(database.name))
        assert store.get_database(database.name) == Database(database.name)
        store.alter_database(database)
        assert store.databases() == [database]


def test_databases_are_listed_in_order_of_their_names(store):
    for name in ("b", "a_1", "a", "A2", "z"):
        store.create_database(name)
    assert [one.name for one in store.databases()] == ["a", "a2", "a_1", "b", "z"]


def test_a_database_that_is_there_is_not_replaced(store):
    store.create_database(Database("shop", owner="ann"))
    with pytest.raises(AlreadyExists) as caught:
        store.create_database(Database("SHOP", owner="bob"))
    assert caught.value.fields == {"database": "shop"}
    store.create_database(Database("shop", owner="bob"), if_not_exists=True)
    assert store.get_database("shop").owner == "ann"


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.get_database("none"),
        lambda store: store.alter_database(Database("none")),
        lambda store: store.drop_database("none"),
        lambda store: store.tables("none"),
        lambda store: store.get_table("none", "t"),
        lambda store: store.create_table(Table("none", "t")),
        lambda store: store.add_partitions("none", "t", []),
    ],
)
@pytest.mark.parametrize("was_there", [False, True])
def test_what_is_not_there_is_named(store, call, was_there):
    if was_there:
        store.create_database("none")
        store.drop_database("none")
    with pytest.raises(DatabaseNotFound) as caught:
        call(store)
    assert caught.value.fields == {"database": "none"}
    assert "hbstore databases" in caught.value.hint
    assert "hbstore create-database" in caught.value.hint
    store.drop_database("none", if_exists=True)
    assert store.databases() == []


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize(
    "call",
    [
        lambda store, name: store.create_database(name),
        lambda store, name: store.get_database(name),
        lambda store, name: store.drop_database(name, if_exists=True),
        lambda store, name: store.tables(name),
        lambda store, name: store.get_table(name, "t"),
        lambda store, name: store.get_table("d", name),
        lambda store, name: store.drop_table("d", name, if_exists=True),
        lambda store, name: store.create_table(Table("d", name)),
        lambda store, name: store.partition_names("d", name),
    ],
)
def test_names_that_hive_would_not_take_are_refused(name, call):
    with connect("memory://") as store:
        store.create_database("d")
        with pytest.raises(InvalidName) as caught:
            call(store, name)
        assert caught.value.fields == {"name": repr(name)}
        assert "letters, digits and underscores" in caught.value.hint
        assert [one.name for one in store.databases()] == ["d"]
        assert store.tables("d") == []


@pytest.mark.parametrize("name", [None, 5, b"a", ["a"]])
def test_a_name_that_is_no_text_is_refused(store, name):
    with pytest.raises(InvalidName):
        store.get_database(name)


def test_the_longest_name_is_taken(store):
    database, name = "x" * 128, "y" * 256
    store.create_database(database)
    store.create_table(Table(database, name, partition_columns=[Column("a", "int")]))
    store.add_partitions(database, name, [Partition(("1",))])
    assert store.partition_names(database, name) == ["a=1"]
    assert store.get_table(database, name).name == name


def test_a_database_with_tables_is_dropped_only_with_cascade(sales):
    sales.create_table(Table("shop", "other"))
    sales.add_partitions("shop", "sales", [Partition(("2013-01-01", "1"))])
    with pytest.raises(DatabaseNotEmpty) as caught:
        sales.drop_database("shop")
    assert caught.value.fields == {"database": "shop", "tables": 2}
    assert "cascade" in caught.value.hint
    assert sales.count_partitions("shop", "sales") == 1
    sales.drop_database("shop", cascade=True)
    assert sales.databases() == []
    with pytest.raises(DatabaseNotFound):
        sales.get_table("shop", "sales")


def test_a_dropped_database_that_comes_back_is_empty(sales):
    sales.add_partitions("shop", "sales", [Partition(("2013-01-01", "1"))])
    sales.drop_database("shop", cascade=True)
    sales.create_database(Database("shop", owner="bob"))
    assert sales.tables("shop") == []
    assert sales.get_database("shop").owner == "bob"
    with pytest.raises(TableNotFound):
        sales.get_table("shop", "sales")


def test_names_that_begin_alike_are_kept_apart(store):
    for database in ("a", "aa", "a_"):
        store.create_database(database)
        for table in ("t", "tt", "t_"):
            store.create_table(Table(database, table, partition_columns=[Column("a", "int")]))
            store.add_partitions(database, table, [Partition((str(len(database) + len(table)),))])
    store.drop_table("a", "t")
    store.drop_database("aa", cascade=True)
    assert [str(one) for one in store.tables("a")] == ["a.t_", "a.tt"]
    assert store.partition_names("a", "tt") == ["a=3"]
    assert store.partition_names("a_", "t") == ["a=3"]
    assert store.count_partitions("a_", "t_") == 1


def test_a_database_is_altered_only_if_it_is_what_is_expected(store):
    store.create_database(Database("shop", owner="ann"))
    seen = store.get_database("shop")
    store.alter_database(Database("shop", owner="bob"), replaces=seen)
    with pytest.raises(ConcurrentChange, match="differs from the expected one"):
        store.alter_database(Database("shop", owner="cas"), replaces=seen)
    assert store.get_database("shop").owner == "bob"
