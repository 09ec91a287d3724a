"""Processes that add and drop partitions of few days, and look at the timelines meanwhile, until they are killed."""

from __future__ import annotations

import os
from random import Random

from hbstore import AlreadyExists, ConcurrentChange, PartitionNotFound, StoreUnavailable, connect
from tests.processes import say
from tests.store import timelines as tl
from tests.store.timelines import FACT, partition

DAYS = tuple(f"2015-01-0{day}" for day in range(1, 7))
KEPT = ("2015-02-01", "2015-02-03")
"""Days of which there is always a partition, and with them each processing time."""
NEVER = "2015-02-02"


def kept_partitions():
    """Partitions that nobody drops."""
    return [partition(day, pt, "kept") for day, pt in zip(KEPT, KEPT[::-1], strict=True)]


def one_of(random, region):
    """A partition of few days and processing times."""
    return partition(random.choice(DAYS), random.choice(DAYS), region)


def write(url, seed, steps):
    """Add and drop partitions that others add and drop as well; then say which ones of its own are left."""
    random = Random(int(seed))
    mine = f"r{seed}"
    own = set()
    with connect(url) as store:
        for _ in range(int(steps)):
            region = random.choice((mine, mine, "all"))
            batch = {one.values: one for one in (one_of(random, region) for _ in range(random.randint(1, 3)))}
            choice = random.random()
            try:
                if choice < 0.45:
                    store.add_partitions(*FACT, batch.values(), if_not_exists=True)
                    own |= set(batch) if region == mine else set()
                elif choice < 0.8:
                    store.drop_partitions(*FACT, batch, if_exists=True)
                    own -= set(batch)
                elif choice < 0.9:
                    (old, new) = (one_of(random, mine), one_of(random, mine))
                    store.rename_partition(*FACT, old.values, new)
                    own = own - {old.values} | {new.values}
                else:
                    look(store, own)
            except (AlreadyExists, PartitionNotFound, ConcurrentChange):
                continue
        look(store, own)
    say("left", len(own))


def look(store, own):
    """What this process has added and been told of is in the timelines; what nobody adds is not."""
    kept = tl.kept(store)
    for dt, _, pt in own:
        assert dt in kept["DAILY", "dt"], (dt, kept)
        assert pt in kept["DAILY", "pt"], (pt, kept)
    for column in ("dt", "pt"):
        assert set(KEPT) <= kept["DAILY", column]
        assert NEVER not in kept["DAILY", column]


def write_until_killed(url, seed):
    """Write without end, and say each step."""
    random = Random(f"{seed} {os.getpid()}")
    with connect(url) as store:
        number = 0
        while True:
            batch = {one.values: one for one in (one_of(random, "all") for _ in range(random.randint(1, 4)))}
            try:
                if random.random() < 0.5:
                    store.add_partitions(*FACT, batch.values(), if_not_exists=True)
                elif random.random() < 0.7:
                    store.drop_partitions(*FACT, batch, if_exists=True)
                elif random.random() < 0.5:
                    store.timelines.rebuild(".".join(FACT))
                else:
                    (old, new) = (one_of(random, "all"), one_of(random, "all"))
                    store.rename_partition(*FACT, old.values, new)
            except (AlreadyExists, PartitionNotFound, ConcurrentChange, StoreUnavailable):
                pass
            number += 1
            say("step", number)
