"""Jobs that append to a shop's partitions beside others that exchange and rename them, all killed again and again.

With servers the others are their clients: then jobs and servers are killed.

What is acknowledged is read exactly once afterwards, wherever its partition is by then; what was refused is not; and of
what nobody can tell either.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random

import pytest
from pyarrow.fs import FileSelector, FileSystem
from thriftpy2.thrift import TException
from thriftpy2.transport import TTransportException

from hbstore import Column, Database, Partition, Table, connect
from hbstore.errors import CommitStateUnknown, HbstoreError
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from hbstore.publishing.manifest import hidden_name
from hbstore.warehouse.databases import create_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.partition_changes import exchange_partitions, rename_partition
from hbstore.warehouse.tables import change_table, create_table
from tests.metastore.client import client
from tests.metastore.serving import Serve
from tests.metastore.writing import partition_of
from tests.object_store import endpoint, new_bucket
from tests.pauses import SECONDS
from tests.processes import Process, say
from tests.publishing.dying import recover_later

TABLES = ("sales", "sold")
NAMES = ("sales", "sold", "trade")
VALUES = "abcdef"
APPENDERS = 3
CHANGERS = 2


def opened(location):
    """The file system of a location, and the path in it."""
    return FileSystem.from_uri(location.replace("file:/", "file:///", 1))


def prepare(store, warehouse):
    """Two tables that can exchange partitions; the second one has none."""
    create_database(store, warehouse, Database("shop"))
    for name in TABLES:
        create_table(store, warehouse, Table("shop", name, [Column("ds", "string")], [Column("id", "int")]))
    add_partitions(store, warehouse, store.get_table("shop", "sales"), [Partition((value,)) for value in VALUES[:3]])


def append_until_killed(url, root, name):
    """Called in a process: append a file to a partition, and another one, for ever."""
    random, warehouse = Random(name), Warehouse(root)
    with connect(url) as store:
        for number in count():
            text = f"{name}-{number}"
            say("begin", text)
            try:
                _append(store, warehouse, random, text)
            except CommitStateUnknown:
                continue
            except (HbstoreError, OSError) as error:  # the table's folder moves while a file is staged in it
                say("refused", text, type(error).__name__)
            else:
                say("done", text)


def _append(store, warehouse, random, text):
    table = random.choice(NAMES)
    home = store.get_table("shop", table).location
    there = store.get_partitions_by_filter("shop", table, None)
    where = random.choice([(one.values, one.location) for one in there] or [(("a",), f"{home}/ds=a")])
    hides, source = warehouse.renames(home), "data/part"
    staging = f"{home}/_hbstore/{text}"
    files, path = opened(f"{staging}/{source}")
    files.create_dir(path.rpartition("/")[0], recursive=True)
    with files.open_output_stream(path) as stream:
        stream.write(text.encode())
    hidden = hidden_name(text, 0)
    write = PartitionWrite(*where, {hidden if hides else source: text})
    staged = {f"{staging}/{source}": f"{where[1]}/{hidden}"} if hides else {}
    Publisher(store).publish(f"shop.{table}", Manifest(text, staging, (write,), hidden=hides), staged)


def change_until_killed(url, root, name):
    """Called in a process: exchange and rename partitions, and rename tables, for ever."""
    random, warehouse = Random(name), Warehouse(root)
    with connect(url) as store:
        while True:
            change = random.choices([_exchange, _rename_partition, _rename_table], [4, 4, 1])[0]
            try:
                change(store, warehouse, random)
            except HbstoreError as error:
                say("refused", change.__name__, type(error).__name__)
            else:
                say("changed", change.__name__)


def _exchange(store, warehouse, random):
    names = random.sample(store.table_names("shop"), 2)
    source, target = (store.get_table("shop", name) for name in names)
    there = store.get_partitions_by_filter("shop", source.name, None)
    if there:
        exchange_partitions(store, warehouse, source, target, [random.choice(there)])


def _rename_partition(store, warehouse, random):
    table = store.get_table("shop", random.choice(store.table_names("shop")))
    there = store.get_partitions_by_filter("shop", table.name, None)
    if there:
        rename_partition(store, warehouse, table, random.choice(there).values, Partition((random.choice(VALUES),)))


def _rename_table(store, warehouse, random):
    old, new = random.choice(store.table_names("shop")), random.choice(NAMES)
    change_table(store, warehouse, "shop", old, replace(store.get_table("shop", old), name=new))


class ServedChanges:
    """A server and a client that has it change the shop until it is killed.

    Args:
        store: the URL.
        folder: of the server's log.
        root: of the warehouse.
        name: decides what is changed.
    """

    def __init__(self, store, folder, root, name):
        folder.mkdir()
        self.lines = []
        self._random = Random(name)
        self._served = Serve(store, folder, "--warehouse", root)
        self._changed = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._change, daemon=True)
        self._thread.start()

    def heard(self, number):
        """Wait until so many changes have ended."""
        for _ in range(number):
            self._changed.acquire(timeout=SECONDS)

    def kill(self):
        """End the server where it stands."""
        self._served.__exit__()
        self._thread.join(SECONDS)

    def _change(self):
        try:
            with client(self._served.port) as metastore:
                while True:
                    change = self._random.choices(list(CALLS), [4, 4, 1])[0]
                    try:
                        change(metastore, self._random)
                    except TTransportException:
                        return
                    except TException as error:
                        self.lines.append(["refused", change.__name__, type(error).__name__])
                    else:
                        self.lines.append(["changed", change.__name__])
                    self._changed.release()
        except (OSError, TTransportException, EOFError):
            return  # it was killed
        finally:
            self._changed.release(10)


def _call_exchange(metastore, random):
    source, target = random.sample(metastore.get_all_tables("shop"), 2)
    for one in _any_of(metastore, random, source):
        metastore.exchange_partition({"ds": one.values[0]}, "shop", source, "shop", target)


def _call_rename_partition(metastore, random):
    table = random.choice(metastore.get_all_tables("shop"))
    for one in _any_of(metastore, random, table):
        metastore.rename_partition("shop", table, one.values, partition_of(random.choice(VALUES), table=table))


def _any_of(metastore, random, table):
    """One partition of a table, if it has any."""
    there = metastore.get_partitions("shop", table, -1)
    return random.sample(there, min(len(there), 1))


def _call_rename_table(metastore, random):
    old, new = random.choice(metastore.get_all_tables("shop")), random.choice(NAMES)
    table = metastore.get_table("shop", old)
    table.tableName = new
    metastore.alter_table("shop", old, table)


CALLS = (_call_exchange, _call_rename_partition, _call_rename_table)


def texts(store):
    """What is read of all partitions; no two have one folder."""
    read, places = Counter(), []
    for name in store.table_names("shop"):
        for one in store.get_partitions_by_filter("shop", name, None):
            places.append(one.location)
            files, path = opened(one.location)
            for info in files.get_file_info(FileSelector(path, recursive=True, allow_not_found=True)):
                if info.is_file and not info.base_name.startswith((".", "_")):
                    with files.open_input_stream(info.path) as stream:
                        read[stream.read().decode()] += 1
    assert len(places) == len(set(places)), f"two partitions have one folder: {sorted(places)}"
    return read


def round_of(url, root, random, number, said, servers=None):
    """Start all processes and kill one after the other; what the appenders said is added.

    Args:
        url: of the store.
        root: of the warehouse.
        random: decides.
        number: of the round.
        said: gets what all have said.
        servers: a folder for each server; None: changers are processes.

    Returns:
        How many were killed.
    """
    started = [(append_until_killed, APPENDERS), *([] if servers else [(change_until_killed, CHANGERS)])]
    processes = [
        Process(__name__, function.__name__, url, root, f"r{number}{function.__name__[0]}{at}")
        for function, many in started
        for at in range(many)
    ]
    processes += [ServedChanges(url, folder, root, f"r{number}s{folder.name}") for folder in servers or ()]
    for process in processes:
        process.heard(random.randint(1, 4))
    random.shuffle(processes)
    for process in processes:
        time.sleep(random.uniform(0, 0.3))
        process.kill()
    for process in processes:
        said += process.lines
    return len(processes)


def check(store, said):
    """Raise AssertionError where an acknowledged text is not there once."""
    read = texts(store)
    ends = {}
    for word, text, *_ in said:
        if word in ("begin", "done") or (word == "refused" and text in ends):
            ends[text] = word
    for text, word in ends.items():
        number = read.pop(text, 0)
        allowed = {"done": {1}, "refused": {0}, "begin": {0, 1}}[word]
        assert number in allowed, f"{text} was {word}, and is there {number} times"
    assert not read, f"texts of nobody: {read}"
    return Counter(ends.values())


def places(store, warehouse):
    """What the catalog names, and every file: to see what became of a text."""
    for name in store.table_names("shop"):
        yield f"{name} in {store.get_table('shop', name).location}"
        for one in store.get_partitions_by_filter("shop", name, None):
            yield f"    {one.values[0]} in {one.location}"
    files, path = opened(warehouse.root)
    for info in files.get_file_info(FileSelector(path, recursive=True, allow_not_found=True)):
        if info.is_file:
            yield info.path


def kills(seed, rounds, *, url=None, in_s3=False, servers=0, seconds=float("inf")):
    """Lines that tell what each round has found.

    Args:
        seed: decides what is done.
        rounds: so many.
        url: of an empty store; None: SQLite's, of its own.
        in_s3: where files are, and not in a local folder.
        servers: how many are killed as well.
        seconds: after which it ends.

    Raises:
        AssertionError: something is lost; its notes say where everything is.
    """
    random, said, began, killed = Random(seed), [], time.monotonic(), 0
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hbstore-kills-"))
        root = f"file:{folder}/wh"
        if in_s3:
            stack.enter_context(pytest.MonkeyPatch.context()).setenv("AWS_ENDPOINT_URL", endpoint())
            root = f"s3://{new_bucket()[0]}/wh"
        at = url or f"sqlite://{folder}/store.db"
        store = stack.enter_context(connect(at))
        prepare(store, Warehouse(root))
        done = 0
        while done < rounds and time.monotonic() - began < seconds:
            folders = [Path(folder, f"server-{done}-{one}") for one in range(servers)]
            killed += round_of(at, root, random, done, said, folders)
            recover_later(store, *(("shop", name) for name in store.table_names("shop")), seconds=5_000)
            try:
                ends = check(store, said)
            except AssertionError as error:
                error.add_note(f"in round {done} of --kills {rounds} --seed {seed}")
                for line in places(store, Warehouse(root)):
                    error.add_note(line)
                raise
            changes = sum(word == "changed" for word, *_ in said)
            yield f"round {done}: {dict(ends)} appends, {changes} changes"
            done += 1
    yield f"{done} rounds, {killed} kills in {time.monotonic() - began:.0f} s: nothing lost, nothing twice"
