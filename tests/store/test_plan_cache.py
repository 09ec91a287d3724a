"""What a store remembers of plans: one bound for all tables, by an estimate that is not far from the truth."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.byte_cache import ByteCache
from hbstore.store.plan_cache import plan_size

COLUMNS = [Column("a", "int"), Column("b", "int"), Column("c", "string")]
FILTERS = {
    "pairs": lambda n: " or ".join(f"(a = {n * 50 + at} and b = {at * 7 % 999} and c = 'x')" for at in range(50)),
    "ranges": lambda n: " or ".join(f"(a = {n * 50 + at * 2} and b > {at} and c != 'y{at}')" for at in range(50)),
    "residuals": lambda n: " or ".join(f"(a > {n + at * 3} and b = {at} and c like '%{at}')" for at in range(40)),
    "one": lambda n: f"a = {n} and b = 5 and c like 'x%'",
}


@pytest.fixture
def store():
    with connect("memory://") as store:
        store.create_database("d")
        yield store


def table(store, name):
    store.create_table(Table("d", name, partition_columns=COLUMNS, location="file:///plans"))
    store.add_partitions("d", name, [Partition((str(at), "5", "x")) for at in range(3)])


@pytest.mark.parametrize("kind", FILTERS)
def test_the_estimate_is_near_the_bytes_that_plans_take(store, kind):
    table(store, "t")
    store.plan("d", "t", FILTERS[kind](0))
    count = 100 if kind == "one" else 5
    texts = [FILTERS[kind](1 + number) for number in range(count)]
    cache = store._reader._cache
    gc.collect()
    before = cache.size
    tracemalloc.start()
    try:
        for text in texts:
            store.plan("d", "t", text)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    estimated = cache.size - before
    assert taken / 2 < estimated < taken * 4, f"{taken:,} bytes, {estimated:,} estimated"


def test_many_plans_of_many_tables_stay_within_one_bound(store):
    """Each table's 30 filters alone would take more than a third of it."""
    cache = store._reader._cache
    cache._bound = 1_000_000
    for name in ("t1", "t2", "t3", "t4"):
        table(store, name)
        for number in range(30):
            plan = store.plan("d", name, FILTERS["pairs"](number))
            assert cache.size <= 1_000_000
    assert 30 * plan_size(plan) > 333_333
    assert cache.size > 500_000
    assert store.plan("d", "t4", FILTERS["pairs"](29)) is plan


def test_the_plans_of_a_dropped_table_leave_when_others_need_room(store):
    store._reader._cache._bound = 100_000
    text = "a = 1 and b = 5 and c = 'x'"
    table(store, "kept")
    kept = store.plan("d", "kept", text)
    for number in range(50):
        table(store, "dropped")
        store.plan("d", "dropped", text)
        store.drop_table("d", "dropped")
        assert store.plan("d", "kept", text) is kept, f"its plan is used, {number} tables later"
    assert store._reader._cache.size <= 100_000
    tables = {key[0].table.name for key in store._reader._cache._entries if isinstance(key, tuple)}
    assert tables == {"kept", "dropped"}
    definitions = {key for key in store._reader._cache._entries if not isinstance(key, tuple)}
    assert len(definitions) < 40


def test_a_plan_is_made_anew_for_new_statistics_and_takes_the_place_of_the_old_one(store):
    table(store, "t")
    first = store.plan("d", "t", "b = 5")
    entries, size = len(store._reader._cache._entries), store._reader._cache.size
    store.add_partitions("d", "t", [Partition((str(at), "6", "x")) for at in range(500)])
    second = store.plan("d", "t", "b = 5")
    assert second is not first
    assert store.plan("d", "t", "b = 5") is second
    assert len(store._reader._cache._entries) == entries
    assert store._reader._cache.size < 10 * size


def test_what_was_used_last_stays_and_what_is_too_large_is_not_kept():
    cache = ByteCache(bound=100)
    for key in "abcdefghij":
        cache.put(key, key, 10)
    assert cache.get("a") == "a"
    cache.put("k", None, 10)
    assert (cache.get("b", "gone"), cache.get("a"), cache.get("k", "gone"), cache.size) == ("gone", "a", None, 100)
    cache.put("a", "larger", 13)
    assert (cache.get("a"), cache.size) == (None, 90)
