"""The calls of Hive's own metastore benchmarks, on all servers in a run: `python -m benchmarks.metastore.hive_calls`.

A Hive Metastore 4.0 on PostgreSQL is the reference; hbstore runs on SQLite and on HBase. Each benchmark makes what it
needs, times a call, or as many as it has objects, and takes away what it made; so it also meets what others left. All
of them warm up first, and the servers take turns in an order that rotates. With `--churn N` each server adds and drops
all partitions of a table of its objects N times before.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any, Final, TypeAlias

from rich.console import Console

from benchmarks.data import DAYS, HOURS
from benchmarks.metastore.__main__ import machine
from benchmarks.metastore.calls import SERVICE, message
from benchmarks.metastore.client import CallFailed, Client, Reply
from benchmarks.metastore.figures import Figure, show
from benchmarks.metastore.sales import DATABASE, Spec, database, partition, specs, table
from benchmarks.metastore.servers import Server, hbstore_on, hive_metastore, scratch

_ALL: Final = -1
_ROUNDS: Final = 7
_COLUMN: Final = "amount"
_LOOKS: Final = 5
"""Calls that one round of a reading benchmark times."""


@dataclass(slots=True)
class Subject:
    """A server under test, by a client's connection."""

    server: Server
    client: Client
    made: int = 0
    spent: float = 0.0

    def ask(self, method: str, **arguments: Any) -> bytes:
        """The reply to a call, whose length may be another one than when it was asked before."""
        return self._noted(self.client.ask_anew(message(method, **arguments)))

    def ask_again(self, call: bytes) -> bytes:
        """The reply to a call that always has the same length."""
        return self._noted(self.client.ask(call))

    def _noted(self, reply: Reply) -> bytes:
        self.spent += reply.last
        return reply.data

    def fresh(self, partitions: Sequence[Spec] = (), name: str | None = None) -> str:
        """The name of a new table with these partitions: one that there never was, or a name of before."""
        self.made += 1
        name = name or f"t{self.made}"
        self.ask("create_table", tbl=table(self.server.warehouse, name))
        self.add(name, partitions)
        return name

    def add(self, name: str, partitions: Sequence[Spec]) -> None:
        """Add partitions by one call."""
        if partitions:
            self.ask("add_partitions", new_parts=[self.partition(one, name) for one in partitions])

    def partition(self, spec: Spec, name: str) -> Any:
        """A partition of a table."""
        return partition(spec, self.server.warehouse, name)

    def drop(self, name: str, *, delete: bool = False) -> None:
        """Drop a table."""
        self.ask("drop_table", dbname=DATABASE, name=name, deleteData=delete)

    def drop_partitions(self, name: str, partitions: Sequence[Spec]) -> None:
        """Drop partitions by one call."""
        request = SERVICE.DropPartitionsRequest(
            dbName=DATABASE,
            tblName=name,
            parts=SERVICE.RequestPartsSpec(names=[one.name for one in partitions]),
            deleteData=False,
            ifExists=False,
            needResult=False,
        )
        self.ask("drop_partitions_req", req=request)


Benchmark: TypeAlias = Callable[[Subject, Sequence[Spec]], Iterator[None]]
"""Runs to where the clock starts, to where it stops, and so on; what it does behind that is not timed."""


