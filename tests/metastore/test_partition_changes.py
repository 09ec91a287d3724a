"""Altering and renaming partitions over the wire, with their folders."""

from __future__ import annotations

import time

import pytest

from tests.metastore.writing import (
    TYPES,
    column,
    external,
    partition_of,
    says,
    storage,
    table_of,
)


@pytest.fixture
def shop(shop):
    shop.create_table(table_of())
    shop.add_partitions([partition_of("a", "1"), partition_of("a", "2")])
    return shop


def parameters(partition):
    return {key: value for key, value in partition.parameters.items() if key != "transient_lastDdlTime"}


def quietly(shop, *parts):
    """Alter without counting files."""
    shop.alter_partitions_with_environment_context("shop", "sales", list(parts), says(DO_NOT_UPDATE_STATS="true"))


def test_altering_replaces_all_but_the_values_and_what_is_not_said(shop):
    before = shop.partition("a", "1")
    began = int(time.time())
    quietly(shop, partition_of("a", "1", parameters={"k": "v"}, lastAccessTime=5, sd=storage(inputFormat="in")))
    found = shop.partition("a", "1")
    assert (parameters(found), found.lastAccessTime, found.sd.inputFormat) == ({"k": "v"}, 5, "in")
    assert (found.createTime, found.sd.location) == (before.createTime, before.sd.location)
    assert int(found.parameters["transient_lastDdlTime"]) >= began
    quietly(shop, partition_of("a", "1", createTime=7, sd=None))
    found = shop.partition("a", "1")
    assert (found.createTime, found.sd.inputFormat) == (7, "in")


@pytest.mark.parametrize(("given", "kept"), [("5", True), ("0", False)])
def test_a_ddl_time_of_0_is_none(shop, given, kept):
    quietly(shop, partition_of("a", "1", parameters={"transient_lastDdlTime": given}))
    assert (shop.partition("a", "1").parameters["transient_lastDdlTime"] == given) is kept


def test_a_new_location_moves_nothing(shop, tmp_path):
    shop.alter_partition("shop", "sales", partition_of("a", "1", location=f"file://{tmp_path}/new/"))
    assert shop.partition("a", "1").sd.location == f"file:{tmp_path}/new"
    assert not (tmp_path / "new").exists()
    assert shop.tree("shop.db/sales/ds=a") == ["hour=1/", "hour=2/"]


def test_several_are_altered_all_or_none(shop):
    both = [partition_of("a", hour, parameters={"k": hour}) for hour in "12"]
    shop.alter_partitions("shop", "sales", both)
    assert [shop.partition("a", hour).parameters["k"] for hour in "12"] == ["1", "2"]
    missing = [partition_of("a", hour, parameters={"k": "new"}) for hour in "123"]
    with pytest.raises(TYPES.InvalidOperationException, match="hour=3"):
        shop.alter_partitions("shop", "sales", missing)
    assert [shop.partition("a", hour).parameters["k"] for hour in "12"] == ["1", "2"]
    assert shop.names() == ["ds=a/hour=1", "ds=a/hour=2"]


def test_what_is_not_there(shop):
    with pytest.raises(TYPES.InvalidOperationException):
        shop.alter_partition("shop", "sales", partition_of("b", "1"))
    with pytest.raises(TYPES.InvalidOperationException):
        shop.alter_partition("shop", "nothing", partition_of("a", "1"))
    with pytest.raises(TYPES.MetaException, match="Invalid partition key & values"):
        shop.alter_partition("shop", "sales", partition_of("a"))


def test_a_partition_is_not_altered_by_another_text_of_its_values(shop):
    with pytest.raises(TYPES.InvalidOperationException):
        quietly(shop, partition_of("a", "01", parameters={"k": "v"}))
    assert "k" not in shop.partition("a", "1").parameters


def test_files_are_counted_where_the_client_does_not_know(shop):
    shop.write("shop.db/sales/ds=a/hour=1/file", "123")
    shop.alter_partition("shop", "sales", partition_of("a", "1"))
    counted = {"numFiles": "1", "totalSize": "3"}
    assert parameters(shop.partition("a", "1")) == counted
    shop.write("shop.db/sales/ds=a/hour=1/more", "45")
    shop.alter_partition("shop", "sales", partition_of("a", "1", parameters={**counted, "k": "v"}))
    assert parameters(shop.partition("a", "1")) == {**counted, "k": "v"}  # the same as before: taken as they are
    shop.alter_partition("shop", "sales", partition_of("a", "1", parameters={"numFiles": "9", "totalSize": "9"}))
    assert parameters(shop.partition("a", "1")) == {"numFiles": "2", "totalSize": "5"}
    generated = says(STATS_GENERATED="TASK")
    asked = partition_of("a", "1", parameters={"numRows": "5"})
    shop.alter_partition_with_environment_context("shop", "sales", asked, generated)
    assert parameters(shop.partition("a", "1")) == {
        "numRows": "5",
        "numFiles": "2",
        "totalSize": "5",
        "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}',
    }


