"""What Flink's Hive catalog asks a metastore: pruning by get_part_specs_by_filter, and questions of its own kind."""

from __future__ import annotations

import pytest

from tests.metastore.client import STORED, TYPES, client
from tests.metastore.clients.conftest import BACKENDS
from tests.metastore.writing import column, partition_of, says, storage, table_of

DATABASE = "flink"
DAYS = [f"2026-01-{day:02}" for day in range(1, 6)]
HOURS = range(4)
FILTERS = {
    "(ds = '2026-01-03')": lambda ds, _: ds == "2026-01-03",
    "((ds = '2026-01-03') or (ds = '2026-01-04')) and ((hr = 0) or (hr = 2))": lambda ds, hr: (
        ds in {"2026-01-03", "2026-01-04"} and hr in {0, 2}
    ),
    "(ds <> '2026-01-03')": lambda ds, _: ds != "2026-01-03",
    "(ds <> '2026-01-03') and (hr <> 1)": lambda ds, hr: ds != "2026-01-03" and hr != 1,
    "((ds >= '2026-01-02') and (ds < '2026-01-04')) and (hr > 1)": lambda ds, hr: (
        "2026-01-02" <= ds < "2026-01-04" and hr > 1
    ),
    "(hr <= 0) or (2 < hr)": lambda _, hr: hr <= 0 or hr > 2,
    "(ds = 'nothing')": lambda *_: False,
}


def of_flink(struct):
    """A struct of another test's database in this one."""
    struct.dbName = DATABASE
    return struct


def name(day, hour):
    return f"ds={day}/hr={hour}"


@pytest.fixture
def flink(server):
    """A connection, as Flink has it: one for the catalog's life."""
    with client(server.port) as metastore:
        metastore.set_ugi("ann", ["staff"])
        metastore.create_database(STORED.Database(name=DATABASE, description="of flink", parameters={}))
        keys = [column("ds"), column("hr", "int")]
        table = of_flink(table_of("logs", partitionKeys=keys, parameters={"is_generic": "false"}))
        metastore.create_table_with_environment_context(table, None)
        for day in DAYS:
            for hour in HOURS:
                made = of_flink(partition_of(day, str(hour), table="logs"))
                metastore.add_partition_with_environment_context(made, None)
        yield metastore
        metastore.drop_database(DATABASE, True, True)
        metastore.shutdown()


@pytest.mark.parametrize("server", BACKENDS, indirect=True)
def test_pruning(flink):
    for text, selects in FILTERS.items():
        found = flink.get_part_specs_by_filter(DATABASE, "logs", text, -1)
        partitions = [part for spec in found for part in listed(spec)]
        expected = [name(day, hour) for day in DAYS for hour in HOURS if selects(day, hour)]
        names = sorted(name(*values) for values in partitions)
        assert names == expected, text
        again = flink.get_partitions_by_names(DATABASE, "logs", names)
        assert sorted(name(*part.values) for part in again) == expected
        assert all(part.sd.location.endswith(f"flink.db/logs/{name(*part.values)}") for part in again)


def listed(spec):
    """The values of a spec's partitions, whichever of its two forms it has."""
    if spec.partitionList is not None:
        return [one.values for one in spec.partitionList.partitions]
    return [one.values for one in spec.sharedSDPartitionSpec.partitions]


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_listing(flink):
    everything = [name(day, hour) for day in DAYS for hour in HOURS]
    assert flink.get_partition_names(DATABASE, "logs", -1) == everything
    assert flink.get_partition_names_ps(DATABASE, "logs", ["2026-01-02", ""], -1) == everything[4:8]
    assert len(flink.get_partitions(DATABASE, "logs", -1)) == len(everything)
    assert [one.values[1] for one in flink.get_partitions_ps(DATABASE, "logs", ["2026-01-02"], -1)] == list("0123")
    part = flink.get_partition(DATABASE, "logs", ["2026-01-02", "3"])
    part.parameters = {**part.parameters, "numRows": "4"}
    flink.alter_partition(DATABASE, "logs", part)
    assert flink.get_partition(DATABASE, "logs", ["2026-01-02", "3"]).parameters["numRows"] == "4"
    assert flink.drop_partition_with_environment_context(DATABASE, "logs", ["2026-01-02", "3"], True, None)
    with pytest.raises(TYPES.NoSuchObjectException):
        flink.get_partition(DATABASE, "logs", ["2026-01-02", "3"])
    with pytest.raises(TYPES.NoSuchObjectException):
        flink.drop_partition_with_environment_context(DATABASE, "logs", ["2026-01-02", "3"], True, None)


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_tables(flink):
    view = of_flink(table_of("seen", tableType="VIRTUAL_VIEW", partitionKeys=[], sd=storage(), viewExpandedText="x"))
    flink.create_table_with_environment_context(view, None)
    assert flink.get_all_tables(DATABASE) == ["logs", "seen"]
    assert flink.get_tables_by_type(DATABASE, None, "VIRTUAL_VIEW") == ["seen"]
    assert flink.get_tables_by_type(DATABASE, None, "MANAGED_TABLE") == ["logs"]
    table = flink.get_table(DATABASE, "logs")
    table.tableName = "renamed"
    flink.alter_table_with_environment_context(DATABASE, "logs", table, says(DO_NOT_UPDATE_STATS="true"))
    assert flink.get_all_tables(DATABASE) == ["renamed", "seen"]
    assert flink.get_primary_keys(TYPES.PrimaryKeysRequest(DATABASE, "renamed")).primaryKeys == []
    flink.drop_table_with_environment_context(DATABASE, "seen", True, None)
    changed = flink.get_database(DATABASE)
    changed.parameters = {"more": "1"}
    flink.alter_database(DATABASE, changed)
    assert flink.get_database(DATABASE).parameters == {"more": "1"}


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_what_is_not_there(flink):
    """It asks for its catalog as if that were a database, and for the operators of SQL as if they were functions."""
    for database in ("default_catalog", "myhive"):
        with pytest.raises(TYPES.NoSuchObjectException):
            flink.get_database(database)
    for function in ("=", "<>", "and", "+"):
        with pytest.raises(TYPES.NoSuchObjectException):
            flink.get_function(DATABASE, function)


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_functions(flink):
    made = TYPES.Function("twice", DATABASE, "a.Twice", "ann", 1, 0, 1, [])
    flink.create_function(made)
    assert flink.get_function(DATABASE, "twice").className == "a.Twice"
    assert [one.functionName for one in flink.get_all_functions().functions if one.dbName == DATABASE] == ["twice"]
    flink.drop_function(DATABASE, "twice")
    with pytest.raises(TYPES.NoSuchObjectException):
        flink.get_function(DATABASE, "twice")


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_statistics(flink):
    about = TYPES.ColumnStatisticsDesc(False, DATABASE, "logs", name("2026-01-02", 1))
    data = TYPES.ColumnStatisticsData(doubleStats=TYPES.DoubleColumnStatsData(-1.5, 2.5, 1, 3))
    found = TYPES.ColumnStatisticsObj("amount", "double", data)
    assert flink.update_partition_column_statistics(TYPES.ColumnStatistics(about, [found]))
    names = [name("2026-01-02", hour) for hour in HOURS]
    request = TYPES.PartitionsStatsRequest(DATABASE, "logs", ["amount"], names)
    stats = flink.get_partitions_statistics_req(request).partStats
    assert {key: one[0].statsData.doubleStats.numDVs for key, one in stats.items()} == {names[1]: 3}
