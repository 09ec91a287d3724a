"""The names of partitions to be copied: in the order of the store, whatever their values are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, Partition, Table, connect
from hbstore.keys.partition_names import partition_name
from hbstore.transfer.listing import listing

COLUMNS = ("ds", "hour")
TABLE = Table("shop", "sales", [Column("ds", "string"), Column("hour", "int")])
hours = st.sampled_from(["5", "05", "+5", "005", "7", "-0", "0", "noon", "__HIVE_DEFAULT_PARTITION__", "5 "])
values = st.tuples(st.sampled_from(["a", "b/c", "d=e%"]), hours)


@given(st.sets(values, max_size=20))
def test_it_is_what_a_store_would_hold(some):
    names = [partition_name(COLUMNS, one) for one in sorted(some)]
    found = listing(TABLE, names)
    assert sorted(found.names.values()) == sorted(names)
    with connect("memory://") as store:
        store.create_database("shop")
        store.create_table(TABLE)
        by_name = dict(zip(names, sorted(some), strict=True))
        kept = [Partition(by_name[name]) for name in found.names.values()]
        assert store.add_partitions("shop", "sales", kept, invalid_values="keep") == len(kept)
        assert store.partition_names("shop", "sales") == list(found.names.values())
    assert {name for name in found.names.values() if name.endswith("noon")} == set(found.untyped)
    assert found.unreadable == []


def test_another_name_of_a_partition_is_told():
    found = listing(TABLE, ["ds=d%3De/hour=05", "ds=d=e/hour=05"])
    assert list(found.names.values()) == ["ds=d%3De/hour=05"]
    assert found.unreadable == [("ds=d=e/hour=05", "its values are those of ds=d%3De/hour=05")]


def test_names_that_are_none_are_told():
    found = listing(TABLE, ["ds=a", "nothing", "ds=a/hour=5"])
    assert list(found.names.values()) == ["ds=a/hour=5"]
    assert [name for name, _ in found.unreadable] == ["ds=a", "nothing"]


def test_pages_are_in_key_order():
    names = [f"ds=a/hour={hour}" for hour in range(20)]
    pages = listing(TABLE, sorted(names)).pages(8)
    assert [len(page) for page in pages] == [8, 8, 4]
    assert [name for page in pages for name in page] == names