def _reading(method: str, arguments: Callable[[str, Sequence[Spec]], dict[str, Any]]) -> Benchmark:
    """A call that reads a table of some partitions, which stays for the next round."""

    def benchmark(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
        name = f"read_{len(partitions)}"
        if name.encode() not in subject.ask("get_all_tables", db_name=DATABASE):
            subject.fresh(partitions, name)
        call = message(method, **arguments(name, partitions))
        for _ in range(_LOOKS):
            yield
            subject.ask_again(call)
            yield

    return benchmark


def _filter(text: str) -> Benchmark:
    return _reading(
        "get_partitions_by_filter",
        lambda name, _: {"db_name": DATABASE, "tbl_name": name, "filter": text, "max_parts": _ALL},
    )


def _of_table(name: str, _: Sequence[Spec]) -> dict[str, Any]:
    return {"db_name": DATABASE, "tbl_name": name, "max_parts": _ALL}


def create_table(subject: Subject, _: Sequence[Spec]) -> Iterator[None]:
    yield
    name = subject.fresh()
    yield
    subject.drop(name)


def drop_table(subject: Subject, _: Sequence[Spec]) -> Iterator[None]:
    name = subject.fresh()
    yield
    subject.drop(name, delete=True)
    yield


def drop_table_with_partitions(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    name = subject.fresh(partitions)
    yield
    subject.drop(name)
    yield


def add_partitions(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    name = subject.fresh()
    yield
    subject.add(name, partitions)
    yield
    subject.drop(name)


def add_one_by_one(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    name = subject.fresh()
    yield
    for one in partitions[:100]:
        subject.ask("add_partition", new_part=subject.partition(one, name))
    yield
    subject.drop(name)


def drop_partitions(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    name = subject.fresh(partitions)
    yield
    subject.drop_partitions(name, partitions)
    yield
    subject.drop(name)


def alter_partitions(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    name = subject.fresh(partitions)
    altered = [subject.partition(one, name) for one in partitions]
    for one in altered:
        one.parameters = {**one.parameters, "numRows": "7"}
    yield
    subject.ask("alter_partitions", db_name=DATABASE, tbl_name=name, new_parts=altered)
    yield
    subject.drop(name)


def rename_table(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    name = subject.fresh(partitions)
    renamed = table(subject.server.warehouse, name)
    renamed.tableName = f"{name}_renamed"
    yield
    subject.ask("alter_table", dbname=DATABASE, tbl_name=name, new_tbl=renamed)
    yield
    subject.drop(renamed.tableName)


def list_tables(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    made = [subject.fresh() for _ in partitions[:100]]
    for _ in range(_LOOKS):
        yield
        subject.ask("get_all_tables", db_name=DATABASE)
        yield
    for name in made:
        subject.drop(name)


def list_databases(subject: Subject, _: Sequence[Spec]) -> Iterator[None]:
    for _look in range(_LOOKS):
        yield
        subject.ask("get_all_databases")
        yield


def update_statistics(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    some = partitions[:100]
    name = subject.fresh(some)
    numbers = SERVICE.DoubleColumnStatsData(lowValue=1.0, highValue=9.0, numNulls=0, numDVs=7)
    data = SERVICE.ColumnStatisticsData(doubleStats=numbers)
    column = SERVICE.ColumnStatisticsObj(colName=_COLUMN, colType="double", statsData=data)
    statistics = [
        SERVICE.ColumnStatistics(
            statsDesc=SERVICE.ColumnStatisticsDesc(
                isTblLevel=False, dbName=DATABASE, tableName=name, partName=one.name, lastAnalyzed=0
            ),
            statsObj=[column],
        )
        for one in some
    ]
    yield
    for one in statistics:
        subject.ask("update_partition_column_statistics", stats_obj=one)
    yield
    subject.drop(name)


def _opened(subject: Subject, number: int) -> list[int]:
    request = SERVICE.OpenTxnRequest(num_txns=number, user="bench", hostname="bench")
    data = subject.ask("open_txns", rqst=request)
    first = int.from_bytes(data[-8 * number - 2 :][:8], "big")
    return list(range(first, first + number))


def allocate_write_ids(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    name = subject.fresh()
    transactions = _opened(subject, len(partitions))
    request = SERVICE.AllocateTableWriteIdsRequest(dbName=DATABASE, tableName=name, txnIds=transactions)
    yield
    subject.ask("allocate_table_write_ids", rqst=request)
    yield
    subject.ask("abort_txns", rqst=SERVICE.AbortTxnsRequest(txn_ids=transactions))
    subject.drop(name)


def valid_write_ids(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    names = [f"{DATABASE}.none_{at}" for at in range(len(partitions[:100]))]
    request = SERVICE.GetValidWriteIdsRequest(fullTableNames=names)
    for _ in range(_LOOKS):
        yield
        subject.ask("get_valid_write_ids", rqst=request)
        yield


def locking(subject: Subject, partitions: Sequence[Spec]) -> Iterator[None]:
    components = [
        SERVICE.LockComponent(type=1, level=2, dbname=DATABASE, tablename=f"none_{at}", operationType=1)
        for at in range(len(partitions[:100]))
    ]
    yield
    data = subject.ask("lock", rqst=SERVICE.LockRequest(component=components, user="bench", hostname="bench"))
    yield
    at = data.index(b"\x0a\x00\x01")  # the field of the lock's number
    subject.ask("unlock", rqst=SERVICE.UnlockRequest(lockid=int.from_bytes(data[at + 3 : at + 11], "big")))


_FOUR_ORS: Final = " or ".join(f'ds = "{day}"' for day in DAYS[:4])
BENCHMARKS: Final[dict[str, Benchmark]] = {
    "getTable": _reading("get_table_req", lambda name, _: {"req": SERVICE.GetTableRequest(DATABASE, name)}),
    "createTable": create_table,
    "dropTable": drop_table,
    "dropTable with its partitions, metadata only": drop_table_with_partitions,
    "addPartition, 100 calls": add_one_by_one,
    "addPartitions": add_partitions,
    "dropPartitions": drop_partitions,
    "alterPartitions": alter_partitions,
    "getPartitions": _reading("get_partitions", _of_table),
    "getPartitionNames": _reading("get_partition_names", _of_table),
    "getPartitionsByNames": _reading(
        "get_partitions_by_names",
        lambda name, some: {"db_name": DATABASE, "tbl_name": name, "names": [one.name for one in some]},
    ),
    "filter: one hour of a day": _filter(f'ds = "{DAYS[0]}" and hour = 1'),
    "filter: four ORs": _filter(_FOUR_ORS),
    "filter: ANDs, one hit": _filter(f'ds = "{DAYS[0]}" and hour = 1 and region = "r01"'),
    "renameTable": rename_table,
    "listTables, 100": list_tables,
    "listDatabases": list_databases,
    "updatePartitionsStat, 100 calls": update_statistics,
    "allocateTableWriteIds": allocate_write_ids,
    "getValidWriteIds, 100 tables": valid_write_ids,
    "lock of 100 components": locking,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--on", nargs="*", default=["SQLite", "HBase"], choices=["SQLite", "HBase"])
    parser.add_argument("--hms", default="postgresql", choices=["postgresql", "derby", "none"])
    parser.add_argument("--objects", type=int, nargs="*", default=[100, 1_000])
    parser.add_argument("--churn", type=int, default=0, metavar="N")
    parser.add_argument("--only", default="", help="benchmarks whose names have this in them")
    arguments = parser.parse_args()
    console = Console(width=170)
    console.print(machine())
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        servers = [stack.enter_context(hbstore_on(kind, folder)) for kind in arguments.on]
        if arguments.hms != "none":
            servers.append(stack.enter_context(hive_metastore(folder, arguments.hms, "4.0")))
        subjects = [Subject(server, Client(server.port)) for server in servers]
        for subject in subjects:
            console.print(f"{subject.server.name}: {subject.server.version}")
            subject.ask("create_database", database=database(subject.server.warehouse))
        for number in arguments.objects:
            partitions = specs(-(-number // (len(HOURS) * 25)))[:number]
            for subject in subjects:
                _churn(subject, partitions, arguments.churn)
            chosen = {name: one for name, one in BENCHMARKS.items() if arguments.only in name}
            figures = [_figure(console, subjects, name, one, partitions) for name, one in chosen.items()]
            title = f"{number:,} objects, {arguments.churn} cycles of churn before, load {os.getloadavg()[0]:.1f}"
            names = [server.name for server in servers]
            show(console, title, names, figures, reference=arguments.hms != "none")


def _churn(subject: Subject, partitions: Sequence[Spec], cycles: int) -> None:
    """Add and drop all partitions of the table that the reading benchmarks ask, again and again."""
    if cycles:
        name = subject.fresh((), f"read_{len(partitions)}")
        for _ in range(cycles):
            subject.add(name, partitions)
            subject.drop_partitions(name, partitions)
        subject.add(name, partitions)


def _figure(
    console: Console, subjects: Sequence[Subject], name: str, benchmark: Benchmark, partitions: Sequence[Spec]
) -> Figure:
    console.print(f"{name} …", style="dim")
    times: list[list[float]] = [[] for _ in subjects]
    refused: set[int] = set()
    for turn in range(_ROUNDS + 1):  # the first warms up
        for step in range(len(subjects)):
            at = (turn + step) % len(subjects)
            if at not in refused:
                try:
                    seconds = _timed(subjects[at], benchmark(subjects[at], partitions))
                except CallFailed as error:
                    console.print(f"{subjects[at].server.name}: {error}", style="dim")
                    refused.add(at)
                    continue
                if turn:
                    times[at] += seconds
    values = tuple(None if at in refused else median(seconds) for at, seconds in enumerate(times))
    return Figure(name, values, aim=3 if name.startswith("filter") else 1.5)


def _timed(subject: Subject, run: Iterator[None]) -> list[float]:
    """The seconds between calls and the last bytes of their replies, for each time that the clock ran."""
    seconds = []
    for _ in run:
        before = subject.spent
        next(run)
        seconds.append(subject.spent - before)
    return seconds


if __name__ == "__main__":
    main()
