"""Four clients at two servers that create, rename, exchange and drop the same at once, round after round.

Each round has a database of its own. What the catalog names afterwards has its folder on a disk; each file is read
once, at a place that the catalog names; and of those that do what only one can do, one is answered that it is done.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier

import pytest
from pyarrow.fs import FileSelector, FileType
from thriftpy2.thrift import TException

from hbstore import connect
from tests.fuzz.kills import opened
from tests.metastore.client import STORED, client
from tests.metastore.serving import Serve
from tests.metastore.writing import column, partition_of, table_of
from tests.object_store import endpoint, new_bucket

CLIENTS = 4
SERVERS = 2


@dataclass(frozen=True, slots=True)
class Round:
    """What the clients of a round share.

    Attributes:
        name: of its database.
        store: the catalog, past the servers.
    """

    name: str
    store: object

    def table(self, name, **fields):
        return table_of(name, dbName=self.name, partitionKeys=[column("ds")], **fields)

    def partition(self, value, table="a"):
        return partition_of(value, table=table, dbName=self.name)

    def write(self, location, text):
        """A file past hbstore, whose text is its name."""
        files, path = opened(f"{location}/{text}")
        files.create_dir(path.rpartition("/")[0], recursive=True)
        with files.open_output_stream(path) as stream:
            stream.write(text.encode())

    def location(self, table, *values):
        row = self.store.get_partition(self.name, table, values) if values else self.store.get_table(self.name, table)
        return row.location

    def places(self):
        """Where all tables and partitions are: some of these are in others."""
        for name in self.store.table_names(self.name):
            yield self.store.get_table(self.name, name).location
            for one in self.store.get_partitions_by_filter(self.name, name, None):
                yield one.location


def _prepared(metastore, here):
    """Table a with the partitions p and q, table b without; a file in each partition."""
    for name in "ab":
        metastore.create_table(here.table(name))
    metastore.add_partitions([here.partition(value) for value in "pq"])
    for value in "pq":
        here.write(here.location("a", value), f"file-{value}")


def _renamed_table(metastore, here, name):
    metastore.alter_table(here.name, "a", here.table(name))


def _renamed_partition(metastore, here, value):
    metastore.rename_partition(here.name, "a", ["p"], here.partition(value))


def _exchanged(metastore, here, source, target):
    metastore.exchange_partition({"ds": "p"}, here.name, source, here.name, target)


def _dropped(metastore, here):
    metastore.drop_partition(here.name, "a", ["p"], True)


RACES = {
    "create a partition": [lambda metastore, here: metastore.add_partition(here.partition("new"))] * 4,
    "create a table": [lambda metastore, here: metastore.create_table(here.table("new"))] * 4,
    "create a database": [
        lambda metastore, here: metastore.create_database(STORED.Database(name=f"{here.name}_new", parameters={}))
    ]
    * 4,
    "rename a table to one name": [lambda metastore, here: _renamed_table(metastore, here, "c")] * 4,
    "rename a table": [
        lambda metastore, here, name=name: _renamed_table(metastore, here, name) for name in ("c", "d", "e", "f")
    ],
    "rename a partition to one name": [lambda metastore, here: _renamed_partition(metastore, here, "r")] * 4,
    "rename a partition": [
        lambda metastore, here, value=value: _renamed_partition(metastore, here, value) for value in "rstu"
    ],
    "exchange a partition": [lambda metastore, here: _exchanged(metastore, here, "a", "b")] * 4,
    "rename a table and create one": [
        *[lambda metastore, here: _renamed_table(metastore, here, "c")] * 2,
        *[lambda metastore, here, name=name: metastore.create_table(here.table(name)) for name in "ac"],
    ],
    "rename, exchange and create": [
        lambda metastore, here: _renamed_table(metastore, here, "c"),
        lambda metastore, here: _renamed_partition(metastore, here, "r"),
        lambda metastore, here: _exchanged(metastore, here, "a", "b"),
        lambda metastore, here: metastore.add_partition(here.partition("r")),
    ],
    "drop and create a partition": [
        *[_dropped] * 2,
        *[lambda metastore, here: metastore.add_partition(here.partition("p"))] * 2,
    ],
    "drop and create a table": [
        *[lambda metastore, here: metastore.drop_table(here.name, "b", True)] * 2,
        *[lambda metastore, here: metastore.create_table(here.table("b"))] * 2,
    ],
}
"""What each of the clients does."""

ONE_WINS = set(list(RACES)[:8])
"""Races in which one is answered that it is done, and all others are refused."""

_LOSES_A_FILE = {"drop and create a partition": "file-p"}


def check(here, race, done):
    """Raise AssertionError where something is lost or doubled."""
    if race in ONE_WINS:
        assert done == 1, f"{done} are done"
    texts, places = Counter(), [*here.places()]
    if race == "create a database":
        places.append(here.store.get_database(f"{here.name}_new").location)
    assert len(places) == len(set(places)), f"one folder for two: {sorted(places)}"
    for place in places:
        files, path = opened(place)
        is_there = files.get_file_info(path).type is not FileType.NotFound
        assert is_there or place.startswith("s3:"), f"{place} is not there"  # in S3 only files make folders
    for name in here.store.table_names(here.name):
        for one in here.store.get_partitions_by_filter(here.name, name, None):
            files, path = opened(one.location)
            texts.update(
                info.base_name for info in files.get_file_info(FileSelector(path, allow_not_found=True)) if info.is_file
            )
    lost = {"file-p", "file-q"} - set(texts) - {_LOSES_A_FILE.get(race)}
    assert not lost, f"lost: {lost}"
    assert set(texts.values()) <= {1}, f"twice: {texts}"


def one_round(here, race, clients, pool):
    """Let all do their part at once; how many were answered that it is done."""
    barrier = Barrier(CLIENTS)

    def run(metastore, act):
        barrier.wait()
        try:
            act(metastore, here)
        except TException as error:
            if not hasattr(error, "message"):
                raise
            return type(error).__name__
        return "done"

    return Counter(pool.map(run, clients, RACES[race]))


def races(seed, rounds, *, url=None, in_s3=False, seconds=float("inf")):
    """Lines that tell what came of each hundred rounds.

    Raises:
        AssertionError: something is lost; its notes say in which round, and what is where.
    """
    began, ends = time.monotonic(), {race: Counter() for race in RACES}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hbstore-races-"))
        root = f"{folder}/wh"
        if in_s3:
            stack.enter_context(pytest.MonkeyPatch.context()).setenv("AWS_ENDPOINT_URL", endpoint())
            root = f"s3://{new_bucket()[0]}/wh"
        at = url or f"sqlite://{folder}/store.db"
        store = stack.enter_context(connect(at))
        servers = []
        for number in range(SERVERS):
            Path(folder, str(number)).mkdir()
            servers.append(stack.enter_context(Serve(at, f"{folder}/{number}", "--warehouse", root)))
        clients = [stack.enter_context(client(servers[one % SERVERS].port)) for one in range(CLIENTS)]
        pool = stack.enter_context(ThreadPoolExecutor(CLIENTS))
        done = 0
        for number in range(rounds):
            race = list(RACES)[(seed + number) % len(RACES)]
            here = Round(f"r{seed}_{number}", store)
            clients[0].create_database(STORED.Database(name=here.name, parameters={}))
            _prepared(clients[0], here)
            ended = one_round(here, race, clients, pool)
            ends[race] += ended
            try:
                check(here, race, ended["done"])
            except AssertionError as error:
                error.add_note(f"{race}, round {number} of --races {rounds} --seed {seed}: {dict(ended)}")
                for place in here.places():
                    error.add_note(place)
                raise
            for name in (here.name, f"{here.name}_new")[: 1 + (race == "create a database")]:
                clients[number % CLIENTS].drop_database(name, True, True)
            done = number + 1
            if done % 100 == 0:
                yield f"{done} rounds in {time.monotonic() - began:.0f} s"
            if time.monotonic() - began > seconds:
                break
    for race, ended in ends.items():
        yield f"{race}: {dict(ended)}"
    yield f"{done} rounds of {CLIENTS} clients at {SERVERS} servers in {time.monotonic() - began:.0f} s: nothing lost"
