"""Publications as an operator sees them, finishes them and gives them up."""

from __future__ import annotations

import pytest

from hbstore import Partition, connect
from hbstore.errors import CommitStateUnknown
from hbstore.publishing import Manifest, Move, PartitionWrite, Publisher, Removal
from tests.publishing.jobs import job, prepare


@pytest.fixture
def stuck(path, tmp_path):
    """What stands where a file of a decided publication is to be shown; another job's is leased."""
    root = tmp_path / "sales"
    with connect(f"sqlite://{path}") as store:
        prepare(store, root)
        obstacle = root / "ds=a" / "part-0-stuck"
        manifest, staged = job(root, "stuck", "a")
        obstacle.write_text("of somebody else")
        with pytest.raises(CommitStateUnknown):
            Publisher(store).publish("shop.sales", manifest, staged)
        Publisher(store).lease("shop.sales", job(root, "works", "b")[0])
    return obstacle


def listed(run_json, *arguments):
    return [(one["table"], one["publication"], one["state"]) for one in run_json("publications", "list", *arguments)]


def test_one_that_cannot_be_finished_is_seen_and_finished_later(run, run_json, stuck):
    both = [("shop.sales", "stuck", "decided"), ("shop.sales", "works", "leased")]
    assert sorted(listed(run_json)) == both
    assert sorted(listed(run_json, "shop.sales")) == both
    assert "1" in run("publications", "list").stdout.splitlines()[-1]
    reason = run("publications", "finish", "shop.sales", code=2).stderr
    assert "the file cannot be moved" in reason
    assert "the file cannot be moved" in run("repair", code=1).stderr
    stuck.unlink()
    assert run("publications", "finish", "shop.sales").stdout == "1 publication finished or cleared away\n"
    assert listed(run_json) == [("shop.sales", "works", "leased")]


def test_what_deletes_or_moves_folders_says_so(run, run_json, stuck, path):
    home = f"file:{stuck.parents[1]}"
    with connect(f"sqlite://{path}") as store:
        row = store.table_row("shop", "sales")
        drop = PartitionWrite(("c",), f"{home}/ds=c", replaced=("old",), drop=True)
        manifest = Manifest("drops", "", (drop,), removal=Removal(purge=True, trash=None))
        store.folder_changes.drop(row, manifest, {}, until=4e9)
        store.add_partitions("shop", "sales", [Partition(["e"], location=f"{home}/ds=e")])
        store.folder_changes.begin_move(row, "moves", Move(f"{home}/ds=e", f"{home}/ds=z"), 4e9, [("e",), ("z",)])
    states = {publication: state for _, publication, state in listed(run_json)}
    assert (states["drops"], states["moves"]) == ("deleting", "renaming")
    assert run("publications", "abandon", "shop.sales", "drops").stdout.splitlines()[1] == f"{home}/ds=c"


def test_one_is_given_up(run, run_json, stuck):
    assert "no such publication" in run("publications", "abandon", "shop.sales", "other", code=2).stderr
    first, file = run("publications", "abandon", "shop.sales", "stuck").stdout.splitlines()
    assert first == "given up; 1 file or folder left where it is"
    assert file.startswith(f"file:{stuck.parent}/.stuck-")
    assert run("publications", "abandon", "shop.sales", "works").stdout == "given up\n"
    assert listed(run_json) == []
