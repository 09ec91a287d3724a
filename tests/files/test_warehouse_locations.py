"""Locations as texts: what Hive 2.3.10's own Warehouse makes of them is written out here."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import FileOperationFailed
from hbstore.files.locations import is_below, parse_location, same_place
from hbstore.files.warehouse import Warehouse

WAREHOUSE = Warehouse("/wh")

AS_HIVE = {
    "/x": "file:/x",
    "/x/": "file:/x",
    "///x": "file:/x",
    "file:/x": "file:/x",
    "file:///x": "file:/x",
    "file:////x": "file:/x",
    "file://host/y": "file:/y",
    "FILE:/x": "file:/x",
    "File:///X": "file:/X",
    "file:/": "file:/",
    "file://": "file:/",
    "/.": "file:/",
    "/...": "file:/...",
    "/a/..b": "file:/a/..b",
    "/a//b///c": "file:/a/b/c",
    "/a/./b/../c/": "file:/a/c",
    "file:/x//../y": "file:/y",
    "file:/%2e%2e/x": "file:/%2e%2e/x",
    "/a%20b": "file:/a%20b",
    "/a%2Fb": "file:/a%2Fb",
    "/a b#c?d": "file:/a b#c?d",
    "/ä/日本": "file:/ä/日本",
    "/a:b/c": "file:/a:b/c",
    "/x ": "file:/x ",
    "/x\ny": "file:/x\ny",
    "file:/x?y=1": "file:/x?y=1",
    "/a\\b": "file:/a\\b",
    "s3a://bucket": "s3a://bucket",
    "s3a://bucket/": "s3a://bucket",
    "s3a://bucket//a/../b/": "s3a://bucket/b",
    "hdfs://nn:8020/wh": "hdfs://nn:8020/wh",
    "hdfs:///wh": "hdfs:/wh",
    "abfss://files@account.dfs.core.windows.net/wh": "abfss://files@account.dfs.core.windows.net/wh",
}
REFUSED_BY_HIVE = [
    "",
    "x",
    "x/y",
    "./x",
    "../x",
    " /x",
    "file:x",
    "file:",
    "file://x",
    "a:b/c",
    ":/x",
    "1a:/x",
    "//host/x",
]
REFUSED_HERE = ["/a\0b", "/\ud800", "s3://bucket?endpoint_override=elsewhere/x", "memory://a::file:/b", "s3://a b/x"]


@pytest.mark.parametrize("text", AS_HIVE)
def test_locations_are_written_as_hive_writes_them(text):
    assert WAREHOUSE.qualify(text) == AS_HIVE[text]


@pytest.mark.parametrize("text", REFUSED_BY_HIVE + REFUSED_HERE)
def test_what_is_no_location_is_refused(text):
    with pytest.raises(FileOperationFailed, match="location"):
        WAREHOUSE.qualify(text)


@pytest.mark.parametrize("text", ["/../x", "/a/../../x", "/../../x"])
def test_nothing_is_above_the_root(text):
    assert WAREHOUSE.qualify(text) == "file:/x"


TEXTS = st.text(st.sampled_from("ab./:%~# s3file"), max_size=20) | st.text(max_size=8)


@given(st.sampled_from(["", "/", "file:", "file:/", "file:///", "s3://b/", "s3a:"]), TEXTS)
def test_qualifying_is_done_once(prefix, text):
    try:
        once = WAREHOUSE.qualify(prefix + text)
    except FileOperationFailed:
        return
    assert WAREHOUSE.qualify(once) == once
    parts = parse_location(once).parts
    assert not {"", ".", ".."} & set(parts)
    assert not any("/" in part for part in parts)
    assert not once.endswith("/") or not parts


@given(st.lists(st.sampled_from(["a", "..", ".", "", "b c", "%2e"]), max_size=8))
def test_local_paths_are_resolved_as_the_machine_does_without_links(names):
    path = "/first/" + "/".join(names)
    assert parse_location(path).path == os.path.normpath(path)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("file:/x", "file:///x"),
        ("/x", "file:/x/"),
        ("/x/y/..", "/x"),
        ("s3://b/x", "s3a://b/x/"),
        ("s3n://B/x", "s3://b/x"),
        ("abfs://c@a/x", "abfss://c@a/x"),
        (None, None),
        (None, ""),
        ("relative", "relative"),
    ],
)
def test_same_places(left, right):
    assert same_place(left, right)
    assert same_place(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("/x", "/X"),
        ("/x", "/x2"),
        ("/a b", "/a%20b"),
        ("s3://b/x", "gs://b/x"),
        ("s3://b/x", "s3://c/x"),
        ("hdfs://a:1/x", "hdfs://a:2/x"),
        ("/x", None),
        ("relative", "/relative"),
        ("relative", None),
    ],
)
def test_different_places(left, right):
    assert not same_place(left, right)
    assert not same_place(right, left)


def test_below_is_by_names():
    assert is_below("file:///wh/a", "/wh")
    assert is_below("s3a://b/x", "s3://b")
    assert is_below("/wh", "/")
    for outside in ("/wh", "/wh/", "/wh2", "/wh/../x", "/w", "s3://wh/a", "wh/a", ""):
        assert not is_below(outside, "/wh")
    assert not is_below("/wh/a", "wh")


def test_default_locations_are_hives():
    assert WAREHOUSE.database_location("Shop") == "file:/wh/shop.db"
    assert WAREHOUSE.database_location("Default") == "file:/wh"
    assert WAREHOUSE.table_location("file:///wh/shop.db/", "shop", "Sales") == "file:/wh/shop.db/sales"
    assert WAREHOUSE.table_location("/elsewhere", "shop", "sales") == "file:/elsewhere/sales"
    assert WAREHOUSE.table_location(None, "shop", "sales") == "file:/wh/shop.db/sales"
    assert WAREHOUSE.table_location("", "shop", "sales") == "file:/wh/shop.db/sales"
    assert WAREHOUSE.table_location("file:/elsewhere", "DEFAULT", "sales") == "file:/wh/sales"
    assert Warehouse("s3a://bucket/").table_location(None, "shop", "sales") == "s3a://bucket/shop.db/sales"


def test_folders_of_the_longest_names_can_be_made_and_taken_into_the_trash(tmp_path):
    warehouse = Warehouse(str(tmp_path / "wh"), trash=str(tmp_path / "trash"))
    twins = [warehouse.table_location(None, "shop", "T" * 255 + last) for last in "ab"]
    assert len({*twins}) == 2
    for location in twins * 2:  # the second of a name gets a time behind its name in the trash
        assert warehouse.make_folder(location)
        assert warehouse.delete(location, inside=[], purge=False)
    assert warehouse.table_location(None, "shop", "T" * 240) == f"file:{tmp_path}/wh/shop.db/" + "t" * 240


def test_the_root_is_made_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = os.path.realpath(tmp_path)
    assert Warehouse("wh").root == f"file:{here}/wh"
    assert Warehouse("./a b/../wh/").root == f"file:{here}/wh"
    assert Warehouse("a%20b:c").root != f"file:{here}/a b:c"
    assert Warehouse(f"file://{here}/wh").root == f"file:{here}/wh"
    assert not (tmp_path / "wh").exists()


@pytest.mark.parametrize("root", ["/", "file:///", "/x/..", "file:wh", ""])
def test_what_cannot_be_a_warehouse(root, monkeypatch):
    monkeypatch.chdir("/")
    with pytest.raises(FileOperationFailed):
        Warehouse(root)


def test_a_file_cannot_be_a_warehouse(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileOperationFailed, match="is a file"):
        Warehouse(str(tmp_path / "file"))
