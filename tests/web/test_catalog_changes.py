"""Databases and tables are created, altered, renamed and dropped over HTTP, with their folders."""

from dataclasses import replace
from pathlib import Path

import pytest

from hbstore import Table
from hbstore.query_service.access import Access
from hbstore.store.folder_changes import FolderChanges
from hbstore.store.records import RECORD_KEYS
from tests.web.catalog import SALES


def folder(location):
    return Path(location.removeprefix("file:"))


def test_a_database_is_created_with_its_folder(browse, catalog):
    reply = browse("POST", "/databases", {"name": "Attic", "owner": "ann", "parameters": {"a": "b"}})
    assert (reply.status, reply.headers["Location"]) == (201, "/databases/attic")
    stored = catalog.store.get_database("attic")
    assert (stored.owner, stored.parameters, reply.json()["location"]) == ("ann", {"a": "b"}, stored.location)
    assert folder(stored.location).is_dir()
    again = browse("POST", "/databases", {"name": "attic"})
    assert (again.status, again.json()["error"]) == (409, "AlreadyExists")
    assert browse("POST", "/databases", {"name": "a b"}).json()["error"] == "InvalidName"
    assert browse("POST", "/databases", {"name": "x", "colour": "red"}).json()["fields"]["at"] == "body.colour"


