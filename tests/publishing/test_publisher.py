"""Publishing: a job that dies anywhere leaves the table as it was, or finished; two jobs on one partition conflict."""

from __future__ import annotations

import time

import pytest

from hbstore import Column, Partition, PartitionStore, Table
from hbstore.errors import PublicationLost, WriteConflict
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from hbstore.publishing.manifest import hidden_name
from hbstore.rows import connect as connect_rows
from tests.store.faults import Crash, FaultyRows

URLS = ["memory://", "memory://?atomic=false"]


class Counter:
    """Raises Crash before the n-th thing that changes files or the store."""

    def __init__(self, at):
        self.left = at

    def step(self):
        if self.left == 0:
            raise Crash
        self.left -= 1


@pytest.fixture(params=URLS)
def rows(request):
    rows = connect_rows(request.param)
    yield rows
    rows.close()


@pytest.fixture
def store(rows, tmp_path):
    """Partitions a, b and c with a file each."""
    store = PartitionStore(rows)
    store.create_database("shop")
    root = tmp_path / "sales"
    store.create_table(Table("shop", "sales", [Column("ds", "string")], location=f"file:{root}"))
    for name in "abc":
        folder = root / f"ds={name}"
        folder.mkdir(parents=True)
        (folder / "old").write_text(f"old {name}")
        parameters = {"numRows": "10", "totalSize": "5", "COLUMN_STATS_ACCURATE": "{}", "kept": "yes"}
        store.add_partitions("shop", "sales", [Partition([name], parameters=parameters)])
    return store


def job(root, name="job1", partitions="abcd"):
    """Appends to a, replaces b, drops c, adds d: a manifest, and its staged files."""
    staging = root / "_hbstore" / name
    writes, staged = [], {}
    for number, value in enumerate(partitions):
        folder = root / f"ds={value}"
        location = f"file:{folder}"
        if value == "c":
            writes.append(PartitionWrite((value,), location, drop=True))
            continue
        source = staging / "data" / f"ds={value}" / "part-0"
        source.parent.mkdir(parents=True)
        source.write_text(f"{name} {value}")
        hidden, shown = hidden_name(name, number), f"part-0-{name}"
        staged[f"file:{source}"] = f"{location}/{hidden}"
        replaced = ("old",) if value == "b" else ()
        statistics = {"numRows": 1, "totalSize": 6}
        writes.append(PartitionWrite((value,), location, {hidden: shown}, replaced, value != "b", statistics))
    return Manifest(name, f"file:{staging}", tuple(writes)), staged


def seen(store, root):
    """What a reader sees, who shows decided publications first: by partition, the texts of its files."""
    Publisher(store).recover_row(store.publications.row("shop", "sales"))
    found = {}
    for partition in store.get_partitions_by_filter("shop", "sales", None):
        folder = root / f"ds={partition.values[0]}"
        files = sorted(one.read_text() for one in folder.iterdir() if not one.name.startswith((".", "_")))
        found[partition.values[0]] = files, partition.parameters.get("numRows")
    return found


BEFORE = {name: ([f"old {name}"], "10") for name in "abc"}
AFTER = {"a": (["job1 a", "old a"], "11"), "b": (["job1 b"], "1"), "d": (["job1 d"], "1")}


def test_all_that_a_job_wrote_is_there_and_nothing_else(store, tmp_path):
    root = tmp_path / "sales"
    Publisher(store).publish("shop", "sales", *job(root))
    assert seen(store, root) == AFTER
    assert sorted(path.name for path in root.rglob("*")) == sorted(
        ["_hbstore", "ds=a", "old", "part-0-job1", "ds=b", "part-0-job1", "ds=d", "part-0-job1"]
    )
    parameters = store.get_partition("shop", "sales", ["a"]).parameters
    assert parameters["kept"] == "yes"
    assert "COLUMN_STATS_ACCURATE" not in parameters
    assert store.publications.of(store.publications.row("shop", "sales")) == []


