"""Reading tables and lists of tables."""

from __future__ import annotations

import pytest

from hbstore.metastore.methods.table_filter import table_filter
from hbstore.model.objects import Table
from tests.metastore.writing import STORED, TYPES, column, external, table_of

ON_BACKENDS = ("memory", "nonatomic")
"""With transactions and without; tests/metastore/clients lists tables on HBase."""


@pytest.fixture
def shop(shop):
    shop.create_table(table_of(parameters={"comment": "what was sold", "presto_view": "true"}))
    shop.create_table(external("visits"))
    shop.create_table(table_of("best", tableType="VIRTUAL_VIEW", partitionKeys=[], owner="bob"))
    shop.create_database(STORED.Database(name="attic"))
    shop.create_table(table_of("Sales", dbName="attic"))
    return shop


def names(tables):
    return [one.tableName for one in tables]


def test_a_table_is_found_in_any_case_and_with_a_catalog(shop):
    assert shop.get_table("SHOP", "Sales").tableName == "sales"
    assert shop.get_table("@hive#shop", "sales") == shop.table()
    request = TYPES.GetTableRequest("shop", "sales", TYPES.ClientCapabilities([2]))
    assert shop.get_table_req(request).table == shop.table()


@pytest.mark.parametrize(
    ("database", "name"), [("shop", "nothing"), ("nothing", "sales"), ("shop", "a-b"), ("shop", "")]
)
def test_a_table_that_is_not_there(shop, database, name):
    with pytest.raises(TYPES.NoSuchObjectException):
        shop.get_table(database, name)
    with pytest.raises(TYPES.NoSuchObjectException):
        shop.get_table_req(TYPES.GetTableRequest(database, name))


def test_several_tables_come_once_each(shop):
    asked = ["VISITS", "sales", "sales", "nothing", "a-b"]
    assert names(shop.get_table_objects_by_name("shop", asked)) == ["sales", "visits"]
    assert names(shop.get_table_objects_by_name_req(TYPES.GetTablesRequest("shop", asked)).tables) == [
        "sales",
        "visits",
    ]
    assert shop.get_table_objects_by_name("shop", []) == []


def test_several_tables_of_no_database(shop):
    with pytest.raises(TYPES.UnknownDBException):
        shop.get_table_objects_by_name_req(TYPES.GetTablesRequest("nothing", ["sales"]))
    with pytest.raises(TYPES.InvalidOperationException):
        shop.get_table_objects_by_name_req(TYPES.GetTablesRequest("shop", None))
    with pytest.raises(TYPES.UnknownDBException):
        shop.get_table_objects_by_name("nothing", ["sales"])


def test_names_of_tables(shop):
    assert shop.get_all_tables("shop") == ["best", "sales", "visits"]
    assert shop.get_all_tables("nothing") == []
    assert shop.get_all_tables("a-b") == []
    assert shop.get_tables("shop", None) == ["best", "sales", "visits"]
    assert shop.get_tables("shop", "S*|BEST") == ["best", "sales"]
    assert shop.get_tables("nothing", "*") == []


def test_names_of_tables_of_a_type(shop):
    assert shop.get_tables_by_type("shop", None, "EXTERNAL_TABLE") == ["visits"]
    assert shop.get_tables_by_type("shop", "b*", "VIRTUAL_VIEW") == ["best"]
    assert shop.get_tables_by_type("shop", "v*", "VIRTUAL_VIEW") == []
    assert shop.get_tables_by_type("shop", "*", None) == ["best", "sales", "visits"]
    assert shop.get_tables_by_type("nothing", None, "VIRTUAL_VIEW") == []


def test_what_is_known_of_tables(shop):
    found = shop.get_table_meta("*", "sal*", ["MANAGED_TABLE"])
    assert [(one.dbName, one.tableName, one.tableType, one.comments) for one in found] == [
        ("attic", "sales", "MANAGED_TABLE", None),
        ("shop", "sales", "MANAGED_TABLE", "what was sold"),
    ]
    assert names(shop.get_table_meta("shop", None, None)) == ["best", "sales", "visits"]
    assert names(shop.get_table_meta("@hive#shop", "*", [])) == ["best", "sales", "visits"]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ('hive_filter_field_owner__ = "bob"', ["best"]),
        ('hive_filter_field_owner__ != "bob"', ["sales", "visits"]),
        ('hive_filter_field_owner__ like "b.*"', ["best"]),
        ('hive_filter_field_params__presto_view = "true"', ["sales"]),
        ('hive_filter_field_params__presto_view <> "false"', ["sales"]),
        ('hive_filter_field_params__comment like "what .*"', ["sales"]),
        ('hive_filter_field_params__EXTERNAL = "TRUE" or hive_filter_field_owner__ = "bob"', ["best", "visits"]),
        ('hive_filter_field_owner__ = "ann" and hive_filter_field_last_access__ < 1', ["sales", "visits"]),
        ("hive_filter_field_last_access__ > 0", []),
        ('hive_filter_field_tableName__ = "best"', ["best"]),
        ('hive_filter_field_tableName__ like "(?i).*S.*"', ["best", "sales", "visits"]),
        ('hive_filter_field_tableName__ like "(?i)VIS..s"', ["visits"]),
        ('hive_filter_field_tableName__ like "VIS.*"', []),
        ('hive_filter_field_tableName__ like "(?i)"', []),
        ('hive_filter_field_tableName__ not like "(?i)B.*"', ["sales", "visits"]),
        ('hive_filter_field_tableType__ = "NOTHING"', []),
        ('hive_filter_field_tableType__ like ".*"', ["best", "sales", "visits"]),
        ("", ["best", "sales", "visits"]),
    ],
)
def test_names_by_a_filter(shop, where, found):
    assert shop.get_table_names_by_filter("shop", where, -1) == found


def test_names_by_a_filter_are_limited(shop):
    assert shop.get_table_names_by_filter("shop", "", 2) == ["best", "sales"]
    assert shop.get_table_names_by_filter("nothing", "", -1) == []
    with pytest.raises(TYPES.InvalidOperationException):
        shop.get_table_names_by_filter("shop", None, -1)


@pytest.mark.parametrize(
    "where",
    [
        'owner = "ann"',
        "hive_filter_field_owner__ = 5",
        'hive_filter_field_owner__ > "ann"',
        'hive_filter_field_last_access__ = "5"',
        'hive_filter_field_owner__ in ("ann")',
        "hive_filter_field_owner__ =",
    ],
)
def test_a_filter_that_is_none(shop, where):
    with pytest.raises(TYPES.MetaException):
        shop.get_table_names_by_filter("shop", where, -1)


def test_a_table_without_an_owner_passes_no_test_of_it():
    for where in ('hive_filter_field_owner__ = "ann"', 'hive_filter_field_owner__ != "ann"'):
        assert not table_filter(where)(Table("shop", "sales"))


def test_columns(shop):
    assert [one.name for one in shop.get_fields("shop", "sales")] == ["amount"]
    assert [one.name for one in shop.get_schema("shop", "sales")] == ["amount", "ds", "hour"]
    assert shop.get_schema_with_environment_context("shop", "sales", None) == shop.get_schema("shop", "sales")
    assert shop.get_fields_with_environment_context("shop", "sales.amount", None) == [column("amount", "double")]
    for database, name in (("shop", "nothing"), ("nothing", "sales")):
        with pytest.raises(TYPES.UnknownTableException):
            shop.get_fields(database, name)
