"""Names of partitions: in alphabetical order, escaped as Hive does it, and taken apart again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, Partition, Table, connect
from hbstore.errors import CorruptRow
from hbstore.keys.partition_names import name_reader, partition_name
from hbstore.model.name_lists import HEAD, lay_out, names_of_heads, partition_names
from hbstore.model.structs import encode_partition
from tests.metastore.asking import Asking, add, table_of, values
from tests.metastore.client import TYPES
from tests.strategies import unicode_text

NULL = "__HIVE_DEFAULT_PARTITION__"
TEXTS = ("a", "a b", "a/b", "a%", "b", " ", "ü", "Z", "\U0001f600", None)
NUMBERS = ("1", "2", "10", "09", "-3", None)
LOGS = table_of("logs", name="string", n="int")


@pytest.fixture
def shop(asking):
    add(asking, LOGS, [(text, number) for text in TEXTS for number in NUMBERS])
    return asking


def all_names():
    """In the order of their texts, which is not that of the keys."""
    pairs = [(text or NULL if text is None else text, number or NULL) for text in TEXTS for number in NUMBERS]
    return sorted(partition_name(("name", "n"), pair) for pair in pairs)


def test_names_come_in_alphabetical_order(shop):
    names = all_names()
    assert names != shop.store.partition_names("shop", "logs")  # in key order
    assert "name=a%2Fb/n=-3" in names
    assert shop.get_partition_names("shop", "logs", -1) == names
    assert shop.get_partition_names("@hive#shop", "logs") == names
    assert shop.get_partition_names("shop", "logs", 7) == names[:7]
    assert shop.get_partition_names("shop", "logs", 0) == names  # as HMS has it
    assert shop.notes["partitions"] == shop.notes["rows_read"] == len(names)


def test_names_of_partial_values(shop):
    def named(*given, most=-1):
        return shop.get_partition_names_ps("shop", "logs", list(given), most)

    names = all_names()
    assert named() == named("") == named("", "") == names
    assert named("a") == [name for name in names if name.startswith("name=a/")]
    assert named("", "09") == [name for name in names if name.endswith("/n=09")]
    assert named("a/b", "10") == ["name=a%2Fb/n=10"]
    assert named(NULL, NULL) == [f"name={NULL}/n={NULL}"]
    assert named("a", most=3) == named("a")[:3] == ["name=a/n=-3", "name=a/n=09", "name=a/n=1"]
    assert named("a", most=0) == named("nobody") == named("", "x") == named("", "9") == []
    with pytest.raises(TYPES.MetaException):
        named("a", "1", "")


def test_names_and_partitions_fit_together(shop):
    names = shop.get_partition_names("shop", "logs", -1)
    found = shop.get_partitions_by_names("shop", "logs", names)
    assert values(found) == [one.values for one in shop.store.get_partitions_by_filter("shop", "logs", None)]
    for name in names:
        assert shop.get_partition_by_name("shop", "logs", name).values == shop.partition_name_to_vals(name) or (
            "name=/" in name  # HMS's own reading passes over an empty value
        )


def test_a_missing_table_is_the_one_exception_that_names_declare(shop):
    for database, table in (("shop", "nope"), ("nope", "logs"), ("shop", None)):
        with pytest.raises(TYPES.MetaException):
            shop.get_partition_names(database, table, -1)


def test_a_table_without_partition_columns_has_no_names(shop):
    shop.store.create_table(table_of("plain"))
    assert shop.get_partition_names("shop", "plain", -1) == []


# Recorded from Hive's metastore 2.3.10.
SPECS = (
    ("ds=a/hr=5", {"ds": "a", "hr": "5"}),
    ("ds=x%2Fy z/hr=5", {"ds": "x/y z", "hr": "5"}),
    ("", {}),
    ("foo", {}),
    ("ds=a/foo/hr=3", {"ds": "a", "hr": "3"}),
    ("ds=", {}),
    ("=a", {}),
    ("ds=a/ds=b", {"ds": "b"}),
    ("/ds=a/", {"ds": "a"}),
    ("DS=a", {"DS": "a"}),
    ("ds=a=b", {"ds=a": "b"}),
    ("ds=a%2", {"ds": "a%2"}),
    ("a%3Db=c%3Dd", {"a=b": "c=d"}),
)


@pytest.mark.parametrize(("name", "spec"), SPECS)
def test_names_are_taken_apart_as_hive_does_it(name, spec):
    with connect("memory://") as store:
        shop = Asking(store)
        assert shop.partition_name_to_spec(name) == spec
        assert shop.partition_name_to_vals(name) == list(spec.values())


def test_no_name_is_an_error_and_all_characters_are_valid():
    with connect("memory://") as store:
        shop = Asking(store)
        for method in (shop.partition_name_to_vals, shop.partition_name_to_spec):
            with pytest.raises(TYPES.MetaException):
                method(None)
        for given_values in (["a"], ["a\nb/="], ["ü"], [""], []):
            for throw in (False, True):
                assert shop.partition_name_has_valid_characters(given_values, throw) is True


texts = unicode_text | st.sampled_from(["", "a" * 300, "a=b/c%", "\0", "\0\0\0\x01b", "b\x0b\0\x02\0\0\0", NULL, "ü"])


@given(data=st.data(), columns=st.integers(1, 4))
def test_names_of_stored_bytes_equal_those_of_values(data, columns):
    names = [f"c {at}=" for at in range(columns)]
    table = Table("shop", "t", partition_columns=[Column(name, "string") for name in names])
    rows = data.draw(st.lists(st.tuples(*[texts] * columns), max_size=12))
    payloads = [encode_partition(table, Partition(row)) for row in rows]
    assert partition_names(names, payloads) == [partition_name(names, row) for row in rows]


few_texts = st.sampled_from(["a", "b", "bb", "2013-01-01", "", "a=b", "ü", "a" * 140, "\x7f", "\0\0", NULL])


@given(data=st.data(), columns=st.integers(1, 3), column=st.sampled_from(["ds", "a b", "100%", "ü"]))
def test_names_of_many_partitions_equal_those_of_values(data, columns, column):
    """Those with values of the same lengths are named together, others one by one."""
    names = [f"{column}{at}" for at in range(columns)]
    table = Table("shop", "t", partition_columns=[Column(name, "string") for name in names])
    kinds = data.draw(st.lists(st.tuples(*[few_texts] * columns), min_size=1, max_size=4))
    rows = data.draw(st.lists(st.sampled_from(kinds), max_size=90))
    payloads = [encode_partition(table, Partition(row)) for row in rows]
    expected = [partition_name(names, row) for row in rows]
    assert partition_names(names, payloads) == expected
    fits = all(16 + sum(4 + len(text.encode()) for text in row) <= HEAD for row in rows)
    of_heads = names_of_heads(names, lay_out(payloads, HEAD))
    assert of_heads == expected or (of_heads is None and not fits)


def test_names_longer_than_the_beginnings_that_are_read(shop):
    rows = [("x" * (number * 10 % 400), str(number)) for number in range(60)]
    add(shop, table_of("long", name="string", n="int"), rows)
    expected = sorted(partition_name(("name", "n"), row) for row in rows)
    assert shop.get_partition_names("shop", "long", -1) == expected
    assert shop.get_partition_names_ps("shop", "long", ["", "39"], -1) == [f"name={'x' * 390}/n=39"]


def test_bytes_that_are_no_partition_are_told():
    table = Table("shop", "t", partition_columns=[Column("ds", "string")])
    good = encode_partition(table, Partition(["2013-01-01"]))
    two = replace(table, partition_columns=[*table.partition_columns, Column("hour", "int")])
    other = encode_partition(two, Partition(["2013-01-01", "5"]))
    for wrong in (b"", good[:20], b"\xff" * 200, good.replace(b"2013", b"20\xff3"), b"\0" + good[1:], other):
        with pytest.raises(CorruptRow):
            partition_names(["ds"], [good] * 40 + [wrong])
        assert names_of_heads(["ds"], lay_out([good] * 40 + [wrong], HEAD)) is None


@given(data=st.data())
def test_a_name_gives_its_values_back(data):
    names = data.draw(st.lists(st.sampled_from(["ds", "a b", "c=d", "hour", "%"]), min_size=1, max_size=4, unique=True))
    table = Table("shop", "t", partition_columns=[Column(name, "string") for name in names])
    row = data.draw(st.tuples(*[texts] * len(names)))
    read = name_reader(table.partition_column_names)
    assert read(partition_name(names, row)) == tuple(text or NULL for text in row)
    other = data.draw(st.permutations(list(zip(names, row, strict=True))))
    assert read(partition_name([name.upper() for name, _ in other], [text for _, text in other])) == tuple(
        text or NULL for text in row
    )


@given(data=st.data())
def test_partial_values_select_what_a_naive_reading_selects(data):
    table = table_of("t", ds="string", hour="int")
    days, hours = st.sampled_from(["a", "a ", "b/c", "%", NULL]), st.integers(-2, 11)
    rows = data.draw(st.lists(st.tuples(days, hours.map(str)), max_size=20, unique=True))
    wanted = data.draw(st.lists(st.sampled_from(["", "a", "a ", "b/c", "5", "05", "0", NULL, "x"]), max_size=2))
    most = data.draw(st.integers(-1, 8))

    def fits(row):
        day, hour = [*wanted, "", ""][:2]
        return day in ("", row[0]) and hour in ("", row[1])

    with connect("memory://") as store:
        shop = Asking(store)
        store.create_database("shop")
        add(shop, table, rows)
        expected = [row for row in rows if fits(row)]
        names = sorted(partition_name(("ds", "hour"), row) for row in expected)
        assert shop.get_partition_names_ps("shop", "t", wanted, most) == (names if most < 0 else names[:most])
        found = values(shop.get_partitions_ps("shop", "t", wanted, -1))
        assert sorted(found) == sorted(expected)
        assert values(shop.get_partitions_ps("shop", "t", wanted, most)) == (found if most < 0 else found[:most])


def by_expression(expr=b"\xff", **fields):
    return TYPES.PartitionsByExprRequest("shop", "sales", expr, **fields)


def test_names_in_an_order(asking):
    add(asking, table_of("sales", ds="date", hour="int"), [("2013-01-01", "9"), ("2013-01-01", "10"), (None, "9")])
    first, second, null = "ds=2013-01-01/hour=10", "ds=2013-01-01/hour=9", f"ds={NULL}/hour=9"
    for everything in (None, b"", b"\xff"):
        assert asking.get_partition_names_req(by_expression(everything)) == [first, second, null]
    assert asking.get_partition_names_req(by_expression(order="0,1:++")) == [null, second, first]
    assert asking.get_partition_names_req(by_expression(order="1,0:-+")) == [first, null, second]
    assert asking.get_partition_names_req(by_expression(order="1:+", maxParts=1)) == [second]
    assert asking.get_partition_names_req(by_expression(b"hour = 9", order="0:-")) == [second, null]
    assert asking.get_partition_names_req(by_expression(b"hour = 9 and ds is not null")) == [second]


@pytest.mark.parametrize("order", ["0", "0:", "0:+-", "2:+", "a:+", ":", "0,1:+", "0:*"])
def test_what_is_no_order(asking, order):
    add(asking, table_of("sales", ds="date", hour="int"), [("2013-01-01", "9")])
    with pytest.raises(TYPES.MetaException, match="the order of partition names cannot be read"):
        asking.get_partition_names_req(by_expression(order=order))


def test_names_of_what_cannot_be_read(asking):
    add(asking, table_of("sales", ds="date", hour="int"), [("2013-01-01", "9")])
    with pytest.raises(TYPES.MetaException, match="Hive's expression cannot be read"):
        asking.get_partition_names_req(by_expression(b"\x01\x00java.util.ArrayLis\xf4\x01"))
    with pytest.raises(TYPES.MetaException):
        asking.get_partition_names_req(by_expression(b"amount = 1"))
    with pytest.raises(TYPES.NoSuchObjectException):
        asking.get_partition_names_req(TYPES.PartitionsByExprRequest("shop", "nope", b"hour = 1"))
