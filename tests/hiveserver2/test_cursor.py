"""Pages of a result."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hbstore.hiveserver2.cursor import MAX_BYTES, MAX_ROWS, Cursor


def numbers(sizes):
    """A result whose rows are 0, 1, 2 and so on, in batches of these sizes."""
    first = 0
    for size in sizes:
        yield pa.record_batch({"n": pa.array(range(first, first + size), pa.int64())})
        first += size


@given(st.lists(st.integers(0, 9), min_size=1), st.lists(st.integers(-1, 12), max_size=30))
def test_pages_are_the_rows_in_their_order(sizes, asked):
    cursor = Cursor(lambda: numbers(sizes))
    read: list[int] = []
    for rows in asked:
        assert cursor.row == len(read)
        page = cursor.page(rows)
        assert page.num_rows == max(0, min(rows, sum(sizes) - len(read)))
        assert page.column_names == ["n"]
        read += page["n"].to_pylist()
    assert read == list(range(len(read)))


@given(st.lists(st.integers(0, 9), min_size=1), st.integers(0, 12))
def test_the_first_rows_again(sizes, rows):
    cursor = Cursor(lambda: numbers(sizes))
    first = cursor.page(rows)
    cursor.restart()
    assert (cursor.row, cursor.page(rows)) == (0, first)


def test_an_empty_page_says_that_there_are_no_more():
    cursor = Cursor(lambda: numbers([3]))
    assert [cursor.page(2).num_rows for _ in range(4)] == [2, 1, 0, 0]


def test_no_client_gets_more_rows_at_once_than_the_server_likes():
    cursor = Cursor(lambda: numbers([8_000, 8_000]))
    assert cursor.page(2**62).num_rows == MAX_ROWS
    assert cursor.page(2**62).num_rows == 16_000 - MAX_ROWS


def test_wide_rows_come_in_small_pages():
    wide = pa.record_batch({"t": ["x" * 1_000_000] * 3})
    cursor = Cursor(lambda: iter([wide] * 10))
    page = cursor.page(1_000)
    assert MAX_BYTES <= page.nbytes < MAX_BYTES + 2 * wide.nbytes
    read = page.num_rows
    while rows := cursor.page(1_000).num_rows:
        read += rows
    assert read == 30


def test_closing_lets_go_of_the_files():
    closed = []

    def batches():
        try:
            yield from numbers([5, 5])
        finally:
            closed.append(True)

    cursor = Cursor(batches)
    cursor.page(2)
    cursor.close()
    assert closed
    assert not cursor.page(2).num_rows
