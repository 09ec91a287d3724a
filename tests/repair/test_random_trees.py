"""Random folders and partitions beside a naive model: what is added, dropped and kept, and that a second run rests."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hbstore import NULL_PARTITION, Column, Partition, Table, connect
from hbstore.repair import sync_partitions

NAMES = [
    "ds=a",
    "DS=a",
    "ds=b%3A",
    "ds=b%3a",
    f"ds={NULL_PARTITION}",
    "ds=",
    "_tmp",
    ".x",
    "old",
    "hour=1",
]
INNER = ["hour=1", "hour=01", "Hour=1", "hour=-2", f"hour={NULL_PARTITION}", "hour=x", "_tmp", "ds=a", "hours=1"]
paths = st.tuples(st.sampled_from(NAMES), st.sampled_from(INNER))
stored = st.tuples(
    st.sampled_from(["a", "b:", "c", NULL_PARTITION]),
    st.sampled_from(["1", "01", "-2", NULL_PARTITION]),
    st.sampled_from(["home", "elsewhere", "gone"]),
)


def values_of(outer, inner):
    """The values of two folders' names; None if they are no partition."""
    found = []
    for name, column in ((outer, "ds"), (inner, "hour")):
        key, equals, value = name.partition("=")
        if not equals or key.lower() != column or not value:
            return None
        found.append(value.replace("%3A", ":").replace("%3a", ":"))
    return None if found[1] == "x" else tuple(found)


def naive(root, folders, before, mode):
    """What the table holds afterwards: by values, the location."""
    after = {key: place for key, place in before.items() if mode == "add" or Path(place).exists()}
    if mode == "drop":
        return after
    by_key = {}
    for outer, inner in folders:
        values = values_of(outer, inner)
        if values is not None:
            by_key.setdefault(values, []).append(f"{root}/{outer}/{inner}")
    return {key: places[0] for key, places in by_key.items() if len(places) == 1} | after


def held(store):
    found = store.get_partitions_by_filter("shop", "sales", None)
    return {one.values: one.location for one in found}


@settings(max_examples=50)
@given(
    st.lists(paths, max_size=12, unique=True),
    st.lists(stored, max_size=8, unique_by=lambda one: one[:2]),
    st.sampled_from(["add", "drop", "sync"]),
    st.integers(1, 4),
)
def test_random_trees(folders, partitions, mode, batch):
    top = tempfile.mkdtemp()
    root = f"{top}/sales"
    try:
        for outer, inner in folders:
            Path(root, outer, inner).mkdir(parents=True)
        Path(root, "_SUCCESS").mkdir(parents=True)
        Path(top, "elsewhere").mkdir()
        with connect("memory://") as store:
            store.create_database("shop")
            columns = [Column("ds", "string"), Column("hour", "int")]
            store.create_table(Table("shop", "sales", columns, location=root))
            places = {"home": None, "elsewhere": f"{top}/elsewhere", "gone": f"{top}/gone"}
            given_ones = [Partition((ds, hour), location=places[place]) for ds, hour, place in partitions]
            store.add_partitions("shop", "sales", given_ones)
            before = held(store)
            expected = naive(root, folders, before, mode)
            dry = sync_partitions(store, "shop.sales", mode, dry_run=True)
            assert held(store) == before
            wet = sync_partitions(store, "shop.sales", mode, batch=batch)
            assert held(store) == expected
            assert (wet.add, wet.drop, wet.foreign) == (dry.add, dry.drop, dry.foreign)
            assert (wet.added, wet.dropped) == (len(wet.add), len(wet.drop))
            known = {f"{outer}/{inner}" for outer, inner in folders if values_of(outer, inner)}
            taken = {place.removeprefix(f"{root}/") for place in held(store).values()}
            left = {one.folder for one in wet.foreign}
            assert known - taken - {path for path in known if mode == "drop"} <= left
            again = sync_partitions(store, "shop.sales", mode)
            assert (again.add, again.drop) == ((), ())
            assert held(store) == expected
    finally:
        shutil.rmtree(top)
