"""The trash, laid out as Hadoop's."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

import pytest

from hbstore.errors import FileOperationFailed, OutsideWarehouse
from hbstore.files.warehouse import Warehouse
from tests.files.warehouses import LocalWorld, world


@pytest.fixture
def here(tmp_path):
    return LocalWorld(tmp_path, trash=str(tmp_path / "user" / ".Trash"))


@pytest.fixture
def wh(here):
    return here.warehouse


def resting(here):
    """The files in the trash's current part, by the path that they had."""
    start = f"user/.Trash/Current{here.folder}/"
    return {name.removeprefix(start): content for name, content in here.files().items() if name.startswith(start)}


def test_what_is_deleted_rests_in_the_trash(here, wh):
    here.write(f"{wh.root}/db/t/p/x", b"1")
    assert wh.delete(f"{wh.root}/db/t", inside=[], purge=False)
    assert not wh.exists(f"{wh.root}/db/t")
    assert wh.exists(f"{wh.root}/db")
    assert resting(here) == {"wh/db/t/p/x": b"1"}


def test_what_is_purged_does_not(here, wh):
    here.write(f"{wh.root}/db/t/p/x", b"1")
    assert wh.delete(f"{wh.root}/db/t", inside=[], purge=True)
    assert here.files() == {}


def test_what_is_not_there_does_not_come_into_the_trash(here, wh):
    assert not wh.delete(f"{wh.root}/db/t", inside=[], purge=False)
    assert resting(here) == {}


def test_deleting_a_place_again_keeps_both(here, wh):
    for content in (b"1", b"2", b"3"):
        here.write(f"{wh.root}/t/x", content)
        assert wh.delete(f"{wh.root}/t", inside=[], purge=False)
    assert sorted(resting(here).values()) == [b"1", b"2", b"3"]
    assert resting(here)["wh/t/x"] == b"1"
    assert all(name.startswith("wh/t") for name in resting(here))


def test_what_holds_the_trash_stays(here, wh):
    here.write(f"file:{here.folder}/user/mine", b"1")
    for location in (f"{here.folder}/user", f"{here.folder}/user/.Trash"):
        with pytest.raises(OutsideWarehouse, match="trash"):
            wh.delete(location, inside=[location], purge=True)
    assert here.files() == {"user/mine": b"1"}


def test_what_is_in_the_trash_is_removed(here, wh):
    here.write(f"{wh.root}/t/x", b"1")
    wh.delete(f"{wh.root}/t", inside=[], purge=False)
    there = f"{here.folder}/user/.Trash/Current"
    with pytest.raises(OutsideWarehouse):
        wh.delete(there, inside=[], purge=False)
    assert wh.delete(there, inside=[there], purge=False)
    assert here.files() == {}


def test_a_link_moves_to_the_trash_as_a_link(wh, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "wh").mkdir()
    (tmp_path / "wh" / "link").symlink_to(tmp_path / "other")
    assert wh.delete(f"{wh.root}/link", inside=[], purge=False)
    moved = tmp_path / f"user/.Trash/Current{tmp_path}/wh/link"
    assert moved.is_symlink()
    assert (tmp_path / "other").is_dir()


def test_a_trash_inside_the_warehouse(tmp_path):
    here = LocalWorld(tmp_path, trash=str(tmp_path / "wh" / ".Trash"))
    here.write(f"{here.warehouse.root}/t/x")
    assert here.warehouse.delete(f"{here.warehouse.root}/t", inside=[], purge=False)
    assert here.files() == {f"wh/.Trash/Current{tmp_path}/wh/t/x": b"data"}


def test_a_trash_elsewhere_removes_nothing(tmp_path):
    here = world("memory", tmp_path)
    warehouse = Warehouse(here.warehouse.root, trash=str(tmp_path / "trash"))
    here.write(f"{warehouse.root}/t/x")
    with pytest.raises(FileOperationFailed, match="another file system"):
        warehouse.delete(f"{warehouse.root}/t", inside=[], purge=False)
    assert here.files() == {"wh/t/x": b"data"}
    assert warehouse.delete(f"{warehouse.root}/t", inside=[], purge=True)


def test_a_remote_trash(tmp_path):
    here = world("memory", tmp_path)
    bucket = here.warehouse.root.removesuffix("/wh")
    warehouse = Warehouse(here.warehouse.root, trash=f"{bucket}/user/.Trash")
    here.write(f"{warehouse.root}/t/x")
    assert warehouse.delete(f"{warehouse.root}/t", inside=[], purge=False)
    assert here.files() == {"user/.Trash/Current/wh/t/x": b"data"}


def test_a_trash_on_another_disk_removes_nothing(here, wh, tmp_path):
    shared = "/dev/shm"  # noqa: S108  another disk than that of temporary folders, on Linux
    if not Path(shared).is_dir() or Path(shared).stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no other disk at hand")
    trash = f"{shared}/hbstore-{uuid.uuid4().hex}"
    warehouse = Warehouse(wh.root, trash=trash)
    here.write(f"{wh.root}/t/x")
    try:
        with pytest.raises(FileOperationFailed, match="Invalid cross-device link"):
            warehouse.delete(f"{wh.root}/t", inside=[], purge=False)
    finally:
        shutil.rmtree(trash)
    assert here.files() == {"wh/t/x": b"data"}
