"""Sequences as timestamps on a real HBase: no write hides a newer one, however late, often or close together."""

from __future__ import annotations

import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import happybase
import pytest

from hbstore.errors import InvalidInput, NotAStore, StoreUnavailable
from hbstore.keys.row_key import MAX_KEY, successor
from hbstore.rows.hbase.rows import MAX_CELL, connect_hbase
from hbstore.rows.hbase.url import parse_hbase_url
from hbstore.rows.interface import PartitionRow
from tests import hbase_server

pytestmark = pytest.mark.hbase
KEY = b"key"


@pytest.fixture(scope="module")
def rows(hbase_url):
    found = connect_hbase(hbase_url)
    yield found
    found.close()


@pytest.fixture
def key(request):
    return request.node.name.encode()


def put(key, payload):
    return PartitionRow(key, (b"\x02a\0",), payload)


def test_delete_and_put_in_the_same_millisecond(rows, key):
    sequence = itertools.count(1)
    for turn in range(500):
        rows.write([], [key], next(sequence))
        rows.write([put(key, b"%d" % turn)], [], next(sequence))
        assert rows.multi_get([key]) == [(key, b"%d" % turn)]


def test_put_and_delete_in_the_same_millisecond(rows, key):
    sequence = itertools.count(1)
    for turn in range(500):
        rows.write([put(key, b"%d" % turn)], [], next(sequence))
        rows.write([], [key], next(sequence))
        assert rows.multi_get([key]) == []


def test_every_order_of_late_and_repeated_writes_ends_the_same(rows, key):
    writes = [([put(key, b"1")], [], 1), ([], [key], 2), ([put(key, b"3")], [], 3), ([put(key, b"4")], [], 4)]
    for number, order in enumerate(itertools.permutations(writes + writes[1:2])):
        own = b"%s %d" % (key, number)
        for puts, deletes, sequence in order:
            rows.write([row._replace(key=own) for row in puts], [own for _ in deletes], sequence)
        assert list(rows.whole_rows(own, own + b"\0")) == [put(own, b"4")]


def test_late_writes_after_a_delete_stay_hidden(rows, key):
    rows.write([], [key], 7)
    for sequence in (1, 6, 7):
        rows.write([put(key, b"late")], [], sequence)
        assert rows.multi_get([key]) == []
    rows.write([put(key, b"new")], [], 8)
    assert rows.multi_get([key]) == [(key, b"new")]


def test_a_replaced_row_is_never_seen_half(rows, key):
    """Payload and cells of a row are one atomic Put: a reader never sees the cells of one write in another's row."""
    done = threading.Event()

    def write():
        for turn in range(1, 400):
            mark = b"%06d" % turn
            rows.write([PartitionRow(key, (b"\x02" + mark, b"\x02" + mark), mark * 300)], [], turn)
        done.set()

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        seen = set()
        while not done.is_set() and not writing.done():
            for row in rows.whole_rows(key, key + b"\0"):
                assert row.cells[0] == row.cells[1] == b"\x02" + row.payload[:6]
                assert len(row.payload) == 1800
                seen.add(row.payload[:6])
        writing.result()
    assert len(seen) > 10


def test_a_cell_that_is_too_large_is_refused_before_anything_is_written(rows, key):
    with pytest.raises(InvalidInput, match="too large for HBase"):
        rows.write([put(key, b"small"), put(key + b"2", bytes(MAX_CELL))], [], 1)
    with pytest.raises(InvalidInput):
        rows.compare_and_put(key, "d:def", None, bytes(MAX_CELL))
    assert rows.multi_get([key]) == []
    largest = put(key, os.urandom(MAX_CELL - 200))
    rows.write([largest], [], 2)
    assert rows.multi_get([key]) == [(key, largest.payload)]
    assert rows.compare_and_put(key, "i:log", None, largest.payload)
    assert rows.get(key) == {"i:log": largest.payload}


