"""Column statistics through the endpoint: written, read, made one, merged, deleted, gone with what they are about."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.endpoint import metastore
from hbstore.model.service_objects import ColumnStatistic
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_step import TableStep
from hbstore.warehouse.accurate_columns import mark_table
from hbstore.warehouse.service import Service
from tests.interleaved import Between
from tests.metastore.asking import add, table_of
from tests.metastore.client import STORED, TYPES
from tests.metastore.direct import Direct

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
    asking.update_partition_column_statistics(of_partition(1, double(0.5, 3.0, 2, 9)))
    found = asking.get_partitions_statistics_req(asked(0, 1, 2)).partStats
    assert {name: bounds(one) for name, (one,) in found.items()} == {
        names(0)[0]: (1.0, 5.0, 1, 4),
        names(1)[0]: (0.5, 3.0, 2, 9),
    }
    others = TYPES.PartitionsStatsRequest("shop", "sales", ["amount"], ["<UNPARTITIONED>", "", "ds=a", names(0)[0]])
    assert list(asking.get_partitions_statistics_req(others).partStats) == names(0)
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


def test_statistics_are_added_only_to_accurate_ones(asking):
    """Else those of one INSERT would be taken for those of all rows, as after LOAD DATA; as HMS since 3.0."""
    old, new = double(1.0, 5.0, 1, 4), double(0.0, 3.0, 1, 1)
    for stored in (of_table(old, double(1, 2, column="hour")), of_partition(0, old), of_partition(1, old)):
        asking.set_aggr_stats_for(TYPES.SetPartitionsStatsRequest([stored]))
    table = asking.store.get_table("shop", "sales")
    asking.store.alter_table(replace(table, parameters={"COLUMN_STATS_ACCURATE": json.dumps(marked("hour"))}))
    asking.store.alter_partitions("shop", "sales", [Partition([DAY, "0"])])
    more = [of_table(new, double(0, 1, column="hour"))], [of_partition(0, new), of_partition(1, new)]
    for statistics in (*more, [of_partition(2, new)]):
        asking.set_aggr_stats_for(TYPES.SetPartitionsStatsRequest(statistics, needMerge=True))
    amount, hour = asking.get_table_statistics_req(
        TYPES.TableStatsRequest("shop", "sales", ["amount", "hour"])
    ).tableStats
    assert (bounds(amount), bounds(hour), of(asking)) == ((1.0, 5.0, 1, 4), (0.0, 2.0, 0, 1), marked("hour"))
    found = asking.get_partitions_statistics_req(asked(0, 1, 2)).partStats
    assert {name: bounds(one) for name, (one,) in found.items()} == {
        names(0)[0]: (1.0, 5.0, 1, 4),
        names(1)[0]: (0.0, 5.0, 2, 4),
    }
    assert [of(asking, hour) for hour in range(3)] == [None, marked("amount"), None]
    with pytest.raises(TYPES.NoSuchObjectException):
        asking.set_aggr_stats_for(TYPES.SetPartitionsStatsRequest([of_partition(9, new)], needMerge=True))


def test_a_partitions_statistics_are_not_taken_for_the_tables(asking):
    mixed = [of_table(double(1.0, 2.0)), of_partition(0, double(3.0, 4.0))]
    with pytest.raises(TYPES.MetaException, match="only 1 ColumnStatistics for table's column stats, but find 2"):
        asking.set_aggr_stats_for(TYPES.SetPartitionsStatsRequest(mixed))
    with pytest.raises(TYPES.NoSuchObjectException):
        asking.get_table_column_statistics("shop", "sales", "amount")


def test_what_is_not_there_has_none(asking):
    with pytest.raises(TYPES.NoSuchObjectException):
        asking.update_partition_column_statistics(of_partition(7, double(1.0, 5.0)))
    with pytest.raises(TYPES.MetaException, match="Column other doesn't exist"):
        asking.update_table_column_statistics(of_table(double(1.0, 5.0, column="other")))
    with pytest.raises(TYPES.NoSuchObjectException):
        asking.get_table_statistics_req(TYPES.TableStatsRequest("shop", "nothing", ["amount"]))
    assert asking.get_aggr_stats_for(asked(0, 1)).partsFound == 0


def test_partitions_may_have_statistics_of_columns_that_the_table_lacks(asking):
    """As in a Hive Metastore 4.0.1: partitions have columns of their own. A 2.3.10 keeps and does not mark them."""
    asking.update_partition_column_statistics(of_partition(0, double(1.0, 5.0, column="old"), double(2.0, 6.0)))
    more = [of_partition(1, double(3.0, 7.0, column="old"))]
    asking.set_aggr_stats_for(TYPES.SetPartitionsStatsRequest(more))
    found = asking.get_partitions_statistics_req(asked(0, 1, columns=("old", "amount"))).partStats
    assert {name: [(one.colName, bounds(one)[0]) for one in some] for name, some in found.items()} == {
        names(0)[0]: [("amount", 2.0), ("old", 1.0)],
        names(1)[0]: [("old", 3.0)],
    }
    assert [of(asking, hour) for hour in range(3)] == [marked("amount", "old"), marked("old"), None]
    with pytest.raises(TYPES.MetaException, match="Column old doesn't exist"):
        asking.update_table_column_statistics(of_table(double(1.0, 5.0, column="old")))


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


# Which columns are said to be accurate: as HMS 2.3.10 does


def accurate(parameters):
    text = parameters.get("COLUMN_STATS_ACCURATE")
    return None if text is None else json.loads(text)


def of(asking, hour=None):
    if hour is None:
        return accurate(asking.get_table("shop", "sales").parameters)
    return accurate(asking.get_partition("shop", "sales", [DAY, str(hour)]).parameters)


def marked(*columns):
    return {"COLUMN_STATS": dict.fromkeys(columns, "true")}


def test_columns_with_statistics_are_marked_as_accurate(asking):
    asking.update_table_column_statistics(of_table(double(1, 2, column="AMOUNT")))
    assert of(asking) == marked("amount")
    asking.update_partition_column_statistics(of_partition(0, double(1, 2)))
    assert of(asking, 0) == marked("amount")
    asking.set_aggr_stats_for(
        TYPES.SetPartitionsStatsRequest([of_partition(hour, double(1, 2, column="hour")) for hour in (0, 1)])
    )
    assert [of(asking, hour) for hour in range(3)] == [marked("amount", "hour"), marked("hour"), None]
    asking.set_aggr_stats_for(TYPES.SetPartitionsStatsRequest([of_table(double(1, 2, column="hour"))]))
    assert of(asking) == marked("amount", "hour")
    with pytest.raises(TYPES.MetaException):
        asking.update_table_column_statistics(of_table(double(1, 2, column="nothing")))
    assert of(asking) == marked("amount", "hour")
    asking.delete_table_column_statistics("shop", "sales", "amount")
    assert of(asking) == marked("amount", "hour")


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ('{"BASIC_STATS":"true"}', '{"BASIC_STATS":"true","COLUMN_STATS":{"amount":"true"}}'),
        ('{"COLUMN_STATS":{"z":"false"}}', '{"COLUMN_STATS":{"amount":"true","z":"false"}}'),
        ('{"x":"y","BASIC_STATS":"false"}', '{"COLUMN_STATS":{"amount":"true"}}'),
        ("true", '{"BASIC_STATS":"true","COLUMN_STATS":{"amount":"true"}}'),
        ("junk", '{"COLUMN_STATS":{"amount":"true"}}'),
        ('{"COLUMN_STATS":"x"}', '{"COLUMN_STATS":{"amount":"true"}}'),
        ("[]", '{"COLUMN_STATS":{"amount":"true"}}'),
    ],
)
def test_marks_are_added_to_those_before(asking, text, becomes):
    table = asking.store.get_table("shop", "sales")
    asking.store.alter_table(replace(table, parameters={"COLUMN_STATS_ACCURATE": text, "owner": "me"}))
    asking.update_table_column_statistics(of_table(double(1, 2)))
    assert asking.get_table("shop", "sales").parameters == {"COLUMN_STATS_ACCURATE": becomes, "owner": "me"}


def test_a_mark_needs_the_statistics(asking):
    mark_table(asking.store, asking.store.table_row("shop", "sales"), ["amount"])
    assert of(asking) is None


@pytest.mark.parametrize("change", ["drop", "drop and add", "alter"])
def test_a_partition_that_others_change_is_marked_with_its_statistics_or_not_at_all(change, monkeypatch):
    """At each step of the call."""
    for at in range(50):
        store = connect("memory://?atomic=false")
        asking = Direct(metastore(Service(store, Warehouse("/nowhere")), lambda _: None))
        store.create_database("shop")
        store.create_table(Table("shop", "sales", [Column("ds", "string")], [Column("amount", "double")]))
        store.add_partitions("shop", "sales", [Partition(("a",), parameters={"n": "1"})])

        def renumber(step):
            (there,) = step.partitions([("a",)])
            step.change(put=[replace(there, parameters={**there.parameters, "n": "2"})])

        def by_others(other=PartitionStore(store.rows)):  # noqa: B008
            if change == "alter":
                other.change("shop.sales", renumber)
            else:
                other.drop_partitions("shop", "sales", [("a",)])
                other.add_partitions("shop", "sales", [Partition(("a",))] if change == "drop and add" else [])

        between = Between(at, by_others)
        with monkeypatch.context() as patch:
            for call in ("get", "multi_get", "compare_and_put", "write"):
                patch.setattr(type(store.rows), call, between.around(getattr(type(store.rows), call)))
            with suppress(TYPES.NoSuchObjectException, TYPES.InvalidInputException):
                description = TYPES.ColumnStatisticsDesc(False, "shop", "sales", partName="ds=a")
                asking.update_partition_column_statistics(TYPES.ColumnStatistics(description, [double(1, 2)]))
        if between.left >= 0:
            break
        for partition in store.get_partitions_by_filter("shop", "sales", None):
            there = store.column_statistics.read_partitions("shop", "sales", [("a",)])
            assert bool(accurate(partition.parameters)) is bool(there)
            assert change != "alter" or partition.parameters["n"] == "2"
    assert at > 5


def test_a_mark_takes_nothing_from_a_change_of_the_same_moment(asking, monkeypatch):
    """Such as a commit of Iceberg's, which is one parameter."""
    store, altering = asking.store, TableStep.alter
    others = iter(["1", "2"])

    def racing(step, table):
        value = next(others, None)
        if value is not None:
            now = store.get_table("shop", "sales")
            store.alter_table(replace(now, parameters={**now.parameters, "metadata_location": value}))
        altering(step, table)

    store.column_statistics.write_table("shop", "sales", [ColumnStatistic("amount", "double", b"")])
    monkeypatch.setattr(TableStep, "alter", racing)
    mark_table(asking.store, asking.store.table_row("shop", "sales"), ["amount"])
    monkeypatch.undo()
    found = asking.get_table("shop", "sales").parameters
    assert (found["metadata_location"], accurate(found)) == ("2", marked("amount"))