def test_a_renamed_partition_takes_its_folder_along(shop):
    shop.write("shop.db/sales/ds=a/hour=1/file", "123")
    created = shop.partition("a", "1").createTime
    shop.rename_partition("shop", "sales", ["a", "1"], partition_of("b", "5", parameters={"k": "v"}))
    found = shop.partition("b", "5")
    assert found.sd.location == shop.location("shop.db/sales/ds=b/hour=5")
    assert parameters(found) == {"k": "v", "numFiles": "1", "totalSize": "3"}
    assert found.createTime == created
    assert shop.names() == ["ds=a/hour=2", "ds=b/hour=5"]
    assert shop.tree("shop.db/sales") == ["ds=a/", "ds=a/hour=2/", "ds=b/", "ds=b/hour=5/", "ds=b/hour=5/file"]


def test_a_partition_in_a_place_of_its_own_stays_there(shop):
    own = shop.location("far/own")
    shop.add_partition(partition_of("c", "1", location=own))
    shop.rename_partition("shop", "sales", ["c", "1"], partition_of("c", "2"))
    assert shop.partition("c", "2").sd.location == own
    assert shop.tree("far") == ["own/"]


def test_folders_of_external_tables_stay(shop):
    shop.create_table(external("theirs"))
    shop.add_partition(partition_of("a", "1", table="theirs"))
    shop.rename_partition("shop", "theirs", ["a", "1"], partition_of("b", "1", table="theirs"))
    assert shop.partition("b", "1", table="theirs").sd.location == shop.location("shop.db/theirs/ds=a/hour=1")
    assert shop.tree("shop.db/theirs") == ["ds=a/", "ds=a/hour=1/"]


def test_what_cannot_be_renamed_stays_with_its_folder(shop):
    with pytest.raises(TYPES.InvalidOperationException, match="old partition does not exist"):
        shop.rename_partition("shop", "sales", ["b", "1"], partition_of("b", "2"))
    with pytest.raises(TYPES.InvalidOperationException):
        shop.rename_partition("shop", "nothing", ["a", "1"], partition_of("b", "2"))
    for hour in ("1", "2"):
        with pytest.raises(TYPES.InvalidOperationException, match="Partition already exists"):
            shop.rename_partition("shop", "sales", ["a", "1"], partition_of("a", hour))
    with pytest.raises(TYPES.MetaException):
        shop.rename_partition("shop", "sales", ["a", "1"], partition_of("a"))
    assert shop.names() == ["ds=a/hour=1", "ds=a/hour=2"]
    assert shop.tree("shop.db/sales") == ["ds=a/", "ds=a/hour=1/", "ds=a/hour=2/"]


def test_other_words_for_the_same_values_are_another_name(shop):
    shop.rename_partition("shop", "sales", ["a", "1"], partition_of("a", "01"))
    assert shop.names() == ["ds=a/hour=01", "ds=a/hour=2"]
    assert shop.tree("shop.db/sales/ds=a") == ["hour=01/", "hour=2/"]


def test_a_partition_is_renamed_to_a_value_of_no_type(shop):
    shop.rename_partition("shop", "sales", ["a", "1"], partition_of("a", "x"))
    assert shop.names() == ["ds=a/hour=2", "ds=a/hour=x"]


def test_a_partition_is_not_renamed_onto_somebody_s_files(shop):
    shop.write("shop.db/sales/ds=b/hour=1/file")
    with pytest.raises(TYPES.MetaException, match="already exists"):
        shop.rename_partition("shop", "sales", ["a", "1"], partition_of("b", "1"))
    assert shop.names() == ["ds=a/hour=1", "ds=a/hour=2"]
    assert "ds=a/hour=1/" in shop.tree("shop.db/sales")


def test_a_rename_without_old_values_alters(shop):
    shop.rename_partition("shop", "sales", [], partition_of("a", "1", parameters={"k": "v"}))
    assert shop.partition("a", "1").parameters["k"] == "v"


def test_columns_become_lower_case(shop):
    quietly(shop, partition_of("a", "1", sd=storage(cols=[column("Amount", "double")])))
    assert shop.partition("a", "1").sd.cols == [column("amount", "double")]
