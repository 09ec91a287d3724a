"""Publications that cannot be finished: they stop neither readers nor other writers, and are finished later."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

import pytest

from hbstore import connect
from hbstore.ddl import execute
from hbstore.errors import CommitStateUnknown, FileOperationFailed, InvalidInput
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from hbstore.publishing.unfinished import LONGEST
from hbstore.store.manifest import TRUNCATIONS
from tests.publishing.dying import much_later
from tests.publishing.jobs import job, prepare

TABLE = "shop.sales"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "sales"


@pytest.fixture
def store(tmp_path, root):
    with connect(f"sqlite://{tmp_path}/store.db") as store:
        prepare(store, root)
        yield store


@pytest.fixture
def obstacle(store, root):
    """What stands where a file of a decided publication of partition a is to be shown."""
    there = root / "ds=a" / "part-0-stuck"
    manifest, staged = job(root, "stuck", "a")
    there.write_text("of somebody else")
    with pytest.raises(CommitStateUnknown, match="is decided, but could not be finished"):
        Publisher(store).publish(TABLE, manifest, staged)
    return there


@pytest.fixture
def clock(monkeypatch):
    """Moves the clock on by some seconds."""
    seconds = [1e6]
    monkeypatch.setattr(time, "monotonic", lambda: seconds[0])

    def move_on(by):
        seconds[0] += by

    return move_on


@pytest.fixture
def tries(monkeypatch):
    """The times at which files were to be brought."""
    made = []
    bring = Warehouse.bring
    monkeypatch.setattr(Warehouse, "bring", lambda *args, **named: made.append(1) or bring(*args, **named))
    return made


def read(store):
    Publisher(store).roll_forward_before_use(store.table_row("shop", "sales"))


def test_readers_try_ever_more_rarely_and_say_so_once_a_minute(store, obstacle, tries, clock, caplog):
    caplog.set_level(logging.WARNING, "hbstore.publishing")
    for _ in range(100):
        read(store)
    assert len(tries) == 1
    for _ in range(600):
        clock(1.0)
        read(store)
    assert 10 <= len(tries) <= 6 + 600 / LONGEST
    assert len(caplog.records) <= 1 + 600 / LONGEST
    assert "hbstore publications list" in caplog.text
    assert obstacle.read_text() == "of somebody else"
    obstacle.unlink()
    clock(LONGEST)
    read(store)
    assert obstacle.read_text() == "stuck a"
    assert store.publications.of(store.table_row("shop", "sales")) == []


def test_servers_hand_a_call_on_only_if_there_is_something_to_try(store, root, obstacle, clock):
    """Else each read beside such a publication costs a change of threads."""
    assert obstacle.exists()
    publisher = Publisher(store)
    publisher.lease(TABLE, job(root, "works", "b")[0])
    assert publisher.has_files_to_show(store.table_row("shop", "sales"))
    read(store)
    assert not publisher.has_files_to_show(store.table_row("shop", "sales"))
    clock(LONGEST)
    assert publisher.has_files_to_show(store.table_row("shop", "sales"))


@pytest.mark.usefixtures("obstacle")
def test_others_are_finished_and_written(store, root):
    Publisher(store).recover_before_write(TABLE)
    Publisher(store).publish(TABLE, *job(root, "next", "b"))
    assert (root / "ds=b" / "part-0-next").read_text() == "next b"
    with pytest.raises(FileOperationFailed, match="the file cannot be moved"):
        Publisher(store).publish(TABLE, *job(root, "same", "a"))
    assert [one.id for one in store.publications.of(store.table_row("shop", "sales"))] == ["stuck"]


def test_statements_show_first_what_is_decided(store, root, obstacle):
    obstacle.unlink()
    execute(store, "ANALYZE TABLE sales PARTITION (ds = 'a') COMPUTE STATISTICS NOSCAN", "shop", str(root))
    assert obstacle.read_text() == "stuck a"
    assert store.get_partition("shop", "sales", ["a"]).parameters["numFiles"] == "2"


def test_one_is_given_up(store, root, obstacle):
    publisher = Publisher(store)
    with pytest.raises(InvalidInput, match="no such publication"):
        publisher.abandon(TABLE, "another")
    (hidden,) = publisher.abandon(TABLE, "stuck")
    assert (root / "ds=a" / hidden.rpartition("/")[2]).read_text() == "stuck a"
    assert obstacle.read_text() == "of somebody else"
    assert store.publications.of(store.table_row("shop", "sales")) == []
    publisher.publish(TABLE, *job(root, "next", "a"))
    assert (root / "ds=a" / "part-0-next").read_text() == "next a"


def test_a_job_that_is_not_decided_is_given_up_with_its_files(store, root):
    manifest, _ = job(root, "slow", "b")
    publisher = Publisher(store)
    publisher.lease(TABLE, manifest)
    assert publisher.abandon(TABLE, "slow") == ()
    assert not list(root.glob("_hbstore/slow*"))
    assert store.publications.of(store.table_row("shop", "sales")) == []


def test_a_truncation_that_died_is_given_up_where_the_table_has_no_location(store, root):
    """As Python creates tables: or else each further one would fail, and leave another lease."""
    table = replace(store.get_table("shop", "sales"), location=None)
    store.alter_table(table)
    dead = Manifest(f"{TRUNCATIONS}dead", "", (PartitionWrite(("a",), f"file:{root}/ds=a"),))
    Publisher(store).lease(TABLE, dead)
    with much_later():
        execute(store, "TRUNCATE TABLE shop.sales", warehouse=str(root.parent))
    assert not (root / "ds=a/old").exists()
    assert store.publications.of(store.table_row("shop", "sales")) == []
