"""Publications belong to one table, whatever its name: not to the next of the name, and not to none."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest

from hbstore import Column, HbstoreError, Partition, PublicationLost, Table, connect
from hbstore.errors import ConcurrentChange, CorruptRow
from hbstore.publishing import Manifest, PartitionWrite, Stream, StreamBatch
from hbstore.rows import connect as connect_rows
from hbstore.rows.interface import CatalogCell
from hbstore.store.partition_store import PartitionStore
from hbstore.store.publications_cell import WRITES
from hbstore.transactions.log import LOG
from tests.calls import TIMED
from tests.pauses import without_patience, without_pauses
from tests.store.faults import Crash, FaultyRows
from tests.store.stepping import InterruptedRows
from tests.store.timelines import texts

SALES = ("shop", "sales")
STREAM = Stream("4e5f", "shop.sales")
FAR = 4e9


@pytest.fixture(params=["memory", "nonatomic", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def rows(request, tmp_path):
    """Those of an empty store."""
    urls = {
        "memory": "memory://",
        "nonatomic": "memory://?atomic=false",
        "sqlite": f"sqlite://{tmp_path}/store.db",
    }
    url = urls.get(request.param) or request.getfixturevalue("hbase_url")
    with connect(url) as store:
        for database in store.database_names():
            store.drop_database(database, cascade=True)
        yield store.rows


def create(store):
    if "shop" not in store.database_names():
        store.create_database("shop")
    columns = [Column("ds", "string"), Column("hour", "int")]
    store.create_table(Table(*SALES, columns, location="s3://shop/sales", parameters=TIMED))
    return store.table_row(*SALES)


def lease(store, row, name, *days, drop=(), batch=None):
    """Lease partitions of some days, which a publication is going to write, or to drop."""
    writes = tuple(
        PartitionWrite(
            (f"2013-01-0{day}", "0"),
            f"s3://shop/sales/ds=2013-01-0{day}/hour=0",
            statistics={"numRows": 1},
            drop=day in drop,
        )
        for day in days
    )
    manifest = Manifest(name, f"s3://shop/sales/_hbstore/{name}", writes, batch)
    names = {f"{day}".encode().ljust(6): f"ds=2013-01-0{day}" for day in days}
    names = {row.definition.prefix + key: value for key, value in names.items()}
    return store.publications.lease(row, name, names, manifest.encode(), FAR, batch)


def open_publications(store, name=SALES):
    row = store.publications.row(*name)
    return {
        one.id: (one.decided, store.publications.manifest(row, one.id) is not None)
        for one in store.publications.of(row)
    }


LATE = {
    "lease": lambda store, row: lease(store, row, "late", 3),
    "extend": lambda store, row: store.publications.extend(row, "old", FAR),
    "check": lambda store, row: store.publications.check(row, "old"),
    "decide": lambda store, row: store.publications.decide(row, "old"),
    "close": lambda store, row: store.publications.close(row, "old"),
    "withdraw": lambda store, row: store.publications.withdraw(row, "old"),
    "manifest": lambda store, row: store.publications.manifest(row, "old"),
}
ANSWERS = {
    "lease": ConcurrentChange,
    **dict.fromkeys(("extend", "check", "decide"), PublicationLost),
    "close": None,
    "withdraw": True,
    "manifest": None,
}


INSIDE = "within a transaction of the backend"


def answer(call, *arguments):
    """What a call returns, or the type of its error; INSIDE where a backend lets nobody come between."""
    try:
        return call(*arguments)
    except HbstoreError as error:
        return type(error)
    except RuntimeError:
        return INSIDE


def next_of_its_name(store):
    """Drop the table and create it anew, with a job that has decided and one that has not."""
    store.drop_table(*SALES)
    row = create(store)
    lease(store, row, "new", 1)
    store.publications.decide(row, "new")
    lease(store, row, "another", 2)


@pytest.mark.parametrize("method", LATE)
def test_a_late_job_of_a_dropped_table_changes_nothing_of_the_next_of_its_name(rows, method):
    store = PartitionStore(rows)
    row = create(store)
    lease(store, row, "old", 1)
    next_of_its_name(store)
    assert answer(LATE[method], store, row) == ANSWERS[method]
    assert open_publications(store) == {"new": (True, True), "another": (False, True)}
    assert store.partition_names(*SALES) == ["ds=2013-01-01/hour=0"]


@pytest.mark.parametrize("method", LATE)
@pytest.mark.parametrize("url", ["memory://", "memory://?atomic=false"])
def test_whenever_the_table_is_dropped_and_created_anew(url, method, monkeypatch):
    """At each call that the job makes to the rows."""
    without_pauses(monkeypatch)
    without_patience(monkeypatch)
    for at in range(100):
        rows, happened = connect_rows(url), []
        store = PartitionStore(rows)
        row = create(store)
        lease(store, row, "old", 1)

        def happen(rows=rows, happened=happened):
            happened.append(answer(next_of_its_name, PartitionStore(rows)))

        answer(LATE[method], PartitionStore(InterruptedRows(rows, at, happen)), row)
        if not happened:
            return
        if happened == [INSIDE]:
            continue
        assert open_publications(store) == {"new": (True, True), "another": (False, True)}, at
        assert store.partition_names(*SALES) == ["ds=2013-01-01/hour=0"], at
    pytest.fail("it never came to its end")


def test_a_table_that_is_gone_takes_no_job(rows):
    store = PartitionStore(rows)
    row = create(store)
    store.drop_table(*SALES)
    with pytest.raises(ConcurrentChange, match="dropped or renamed"):
        lease(store, row, "late", 1)
    assert [name for name, value in (rows.get_all(row.key) or {}).items() if value] == [LOG]


def test_a_job_whose_table_is_renamed_has_lost_its_lease_and_is_not_forgotten(rows):
    store = PartitionStore(rows)
    row = create(store)
    lease(store, row, "old", 1)
    store.rename_table(*SALES, replace(store.get_table(*SALES), name="sold"))
    with pytest.raises(PublicationLost, match="renamed"):
        store.publications.decide(row, "old")
    assert open_publications(store, ("shop", "sold")) == {"old": (False, True)}
    now = store.publications.row("shop", "sold")
    store.publications.decide(now, "old")
    assert store.partition_names("shop", "sold") == ["ds=2013-01-01/hour=0"]
    with pytest.raises(ConcurrentChange, match="decided but not finished"):
        store.rename_table("shop", "sold", replace(store.get_table("shop", "sold"), name="sales"))
    store.publications.close(now, "old")
    store.rename_table("shop", "sold", replace(store.get_table("shop", "sold"), name="sales"))


@pytest.mark.parametrize("url", ["memory://", "memory://?atomic=false"])
def test_a_decision_beside_a_rename_is_before_it_or_never(url, monkeypatch):
    """At each call that the rename makes to the rows a job decides: one of the two learns that it was the second."""
    without_pauses(monkeypatch)
    without_patience(monkeypatch)
    outcomes = set()
    for at in range(100):
        rows, decisions = connect_rows(url), []
        store = PartitionStore(rows)
        row = create(store)
        lease(store, row, "job", 1)

        def decide(rows=rows, row=row, decisions=decisions):
            decisions.append(answer(PartitionStore(rows).publications.decide, row, "job"))

        renamed = replace(store.get_table(*SALES), name="sold")
        said = answer(PartitionStore(InterruptedRows(rows, at, decide)).rename_table, *SALES, renamed)
        if not decisions:
            break
        if decisions == [INSIDE]:
            continue
        (name,) = store.table_names("shop")
        outcomes.add((name, said, *decisions))
        is_there = store.partition_names("shop", name) == ["ds=2013-01-01/hour=0"]
        assert is_there is (decisions == [None]), at
        assert open_publications(store, ("shop", name)) == {"job": (is_there, True)}, at
    assert outcomes <= {("sales", ConcurrentChange, None), ("sold", None, PublicationLost)}
    assert ("sales", ConcurrentChange, None) in outcomes


READS = {
    "get_partition": lambda s: s.get_partition(*SALES, ("2013-01-03", "0")).values[0],
    "get_partitions": lambda s: [
        one.values[0] for one in s.get_partitions(*SALES, [(f"2013-01-0{day}", "0") for day in range(1, 6)])
    ],
    "get_payloads": lambda s: len(s.get_payloads(*SALES, [(f"2013-01-0{day}", "0") for day in range(1, 6)])),
    "get_partitions_by_filter": lambda s: [
        one.values[0] for one in s.get_partitions_by_filter(*SALES, "ds > '2013-01-01'")
    ],
    "list_partitions_by_filter": lambda s: [one["ds"] for one in s.list_partitions_by_filter(*SALES, "hour = 0")],
    "read_payloads": lambda s: s.read_payloads(*SALES, None, lambda *read: sum(map(len, read[2]))),
    "partition_names": lambda s: s.partition_names(*SALES),
    "names of a handle": lambda s: s.table("shop.sales").names("ds > '2013-01-02'"),
    "count_partitions": lambda s: s.count_partitions(*SALES),
    "count of a filter": lambda s: s.count_partitions(*SALES, "ds > '2013-01-02'"),
    "totals": lambda s: (s.totals(*SALES).partitions, s.totals(*SALES).rows),
    "explain": lambda s: s.explain(*SALES, "hour = 0", analyze=True).total.rows_returned,
    "timelines": lambda s: texts(s.timelines.read("shop.sales")),
    "drop_partitions": lambda s: s.drop_partitions(*SALES, [("2013-01-03", "0")]),
}
SEEN = {
    "get_partition": "2013-01-03",
    "get_partitions": ["2013-01-01", "2013-01-03", "2013-01-04"],
    "get_payloads": 3,
    "get_partitions_by_filter": ["2013-01-03", "2013-01-04"],
    "list_partitions_by_filter": ["2013-01-01", "2013-01-03", "2013-01-04"],
    "read_payloads": 3,
    "partition_names": ["ds=2013-01-01/hour=0", "ds=2013-01-03/hour=0", "ds=2013-01-04/hour=0"],
    "names of a handle": ["ds=2013-01-03/hour=0", "ds=2013-01-04/hour=0"],
    "count_partitions": 3,
    "count of a filter": 2,
    "totals": (3, 4),
    "explain": 3,
    "timelines": {("DAILY", "ds"): {"2013-01-01", "2013-01-03", "2013-01-04"}},
    "drop_partitions": 1,
}


@pytest.mark.parametrize("read", SEEN)
def test_who_reads_with_a_store_of_his_own_sees_what_is_decided(rows, read):
    """One partition is appended to, one dropped, two added; the job dies when it has decided."""
    store = PartitionStore(rows)
    row = create(store)
    said = {"numRows": "1"}
    store.add_partitions(*SALES, [Partition((f"2013-01-0{day}", "0"), parameters=said) for day in (1, 2)])
    other = PartitionStore(rows)
    other.partition_names(*SALES)  # it has read the table before
    lease(store, row, "job", 1, 2, 3, 4, drop=[2])
    other.timelines.read("shop.sales")
    store.publications.decide(row, "job")
    assert READS[read](other) == SEEN[read]


def test_a_batch_is_recorded_by_what_decides_it(rows):
    store = PartitionStore(rows)
    row = create(store)
    batch = StreamBatch(STREAM, 7, "d7")
    lease(store, row, "job", 1, batch=batch)
    assert store.publications.batches(row, STREAM).last == -1
    store.publications.decide(row, "job")
    assert store.publications.batches(row, STREAM).digests == ((7, "d7"),)
    store.publications.close(row, "job")
    assert store.publications.batches(row, STREAM).digests == ((7, "d7"),)


def test_what_an_earlier_version_has_leased_is_over():
    store = connect("memory://")
    row = create(store)
    cell = {"table": row.table_id.hex(), "open": [["old", False, FAR, []]]}
    store.rows.put_cells([CatalogCell(row.key, "i:writes", json.dumps(cell).encode())], 2**40)
    now = store.table_row(*SALES)
    assert store.publications.of(now) == []
    assert lease(store, now, "new", 1) == []
    assert open_publications(store) == {"new": (False, True)}


def test_who_reads_beside_jobs_reads_once():
    """Where reads are no snapshots, leases, signs of life and decisions about one other partition start none anew."""
    store = connect("memory://?atomic=false")
    row = create(store)
    store.add_partitions(*SALES, [Partition(("2013-01-01", "5"))])
    lease(store, row, "A", 7)
    reads = []

    def consume(_, __, batches):
        reads.append(sum(len(batch) for batch in batches))
        day = len(reads) + 1
        store.publications.extend(row, "A", FAR + day)
        lease(store, row, f"job {day}", day)
        store.publications.decide(row, f"job {day}")
        store.publications.close(row, f"job {day}")

    store.read_payloads(*SALES, None, consume)
    assert reads == [1]


def test_a_publication_of_a_process_that_dies_has_its_manifest_or_is_not_there():
    """The manifest stands in a row of its own, behind the one that says that there is a publication."""
    for at in count():
        with connect("memory://?atomic=false") as store:
            row = create(store)
            faulty = FaultyRows(store.rows, at=at)
            with suppress(Crash):
                lease(PartitionStore(faulty), row, "7", 3)
            assert open_publications(store) in ({}, {"7": (False, True)}), at
            if not faulty.struck:
                break
    assert at > 2


@pytest.mark.parametrize("content", [b"[{]", b"\xff", b'[{"id": 1}]', b"5"])
def test_publications_that_cannot_be_read_are_named(content):
    with connect("memory://") as store:
        row = create(store)
        store.rows.compare_and_put(row.key, WRITES, row.cells.get(WRITES), content)
        with pytest.raises(CorruptRow, match="the publications of a table cannot be decoded"):
            open_publications(store)
