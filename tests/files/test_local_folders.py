"""Making many local folders side by side, where others remove, replace and link what is around them."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from hbstore.errors import FileOperationFailed
from hbstore.files.local_files import LocalFolders
from hbstore.files.new_folders import making_folders
from hbstore.files.warehouse import Warehouse


@pytest.fixture
def folders():
    with closing(LocalFolders()) as folders:
        yield folders


def open_files():
    """How many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def make(folders, path):
    """Make a folder by a path that is not resolved."""
    return [Path(one) for one in folders.make_folder(folders.real(str(path)))]


def test_what_was_made_is_told_from_the_top_down(folders, tmp_path):
    assert make(folders, tmp_path / "a/b/c") == [tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c"]
    assert make(folders, tmp_path / "a/b/d") == [tmp_path / "a/b/d"]
    assert make(folders, tmp_path / "a/e") == [tmp_path / "a/e"]
    assert make(folders, tmp_path / "a/b/d") == []
    assert make(folders, tmp_path / "a") == []
    assert {str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")} == {"a", "a/b", "a/b/c", "a/b/d", "a/e"}


def test_a_file_is_no_folder(folders, tmp_path):
    (tmp_path / "file").write_text("data")
    for path in (tmp_path / "file", tmp_path / "file/inner"):
        with pytest.raises(OSError, match="file"):
            make(folders, path)
    assert (tmp_path / "file").read_text() == "data"


def test_links_are_followed_where_they_are_resolved(folders, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    assert make(folders, tmp_path / "link/a") == [tmp_path / "there/a"]
    assert make(folders, tmp_path / "link/b") == [tmp_path / "there/b"]
    (tmp_path / "there/dangling").symlink_to(tmp_path / "far")
    assert folders.real(str(tmp_path / "link/dangling")) == str(tmp_path / "far")


def test_a_link_that_comes_later_is_not_followed(folders, tmp_path):
    make(folders, tmp_path / "a/b")
    shutil.rmtree(tmp_path / "a")
    (tmp_path / "secret").mkdir()
    (tmp_path / "a").symlink_to("secret")
    with pytest.raises(OSError, match="a"):
        make(folders, tmp_path / "a/c")
    assert list((tmp_path / "secret").iterdir()) == []


def test_a_link_in_the_folder_s_own_place_is_not_followed(folders, tmp_path):
    real = folders.real(str(tmp_path / "a"))
    (tmp_path / "secret").mkdir()
    (tmp_path / "a").symlink_to("secret")
    with pytest.raises(OSError, match="a"):
        folders.make_folder(real)


def test_a_folder_that_was_removed_is_made_again(folders, tmp_path):
    make(folders, tmp_path / "a/b/c")
    shutil.rmtree(tmp_path / "a")
    assert make(folders, tmp_path / "a/b/d") == [tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/d"]
    assert make(folders, tmp_path / "a/b/e") == [tmp_path / "a/b/e"]


def test_nothing_stays_open(tmp_path):
    before = open_files()
    warehouse = Warehouse(str(tmp_path))
    with making_folders(warehouse, [f"{tmp_path}/{name}/x" for name in "abc"], list):
        assert open_files() == before
    (tmp_path / "file").write_text("data")
    failing = making_folders(warehouse, [f"{tmp_path}/file/x"], list)
    with pytest.raises(FileOperationFailed, match="folder cannot be made"), failing:
        pytest.fail("there is no such folder")
    assert open_files() == before