def columns_with_statistics(asking, hour=None):
    if hour is None:
        found = asking.get_table_statistics_req(TYPES.TableStatsRequest("shop", "sales", ["amount", "hour"])).tableStats
    else:
        reply = asking.get_partitions_statistics_req(asked(hour, columns=("amount", "hour")))
        found = reply.partStats.get(*names(hour), [])
    return [one.colName for one in found]


@pytest.mark.parametrize("cascade", [False, True])
def test_a_column_that_is_replaced_loses_its_statistics(asking, cascade):
    """Else Hive would answer the new column's min and max by the old one's."""
    asking.update_table_column_statistics(of_table(double(1, 2), double(1, 2, column="hour")))
    for hour in (0, 1):
        asking.update_partition_column_statistics(of_partition(hour, double(1, 2), double(1, 2, column="hour")))
    table = asking.get_table("shop", "sales")
    table.sd.cols[0].comment = "only a comment"
    asking.alter_table_with_cascade("shop", "sales", table, cascade)
    assert columns_with_statistics(asking) == ["amount", "hour"]
    table = asking.get_table("shop", "sales")
    table.sd.cols = [STORED.FieldSchema("amount", "decimal(10,2)")]
    asking.alter_table_with_cascade("shop", "sales", table, cascade)
    assert (columns_with_statistics(asking), of(asking)) == (["hour"], marked("hour"))
    kept = ["hour"] if cascade else ["amount", "hour"]
    assert [columns_with_statistics(asking, hour) for hour in (0, 1)] == [kept, kept]
    assert of(asking, 0) == of(asking, 1) == marked(*kept)


