"""Reading partitions: by values, names, specs and filters; limits; errors; answers that are never stale."""

from __future__ import annotations

import pytest

from hbstore import (
    Column,
    FilterSyntaxError,
    FilterTooLarge,
    FilterTypeError,
    HbstoreError,
    InvalidPartitionValue,
    Partition,
    PartitionNotFound,
    Table,
    TableNotPartitioned,
    UnknownColumnError,
    col,
)
from hbstore.filters.parser import MAX_FILTER_LENGTH, parse_filter
from tests.store.conftest import hours, sales_table, values

ODD = [
    *("a b", "a/b", "a=b", "a%b", "%2F", "%", "a:b", "ü€😀", "\U0010ffff", "\0", "a\0b", "'", '"', "'\"", "\\", "{x}"),
    *(
        "[x]",
        "^",
        "#",
        "*",
        "?",
        "\x7f",
        "\x1f",
        "\n",
        "\t",
        "a.b",
        "null",
        "NULL",
        " ",
        "..",
        ".",
        "a/",
        "/a",
        "=",
    ),
]


@pytest.fixture
def filled(sales):
    sales.add_partitions("shop", "sales", [one for day in (1, 2, 3) for one in hours(day, 1, 5, 10)])
    return sales


def test_one_partition_by_its_values(filled):
    assert filled.get_partition("SHOP", "SALES", ["2013-01-02", "5"]).values == ("2013-01-02", "5")
    with pytest.raises(PartitionNotFound) as caught:
        filled.get_partition("shop", "sales", ("2013-01-02", "05"))
    assert caught.value.fields["partition"] == "ds=2013-01-02/hour=05"
    assert str(caught.value.fields["table"]) == "shop.sales"
    for bad in ((), ("2013-01-02",), ("2013-01-02", "5", "x"), "ab"):
        with pytest.raises(InvalidPartitionValue):
            filled.get_partition("shop", "sales", bad)


def test_several_partitions_each_once_in_key_order(filled):
    asked = [("2013-01-03", "10"), ("2013-01-01", "1"), ("2013-01-03", "010"), ("2013-01-09", "1"), ("x", "y")]
    found = values(filled.get_partitions("shop", "sales", asked))
    assert found == [("2013-01-01", "1"), ("2013-01-03", "10")]
    assert filled.get_partitions("shop", "sales", []) == []


@pytest.mark.parametrize(("most", "found"), [(-1, 9), (0, 0), (1, 1), (5, 5), (9, 9), (10, 9), (10**9, 9)])
def test_max_parts(filled, most, found):
    every = values(filled.get_partitions_by_filter("shop", "sales", None))
    assert len(every) == 9
    text = "hour in (1, 5, 10)"
    assert values(filled.get_partitions_by_filter("shop", "sales", "", most)) == every[:found]
    assert values(filled.get_partitions_by_filter("shop", "sales", text, max_parts=most)) == every[:found]
    assert values(filled.get_partitions_by_expr("shop", "sales", col("hour") > 0, most)) == every[:found]
    assert len(filled.partition_names("shop", "sales", text, max_parts=most)) == found
    assert len(filled.partition_names("shop", "sales", spec={"hour": "5"}, max_parts=most)) == min(found, 3)


def test_limits_are_checked_filters_even_where_nothing_is_wanted(filled):
    with pytest.raises(UnknownColumnError):
        filled.get_partitions_by_filter("shop", "sales", "x = 1", 0)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("ds =", FilterSyntaxError),
        ("ds = '2013-01-01' garbage", FilterSyntaxError),
        ("ds = 2013-13-45", FilterSyntaxError),
        ("nothing = 5", UnknownColumnError),
        ("hour = 'noon'", FilterTypeError),
        ("hour = 5.5", FilterTypeError),
        ("ds = 5", FilterTypeError),
        ("ds = true", FilterTypeError),
        ("hour in (1, 'x')", FilterTypeError),
        ("ds between '2013-01-01' and 'x'", FilterTypeError),
        ("hour = 5 or not (ds > 'x' and hour = 5)", FilterTypeError),
        ("(struct(ds, hour)) in (const struct('2013-01-01', 'x'))", FilterTypeError),
    ],
)
def test_filters_that_cannot_be_used_say_why_to_every_caller(filled, text, error):
    for call in (
        filled.get_partitions_by_filter,
        filled.partition_names,
        filled.count_partitions,
        filled.plan,
        filled.explain,
    ):
        with pytest.raises(error) as caught:
            call("shop", "sales", text)
        assert caught.value.hint or caught.value.fields


