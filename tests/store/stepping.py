"""Two or more actors whose calls to the rows happen in an order that a test decides.

Each actor runs in a thread, and only one of them runs at a time: before every call to the rows, and before every batch
of a scan, it waits to be told to go on. A schedule says how many calls each makes before another takes its turn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Thread

from hbstore.errors import HbstoreError
from hbstore.store.partition_store import PartitionStore

FOREVER = 10_000
"""More calls than any actor makes; one that does not end is a failure."""


class Actor:
    """A function of a store, run step by step.

    Args:
        rows: where the rows are.
        act: what to do; its result, or the error that it raises, is kept.
    """

    def __init__(self, rows, act):
        # Held while there is nothing to go on with; locks, as a semaphore takes ten times as long to change hands.
        self._go, self._stopped = Lock(), Lock()
        self._go.acquire()
        self._stopped.acquire()
        self._granted = 0
        self.calls = 0
        self.done = False
        self.result = None
        self._thread = Thread(target=self._run, args=(rows, act), daemon=True)
        self._thread.start()
        self._stopped.acquire()

    def step(self, calls=1):
        """Make so many calls to the rows, and run up to the next one, or to the end."""
        self._granted = calls
        self._go.release()
        assert self._stopped.acquire(timeout=60), "an actor is stuck"

    def wait(self):
        """Called by the actor itself, before it calls the rows."""
        if not self._granted:
            self._stopped.release()
            self._go.acquire()
        self._granted -= 1
        self.calls += 1

    def _run(self, rows, act):
        try:
            self.wait()
            self.result = act(PartitionStore(SteppedRows(rows, self)))
        except HbstoreError as error:
            self.result = type(error).__name__
        except BaseException as error:  # noqa: BLE001  shown by whoever compares results
            self.result = repr(error)
        self.done = True
        self._stopped.release()


class SteppedRows:
    """`Rows` that wait for their actor's turn before every call."""

    def __init__(self, rows, actor):
        self._rows = rows
        self._actor = actor
        self.url, self.atomic, self.costs = rows.url, rows.atomic, rows.costs

    def __getattr__(self, name):
        found = getattr(self._rows, name)

        def call(*arguments, **named):
            self._actor.wait()
            return found(*arguments, **named)

        return call

    def snapshot(self):
        return self._rows.snapshot()

    def round_trips(self):
        return self._rows.round_trips()

    def scan(self, *arguments, **options):
        return self._batches(self._rows.scan(*arguments, **options))

    def payloads(self, *arguments):
        return self._batches(self._rows.payloads(*arguments))

    def whole_rows(self, *arguments):
        return self._batches(self._rows.whole_rows(*arguments))

    def scan_catalog(self, *arguments):
        return self._batches(self._rows.scan_catalog(*arguments))

    def _batches(self, batches):
        while True:
            self._actor.wait()
            batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def write(self, puts, deletes, sequence):
        """Row by row, as HBase may be seen half-way through."""
        for row in puts:
            self._actor.wait()
            self._rows.write((row,), (), sequence)
        for key in deletes:
            self._actor.wait()
            self._rows.write((), (key,), sequence)


def play(rows, acts, schedule):
    """Let actors run by a schedule of (actor, calls), then each to its end; their results, and the calls they made."""
    with _one_processor():
        actors = [Actor(rows, act) for act in acts]
        for number, calls in [*schedule, *[(number, FOREVER) for number in range(len(acts))]]:
            actor = actors[number]
            if calls and not actor.done:
                actor.step(calls)
            assert calls < FOREVER or actor.done, "an actor does not end"
    return [actor.result for actor in actors], [actor.calls for actor in actors]


@contextmanager
def _one_processor():
    """Threads that take turns wake each other up: on two processors that costs half as much again.

    A process keeps to the same one, as moving costs, too.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(before)[os.getpid() % len(before)]})  # this thread's, and of those that it starts
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def schedules(calls, step=1):
    """The first actor makes some calls, the other some, then each the rest; and the same with the other one first.

    The two orders in which one acts behind the other come first.
    """
    first, second = calls
    yield [(0, FOREVER)]
    yield [(1, FOREVER)]
    for some in range(1, first + 1, step):
        for others in range(1, second + 1, step):
            yield [(0, some), (1, others)]
            yield [(1, others), (0, some)]


class InterruptedRows:
    """`Rows` before whose n-th call something else happens, once.

    Args:
        rows: where the rows are.
        at: before which call, from 0; each batch of a scan is one, and each row of a write.
        happen: what happens.
    """

    def __init__(self, rows, at, happen):
        self._rows, self._left, self._happen = rows, at, happen
        self.url, self.atomic, self.costs = rows.url, rows.atomic, rows.costs

    def __getattr__(self, name):
        method = getattr(self._rows, name)

        def call(*arguments, **named):
            self._count()
            result = method(*arguments, **named)
            return self._batches(result) if isinstance(result, Iterator) else result

        return call

    def snapshot(self):
        return self._rows.snapshot()

    def round_trips(self):
        return self._rows.round_trips()

    def write(self, puts, deletes, sequence):
        for row in puts:
            self._count()
            self._rows.write((row,), (), sequence)
        for key in deletes:
            self._count()
            self._rows.write((), (key,), sequence)

    def _batches(self, batches):
        for batch in batches:
            self._count()
            yield batch

    def _count(self):
        self._left -= 1
        if self._left == -1:
            self._happen()


class WatchedRows:
    """`Rows` that note which rows are read and written.

    Args:
        rows: where the rows are.

    Attributes:
        read: ranges of keys, of which the end is not part.
        written: keys.
        calls: how many there were.
    """

    def __init__(self, rows):
        self._rows = rows
        self.url, self.atomic, self.costs = rows.url, rows.atomic, rows.costs
        self.read, self.written, self.calls = set(), set(), 0

    def __getattr__(self, name):
        method = getattr(self._rows, name)

        def call(*arguments, **named):
            if name in ("get", "get_all"):
                self.read.add((arguments[0], arguments[0] + b"\0"))
            elif name == "multi_get":
                self.read |= {(key, key + b"\0") for key in arguments[0]}
            elif name in ("compare_and_put", "remove_row"):
                self.written.add(arguments[0])
            elif name == "put_cells":
                self.written |= {cell.key for cell in arguments[0]}
            elif name == "write":
                self.written |= {row.key for row in arguments[0]} | set(arguments[1])
            elif name not in ("snapshot", "round_trips"):
                self.read.add(arguments[:2])
            self.calls += 1
            return method(*arguments, **named)

        return call

    def is_seen_by(self, other):
        """Whether something that was written here was read or written there."""
        return any(
            key in other.written or any(start <= key < stop for start, stop in other.read) for key in self.written
        )
