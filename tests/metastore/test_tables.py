"""Creating, dropping, emptying tables over the wire, with their folders."""

from __future__ import annotations

import time

import pytest

from hbstore import Column, Table
from tests.metastore.writing import (
    PURGED,
    STORED,
    TYPES,
    column,
    external,
    partition_of,
    says,
    storage,
    table_of,
)

ON_BACKENDS = ("memory", "nonatomic")
"""With transactions and without; tests/metastore/clients makes and changes tables on HBase."""


def test_a_managed_table_gets_a_folder_and_times(shop):
    began = int(time.time())
    shop.create_table(table_of("Sales", createTime=5, sd=storage(location="")))
    found = shop.table()
    assert found.tableName == "sales"
    assert found.sd.location == shop.location("shop.db/sales")
    assert shop.tree("shop.db") == ["sales/"]
    assert began <= found.createTime <= time.time()
    assert began <= int(found.parameters["transient_lastDdlTime"]) <= time.time()


def test_a_ddl_time_that_the_client_gives_stays(shop):
    shop.create_table(table_of(parameters={"transient_lastDdlTime": "5"}))
    assert shop.table().parameters == {"transient_lastDdlTime": "5"}


def test_a_table_gets_the_folder_that_it_asks_for(shop, tmp_path):
    shop.create_table(external(sd=storage(location=f"file://{tmp_path}/theirs/")))
    assert shop.table().sd.location == f"file:{tmp_path}/theirs"
    assert (tmp_path / "theirs").is_dir()
    assert shop.tree("shop.db") == []


def test_the_longest_name_has_a_folder_that_follows_renames_and_goes(shop):
    longest = "n" * 256
    for wrong in (longest + "n", "a-b"):
        with pytest.raises(TYPES.InvalidObjectException):
            shop.create_table(table_of(wrong))
    shop.create_table(table_of(longest))
    shop.add_partition(partition_of("2013-01-01", "5", table=longest))
    table = shop.table(longest)
    table.tableName = "m" * 256
    shop.alter_table("shop", longest, table)
    assert shop.names("m" * 256) == ["ds=2013-01-01/hour=5"]
    (folder, *inside) = shop.tree("shop.db")
    assert folder.startswith("m" * 200)
    assert len(inside) == 2
    shop.drop_table("shop", "m" * 256, True)
    assert shop.tree("shop.db") == []


def test_names_of_columns_become_lower_case(shop):
    asked = storage(cols=[column("Amount", "double", "Sum"), column("B", "map<string,int>")])
    asked.sortCols = [STORED.Order(" Amount", 1)]
    asked.bucketCols = ["Amount"]
    shop.create_table(table_of(sd=asked, partitionKeys=[column("DS", "string", "Day")]))
    found = shop.table()
    assert [(one.name, one.type, one.comment) for one in found.sd.cols] == [
        ("amount", "double", "Sum"),
        ("b", "map<string,int>", None),
    ]
    assert [(one.name, one.comment) for one in found.partitionKeys] == [("ds", "Day")]
    assert [(one.col, one.order) for one in found.sd.sortCols] == [("amount", 1)]
    assert found.sd.bucketCols == ["Amount"]


@pytest.mark.parametrize(
    ("kind", "parameters", "becomes"),
    [
        ("MANAGED_TABLE", {}, "MANAGED_TABLE"),
        ("MANAGED_TABLE", {"EXTERNAL": "TRUE"}, "EXTERNAL_TABLE"),
        ("MANAGED_TABLE", {"EXTERNAL": "true"}, "EXTERNAL_TABLE"),
        ("EXTERNAL_TABLE", {}, "EXTERNAL_TABLE"),
        ("EXTERNAL_TABLE", {"EXTERNAL": "FALSE"}, "MANAGED_TABLE"),
        ("MATERIALIZED_VIEW", {"EXTERNAL": "TRUE"}, "MATERIALIZED_VIEW"),
    ],
)
def test_the_type_follows_the_parameter(shop, kind, parameters, becomes):
    shop.create_table(table_of(tableType=kind, parameters=parameters))
    assert shop.table().tableType == becomes