def test_a_job_that_dies_anywhere_leaves_the_table_as_it_was_or_finished(rows, store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    outcomes = []
    for at in range(200):
        with monkeypatch.context() as patch:
            counter = Counter(at)
            counting_files(patch, counter)
            died = False
            fresh = store if at == 0 else None
            folder = root if at == 0 else tmp_path / str(at)
            if fresh is None:
                fresh = PartitionStore(connect_rows(rows.url))
                fresh.create_database("shop")
                fresh.create_table(Table("shop", "sales", [Column("ds", "string")], location=f"file:{folder}"))
                for name in "abc":
                    (folder / f"ds={name}").mkdir(parents=True)
                    (folder / f"ds={name}" / "old").write_text(f"old {name}")
                    fresh.add_partitions("shop", "sales", [Partition([name], parameters={"numRows": "10"})])
            dying = PartitionStore(CountingRows(fresh.rows, counter))
            try:
                Publisher(dying).publish("shop", "sales", *job(folder))
            except Crash:
                died = True
        found = seen(fresh, folder)
        assert found in (BEFORE, AFTER), at
        outcomes.append(found == AFTER)
        with monkeypatch.context() as later:
            later.setattr(time, "time", in_a_while())
            Publisher(fresh).recover("shop", "sales")
        assert seen(fresh, folder) == found
        left = [path.name for path in folder.rglob("*") if path.name.startswith(".") or path.name == "job1"]
        claimed = fresh.publications.of(fresh.publications.row("shop", "sales"))
        assert claimed == []
        if outcomes[-1] or at > 1:
            assert left == [], at
        if not died:
            break
    else:
        pytest.fail("it never came to its end")
    assert outcomes == sorted(outcomes), "before the decision nothing is seen, after it all"
    assert not outcomes[0]
    assert outcomes[-1]


def in_a_while():
    """A clock by which all jobs are dead that say no more that they are alive."""
    now = time.time()
    return lambda: now + 100


def counting_files(patch, counter):
    """Have every file operation count."""
    for name in ("move", "delete"):
        real = getattr(Warehouse, name)

        def counted(self, *arguments, _real=real, **options):
            counter.step()
            return _real(self, *arguments, **options)

        patch.setattr(Warehouse, name, counted)


class CountingRows(FaultyRows):
    """Rows whose every write counts, and fails for good once the process is dead."""

    def __init__(self, rows, counter):
        super().__init__(rows)
        self._counter = counter

    def compare_and_put(self, *arguments):
        self._counter.step()
        return self._rows.compare_and_put(*arguments)

    def clear(self, *arguments):
        self._counter.step()
        return self._rows.clear(*arguments)

    def write(self, *arguments):
        self._counter.step()
        return self._rows.write(*arguments)


def test_two_jobs_on_different_partitions_both_succeed(store, tmp_path):
    root = tmp_path / "sales"
    claimed, _ = job(root, "job2", "d")
    Publisher(store).claim("shop", "sales", claimed)
    Publisher(store).publish("shop", "sales", *job(root, "job1", "ab"))
    assert seen(store, root)["a"] == (["job1 a", "old a"], "11")


def test_two_jobs_on_one_partition_conflict(store, tmp_path):
    root = tmp_path / "sales"
    claimed, _ = job(root, "job2", "ad")
    Publisher(store).claim("shop", "sales", claimed)
    manifest, staged = job(root, "job1", "ab")
    with pytest.raises(WriteConflict, match="ds=a"):
        Publisher(store).publish("shop", "sales", manifest, staged)
    assert seen(store, root) == BEFORE


def test_a_job_that_was_taken_for_dead_changes_nothing(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    slow, _ = job(root, "job2", "a")
    publisher = Publisher(store)
    row = publisher.claim("shop", "sales", slow)
    with monkeypatch.context() as later:
        later.setattr(time, "time", in_a_while())
        publisher.publish("shop", "sales", *job(root, "job1", "a"))
    with pytest.raises(PublicationLost):
        store.publications.decide(row, "job2")
    assert seen(store, root)["a"] == (["job1 a", "old a"], "11")
    assert not (root / "_hbstore" / "job2").exists()


def test_a_job_that_comes_after_one_that_died_decided_finishes_it_first(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        Publisher(store).publish("shop", "sales", *job(root, "job1", "a"))
    Publisher(store).publish("shop", "sales", *job(root, "job2", "a"))
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
    Publisher(store).publish("shop", "sales", *job(root, "job1", "a"))
    parameters = store.get_partition("shop", "sales", ["a"]).parameters
    assert (parameters["numRows"], parameters["by"]) == ("101", "others")


def test_showing_twice_counts_once(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    manifest, staged = job(root, "job1", "a")
    publisher = Publisher(store)
    with monkeypatch.context() as patch:
        patch.setattr(store.publications.__class__, "close", lambda *_: None)
        publisher.publish("shop", "sales", manifest, staged)
    assert publisher.recover("shop", "sales") == 1
    assert seen(store, root)["a"] == (["job1 a", "old a"], "11")


def test_a_store_that_can_finishes_what_is_decided_before_a_table_is_read(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        Publisher(store).publish("shop", "sales", *job(root, "job1", "a"))
    assert not (root / "ds=a" / "part-0-job1").exists()
    store.finish_publications = Publisher(store).finish_before_use
    store.get_table("shop", "sales")
    assert (root / "ds=a" / "part-0-job1").read_text() == "job1 a"


def test_a_table_is_read_as_it_is_where_its_files_cannot_be_moved(store, tmp_path, monkeypatch, caplog):
    root = tmp_path / "sales"
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        Publisher(store).publish("shop", "sales", *job(root, "job1", "a"))
    store.finish_publications = Publisher(store).finish_before_use
    (root / "ds=a" / "part-0-job1").mkdir()  # in the way
    assert store.get_table("shop", "sales").name == "sales"
    assert "could not be finished" in caplog.text
    (root / "ds=a" / "part-0-job1").rmdir()
    store.get_table("shop", "sales")
    assert seen(store, root)["a"] == (["job1 a", "old a"], "11")
