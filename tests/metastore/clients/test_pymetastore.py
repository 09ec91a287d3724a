"""pymetastore, and Apache Thrift's Python classes of later versions of the service, which it and PyIceberg bring."""

from __future__ import annotations

from contextlib import contextmanager

import hive_metastore.ttypes as later
import pytest
from hive_metastore.ThriftHiveMetastore import Client
from pymetastore.hive_metastore.ttypes import NoSuchObjectException
from pymetastore.metastore import HMS
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

from tests.metastore.clients.conftest import BACKENDS

DATABASE = "later"
CATALOG = "hive"


@contextmanager
def connected(port):
    transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", port))
    transport.open()
    try:
        yield Client(TBinaryProtocol(transport))
    finally:
        transport.close()


def name_values(name):
    """The values in a partition's name."""
    return [part.partition("=")[2] for part in name.split("/")]


def storage():
    serde = later.SerDeInfo(serializationLib="lazy", parameters={})
    columns = [later.FieldSchema("amount", "double", "how much"), later.FieldSchema("tags", "array<string>", None)]
    return later.StorageDescriptor(
        cols=columns, serdeInfo=serde, inputFormat="in", outputFormat="out", bucketCols=[], sortCols=[], parameters={}
    )


@pytest.fixture
def sales(server):
    """A table that a client of a later version made: its structs name a catalog."""
    with connected(server.port) as client:
        client.create_database(
            later.Database(name=DATABASE, description="of later", parameters={"a": "b"}, catalogName=CATALOG)
        )
        keys = [later.FieldSchema("ds", "string", None), later.FieldSchema("hour", "int", None)]
        client.create_table(
            later.Table(
                tableName="sales",
                dbName=DATABASE,
                owner="ann",
                sd=storage(),
                partitionKeys=keys,
                parameters={"k": "v"},
                tableType="MANAGED_TABLE",
                catName=CATALOG,
                ownerType=later.PrincipalType.USER,
                accessType=1,
            )
        )
        new = [
            later.Partition([day, hour], DATABASE, "sales", sd=storage(), parameters={}, catName=CATALOG)
            for day in ("2026-01-01", "2026-01-02")
            for hour in "12"
        ]
        client.add_partitions_req(
            later.AddPartitionsRequest(DATABASE, "sales", new, ifNotExists=False, needResult=True, catName=CATALOG)
        )
        yield client
        client.drop_database(f"@{CATALOG}#{DATABASE}", deleteData=True, cascade=True)


@pytest.mark.parametrize("server", BACKENDS, indirect=True)
def test_a_client_of_a_later_version(sales):
    prefixed = f"@{CATALOG}#{DATABASE}"
    assert sales.get_partition_names(prefixed, "sales", -1) == [
        f"ds={day}/hour={hour}" for day in ("2026-01-01", "2026-01-02") for hour in "12"
    ]
    found = sales.get_partitions_by_filter(prefixed, "sales", 'ds = "2026-01-02" and hour > 1', -1)
    assert [one.values for one in found] == [["2026-01-02", "2"]]
    table = sales.get_table_req(later.GetTableRequest(DATABASE, "sales", catName=CATALOG)).table
    assert (table.tableName, table.parameters["k"], len(table.partitionKeys)) == ("sales", "v", 2)
    table.parameters["k"] = "w"
    sales.alter_table_with_environment_context(prefixed, "sales", table, None)
    assert sales.get_table(prefixed, "sales").parameters["k"] == "w"
    with pytest.raises(later.NoSuchObjectException):
        sales.get_table_req(later.GetTableRequest(DATABASE, "nothing", catName=CATALOG))


@pytest.mark.usefixtures("sales")
@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_pymetastore(server):
    with HMS.create("127.0.0.1", server.port) as hms:
        assert DATABASE in hms.list_databases()
        assert hms.get_database(DATABASE).comment == "of later"
        assert hms.list_tables(DATABASE) == ["sales"]
        assert hms.list_columns(DATABASE, "sales") == ["amount", "tags"]
        table = hms.get_table(DATABASE, "sales")
        assert [one.name for one in table.partition_columns] == ["ds", "hour"]
        names = hms.list_partitions(DATABASE, "sales")
        assert len(names) == 4
        found = hms.get_partitions(DATABASE, "sales")  # which it takes only with the catalog that Hive 2.3 forgets
        assert [(one.values, one.cat_name) for one in found] == [(name_values(name), CATALOG) for name in names]
        with pytest.raises(NoSuchObjectException):
            hms.get_table(DATABASE, "nothing")
