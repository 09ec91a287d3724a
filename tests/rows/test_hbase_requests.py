"""How many requests each call makes to HBase, as docs/hbase.md says, and that rows are selected over there."""

from __future__ import annotations

from itertools import count

import pytest

from hbstore.keys.row_key import after_cell, text_cell
from hbstore.keys.types import parse_type
from hbstore.rows.hbase.rows import connect_hbase
from hbstore.rows.hbase.wire import Replies
from hbstore.rows.interface import PartitionRow
from hbstore.rows.predicate import AllOf, AnyOf, CellIn, CellLike
from hbstore.texts.like import parse_like

pytestmark = pytest.mark.hbase
STRING, DATE = parse_type("string"), parse_type("date")
SPAN = (b"requests\0", b"requests\1")
SIZE = 3_000
_numbers = count()


def table_row(at, payload=b"payload"):
    cells = (text_cell(STRING, f"r{at % 100:02d}"), text_cell(DATE, f"2013-01-{1 + at % 28:02d}"))
    return PartitionRow(b"requests\0%06d" % at, cells, payload)


@pytest.fixture(scope="module")
def rows(hbase_url):
    found = connect_hbase(f"{hbase_url}&pool=1")
    found.write([table_row(at) for at in range(SIZE)], [], 1)
    yield found
    found.close()


def key(at):
    return table_row(at).key


def read(rows, first, past, **options):
    return sum(map(len, rows.scan(key(first), key(past), **options)))


def equal(column, cell, column_type=STRING):
    return CellIn(column, ((cell, after_cell(column_type, cell)),))


R07 = equal(0, text_cell(STRING, "r07"))


def fresh_rows(number, payload=b""):
    start = 1_000 * next(_numbers)
    return [PartitionRow(b"written\0%09d" % (start + at), (b"\x01",), payload) for at in range(number)]


@pytest.mark.parametrize(
    ("call", "requests"),
    [
        (lambda rows: rows.get(b"T x"), 1),
        (lambda rows: rows.get_all(b"T x"), 1),
        (lambda rows: rows.multi_get([key(5)]), 1),
        (lambda rows: rows.multi_get([key(at) for at in range(1_000)]), 1),
        (lambda rows: rows.multi_get([key(at) for at in range(2_001)]), 3),
        (lambda rows: rows.first_key(*SPAN), 2),
        (lambda rows: read(rows, 0, 100), 2),
        (lambda rows: read(rows, 0, 999), 2),
        (lambda rows: read(rows, 0, SIZE, limit=1_000), 2),
        (lambda rows: read(rows, 0, SIZE, residual=R07), 2),
        (lambda rows: rows.count(key(0), key(999)), 2),
        (lambda rows: read(rows, 0, SIZE), 2 + 10),
        (lambda rows: rows.write(fresh_rows(1_000), [], 1), 1),
        (lambda rows: rows.write(fresh_rows(1_001), [], 1), 2),
        (lambda rows: rows.write(fresh_rows(5, bytes(1 << 20)), [], 1), 2),
        (lambda rows: rows.compare_and_put(b"T x", "d:def", b"never", b"1"), 1),
    ],
)
def test_requests(rows, call, requests):
    rows.get(b"T x")  # the next read on the one connection closes what a scan left
    before = rows.round_trips()
    call(rows)
    assert rows.round_trips() - before == requests


@pytest.fixture
def arrived(monkeypatch):
    """How many rows have come from HBase."""
    numbers = []
    take = Replies.rows

    def counting(replies):
        found = take(replies)
        numbers.append(len(found))
        return found

    monkeypatch.setattr(Replies, "rows", counting)
    return lambda: sum(numbers)


@pytest.mark.parametrize(
    "residual",
    [
        R07,
        equal(1, text_cell(DATE, "2013-01-05"), DATE),
        AllOf((R07, equal(1, text_cell(DATE, "2013-01-08"), DATE))),
        AnyOf((R07, equal(1, text_cell(DATE, "2013-01-05"), DATE))),
        CellIn(0, ((b"\x02r1", b"\x02r3"), (b"\x02r77", b"\x02r9"))),
        CellLike(0, parse_like("%7", "sql"), STRING),
        CellLike(0, parse_like("r_7%", "sql"), STRING, negated=True),
    ],
)
@pytest.mark.parametrize("read", ["scan", "payloads", "count"])
def test_region_servers_send_only_rows_that_the_residual_selects(rows, arrived, residual, read):
    found = getattr(rows, read)(*SPAN, residual)
    number = found if read == "count" else sum(map(len, found))
    assert 0 < number < SIZE
    assert arrived() == number


def test_of_a_residual_they_check_as_much_as_they_can(rows, arrived):
    """LIKE on a date is checked here, of those rows that the rest of the condition selects there."""
    residual = AllOf((R07, CellLike(1, parse_like("%-0_", "sql"), DATE)))
    number = sum(map(len, rows.scan(*SPAN, residual)))
    assert 0 < number < arrived() == SIZE // 100
