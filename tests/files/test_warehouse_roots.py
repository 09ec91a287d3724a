"""Roots: with `also_under` only they decide, however a location is written and wherever links lead."""

from __future__ import annotations

import pytest

from hbstore.errors import FileOperationFailed, OutsideWarehouse
from hbstore.files.warehouse import Warehouse


@pytest.mark.parametrize(
    ("location", "is_below"),
    [
        ("/wh/shop.db/sales", True),
        ("file:///wh/sales", True),
        ("/data/own/sales", True),
        ("FILE:/data//own/./sales", True),
        ("/data/own", False),  # a root itself
        ("/data", False),  # what holds one
        ("/wh", False),
        ("/data/owner/sales", False),
        ("/data/own/../sales", False),
        ("/wh/../../etc", False),
        ("/", False),
        ("s3://bucket/x/sales", True),
        ("s3a://bucket/x/sales", True),
        ("s3a://BUCKET/x/sales", True),
        ("s3a://bucket/xy", False),
        ("s3a://bucket/x", False),
        ("s3a://bucket/x/../y", False),
        ("s3a://other/x/sales", False),
        ("gs://bucket/x/sales", False),
        ("hdfs://bucket/x/sales", False),
        ("file:/bucket/x/sales", False),
        ("wasb://bucket/x/sales", False),
    ],
)
def test_only_below_a_root(location, is_below):
    warehouse = Warehouse("/wh", also_under=["/data/own/", "s3a://bucket/x"])
    if is_below:
        warehouse.check_under_roots(location)
        return
    with pytest.raises(OutsideWarehouse):
        warehouse.check_under_roots(location)


def test_a_caller_s_own_place_does_not_count(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    strict = Warehouse(str(tmp_path / "wh"), also_under=[])
    with pytest.raises(OutsideWarehouse, match="--also-under"):
        strict.delete(str(outside), inside=[str(outside)], purge=True)
    with pytest.raises(OutsideWarehouse, match="--also-under"):
        strict.move(str(outside), str(tmp_path / "wh/x"), inside=[str(tmp_path)])
    (tmp_path / "wh/y").mkdir(parents=True)
    with pytest.raises(OutsideWarehouse, match="--also-under"):
        strict.move(str(tmp_path / "wh/y"), str(outside / "y"), inside=[str(tmp_path)])
    assert outside.exists()
    Warehouse(str(tmp_path / "wh")).delete(str(outside), inside=[str(outside)], purge=True)
    assert not outside.exists()


def test_links_lead_neither_out_of_a_root_nor_into_another_place(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "secret/deep").mkdir(parents=True)
    (tmp_path / "own/link").symlink_to(tmp_path / "secret")
    (tmp_path / "to-own").symlink_to(tmp_path / "own")
    warehouse = Warehouse(str(tmp_path / "wh"), also_under=[str(tmp_path / "own")])
    with pytest.raises(OutsideWarehouse):
        warehouse.delete(str(tmp_path / "own/link/deep"), inside=[], purge=True)
    with pytest.raises(OutsideWarehouse):
        warehouse.delete(str(tmp_path / "to-own"), inside=[], purge=True)  # on no way into the root
    warehouse.delete(str(tmp_path / "own/link"), inside=[], purge=True)  # the link itself
    assert (tmp_path / "secret/deep").exists()
    (tmp_path / "own/sales").mkdir()
    warehouse.delete(str(tmp_path / "to-own/sales"), inside=[], purge=True)
    assert not (tmp_path / "own/sales").exists()


def test_what_is_to_be_done_about_a_root_names_the_parameter_as_it_is_written(tmp_path):
    with pytest.raises(OutsideWarehouse) as caught:
        Warehouse(str(tmp_path / "wh"), also_under=[]).delete(str(tmp_path / "wh"), inside=[], purge=True)
    assert caught.value.hint.startswith("Leave the files")
    assert "EXTERNAL to TRUE" in caught.value.hint


def test_empty_folders_around_are_removed_up_to_the_root(tmp_path):
    (tmp_path / "home/own/a/b").mkdir(parents=True)
    strict = Warehouse(str(tmp_path / "wh"), also_under=[str(tmp_path / "home/own")])
    strict.delete_empty_parents(str(tmp_path / "home/own/a/b/c"), below=str(tmp_path))
    assert [path.name for path in (tmp_path / "home").rglob("*")] == ["own"]
    (tmp_path / "other/a/b").mkdir(parents=True)
    strict.delete_empty_parents(str(tmp_path / "other/a/b"), below=str(tmp_path / "other"))
    assert (tmp_path / "other/a").exists()


def test_a_root_is_a_folder_and_not_the_whole_disk(tmp_path):
    (tmp_path / "file").write_text("")
    for root in ("/", "/data/..", str(tmp_path / "file")):
        with pytest.raises(FileOperationFailed):
            Warehouse("/wh", also_under=[root])