def test_a_partition_whose_column_is_replaced_loses_its_statistics(asking):
    add_columns = asking.get_partition("shop", "sales", [DAY, "0"])
    add_columns.sd = asking.get_table("shop", "sales").sd
    asking.alter_partition("shop", "sales", add_columns)
    asking.update_partition_column_statistics(of_partition(0, double(1, 2), double(1, 2, column="hour")))
    changed = asking.get_partition("shop", "sales", [DAY, "0"])
    changed.sd.cols = [STORED.FieldSchema("amount", "string")]
    asking.alter_partition_with_environment_context(
        "shop", "sales", changed, TYPES.EnvironmentContext({"DO_NOT_UPDATE_STATS": "true"})
    )
    assert (columns_with_statistics(asking, 0), of(asking, 0)) == (["hour"], marked("hour"))


OLD = ColumnStatistic("amount", "double", b"")


def alter_table(asking):
    table = asking.get_table("shop", "sales")
    table.sd.cols = [STORED.FieldSchema("amount", "string")]
    asking.alter_table_with_cascade("shop", "sales", table, True)


def alter_partition(asking):
    partition = asking.get_partition("shop", "sales", ["a"])
    partition.sd.cols = [STORED.FieldSchema("amount", "string")]
    asking.alter_partition("shop", "sales", partition)


