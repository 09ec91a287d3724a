"""Dropping partitions over the wire, with their files."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hbstore.errors import FilterError
from hbstore.files.warehouse import Warehouse
from hbstore.filters.parser import parse_filter
from tests.metastore.test_by_expression import BLOBS
from tests.metastore.writing import TYPES, external, opened, partition_of, says, table_of

NAMES = ["ds=a/hour=1", "ds=a/hour=2", "ds=b/hour=1"]


@pytest.fixture
def shop(shop):
    shop.create_table(table_of())
    shop.add_partitions([partition_of("a", "1"), partition_of("a", "2"), partition_of("b", "1")])
    return shop


def by_names(*names, data=True, exists=False, result=True):
    return TYPES.DropPartitionsRequest(
        "shop", "sales", TYPES.RequestPartsSpec(names=list(names)), data, exists, False, None, result
    )


def by_expressions(*expressions, exists=False):
    exprs = [TYPES.DropPartitionsExpr(expr=one) for one in expressions]
    return TYPES.DropPartitionsRequest(
        dbName="shop", tblName="sales", parts=TYPES.RequestPartsSpec(exprs=exprs), deleteData=True, ifExists=exists
    )


def test_a_dropped_partition_takes_its_files_and_empty_folders_along(shop):
    shop.write("shop.db/sales/ds=a/hour=1/file")
    assert shop.drop_partition("shop", "sales", ["a", "1"], True) is True
    assert shop.names() == ["ds=a/hour=2", "ds=b/hour=1"]
    assert shop.tree("shop.db/sales") == ["ds=a/", "ds=a/hour=2/", "ds=b/", "ds=b/hour=1/"]
    shop.drop_partition("shop", "sales", ["b", "1"], True)
    assert shop.tree("shop.db/sales") == ["ds=a/", "ds=a/hour=2/"]
    assert shop.notes == {"table": "shop.sales", "partitions": 1}


def test_a_folder_with_something_in_it_stays(shop):
    shop.write("shop.db/sales/ds=b/.hidden")
    shop.drop_partition("shop", "sales", ["b", "1"], True)
    assert "ds=b/.hidden" in shop.tree("shop.db/sales")


def test_the_table_s_folder_stays_when_the_last_partition_goes(shop):
    for values in (("a", "1"), ("a", "2"), ("b", "1")):
        shop.drop_partition("shop", "sales", list(values), True)
    assert shop.tree("shop.db") == ["sales/"]


def test_files_stay_if_they_are_to(shop):
    assert shop.drop_partition_with_environment_context("shop", "sales", ["a", "1"], False, says()) is True
    assert "ds=a/hour=1/" in shop.tree("shop.db/sales")


def test_another_text_of_the_values_is_another_partition(shop):
    with pytest.raises(TYPES.NoSuchObjectException):
        shop.drop_partition("shop", "sales", ["a", "01"], True)
    assert shop.names() == NAMES


def test_files_of_external_tables_stay(shop):
    shop.create_table(external("theirs"))
    shop.add_partition(partition_of("a", "1", table="theirs"))
    shop.drop_partition("shop", "theirs", ["a", "1"], True)
    assert shop.names("theirs") == []
    assert shop.tree("shop.db/theirs") == ["ds=a/", "ds=a/hour=1/"]


def test_a_place_elsewhere_in_the_warehouse_is_deleted_and_what_is_around_it_stays(shop):
    shop.add_partition(partition_of("c", "1", location=shop.location("far/own")))
    shop.drop_partition("shop", "sales", ["c", "1"], True)
    assert shop.tree("far") == []
    assert shop.tree() == sorted(["far/", "shop.db/", *(f"shop.db/{one}" for one in shop.tree("shop.db"))])


@pytest.mark.parametrize("place", ["shop.db/sales", "shop.db"])
def test_a_partition_in_the_table_s_own_folder_does_not_take_the_others_along(shop, place):
    shop.add_partition(partition_of("c", "1", location=shop.location(place)))
    shop.write("shop.db/sales/ds=a/hour=1/file")
    shop.create_table(table_of("other"))
    assert shop.drop_partition("shop", "sales", ["c", "1"], True) is True
    assert shop.notes["files_left"] == shop.location(place)
    assert shop.names() == NAMES
    assert "sales/ds=a/hour=1/file" in shop.tree("shop.db")
    shop.add_partition(partition_of("c", "1", location=shop.location(place)))
    shop.drop_table("shop", "sales", True)
    assert shop.tree("shop.db") == ["other/"]


def test_by_name(shop):
    assert shop.drop_partition_by_name("shop", "sales", "hour=1/ds=a", True) is True
    assert shop.drop_partition_by_name_with_environment_context("shop", "sales", "ds=b/hour=1", True, None) is True
    assert shop.names() == ["ds=a/hour=2"]
    for name in ("ds=a", "ds=z/hour=1", "", "nonsense"):
        with pytest.raises(TYPES.NoSuchObjectException):
            shop.drop_partition_by_name("shop", "sales", name, True)


def test_what_is_not_there(shop):
    with pytest.raises(TYPES.NoSuchObjectException, match="doesn't exist"):
        shop.drop_partition("shop", "sales", ["z", "1"], True)
    with pytest.raises(TYPES.NoSuchObjectException, match="nothing"):
        shop.drop_partition("shop", "nothing", ["a", "1"], True)
    with pytest.raises(TYPES.MetaException, match="Invalid partition key & values"):
        shop.drop_partition("shop", "sales", ["a"], True)
    assert shop.names() == NAMES


def test_several_by_names_come_back(shop):
    found = shop.drop_partitions_req(by_names(*NAMES[:2])).partitions
    assert [one.values for one in found] == [["a", "1"], ["a", "2"]]
    assert shop.names() == NAMES[2:]
    assert shop.tree("shop.db/sales") == ["ds=b/", "ds=b/hour=1/"]
    assert shop.drop_partitions_req(by_names(NAMES[2], result=False)).partitions is None
    assert shop.names() == []


def test_several_by_names_all_or_none(shop):
    with pytest.raises(TYPES.NoSuchObjectException):
        shop.drop_partitions_req(by_names(NAMES[0], "ds=z/hour=1"))
    assert shop.names() == NAMES
    found = shop.drop_partitions_req(by_names(NAMES[0], NAMES[0], "ds=z/hour=1", exists=True)).partitions
    assert [one.values for one in found] == [["a", "1"]]
    assert shop.drop_partitions_req(by_names("ds=z/hour=1", exists=True)).partitions == []


def test_several_by_filters(shop):
    found = shop.drop_partitions_req(by_expressions(b"ds = 'a' and hour > 1", b"ds = 'b'", b"ds = 'a' and hour = 2"))
    assert sorted(one.values for one in found.partitions) == [["a", "2"], ["b", "1"]]
    assert shop.names() == NAMES[:1]
    with pytest.raises(TYPES.NoSuchObjectException):
        shop.drop_partitions_req(by_expressions(b"ds = 'z'"))
    assert shop.drop_partitions_req(by_expressions(b"ds = 'z'", exists=True)).partitions == []


@pytest.mark.parametrize(
    "expression",
    [*BLOBS, b"", b"  ", None, b"ds = ", b"amount = 5", b"hour = 'x'", b"ds = 'a' or", b"ds = 'a'; drop"],
)
def test_what_is_not_understood_drops_nothing(shop, expression):
    with pytest.raises(TYPES.MetaException):
        shop.drop_partitions_req(by_expressions(b"ds = 'a'", expression, exists=True))
    assert shop.names() == NAMES
    assert "ds=a/hour=1/" in shop.tree("shop.db/sales")


def test_what_to_do_instead_is_said(shop):
    with pytest.raises(
        TYPES.MetaException, match=r"Send the filter as UTF-8 text, such as .*, or drop partitions by their names"
    ):
        shop.drop_partitions_req(by_expressions(BLOBS[0]))


def test_without_if_exists_a_partition_has_to_be_there(shop):
    """As in Hive's metastore, where the default of the IDL is not what its server takes."""
    missing, there = (TYPES.RequestPartsSpec(names=[name]) for name in ("ds=z/hour=1", NAMES[0]))
    with pytest.raises(TYPES.NoSuchObjectException):
        shop.drop_partitions_req(TYPES.DropPartitionsRequest("shop", "sales", missing))
    assert len(shop.drop_partitions_req(TYPES.DropPartitionsRequest("shop", "sales", there)).partitions) == 1


