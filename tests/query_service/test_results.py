"""Results: rows in their order, from anywhere on, in bounded memory; whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from hbstore.errors import FileOperationFailed, InvalidInput, ReadFailed, ResultExpired
from hbstore.query_service import results as module
from hbstore.query_service.page_tokens import Position
from hbstore.query_service.results import Results
from tests.files.warehouses import world
from tests.query_service.written import ID, numbers, parquet_bytes, part, sized, write


@pytest.fixture(params=["local", "memory"])
def here(request, tmp_path):
    return world(request.param, tmp_path)


@pytest.fixture
def results(here):
    return Results(here.warehouse.root)


def values(batches):
    return [value for batch, _ in batches for value in batch.column(0).to_pylist()]


def test_rows_are_read_in_order_of_files_and_rows(here, results):
    write(here, results, sized([250, 0, 1, 0, 100, 99]))
    batches = list(results.batches(ID))
    assert values(batches) == list(range(450))
    assert [text for batch, _ in batches for text in batch.column(1).to_pylist()] == [f"row {at}" for at in range(450)]
    assert batches[-1][1] is None
    # Each batch ends where its row group does, and what is behind it is the next row that there is.
    assert [behind for _, behind in batches] == [
        Position(0, 100),
        Position(0, 200),
        Position(2, 0),
        Position(4, 0),
        Position(5, 0),
        None,
    ]


def test_names_order_files_also_beyond_a_hundred_thousand(here, results):
    write(here, results, [])
    for number, name in enumerate(["part-00002-x.parquet", "part-00010-x.parquet", "part-00100-x.parquet"]):
        here.write(f"{results.location(ID)}/{name}", parquet_bytes(numbers(number, 1)))
    assert values(results.batches(ID)) == [0, 1, 2]


def test_a_result_without_rows_has_its_columns(here, results):
    write(here, results, sized([0, 0]))
    [(batch, behind)] = results.batches(ID)
    assert (batch.num_rows, behind) == (0, None)
    assert batch.schema.types == [pa.int64(), pa.string()]
    [(batch, behind)] = results.batches(ID, start=Position(1, 7))
    assert (batch.num_rows, batch.num_columns, behind) == (0, 2, None)


def test_a_result_without_files_has_no_columns(here, results):
    write(here, results, [])
    [(batch, behind)] = results.batches(ID)
    assert (batch.num_rows, batch.num_columns, behind) == (0, 0, None)


def test_no_rows_are_asked_for(here, results):
    write(here, results, sized([0, 5]))
    [(batch, behind)] = results.batches(ID, rows=0)
    assert (batch.num_rows, behind) == (0, Position(1, 0))


COUNTS = st.lists(st.integers(0, 25), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@given(counts=COUNTS, row_group=st.integers(1, 10), batch=st.integers(1, 9), data=st.data())
def test_any_split_into_pages_gives_all_rows_once(folder, counts, row_group, batch, data):
    here = world("local", folder)
    results = Results(here.warehouse.root)
    results.remove(ID)
    write(here, results, sized(counts, row_group))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BATCH_ROWS", batch)
        found = paged(results, data)
    assert found == list(range(sum(counts)))


def paged(results, data):
    """All rows, by pages of any size."""
    found, at = [], Position()
    while at is not None:
        page = data.draw(st.integers(1, 30))
        batches = list(results.batches(ID, start=at, rows=page))
        rows = values(batches)
        at = batches[-1][1]
        assert len(rows) == page or at is None
        found += rows
        # Any position that was told within the page leads on as well.
        for index, (_, behind) in enumerate(batches[:-1]):
            assert values(results.batches(ID, start=behind))[:1] == batches[index + 1][0].column(0).to_pylist()[:1]
    return found


def test_files_and_row_groups_before_the_start_are_not_read(here, results):
    files = sized([300, 300])
    damaged = bytearray(files[1])
    meta = parquet.read_metadata(io.BytesIO(files[1]))
    for group in range(2):  # the pages, not the footer
        column = meta.row_group(group).column(0)
        begin = column.dictionary_page_offset or column.data_page_offset
        end = meta.row_group(group).column(1).data_page_offset
        damaged[begin:end] = b"\xff" * (end - begin)
    write(here, results, [b"no Parquet", bytes(damaged)])
    assert values(results.batches(ID, start=Position(1, 230))) == list(range(530, 600))
    with pytest.raises(ReadFailed, match="cannot be read"):
        list(results.batches(ID, start=Position(1, 199)))


def test_batches_are_bounded_by_what_their_rows_take(here, results):
    table = pa.table({"c0": [str(at) * 100_000 for at in range(300)]})
    write(here, results, [parquet_bytes(table, 300)])
    sizes = [batch.nbytes for batch, _ in results.batches(ID)]
    assert sum(sizes) > 30_000_000
    assert max(sizes) < 2 * module._BATCH_BYTES


def test_a_row_group_is_not_held(here, results):
    table = pa.table({"c0": [f"{at:050}"[::-1] for at in range(400_000)]})
    write(here, results, [parquet_bytes(table, 400_000)])
    before = pa.total_allocated_bytes()
    most = max(pa.total_allocated_bytes() - before for _ in results.batches(ID))
    assert most < 10_000_000 < table.nbytes


@pytest.mark.filterwarnings("error")
def test_files_are_closed_as_soon_as_they_are_read(tmp_path):
    here = world("local", tmp_path)
    results = Results(here.warehouse.root)
    write(here, results, [*sized([100] * 5), sized([5])[0][:-9]])

    def opened():
        return len([one for one in Path("/proc/self/fd").iterdir() if ".parquet" in str(one.resolve())])

    whole = results.batches(ID)
    for _ in range(4):
        next(whole)
        assert opened() == 1
    with pytest.raises(ReadFailed):
        next(whole)  # looks whether there is anything in the damaged file
    assert opened() == 0
    begun = results.batches(ID)
    next(begun)
    begun.close()
    assert opened() == 0
    assert results.batches(ID, rows=0)
    assert opened() == 0


@pytest.mark.parametrize("id_", ["", "..", "a" * 31, "a" * 33, "A" * 32, "../" + "a" * 29, "a" * 31 + "\n", None, 5])
def test_only_ids_name_folders(results, id_):
    for call in (results.location, results.size, results.remove, results.batches):
        with pytest.raises(InvalidInput, match="32 hexadecimal"):
            call(id_)


def test_a_result_that_is_not_there_is_expired(here, results):
    with pytest.raises(ResultExpired, match="Run the query again") as raised:
        results.batches(ID)
    assert raised.value.fields["query"] == ID
    write(here, results, sized([3]), complete=False)
    with pytest.raises(ResultExpired):
        results.batches(ID)


def test_removing_takes_everything_and_may_be_done_again(here, results):
    other = "f" * 32
    write(here, results, sized([3, 3]))
    write(here, results, sized([2]), other)
    results.remove(ID)
    results.remove(ID)
    assert results.size(ID) == 0
    with pytest.raises(ResultExpired):
        results.batches(ID)
    assert values(results.batches(other)) == [0, 1]
    assert not any(ID in name for name in here.files())


def test_a_result_that_is_removed_while_it_is_read_ends_by_an_error(here, results):
    write(here, results, sized([100, 100, 100]))
    batches = results.batches(ID)
    assert next(batches)[0].num_rows == 100
    results.remove(ID)
    with pytest.raises(ResultExpired):
        list(batches)


def test_a_removal_that_broke_off_leaves_nothing_to_read(here, results, monkeypatch):
    write(here, results, sized([3, 3]))
    delete = type(results._files).delete

    def once(files, place):
        monkeypatch.setattr(type(files), "delete", refuse)
        return delete(files, place)

    def refuse(*_):
        raise OSError("the disk is gone")

    monkeypatch.setattr(type(results._files), "delete", once)
    with pytest.raises(FileOperationFailed, match="cannot be removed"):
        results.remove(ID)
    assert results.size(ID) > 0
    with pytest.raises(ResultExpired):
        results.batches(ID)


def test_the_size_counts_what_is_being_written(here, results):
    assert results.size(ID) == 0
    write(here, results, [], complete=False)
    begun = results.size(ID)
    assert begun > 0
    write(here, results, [b"12345"])
    assert results.size(ID) == begun + len(b"12345") + len(b"crc")


@pytest.mark.parametrize("content", [b"", b"no Parquet", sized([50])[0][:-9]])
def test_damaged_files_are_named(here, results, content):
    write(here, results, [content])
    with pytest.raises(ReadFailed, match="cannot be read") as raised:
        results.batches(ID)
    assert raised.value.fields["location"].parts[-1] == ID


def test_a_file_that_vanishes_from_a_complete_result_is_no_end(here, results):
    write(here, results, sized([100, 100, 100]))
    batches = results.batches(ID)
    results._files.delete(f"{results._place(ID).path}/{part(2)}")
    with pytest.raises(ReadFailed):
        list(batches)


NESTED = pa.struct([("a", pa.timestamp("us")), ("b", pa.list_(pa.timestamp("us"))), ("n", pa.int32())])


def test_moments_are_told_from_times_without_zone(here, results):
    moments = pa.array([0, None, -(10**16), 2 * 10**17], pa.timestamp("us", "UTC"))
    table = pa.table({"c0": moments, "c1": moments.cast(pa.timestamp("us")), "c2": [1, 2, 3, 4]})
    write(here, results, [parquet_bytes(table)])
    [(batch, _)] = results.batches(ID)
    assert batch.schema.types == [pa.timestamp("us", "UTC"), pa.timestamp("us"), pa.int64()]
    assert batch.to_pydict() == table.to_pydict()


def test_int96_holds_moments_at_any_depth(here, results):
    at = pa.array([0, 10**15 + 1, None], pa.timestamp("us"))
    nested = pa.array([{"a": 1, "b": [2, None], "n": 3}, None, {"a": None, "b": None, "n": None}], NESTED)
    pairs = pa.array([[(1, 5)], [], None], pa.map_(pa.int32(), pa.timestamp("us")))
    table = pa.table({"c0": at, "c1": [1, 2, 3], "c2": nested, "c3": pairs})
    write(here, results, [parquet_bytes(table, int96=True)])
    [(batch, _)] = results.batches(ID)
    moment = pa.timestamp("us", "UTC")
    assert batch.schema.types[:2] == [moment, pa.int64()]
    struct = batch.schema.types[2]
    assert [struct.field(at).type for at in (0, 2)] == [moment, pa.int32()]
    assert struct.field(1).type.value_type == moment
    assert batch.schema.types[3].item_type == moment
    assert batch.column(0).cast(pa.int64()).to_pylist() == [0, 10**15 + 1, None]
    assert batch.column(2).to_pylist()[0]["b"][0].microsecond == 2


def test_int96_of_years_that_nanoseconds_do_not_hold(here, results):
    far = pa.array([-(6 * 10**16), 25 * 10**16], pa.timestamp("us"))  # the years 68 and 9892
    write(here, results, [parquet_bytes(pa.table({"c0": far}), int96=True)])
    [(batch, _)] = results.batches(ID)
    assert batch.column(0).cast(pa.int64()).to_pylist() == [-(6 * 10**16), 25 * 10**16]


def test_roots(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    for root in (str(tmp_path / "file"), "/", "nothing://x/y z"):
        with pytest.raises(FileOperationFailed):
            Results(root)
    monkeypatch.chdir(tmp_path)
    assert Results("kept").location(ID) == f"file:{tmp_path}/kept/{ID}"