def analyze(asking):
    asking.update_table_column_statistics(of_table(double(1, 2)))


@pytest.mark.parametrize("call", [alter_table, alter_partition, analyze])
def test_a_table_that_comes_to_the_name_meanwhile_keeps_its_statistics(call, monkeypatch):
    """At each step of the call. A table that is not altered has the statistics that it had, marked as they were."""
    mark = {} if call is analyze else {"COLUMN_STATS_ACCURATE": json.dumps(marked("amount"))}
    for at in range(200):
        store = connect("memory://?atomic=false")
        asking = Direct(metastore(Service(store, Warehouse("/nowhere")), lambda _: None))
        store.create_database("shop")
        other, columns = PartitionStore(store.rows), [Column("amount", "double")]
        for name in ("sales", "next"):
            table = Table("shop", name, [Column("ds", "string")], columns, location=f"/{name}", parameters=mark)
            store.create_table(table)
            one = Partition(
                ["a"], location=f"/{name}/a", parameters=mark, storage=replace(table.storage, columns=columns)
            )
            store.add_partitions("shop", name, [one])
            store.column_statistics.write_table("shop", name, [OLD])
            store.column_statistics.write_partitions("shop", name, {("a",): [OLD]})

        def swap(other=other):
            for old, new in (("sales", "past"), ("next", "sales")):
                other.rename_table("shop", old, replace(other.get_table("shop", old), name=new))

        between = Between(at, swap)
        with monkeypatch.context() as patch:
            for step in ("multi_get", "compare_and_put"):
                patch.setattr(type(store.rows), step, between.around(getattr(type(store.rows), step)))
            with suppress(TYPES.InvalidOperationException, TYPES.MetaException):
                call(asking)
        if between.left >= 0:
            break
        table, partition = other.get_table("shop", "sales"), other.get_partition("shop", "sales", ["a"])
        statistics = other.column_statistics.read_table("shop", "sales")
        if list(table.columns) == columns and statistics in ([], [OLD]):
            assert (statistics, table.parameters) == ([OLD], mark)
        if list(partition.storage.columns) == columns:
            assert other.column_statistics.read_partitions("shop", "sales", [("a",)]) == {("a",): [OLD]}
            assert partition.parameters == mark
    assert at > 5
