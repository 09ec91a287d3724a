"""Publishing: a job that dies anywhere leaves the table as it was, or finished; two jobs on one partition conflict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Partition, PartitionStore
from hbstore.errors import ConcurrentChange, PublicationLost, WriteConflict
from hbstore.publishing import Publisher
from hbstore.rows import connect as connect_rows
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


def test_a_job_that_comes_after_one_that_died_decided_finishes_it_first(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        Publisher(store).publish("shop.sales", *job(root, "job1", "a"))
    Publisher(store).publish("shop.sales", *job(root, "job2", "a"))
    assert seen(store, root)["a"] == (["job1 a", "job2 a", "old a"], "12")


def test_a_partition_that_others_alter_meanwhile_keeps_what_they_did(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    real = PartitionStore.change_partitions
    altered = Partition(["a"], location=f"file:{root}/ds=a", parameters={"numRows": "100", "by": "others"})

    def late(self, *arguments, **options):
        monkeypatch.setattr(PartitionStore, "change_partitions", real)
        self.alter_partitions("shop", "sales", [altered])
        return real(self, *arguments, **options)

    monkeypatch.setattr(PartitionStore, "change_partitions", late)
    Publisher(store).publish("shop.sales", *job(root, "job1", "a"))
    parameters = store.get_partition("shop", "sales", ["a"]).parameters
    assert (parameters["numRows"], parameters["by"]) == ("101", "others")


def test_showing_twice_counts_once(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    manifest, staged = job(root, "job1", "a")
    publisher = Publisher(store)
    with monkeypatch.context() as patch:
        patch.setattr(store.publications.__class__, "close", lambda *_: None)
        publisher.publish("shop.sales", manifest, staged)
    assert publisher.recover("shop.sales") == 1
    assert seen(store, root)["a"] == (["job1 a", "old a"], "11")


def test_a_store_that_can_finishes_what_is_decided_before_a_table_is_read(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        Publisher(store).publish("shop.sales", *job(root, "job1", "a"))
    assert not (root / "ds=a" / "part-0-job1").exists()
    store.roll_forward_publications = Publisher(store).roll_forward_before_use
    store.get_table("shop", "sales")
    assert (root / "ds=a" / "part-0-job1").read_text() == "job1 a"


def test_a_table_is_read_as_it_is_where_its_files_cannot_be_moved(store, tmp_path, monkeypatch, caplog):
    root = tmp_path / "sales"
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        Publisher(store).publish("shop.sales", *job(root, "job1", "a"))
    store.roll_forward_publications = Publisher(store).roll_forward_before_use
    (root / "ds=a" / "part-0-job1").mkdir()  # in the way
    assert store.get_table("shop", "sales").name == "sales"
    assert "could not be finished" in caplog.text
    (root / "ds=a" / "part-0-job1").rmdir()
    store.get_table("shop", "sales")
    assert seen(store, root)["a"] == (["job1 a", "old a"], "11")


def test_a_folder_in_which_a_dropped_partition_is_added_anew_stays(store, tmp_path, monkeypatch):
    """By somebody who did not wait for whoever is finishing the write."""
    root = tmp_path / "sales"
    real = Publisher._commit

    def added_behind(self, *arguments):
        done = real(self, *arguments)
        store.add_partitions("shop", "sales", [Partition(["c"], parameters={"numRows": "7"})])
        (root / "ds=c" / "new").write_text("new c")
        return done

    monkeypatch.setattr(Publisher, "_commit", added_behind)
    Publisher(store).publish("shop.sales", *job(root))
    assert seen(store, root)["c"] == (["new c", "old c"], "7")


def test_a_table_is_not_renamed_before_what_is_decided_is_shown(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        Publisher(store).publish("shop.sales", *job(root))
    renamed = replace(store.get_table("shop", "sales"), name="sold")
    with pytest.raises(ConcurrentChange, match="decided but not finished"):
        store.rename_table("shop", "sales", renamed)
    store.roll_forward_publications = Publisher(store).roll_forward_before_use
    store.rename_table("shop", "sales", renamed)
    assert store.table_names("shop") == ["sold"]
    assert store.partition_names("shop", "sold") == ["ds=a", "ds=b", "ds=d"]
    assert (root / "ds=d" / "part-0-job1").read_text() == "job1 d"