def test_large_rows_come_in_small_batches(rows, key):
    table = [put(b"%s %03d" % (key, at), os.urandom(1 << 20)) for at in range(24)]
    rows.write(table, [], 1)
    batches = list(rows.scan(key, successor(key)))
    assert [stored for batch in batches for stored in batch] == [(row.key, row.payload) for row in table]
    assert rows.multi_get([row.key for row in table]) == [(row.key, row.payload) for row in table]


def test_a_key_that_hbase_does_not_take(rows):
    for key, why in ((b"k" * (MAX_KEY + 1), "the row key is too long"), (b"", "the row key is empty")):
        with pytest.raises(InvalidInput, match=why):
            rows.write([put(key, b"")], [], 1)
        with pytest.raises(InvalidInput, match=why):
            rows.write([], [key], 1)
        with pytest.raises(InvalidInput, match=why):
            rows.compare_and_put(key, "d:def", None, b"1")
    longest = put(b"k" * MAX_KEY, b"p")
    rows.write([longest], [], 1)
    assert rows.multi_get([longest.key]) == [(longest.key, b"p")]
    assert rows.first_key(b"k" * 5, b"l") == longest.key


def test_a_forked_child_has_connections_of_its_own(rows, key):
    rows.write([put(key, b"1")], [], 1)
    scan = rows.scan(key, successor(key))
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            rows.write([put(key + b"2", b"2")], [], 1)
            answer = repr([*rows.scan(key, successor(key)), *scan]).encode()
        except BaseException as error:  # noqa: BLE001  the parent shows it
            answer = repr(error).encode()
        os.write(write_end, answer)
        del rows, scan
        os._exit(0)
    os.waitpid(pid, 0)
    both = [[(key, b"1"), (key + b"2", b"2")]]
    assert os.read(read_end, 100_000) == repr(both * 2).encode()
    assert list(scan) == both
    assert list(rows.scan(key, successor(key))) == both


def test_a_child_has_nothing_of_the_parents_threads_before_its_own_threads_begin(rows):
    """Two threads that would put that right one beside the other could wait for a lock of the parent's."""
    rows.get(b"Dnone")
    pool, gets = rows._pool, rows._shared_gets
    with pool._lock, gets._lock:
        pid = os.fork()
        if pid == 0:
            os._exit(pool._lock.locked() or gets._lock.locked() or bool(pool._idle))
    assert os.waitpid(pid, 0)[1] == 0
    rows.get(b"Dnone")


def test_many_threads_share_few_connections(hbase_url):
    rows = connect_hbase(f"{hbase_url}&pool=2")
    rows.write([put(b"threads %04d" % at, b"x" * 100) for at in range(3000)], [], 1)

    def nested(_):
        found = 0
        for batch in rows.scan(b"threads ", b"threads!"):
            assert rows.multi_get([batch[0][0]]) == [batch[0]]
            found += len(batch)
        return found

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(nested, range(24))) == {3000}
    rows.close()


def test_two_processes_make_the_tables_at_once(hbase_server_url):
    with hbase_server.own_tables(hbase_server_url) as url, ThreadPoolExecutor(4) as pool:
        for number, rows in enumerate(pool.map(lambda _: connect_hbase(url), range(4))):
            assert rows.compare_and_put(b"D x", "d:def", None, b"1") is (number == 0)
            rows.close()


def test_the_tables_of_something_else_are_left_alone(hbase_server_url):
    with hbase_server.own_tables(hbase_server_url) as url, closing(_connection(url)) as connection:
        partitions = parse_hbase_url(url).partitions
        connection.create_table(partitions, {"other": {}})
        with pytest.raises(NotAStore, match="missing_families=k,p"):
            connect_hbase(url)
        connection.delete_table(partitions, disable=True)
        rows = connect_hbase(url)
        connection.delete_table(partitions, disable=True)
        with pytest.raises(StoreUnavailable, match="dropped"):
            rows.first_key(b"a", b"b")
        rows.close()


def _connection(url):
    address = parse_hbase_url(url)
    return happybase.Connection(address.host, address.port, timeout=60_000)
