"""Column statistics through the endpoint: written, read, made one, merged, deleted, gone with what they are about."""

from __future__ import annotations

import pytest

from hbstore import Partition
from tests.metastore.asking import add, table_of
from tests.metastore.client import TYPES

SALES = table_of("sales", ds="date", hour="int")
DAY = "2013-01-01"


@pytest.fixture
def asking(asking):
    add(asking, SALES, [(DAY, str(hour)) for hour in range(3)])
    return asking


def double(low, high, nulls=0, distinct=1, column="amount"):
    data = TYPES.DoubleColumnStatsData(
        lowValue=low, highValue=high, numNulls=nulls, numDVs=distinct, bitVectors=b"\xff"
    )
    return TYPES.ColumnStatisticsObj(
        colName=column, colType="double", statsData=TYPES.ColumnStatisticsData(doubleStats=data)
    )


def of_table(*objects):
    desc = TYPES.ColumnStatisticsDesc(isTblLevel=True, dbName="shop", tableName="sales")
    return TYPES.ColumnStatistics(statsDesc=desc, statsObj=list(objects))


def of_partition(hour, *objects):
    name = f"ds={DAY}/hour={hour}"
    desc = TYPES.ColumnStatisticsDesc(isTblLevel=False, dbName="shop", tableName="sales", partName=name)
    return TYPES.ColumnStatistics(statsDesc=desc, statsObj=list(objects))


def bounds(found):
    data = found.statsData.doubleStats
    return data.lowValue, data.highValue, data.numNulls, data.numDVs


def names(*hours):
    return [f"ds={DAY}/hour={hour}" for hour in hours]


def asked(*hours, columns=("amount",)):
    return TYPES.PartitionsStatsRequest("shop", "sales", list(columns), names(*hours))


def test_a_tables_statistics(asking):
    assert asking.update_table_column_statistics(of_table(double(1.5, 9.0, 2, 7)))
    found = asking.get_table_column_statistics("shop", "sales", "AMOUNT")
    assert bounds(found.statsObj[0]) == (1.5, 9.0, 2, 7)
    assert found.statsObj[0].statsData.doubleStats.bitVectors == b"\xff"
    assert (found.statsDesc.isTblLevel, found.statsDesc.tableName) == (True, "sales")
    assert found.statsDesc.lastAnalyzed > 1_700_000_000
    request = TYPES.TableStatsRequest("@hive#shop", "sales", ["amount", "other"])
    assert [bounds(one) for one in asking.get_table_statistics_req(request).tableStats] == [(1.5, 9.0, 2, 7)]
    assert asking.delete_table_column_statistics("shop", "sales", "amount")
    for method in (asking.get_table_column_statistics, asking.delete_table_column_statistics):
        with pytest.raises(TYPES.NoSuchObjectException):
            method("shop", "sales", "amount")


def test_partitions_statistics_and_their_sum(asking):
    asking.update_partition_column_statistics(of_partition(0, double(1.0, 5.0, 1, 4)))
    asking.update_partition_column_statistics(of_partition("01", double(0.5, 3.0, 2, 9)))
    found = asking.get_partitions_statistics_req(asked(0, 1, 2)).partStats
    assert {name: bounds(one) for name, (one,) in found.items()} == {
        names(0)[0]: (1.0, 5.0, 1, 4),
        names(1)[0]: (0.5, 3.0, 2, 9),
    }
    made = asking.get_aggr_stats_for(asked(0, 1, 2))
    assert made.partsFound == 2
    assert bounds(made.colStats[0]) == (0.5, 5.0, 3, 9)
    one = asking.get_partition_column_statistics("shop", "sales", names(1)[0], "amount")
    assert (one.statsDesc.partName, bounds(one.statsObj[0])) == (names(1)[0], (0.5, 3.0, 2, 9))
    assert asking.delete_partition_column_statistics("shop", "sales", names(1)[0], None)
    with pytest.raises(TYPES.NoSuchObjectException):
        asking.get_partition_column_statistics("shop", "sales", names(1)[0], "amount")


def test_many_partitions_at_once_replaced_or_merged(asking):
    given = [of_partition(0, double(1.0, 5.0, 1, 4)), of_partition(1, double(2.0, 6.0, 0, 2))]
    assert asking.set_aggr_stats_for(TYPES.SetPartitionsStatsRequest(given))
    more = [of_partition(0, double(0.0, 3.0, 1, 1))]
    asking.set_aggr_stats_for(TYPES.SetPartitionsStatsRequest(more, needMerge=True))
    found = asking.get_partitions_statistics_req(asked(0, 1)).partStats
    assert [bounds(found[name][0]) for name in names(0, 1)] == [(0.0, 5.0, 2, 4), (2.0, 6.0, 0, 2)]
    asking.set_aggr_stats_for(TYPES.SetPartitionsStatsRequest(more))
    assert bounds(asking.get_partitions_statistics_req(asked(0)).partStats[names(0)[0]][0]) == (0.0, 3.0, 1, 1)
    asking.set_aggr_stats_for(TYPES.SetPartitionsStatsRequest([of_table(double(1.0, 2.0))]))
    assert bounds(asking.get_table_column_statistics("shop", "sales", "amount").statsObj[0]) == (1.0, 2.0, 0, 1)


def test_what_is_not_there_has_none(asking):
    with pytest.raises(TYPES.NoSuchObjectException):
        asking.update_partition_column_statistics(of_partition(7, double(1.0, 5.0)))
    with pytest.raises(TYPES.MetaException, match="Column other doesn't exist"):
        asking.update_table_column_statistics(of_table(double(1.0, 5.0, column="other")))
    with pytest.raises(TYPES.NoSuchObjectException):
        asking.get_table_statistics_req(TYPES.TableStatsRequest("shop", "nothing", ["amount"]))
    assert asking.get_aggr_stats_for(asked(0, 1)).partsFound == 0


def test_a_dropped_partitions_statistics_are_not_its_successors(asking):
    asking.update_partition_column_statistics(of_partition(0, double(1.0, 5.0)))
    asking.store.drop_partitions("shop", "sales", [(DAY, "0")])
    asking.store.add_partitions("shop", "sales", [Partition((DAY, "0"))])
    assert asking.get_partitions_statistics_req(asked(0)).partStats == {}


def test_a_dropped_tables_statistics_are_not_its_successors(asking):
    asking.update_table_column_statistics(of_table(double(1.5, 9.0)))
    asking.store.drop_table("shop", "sales")
    asking.store.create_table(SALES)
    assert asking.get_table_statistics_req(TYPES.TableStatsRequest("shop", "sales", ["amount"])).tableStats == []
