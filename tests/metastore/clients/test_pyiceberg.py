"""PyIceberg's Hive catalog: namespaces, tables, data, and commits of several writers at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.types import LongType

from tests.metastore.client import client as metastore_client
from tests.metastore.clients.conftest import BACKENDS
from tests.pauses import until

SCHEMA = pa.schema([("number", pa.int64()), ("text", pa.string())])
WRITERS, COMMITS = 4, 3
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def data(*numbers):
    return pa.table({"number": list(numbers), "text": [str(one) for one in numbers]}, schema=SCHEMA)


def numbers(table):
    return sorted(table.scan().to_arrow()["number"].to_pylist())


@pytest.fixture
def warehouse(server):
    return f"file://{server.folder / 'warehouse'}"


@pytest.fixture
def catalog(server, warehouse):
    """A catalog that tries again soon when another writer holds the lock."""
    waits = {"lock-check-min-wait-time": "0.01", "lock-check-max-wait-time": "0.2", "lock-check-retries": "40"}
    return HiveCatalog("hive", uri=server.ready["uri"], warehouse=warehouse, ugi="ann:staff", **waits)


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_namespaces(catalog):
    catalog.create_namespace("ice_spaces", {"comment": "cold", "owner": "ann"})
    with pytest.raises(NamespaceAlreadyExistsError):
        catalog.create_namespace("ice_spaces")
    assert ("ice_spaces",) in catalog.list_namespaces()
    found = catalog.load_namespace_properties("ice_spaces")
    assert (found["comment"], found["owner"]) == ("cold", "ann")
    assert found["location"].endswith("warehouse/ice_spaces.db")
    catalog.update_namespace_properties("ice_spaces", removals={"owner"}, updates={"team": "blue"})
    found = catalog.load_namespace_properties("ice_spaces")
    assert found["team"] == "blue"
    assert "owner" not in found
    catalog.create_table("ice_spaces.t", SCHEMA)
    with pytest.raises(NamespaceNotEmptyError):
        catalog.drop_namespace("ice_spaces")
    catalog.drop_table("ice_spaces.t")
    catalog.drop_namespace("ice_spaces")
    with pytest.raises(NoSuchNamespaceError):
        catalog.load_namespace_properties("ice_spaces")
    assert ("ice_spaces",) not in catalog.list_namespaces()


@pytest.mark.parametrize("server", BACKENDS, indirect=True)
def test_tables(catalog):
    catalog.create_namespace_if_not_exists("ice")
    table = catalog.create_table("ice.first", SCHEMA, properties={"kind": "a"})
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table("ice.first", SCHEMA)
    table.append(data(1, 2))
    table.append(data(3))
    assert numbers(catalog.load_table("ice.first")) == [1, 2, 3]
    table.overwrite(data(7))
    with table.update_schema() as change:
        change.add_column("more", LongType())
    table.transaction().set_properties(kind="b", other="c").remove_properties("other").commit_transaction()
    found = catalog.load_table("ice.first")
    assert (numbers(found), found.properties["kind"], "other" in found.properties) == ([7], "b", False)
    assert found.schema().column_names == ["number", "text", "more"]
    catalog.rename_table("ice.first", "ice.second")
    with pytest.raises(NoSuchTableError):
        catalog.load_table("ice.first")
    assert numbers(catalog.load_table("ice.second")) == [7]
    assert catalog.list_tables("ice") == [("ice", "second")]
    assert catalog.table_exists("ice.second")
    catalog.drop_table("ice.second")
    assert catalog.list_tables("ice") == []
    with pytest.raises(NoSuchTableError):
        catalog.drop_table("ice.second")


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("compatible", "kind"), [("true", "timestamp"), ("false", "timestamp with local time zone")])
def test_types_of_hive_2_and_of_later_versions(server, warehouse, compatible, kind):
    options = {"uri": server.ready["uri"], "warehouse": warehouse, "hive.hive2-compatible": compatible}
    catalog = HiveCatalog("hive", **options)
    catalog.create_namespace_if_not_exists("ice_types")
    schema = pa.schema([("number", pa.int64()), ("at", pa.timestamp("us", tz="UTC"))])
    table = catalog.create_table("ice_types.moments", schema)
    table.append(pa.table({"number": [1], "at": [MOMENT]}, schema=schema))
    with table.update_schema() as change:
        change.add_column("more", LongType())
    found = catalog.load_table("ice_types.moments")
    assert found.scan().to_arrow()["at"].to_pylist() == [MOMENT]
    with metastore_client(server.port) as client:
        stored = client.get_table("ice_types", "moments")
    assert {one.name: one.type for one in stored.sd.cols} == {"number": "bigint", "at": kind, "more": "bigint"}
    catalog.drop_table("ice_types.moments")


@pytest.mark.parametrize("server", BACKENDS, indirect=True)
def test_of_concurrent_commits_none_is_lost(server, catalog):
    catalog.create_namespace_if_not_exists("ice")
    catalog.create_table("ice.contended", SCHEMA)
    before = len(server.log("call"))

    def write(writer):
        for at in range(COMMITS):
            while not appended(catalog, data(writer * 100 + at)):
                pass

    with ThreadPoolExecutor(WRITERS) as threads:
        list(threads.map(write, range(WRITERS)))
    table = catalog.load_table("ice.contended")
    assert numbers(table) == sorted(writer * 100 + at for writer in range(WRITERS) for at in range(COMMITS))
    assert len(table.snapshots()) == WRITERS * COMMITS

    def calls(method):
        return sum(line["method"] == method for line in server.log("call")[before:])

    until(lambda: calls("lock") == calls("unlock") >= WRITERS * COMMITS)
    catalog.drop_table("ice.contended")


def appended(catalog, rows):
    """Whether rows were appended, over connections of their own; if not, other commits came first too often."""
    own = HiveCatalog(catalog.name, **catalog.properties)
    try:
        own.load_table("ice.contended").append(rows)
    except CommitFailedException:
        return False
    return True
