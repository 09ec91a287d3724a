"""Publishing: a job that dies anywhere leaves the table as it was, or finished; two jobs on one partition conflict."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import count

import pytest

from hbstore import Partition, PartitionStore
from hbstore.errors import ConcurrentChange, PublicationLost, WriteConflict
from hbstore.publishing import Publisher
from hbstore.rows import connect as connect_rows
from hbstore.store import publications
from tests.publishing.dying import dying, much_later, recover_later
from tests.publishing.jobs import AFTER, BEFORE, job, prepare, seen


@pytest.fixture
def store(url, tmp_path):
    with PartitionStore(connect_rows(url)) as store:
        prepare(store, tmp_path / "sales")
        yield store


def test_all_that_a_job_wrote_is_there_and_nothing_else(store, tmp_path):
    root = tmp_path / "sales"
    Publisher(store).publish("shop.sales", *job(root))
    assert seen(store, root) == AFTER
    assert sorted(path.name for path in root.rglob("*")) == sorted(
        ["_hbstore", "ds=a", "old", "part-0-job1", "ds=b", "part-0-job1", "ds=d", "part-0-job1"]
    )
    parameters = store.get_partition("shop", "sales", ["a"]).parameters
    assert parameters["kept"] == "yes"
    assert "COLUMN_STATS_ACCURATE" not in parameters
    assert store.publications.of(store.publications.row("shop", "sales")) == []


def test_a_job_that_dies_anywhere_leaves_the_table_as_it_was_or_finished(url, tmp_path):
    outcomes = []
    for at in range(200):
        root = tmp_path / str(at)
        store = PartitionStore(connect_rows(url))
        prepare(store, root)
        with dying(store, at) as process:
            Publisher(process.store).publish("shop.sales", *job(root))
        found = seen(store, root)
        assert found in (BEFORE, AFTER), at
        outcomes.append(found == AFTER)
        recover_later(store, ("shop", "sales"))
        assert seen(store, root) == found
        assert store.publications.of(store.publications.row("shop", "sales")) == []
        left = [path.name for path in root.rglob("*") if path.name.startswith(".") or path.name == "job1"]
        if outcomes[-1] or at > 2:  # else nobody knew of the job yet
            assert left == [], at
        if not process.died:
            break
    else:
        pytest.fail("it never came to its end")
    assert outcomes == sorted(outcomes), "before the decision nothing is seen, after it all"
    assert not outcomes[0]
    assert outcomes[-1]


def test_two_jobs_on_different_partitions_both_succeed(store, tmp_path):
    root = tmp_path / "sales"
    leased, _ = job(root, "job2", "d")
    Publisher(store).lease("shop.sales", leased)
    Publisher(store).publish("shop.sales", *job(root, "job1", "ab"))
    assert seen(store, root)["a"] == (["job1 a", "old a"], "11")


def test_two_jobs_on_one_partition_conflict(store, tmp_path):
    root = tmp_path / "sales"
    leased, _ = job(root, "job2", "ad")
    Publisher(store).lease("shop.sales", leased)
    manifest, staged = job(root, "job1", "ab")
    with pytest.raises(WriteConflict, match="ds=a"):
        Publisher(store).publish("shop.sales", manifest, staged)
    assert seen(store, root) == BEFORE


def test_a_job_that_was_taken_for_dead_changes_nothing(store, tmp_path):
    root = tmp_path / "sales"
    slow, _ = job(root, "job2", "a")
    publisher = Publisher(store)
    row = publisher.lease("shop.sales", slow)
    with much_later():
        publisher.publish("shop.sales", *job(root, "job1", "a"))
    with pytest.raises(PublicationLost):
        store.publications.decide(row, "job2")
    assert seen(store, root)["a"] == (["job1 a", "old a"], "11")
    assert not (root / "_hbstore" / "job2").exists()


def test_an_empty_partition_keeps_its_folder_where_a_job_fails(store, tmp_path):
    """As `hbstore repair --mode sync` drops a partition whose folder is gone."""
    root = tmp_path / "sales"
    (root / "ds=a/old").unlink()
    moved = replace(store.get_partition("shop", "sales", ["b"]), location=f"file:{tmp_path}/elsewhere")
    manifest, staged = job(root)
    store.alter_partitions("shop", "sales", [moved])
    with pytest.raises(ConcurrentChange):
        Publisher(store).publish("shop.sales", manifest, staged)
    assert (root / "ds=a").exists()


def test_a_job_that_comes_after_one_that_died_decided_finishes_it_first(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        Publisher(store).publish("shop.sales", *job(root, "job1", "a"))
    Publisher(store).publish("shop.sales", *job(root, "job2", "a"))
    assert seen(store, root)["a"] == (["job1 a", "job2 a", "old a"], "12")


def test_showing_twice_counts_once(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    manifest, staged = job(root, "job1", "a")
    publisher = Publisher(store)
    with monkeypatch.context() as patch:
        patch.setattr(store.publications.__class__, "close", lambda *_: None)
        publisher.publish("shop.sales", manifest, staged)
    assert publisher.recover("shop.sales") == 1
    assert seen(store, root)["a"] == (["job1 a", "old a"], "11")


@pytest.mark.parametrize("table", ["as it was", "altered"])
def test_a_partition_that_others_alter_meanwhile_keeps_what_they_did(store, tmp_path, monkeypatch, table):
    root = tmp_path / "sales"
    real = publications.publication_change
    altered = Partition(["a"], location=f"file:{root}/ds=a", parameters={"numRows": "100", "by": "others"})

    def late(*arguments):
        change = real(*arguments)
        monkeypatch.setattr(publications, "publication_change", real)
        if table == "altered":
            store.alter_table(replace(store.get_table("shop", "sales"), owner="ann"))
        store.alter_partitions("shop", "sales", [altered])
        return change

    manifest, staged = job(root, "job1", "a")
    publisher = Publisher(store)
    row = publisher.lease("shop.sales", manifest)
    publisher._prepare(row, manifest, staged)
    monkeypatch.setattr(publications, "publication_change", late)
    store.publications.decide(row, "job1")
    parameters = store.get_partition("shop", "sales", ["a"]).parameters
    assert (parameters["numRows"], parameters["by"]) == ("101", "others")
    assert seen(store, root)["a"] == (["job1 a", "old a"], "101")


def test_the_location_is_looked_at_by_the_step_that_decides(store, tmp_path):
    root = tmp_path / "sales"
    manifest, staged = job(root)
    publisher = Publisher(store)
    row = publisher.lease("shop.sales", manifest)
    publisher._prepare(row, manifest, staged)
    store.alter_table(replace(store.get_table("shop", "sales"), location=f"file:{tmp_path}/moved"))
    with pytest.raises(ConcurrentChange, match="location of the table changed"):
        store.publications.decide(row, "job1")
    assert seen(store, root) == BEFORE


def test_so_is_the_location_of_each_partition(store, tmp_path):
    root = tmp_path / "sales"
    manifest, _ = job(root)
    partition = store.get_partition("shop", "sales", ("a",))
    store.alter_partitions("shop", "sales", [replace(partition, location=f"file:{tmp_path}/moved")])
    row = Publisher(store).lease("shop.sales", manifest)
    with pytest.raises(ConcurrentChange, match="location of a partition changed"):
        store.publications.decide(row, "job1")
    assert store.get_partition("shop", "sales", ("a",)).parameters["numRows"] == "10"


def test_a_partition_that_was_elsewhere_and_is_gone_does_not_come_back_there(store, tmp_path):
    """It may have been in the folder of a table to which it has been exchanged since."""
    manifest, _ = job(tmp_path / "sales", partitions="a")
    write = replace(manifest.partitions[0], values=("gone",), location=f"file:{tmp_path}/sold/ds=gone")
    manifest = replace(manifest, partitions=(write,))
    row = Publisher(store).lease("shop.sales", manifest)
    with pytest.raises(ConcurrentChange, match="location of a partition changed"):
        store.publications.decide(row, "job1")
    assert store.partition_names("shop", "sales") == ["ds=a", "ds=b", "ds=c"]


def decide(store, root, **options):
    """Have a job die when it has decided."""
    manifest, staged = job(root, **options)
    publisher = Publisher(store)
    row = publisher.lease("shop.sales", manifest)
    publisher._prepare(row, manifest, staged)
    store.publications.decide(row, manifest.id)
    return row, manifest


def test_where_files_cannot_be_moved_that_is_logged(store, tmp_path, caplog, monkeypatch):
    root = tmp_path / "sales"
    row, _ = decide(store, root, partitions="a")
    (root / "ds=a" / "part-0-job1").mkdir()  # in the way
    Publisher(store).roll_forward_before_use(store.table_row("shop", "sales"))
    assert "could not be finished" in caplog.text
    (root / "ds=a" / "part-0-job1").rmdir()
    assert store.publications.decided(store.table_row("shop", "sales")) == {"job1"}
    monkeypatch.setattr(time, "monotonic", lambda: 1e12)
    assert seen(store, root)["a"] == (["job1 a", "old a"], "11")
    assert row.table.name == "sales"


def test_what_others_write_into_the_folder_of_a_dropped_partition_stays(url, tmp_path):
    """After the death of the job that dropped it: Spark writes before it adds the partition."""
    written = 0
    for at in count():
        root = tmp_path / str(at)
        store = PartitionStore(connect_rows(url))
        prepare(store, root)
        with dying(store, at) as process:
            Publisher(process.store).publish("shop.sales", *job(root))
        if not process.died:
            break
        if not store.get_partitions("shop", "sales", [("c",)]):
            written += 1
            (root / "ds=c").mkdir(exist_ok=True)
            (root / "ds=c/new").write_text("new c")
            recover_later(store, ("shop", "sales"))
            assert [one.name for one in (root / "ds=c").iterdir()] == ["new"], at
    assert written > 3
    assert not (root / "ds=c").exists()


def test_a_folder_in_which_a_dropped_partition_is_added_anew_stays(store, tmp_path):
    root = tmp_path / "sales"
    decide(store, root)
    again = Partition(["c"], parameters={"numRows": "7"})
    with pytest.raises(WriteConflict, match=r"same partitions: .* partition=ds=c"):
        store.add_partitions("shop", "sales", [again])
    Publisher(store).recover("shop.sales")
    store.add_partitions("shop", "sales", [again])
    (root / "ds=c").mkdir()
    (root / "ds=c" / "new").write_text("new c")
    assert seen(store, root)["c"] == (["new c"], "7")


def test_a_partition_is_not_dropped_before_its_files_are_shown(store, tmp_path):
    root = tmp_path / "sales"
    decide(store, root)
    with pytest.raises(WriteConflict, match=r"same partitions: .* partition=ds=b"):
        store.drop_partitions("shop", "sales", [["b"]])
    Publisher(store).recover("shop.sales")
    store.drop_partitions("shop", "sales", [["b"]])
    assert seen(store, root) == {name: AFTER[name] for name in "ad"}
    assert store.publications.of(store.publications.row("shop", "sales")) == []


def test_a_table_is_not_renamed_before_what_is_decided_is_shown(store, tmp_path):
    root = tmp_path / "sales"
    decide(store, root)
    renamed = replace(store.get_table("shop", "sales"), name="sold")
    with pytest.raises(ConcurrentChange, match="decided but not finished") as caught:
        store.rename_table("shop", "sales", renamed)
    assert "hbstore repair shop.sales" in caught.value.hint
    Publisher(store).recover("shop.sales")
    store.rename_table("shop", "sales", renamed)
    assert store.table_names("shop") == ["sold"]
    assert store.partition_names("shop", "sold") == ["ds=a", "ds=b", "ds=d"]
    assert (root / "ds=d" / "part-0-job1").read_text() == "job1 d"
