"""Links and ``..`` lead nowhere: whatever is asked, what is neither the warehouse's nor the table's own stays."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from hbstore.errors import FileOperationFailed, OutsideWarehouse
from hbstore.files.local_files import LocalFiles
from hbstore.files.locations import is_below
from hbstore.files.warehouse import Warehouse

NAMES = ("wh", "wh2", "other", "own", "db", "t", "p", "link", "a%2Fb", " ", "_x")
TARGETS = (
    *("/", ".", "..", "../..", "../../..", "../link", "link", "{base}", "{base}/other", "{base}/other/db/t"),
    *("{base}/wh", "{base}/wh/db", "{base}/own", "../other", "../../other", "{base}/nowhere", "t", "../t", "db/t"),
)


@st.composite
def paths(draw, *, first=NAMES):
    names = draw(st.lists(st.sampled_from((*NAMES, "..", ".", "")), max_size=5))
    return "/".join((draw(st.sampled_from(first)), *names))


SPOTS = ("wh/db/link", "wh/link", "own/link", "own/db/link")
FARMS = st.lists(st.tuples(st.sampled_from(SPOTS * 3) | paths(), st.sampled_from(TARGETS)), min_size=2, max_size=8)


@st.composite
def locations(draw):
    """Mostly places that are there, through links or not."""
    start = draw(st.sampled_from((*SPOTS, *SPOTS, "wh/db/t", "wh/db", "wh/t/p", "own/db", "wh/.trash/Current", "")))
    end = draw(st.sampled_from(("", "t", "p", "db/t", "other/t", "../t", "link", "link/p", "new", "..")))
    return draw(st.sampled_from([f"{start}/{end}"] * 4) | paths() | paths(first=("wh",)))


def seen(folder):
    """Everything below a folder, links as links."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            found[str(path)] = path.readlink() if path.is_symlink() else path.is_dir() or path.read_bytes()
    return found


def planted(base, farm):
    """Two warehouses' worth of folders and files, and links wherever they fit."""
    for top in ("wh", "wh2", "other", "own"):
        for below in ("db/t/p", "t", "p"):
            (base / top / below).mkdir(parents=True)
            (base / top / below / "part-0").write_text(f"{top}/{below}")
    for where, target in farm:
        path = Path(os.path.normpath(base / where))
        inner = path.is_relative_to(base) and path.parent.is_dir() and path.parent.resolve().is_relative_to(base)
        if inner and not os.path.lexists(path):
            path.symlink_to(target.format(base=base))


@pytest.fixture(scope="module")
def ground():
    folder = Path(tempfile.mkdtemp()).resolve()
    yield folder
    shutil.rmtree(folder)


@given(
    farm=FARMS,
    action=st.sampled_from(["delete", "trash", "move", "make", "parents"]),
    location=locations(),
    second=locations(),
    form=st.sampled_from(["{}", "file:{}", "file://{}", "file:///{}"]),
)
def test_nothing_outside_changes(ground, farm, action, location, second, form):
    with tempfile.TemporaryDirectory(dir=ground) as folder:
        base = Path(folder, "base")
        base.mkdir()
        planted(base, farm)
        own = [f"file:{base}/own", f"{base}/wh/db/t", f"{base}/wh/link"]
        warehouse = Warehouse(str(base / "wh"), trash=str(base / "wh" / ".trash") if action == "trash" else None)
        there, target = form.format(base / location), form.format(base / second)
        before = {path: what for path, what in seen(ground).items() if not ours(path, base)}
        root = (base / "wh").stat().st_ino
        try:
            if action in ("delete", "trash"):
                changed = warehouse.delete(there, inside=own, purge=False)
            elif action == "move":
                changed = warehouse.move(there, target, inside=own)
            elif action == "parents":
                warehouse.delete_empty_parents(there, below=target if second.startswith("wh") else own[0])
                changed = True
            else:
                changed = warehouse.make_folder(there)
        except OutsideWarehouse:
            event("refused as outside")
        except FileOperationFailed:
            event("refused by the machine")
        else:
            event(f"{action}: {'changed' if changed else 'nothing to do'}")
            if action == "make" and not is_below(there, warehouse.root):
                return  # a table may have its own location anywhere
        after = {path: what for path, what in seen(ground).items() if not ours(path, base)}
        assert after == before
        assert (base / "wh").stat().st_ino == root


def ours(path, base):
    return Path(path).is_relative_to(base / "wh") or Path(path).is_relative_to(base / "own")


@pytest.fixture
def base(tmp_path):
    planted(tmp_path, [])
    return tmp_path


@pytest.fixture
def warehouse(base):
    return Warehouse(str(base / "wh"))


def test_a_link_is_removed_and_not_what_it_points_to(base, warehouse):
    (base / "wh/db/t/p/all").symlink_to(base / "other")
    (base / "wh/db/t/p/one").symlink_to(base / "other/t/part-0")
    (base / "wh/db/link").symlink_to(base / "other")
    before = seen(base / "other")
    assert warehouse.delete(f"{base}/wh/db/link", inside=[], purge=True)
    assert not os.path.lexists(base / "wh/db/link")
    assert warehouse.delete(f"{base}/wh/db/t", inside=[], purge=True)
    assert not (base / "wh/db/t").exists()
    assert seen(base / "other") == before


def test_a_dangling_or_circular_link_is_removed(base, warehouse):
    (base / "wh/dangling").symlink_to("nowhere")
    (base / "wh/circle").symlink_to("circle")
    for name in ("dangling", "circle"):
        assert warehouse.delete(f"{base}/wh/{name}", inside=[], purge=True)
        assert not os.path.lexists(base / "wh" / name)


