"""Batches of a stream: each is in the table once, wherever a run of its query dies, and whoever comes next."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, PartitionStore, Table
from hbstore.errors import CorruptRow, FileOperationFailed, PublicationLost, StreamConflict, WriteConflict
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from hbstore.publishing.manifest import hidden_name
from hbstore.rows import connect as connect_rows
from hbstore.store.stream_batches import REMEMBERED, Stream, StreamBatch, StreamRecord
from tests.publishing.dying import dying

STREAM = Stream("4e5f", "shop.sales")
URLS = ["memory://", "memory://?atomic=false"]


def make_store(root, url="memory://"):
    store = PartitionStore(connect_rows(url))
    store.create_database("shop")
    store.create_table(Table("shop", "sales", [Column("ds", "string")], location=f"file:{root}"))
    return store


@pytest.fixture(params=URLS)
def store(request, tmp_path):
    with make_store(tmp_path / "sales", request.param) as store:
        yield store


def run(store, root, number, attempt="", digest=None, partitions="ab", stream=STREAM):
    """What a run of the query does with a batch; whether it was written."""
    publisher = Publisher(store)
    publisher.recover("shop.sales")
    row = store.publications.row("shop", "sales")
    batch = StreamBatch(stream, number, digest or f"d{number}")
    if store.publications.batches(row, stream).has(batch):
        return False
    publisher.publish("shop.sales", *made(root, f"{stream.query}{number}{attempt}", batch, partitions))
    return True


def made(root, name, batch, partitions="ab"):
    """A batch's manifest, and its staged files."""
    staging = root / "_hbstore" / name
    writes, staged = [], {}
    for at, value in enumerate(partitions):
        location = f"file:{root}/ds={value}"
        source = staging / "data" / f"part-{at}"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(f"{batch.stream.query} {batch.number} {value}")
        hidden = hidden_name(name, at)
        staged[f"file:{source}"] = f"{location}/{hidden}"
        writes.append(PartitionWrite((value,), location, {hidden: f"part-{name}"}, statistics={"numRows": 1}))
    return Manifest(name, f"file:{staging}", tuple(writes), batch), staged


def seen(store, root):
    """The texts of all files of the table's partitions, and the rows that their statistics count."""
    found = {}
    for one in store.get_partitions_by_filter("shop", "sales", None):
        files = [path.read_text() for path in (root / f"ds={one.values[0]}").iterdir() if path.name[0] not in "._"]
        found[one.values[0]] = sorted(files), one.parameters["numRows"]
    return found


def whole(numbers, partitions="ab"):
    return {one: (sorted(f"4e5f {n} {one}" for n in numbers), str(len(numbers))) for one in partitions}


def test_a_batch_that_is_written_again_changes_nothing(store, tmp_path):
    root = tmp_path / "sales"
    assert run(store, root, 0)
    assert not run(store, root, 0, "again")
    assert run(store, root, 1)
    assert not run(store, root, 1, "again")
    assert not run(store, root, 0, "much later")
    assert seen(store, root) == whole([0, 1])


def test_other_rows_under_the_same_number_are_a_conflict(store, tmp_path):
    root = tmp_path / "sales"
    run(store, root, 0)
    with pytest.raises(StreamConflict, match="with other rows"):
        run(store, root, 0, "again", digest="others")
    assert seen(store, root) == whole([0])


def test_streams_do_not_know_each_other(store, tmp_path):
    root = tmp_path / "sales"
    for stream in (STREAM, Stream("4e5f", "other"), Stream("6a7b", "shop.sales"), Stream("4e5", "fshop.sales")):
        assert run(store, root, 0, stream.sink, stream=stream)
    assert seen(store, root)["a"][1] == "4"


def test_what_dies_anywhere_is_made_up_for_at_once_by_the_next_run(tmp_path):
    """The first run dies before its n-th write, of files or the store; the next one does not wait for anything."""
    for url in URLS:
        skipped = []
        for at in range(100):
            root = tmp_path / f"{len(url)}-{at}"
            store = make_store(root, url)
            run(store, root, 0)
            with dying(store, at) as process:
                run(process.store, root, 1)
            written = run(store, root, 1, "again")
            assert seen(store, root) == whole([0, 1]), at
            assert not run(store, root, 1, "and again"), at
            assert run(store, root, 2), at
            assert seen(store, root) == whole([0, 1, 2]), at
            assert store.publications.of(store.publications.row("shop", "sales")) == []
            assert not list(root.rglob(".*")), at
            skipped.append(not written)
            if not process.died:
                break
        else:
            pytest.fail("it never came to its end")
        assert skipped == sorted(skipped), "before the decision the batch is written again, after it never"
        assert not skipped[0]
        assert skipped[-2], "it died after the decision as well"