def test_it_is_told_whose_fault_files_are(browse, tmp_path, monkeypatch):
    """A file system that does not answer, or refuses, is not the client's, and no client repeats it by itself."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    (tmp_path / "file").touch()
    for location, status in (
        ("s3://nobody-there/attic", 502),
        (f"file:{tmp_path}/file/attic", 502),
        ("attic", 400),
        ("nosuch://attic/a", 400),
    ):
        reply = browse("POST", "/databases", {"name": "attic", "location": location})
        assert (reply.status, reply.json()["error"]) == (status, "FileOperationFailed"), location


def test_a_database_is_altered_as_far_as_the_request_says(browse, catalog):
    before = catalog.store.get_database("shop")
    reply = browse("PATCH", "/databases/shop", {"description": "sales", "parameters": {"a": "b", "c": None}})
    assert reply.status == 200
    assert catalog.store.get_database("shop") == replace(before, description="sales", parameters={"a": "b"})
    browse("PATCH", "/databases/shop", {"owner": None, "parameters": {"a": None}})
    assert catalog.store.get_database("shop") == replace(before, description="sales", owner=None)


def test_a_database_is_dropped_with_its_tables_only_when_told_to(browse, catalog):
    home = folder(catalog.store.get_database("shop").location)
    home.mkdir(parents=True)
    refused = browse("DELETE", "/databases/shop")
    assert (refused.status, refused.json()["error"]) == (409, "DatabaseNotEmpty")
    assert browse("DELETE", "/databases/shop?cascade=true").json() == {"dropped": 1, "files_left": None}
    assert catalog.store.database_names() == []
    assert not home.exists()
    assert browse("DELETE", "/databases/shop").status == 404


def test_the_default_database_stays(browse, catalog):
    catalog.store.create_database("default")
    refused = browse("DELETE", "/databases/default")
    assert (refused.status, refused.json()["error"]) == (400, "DdlRefused")


def test_a_table_is_created_with_its_folder(browse, catalog):
    keys = [{"name": "ds", "type": "date"}]
    columns = [{"name": "n", "type": "int", "comment": "a number"}]
    new = {"name": "Returns", "columns": columns, "partition_columns": keys, "format": "parquet", "owner": "ann"}
    reply = browse("POST", "/databases/shop/tables", new)
    assert (reply.status, reply.headers["Location"]) == (201, "/databases/shop/tables/returns")
    table = catalog.store.get_table("shop", "returns")
    assert reply.json()["columns"] == columns
    assert "parquet" in table.storage.serde.library
    assert table.location == f"{catalog.store.get_database('shop').location}/returns"
    assert folder(table.location).is_dir()
    assert browse("GET", "/databases/shop/tables/returns").headers["ETag"] == reply.headers["ETag"]


@pytest.mark.parametrize(
    ("new", "status", "error"),
    [
        ({"name": "sales"}, 409, "AlreadyExists"),
        ({"name": "a b"}, 400, "InvalidName"),
        ({"name": "t", "columns": [{"name": "n", "type": "number"}]}, 400, "InvalidType"),
        ({"name": "t", "partition_columns": [{"name": "n", "type": "array<int>"}]}, 400, "InvalidType"),
        (
            {
                "name": "t",
                "columns": [{"name": "n", "type": "int"}],
                "partition_columns": [{"name": "N", "type": "int"}],
            },
            400,
            "InvalidName",
        ),
        ({"name": "t", "format": "parquet", "storage": {}}, 400, "InvalidInput"),
        ({"columns": []}, 400, "InvalidInput"),
    ],
)
def test_a_table_that_cannot_be_is_refused(browse, catalog, new, status, error):
    reply = browse("POST", "/databases/shop/tables", new)
    assert (reply.status, reply.json()["error"]) == (status, error)
    assert catalog.store.table_names("shop") == ["sales"]


def test_a_table_of_no_database_is_refused(browse):
    assert browse("POST", "/databases/none/tables", {"name": "t"}).json()["error"] == "DatabaseNotFound"


def test_a_table_is_altered_as_far_as_the_request_says(browse, catalog):
    before = catalog.store.get_table("shop", "sales")
    change = {"owner": "bob", "parameters": {"comment": "all"}, "storage": {"num_buckets": 4}}
    change["columns"] = [{"name": "amount", "type": "decimal(12,2)"}, {"name": "n", "type": "int"}]
    reply = browse("PATCH", SALES, change)
    table = catalog.store.get_table("shop", "sales")
    assert (reply.status, reply.json()["owner"], table.owner, table.storage.num_buckets) == (200, "bob", "bob", 4)
    assert [one.type for one in table.columns] == ["decimal(12,2)", "int"]
    assert (table.location, table.parameters["comment"]) == (before.location, "all")
    assert table.storage.serde == before.storage.serde
    browse("PATCH", SALES, {"parameters": {"comment": None}})
    assert "comment" not in catalog.store.get_table("shop", "sales").parameters
    bad = browse("PATCH", SALES, {"columns": [{"name": "n", "type": "number"}]})
    assert (bad.status, bad.json()["error"]) == (400, "InvalidType")
    bad = browse("PATCH", SALES, {"columns": [{"name": "DS", "type": "int"}]})
    assert (bad.status, bad.json()["error"]) == (400, "InvalidName")


def test_columns_of_partitions_become_the_table_s_on_request(browse, catalog):
    columns = [{"name": "amount", "type": "decimal(12,2)", "comment": None}]
    browse("PATCH", f"{SALES}?cascade=true", {"columns": columns})
    stored = catalog.store.get_partition("shop", "sales", ("2013-01-01", "5"))
    assert [one.type for one in stored.storage.columns] == ["decimal(12,2)"]


def test_a_table_is_renamed_with_its_folder(browse, catalog):
    home = folder(catalog.store.get_table("shop", "sales").location)
    home.mkdir(parents=True)
    (home / "file").touch()
    reply = browse("PATCH", SALES, {"name": "sold"})
    assert (reply.status, reply.headers["Location"]) == (200, "/databases/shop/tables/sold")
    assert catalog.store.table_names("shop") == ["sold"]
    assert (home.parent / "sold" / "file").exists()
    first = catalog.store.get_partition("shop", "sold", ("2013-01-01", "5"))
    assert first.location == f"file:{home.parent}/sold/ds=2013-01-01/hour=5"
    catalog.store.create_table(Table("shop", "other"))
    taken = browse("PATCH", "/databases/shop/tables/sold", {"name": "other"})
    assert (taken.status, taken.json()["error"]) == (409, "AlreadyExists")
    nowhere = browse("PATCH", "/databases/shop/tables/sold", {"database": "none"})
    assert (nowhere.status, nowhere.json()["error"]) == (404, "DatabaseNotFound")


@pytest.mark.parametrize("delete", [True, False])
def test_a_table_is_dropped_with_its_files(browse, catalog, delete):
    home = folder(catalog.store.get_table("shop", "sales").location)
    home.mkdir(parents=True)
    assert browse("DELETE", f"{SALES}?delete_data={delete}").json() == {"dropped": 1, "files_left": None}
    assert catalog.store.table_names("shop") == []
    assert home.exists() is not delete
    assert browse("DELETE", SALES).status == 404


def test_files_that_are_not_the_server_s_are_not_deleted(browse, catalog, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    catalog.store.create_table(Table("shop", "odd", location=f"file:{elsewhere}"))
    refused = browse("DELETE", "/databases/shop/tables/odd")
    assert (refused.status, refused.json()["error"]) == (403, "OutsideWarehouse")
    assert elsewhere.exists()
    assert "odd" in catalog.store.table_names("shop")


CHANGES = [
    ("PATCH", "/databases/shop", {"owner": "bob"}),
    ("DELETE", "/databases/shop?cascade=true", None),
    ("PATCH", SALES, {"owner": "bob"}),
    ("PATCH", SALES, {"name": "sold"}),
    ("DELETE", SALES, None),
    ("PATCH", f"{SALES}/partitions/ds=2013-01-01/hour=5", {"parameters": {"a": "b"}}),
    ("PATCH", f"{SALES}/partitions/ds=2013-01-01/hour=5", {"values": ["2013-01-09", "5"]}),
    ("DELETE", f"{SALES}/partitions/ds=2013-01-01/hour=5", None),
]


def stored(catalog):
    """The rows of the catalog, without the records, of which the server renews its lease now and then."""
    return [row for row in catalog.store.rows.scan_catalog(b"", b"\xff") if not row[0].startswith(RECORD_KEYS[0])]


@pytest.mark.parametrize(("method", "path", "change"), CHANGES)
def test_a_change_of_another_version_is_refused(browse, catalog, method, path, change):
    tag = browse("GET", path.partition("?")[0]).headers["ETag"]
    before = stored(catalog)
    for said in ('"other"', f"W/{tag}"):
        refused = browse(method, path, change, headers={"If-Match": said})
        assert (refused.status, refused.json()["error"]) == (412, "VersionMismatch")
    assert stored(catalog) == before
    assert browse(method, path, change, headers={"If-Match": tag}).status == 200


ATOMIC = [CHANGES[0], CHANGES[2], *CHANGES[5:]]
WRITES = ("alter_database", "alter_table", "alter_partitions", "change_partitions", "rename_partition")


@pytest.mark.parametrize(("method", "path", "change"), ATOMIC)
def test_a_version_is_compared_in_the_change_itself(browse, catalog, monkeypatch, method, path, change):
    """Somebody else changes the resource after the request's version was compared, and before the change."""
    store, tag = catalog.store, browse("GET", path).headers["ETag"]

    def others():
        monkeypatch.undo()
        store.alter_database(replace(store.get_database("shop"), description="others"))
        store.alter_table(replace(store.get_table("shop", "sales"), retention=7))
        five = store.get_partition("shop", "sales", ("2013-01-01", "5"))
        store.alter_partitions("shop", "sales", [replace(five, parameters={"others": "1"})])

    for name in WRITES:
        real = getattr(store, name)
        monkeypatch.setattr(store, name, lambda *given, real=real, **named: (others(), real(*given, **named))[1])
    drop = FolderChanges.drop
    monkeypatch.setattr(FolderChanges, "drop", lambda *given, **named: (others(), drop(*given, **named))[1])
    refused = browse(method, path, change, headers={"If-Match": tag})
    assert (refused.status, refused.json()["error"]) == (412, "VersionMismatch")


