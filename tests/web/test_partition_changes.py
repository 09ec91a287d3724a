"""Partitions are added, altered, renamed and dropped over HTTP, each request wholly or not at all."""

import json
from pathlib import Path

import pytest

from hbstore import Partition, Table
from hbstore.store.folder_changes import FolderChanges
from tests.web.catalog import SALES

PARTITIONS = f"{SALES}/partitions"
FIVE = f"{PARTITIONS}/ds=2013-01-01/hour=5"


def folder(store, *values):
    return Path(store.get_partition("shop", "sales", values).location.removeprefix("file:"))


def test_partitions_are_added_with_their_folders(browse, catalog):
    new = [
        {"values": ["2013-01-04", "5"], "parameters": {"numRows": "7"}, "last_access_time": 3},
        {"spec": {"hour": "6", "ds": "2013-01-04"}, "storage": {"input_format": "X"}},
        {"name": "ds=2013-01-04/hour=7"},
        {"values": ["2013-01-04", None]},
    ]
    assert browse("POST", PARTITIONS, {"partitions": new}).json() == {"added": 4}
    store = catalog.store
    five = store.get_partition("shop", "sales", ("2013-01-04", "5"))
    assert (five.parameters["numRows"], five.last_access_time) == ("7", 3)
    assert store.get_partition("shop", "sales", ("2013-01-04", "6")).storage.input_format == "X"
    assert folder(store, "2013-01-04", "7").is_dir()
    assert store.count_partitions("shop", "sales", "ds = '2013-01-04' and hour is null") == 1


def test_lines_are_a_batch_as_well(browse, catalog):
    lines = "\n".join(json.dumps({"values": ["2013-01-04", str(hour)]}) for hour in range(24)) + "\n\n"
    sent = {"Content-Type": "application/x-ndjson"}
    assert browse("POST", PARTITIONS, body=lines, headers=sent).json() == {"added": 24}
    bad = browse("POST", PARTITIONS, body='{"values": ["2013-01-05", "5"]}\n{"values": 7}\n', headers=sent)
    assert (bad.status, bad.json()["fields"]["at"]) == (400, "line 2.values")
    assert catalog.store.count_partitions("shop", "sales", "ds = '2013-01-05'") == 0


@pytest.mark.parametrize(
    ("second", "status", "error"),
    [
        ({"values": ["2013-01-01", "5"]}, 409, "AlreadyExists"),
        ({"values": ["2013-01-09", "x"]}, 400, "InvalidPartitionValue"),
        ({"values": ["2013-01-09"]}, 400, "InvalidPartitionValue"),
        ({"spec": {"ds": "2013-01-09"}}, 400, "InvalidPartitionValue"),
        ({"name": "ds=2013-01-09"}, 400, "InvalidPartitionValue"),
        ({}, 400, "InvalidPartitionValue"),
        ({"values": ["2013-01-09", "6"], "name": "ds=2013-01-09/hour=6"}, 400, "InvalidPartitionValue"),
        ({"value": ["2013-01-09", "6"]}, 400, "InvalidInput"),
    ],
)
def test_a_request_is_added_wholly_or_not_at_all(browse, catalog, second, status, error):
    reply = browse("POST", PARTITIONS, {"partitions": [{"values": ["2013-01-09", "5"]}, second]})
    assert (reply.status, reply.json()["error"]) == (status, error)
    assert catalog.store.count_partitions("shop", "sales") == 72


def test_partitions_that_are_there_are_passed_over_on_request(browse, catalog):
    new = {"partitions": [{"values": ["2013-01-01", "5"]}, *2 * [{"values": ["2013-01-09", "5"]}]]}
    assert browse("POST", f"{PARTITIONS}?if_not_exists=true", new).json() == {"added": 1}
    assert catalog.store.get_partition("shop", "sales", ("2013-01-01", "5")).parameters["numRows"] == "100"


def test_values_that_do_not_fit_are_kept_on_request(browse, catalog):
    new = {"partitions": [{"values": ["someday", "5"]}]}
    assert browse("POST", f"{PARTITIONS}?invalid_values=keep", new).json() == {"added": 1}
    assert "ds=someday/hour=5" in catalog.store.table("shop.sales").names()


def test_a_table_without_partitions_takes_none(browse, catalog):
    catalog.store.create_table(Table("shop", "flat"))
    reply = browse("POST", "/databases/shop/tables/flat/partitions", {"partitions": [{"values": ["a"]}]})
    assert (reply.status, reply.json()["error"]) == (400, "TableNotPartitioned")


def test_a_partition_is_altered_as_far_as_the_request_says(browse, catalog):
    browse("PATCH", FIVE, {"parameters": {"note": "a"}})
    before = catalog.store.get_partition("shop", "sales", ("2013-01-01", "5"))
    assert before.parameters["note"] == "a"
    reply = browse("PATCH", FIVE, {"parameters": {"numRows": "7", "note": None}, "storage": {"num_buckets": 3}})
    assert (reply.status, reply.headers["Location"]) == (200, FIVE)
    after = catalog.store.get_partition("shop", "sales", ("2013-01-01", "5"))
    assert after.parameters["numRows"] == "7"
    assert "note" not in after.parameters
    assert (after.location, after.storage.num_buckets, after.storage.columns) == (
        before.location,
        3,
        before.storage.columns,
    )
    assert reply.headers["ETag"] == browse("GET", FIVE).headers["ETag"]


