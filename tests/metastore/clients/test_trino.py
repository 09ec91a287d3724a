"""What Trino asks a metastore, as it asks: a new connection for every call, and no filter strings."""

from __future__ import annotations

import pytest

from tests.metastore.client import STORED, TYPES, client
from tests.metastore.clients.conftest import BACKENDS
from tests.metastore.writing import partition_of, says, table_of
from tests.pauses import until
from tests.processes import threads

DATABASE = "trino"
HOURS = range(10)
DAYS = [f"2026-01-{day:02}" for day in range(1, 11)]
NAMES = [f"ds={day}/hour={hour}" for day in DAYS for hour in HOURS]
BATCH = 7


class Trino:
    """The service's methods as attributes, each on a connection of its own."""

    def __init__(self, port):
        self._port = port

    def __getattr__(self, method):
        def call(*arguments):
            with client(self._port) as metastore:
                return getattr(metastore, method)(*arguments)

        return call


@pytest.fixture
def trino(server):
    """A database of Trino's, gone afterwards."""
    asking = Trino(server.port)
    asking.create_database(STORED.Database(name=DATABASE, parameters={}, ownerName="ann", ownerType=1))
    yield asking
    asking.drop_database(DATABASE, True, True)


@pytest.fixture
def sales(trino):
    """A table with a hundred partitions."""
    trino.create_table(of_trino(table_of()))
    trino.add_partitions([of_trino(partition_of(day, str(hour))) for day in DAYS for hour in HOURS])
    return trino


def of_trino(struct, **fields):
    """A struct of another test's database in this one."""
    struct.dbName = DATABASE
    for name, value in fields.items():
        setattr(struct, name, value)
    return struct


def amounts(low, high):
    """Statistics of the column amount."""
    found = TYPES.DoubleColumnStatsData(lowValue=low, highValue=high, numNulls=0)
    return TYPES.ColumnStatisticsObj("amount", "double", TYPES.ColumnStatisticsData(doubleStats=found))


@pytest.mark.parametrize("server", BACKENDS, indirect=True)
def test_databases_and_tables(sales):
    assert DATABASE in sales.get_all_databases()
    assert sales.get_database(DATABASE).ownerName == "ann"
    with pytest.raises(TYPES.NoSuchObjectException):
        sales.get_database("nothing")
    found = sales.get_table_req(TYPES.GetTableRequest(DATABASE, "sales", TYPES.ClientCapabilities([2])))
    assert (found.table.tableName, found.table.dbName) == ("sales", DATABASE)
    with pytest.raises(TYPES.NoSuchObjectException):
        sales.get_table_req(TYPES.GetTableRequest(DATABASE, "nothing"))
    view = of_trino(table_of("seen"), tableType="VIRTUAL_VIEW", partitionKeys=[], viewOriginalText="/* Presto View */")
    view.parameters = {"presto_view": "true", "comment": "Presto View"}
    sales.create_table(view)
    assert [(one.dbName, one.tableName, one.tableType) for one in sales.get_table_meta(DATABASE, "*", [])] == [
        (DATABASE, "sales", "MANAGED_TABLE"),
        (DATABASE, "seen", "VIRTUAL_VIEW"),
    ]
    only_views = 'hive_filter_field_params__presto_view = "true"'
    assert sales.get_table_names_by_filter(DATABASE, only_views, -1) == ["seen"]
    assert sales.get_all_tables(DATABASE) == ["sales", "seen"]
    sales.drop_table(DATABASE, "seen", False)
    assert sales.get_all_tables(DATABASE) == ["sales"]


