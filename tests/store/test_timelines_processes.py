"""Many writers at once on few days, threads and processes, and writers that are killed, on SQLite and on HBase."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from random import Random

import pytest

from hbstore import AlreadyExists, ConcurrentChange, PartitionNotFound, connect
from hbstore.store.timelines import stored_timelines
from tests.amounts import amount
from tests.pauses import let_go_on
from tests.processes import Process
from tests.store import timelines as tl
from tests.store.test_threads import run
from tests.store.timeline_writers import KEPT, NEVER, kept_partitions, look, one_of, write, write_until_killed
from tests.store.timelines import FACT

MODULE = "tests.store.timeline_writers"
WRITERS = 8
STEPS = amount({"sqlite": 20, "hbase": 12, "memory": 40}, {"sqlite": 200, "hbase": 50, "memory": 200})
HBASE = pytest.param("hbase", marks=pytest.mark.hbase)


def _url(request, tmp_path):
    if request.param == "hbase":
        return request.getfixturevalue("hbase_url")
    return f"sqlite://{tmp_path}/store.db" if request.param == "sqlite" else "memory://?atomic=false"


@pytest.fixture(params=["sqlite", HBASE])
def url(request, tmp_path):
    return _url(request, tmp_path)


@pytest.fixture(params=["memory", "sqlite", HBASE])
def any_url(request, tmp_path):
    return _url(request, tmp_path)


def fresh(store):
    store.drop_database("shop", cascade=True, if_exists=True)
    tl.prepared(store)
    store.add_partitions(*FACT, kept_partitions())
    return store


def steps(url):
    return STEPS[url.partition(":")[0]]


def test_eight_processes_at_once(url):
    with connect(url) as store:
        fresh(store)
        writers = [Process(MODULE, write.__name__, url, seed, steps(url)) for seed in range(WRITERS)]
        while any(not writer._over for writer in writers):
            look(store, ())
        for writer in writers:
            assert writer.wait()[-1][0] == "left"
        tl.repair(store)
        tl.assert_true(store)


def test_eight_threads_of_one_store_at_once(any_url):
    with connect(any_url) as store:
        fresh(store)
        over = threading.Event()

        def work(thread):
            random = Random(thread)
            for turn in range(steps(any_url)):
                batch = {one.values: one for one in (one_of(random, "all") for _ in range(random.randint(1, 3)))}
                with suppress(AlreadyExists, PartitionNotFound, ConcurrentChange):
                    if turn % 3 == thread % 2:
                        store.drop_partitions(*FACT, batch, if_exists=True)
                    elif turn % 7 == 5:
                        store.rename_partition(*FACT, next(iter(batch)), one_of(random, "all"))
                    else:
                        store.add_partitions(*FACT, batch.values(), if_not_exists=True)
                if thread == 0 and turn % 10 == 9:
                    store.timelines.rebuild(".".join(FACT))

        def watch():
            while not over.is_set():
                look(store, ())

        def write_all():
            try:
                run([lambda thread=thread: work(thread) for thread in range(WRITERS)])
            finally:
                over.set()

        run([watch, write_all])
        assert store.repair(*FACT).finished == 0
        tl.assert_true(store)


def test_writers_that_are_killed_leave_timelines_that_keep_their_promises(url, monkeypatch):
    """Nobody waits for the dead builders among them."""
    monkeypatch.setattr(stored_timelines, "time", _Later())
    random = Random(url)
    with connect(url) as store:
        fresh(store)
        for turn in range(4):
            writers = [Process(MODULE, write_until_killed.__name__, url, f"{turn}{number}") for number in range(3)]
            for writer in writers:
                writer.heard(random.randint(1, 5))
            let_go_on(random, 0.2)
            for writer in writers:
                writer.kill()
            kept = tl.kept(store)
            there = tl.naive(store, partitions=tl.stored(store))
            assert all(listed <= there[timeline] for timeline, listed in kept.items()), "before the repair"
            assert set(KEPT) <= kept["DAILY", "dt"]
            assert NEVER not in kept["DAILY", "pt"]
            if turn % 2:
                tl.repair(store)
                tl.assert_true(store)
        tl.repair(store)
        tl.assert_true(store)


class _Later:
    """The clock a minute later."""

    sleep = staticmethod(time.sleep)

    @staticmethod
    def time():
        return time.time() + 60