def test_a_partition_is_renamed_with_its_folder(browse, catalog):
    old = folder(catalog.store, "2013-01-01", "5")
    old.mkdir(parents=True)
    (old / "file").touch()
    reply = browse("PATCH", FIVE, {"values": ["2013-01-09", "5"], "parameters": {"moved": "1"}})
    assert reply.json()["name"] == "ds=2013-01-09/hour=5"
    assert (folder(catalog.store, "2013-01-09", "5") / "file").exists()
    assert not old.exists()
    assert catalog.store.get_partition("shop", "sales", ("2013-01-09", "5")).parameters["moved"] == "1"
    assert browse("GET", FIVE).status == 404


@pytest.mark.parametrize(
    ("change", "status", "error"),
    [
        ({"values": ["2013-01-02", "5"]}, 409, "AlreadyExists"),
        ({"values": ["2013-01-01", "5"]}, 409, "AlreadyExists"),
        ({"values": ["2013-01-02", "x"]}, 400, "InvalidPartitionValue"),
        ({"values": ["2013-01-02"]}, 400, "InvalidPartitionValue"),
        ({"values": ["2013-01-09", "5"], "location": "file:/x"}, 400, "InvalidInput"),
    ],
)
def test_a_rename_that_cannot_be_changes_nothing(browse, catalog, change, status, error):
    before = catalog.store.table("shop.sales").names()
    reply = browse("PATCH", FIVE, change)
    assert (reply.status, reply.json()["error"]) == (status, error)
    assert catalog.store.table("shop.sales").names() == before


@pytest.mark.parametrize("delete", [True, False])
def test_a_partition_is_dropped_with_its_files(browse, catalog, delete):
    home = folder(catalog.store, "2013-01-01", "5")
    home.mkdir(parents=True)
    assert browse("DELETE", f"{FIVE}?delete_data={delete}").json() == {"dropped": 1, "files_left": None}
    assert home.exists() is not delete
    assert browse("DELETE", FIVE).status == 404


def test_a_filter_selects_what_is_dropped(browse, catalog):
    assert browse("DELETE", f"{PARTITIONS}?filter=hour+in+(5,6)").json()["dropped"] == 6
    assert browse("DELETE", f"{PARTITIONS}?filter=hour+in+(5,6)").json()["dropped"] == 0
    assert catalog.store.count_partitions("shop", "sales") == 66
    for path in (PARTITIONS, f"{PARTITIONS}?filter=+", f"{PARTITIONS}?filter=hour"):
        assert browse("DELETE", path).status == 400
    assert catalog.store.count_partitions("shop", "sales") == 66


def test_a_drop_by_filter_takes_what_others_leave(browse, catalog, monkeypatch):
    store, real = catalog.store, FolderChanges.drop

    def late(*given, **named):
        monkeypatch.undo()
        store.drop_partitions("shop", "sales", [("2013-01-01", "5")])
        return real(*given, **named)

    monkeypatch.setattr(FolderChanges, "drop", late)
    assert browse("DELETE", f"{PARTITIONS}?filter=hour=5").json()["dropped"] == 2
    assert store.count_partitions("shop", "sales", "hour = 5") == 0


def test_a_table_is_checked_and_repaired(browse):
    found = browse("GET", f"{SALES}/check").json()
    assert (found["problems"], found["first"], found["timelines"]) == (0, [], [])
    assert found["rows"] >= 72
    assert browse("POST", f"{SALES}/check").json() == {"finished": 0, "miscounted": False}


def test_folders_and_partitions_are_compared_and_made_to_agree(browse, catalog):
    store = catalog.store
    store.create_table(
        Table(
            "shop",
            "some",
            store.get_table("shop", "sales").partition_columns,
            location=f"{store.get_database('shop').location}/some",
        )
    )
    store.table("shop.some").add([Partition(("2013-01-01", "1")), Partition(("2013-01-01", "2"))])
    home = Path(store.get_table("shop", "some").location.removeprefix("file:"))
    for name in ("ds=2013-01-01/hour=1", "ds=2013-01-01/hour=3"):
        (home / name).mkdir(parents=True)
    path = "/databases/shop/tables/some/repair"
    wanted = {"add": ["ds=2013-01-01/hour=3"], "drop": ["ds=2013-01-01/hour=2"], "foreign": [], "busy": []}
    assert browse("GET", path).json() == {**wanted, "added": 0, "dropped": 0}
    assert store.count_partitions("shop", "some") == 2
    assert browse("POST", f"{path}?mode=sync").json() == {**wanted, "added": 1, "dropped": 1}
    assert store.table("shop.some").names() == ["ds=2013-01-01/hour=1", "ds=2013-01-01/hour=3"]
    gone = browse("GET", f"{SALES}/repair?mode=drop")
    assert (gone.status, gone.json()["error"]) == (409, "TableFolderMissing")
