"""On an HBase with two region servers both are killed, one after the other, while writers write."""

from __future__ import annotations

import threading
from functools import partial
from itertools import count

import pytest

from hbstore import Column, CommitStateUnknown, Partition, StoreUnavailable, Table, connect
from hbstore.store.check import repair_catalog
from tests.hbase_cluster import real_cluster

SIZE = 300
"""Partitions of a batch."""

FIRST, SECOND = ("d", "first"), ("d", "second")


class Writer(threading.Thread):
    """Adds a day of partitions, then moves it to the other table, again and again.

    Args:
        url: the store's.
        number: the writer's, which its partitions have as their region.
    """

    def __init__(self, url, number):
        super().__init__(daemon=True)
        self.url, self.number = url, number
        self.ending = threading.Event()
        self.added, self.moved = [], []
        self.failed = []

    def run(self):
        with connect(self.url) as store:
            for day in count():
                values = [(str(day), str(self.number), str(at)) for at in range(SIZE)]
                self.until_done(partial(store.add_partitions, *FIRST, [*map(Partition, values)], if_not_exists=True))
                if self.ending.is_set():
                    return
                self.added.append(day)
                self.until_done(partial(self.move, store, values))
                if self.ending.is_set():
                    return
                self.moved.append(day)

    def move(self, store, values):
        if store.count_partitions(*FIRST, f"day = {values[0][0]} and writer = {self.number}"):
            store.exchange_partitions(FIRST, SECOND, values)

    def until_done(self, change):
        """Make a change; where it is not acknowledged, look and make it again."""
        while not self.ending.is_set():
            try:
                change()
            except (StoreUnavailable, CommitStateUnknown) as error:
                self.failed.append(type(error).__name__)
            else:
                return


def grows(writers, more=3):
    """Wait until each writer has moved a few days more."""
    wanted = [len(one.moved) + more for one in writers]
    for one, least in zip(writers, wanted, strict=True):
        for _ in range(1_800):
            if len(one.moved) >= least or not one.is_alive():
                break
            one.ending.wait(0.1)
        assert len(one.moved) >= least, one.failed[-3:]


@pytest.mark.hbase
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_was_acknowledged_is_there_when_both_region_servers_were_killed(tmp_path):
    with real_cluster(tmp_path) as cluster:
        url = f"{cluster.url}/deaths"
        with connect(url) as store:
            store.create_database("d")
            columns = [Column(name, "int") for name in ("day", "writer", "number")]
            for name in (FIRST, SECOND):
                store.create_table(Table(*name, partition_columns=columns))
            writers = [Writer(url, number) for number in range(2)]
            for one in writers:
                one.start()
            try:
                grows(writers)
                for name in list(cluster.region_servers):
                    cluster.replace(name)
                    grows(writers)
            finally:
                for one in writers:
                    one.ending.set()
                for one in writers:
                    one.join(120)
            assert not any(one.is_alive() for one in writers)
            for name in (FIRST, SECOND):
                assert not store.repair(*name).miscounted
            repair_catalog(store._tables.transactions)
            for one in writers:
                for day in one.added[:-1]:
                    where = f"day = {day} and writer = {one.number}"
                    assert [store.count_partitions(*name, where) for name in (FIRST, SECOND)] == [0, SIZE]
            for name in (FIRST, SECOND):
                assert [problem for problem in store.check(*name) if problem is not None] == []
                counted = store.count_partitions(*name)
                assert counted % SIZE == 0