def test_errors_name_the_column_and_both_types(filled):
    with pytest.raises(UnknownColumnError) as caught:
        filled.count_partitions("shop", "sales", "region = 'eu'")
    assert caught.value.fields["column"] == "region"
    assert "ds, hour" in caught.value.hint
    with pytest.raises(FilterTypeError) as caught:
        filled.count_partitions("shop", "sales", "hour = 'noon'")
    assert "int" in caught.value.text
    assert "string" in caught.value.text
    assert caught.value.fields == {"column": "hour", "literal": "'noon'"}
    with pytest.raises(FilterTooLarge):
        filled.count_partitions("shop", "sales", "hour = 5" + " " * MAX_FILTER_LENGTH + "or hour = 6")
    with pytest.raises(HbstoreError) as caught:
        filled.get_partitions_by_filter("shop", "sales", "ds like 'x'", like_dialect="hive3")
    assert caught.value.fields == {"dialect": "'hive3'"}


def test_filters_in_all_their_forms(filled):
    wanted = [("2013-01-02", "5"), ("2013-01-03", "5")]
    text = "HOUR = '5' and ds > '2013-01-01'"
    expression = (col("hour") == 5) & (col("DS") > "2013-01-01")
    for given in (text, expression, parse_filter(text)):
        assert filled.count_partitions("shop", "sales", given) == 2
        names = [f"ds={ds}/hour={hour}" for ds, hour in wanted]
        assert filled.partition_names("shop", "sales", given) == names
        assert filled.partition_names("shop", "sales", given, spec={"DS": "2013-01-03"}) == names[1:]
        assert len(filled.plan("shop", "sales", given).get_plans()) >= 1
        assert filled.explain("shop", "sales", given, True).to_dict()["rows_returned"] == 2
    assert values(filled.get_partitions_by_expr("shop", "sales", expression)) == wanted
    assert values(filled.get_partitions_by_filter("shop", "sales", "ds like '2013-.*-03'", -1, "hive2")) == [
        ("2013-01-03", hour) for hour in ("1", "5", "10")
    ]


def test_names_by_partial_spec(filled):
    filled.add_partitions("shop", "sales", [Partition((None, "5")), Partition(("2013-01-01", None))])
    assert len(filled.partition_names("shop", "sales", spec={})) == 11
    assert filled.partition_names("shop", "sales", spec={"hour": "5"})[0] == "ds=__HIVE_DEFAULT_PARTITION__/hour=5"
    assert filled.partition_names("shop", "sales", spec={"hour": "05"}) == []
    assert filled.partition_names("shop", "sales", spec={"hour": "5", "ds": "2013-01-02"}) == ["ds=2013-01-02/hour=5"]
    for null in ("__HIVE_DEFAULT_PARTITION__", None):
        assert filled.partition_names("shop", "sales", spec={"ds": null}) == ["ds=__HIVE_DEFAULT_PARTITION__/hour=5"]
    assert filled.partition_names("shop", "sales", spec={"DS": None, "Hour": "6"}) == []
    with pytest.raises(InvalidPartitionValue) as caught:
        filled.partition_names("shop", "sales", spec={"region": "eu"})
    assert caught.value.fields == {"column": "region"}
    with pytest.raises(InvalidPartitionValue):
        filled.partition_names("shop", "sales", spec={"ds": "2013-01-01", "DS": "2013-01-01"})


@pytest.mark.parametrize("second", ["string", "int"])
def test_values_with_odd_characters_come_back_as_they_were(store, second):
    store.create_database("d")
    store.create_table(Table("d", "t", partition_columns=[Column("a", "string"), Column("b", second)]))
    partitions = [Partition((text, text if second == "string" else "5")) for text in ODD]
    assert store.add_partitions("d", "t", partitions) == len(ODD)
    expected = sorted(values(partitions))
    assert values(store.get_partitions_by_filter("d", "t", None)) == expected
    for text in ODD:
        given = (text, text if second == "string" else "5")
        assert store.get_partition("d", "t", given).values == given
        assert values(store.get_partitions_by_expr("d", "t", col("a") == text)) == [given]
        (name,) = store.partition_names("d", "t", spec={"a": text})
        assert dict(_unescaped(name))["a"] == text
    assert store.drop_partitions("d", "t", [values for values in expected if "%" in values[0]]) == 3
    assert all(problem is None for problem in store.check("d", "t"))