def test_a_link_out_of_the_warehouse_is_not_followed(base, warehouse):
    (base / "wh/db/link").symlink_to(base / "other")
    before = seen(base)
    for inside in ([], [f"{base}/wh/db/link"], [f"{base}/wh/db"]):
        with pytest.raises(OutsideWarehouse):
            warehouse.delete(f"{base}/wh/db/link/t", inside=inside, purge=True)
        with pytest.raises(OutsideWarehouse):
            warehouse.move(f"{base}/wh/db/link/t", f"{base}/wh/db/t2", inside=inside)
        with pytest.raises(OutsideWarehouse):
            warehouse.move(f"{base}/wh/db/t", f"{base}/wh/db/link/t2", inside=inside)
    with pytest.raises(OutsideWarehouse, match="target of the link"):
        warehouse.make_folder(f"{base}/wh/db/link/new")
    assert not warehouse.make_folder(f"{base}/wh/db/link/t")
    assert seen(base) == before


def test_a_link_inside_the_warehouse_is_followed(base, warehouse):
    (base / "wh/latest").symlink_to("db/t")
    assert warehouse.make_folder(f"{base}/wh/latest/new")
    assert (base / "wh/db/t/new").is_dir()
    assert warehouse.move(f"{base}/wh/latest/new", f"{base}/wh/latest/newer", inside=[])
    assert warehouse.delete(f"{base}/wh/latest/newer", inside=[], purge=True)
    assert sorted(path.name for path in (base / "wh/db/t").iterdir()) == ["p"]


def test_the_warehouse_itself_may_be_behind_links(base):
    (base / "a").symlink_to(base)
    (base / "wh-link").symlink_to("a/wh")
    warehouse = Warehouse(str(base / "wh-link"))
    assert warehouse.delete(f"{base}/wh-link/db/t/p", inside=[], purge=True)
    assert warehouse.delete(f"{base}/wh/db/t", inside=[], purge=True)
    before = seen(base)
    for kept in ("wh-link", "wh", "a/wh", "a"):
        with pytest.raises(OutsideWarehouse):
            warehouse.delete(f"{base}/{kept}", inside=[str(base)], purge=True)
    assert seen(base) == before


def test_a_table_of_its_own_may_be_below_links(base, warehouse):
    (base / "disk").symlink_to(base / "own")
    table = f"{base}/disk/db/t"
    assert warehouse.delete(f"{table}/p", inside=[table], purge=True)
    assert not (base / "own/db/t/p").exists()
    with pytest.raises(OutsideWarehouse):
        warehouse.delete(f"{base}/disk/t", inside=[table], purge=True)
    assert (base / "own/t").is_dir()


def test_the_whole_disk_is_nobodys_own(base, warehouse):
    before = seen(base)
    with pytest.raises(OutsideWarehouse):
        warehouse.delete(f"{base}/other/t", inside=["file:/", "/"], purge=True)
    assert seen(base) == before


def test_a_folder_that_became_a_link_meanwhile_is_not_followed(base):
    """What `Warehouse` found to be a folder may be a link when it is opened: the walk must not follow it."""
    (base / "wh/db/link").symlink_to(base / "other")
    files, before = LocalFiles(), seen(base)
    inner = f"{base}/wh/db/link/t"
    for change in (
        lambda: files.delete(inner),
        lambda: files.delete(f"{inner}/part-0"),
        lambda: files.make_folder(f"{inner}/new"),
        lambda: files.move(inner, f"{base}/wh/x"),
        lambda: files.move(f"{base}/wh/t", f"{inner}2"),
        lambda: files.delete_empty(inner),
    ):
        with pytest.raises(NotADirectoryError):
            change()
    assert seen(base) == before


def test_links_to_files_count_and_links_to_folders_do_not(base, warehouse):
    (base / "wh/p/file").symlink_to(base / "other/t/part-0")
    (base / "wh/p/folder").symlink_to(base / "other")
    (base / "wh/p/circle").symlink_to(base / "wh/p")
    (base / "wh/p/dangling").symlink_to("nowhere")
    assert warehouse.quick_statistics(f"{base}/wh/p") == (2, len("wh/p") + len("other/t"))


def test_empty_parents_go_up_to_the_table(base, warehouse):
    table = base / "wh/db/t"
    (table / "x=1/y=2/z=3").mkdir(parents=True)
    (table / "x=1/y=2/_SUCCESS").touch()
    warehouse.delete_empty_parents(f"{table}/x=1/y=2/z=4", below=str(table))
    assert (table / "x=1/y=2/z=3").is_dir()
    (table / "x=1/y=2/_SUCCESS").unlink()
    (table / "x=1/y=2/z=3").rmdir()
    warehouse.delete_empty_parents(f"{table}/x=1/y=2/z=3", below=f"file://{table}")
    assert sorted(path.name for path in table.iterdir()) == ["p"]
    shutil.rmtree(table / "p")
    warehouse.delete_empty_parents(f"{table}/p", below=str(table))
    assert table.is_dir()


def test_empty_parents_that_are_elsewhere_stay(base, warehouse):
    (base / "other/empty/p").mkdir(parents=True)
    (base / "other/empty/p").rmdir()
    warehouse.delete_empty_parents(f"{base}/other/empty/p", below=f"{base}/wh/db/t")
    (base / "wh/db/t/link").symlink_to(base / "other")
    warehouse.delete_empty_parents(f"{base}/wh/db/t/link/empty/p", below=f"{base}/wh/db/t")
    assert (base / "other/empty").is_dir()
