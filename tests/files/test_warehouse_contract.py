"""What every file system does alike."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hbstore.errors import CommitStateUnknown, FileOperationFailed, OutsideWarehouse, StoreUnavailable
from hbstore.files import local_files
from hbstore.files.interface import Hold
from hbstore.files.new_folders import making_folders
from hbstore.files.remote_files import RemoteFiles
from hbstore.files.warehouse import Warehouse
from tests.files.warehouses import KINDS, LocalWorld, RemoteWorld, world
from tests.interleaved import Between
from tests.processes import Process, say


@pytest.fixture(params=KINDS)
def here(request, tmp_path):
    return world(request.param, tmp_path)


@pytest.fixture
def wh(here):
    return here.warehouse


@pytest.fixture
def table(here):
    """The location of a table with three files in two partitions."""
    location = f"{here.warehouse.root}/shop.db/sales"
    here.write(f"{location}/ds=1/part-0", b"1")
    here.write(f"{location}/ds=1/part-1", b"22")
    here.write(f"{location}/ds=2/part-0", b"333")
    return location


FILES = {
    "wh/shop.db/sales/ds=1/part-0": b"1",
    "wh/shop.db/sales/ds=1/part-1": b"22",
    "wh/shop.db/sales/ds=2/part-0": b"333",
}


def without(prefix):
    return {name: content for name, content in FILES.items() if not name.startswith(prefix)}


def test_a_folder_is_made_once(wh):
    location = f"{wh.root}/a/b/c"
    assert not wh.exists(location)
    assert wh.make_folder(location)
    assert wh.exists(location)
    assert wh.is_empty(location)
    assert not wh.is_empty(f"{wh.root}/a")
    assert not wh.make_folder(location)
    assert not wh.make_folder(wh.root)


def test_a_folder_is_not_made_over_a_file(wh, here, table):
    with pytest.raises(FileOperationFailed, match="folder cannot be made"):
        wh.make_folder(f"{table}/ds=1/part-0")
    assert here.files() == FILES


@pytest.mark.parametrize("name", ["a b", "a%20b", "%2e%2e", "ä日本", "a#b", "a:b", "{b}", "~", "ds=a%2Fb", "'\""])
def test_names_are_taken_as_they_stand(wh, here, name):
    location = f"{wh.root}/{name}"
    wh.make_folder(location)
    here.write(f"{location}/x")
    assert here.files() == {f"wh/{name}/x": b"data"}
    assert wh.quick_statistics(location) == (1, 4)
    assert wh.move(location, f"{wh.root}/{name}/../2{name}", inside=[])
    assert here.files() == {f"wh/2{name}/x": b"data"}
    assert wh.delete(f"{wh.root}/2{name}", inside=[], purge=False)
    assert here.files() == {}


@pytest.mark.parametrize("pattern", ["*", "ds=?", "ds=[12]", "**", "{ds=1,ds=2}"])
def test_patterns_match_nothing_but_themselves(here, wh, table, pattern):
    fsspec_would_match = isinstance(here, RemoteWorld) and "fsspec" in here.fs.type_name and not pattern.startswith("{")
    assert not wh.delete(f"{table}/{pattern}", inside=[], purge=True)
    assert not wh.move(f"{table}/{pattern}", f"{table}/ds=3", inside=[])
    assert here.files() == FILES
    here.write(f"{table}/{pattern}/x")
    if fsspec_would_match:
        for change in (
            lambda: wh.delete(f"{table}/{pattern}", inside=[], purge=True),
            lambda: wh.delete(f"{table}/{pattern}/x", inside=[], purge=True),
            lambda: wh.move(f"{table}/{pattern}", f"{table}/ds=3", inside=[]),
            lambda: wh.move(f"{table}/ds=1", f"{table}/{pattern}2", inside=[]),
        ):
            with pytest.raises(FileOperationFailed, match="patterns"):
                change()
        assert here.files() == FILES | {f"wh/shop.db/sales/{pattern}/x": b"data"}
    else:
        assert wh.move(f"{table}/{pattern}", f"{table}/{pattern}2", inside=[])
        assert wh.delete(f"{table}/{pattern}2", inside=[], purge=True)
        assert here.files() == FILES


def test_a_tree_is_removed_with_all_that_is_in_it(wh, here, table):
    assert wh.delete(f"{table}/ds=1", inside=[], purge=True)
    assert here.files() == without("wh/shop.db/sales/ds=1")
    assert not wh.exists(f"{table}/ds=1")
    assert wh.delete(table, inside=[], purge=False)
    assert here.files() == {}


def test_what_is_not_there_is_not_removed(wh, here, table):
    assert not wh.delete(f"{table}/ds=3", inside=[], purge=False)
    assert not wh.delete(f"{table}/ds=3/deeper/still", inside=[], purge=False)
    assert here.files() == FILES


def test_a_file_at_a_location_is_removed(wh, here, table):
    assert wh.delete(f"{table}/ds=2/part-0", inside=[], purge=False)
    assert here.files() == without("wh/shop.db/sales/ds=2")


@pytest.mark.parametrize("into_the_trash", [False, True], ids=["", "into the trash"])
@pytest.mark.parametrize("what", ["", "/ds=2/part-0"], ids=["a folder", "a file"])
def test_several_remove_the_same_at_once(here, wh, table, what, into_the_trash, monkeypatch):
    """Another one at each step of the first."""
    if into_the_trash:
        wh = Warehouse(wh.root, trash=wh.root.removesuffix("/wh") + "/.Trash")
        wh._systems._open.update(here.warehouse._systems._open)
    steps = ((local_files, "_kind"), (os, "unlink"), (os, "rmdir"), (os, "rename"), (RemoteFiles, "_kind"))
    calls = [getattr(owner, name) for owner, name in steps]
    at, left = 0, -1
    while left < 0:
        for name in FILES:
            here.write(f"{wh.root.removesuffix('/wh')}/{name}")
        between = Between(at, lambda: wh.delete(f"{table}{what}", inside=[], purge=False))
        with monkeypatch.context() as patch:
            for (owner, name), call in zip(steps, calls, strict=True):
                patch.setattr(owner, name, between.around(call))
            wh.delete(f"{table}{what}", inside=[], purge=False)
        assert not wh.exists(f"{table}{what}"), f"the other came at step {at}"
        left = between.left
        at += 1
    assert at > 2


@pytest.mark.parametrize("is_staged", [False, True], ids=["moved", "brought"])
def test_a_file_moves_where_another_removes_empty_folders(here, wh, table, is_staged, monkeypatch):
    """At each step: the folder that the file goes to was made a moment ago, and is empty."""
    home, calls = f"{table}/ds=9/hour=1", [getattr(os, name) for name in ("open", "mkdir", "rename")]
    at, left = 0, -1
    while left < 0:
        here.write(f"{wh.root.removesuffix('/wh')}/wh/shop.db/sales/ds=1/staged")
        between = Between(at, lambda: wh.delete_empty_parents(f"{home}/x", below=table))
        with monkeypatch.context() as patch:
            for call in calls:
                patch.setattr(os, call.__name__, between.around(call))
            if is_staged:
                wh.bring({f"{table}/ds=1/staged": f"{home}/shown"}, inside=[])
            else:
                assert wh.move(f"{table}/ds=1/staged", f"{home}/shown", inside=[])
        assert wh.exists(f"{home}/shown"), f"the other came at step {at}"
        wh.delete(f"{table}/ds=9", inside=[], purge=True)
        left = between.left
        at += 1


def test_only_what_is_ours_is_removed(wh, here, table):
    outside = wh.root.removesuffix("/wh") + "/elsewhere"
    here.write(f"{outside}/t/x", b"x")
    before = here.files()
    places = [f"{outside}/t", f"{outside}/t/x", outside, f"{table}/../../../elsewhere/t", f"{wh.root}2/x"]
    for location in places:
        for inside in ([], [table], [f"{outside}/t2"], ["", "nowhere"], [f"{outside}/t/x/deeper"]):
            with pytest.raises(OutsideWarehouse):
                wh.delete(location, inside=inside, purge=True)
            with pytest.raises(OutsideWarehouse):
                wh.move(location, f"{table}/ds=9", inside=inside)
            with pytest.raises(OutsideWarehouse):
                wh.move(f"{table}/ds=1", f"{location}/new", inside=inside)
    assert here.files() == before
    assert wh.delete(f"{outside}/t/x", inside=[table, f"{outside}/t"], purge=True)
    assert wh.delete(f"{outside}/t", inside=[f"{outside}/t"], purge=True)
    assert here.files() == FILES


def test_the_warehouse_and_what_holds_it_stay(wh, here, table):
    parent = wh.root.removesuffix("/wh")
    for location in (wh.root, f"{wh.root}/", f"{table}/../..", parent):
        with pytest.raises(OutsideWarehouse, match="or a folder around them"):
            wh.delete(location, inside=[wh.root, parent, location], purge=True)
        with pytest.raises(OutsideWarehouse, match="or a folder around them"):
            wh.move(location, f"{parent}/other", inside=[wh.root, parent, location])
    assert here.files() == FILES


def test_a_folder_moves_with_all_that_is_in_it(wh, here, table):
    assert wh.move(f"{table}/ds=1", f"{wh.root}/new.db/t/ds=1", inside=[])
    assert here.files() == {
        "wh/new.db/t/ds=1/part-0": b"1",
        "wh/new.db/t/ds=1/part-1": b"22",
        "wh/shop.db/sales/ds=2/part-0": b"333",
    }
    assert not wh.exists(f"{table}/ds=1")


def test_a_move_keeps_hidden_and_nested_files(wh, here, table):
    here.write(f"{table}/_delta/.x/0.json", b"{}")
    assert wh.move(table, f"{wh.root}/moved", inside=[])
    assert here.files() == {
        **{name.replace("shop.db/sales", "moved"): content for name, content in FILES.items()},
        "wh/moved/_delta/.x/0.json": b"{}",
    }


def hold_for_ever(root, location):
    """Called in a process."""
    with Warehouse(root).held(location) as hold:
        say(hold.name)
        threading.Event().wait()


def test_a_folder_has_one_holder_wherever_it_moves_and_until_that_dies(here, wh, table, tmp_path):
    elsewhere = f"{wh.root}/shop.db/sold"
    if not isinstance(here, LocalWorld):
        with wh.held(table) as hold:
            assert hold is Hold.UNTOLD
        return
    identity = wh.identity(table)
    process = Process(__name__, hold_for_ever.__name__, wh.root, table)
    process.heard(1)
    with wh.held(table, identity) as hold:
        assert hold is Hold.OTHERS
    wh.move(table, elsewhere, inside=[])
    for place, is_held in ((elsewhere, Hold.OTHERS), (table, Hold.GONE)):
        with wh.held(place, identity) as hold:
            assert hold is is_held
    assert process.kill() == [["MINE"]]
    with wh.held(elsewhere, identity) as hold, wh.held(elsewhere) as second:
        assert (hold, second) == (Hold.MINE, Hold.OTHERS)
    (tmp_path / "wh/shop.db/link").symlink_to(tmp_path / "wh/shop.db/sold")
    for other in (f"{wh.root}/shop.db/link", f"{elsewhere}/ds=1"):
        with wh.held(other, identity) as hold:
            assert hold is Hold.GONE, "it is another one"


def test_what_is_not_there_does_not_move(wh, table):
    assert not wh.move(f"{table}/ds=3", f"{table}/ds=4", inside=[])
    assert not wh.exists(f"{table}/ds=4")
    assert not wh.move(table, f"{table}/", inside=[])
    assert wh.exists(table)


def test_nothing_moves_onto_something(wh, here, table):
    wh.make_folder(f"{table}/empty")
    for target in ("ds=2", "ds=2/part-0", "empty"):
        with pytest.raises(FileOperationFailed, match="target already exists"):
            wh.move(f"{table}/ds=1", f"{table}/{target}", inside=[])
    with pytest.raises(FileOperationFailed, match="inside the source"):
        wh.move(table, f"{table}/ds=1/deeper", inside=[])
    assert here.files() == FILES


def test_nothing_moves_to_another_file_system(wh, here, table):
    with pytest.raises(FileOperationFailed, match="from one file system to another"):
        wh.move(table, "hdfs://other/wh/t", inside=["hdfs://other/wh"])
    assert here.files() == FILES


def test_files_are_counted_without_hidden_ones(wh, here, table):
    for hidden in ("_SUCCESS", ".part-0.crc", "_temporary/0/part-9", "ds=1/_x", "ds=1/.hive-staging/part-1"):
        here.write(f"{table}/{hidden}", b"hidden!")
    here.write(f"{table}/ds=2/deeper/part-_", b"4444")
    assert wh.quick_statistics(table) == (4, 10)
    assert wh.quick_statistics(f"{table}/ds=1") == (2, 3)
    assert wh.quick_statistics(f"{table}/ds=1/.hive-staging") == (1, 7)
    assert wh.quick_statistics(f"{table}/ds=1/part-1") == (1, 2)
    assert wh.quick_statistics(f"{table}/ds=3") is None
    wh.make_folder(f"{table}/ds=3")
    assert wh.quick_statistics(f"{table}/ds=3") == (0, 0)


def test_hidden_files_are_something(wh, here, table):
    here.write(f"{table}/ds=3/_SUCCESS")
    assert not wh.is_empty(f"{table}/ds=3")
    assert not wh.is_empty(f"{table}/ds=4")
    assert not wh.is_empty(f"{table}/ds=1/part-0")


def test_folders_of_a_call_that_succeeds_stay(wh, table):
    locations = [f"{table}/ds=1", f"{table}/ds=3", f"{table}/ds=4/hour=5"]
    with making_folders(wh, locations, list) as made:
        assert made == [False, True, True]
    assert all(map(wh.exists, locations))


def test_folders_of_a_call_that_fails_are_removed_where_they_are_empty(wh, here, table):
    """Only local ones: elsewhere nothing sees that a folder is empty and removes it in one step."""
    empty, full = f"{table}/ds=3", f"{table}/ds=4"

    def failing_call():
        with making_folders(wh, [f"{table}/ds=1", empty, full, empty], list):
            here.write(f"{full}/part-0")
            raise StoreUnavailable("gone")

    with pytest.raises(StoreUnavailable, match="gone"):
        failing_call()
    assert wh.exists(empty) == isinstance(here, RemoteWorld)
    assert here.files() == FILES | {"wh/shop.db/sales/ds=4/part-0": b"data"}


def test_folders_of_a_call_that_fails_stay_where_the_catalog_names_them(wh, table):
    mine, another = f"{table}/ds=3", f"{table}/ds=4"
    with pytest.raises(StoreUnavailable), making_folders(wh, [mine, another], lambda: [None, another]):
        raise StoreUnavailable("gone")
    assert wh.exists(another)

    def away():
        raise StoreUnavailable("the catalog is gone as well")

    with pytest.raises(StoreUnavailable, match="gone"), making_folders(wh, [mine], away):
        raise StoreUnavailable("gone")
    assert wh.exists(mine)


def test_a_local_folder_that_another_call_removed_is_made_again(wh, here, table):
    with making_folders(wh, [f"{table}/ds=1"], list) as made:
        wh.delete(f"{table}/ds=1", inside=[], purge=True)
    assert made == [False]
    assert wh.exists(f"{table}/ds=1") != isinstance(here, RemoteWorld)


def test_a_folder_that_cannot_be_made_takes_the_others_with_it(here, wh, table):
    with pytest.raises(FileOperationFailed), making_folders(wh, [f"{table}/ds=3", f"{table}/ds=1/part-0"], list):
        pytest.fail("there is no second folder")
    assert wh.exists(f"{table}/ds=3") == isinstance(here, RemoteWorld)


def test_files_are_brought_by_several_at_once_and_again(wh, here, table):
    names = [f"part-{number}" for number in range(3 if isinstance(here, RemoteWorld) else 100)]
    staged = {f"{wh.root}/_staged/{name}": f"{table}/ds=5/{name}" for name in names}
    for source in staged:
        here.write(source, source.encode())
    half = dict(list(staged.items())[: len(names) // 2])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda files: wh.bring(files, inside=[]), [staged, half, staged, staged]))
    wh.delete(f"{wh.root}/_staged", inside=[], purge=True)
    wh.bring(staged, inside=[])
    brought = {target.partition(wh.root)[2]: source.encode() for source, target in staged.items()}
    assert here.files() == FILES | {f"wh{path}": content for path, content in brought.items()}


def test_a_file_that_is_nowhere_is_not_brought(wh, here, table):
    with pytest.raises(FileOperationFailed, match="cannot be moved"):
        wh.bring({f"{table}/ds=1/gone": f"{table}/ds=5/gone"}, inside=[])
    assert here.files() == FILES


def test_folders_stay_where_the_outcome_is_not_known(wh, table):
    with pytest.raises(CommitStateUnknown), making_folders(wh, [f"{table}/ds=3"], list):
        raise CommitStateUnknown("who knows")
    assert wh.exists(f"{table}/ds=3")