def _unescaped(name):
    """A reading of partition names that shares nothing with hbstore's."""
    from urllib.parse import unquote

    return [tuple(map(unquote, part.split("=", 1))) for part in name.split("/")]


def test_plans_are_not_stale_after_a_table_is_made_anew_with_other_columns(store):
    text = "a = '5'"
    store.create_database("d")
    found = []
    for columns in ([("a", "int")], [("a", "string")], [("b", "int"), ("a", "int")], [("b", "int")], [("a", "int")]):
        store.create_table(Table("d", "t", partition_columns=[Column(*column) for column in columns]))
        partition = tuple("05" if kind == "int" else "5" for _, kind in columns)
        store.add_partitions("d", "t", [Partition(partition)])
        try:
            found.append(values(store.get_partitions_by_filter("d", "t", text)))
            assert store.count_partitions("d", "t", text) == 1
        except UnknownColumnError:
            found.append("unknown")
        store.drop_table("d", "t")
    assert found == [[("05",)], [("5",)], [("05", "05")], "unknown", [("05",)]]


@pytest.mark.parametrize("second", [["b", "a"], ["b", "c"], ["c", "a"]])
def test_plans_are_not_stale_where_only_names_of_columns_have_changed(store, second):
    """The statistics of both tables are the same bytes."""
    store.create_database("d")
    for names in (["a", "b"], second):
        store.create_table(Table("d", "t", partition_columns=[Column(name, "int") for name in names], create_time=5))
        store.add_partitions("d", "t", [Partition(("1", "2")), Partition(("2", "1"))])
        for _ in range(2):
            if "a" in names:
                expected = ("1", "2") if names[0] == "a" else ("2", "1")
                assert values(store.get_partitions_by_filter("d", "t", "a = 1")) == [expected]
            else:
                with pytest.raises(UnknownColumnError):
                    store.get_partitions_by_filter("d", "t", "a = 1")
        store.drop_table("d", "t")


def test_plans_follow_the_statistics_and_the_definition(filled):
    text = "hour = 5"
    before = filled.get_partitions_by_filter("shop", "sales", text)
    filled.add_partitions("shop", "sales", [one for day in range(4, 25) for one in hours(day, *range(24))])
    assert len(filled.get_partitions_by_filter("shop", "sales", text)) == len(before) + 21
    filled.alter_table(sales_table(parameters={"x": "y"}))
    assert filled.count_partitions("shop", "sales", text) == len(before) + 21
    filled.drop_partitions("shop", "sales", [(f"2013-01-{day:02d}", "5") for day in range(4, 25)])
    assert filled.get_partitions_by_filter("shop", "sales", text) == before
    filled.repair("shop", "sales")
    assert filled.get_partitions_by_filter("shop", "sales", text) == before


def test_two_stores_on_the_same_rows_see_each_other(filled):
    from hbstore.store.partition_store import PartitionStore

    other = PartitionStore(filled.rows)
    text = "hour = 5"
    assert other.count_partitions("shop", "sales", text) == filled.count_partitions("shop", "sales", text) == 3
    other.add_partitions("shop", "sales", hours(9, 5))
    assert filled.count_partitions("shop", "sales", text) == 4
    filled.drop_table("shop", "sales")
    filled.create_table(Table("shop", "sales", partition_columns=[Column("hour", "string")]))
    filled.add_partitions("shop", "sales", [Partition(("5",)), Partition(("05",))])
    assert other.partition_names("shop", "sales", "hour = '5'") == ["hour=5"]


def test_specs_for_which_all_expressions_hold(filled):
    found = filled.list_partitions_by_filter("shop", "sales", [col("ds") >= "2013-01-02", col("hour") < 2])
    assert found
    names = filled.partition_names("shop", "sales", "ds >= '2013-01-02' and hour < 2")
    assert [f"ds={one['ds']}/hour={one['hour']}" for one in found] == names
    assert len(filled.list_partitions_by_filter("shop", "sales", [])) == filled.count_partitions("shop", "sales")
    filled.create_table(Table("shop", "flat"))
    with pytest.raises(TableNotPartitioned):
        filled.list_partitions_by_filter("shop", "flat", [])
    with pytest.raises(UnknownColumnError):
        filled.list_partitions_by_filter("shop", "sales", [col("price") == 1])
