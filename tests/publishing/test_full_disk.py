"""The disk under the store is full, at whatever page: a table is as it was, or finished once there is room again."""

from __future__ import annotations

import random

import pytest

from hbstore import Partition, PartitionStore
from hbstore.errors import CommitStateUnknown, HbstoreError, StoreFull
from hbstore.publishing import Publisher
from hbstore.repair import sync_partitions
from hbstore.rows import connect as connect_rows
from tests.publishing.exchanges import AFTER as EXCHANGED
from tests.publishing.exchanges import BEFORE as NOT_EXCHANGED
from tests.publishing.exchanges import OLD, SALES, both, come_to, leases, prepare, run
from tests.publishing.jobs import AFTER, BEFORE, job, seen
from tests.publishing.jobs import prepare as prepare_sales

ROOM = 100_000
"""Pages, of which nothing here needs so many."""


def limited(store, more):
    """Let the store's file grow by so many pages; gives what lets it grow again."""
    with store.rows._connections.mine() as sqlite:
        (pages,) = sqlite.execute("PRAGMA page_count").fetchone()
        sqlite.execute(f"PRAGMA max_page_count = {pages + more}")

    def again():
        with store.rows._connections.mine() as sqlite:
            sqlite.execute(f"PRAGMA max_page_count = {ROOM}")

    return again


def noise(number, length=20_000):
    """Text that cannot be made shorter."""
    return random.Random(number).randbytes(length // 2).hex()


def made(tmp_path, number):
    """A store in a file with partitions a, b and c, and its table's folder."""
    store = PartitionStore(connect_rows(f"sqlite://{tmp_path}/{number}.db"))
    root = tmp_path / str(number)
    prepare_sales(store, root)
    return store, root


def test_publishing(tmp_path):
    outcomes = []
    for pages in range(60):
        store, root = made(tmp_path, pages)
        with store:
            manifest, staged = job(root)
            for number, write in enumerate(manifest.partitions):
                write.parameters["note"] = noise(number)
            again = limited(store, pages)
            said = None
            try:
                Publisher(store).publish("shop.sales", manifest, staged)
            except (StoreFull, CommitStateUnknown) as error:
                said = type(error)
            again()
            outcomes.append(said)
            assert seen(store, root) == (BEFORE if said is StoreFull else AFTER), pages
            Publisher(store).recover("shop.sales")
            assert not list(root.rglob(".*"))
            if said is None:
                break
    else:
        pytest.fail("it never had room enough")
    assert set(outcomes) == {StoreFull, None}, "what follows the decision needs no room"


def test_exchanging(tmp_path):
    outcomes = []
    for pages in range(60):
        root = tmp_path / str(pages)
        with PartitionStore(connect_rows(f"sqlite://{tmp_path}/{pages}.db")) as store:
            prepare(store, root)
            for one in store.get_partitions_by_filter(*SALES, None):
                large = Partition(one.values, location=one.location, parameters={"note": noise(hash(one.values[0]))})
                store.alter_partitions(*SALES, [large])
            again = limited(store, pages)
            full = False
            try:
                run(store, root)
            except HbstoreError:
                full = True
            again()
            come_to(store, OLD)
            found = both(store)
            assert found == EXCHANGED or (full and found == NOT_EXCHANGED), pages
            outcomes.append(found == EXCHANGED)
            if not full:
                assert leases(store) == 0
                break
    else:
        pytest.fail("it never had room enough")
    assert outcomes == sorted(outcomes)
    assert not outcomes[0]


def test_repairing_adds_whole_batches_and_the_next_run_the_rest(tmp_path):
    store, root = made(tmp_path, 0)
    with store:
        for number in range(3_000):
            (root / f"ds={number:04}{'x' * 100}").mkdir()
        again = limited(store, 40)
        with pytest.raises(StoreFull):
            sync_partitions(store, "shop.sales", batch=100)
        again()
        there = store.count_partitions("shop", "sales") - 3
        assert 0 < there < 3_000
        assert there % 100 == 0
        assert sync_partitions(store, "shop.sales").added == 3_000 - there
