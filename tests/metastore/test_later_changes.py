"""Changes that clients of Hive 4 make by requests which say more than the older methods' arguments."""

from __future__ import annotations

import pytest

from tests.metastore.client import TYPES
from tests.metastore.every_method import DATABASE, fill, statistics
from tests.metastore.writing import column, partition_of, storage, table_of

T = "sales"
PLACE = {"dbName": DATABASE, "tableName": T}
NAME = "ds=a/hour=1"


@pytest.fixture
def filled(shop):
    fill(shop)
    return shop


def test_a_partition_is_appended_by_name_or_by_values(filled):
    one = filled.append_partition_req(TYPES.AppendPartitionsRequest(**PLACE, name="hour=1/ds=b"))
    other = filled.append_partition_req(TYPES.AppendPartitionsRequest(**PLACE, partVals=["b", "2"]))
    assert (one.values, other.values) == (["b", "1"], ["b", "2"])
    assert "shop.db/sales/ds=b/hour=2/" in filled.tree()
    for again in ({"name": "ds=b/hour=1"}, {"partVals": ["b", "2"]}):
        with pytest.raises(TYPES.AlreadyExistsException):
            filled.append_partition_req(TYPES.AppendPartitionsRequest(**PLACE, **again))
    with pytest.raises(TYPES.InvalidObjectException):
        filled.append_partition_req(TYPES.AppendPartitionsRequest(**PLACE, name="ds=b"))
    with pytest.raises(TYPES.InvalidObjectException):
        filled.append_partition_req(TYPES.AppendPartitionsRequest(DATABASE, "nope", partVals=["b", "1"]))
    with pytest.raises(TYPES.MetaException):
        filled.append_partition_req(TYPES.AppendPartitionsRequest(**PLACE))


def test_a_partition_is_dropped_by_name_or_by_values(filled):
    place = {"dbName": DATABASE, "tblName": T}
    assert filled.drop_partition_req(TYPES.DropPartitionRequest(**place, partName=NAME, deleteData=True))
    assert "shop.db/sales/ds=a/hour=1/" not in filled.tree()
    assert filled.drop_partition_req(TYPES.DropPartitionRequest(**place, partVals=["a", "2"], deleteData=False))
    assert "shop.db/sales/ds=a/hour=2/" in filled.tree()
    assert filled.names() == []
    with pytest.raises(TYPES.NoSuchObjectException):
        filled.drop_partition_req(TYPES.DropPartitionRequest(**place, partName=NAME))
    with pytest.raises(TYPES.NoSuchObjectException):
        filled.drop_partition_req(TYPES.DropPartitionRequest(**place, partName="nope"))
    with pytest.raises(TYPES.MetaException):
        filled.drop_partition_req(TYPES.DropPartitionRequest(**place))


def test_columns_beside_partitions_become_theirs(filled):
    bare = storage(cols=None)
    shared = [column("amount", "double"), column("note")]
    new = [partition_of("b", "1", sd=bare), partition_of("b", "2", sd=bare)]
    request = TYPES.AddPartitionsRequest(DATABASE, T, new, ifNotExists=False)
    request.skipColumnSchemaForPartition, request.partitionColSchema = True, shared
    answer = filled.add_partitions_req(request)
    assert answer.partitionColSchema == shared
    assert [one.sd.cols for one in answer.partitions] == [shared, shared]
    more = [*shared, column("tax", "double")]
    changed = TYPES.AlterPartitionsRequest(**PLACE, partitions=new[:1])
    changed.skipColumnSchemaForPartition, changed.partitionColSchema = True, more
    assert filled.alter_partitions_req(changed) == TYPES.AlterPartitionsResponse()
    assert filled.partition("b", "1").sd.cols == more
    assert filled.partition("b", "2").sd.cols == shared
    filled.alter_partitions_req(TYPES.AlterPartitionsRequest(**PLACE, partitions=[partition_of("b", "1")]))
    assert filled.partition("b", "1").sd.cols == storage().cols


def test_partitions_are_altered_all_or_none(filled):
    changed = partition_of("a", "1", parameters={"k": "v"})
    with pytest.raises(TYPES.InvalidOperationException):
        filled.alter_partitions_req(TYPES.AlterPartitionsRequest(**PLACE, partitions=[changed, partition_of("z", "1")]))
    assert "k" not in filled.partition("a", "1").parameters
    with pytest.raises(TYPES.InvalidOperationException):
        filled.alter_partitions_req(TYPES.AlterPartitionsRequest(DATABASE, "nope", [changed]))
    filled.alter_partitions_req(TYPES.AlterPartitionsRequest(**PLACE, partitions=[changed]))
    assert filled.partition("a", "1").parameters["k"] == "v"


def test_a_table_is_created_or_only_told_how_it_would_be(filled):
    made = TYPES.CreateTableRequest(table_of("new", sd=storage(cols=[column("Amount", "double")])))
    told = filled.translate_table_dryrun(made)
    assert told.sd.location == filled.location("shop.db/new")
    assert told.sd.cols == [column("amount", "double")]
    assert filled.get_all_tables(DATABASE) == [T]
    assert "shop.db/new/" not in filled.tree()
    filled.create_table_req(made)
    assert filled.table("new").sd.location == told.sd.location
    assert "shop.db/new/" in filled.tree()
    for method in (filled.create_table_req, filled.translate_table_dryrun):
        with pytest.raises(TYPES.AlreadyExistsException):
            method(made)
        with pytest.raises(TYPES.MetaException, match="the request has no table"):
            method(TYPES.CreateTableRequest())
        with pytest.raises(TYPES.InvalidObjectException):
            method(TYPES.CreateTableRequest(table_of("x", sd=storage(cols=[column("a", "nope")]))))