@pytest.mark.parametrize(("method", "path", "change"), [one for one in ATOMIC if one[0] == "PATCH"])
def test_changes_at_the_same_time_lose_nothing(browse, catalog, monkeypatch, method, path, change):
    """A request that names no version is made up anew from what others wrote meanwhile."""
    store = catalog.store

    def others():
        monkeypatch.undo()
        store.alter_database(replace(store.get_database("shop"), description="others"))
        store.alter_table(replace(store.get_table("shop", "sales"), retention=7))
        five = store.get_partition("shop", "sales", ("2013-01-01", "5"))
        store.alter_partitions("shop", "sales", [replace(five, last_access_time=7)])

    for name in WRITES:
        real = getattr(store, name)
        monkeypatch.setattr(store, name, lambda *given, real=real, **named: (others(), real(*given, **named))[1])
    found = browse(method, path, change).json()
    assert (found.get("description"), found.get("retention"), found.get("last_access_time")).count("others") + (
        7 in (found.get("retention"), found.get("last_access_time"))
    ) == 1
    for name, value in change.items():
        assert found[name] == value or found[name]["a"] == value["a"]


ADDED = {"partitions": [{"values": ["2013-01-09", "5"]}]}


@pytest.mark.parametrize(
    ("method", "path", "change"),
    [
        *CHANGES,
        ("POST", "/databases", {"name": "attic"}),
        ("POST", "/databases/shop/tables", {"name": "returns"}),
        ("POST", f"{SALES}/partitions", ADDED),
        ("DELETE", f"{SALES}/partitions?filter=hour=5", None),
        ("POST", f"{SALES}/check", None),
        ("POST", f"{SALES}/repair", None),
    ],
)
def test_a_read_only_server_changes_nothing(asking, catalog, method, path, change):
    ask = asking(Access(), catalog=replace(catalog, read_only=True))
    before = stored(catalog)
    refused = ask(method, path, change)
    assert (refused.status, refused.json()["error"]) == (403, "StoreReadOnly")
    assert stored(catalog) == before
    assert ask("GET", SALES).status == 200


def test_a_page_of_another_site_changes_nothing(browse, catalog):
    refused = browse("DELETE", SALES, headers={"Origin": "http://elsewhere.example"})
    assert (refused.status, refused.json()["error"]) == (403, "RequestRefused")
    assert catalog.store.table_names("shop") == ["sales"]