def test_the_next_run_dies_as_well_wherever(tmp_path, monkeypatch):
    """Recovery dies too: the first run with its publication decided, the second before its n-th write."""
    for at in range(100):
        root = tmp_path / str(at)
        store = make_store(root, "memory://?atomic=false")
        with monkeypatch.context() as patch:
            patch.setattr(Publisher, "_show", lambda *_: None)
            run(store, root, 0)
        with dying(store, at) as process:
            run(process.store, root, 0, "again")
        assert not run(store, root, 0, "and again"), at
        assert seen(store, root) == whole([0]), at
        if not process.died:
            return
    pytest.fail("it never came to its end")


def test_a_run_that_hangs_loses_its_lease_to_the_next(store, tmp_path):
    root = tmp_path / "sales"
    slow, _ = made(root, "slow", StreamBatch(STREAM, 0, "d0"))
    row = Publisher(store).lease("shop.sales", slow)
    assert run(store, root, 0)
    with pytest.raises(PublicationLost):
        store.publications.decide(row, "slow")
    assert seen(store, root) == whole([0])


def test_a_run_that_hangs_before_it_leases_finds_the_batch_written(store, tmp_path):
    root = tmp_path / "sales"
    slow = made(root, "slow", StreamBatch(STREAM, 0, "d0"))
    run(store, root, 0)
    run(store, root, 1)
    with pytest.raises(StreamConflict, match="another run"):
        Publisher(store).publish("shop.sales", *slow)
    assert seen(store, root) == whole([0, 1])
    assert store.publications.of(store.publications.row("shop", "sales")) == []
    assert not (root / "_hbstore" / "slow").exists()


def test_a_run_whose_staged_files_are_gone_writes_nothing(store, tmp_path):
    root = tmp_path / "sales"
    manifest, staged = made(root, "slow", StreamBatch(STREAM, 0, "d0"))
    (root / "_hbstore/slow/data/part-1").unlink()
    with pytest.raises(FileOperationFailed, match="a staged file is missing"):
        Publisher(store).publish("shop.sales", manifest, staged)
    assert run(store, root, 0)
    assert seen(store, root) == whole([0])


def test_leases_of_other_jobs_are_left_alone(store, tmp_path):
    root = tmp_path / "sales"
    other, _ = made(root, "other", StreamBatch(Stream("6a7b", "shop.sales"), 0, "d0"), "a")
    Publisher(store).lease("shop.sales", other)
    with pytest.raises(WriteConflict, match="ds=a"):
        run(store, root, 0)
    assert run(store, root, 0, partitions="bc")


def test_an_earlier_batch_of_other_partitions_is_named(store, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        run(store, tmp_path / "sales", 0, partitions="a")
    row = store.publications.row("shop", "sales")
    with pytest.raises(WriteConflict, match="an earlier batch of the stream") as caught:
        store.publications.lease(row, "next", {b"key": "ds=b"}, b"", 1e12, StreamBatch(STREAM, 1, "d1"))
    assert caught.value.fields["batch"] == 0
    assert "partition" not in caught.value.fields
    assert "hbstore repair shop.sales" in caught.value.hint


def test_a_batch_that_is_decided_and_not_shown_counts(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        run(store, root, 0)
    record = store.publications.batches(store.publications.row("shop", "sales"), STREAM)
    assert record.digests == ((0, "d0"),)


def test_the_record_goes_with_a_table_that_is_renamed_and_not_to_the_next_of_its_name(store, tmp_path):
    root = tmp_path / "sales"
    run(store, root, 0)
    store.rename_table("shop", "sales", replace(store.get_table("shop", "sales"), name="sold"))
    assert store.publications.batches(store.publications.row("shop", "sold"), STREAM).last == 0
    store.create_table(Table("shop", "sales", [Column("ds", "string")], location=f"file:{root}2"))
    assert store.publications.batches(store.publications.row("shop", "sales"), STREAM).last == -1


@given(st.lists(st.integers(0, 40), max_size=60))
def test_a_record_remembers_the_last_batches_in_order(numbers):
    record, rising = StreamRecord(STREAM), []
    for number in numbers:
        record = record.after(StreamBatch(STREAM, number, f"d{number}"))
        if not rising or number > rising[-1]:
            rising.append(number)
        assert record.digests == tuple((one, f"d{one}") for one in rising[-REMEMBERED:])
        assert StreamRecord.decode(STREAM, record.encode()) == record
        assert record.has(StreamBatch(STREAM, rising[-1], f"d{rising[-1]}"))


def test_batches_that_are_forgotten_are_named():
    record = StreamRecord(STREAM)
    for number in range(REMEMBERED + 1):
        record = record.after(StreamBatch(STREAM, number, "d"))
    with pytest.raises(StreamConflict, match="older than the table's record"):
        record.has(StreamBatch(STREAM, 0, "d"))


@pytest.mark.parametrize("data", [b"x", b"{}", b'{"batches": 7}', b'{"batches": [[1]]}'])
def test_a_record_that_does_not_decode_is_named(data):
    with pytest.raises(CorruptRow):
        StreamRecord.decode(STREAM, data)
