"""Altering and renaming tables over the wire, with their folders."""

from __future__ import annotations

import time
from threading import Thread

import pytest

from hbstore import Column, Partition, Table
from hbstore.warehouse.normal_form import may_become
from tests.metastore.direct import Direct
from tests.metastore.writing import (
    PURGED,
    STORED,
    TRANSLATED,
    TYPES,
    Writing,
    column,
    external,
    partition_of,
    says,
    storage,
    table_of,
)


def altered(shop, context=None, *, name="sales", **fields):
    """Read a table, change some of it, alter it: what most clients do."""
    table = shop.table(name)
    for field, value in fields.items():
        setattr(table.sd if field in {"location", "cols"} else table, field, value)
    shop.alter_table_with_environment_context("shop", name, table, context)


def parameters(shop, name="sales"):
    return {key: value for key, value in shop.table(name).parameters.items() if key != "transient_lastDdlTime"}


def test_altering_replaces_all_but_when_it_was_created(shop):
    shop.create_table(table_of())
    before = shop.table()
    asked = table_of(
        owner="bob",
        createTime=5,
        lastAccessTime=6,
        retention=7,
        parameters={"k": "v"},
        sd=storage(cols=[column("Other", "int")], inputFormat="in"),
    )
    shop.alter_table("shop", "SALES", asked)
    found = shop.table()
    assert (found.owner, found.lastAccessTime, found.retention) == ("bob", 6, 7)
    assert found.createTime == before.createTime
    assert found.sd.location == before.sd.location
    assert (found.sd.cols, found.sd.inputFormat) == ([column("other", "int")], "in")
    assert parameters(shop) == {"k": "v"}


def test_the_ddl_time_is_this_change_s_unless_the_client_gives_one(shop):
    shop.create_table(table_of(parameters={"transient_lastDdlTime": "5"}))
    altered(shop)
    assert shop.table().parameters == {"transient_lastDdlTime": "5"}
    began = int(time.time())
    altered(shop, parameters={})
    assert int(shop.table().parameters["transient_lastDdlTime"]) >= began


def test_what_cannot_be_altered(shop):
    shop.create_table(table_of())
    with pytest.raises(TYPES.InvalidOperationException, match="nothing"):
        shop.alter_table("shop", "nothing", table_of("nothing"))
    with pytest.raises(TYPES.InvalidOperationException, match="money"):
        altered(shop, cols=[column("a", "money")])
    with pytest.raises(TYPES.InvalidOperationException):
        altered(shop, tableName="a-b")
    assert shop.table().sd.cols == [column("amount", "double")]


@pytest.mark.parametrize(
    "keys", [[column("ds")], [column("ds"), column("minute", "int")], [column("hour", "int"), column("ds")], []]
)
def test_partition_columns_stay(shop, keys):
    shop.create_table(table_of())
    with pytest.raises(TYPES.InvalidOperationException, match="partition keys can not be changed"):
        altered(shop, partitionKeys=keys)


def test_types_of_partition_columns_stay(shop):
    """HMS lets them change; here all keys are made of them."""
    shop.create_table(table_of())
    with pytest.raises(TYPES.InvalidOperationException, match="partition columns"):
        altered(shop, partitionKeys=[column("ds"), column("hour", "string")])
    with pytest.raises(TYPES.InvalidOperationException, match="partition columns"):
        altered(shop, tableName="sold", partitionKeys=[column("ds"), column("hour", "string")])
    assert shop.tree("shop.db") == ["sales/"]


def test_partition_columns_may_be_sent_in_another_case_and_with_other_comments(shop):
    shop.create_table(table_of())
    shop.add_partition(partition_of("a", "1"))
    altered(shop, partitionKeys=[column("DS", comment="day"), column("Hour", "int")])
    assert shop.table().partitionKeys == [column("ds", comment="day"), column("hour", "int")]
    assert shop.names() == ["ds=a/hour=1"]


@pytest.mark.parametrize("say", ["context", "argument"])
def test_columns_cascade_to_partitions_only_when_told_to(shop, say):
    shop.create_table(table_of())
    shop.add_partition(partition_of("a", "1"))
    new = [column("amount", "double"), column("tax", "double")]
    altered(shop, cols=new)
    assert shop.partition("a", "1").sd.cols == [column("amount", "double")]
    newer = [*new, column("Rest")]
    if say == "context":
        altered(shop, says(CASCADE="true"), cols=newer)
    else:
        table = shop.table()
        table.sd.cols = newer
        shop.alter_table_with_cascade("shop", "sales", table, True)
    assert [one.name for one in shop.partition("a", "1").sd.cols] == ["amount", "tax", "rest"]
    assert shop.partition("a", "1").sd.location == shop.location("shop.db/sales/ds=a/hour=1")