def test_a_view_has_no_folder(shop):
    shop.create_table(
        table_of(
            tableType="VIRTUAL_VIEW", partitionKeys=[], viewOriginalText="select 1", viewExpandedText="select 1 as one"
        )
    )
    found = shop.table()
    assert (found.viewOriginalText, found.viewExpandedText, found.sd.location) == ("select 1", "select 1 as one", None)
    assert "numFiles" not in found.parameters
    assert shop.tree("shop.db") == []
    shop.drop_table("shop", "sales", True)
    assert shop.get_all_tables("shop") == []


@pytest.fixture
def placeless(shop):
    """The warehouse with shop.placeless, of which the store knows no location."""
    columns = [Column("ds", "string"), Column("hour", "int")]
    shop.store.create_table(Table("shop", "placeless", columns, [Column("amount", "double")]))
    return shop


def test_a_table_without_a_location_is_where_hive_would_put_it(placeless):
    home = placeless.location("shop.db/placeless")
    asked = TYPES.GetTableRequest(dbName="shop", tblName="placeless")
    several = TYPES.GetTablesRequest(dbName="shop", tblNames=["placeless"])
    found = [
        placeless.table("placeless"),
        placeless.get_table_req(asked).table,
        *placeless.get_table_objects_by_name("shop", ["placeless"]),
        *placeless.get_table_objects_by_name_req(several).tables,
    ]
    assert [one.sd.location for one in found] == [home] * 4
    placeless.add_partition(partition_of("a", "1", table="placeless"))
    placeless.add_partition(partition_of("a", "2", table="placeless", location=placeless.location("other/2")))
    assert placeless.partition("a", "1", table="placeless").sd.location == f"{home}/ds=a/hour=1"
    assert placeless.partition("a", "2", table="placeless").sd.location == placeless.location("other/2")
    assert placeless.store.get_table("shop", "placeless").location is None
    placeless.write("shop.db/placeless/ds=a/hour=1/file")
    placeless.drop_partition("shop", "placeless", ["a", "1"], True)
    assert placeless.tree("shop.db") == ["placeless/"]
    placeless.drop_table("shop", "placeless", True)
    assert placeless.tree("shop.db") == []


def test_who_alters_a_table_without_a_location_stores_it(placeless):
    found = placeless.table("placeless")
    found.tableName = "placed"
    placeless.write("shop.db/placeless/file")
    placeless.alter_table("shop", "placeless", found)
    assert placeless.store.get_table("shop", "placed").location == placeless.location("shop.db/placed")
    assert placeless.tree("shop.db") == ["placed/", "placed/file"]


def test_partitions_of_views_have_no_location(shop):
    view = Table("shop", "seen", [Column("ds", "string")], table_type="VIRTUAL_VIEW")
    shop.store.create_table(view)
    assert shop.table("seen").sd.location is None
    with pytest.raises(TYPES.MetaException, match="Cannot specify location for a view partition"):
        shop.add_partition(partition_of("a", table="seen", location="/elsewhere"))
    shop.add_partition(partition_of("a", table="seen"))
    assert shop.partition("a", table="seen").sd.location is None


def test_a_table_is_created_once(shop):
    shop.create_table(table_of())
    shop.write("shop.db/sales/file")
    with pytest.raises(TYPES.AlreadyExistsException, match="Table sales already exists"):
        shop.create_table(table_of("SALES"))
    assert shop.tree("shop.db") == ["sales/", "sales/file"]


@pytest.mark.parametrize(
    "asked",
    [
        table_of("a-b"),
        table_of(""),
        table_of(dbName="nothing"),
        table_of(sd=storage(cols=[column("a", "timestamp_ntz")])),
        table_of(partitionKeys=[column("a", "money")]),
        table_of(sd=storage(cols=[column("a"), column("A")])),
        table_of(sd=storage(skewedInfo=STORED.SkewedInfo(skewedColNames=["b"]))),
        table_of(sd=storage(cols=[STORED.FieldSchema(comment="no name")])),
        table_of(sd=storage(sortCols=[STORED.Order(order=1)])),
        table_of(privileges=STORED.PrincipalPrivilegeSet({"ann": [STORED.PrivilegeGrantInfo(grantor="bob")]}, {}, {})),
    ],
)
def test_what_cannot_be_a_table_leaves_nothing(shop, asked):
    with pytest.raises(TYPES.InvalidObjectException):
        shop.create_table(asked)
    assert shop.get_all_tables("shop") == []
    assert shop.tree() == ["shop.db/"]


