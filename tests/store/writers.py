"""Writers that run as processes of their own, and the replay of what they acknowledged."""

from __future__ import annotations

import datetime as dt

from hbstore import AlreadyExists, Partition, connect
from tests.processes import say

_FIRST = dt.date(2013, 1, 1)
MOVED = "1000000"
"""The hour to which a writer renames one partition of each day."""


def batch_of(number, size):
    """One day's partitions."""
    day = str(_FIRST + dt.timedelta(days=number))
    return [(day, str(hour)) for hour in range(size)]


def steps():
    """What a writer does, without end: days come, one partition of each moves far away, every third day goes again."""
    number = 0
    while True:
        yield "add", number
        yield "rename", number
        if number % 3 == 2:
            yield "drop", number - 1
        number += 1


def apply(state, step, number, size):
    """What a step does to a set of partitions."""
    day = batch_of(number, size)
    if step == "add":
        return state | set(day)
    if step == "rename":
        return state - {day[size // 2]} | {(day[0][0], MOVED)}
    return {values for values in state if values[0] != day[0][0]}


def write_until_killed(url, table, size):
    """Take the steps, and say each as soon as the store has acknowledged it."""
    size = int(size)
    with connect(url) as store:
        for step, number in steps():
            day = batch_of(number, size)
            if step == "add":
                store.add_partitions("d", table, map(Partition, day))
            elif step == "rename":
                store.rename_partition("d", table, day[size // 2], (day[0][0], MOVED))
            else:
                moved = (day[0][0], MOVED)
                kept = [values for values in day if values != day[size // 2]]
                store.drop_partitions("d", table, [*kept, moved])
            say(step, number)


def write_beside_others(url, table, writer, batches):
    """Add batches of its own, and try for partitions that all writers try for; say what it has won."""
    with connect(url) as store:
        for number in range(int(batches)):
            day = [(f"{2000 + int(writer)}-01-{number + 1:02d}", str(hour)) for hour in range(25)]
            store.add_partitions("d", table, map(Partition, day))
            say("own", number)
            prize = Partition(("1999-01-01", str(number)), parameters={"by": writer})
            try:
                store.add_partitions("d", table, [prize])
                say("won", number)
            except AlreadyExists:
                pass
            if number % 3 == 2:
                store.drop_partitions("d", table, day[:5])
                say("dropped", number)