def test_tables_by_pattern(filled):
    filled.create_table(table_of("sold"))
    filled.create_table(table_of("flights"))
    found = filled.get_tables_ext(TYPES.GetTablesExtRequest(DATABASE, "s*"))
    assert [one.tblName for one in found] == ["sales", "sold"]
    assert [one.tblName for one in filled.get_tables_ext(TYPES.GetTablesExtRequest(DATABASE, "*", 1))] == ["flights"]
    assert filled.get_tables_ext(TYPES.GetTablesExtRequest(DATABASE, "*", 0)) == []
    assert filled.get_tables_ext(TYPES.GetTablesExtRequest("nope", "*")) == []
    request = TYPES.GetTablesRequest(DATABASE, tablesPattern="s*")
    assert [one.tableName for one in filled.get_table_objects_by_name_req(request).tables] == ["sales", "sold"]
    (meta,) = filled.get_table_meta(DATABASE, "sales", [])
    assert (meta.catName, meta.ownerName) == ("hive", "ann")


def test_materialized_views_that_queries_may_read(filled):
    view = {"tableType": "MATERIALIZED_VIEW", "partitionKeys": []}
    filled.create_table(table_of("used", rewriteEnabled=True, **view))
    filled.create_table(table_of("unused", rewriteEnabled=False, **view))
    assert filled.get_materialized_views_for_rewriting(DATABASE) == ["used"]
    assert filled.get_materialized_views_for_rewriting("nope") == []
    (found,) = filled.get_all_materialized_view_objects_for_rewriting()
    assert (found.dbName, found.tableName) == (DATABASE, "used")


def numbers(found):
    return [one.statsData.doubleStats.numDVs for one in found]


def test_statistics_are_written_added_and_removed(filled):
    update = TYPES.SetPartitionsStatsRequest([statistics(DATABASE)])
    assert filled.update_table_column_statistics_req(update).result is True
    one, other = statistics(DATABASE, NAME), statistics(DATABASE, "ds=a/hour=2")
    both = TYPES.SetPartitionsStatsRequest([one, other])
    assert filled.update_partition_column_statistics_req(both).result is True
    one.statsObj[0].statsData.doubleStats.numNulls = 5
    merged = TYPES.SetPartitionsStatsRequest([one], needMerge=True)
    filled.update_partition_column_statistics_req(merged)
    filled.update_partition_column_statistics_req(merged)
    asked = TYPES.PartitionsStatsRequest(DATABASE, T, ["amount"], [NAME, "ds=a/hour=2"])
    found = filled.get_partitions_statistics_req(asked).partStats
    assert {name: some[0].statsData.doubleStats.numNulls for name, some in found.items()} == {
        NAME: 10,
        "ds=a/hour=2": 0,
    }
    place = {"db_name": DATABASE, "tbl_name": T}
    assert filled.delete_column_statistics_req(
        TYPES.DeleteColumnStatisticsRequest(**place, part_names=[NAME], col_names=["amount"])
    )
    assert list(filled.get_partitions_statistics_req(asked).partStats) == ["ds=a/hour=2"]
    assert filled.delete_column_statistics_req(TYPES.DeleteColumnStatisticsRequest(**place))
    assert filled.get_partitions_statistics_req(asked).partStats == {}
    assert filled.get_table_column_statistics(DATABASE, T, "amount") is not None
    assert filled.delete_column_statistics_req(TYPES.DeleteColumnStatisticsRequest(**place, tableLevel=True))
    for gone in ({}, {"tableLevel": True}, {"part_names": []}):
        with pytest.raises(TYPES.NoSuchObjectException):
            filled.delete_column_statistics_req(TYPES.DeleteColumnStatisticsRequest(**place, **gone))
    with pytest.raises(TYPES.NoSuchObjectException):
        filled.update_table_column_statistics_req(TYPES.SetPartitionsStatsRequest([absent()]))


def absent():
    made = statistics(DATABASE)
    made.statsDesc.tableName = "nope"
    return made


def test_statistics_of_timestamps_and_histograms_are_kept(filled):
    when = {"lowValue": TYPES.Timestamp(5), "highValue": TYPES.Timestamp(9), "numNulls": 1, "numDVs": 3}
    data = TYPES.ColumnStatisticsData(timestampStats=TYPES.TimestampColumnStatsData(**when, histogram=b"\1\2"))
    about = TYPES.ColumnStatisticsDesc(True, DATABASE, T)
    given = TYPES.ColumnStatistics(about, [TYPES.ColumnStatisticsObj("amount", "timestamp", data)])
    filled.update_table_column_statistics(given)
    assert filled.get_table_column_statistics(DATABASE, T, "amount").statsObj[0].statsData == data
    later = TYPES.TimestampColumnStatsData(**{**when, "highValue": TYPES.Timestamp(12), "lowValue": None})
    again = TYPES.ColumnStatisticsData(timestampStats=later)
    update = TYPES.SetPartitionsStatsRequest(
        [TYPES.ColumnStatistics(about, [TYPES.ColumnStatisticsObj("amount", "timestamp", again)])], needMerge=True
    )
    filled.update_table_column_statistics_req(update)
    (merged,) = filled.get_table_column_statistics(DATABASE, T, "amount").statsObj
    found = merged.statsData.timestampStats
    assert (found.lowValue.secondsSinceEpoch, found.highValue.secondsSinceEpoch, found.numNulls) == (5, 12, 2)
