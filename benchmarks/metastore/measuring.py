"""Asking all servers the same questions in turn, and checking every answer."""

from __future__ import annotations

import random
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import cycle
from statistics import median

from benchmarks.metastore.calls import message
from benchmarks.metastore.client import CallFailed, Client, Reply
from benchmarks.metastore.questions import ALL, Asked, Question
from benchmarks.metastore.sales import DATABASE, TABLE, Spec
from benchmarks.metastore.servers import Server

THREADS = 4
ROUNDS = 5
ROUND_SECONDS = 1.5
_WARM_SECONDS = 3.0
_SAMPLE = 400
_CALLS = 50
"""Different calls that clients who ask at once repeat."""


class WrongAnswer(AssertionError):
    """A server did not return what was asked for."""


@dataclass(slots=True)
class Times:
    """When the replies to a question came, in seconds, and how many items they had."""

    count: int
    first: list[float] = field(default_factory=list)
    last: list[float] = field(default_factory=list)

    def add(self, reply: Reply) -> None:
        """One more reply."""
        self.first.append(reply.first)
        self.last.append(reply.last)

    @property
    def medians(self) -> tuple[float | None, float | None]:
        """Of the first and of the last byte; None where the server refused to answer."""
        return (median(self.first), median(self.last)) if self.first else (None, None)


class Asker:
    """A server with a connection to it, which knows how long its replies are at the least."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.client = Client(server.port)
        self.partition_bytes = 0

    def learn(self) -> None:
        """See how many bytes a partition has, the least of some."""
        call = message("get_partitions", db_name=DATABASE, tbl_name=TABLE, max_parts=_SAMPLE)
        self.partition_bytes = min(len(item) for item in self.client.ask(call).items)

    def ask(self, asked: Asked) -> Reply:
        """The reply, if it has as many items as it should.

        Raises:
            WrongAnswer: it has not.
        """
        reply = self.client.ask(asked.call, len(asked.partitions) * self.partition_bytes)
        if asked.count and reply.count != asked.count:
            raise WrongAnswer(f"{self.server.name}: {reply.count} items, not {asked.count}: {asked.call[:300]!r}")
        return reply

    def check(self, asked: Asked) -> None:
        """Ask, and look at every partition of the answer.

        Raises:
            WrongAnswer: they are not those that were asked for.
        """
        reply = self.ask(asked)
        if asked.partitions and sorted(map(spec_of, reply.items)) != sorted(asked.partitions):
            raise WrongAnswer(f"{self.server.name}: other partitions than asked for: {asked.call[:300]!r}")


def spec_of(partition: bytes) -> Spec:
    """The values of a partition from its bytes, which begin with them."""
    head = b"\x0f\x00\x01\x0b\x00\x00\x00\x03"
    if not partition.startswith(head):
        raise WrongAnswer(f"a partition does not begin with three values: {partition[:40]!r}")
    at, values = len(head), []
    for _ in range(3):
        size = struct.unpack_from(">i", partition, at)[0]
        values.append(partition[at + 4 : at + 4 + size].decode())
        at += 4 + size
    return Spec(values[0], int(values[1]), values[2])


def warm_up(asker: Asker, questions: Iterable[Question], days: int, seconds: float) -> None:
    """Ask a server one question after the other for some time, as often as each is asked later; JVMs are slow at first.

    A minute of this is little beside the weeks for which such servers run.
    """
    pick = random.Random("warm")
    mixed = [question for question in questions for _ in range(max(1, question.runs // 10))]
    pick.shuffle(mixed)
    refused: set[str] = set()
    until = time.perf_counter() + seconds
    for question in cycle(mixed):
        if time.perf_counter() > until or len(refused) == len({one.name for one in mixed}):
            return
        if question.name not in refused:
            try:
                asker.ask(question.make(pick, days))
            except CallFailed:
                refused.add(question.name)


def compare(askers: list[Asker], question: Question, days: int) -> list[Times]:
    """Ask all servers in turn, A B C A B C …, each time with new literals, the same ones for all.

    The first answer of each server is checked in full, and they are warmed up: a JVM is slow at first. A server that
    refuses the question is not asked again, as a Hive Metastore on Derby refuses long filters.
    """
    pick = random.Random(question.name)
    first = question.make(pick, days)
    times = [Times(first.count) for _ in askers]
    answering = [pair for pair in zip(askers, times, strict=True) if _warmed_up(pair[0], question, first, days)]
    for _ in range(question.runs):
        asked = question.make(pick, days)
        for asker, found in answering:
            found.add(asker.ask(asked))
    return times


def _warmed_up(asker: Asker, question: Question, first: Asked, days: int) -> bool:
    """Whether a server answers a question, which it does some times."""
    try:
        asker.check(first)
    except CallFailed:
        return False
    pick = random.Random(f"warm {question.name}")
    began = time.perf_counter()
    for _ in range(question.runs // 2):
        asker.ask(question.make(pick, days))
        if time.perf_counter() - began > _WARM_SECONDS:
            break
    return True


def calls_a_second(askers: list[Asker], make: Callable[[random.Random, int], Asked], days: int) -> list[float]:
    """How many calls a second each server answers to four connections of this process, each with a thread.

    The calls have different literals, which are the same for all servers.
    """
    pick = random.Random("calls a second")
    calls = [make(pick, days).call for _ in range(_CALLS)]
    rates: list[list[float]] = [[] for _ in askers]
    for _ in range(ROUNDS):
        for asker, found in zip(askers, rates, strict=True):
            found.append(_rate(asker.server.port, calls))
    return [median(found) for found in rates]


def _rate(port: int, calls: list[bytes]) -> float:
    clients = [Client(port) for _ in range(THREADS)]
    counts = [0] * THREADS
    start = threading.Barrier(THREADS + 1)

    def ask(number: int) -> None:
        client = clients[number]
        for call in calls:
            client.ask(call)  # it waits for what may still come of the first reply to a call, and then knows its length
        asking = cycle(calls[number:] + calls[:number])
        start.wait()
        until = time.perf_counter() + ROUND_SECONDS
        while time.perf_counter() < until:
            client.ask(next(asking))
            counts[number] += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    start.wait()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()
    return sum(counts) / ROUND_SECONDS


def reply_bytes(asker: Asker) -> int:
    """How long the reply with all partitions is."""
    call = message("get_partitions", db_name=DATABASE, tbl_name=TABLE, max_parts=ALL)
    return len(asker.client.ask(call).data)