def test_types_inside_others_are_the_clients_business(shop):
    kinds = ["array<timestamp_ntz>", "struct<a:b:int>", "<derived from deserializer>", "datetime", "interval_day_time"]
    shop.create_table(table_of(sd=storage(cols=[column(f"c{at}", kind) for at, kind in enumerate(kinds)])))
    assert [one.type for one in shop.table().sd.cols] == kinds
    again = table_of("returns", sd=storage(cols=[column("a", "map<int,variant>")]))
    shop.alter_table("shop", "sales", again)
    assert [one.type for one in shop.table("returns").sd.cols] == ["map<int,variant>"]


def test_a_folder_that_cannot_be_made(shop):
    shop.write("shop.db/sales")
    with pytest.raises(TYPES.MetaException, match="folder cannot be made"):
        shop.create_table(table_of())
    assert shop.get_all_tables("shop") == []


def test_files_that_are_there_are_counted(shop):
    shop.write("shop.db/sales/file", "12345")
    shop.write("shop.db/sales/deeper/file", "123")
    shop.write("shop.db/sales/_SUCCESS", "1")
    shop.create_table(table_of(partitionKeys=[], parameters={"COLUMN_STATS_ACCURATE": "{}"}))
    parameters = shop.table().parameters
    assert (parameters["numFiles"], parameters["totalSize"]) == ("2", "8")
    assert "COLUMN_STATS_ACCURATE" not in parameters


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"numFiles": "7", "totalSize": "9"}, {"numFiles": "7", "totalSize": "9"}),
        ({"DO_NOT_UPDATE_STATS": "true"}, {}),
    ],
)
def test_files_are_not_counted_where_the_client_says_so(shop, given, kept):
    shop.write("shop.db/sales/file")
    shop.create_table(table_of(partitionKeys=[], parameters={**given, "transient_lastDdlTime": "1"}))
    assert shop.table().parameters == {**kept, "transient_lastDdlTime": "1"}


def test_files_of_a_partitioned_table_and_of_a_new_folder_are_not_counted(shop):
    shop.write("shop.db/sales/file")
    shop.create_table(table_of())
    shop.create_table(table_of("more", partitionKeys=[]))
    assert "numFiles" not in shop.table().parameters
    assert "numFiles" not in shop.table("more").parameters


def test_dropping_a_managed_table_deletes_its_files(shop):
    shop.create_table(table_of())
    shop.add_partitions([partition_of("a", "1"), partition_of("b", "2", location=shop.location("far/b"))])
    shop.write("shop.db/sales/ds=a/hour=1/file")
    shop.drop_table("shop", "sales", True)
    assert shop.get_all_tables("shop") == []
    assert shop.tree() == ["far/", "shop.db/"]


def test_dropping_without_data_leaves_the_files(shop):
    shop.create_table(table_of())
    shop.add_partition(partition_of("a", "1"))
    shop.drop_table("shop", "sales", False)
    assert shop.tree("shop.db") == ["sales/", "sales/ds=a/", "sales/ds=a/hour=1/"]


def test_files_of_an_external_table_stay(shop):
    shop.create_table(external())
    shop.create_table(table_of("more", parameters={"EXTERNAL": "TRUE"}))
    shop.drop_table("shop", "sales", True)
    shop.drop_table("shop", "more", True)
    assert shop.tree("shop.db") == ["more/", "sales/"]


def test_files_of_an_external_table_that_is_purged_go(shop):
    shop.create_table(table_of(tableType="EXTERNAL_TABLE", parameters=PURGED))
    for value in "ab":
        shop.add_partition(partition_of(value, "1"))
        shop.write(f"shop.db/sales/ds={value}/hour=1/file")
    shop.truncate_table("shop", "sales", ["ds=a/hour=1"])
    assert shop.tree("shop.db/sales/ds=a") == ["hour=1/"]
    shop.drop_partition("shop", "sales", ["a", "1"], True)
    assert shop.tree("shop.db/sales") == ["ds=b/", "ds=b/hour=1/", "ds=b/hour=1/file"]
    shop.drop_table("shop", "sales", True)
    assert shop.tree("shop.db") == []


def test_dropping_what_is_not_there(shop):
    with pytest.raises(TYPES.NoSuchObjectException, match=r"shop\.nothing"):
        shop.drop_table("shop", "nothing", True)
    with pytest.raises(TYPES.NoSuchObjectException, match="nothing"):
        shop.drop_table_with_environment_context("nothing", "sales", True, says(ifPurge="TRUE"))


