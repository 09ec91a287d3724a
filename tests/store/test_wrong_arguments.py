"""Arguments of wrong types: every public method of PartitionStore says which it is, of which type, and what to do."""

from __future__ import annotations

import inspect

import pytest

from hbstore import Column, InvalidInput, InvalidName, InvalidPartitionValue, Partition, Table, col, connect
from hbstore.store.partition_store import PartitionStore

DAY = "2013-01-01"
COLUMNS = [Column("ds", "date"), Column("hour", "int")]
SALES = ("shop", "sales")


@pytest.fixture
def sales():
    with connect("memory://") as store:
        store.create_database("shop")
        for name in ("sales", "old"):
            store.create_table(Table("shop", name, partition_columns=COLUMNS))
        store.add_partitions("shop", "sales", [Partition((DAY, str(hour))) for hour in (5, 6, 7)])
        yield store


def filtered(method, argument="filter"):
    return [(method, {argument: value}, "argument=filter, type=") for value in (5, b"hour = 5", ["hour = 5"])]


TABLE = {"database": "shop", "table": "sales"}
WRONG = [
    ("create_database", {"database": 5}, "InvalidName"),
    ("alter_database", {"database": "shop"}, "argument=database, type=str"),
    ("create_table", {"table": "shop.sales"}, "argument=table, type=str"),
    (
        "create_table",
        {"table": Table("shop", "t"), "invalid_types": "ignore"},
        "argument=invalid_types, value='ignore'",
    ),
    ("alter_table", {"table": {"name": "sales"}}, "argument=table, type=dict"),
    ("alter_table", {"table": Table("shop", "sales", COLUMNS), "expected_parameters": "a=b"}, "expected_parameters"),
    ("rename_table", {"database": "shop", "name": "sales", "table": "new"}, "argument=table, type=str"),
    ("add_partitions", {"partitions": [(DAY, "8")]}, r"argument=partitions\[0\], type=tuple.*Partition\("),
    ("add_partitions", {"partitions": Partition((DAY, "8"))}, "argument=partitions, type=Partition"),
    ("add_partitions", {"partitions": {"ds": DAY, "hour": "8"}}, r"argument=partitions\[0\], type=str"),
    ("add_partitions", {"partitions": [Partition((DAY, "8"))], "invalid_values": "no"}, "argument=invalid_values"),
    ("alter_partitions", {"partitions": [(DAY, "5")]}, r"argument=partitions\[0\], type=tuple"),
    ("drop_partitions", {"values": 5}, "argument=values, type=int"),
    ("drop_partitions", {"values": {"ds": DAY, "hour": "5"}}, "InvalidPartitionValue"),
    ("drop_partitions", {"values": (DAY, "5")}, "InvalidPartitionValue"),
    ("rename_partition", {"values": 5, "renamed": (DAY, "9")}, "InvalidPartitionValue"),
    ("rename_partition", {"values": (DAY, "5"), "renamed": 9}, "InvalidPartitionValue"),
    ("exchange_partitions", {"source": 5, "target": ("shop", "old"), "values": []}, "argument=source"),
    ("exchange_partitions", {"source": "sales", "target": "shop.old", "values": []}, "the text is not a table name"),
    ("exchange_partitions", {"source": SALES, "target": ("shop",), "values": []}, "argument=target"),
    ("exchange_partitions", {"source": SALES, "target": ("shop", "old"), "values": 5}, "argument=values, type=int"),
    *(
        ("exchange_partitions", {"source": SALES, "target": ("shop", "old"), "values": [], "relocated": pair}, text)
        for pair, text in (
            ("s3://x", "argument=relocated, type=str"),
            ((1, "x"), r"argument=relocated\[0\]"),
            (("a",), "missing or too long"),
        )
    ),
    ("change_partitions", {"add": [(DAY, "8")]}, r"argument=add\[0\], type=tuple"),
    ("change_partitions", {"put": 5}, "argument=put, type=int"),
    ("change", {"table": "shop.sales", "step": 5}, "argument=step, type=int"),
    ("change", {"table": "shop.sales", "step": str, "outrun": (5,)}, r"argument=outrun\[0\], type=int"),
    ("change_partitions", {"drop": 5}, "argument=drop, type=int"),
    ("change_partitions", {"drop": [(DAY, "5")], "expected": [(DAY, "5")]}, "argument=expected, type=list"),
    ("purge_dropped_tables", {"stop": 5}, "argument=stop, type=int"),
    ("get_partition", {"values": 5}, "InvalidPartitionValue"),
    ("get_partitions", {"values": 5}, "argument=values, type=int"),
    ("get_payloads", {"values": f"{DAY}/5"}, "argument=values, type=str"),
    *filtered("get_partitions_by_filter"),
    *filtered("get_partitions_by_expr", "expression"),
    *filtered("partition_names"),
    *filtered("count_partitions"),
    *filtered("plan"),
    *filtered("explain"),
    ("get_partitions_by_filter", {"filter": None, "max_parts": "5"}, "argument=max_parts, type=str"),
    ("get_partitions_by_expr", {"expression": None, "max_parts": 1.5}, "argument=max_parts, type=float"),
    ("partition_names", {"max_parts": "5"}, "argument=max_parts, type=str"),
    ("partition_names", {"spec": "ds=2013-01-01"}, "argument=spec, type=str"),
    ("list_partitions_by_filter", {"expressions": 5}, "argument=filter, type=int"),
    ("list_partitions_by_filter", {"expressions": ["hour = 5", 5]}, "argument=filter, type=int"),
    ("read_payloads", {"filter": 5, "consume": print}, "argument=filter, type=int"),
    ("read_payloads", {"filter": print, "consume": print}, "argument=filter, type=builtin_function_or_method"),
    ("read_payloads", {"filter": None, "consume": "print"}, "argument=consume, type=str"),
    ("table", {"name": 5}, "the text is not a table name"),
    ("table_ids", {"names": ["shop.sales"]}, r"argument=names\[0\], type=str"),
]
NAMED_ONLY = [
    "get_database",
    "drop_database",
    "drop_table",
    "get_table",
    "read_table",
    "table_row",
    "tables",
    "table_names",
    "read_tables",
    "totals",
    "check",
    "repair",
]
"""Methods all of whose arguments are names and flags."""
WITHOUT = ["close", "databases", "database_names", "check_catalog", "repair_catalog", "rows", "patience", "suggest"]


