"""Files and catalog: publishing, exchanging, renaming and dropping, beside what the file system alone takes."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.timing import Figure, Report, seconds
from hbstore import Column, Database, Partition, PartitionStore, Table, connect
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from hbstore.warehouse.databases import create_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.partition_changes import drop_partitions, exchange_partitions
from hbstore.warehouse.tables import change_table, create_table
from tests.object_store import Outcome, Proxy, new_bucket, s3_at

_DELAY = 0.02
_IN_S3 = 1_000
_LOCAL = 10_000
_PARTITIONS = 100
_CALLS = 200


def run() -> Iterator[Report]:
    """On a local disk and in S3, whose every request takes 20 ms longer than moto's."""
    report = Report(f"Files: S3 with {_DELAY * 1e3:.0f} ms for each request", headings=("hbstore", "copies alone"))
    report.figures.append(_published_in_s3())
    yield report
    report = Report(f"Files: {_LOCAL:,} in {_PARTITIONS} partitions on a local disk", headings=("hbstore", "raw"))
    report.figures += _on_disk()
    yield report
    report = Report("A table's row is read", headings=("an unfinishable write", "none"))
    report.figures.append(_beside_an_unfinishable_write())
    yield report


def _published_in_s3() -> Figure:
    bucket, files = new_bucket()
    names = [f"part-{number:04}" for number in range(_IN_S3)]
    home = f"{bucket}/sales"
    for name in names:
        with files.open_output_stream(f"{home}/_hbstore/job/data/{name}") as stream:
            stream.write(b"rows")

    def slow(*_: object) -> Outcome:
        time.sleep(_DELAY)
        return Outcome.DONE

    write = PartitionWrite(("a",), f"s3://{home}/ds=a", {f"data/{name}": name for name in names})
    manifest = Manifest("job", f"s3://{home}/_hbstore/job", (write,), hidden=False)
    with connect("memory://") as store, Proxy(slow).running() as proxy, s3_at(proxy.address):
        store.create_database("bench")
        store.create_table(Table("bench", "sales", [Column("ds", "string")], location=f"s3://{home}"))
        warehouse = Warehouse(f"s3://{home}")
        pairs = {f"s3://{home}/_hbstore/job/data/{name}": f"s3://{home}/raw/{name}" for name in names}
        raw = seconds(lambda: warehouse.bring(pairs, inside=[f"s3://{home}"]))
        ours = seconds(lambda: Publisher(store).publish("bench.sales", manifest, {}))
        requests = (len(proxy.requests) - _IN_S3) / _IN_S3
    return Figure(f"publish {_IN_S3:,} files", ours, raw, "", f"{requests:.1f} requests a file")


@contextmanager
def _shop() -> Iterator[tuple[PartitionStore, Warehouse, Path]]:
    with tempfile.TemporaryDirectory(prefix="hbstore-bench-") as folder, connect(f"sqlite://{folder}/a.db") as store:
        warehouse = Warehouse(f"{folder}/wh")
        create_database(store, warehouse, Database("bench"))
        for name in ("sales", "sold"):
            create_table(store, warehouse, Table("bench", name, [Column("ds", "int")], [Column("id", "int")]))
        yield store, warehouse, Path(folder, "wh/bench.db")


def _filled(store: PartitionStore, warehouse: Warehouse, home: Path) -> list[Partition]:
    """Partitions of bench.sales with all files."""
    partitions = [Partition((str(number),)) for number in range(_PARTITIONS)]
    add_partitions(store, warehouse, store.get_table("bench", "sales"), partitions)
    for number in range(_LOCAL):
        (home / f"sales/ds={number % _PARTITIONS}/part-{number}").touch()
    return store.get_partitions_by_filter("bench", "sales", None)


def _on_disk() -> Iterator[Figure]:
    with _shop() as (store, warehouse, home):
        table = store.get_table("bench", "sales")
        writes, staged = [], {}
        (home / "sales/_hbstore/job").mkdir(parents=True)
        for at in range(_PARTITIONS):
            files = {}
            for number in range(at, _LOCAL, _PARTITIONS):
                (home / f"sales/_hbstore/job/part-{number}").touch()
                staged[f"{table.location}/_hbstore/job/part-{number}"] = f"{table.location}/ds={at}/.job-{number}"
                files[f".job-{number}"] = f"part-{number}"
            writes.append(PartitionWrite((str(at),), f"{table.location}/ds={at}", files))
        manifest = Manifest("job", f"{table.location}/_hbstore/job", tuple(writes))
        ours = seconds(lambda: Publisher(store).publish("bench.sales", manifest, staged))
        yield Figure("publish", ours, _renamed_one_by_one(home / "sales"), "", "raw: each file renamed twice")
    for name, change, raw in (("exchange", _exchange, _folders_renamed), ("drop", _drop, _folders_removed)):
        with _shop() as (store, warehouse, home):
            partitions = _filled(store, warehouse, home)
            copy = home / "copy"
            shutil.copytree(home / "sales", copy)
            yield Figure(name, seconds(change, store, warehouse, partitions), seconds(raw, copy), "")
    with _shop() as (store, warehouse, home):
        _filled(store, warehouse, home)
        renamed = replace(store.get_table("bench", "sales"), name="trade")
        ours = seconds(lambda: change_table(store, warehouse, "bench", "sales", renamed))
        yield Figure("rename the table", ours, seconds(os.rename, home / "trade", home / "raw"), "")


def _exchange(store: PartitionStore, warehouse: Warehouse, partitions: list[Partition]) -> None:
    tables = store.get_table("bench", "sales"), store.get_table("bench", "sold")
    exchange_partitions(store, warehouse, *tables, partitions)


def _drop(store: PartitionStore, warehouse: Warehouse, partitions: list[Partition]) -> None:
    payloads = [one.payload for one in partitions if one.payload is not None]
    drop_partitions(store, warehouse, store.get_table("bench", "sales"), payloads, delete=True)


def _renamed_one_by_one(home: Path) -> float:
    """Seconds to rename all files of a table twice."""
    paths = [path for path in home.rglob("part-*") if path.is_file()]

    def rename() -> None:
        for path in paths:
            hidden = path.with_name(f".{path.name}")
            path.rename(hidden)
            hidden.rename(path)

    return seconds(rename)


def _folders_renamed(home: Path) -> None:
    for folder in list(home.iterdir()):
        folder.rename(folder.with_name(f"new-{folder.name}"))


def _folders_removed(home: Path) -> None:
    for folder in list(home.iterdir()):
        shutil.rmtree(folder)


def _beside_an_unfinishable_write() -> Figure:
    with _shop() as (store, warehouse, home):
        table = store.get_table("bench", "sales")
        add_partitions(store, warehouse, table, [Partition((str(number),)) for number in range(1_000)])
        publisher = Publisher(store)

        def read() -> None:
            publisher.roll_forward_before_use(store.table_row("bench", "sales"))

        alone = _each(read)
        write = PartitionWrite(("0",), f"{table.location}/ds=0", {".job": "part"})
        manifest = Manifest("job", f"{table.location}/_hbstore/job", (write,))
        row = publisher.lease("bench.sales", manifest)
        (home / "sales/ds=0/.job").touch()
        store.publications.decide(row, "job")
        (home / "sales/ds=0/part").mkdir()  # in the way
        read()
        return Figure("read, with what is decided looked at", _each(read), alone, "", "without the call around it")


def _each(call: Callable[[], None]) -> float:
    def all_calls() -> None:
        for _ in range(_CALLS):
            call()

    all_calls()
    return seconds(all_calls) / _CALLS
