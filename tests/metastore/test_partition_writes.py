"""Adding partitions over the wire, with their folders."""

from __future__ import annotations

import time
from threading import Barrier, Thread

import pytest

from tests.metastore.direct import Direct
from tests.metastore.writing import (
    STORED,
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
    return shop


def request(*parts, exists=False, result=True, table="sales"):
    return TYPES.AddPartitionsRequest("shop", table, list(parts), exists, result)


def test_a_partition_gets_a_folder_and_times(shop):
    began = int(time.time())
    found = shop.add_partition(partition_of("a", "1", createTime=5, lastAccessTime=6, parameters={"k": "v"}))
    assert found == shop.partition("a", "1")
    assert (found.values, found.dbName, found.tableName) == (["a", "1"], "shop", "sales")
    assert found.sd.location == shop.location("shop.db/sales/ds=a/hour=1")
    assert began <= found.createTime <= time.time()
    assert (found.lastAccessTime, found.parameters.pop("k")) == (6, "v")
    assert began <= int(found.parameters.pop("transient_lastDdlTime")) <= time.time()
    assert found.parameters == {}
    assert shop.tree("shop.db/sales") == ["ds=a/", "ds=a/hour=1/"]


def test_a_partition_gets_the_folder_that_it_asks_for(shop, tmp_path):
    found = shop.add_partition(partition_of("a", "1", location=f"{tmp_path}/mine/"))
    assert found.sd.location == f"file:{tmp_path}/mine"
    assert (tmp_path / "mine").is_dir()
    assert shop.tree("shop.db/sales") == []


def test_a_partition_without_a_storage_inherits_the_table_s(shop):
    found = shop.add_partition(partition_of("a", "1", sd=None))
    table = shop.table()
    assert found.sd.cols == table.sd.cols
    assert found.sd.inputFormat == table.sd.inputFormat
    assert found.sd.location == shop.location("shop.db/sales/ds=a/hour=1")


def test_names_are_escaped_in_folders(shop):
    found = shop.add_partition(partition_of("a/b=c d%", "1"))
    assert found.sd.location == shop.location("shop.db/sales/ds=a%2Fb%3Dc d%25/hour=1")
    assert shop.names() == ["ds=a%2Fb%3Dc d%25/hour=1"]
    assert shop.partition("a/b=c d%", "1") == found


def test_columns_of_a_partition_s_storage_become_lower_case(shop):
    found = shop.add_partition(partition_of("a", "1", sd=storage(cols=[column("Amount", "double")])))
    assert found.sd.cols == [column("amount", "double")]


def test_files_that_are_there_are_counted(shop):
    shop.write("shop.db/sales/ds=a/hour=1/file", "123")
    parameters = shop.add_partition(partition_of("a", "1")).parameters
    assert (parameters["numFiles"], parameters["totalSize"]) == ("1", "3")
    shop.write("shop.db/sales/ds=a/hour=2/file", "123")
    given = {"numFiles": "7", "totalSize": "8", "transient_lastDdlTime": "5"}
    assert shop.add_partition(partition_of("a", "2", parameters=given)).parameters == given


@pytest.mark.parametrize("values", [["a"], ["a", "1", "2"], []])
def test_every_column_has_one_value(shop, values):
    with pytest.raises(TYPES.MetaException, match="Invalid partition key & values"):
        shop.add_partition(partition_of(*values))
    assert shop.tree("shop.db/sales") == []


def test_values_of_no_type_are_kept(shop):
    shop.add_partitions([partition_of("a", "x"), partition_of("a", "__HIVE_DEFAULT_PARTITION__")])
    assert shop.names() == ["ds=a/hour=__HIVE_DEFAULT_PARTITION__", "ds=a/hour=x"]
    assert shop.partition("a", "x").values == ["a", "x"]


def test_a_partition_is_added_once_and_is_its_text(shop):
    for hour in ("5", "05"):
        shop.add_partition(partition_of("a", hour))
        with pytest.raises(TYPES.AlreadyExistsException, match="already exists") as caught:
            shop.add_partition(partition_of("a", hour))
        assert "--" not in caught.value.message  # a client has no options of the command line
    assert shop.tree("shop.db/sales/ds=a") == ["hour=05/", "hour=5/"]
    assert shop.names() == ["ds=a/hour=05", "ds=a/hour=5"]


@pytest.mark.parametrize(("database", "table"), [("shop", "nothing"), ("nothing", "sales"), ("shop", "a-b")])
def test_a_partition_of_no_table(shop, database, table):
    with pytest.raises(TYPES.InvalidObjectException):
        shop.add_partition(partition_of("a", "1", dbName=database, tableName=table))
    with pytest.raises(TYPES.InvalidObjectException):
        shop.append_partition(database, table, ["a", "1"])


def test_a_table_without_partition_columns_takes_none(shop):
    shop.create_table(table_of("flat", partitionKeys=[]))
    for values in ([], ["a"]):
        with pytest.raises(TYPES.MetaException, match="Invalid partition key & values"):
            shop.add_partition(partition_of(*values, table="flat"))


def test_a_batch_is_added_whole(shop):
    assert shop.add_partitions([partition_of("a", str(hour)) for hour in range(3)]) == 3
    assert shop.notes == {"table": "shop.sales", "partitions": 3}
    assert shop.names() == ["ds=a/hour=0", "ds=a/hour=1", "ds=a/hour=2"]
    assert shop.add_partitions([]) == 0


@pytest.mark.parametrize(
    ("spoiler", "error"),
    [
        (partition_of("a", "1"), "AlreadyExistsException"),
        (partition_of("b", "2"), "MetaException"),
        (partition_of("c", "3", table="other"), "MetaException"),
        (partition_of("c", "3", dbName="attic"), "MetaException"),
        (partition_of("c"), "MetaException"),
    ],
)
@pytest.mark.parametrize("how", ["list", "request"])
def test_a_batch_is_added_whole_or_not_at_all(shop, spoiler, error, how):
    shop.add_partition(partition_of("a", "1"))
    shop.create_table(table_of("other"))
    batch = [partition_of("b", "1"), partition_of("b", "2"), spoiler]
    with pytest.raises(getattr(TYPES, error)):
        shop.add_partitions(batch) if how == "list" else shop.add_partitions_req(request(*batch))
    assert shop.names() == ["ds=a/hour=1"]
    assert shop.tree("shop.db/sales") == ["ds=a/", "ds=a/hour=1/"]


def test_a_folder_that_cannot_be_made_adds_nothing_and_leaves_nothing(shop):
    shop.write("shop.db/sales/ds=b/hour=1")
    with pytest.raises(TYPES.MetaException, match="folder cannot be made"):
        shop.add_partitions([partition_of("a", "1"), partition_of("b", "1")])
    assert shop.names() == []
    assert shop.tree("shop.db/sales") == ["ds=b/", "ds=b/hour=1"]


def test_only_those_that_are_not_there_are_added_and_come_back(shop):
    first = shop.add_partition(partition_of("a", "5"))
    batch = [partition_of("a", "5", parameters={"k": "v"}), partition_of("a", "6"), partition_of("a", "7")]
    added = shop.add_partitions_req(request(*batch, exists=True)).partitions
    assert [one.values for one in added] == [["a", "6"], ["a", "7"]]
    assert added[0] == shop.partition("a", "6")
    assert shop.partition("a", "5") == first
    assert shop.add_partitions_req(request(*batch, exists=True)).partitions == []


def test_nothing_comes_back_if_nobody_asks(shop):
    assert shop.add_partitions_req(request(partition_of("a", "1"), result=False)).partitions is None
    assert shop.add_partitions_req(request()).partitions is None
    assert shop.names() == ["ds=a/hour=1"]


def test_specs_share_a_storage_or_list_partitions(shop):
    shared = TYPES.PartitionSpec(
        dbName="shop",
        tableName="sales",
        rootPath=shop.location("shop.db/sales"),
        sharedSDPartitionSpec=TYPES.PartitionSpecWithSharedSD(
            partitions=[
                TYPES.PartitionWithoutSD(values=["a", "1"], relativePath="/ds=a/hour=1", parameters={"k": "v"}),
                TYPES.PartitionWithoutSD(values=["a", "2"], relativePath="/elsewhere", lastAccessTime=5),
            ],
            sd=storage(location=shop.location("shop.db/sales"), inputFormat="shared"),
        ),
    )
    listed = TYPES.PartitionSpec(
        dbName="shop",
        tableName="sales",
        partitionList=TYPES.PartitionListComposingSpec(partitions=[partition_of("b", "1")]),
    )
    assert shop.add_partitions_pspec([shared, listed]) == 3
    first, second, third = (shop.partition(*values) for values in (("a", "1"), ("a", "2"), ("b", "1")))
    assert (first.sd.inputFormat, first.parameters["k"]) == ("shared", "v")
    assert second.sd.location == shop.location("shop.db/sales/elsewhere")
    assert second.lastAccessTime == 5
    assert third.sd.location == shop.location("shop.db/sales/ds=b/hour=1")
    assert shop.add_partitions_pspec([]) == 0


def test_appending_by_values_and_by_name(shop):
    found = shop.append_partition("shop", "sales", ["a", "1"])
    assert found.sd.location == shop.location("shop.db/sales/ds=a/hour=1")
    assert found.sd.inputFormat == shop.table().sd.inputFormat
    assert shop.append_partition_by_name("shop", "sales", "ds=a/hour=2").values == ["a", "2"]
    named = shop.append_partition_by_name_with_environment_context("shop", "sales", "HOUR=3/ds=a%2Fb", says())
    assert named.values == ["a/b", "3"]
    with pytest.raises(TYPES.AlreadyExistsException):
        shop.append_partition_with_environment_context("shop", "sales", ["a", "1"], None)
    for name in ("ds=a", "ds=a/minute=3", "", "ds"):
        with pytest.raises(TYPES.InvalidObjectException):
            shop.append_partition_by_name("shop", "sales", name)


def test_partitions_of_a_view_have_no_folder(shop):
    shop.create_table(table_of("seen", tableType="VIRTUAL_VIEW"))
    assert shop.add_partition(partition_of("a", "1", table="seen", sd=None)).sd.location is None
    with pytest.raises(TYPES.MetaException, match="location for a view"):
        shop.add_partition(partition_of("a", "2", table="seen", location=shop.location("somewhere")))
    assert shop.tree("shop.db") == ["sales/"]


def test_partitions_of_an_external_table_have_folders(shop):
    shop.create_table(external("theirs"))
    shop.add_partition(partition_of("a", "1", table="theirs"))
    assert shop.tree("shop.db/theirs") == ["ds=a/", "ds=a/hour=1/"]


def test_of_several_that_add_the_same_at_once_each_partition_is_one_s(shop):
    barrier = Barrier(4)
    came_back = []

    def add():
        mine = Direct(shop.endpoint)
        barrier.wait()
        batch = [partition_of("a", str(hour)) for hour in range(20)]
        came_back.append(mine.add_partitions_req(request(*batch, exists=True)).partitions)

    threads = [Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(came_back) == 4
    assert len(shop.names()) == 20
    assert {tuple(one.values) for batch in came_back for one in batch} == {("a", str(hour)) for hour in range(20)}
    assert len(shop.tree("shop.db/sales/ds=a")) == 20


def test_names_with_a_catalog(shop):
    asked = TYPES.AddPartitionsRequest("@hive#shop", "sales", [partition_of("a", "1")], False, True)
    assert len(shop.add_partitions_req(asked).partitions) == 1
    assert shop.append_partition("@hive#shop", "sales", ["a", "2"]).dbName == "shop"


def test_a_partition_that_is_added_has_a_storage_of_its_own(shop):
    shop.add_partition(partition_of("a", "1", sd=STORED.StorageDescriptor(inputFormat="mine")))
    assert shop.partition("a", "1").sd.inputFormat == "mine"