def test_a_table_of_a_dropped_one_s_name_begins_empty(shop):
    shop.create_table(table_of())
    shop.add_partition(partition_of("a", "1"))
    shop.drop_table("shop", "sales", False)
    shop.create_table(table_of())
    assert shop.names() == []


def test_truncating_empties_a_table_and_its_counts(shop):
    shop.write("shop.db/sales/file")
    shop.create_table(table_of(partitionKeys=[], parameters={"numRows": "5", "k": "v"}))
    shop.truncate_table("shop", "sales", None)
    parameters = shop.table().parameters
    assert shop.tree("shop.db") == ["sales/"]
    assert (parameters["numRows"], parameters["numFiles"], parameters["totalSize"]) == ("0", "0", "0")
    assert (parameters["k"], parameters["COLUMN_STATS_ACCURATE"]) == ("v", '{"BASIC_STATS":"true"}')


def test_truncating_some_partitions(shop):
    shop.create_table(table_of())
    for values in (("a", "1"), ("a", "2")):
        shop.write("shop.db/sales/ds={}/hour={}/file".format(*values))
        shop.add_partition(partition_of(*values))
    shop.truncate_table("shop", "sales", ["ds=a/hour=2"])
    assert shop.tree("shop.db/sales/ds=a") == ["hour=1/", "hour=1/file", "hour=2/"]
    assert [shop.partition("a", hour).parameters["numFiles"] for hour in "12"] == ["1", "0"]
    with pytest.raises(TYPES.MetaException):
        shop.truncate_table("shop", "sales", ["ds=a/hour=3"])
    shop.truncate_table("shop", "sales", None)
    assert shop.tree("shop.db/sales/ds=a") == ["hour=1/", "hour=2/"]


def test_a_partition_in_the_table_s_own_folder_is_not_truncated(shop):
    shop.create_table(table_of())
    shop.add_partition(partition_of("a", "1", location=shop.location("shop.db/sales")))
    shop.write("shop.db/sales/file")
    with pytest.raises(TYPES.MetaException, match="whole table"):
        shop.truncate_table("shop", "sales", None)
    assert shop.tree("shop.db") == ["sales/", "sales/file"]


def test_external_tables_are_not_truncated(shop):
    shop.create_table(external(partitionKeys=[]))
    shop.write("shop.db/sales/file")
    with pytest.raises(TYPES.MetaException, match="non-managed"):
        shop.truncate_table("shop", "sales", None)
    assert shop.tree("shop.db") == ["sales/", "sales/file"]


def test_the_log_hears_which_table_it_was(shop):
    shop.create_table(table_of())
    assert shop.notes["table"] == "shop.sales"


def test_a_partition_column_may_have_the_name_of_a_data_column(shop):
    """As in a Hive Metastore 2.3.10 and 4.0.1; a name that stands twice among either is refused there as well."""
    keys, data = [column("ds", "string")], [column("amount", "double"), column("DS", "int")]
    shop.create_table(table_of(sd=storage(cols=data), partitionKeys=keys))
    assert [one.name for one in shop.get_fields("shop", "sales")] == ["amount", "ds"]
    names_and_types = [(one.name, one.type) for one in shop.get_schema("shop", "sales")]
    assert names_and_types == [("amount", "double"), ("ds", "int"), ("ds", "string")]
    for value in ("5", "x"):
        shop.add_partition(partition_of(value, sd=storage(cols=data)))
    assert shop.names() == ["ds=5", "ds=x"]
    assert [one.values for one in shop.get_partitions_by_filter("shop", "sales", 'ds = "x"', -1)] == [["x"]]
    table = shop.table()
    assert [one.name for one in table.sd.cols] == ["amount", "ds"]
    table.tableName = "sold"
    table.sd.cols = [*table.sd.cols, column("more", "int")]
    shop.alter_table("shop", "sales", table)
    assert shop.names("sold") == ["ds=5", "ds=x"]
    for cols, partition_keys in (([*data, column("Amount", "int")], keys), (data, [*keys, column("Ds", "int")])):
        with pytest.raises(TYPES.InvalidObjectException, match="two columns have the same name"):
            shop.create_table(table_of("other", sd=storage(cols=cols), partitionKeys=partition_keys))