@pytest.mark.parametrize("server", BACKENDS, indirect=True)
def test_partitions_are_listed_by_name_and_fetched_in_batches(sales):
    assert sales.get_partition_names(DATABASE, "sales", -1) == NAMES
    assert sales.get_partition_names_ps(DATABASE, "sales", ["2026-01-04", ""], -1) == NAMES[30:40]
    assert sales.get_partition_names_ps(DATABASE, "sales", ["", "5"], -1) == NAMES[5::10]
    assert sales.get_partition_names_ps(DATABASE, "sales", ["", ""], 3) == NAMES[:3]
    found = []
    for at in range(0, len(NAMES), BATCH):
        batch = sales.get_partitions_by_names(DATABASE, "sales", NAMES[at : at + BATCH])
        assert len(batch) == len(NAMES[at : at + BATCH])
        found += [
            "/".join(f"{key}={one}" for key, one in zip(("ds", "hour"), part.values, strict=True)) for part in batch
        ]
    assert found == NAMES
    assert sales.get_partition(DATABASE, "sales", ["2026-01-04", "5"]).values == ["2026-01-04", "5"]
    with pytest.raises(TYPES.NoSuchObjectException):
        sales.get_partition(DATABASE, "sales", ["2026-01-04", "77"])


@pytest.mark.parametrize("server", BACKENDS, indirect=True)
def test_partitions_are_written_with_their_statistics(sales):
    part = sales.get_partition(DATABASE, "sales", ["2026-01-04", "5"])
    part.parameters = {**part.parameters, "numRows": "7"}
    sales.alter_partition(DATABASE, "sales", part)
    names = NAMES[34:37]
    for at, name in enumerate(names[:2]):
        description = TYPES.ColumnStatisticsDesc(isTblLevel=False, dbName=DATABASE, tableName="sales", partName=name)
        assert sales.update_partition_column_statistics(TYPES.ColumnStatistics(description, [amounts(at, at + 10)]))
    request = TYPES.PartitionsStatsRequest(DATABASE, "sales", ["amount"], names)
    found = sales.get_partitions_statistics_req(request).partStats
    assert {name: [one.statsData.doubleStats.highValue for one in columns] for name, columns in found.items()} == {
        names[0]: [10],
        names[1]: [11],
    }
    description = TYPES.ColumnStatisticsDesc(isTblLevel=True, dbName=DATABASE, tableName="sales")
    assert sales.update_table_column_statistics(TYPES.ColumnStatistics(description, [amounts(1, 2)]))
    stats = sales.get_table_statistics_req(TYPES.TableStatsRequest(DATABASE, "sales", ["amount"])).tableStats
    assert [(one.colName, one.statsData.doubleStats.lowValue) for one in stats] == [("amount", 1)]
    assert sales.drop_partition(DATABASE, "sales", ["2026-01-04", "5"], True)
    assert sales.get_partition_names_ps(DATABASE, "sales", ["2026-01-04", ""], -1) == [*NAMES[30:35], *NAMES[36:40]]
    assert names[1] not in sales.get_partitions_statistics_req(request).partStats


@pytest.mark.parametrize("server", BACKENDS, indirect=True)
def test_an_iceberg_commit_is_a_compare_and_swap(trino):
    key = "metadata_location"
    parameters = {"EXTERNAL": "TRUE", "table_type": "iceberg", key: "v1.json"}
    made = of_trino(table_of("ice"), tableType="EXTERNAL_TABLE", partitionKeys=[], parameters=parameters)
    trino.create_table(made)

    def commit(expected, new):
        table = trino.get_table_req(TYPES.GetTableRequest(DATABASE, "ice")).table
        table.parameters = {**table.parameters, key: new, "previous_metadata_location": expected}
        context = says(expected_parameter_key=key, expected_parameter_value=expected)
        trino.alter_table_with_environment_context(DATABASE, "ice", table, context)

    commit("v1.json", "v2.json")
    with pytest.raises(TYPES.MetaException, match="The table has been modified"):
        commit("v1.json", "v3.json")
    commit("v2.json", "v4.json")
    table = trino.get_table_req(TYPES.GetTableRequest(DATABASE, "ice")).table
    assert (table.parameters[key], table.parameters["previous_metadata_location"]) == ("v4.json", "v2.json")


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_a_connection_for_every_call(sales, server):
    request = TYPES.GetTableRequest(DATABASE, "sales")
    before = len(threads(server.pid))
    for _ in range(900):
        assert sales.get_table_req(request).table.tableName == "sales"
    until(lambda: len(threads(server.pid)) <= before + 5)  # none is left over
