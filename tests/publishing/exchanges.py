"""Two tables with folders between which partitions are exchanged, and what a reader of them sees."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from hbstore import Column, Partition, PartitionStore, Table
from hbstore.ddl import execute
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from hbstore.rows import connect as connect_rows
from tests.publishing.dying import dying

SALES, OLD = ("shop", "sales"), ("attic", "old")
VALUES = [("a", "1"), ("a", "2"), ("b", "1"), ("c", "1"), ("far", "1")]
MOVED = [one for one in VALUES if one[0] != "b"]
STATEMENT = (
    "ALTER TABLE attic.old EXCHANGE PARTITION ((ds = 'a'), (ds = 'c'), (ds = 'far', hour = 1)) WITH TABLE shop.sales"
)


def prepare(store, root):
    """shop.sales with a file in each partition, c without a folder, far in one of its own; and attic.old with d."""
    columns = [Column("ds", "string"), Column("hour", "int")]
    for database, name in (SALES, OLD):
        store.create_database(database)
        store.create_table(Table(database, name, columns, location=f"file:{root}/{database}.db/{name}"))
    for ds, hour in VALUES:
        place = f"file:{root}/far/own" if ds == "far" else None
        store.add_partitions(*SALES, [Partition((ds, hour), location=place, parameters={"numRows": "1"})])
    store.add_partitions(*OLD, [Partition(("d", "1"))])
    for one in [*store.get_partitions_by_filter(*SALES, None), *store.get_partitions_by_filter(*OLD, None)]:
        if one.values[0] != "c":
            folder = Path(one.location.removeprefix("file:"))
            folder.mkdir(parents=True)
            (folder / "rows").write_text("/".join(one.values))


def seen(store, table):
    """The values of a table's partitions, and of those with a file what it says."""
    found = {}
    for one in store.get_partitions_by_filter(*table, None):
        file = Path(one.location.removeprefix("file:")) / "rows"
        found[one.values] = file.read_text() if file.exists() else None
    return found


def expected(values):
    """What `seen` says where no file is missing."""
    return {one: None if one[0] == "c" else "/".join(one) for one in values}


BEFORE = expected(VALUES), expected([("d", "1")])
AFTER = expected([("b", "1")]), expected([*MOVED, ("d", "1")])


def both(store):
    """What is seen in both tables."""
    return seen(store, SALES), seen(store, OLD)


def leases(store):
    """How many publications are open in both tables."""
    return sum(len(store.publications.of(store.publications.row(*table))) for table in (SALES, OLD))


def run(store, root):
    """The result of the statement that moves all of `MOVED`."""
    (result,) = execute(store, STATEMENT, warehouse=str(root))
    return result


def meanwhile(monkeypatch, before=lambda _: None, after=lambda _: None):
    """Have others act just before the store exchanges partitions for the first time, and just after."""
    real = PartitionStore.exchange_partitions

    def exchange(self, *arguments, **options):
        monkeypatch.setattr(PartitionStore, "exchange_partitions", real)
        before(self)
        done = real(self, *arguments, **options)
        after(self)
        return done

    monkeypatch.setattr(PartitionStore, "exchange_partitions", exchange)


def come_to(store, table):
    """Come to a table as another process, which may move files."""
    other = PartitionStore(store.rows)
    Publisher(other).roll_forward_before_use(other.table_row(*table))


def deaths(url, folder):
    """Every moment at which a process may die: its number, the store as it is then, and its warehouse."""
    for at in count():
        root = folder / str(at)
        store = PartitionStore(connect_rows(url))
        prepare(store, root)
        with dying(store, at) as process:
            run(process.store, root)
        if not process.died:
            assert at > 15, "it hardly does anything"
            return
        yield at, store, root


def manifests(store):
    """The rows that say what open publications do."""
    return [key for key, cells in store.rows.scan_catalog(b"W", b"X") if any(cells.values())]


def job(values):
    """What a job would write that leases a partition."""
    return Manifest("job1", "", (PartitionWrite(values, "file:/nowhere"),))
