"""Publications and exchanges in S3, whose files are copied: whatever dies, gets no answer or comes late loses none."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace

import pytest
from pyarrow.fs import FileSelector

from hbstore import Column, Partition, Table, connect
from hbstore.errors import CommitStateUnknown, FileOperationFailed
from hbstore.files.remote_files import RemoteFiles
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import PartitionWrite, Publisher
from hbstore.publishing.exchanger import exchange_partitions
from tests.object_store import Outcome, Proxy, endpoint, new_bucket, s3_at
from tests.processes import Process
from tests.publishing.dying import recover_later
from tests.publishing.object_store_jobs import AFTER, BEFORE, NEW, manifest, prepare, publish, seen, stage, staged


class Interrupted:
    """A file system in which something else happens before the first copy of a file."""

    def __init__(self, files, path, other):
        self._files = files
        self._path = path
        self._other = other
        self._is_first = threading.Lock()

    def __getattr__(self, name):
        return getattr(self._files, name)

    def copy_file(self, source, target):
        if target.endswith(self._path) and self._is_first.acquire(blocking=False):
            self._other()
        self._files.copy_file(source, target)


@pytest.fixture
def before_the_copy_of(monkeypatch):
    def interrupt(path, other):
        opened = RemoteFiles.__init__
        is_first = []  # others happen in file systems of their own

        def interrupted(self, files, base):
            opened(self, files if is_first else Interrupted(files, path, other), base)
            is_first.append(False)

        monkeypatch.setattr(RemoteFiles, "__init__", interrupted)

    return interrupt


CHANGING = ("PUT", "POST", "DELETE")


@pytest.fixture(autouse=True)
def _in_s3():
    with s3_at(endpoint()):
        yield


@pytest.fixture
def bucket():
    return new_bucket()


@pytest.fixture
def url(tmp_path):
    return f"sqlite://{tmp_path}/store.db"


@pytest.fixture
def store(url, bucket):
    with connect(url) as store:
        prepare(store, *bucket)
        stage(*bucket, NEW)
        yield store


def at_change(number, what):
    """An outcome of the change of a number, which ``what`` says; others are done."""
    changes = []

    def outcome(_, method, path):
        if method not in CHANGING:
            return Outcome.DONE
        changes.append(path)
        return what() if len(changes) == number + 1 else Outcome.DONE

    return outcome


@pytest.mark.slow
def test_a_job_that_is_killed_at_any_change_of_a_file(store, url, bucket):
    """Before the change is done or after it, by turns; then another process comes."""
    name, files = bucket
    for number in range(100):
        pids = []

        def killed(is_done=number % 2 == 1, pids=pids):
            os.kill(pids[0], signal.SIGKILL)
            return Outcome.LOST if is_done else Outcome.UNREACHED

        proxy = Proxy(at_change(number, killed))
        with proxy.running(), s3_at(proxy.address):
            process = Process("tests.publishing.object_store_jobs", publish.__name__, url, name)
            ((_, pid),) = process.heard(1)
            pids.append(int(pid))
            ended = process.end()
        recover_later(store, ("shop", "sales"))
        assert seen(store, *bucket) == AFTER, number
        assert staged(*bucket) == []
        assert store.publications.of(store.table_row("shop", "sales")) == []
        if ended == 0:
            break
        store.drop_table("shop", "sales")
        files.delete_dir_contents(name)
        store.drop_database("shop")
        prepare(store, *bucket)
        stage(*bucket, NEW)
    assert number > len(NEW), "each file is copied"


@pytest.mark.parametrize("outcome", [Outcome.LOST, Outcome.REFUSED])
def test_answers_that_are_lost_or_refused_for_a_while(store, bucket, outcome):
    proxy = Proxy(lambda number, _, __: outcome if number % 3 == 1 else Outcome.DONE)
    with proxy.running(), s3_at(proxy.address):
        Publisher(store).publish("shop.sales", manifest(bucket[0], NEW, replaces="b", drops="c"), {})
    assert seen(store, *bucket) == AFTER
    assert staged(*bucket) == []


def test_a_store_that_is_away_before_the_decision_or_after_it(store, bucket):
    name, _ = bucket
    with s3_at("http://127.0.0.1:9"), pytest.raises(CommitStateUnknown, match="decided, but could not be finished"):
        Publisher(store).publish("shop.sales", manifest(name, NEW, replaces="b", drops="c"), {})
    assert Publisher(store).recover("shop.sales") == 1
    assert seen(store, *bucket) == AFTER


def test_a_job_that_another_process_finishes_and_a_third_one_goes_on_from(store, bucket, before_the_copy_of):
    """In the middle of its copies; then the files that were shown are replaced, and the job has nothing to say."""
    name, files = bucket
    middle = []

    def in_the_middle():
        middle.append(Publisher(store).recover("shop.sales"))
        files.delete_file(f"{name}/sales/ds=a/new")

    before_the_copy_of("/sales/ds=a/new", in_the_middle)
    Publisher(store).publish("shop.sales", manifest(name, NEW, replaces="b", drops="c"), {})
    assert middle == [1]
    assert seen(store, *bucket) == AFTER | {"a": ["old a"]}


def test_files_do_not_go_into_another_bucket(store, bucket):
    name, _ = bucket
    far = PartitionWrite(("far",), "s3://elsewhere/ds=far", {"data/ds=a/new": "new"})
    job = manifest(name, NEW)
    store.add_partitions("shop", "sales", [Partition(far.values, location=far.location)])
    with pytest.raises(FileOperationFailed, match="from one file system to another"):
        Publisher(store).publish("shop.sales", replace(job, partitions=(*job.partitions, far)), {})
    store.drop_partitions("shop", "sales", [far.values])
    assert seen(store, *bucket) == BEFORE
    assert store.publications.of(store.table_row("shop", "sales")) == []


def test_a_file_costs_one_request(store, bucket):
    name, _ = bucket
    texts = {"a": {f"part-{number}": str(number) for number in range(40)}}
    stage(*bucket, texts)
    proxy = Proxy()
    with proxy.running(), s3_at(proxy.address):
        Publisher(store).publish("shop.sales", manifest(name, texts), {})
    assert len(seen(store, *bucket)["a"]) == 41
    assert len(proxy.requests) < 40 + 15


@pytest.fixture
def exchanged(store, bucket):
    """40 files in partition a of shop.sales, which is to come to attic.old; a way to count them."""
    name, files = bucket
    for number in range(40):
        with files.open_output_stream(f"{name}/sales/ds=a/part-{number:02}") as stream:
            stream.write(b"rows")
    store.create_database("attic")
    store.create_table(Table("attic", "old", [Column("ds", "string")], location=f"s3://{name}/old"))

    def numbers():
        infos = files.get_file_info(FileSelector(name, recursive=True))
        paths = [one.path.removeprefix(f"{name}/") for one in infos if one.is_file and "part-" in one.path]
        return {folder: sum(path.startswith(folder) for path in paths) for folder in ("sales/", "old/")}

    return numbers


def exchange(store, warehouse):
    tables = store.get_table("shop", "sales"), store.get_table("attic", "old")
    return exchange_partitions(store, warehouse, *tables, store.get_partitions("shop", "sales", [("a",)]))


def test_two_that_copy_the_same_partition_at_once(store, bucket, exchanged, before_the_copy_of):
    """In the middle of its copying the job is taken for dead; another process finishes it; then the job goes on."""
    finished = []

    def in_the_middle():
        recover_later(store, ("attic", "old"))
        finished.append(exchanged())

    before_the_copy_of("/part-20", in_the_middle)
    assert exchange(store, Warehouse(f"s3://{bucket[0]}/wh")).left == ()
    assert finished == [{"sales/": 0, "old/": 40}]
    assert exchanged() == {"sales/": 0, "old/": 40}
    assert store.get_partition("attic", "old", ("a",)).location == f"s3://{bucket[0]}/old/ds=a"


def test_an_exchange_during_which_the_store_goes_away(store, bucket, exchanged):
    name, _ = bucket
    gone = threading.Event()

    def away(_, method, path):
        if method == "PUT" and path.endswith("part-07"):
            gone.set()
        return Outcome.UNREACHED if gone.is_set() else Outcome.DONE

    proxy = Proxy(away)
    with proxy.running(), s3_at(proxy.address):
        left = exchange(store, Warehouse(f"s3://{name}/wh")).left
    assert "are read there until they can follow" in left[0]
    assert exchanged()["sales/"] == 40
    assert store.get_partition("attic", "old", ("a",)).location == f"s3://{name}/sales/ds=a"
    recover_later(store, ("attic", "old"))
    assert exchanged() == {"sales/": 0, "old/": 40}
    assert store.get_partition("attic", "old", ("a",)).location == f"s3://{name}/old/ds=a"