def test_no_public_method_is_forgotten():
    public = {name for name in vars(PartitionStore) if not name.startswith("_")}
    assert public == {method for method, _, _ in WRONG} | set(NAMED_ONLY) | set(WITHOUT)


@pytest.mark.parametrize(("method", "arguments", "says"), WRONG)
def test_a_wrong_argument_is_named(sales, method, arguments, says):
    call = getattr(sales, method)
    takes = inspect.signature(call).parameters
    before = sales.get_partitions_by_filter("shop", "sales", None), sales.table_names("shop")
    with pytest.raises((InvalidInput, InvalidName, InvalidPartitionValue)) as caught:
        call(**{**{name: value for name, value in TABLE.items() if name in takes}, **arguments})
    if says in ("InvalidName", "InvalidPartitionValue"):
        assert type(caught.value).__name__ == says
    else:
        assert type(caught.value) is InvalidInput
        assert caught.match(says)
    assert caught.value.hint
    assert (sales.get_partitions_by_filter("shop", "sales", None), sales.table_names("shop")) == before


@pytest.mark.parametrize("method", NAMED_ONLY)
def test_a_name_that_is_no_text_is_refused(sales, method):
    call = getattr(sales, method)
    names = [one for one in inspect.signature(call).parameters if one in ("database", "name", "table")]
    for wrong in names:
        arguments = {one: "shop" if one == "database" or method.endswith("_database") else "sales" for one in names}
        with pytest.raises(InvalidName, match="name=5"):
            list(call(**{**arguments, wrong: 5}) or ())


@pytest.mark.parametrize("filter", ["hour = 5", col("hour") == 5, (col("hour") == 5).tree])
def test_filters_are_texts_and_expressions_alike(sales, filter):
    values = [(DAY, "5")]
    assert [one.values for one in sales.get_partitions_by_filter("shop", "sales", filter)] == values
    assert [one.values for one in sales.get_partitions_by_expr("shop", "sales", filter)] == values
    assert sales.list_partitions_by_filter("shop", "sales", filter) == [{"ds": DAY, "hour": "5"}]


@pytest.mark.parametrize("none", [None, "", [], [None], ["", None]])
def test_no_filters_list_all(sales, none):
    assert len(sales.list_partitions_by_filter("shop", "sales", none)) == 3


def test_several_filters_are_mixed(sales):
    filters = ["hour > 5", col("ds") == DAY, None, "not hour = 7"]
    assert sales.list_partitions_by_filter("shop", "sales", filters) == [{"ds": DAY, "hour": "6"}]
    assert sales.list_partitions_by_filter("shop", "sales", iter(filters)) == [{"ds": DAY, "hour": "6"}]


@pytest.mark.parametrize("one", [{"ds": DAY, "hour": "8"}, (DAY, "8"), ["ds=2013-01-01/hour=8"]])
def test_one_partition_where_a_list_is_wanted(sales, one):
    table = sales.table("shop.sales")
    for call in (table.add, table.drop):
        with pytest.raises(InvalidPartitionValue, match="several partitions are a list of these"):
            call(one)
    assert len(table.partitions()) == 3