@pytest.mark.parametrize(
    "parts", [None, TYPES.RequestPartsSpec(), TYPES.RequestPartsSpec(names=["ds=a/hour=1"], exprs=[])]
)
def test_a_request_says_which_ones(shop, parts):
    with pytest.raises(TYPES.MetaException, match="either names or expressions"):
        shop.drop_partitions_req(TYPES.DropPartitionsRequest(dbName="shop", tblName="sales", parts=parts))
    assert shop.names() == NAMES


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A table whose partitions no test drops."""
    with opened(SimpleNamespace(param="memory"), tmp_path_factory.mktemp("kept")) as shop:
        shop.create_table(table_of())
        shop.add_partitions([partition_of("a", "1"), partition_of("a", "2"), partition_of("b", "1")])
        yield shop


@given(expression=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_bytes_that_are_no_filter_drop_nothing(kept, expression):
    with suppress(UnicodeDecodeError, FilterError):
        assume(parse_filter(expression.decode()) is None)
    with pytest.raises(TYPES.MetaException):
        kept.drop_partitions_req(by_expressions(expression, exists=True))
    assert kept.names() == NAMES


def test_a_trash_keeps_what_is_dropped_unless_it_is_purged(tmp_path):
    trash = tmp_path / "trash"
    with opened(SimpleNamespace(param="memory"), tmp_path) as shop:
        service = replace(shop.endpoint.service, warehouse=Warehouse(str(shop.root), trash=str(trash)))
        shop.endpoint = replace(shop.endpoint, service=service)
        shop.create_table(table_of())
        shop.create_table(table_of("purged", parameters={"auto.purge": "true"}))
        for table in ("sales", "purged"):
            shop.add_partitions([partition_of(ds, "1", table=table) for ds in "ab"])
        shop.drop_partition("shop", "sales", ["a", "1"], True)
        assert [one.parent.name for one in trash.rglob("hour=1")] == ["ds=a"]
        shop.drop_partition_with_environment_context("shop", "sales", ["b", "1"], True, says(ifPurge="true"))
        shop.drop_partition("shop", "purged", ["a", "1"], True)
        shop.drop_table("shop", "purged", True)
        assert [one.parent.name for one in trash.rglob("hour=1")] == ["ds=a"]
        assert list(trash.rglob("purged")) == []
        shop.write("shop.db/sales/file")
        shop.drop_table("shop", "sales", True)
        assert len(list(trash.rglob("file"))) == 1
