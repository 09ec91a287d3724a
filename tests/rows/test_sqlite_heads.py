"""Beginnings of payloads from SQLite, in pages."""

from __future__ import annotations

import pytest

from hbstore.keys.row_key import successor
from hbstore.model.name_lists import lay_out
from hbstore.rows import connect
from hbstore.rows.interface import PartitionRow

LARGE = 1 << 20  # 16 in a page


@pytest.fixture
def rows(tmp_path):
    with_payloads = [
        PartitionRow(b"t\0%03d" % number, (b"\x02%03d\0" % number,), b"%03d\0" % number * (1 + number % 3))
        for number in range(100)
    ]
    opened = connect(f"sqlite://{tmp_path}/store.db")
    opened.write(with_payloads, [], 1)
    yield opened
    opened.close()


def test_pages_follow_each_other(rows):
    start, stop = b"t\0", successor(b"t\0")
    payloads = [payload for batch in rows.payloads(start, stop) for payload in batch]
    for size, pages in ((4, 1), (LARGE, 7)):
        expected = iter(payloads)
        found = 0
        for laid in rows.heads(start, stop, size):
            assert laid == lay_out([next(expected) for _ in range(len(laid) // size)], size)
            found += 1
        assert next(expected, None) is None
        assert found == pages


@pytest.mark.parametrize("number", [0, 15, 16, 17, 32])
def test_a_last_page_may_be_full(rows, number):
    found = b"".join(rows.heads(b"t\0", b"t\0%03d" % number, LARGE))
    assert len(found) == number * LARGE


def test_pages_show_one_state_each_and_every_row_that_stays(rows):
    start, stop = b"t\0", successor(b"t\0")
    seen = []
    for number, laid in enumerate(rows.heads(start, stop, LARGE)):
        seen += [laid[at : at + 3] for at in range(0, len(laid), LARGE)]
        rows.write([], [b"t\0%03d" % (number * 16)], 2)  # a row that was read already
        rows.write([PartitionRow(b"t\0%03d+" % number, (b"\x02",), b"new")], [], 3)  # behind the reader
    assert seen == [b"%03d" % number for number in range(100)]