def test_a_new_location_moves_nothing(shop, tmp_path):
    shop.create_table(table_of())
    shop.add_partition(partition_of("a", "1"))
    altered(shop, location=f"file://{tmp_path}/other/")
    assert shop.table().sd.location == f"file:{tmp_path}/other"
    assert shop.partition("a", "1").sd.location == shop.location("shop.db/sales/ds=a/hour=1")
    assert not (tmp_path / "other").exists()
    assert shop.tree("shop.db") == ["sales/", "sales/ds=a/", "sales/ds=a/hour=1/"]


def test_external_by_parameter_and_back(shop):
    shop.create_table(table_of())
    altered(shop, parameters={"EXTERNAL": "TRUE"})
    assert shop.table().tableType == "EXTERNAL_TABLE"
    altered(shop, parameters={"EXTERNAL": "FALSE"})
    assert shop.table().tableType == "MANAGED_TABLE"


def test_files_are_counted_unless_the_client_says_otherwise(shop):
    shop.create_table(table_of(partitionKeys=[]))
    shop.write("shop.db/sales/file", "123")
    altered(shop, says(DO_NOT_UPDATE_STATS="true"), parameters={"k": "v"})
    assert parameters(shop) == {"k": "v"}
    altered(shop, parameters={"k": "w", "DO_NOT_UPDATE_STATS": "true"})
    assert parameters(shop) == {"k": "w"}
    altered(shop, parameters={"k": "x", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'})
    assert parameters(shop) == {"k": "x", "numFiles": "1", "totalSize": "3"}
    columns = '{"COLUMN_STATS":{"amount":"true"}}'
    altered(shop, says(STATS_GENERATED="TASK"), parameters={"COLUMN_STATS_ACCURATE": columns})
    assert parameters(shop)["COLUMN_STATS_ACCURATE"] == '{"BASIC_STATS":"true","COLUMN_STATS":{"amount":"true"}}'


def test_a_renamed_table_takes_its_folder_and_its_partitions_along(shop):
    shop.create_table(table_of())
    far = shop.location("far/b")
    shop.add_partitions([partition_of("a", "1"), partition_of("b", "2", location=far)])
    shop.write("shop.db/sales/ds=a/hour=1/file")
    created = shop.table().createTime
    altered(shop, tableName="Sold")
    assert shop.get_all_tables("shop") == ["sold"]
    found = shop.table("sold")
    assert (found.tableName, found.createTime) == ("sold", created)
    assert found.sd.location == shop.location("shop.db/sold")
    assert shop.tree("shop.db") == ["sold/", "sold/ds=a/", "sold/ds=a/hour=1/", "sold/ds=a/hour=1/file"]
    moved = shop.partition("a", "1", table="sold")
    assert (moved.dbName, moved.tableName) == ("shop", "sold")
    assert moved.sd.location == shop.location("shop.db/sold/ds=a/hour=1")
    assert shop.partition("b", "2", table="sold").sd.location == far


@pytest.mark.parametrize("table", ["file:{}/shop.db/sales", "file://{}/shop.db/sales/", "{}/shop.db/sales"])
def test_locations_follow_however_they_are_spelt(shop, table):
    """Tables and partitions that another program put into the store: what stands there was never qualified."""
    columns = [Column("ds", "string"), Column("hour", "int")]
    shop.store.create_table(Table("shop", "sales", partition_columns=columns, location=table.format(shop.root)))
    spelt = ["file:{}/shop.db/sales/1", "file://{}/shop.db//sales/2", "{}/shop.db/sales/3", "file:{}/shop.db/sales2"]
    parts = [Partition(("a", str(at)), location=one.format(shop.root)) for at, one in enumerate(spelt, start=1)]
    shop.store.add_partitions("shop", "sales", parts)
    shop.write("shop.db/sales/1/file")
    altered(shop, tableName="sold")
    found = [shop.partition("a", str(at), table="sold").sd.location for at in (1, 2, 3, 4)]
    assert found == [*(shop.location(f"shop.db/sold/{at}") for at in (1, 2, 3)), shop.location("shop.db/sales2")]
    assert shop.tree("shop.db") == ["sold/", "sold/1/", "sold/1/file"]


def test_a_table_moves_to_another_database(shop):
    shop.create_database(STORED.Database(name="attic"))
    shop.create_table(table_of())
    shop.add_partition(partition_of("a", "1"))
    altered(shop, dbName="attic")
    assert shop.get_all_tables("shop") == []
    assert shop.get_partition("attic", "sales", ["a", "1"]).sd.location == shop.location("attic.db/sales/ds=a/hour=1")
    assert shop.tree("attic.db") == ["sales/", "sales/ds=a/", "sales/ds=a/hour=1/"]


def test_a_table_moves_into_the_default_database_and_back(shop):
    shop.create_table(table_of())
    altered(shop, dbName="default", tableName="sold")
    assert shop.get_table("default", "sold").sd.location == shop.location("sold")
    table = shop.get_table("default", "sold")
    table.dbName = "shop"
    shop.alter_table("default", "sold", table)
    assert shop.table("sold").sd.location == shop.location("shop.db/sold")


def test_folders_of_external_tables_and_own_places_stay(shop, tmp_path):
    shop.create_table(external())
    shop.create_table(table_of("own", sd=storage(location=f"{tmp_path}/own")))
    altered(shop, tableName="sold")
    altered(shop, name="own", tableName="mine")
    assert shop.table("sold").sd.location == shop.location("shop.db/sales")
    assert shop.table("mine").sd.location == f"file:{tmp_path}/own"
    assert shop.tree("shop.db") == ["sales/"]


def test_folders_of_tables_that_hive_has_made_external_follow(shop):
    shop.create_table(table_of(tableType="EXTERNAL_TABLE", parameters=TRANSLATED))
    shop.create_table(table_of("purged", tableType="EXTERNAL_TABLE", parameters=PURGED))
    for name in ("sales", "purged"):
        shop.add_partition(partition_of("a", "1", table=name))
        altered(shop, name=name, tableName=f"{name}2")
    shop.create_table(table_of(tableType="EXTERNAL_TABLE", parameters=TRANSLATED))
    assert shop.get_partition("shop", "sales2", ["a", "1"]).sd.location == shop.location("shop.db/sales2/ds=a/hour=1")
    assert shop.table("purged2").sd.location == shop.location("shop.db/purged")
    folders = ["purged/", "purged/ds=a/", "purged/ds=a/hour=1/", "sales/", "sales2/", "sales2/ds=a/"]
    assert shop.tree("shop.db") == [*folders, "sales2/ds=a/hour=1/"]


def test_a_view_is_renamed(shop):
    shop.create_table(table_of(tableType="VIRTUAL_VIEW", partitionKeys=[]))
    altered(shop, tableName="sold")
    assert shop.get_all_tables("shop") == ["sold"]
    assert shop.tree() == ["shop.db/"]


def test_a_rename_with_a_new_location_moves_nothing(shop, tmp_path):
    shop.create_table(table_of())
    altered(shop, tableName="sold", location=f"{tmp_path}/new")
    assert shop.table("sold").sd.location == f"file:{tmp_path}/new"
    assert shop.tree("shop.db") == ["sales/"]


def test_a_table_is_not_renamed_onto_another(shop):
    shop.create_table(table_of())
    shop.create_table(table_of("sold"))
    shop.write("shop.db/sales/file")
    with pytest.raises(TYPES.InvalidOperationException, match=r"shop\.sold already exists"):
        altered(shop, tableName="sold")
    assert shop.tree("shop.db") == ["sales/", "sales/file", "sold/"]


def test_a_table_is_not_renamed_onto_somebody_s_files(shop):
    shop.create_table(table_of())
    shop.write("shop.db/sold/file")
    with pytest.raises(TYPES.MetaException, match="already exists"):
        altered(shop, tableName="sold")
    assert shop.table().sd.location == shop.location("shop.db/sales")
    assert shop.tree("shop.db") == ["sales/", "sold/", "sold/file"]


def test_a_table_is_not_moved_to_no_database(shop):
    shop.create_table(table_of())
    with pytest.raises(TYPES.InvalidOperationException, match="attic"):
        altered(shop, dbName="attic")
    assert shop.tree("shop.db") == ["sales/"]


def test_a_parameter_is_compared_and_set(shop):
    shop.create_table(table_of(parameters={"metadata_location": "v1"}))
    expected = says(expected_parameter_key="metadata_location", expected_parameter_value="v1")
    altered(shop, expected, parameters={"metadata_location": "v2"})
    assert parameters(shop) == {"metadata_location": "v2"}
    text = (
        "The table has been modified. The parameter value for key 'metadata_location' is 'v2'. "
        "The expected was value was 'v1'"
    )
    with pytest.raises(TYPES.MetaException) as caught:
        altered(shop, expected, parameters={"metadata_location": "v3"})
    assert caught.value.message == text
    with pytest.raises(TYPES.MetaException, match="New value for expected key metadata_location is not set"):
        altered(shop, expected, parameters={})
    assert parameters(shop) == {"metadata_location": "v2"}


def test_any_type_becomes_any_other_by_default(shop):
    """Table formats need it: they alter the table after they have changed their own columns."""
    shop.create_table(table_of(sd=storage(cols=[column("a"), column("b", "date")])))
    altered(shop, cols=[column("a", "int"), column("b", "struct<x:int>")])
    assert [one.type for one in shop.table().sd.cols] == ["int", "struct<x:int>"]
    assert shop.get_config_value(STRICT, "?") == "false"


STRICT = "hive.metastore.disallow.incompatible.col.type.changes"
NUMBERS = ["tinyint", "smallint", "int", "bigint", "decimal(10,2)", "float", "double"]
TEXTS = ["string", "varchar(5)", "varchar(9)", "char(5)"]
BECOMES = {
    **{kind: {*NUMBERS[place:], *TEXTS} for place, kind in enumerate(NUMBERS)},
    **{kind: {"double", *TEXTS} for kind in TEXTS},
    "decimal(5,0)": {"decimal(10,2)", "float", "double", *TEXTS},
    "date": {"date", *TEXTS},
    "timestamp": {"timestamp", *TEXTS},
    "void": {*NUMBERS, *TEXTS, "date", "timestamp", "boolean", "binary", "interval_year_month"},
    **{kind: {kind} for kind in ("boolean", "binary", "interval_year_month", "array<int>", "map<string,int>")},
    "struct<a:int>": {"struct<a:int>", "struct<A:int>"},
    "array<bigint>": set(),
}
"""Which type becomes which others, as a Hive Metastore 2.3.10 answered for each pair."""


def test_types_become_what_hive_lets_them():
    others = sorted(set().union(*BECOMES.values()))
    answers = {kind: {other for other in others if may_become(kind, other)} for kind in BECOMES}
    assert answers == BECOMES


def test_a_strict_server_refuses_types_as_hive_does(shop):
    strict = Writing(shop.store, shop.root, strict_types=True)
    assert strict.get_config_value(STRICT, "?") == "true"
    strict.create_table(table_of(sd=storage(cols=[column("a", "int"), column("b", "int"), column("c", "int")])))
    before = strict.table()
    said = "The following columns have types incompatible with the existing columns in their respective positions :\n"
    for columns, names in (
        ([column("A", "date"), column("b", "bigint"), column("c", "tinyint")], "A,c"),
        ([column("x", "boolean"), column("a", "int"), column("b", "int")], "x"),
    ):
        for changes in ({}, {"tableName": "sold"}):
            with pytest.raises(TYPES.InvalidOperationException) as caught:
                altered(strict, cols=columns, **changes)
            assert caught.value.message == said + names
    assert strict.table() == before
    altered(strict, cols=[column("b", "bigint")])
    assert [one.name for one in strict.table().sd.cols] == ["b"]
    strict.create_table(table_of("seen", tableType="VIRTUAL_VIEW", partitionKeys=[], viewExpandedText="select 1"))
    altered(strict, name="seen", cols=[column("amount", "date")])
    assert strict.table("seen").sd.cols[0].type == "date"


def test_of_many_that_compare_and_set_at_once_one_wins_each_round(shop):
    """Each writer counts up by compare-and-set, again where another was faster, as Iceberg commits."""
    shop.create_table(table_of(partitionKeys=[], parameters={"at": "0"}))
    rounds, writers = 5, 4

    def count_up():
        mine = Direct(shop.endpoint)
        done = 0
        while done < rounds:
            table = mine.get_table("shop", "sales")
            at = table.parameters["at"]
            table.parameters["at"] = str(int(at) + 1)
            expected = says(expected_parameter_key="at", expected_parameter_value=at, DO_NOT_UPDATE_STATS="true")
            try:
                mine.alter_table_with_environment_context("shop", "sales", table, expected)
            except TYPES.MetaException:
                continue
            done += 1

    threads = [Thread(target=count_up) for _ in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert parameters(shop)["at"] == str(rounds * writers)
