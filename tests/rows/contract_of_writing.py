"""What every backend of `Rows` keeps about writing, as tests; see contract.py for the fixtures."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from random import Random

import pytest

from hbstore.errors import StoreUnavailable
from hbstore.keys.row_key import after_cell, successor, text_cell
from hbstore.rows.interface import CatalogCell
from hbstore.rows.predicate import AnyOf, CellIn
from tests.rows.contract import in_thread, make_row, make_table, read, stored
from tests.rows.strategies import COLUMN_TYPES

DEFINITION, LOG = "d:def", "i:log"


class WritingContract:
    """Writes, compare-and-put, transactions."""

    def test_a_put_replaces_and_a_delete_removes(self, rows, prefix):
        table = make_table(prefix, 20)
        span = (prefix, successor(prefix))
        rows.write(table, [], 1)
        rows.write([table[2]._replace(payload=b"new")], [table[3].key, b"no such key"], 2)
        expected = [table[0], table[1], table[2]._replace(payload=b"new"), *table[4:]]
        assert list(rows.whole_rows(*span)) == expected
        rows.write([table[3]], [], 3)
        assert rows.multi_get([table[3].key]) == stored([table[3]])
        rows.write([], [row.key for row in table], 4)
        assert read(rows, *span) == []
        assert rows.first_key(*span) is None

    def test_a_put_replaces_the_cells_too(self, rows, prefix):
        before = make_row(prefix, "a", "5")
        rows.write([before], [], 1)
        after = before._replace(cells=(before.cells[0], text_cell(COLUMN_TYPES[1], "6")))
        rows.write([after], [], 2)
        six = CellIn(1, ((after.cells[1], after_cell(COLUMN_TYPES[1], after.cells[1])),))
        five = CellIn(1, ((before.cells[1], after_cell(COLUMN_TYPES[1], before.cells[1])),))
        assert read(rows, prefix, successor(prefix), six) == stored([after])
        assert read(rows, prefix, successor(prefix), five) == []

    def test_writing_nothing(self, rows):
        rows.write([], [], 1)

    def test_a_repeated_write_changes_nothing(self, rows, prefix):
        table = make_table(prefix, 10)
        for _ in range(2):
            rows.write(table, [], 5)
        for _ in range(2):
            rows.write(table[:1], [table[1].key], 6)
        assert read(rows, prefix, successor(prefix)) == stored([table[0], *table[2:]])

    def test_an_older_write_never_hides_a_newer_one(self, rows, prefix):
        if rows.atomic:
            pytest.skip("transactions order the writes")
        one, two, three = (make_row(prefix, text) for text in ("one", "three", "two"))
        rows.write([one._replace(payload=b"new")], [], 9)
        rows.write([one], [], 8)
        rows.write([], [one.key], 7)
        rows.write([], [two.key], 9)
        rows.write([two], [], 8)
        rows.write([three], [], 3)
        rows.write([], [three.key], 4)
        rows.write([three], [], 5)
        rows.write([], [three.key], 4)
        assert read(rows, prefix, successor(prefix)) == [(one.key, b"new"), (three.key, three.payload)]

    def test_a_big_payload(self, rows, prefix):
        row = make_row(prefix, "big", payload=Random(3).randbytes(1 << 20))
        rows.write([row], [], 1)
        assert rows.multi_get([row.key]) == stored([row])
        assert read(rows, prefix, successor(prefix), CellIn(0, ((b"\x02b", b"\x02c"),))) == stored([row])
        assert list(rows.whole_rows(prefix, successor(prefix))) == [row]

    def test_rows_with_twelve_cells(self, rows, prefix):
        few = make_row(prefix, "few", "1")
        many = [make_row(prefix, "many", *(str(number + at) for at in range(11))) for number in range(4)]
        rows.write([few, *many], [], 1)
        span = (prefix, successor(prefix))
        assert list(rows.whole_rows(*span)) == [few, *many]
        cell = many[2].cells[10]
        last = CellIn(10, ((cell, after_cell(COLUMN_TYPES[1], cell)),))
        assert read(rows, *span, last) == stored([many[2]])
        assert read(rows, *span, AnyOf((last, CellIn(0, ((few.cells[0], few.cells[0] + b"\xff"),))))) == stored(
            [few, many[2]]
        )
        rows.write([], [row.key for row in many], 2)
        assert read(rows, *span, last) == []

    def test_a_batch_of_thousands(self, rows, prefix):
        table = [make_row(prefix, f"{number:05d}") for number in range(3000)]
        rows.write(table, [], 1)
        span = (prefix, successor(prefix))
        assert read(rows, *span) == stored(table)
        assert list(rows.whole_rows(*span)) == table
        assert rows.count(*span) == 3000
        assert read(rows, *span, limit=2500) == stored(table[:2500])
        rows.write([], [row.key for row in table[10:]], 2)
        assert read(rows, *span) == stored(table[:10])

    def test_what_is_given_back_is_the_room_of_rows_that_are_gone(self, rows, prefix):
        table = [make_row(prefix, f"{number:05d}") for number in range(10)]
        rows.write(table[:10], [], sequence=1)
        rows.write([], [row.key for row in table[:5]], sequence=2)
        rows.give_back()
        assert read(rows, prefix, successor(prefix)) == stored(table[5:10])
        rows.write(table[:1], [], sequence=3)
        assert read(rows, prefix, successor(prefix)) == stored([table[0], *table[5:10]])

    def test_compare_and_put(self, rows, prefix):
        key = b"T " + prefix
        assert rows.get(key) is None
        assert not rows.compare_and_put(key, DEFINITION, b"something", b"1")
        assert rows.get(key) is None
        assert rows.compare_and_put(key, DEFINITION, None, b"1")
        assert not rows.compare_and_put(key, DEFINITION, None, b"2")
        assert not rows.compare_and_put(key, DEFINITION, b"2", b"3")
        assert rows.compare_and_put(key, DEFINITION, b"1", b"2")
        assert rows.compare_and_put(key, LOG, None, b"\0\xff")
        assert rows.get(key) == {DEFINITION: b"2", LOG: b"\0\xff"}

    def test_timelines_are_read_only_by_who_asks_for_all_cells(self, rows, prefix):
        key, timeless = b"T " + prefix, b"T " + prefix + b"a"
        small = {DEFINITION: b"1", LOG: b"2", "s:stats": b"3"}
        timelines = {"t:DAILY.dt": b"\0\xff" * 50_000, "t:HOURLY.dt": b"4", "t:": b"5"}
        assert rows.get_all(key) == {}
        for name, value in {**timelines, **small}.items():
            assert rows.compare_and_put(key, name, None, value)
        assert rows.compare_and_put(timeless, DEFINITION, None, b"6")
        assert rows.get(key) == small
        assert rows.get_all(key) == {**small, **timelines}
        assert rows.get_all(timeless) == {DEFINITION: b"6"}
        assert rows.get_many([key, timeless, timeless + b"none"]) == {key: small, timeless: {DEFINITION: b"6"}}
        assert rows.get_many([]) == {}
        found = dict(rows.scan_catalog(key, successor(key)))
        assert found == {key: small, timeless: {DEFINITION: b"6"}}

    def test_a_row_of_timelines_alone_is_none_for_who_does_not_ask_for_them(self, rows, prefix):
        key = b"T " + prefix
        assert rows.compare_and_put(key, "t:DAILY.dt", None, b"1")
        assert not rows.get(key)
        assert rows.get_all(key) == {"t:DAILY.dt": b"1"}
        assert not any(cells for _, cells in rows.scan_catalog(key, successor(key)))
        assert not rows.compare_and_put(key, "t:DAILY.dt", b"2", b"3")
        assert not rows.compare_and_put(key, "t:DAILY.dt", None, b"3")
        assert rows.compare_and_put(key, "t:DAILY.dt", b"1", b"")
        assert not rows.get_all(key).get("t:DAILY.dt")
        assert rows.compare_and_put(key, "t:DAILY.dt", None, b"4")

    def test_cells_are_put_whatever_they_hold(self, rows, prefix):
        one, other = b"T " + prefix, b"U " + prefix
        rows.put_cells([CatalogCell(one, DEFINITION, b"1"), CatalogCell(other, DEFINITION, b"2")], 1)
        rows.put_cells([CatalogCell(one, DEFINITION, b"3"), CatalogCell(one, "t:DAILY.dt", b"4")], 2)
        rows.put_cells([CatalogCell(other, DEFINITION, b"")], 2)
        assert rows.get_all(one) == {DEFINITION: b"3", "t:DAILY.dt": b"4"}
        assert not (rows.get(other) or {}).get(DEFINITION)

    def test_older_cells_never_hide_newer_ones(self, rows, prefix):
        if rows.atomic:
            pytest.skip("transactions order the writes")
        key = b"T " + prefix
        rows.put_cells([CatalogCell(key, DEFINITION, b"new"), CatalogCell(key, "s:stats", b"new")], 9)
        rows.put_cells([CatalogCell(key, DEFINITION, b"old"), CatalogCell(key, "s:more", b"old")], 8)
        rows.put_cells([CatalogCell(key, "s:stats", b"")], 10)
        rows.put_cells([CatalogCell(key, "s:stats", b"new")], 9)
        found = {cell: value for cell, value in rows.get(key).items() if value}
        assert found == {DEFINITION: b"new", "s:more": b"old"}

    def test_large_cells_are_put(self, rows, prefix):
        key, large = b"T " + prefix, Random(3).randbytes(3 << 20)
        cells = [CatalogCell(key, f"d:{number}", large) for number in range(3)]
        rows.put_cells(cells, 1)
        assert rows.get(key) == {cell.cell: large for cell in cells}

    def test_a_catalog_row_is_removed(self, rows, prefix):
        key = b"T " + prefix
        rows.put_cells([CatalogCell(key, DEFINITION, b"1"), CatalogCell(key, "t:DAILY.dt", b"2")], 1)
        for _ in range(2):
            rows.remove_row(key)
            assert not rows.get_all(key)

    def test_all_cells_are_read_at_one_moment(self, rows, prefix):
        """Two cells are changed in turn, a timeline last; whoever reads both never sees the timeline ahead."""
        key, turns = b"T " + prefix, 60
        rows.compare_and_put(key, LOG, None, b"0")
        rows.compare_and_put(key, "t:DAILY.dt", None, b"0")

        def write():
            for turn in range(turns):
                before, after = b"%d" % turn, b"%d" % (turn + 1)
                assert rows.compare_and_put(key, LOG, before, after)
                assert rows.compare_and_put(key, "t:DAILY.dt", before, after)

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            while not writing.done():
                cells = rows.get_all(key)
                assert int(cells[LOG]) - int(cells["t:DAILY.dt"]) in (0, 1)
            writing.result()

    def test_an_empty_cell_counts_as_absent(self, rows, prefix):
        key = b"T " + prefix
        assert rows.compare_and_put(key, DEFINITION, None, b"1")
        assert rows.compare_and_put(key, DEFINITION, b"1", b"")
        assert not (rows.get(key) or {}).get(DEFINITION)
        assert rows.compare_and_put(key, DEFINITION, b"", b"2")
        assert rows.compare_and_put(key, DEFINITION, b"2", b"")
        assert rows.compare_and_put(key, DEFINITION, None, b"3")
        assert rows.get(key) == {DEFINITION: b"3"}

    def test_one_of_two_racing_threads_wins(self, rows, prefix):
        key = b"T " + prefix
        rows.compare_and_put(key, LOG, None, b"0")
        barrier = threading.Barrier(2)

        def race(name):
            won = []
            for turn in range(10):
                barrier.wait()
                current = rows.get(key)[LOG]
                barrier.wait()
                won.append(rows.compare_and_put(key, LOG, current, b"%d %s" % (turn, name)))
            return won

        with ThreadPoolExecutor(2) as pool:
            one, two = pool.submit(race, b"one"), pool.submit(race, b"two")
            assert [left + right for left, right in zip(one.result(), two.result(), strict=True)] == [1] * 10

    def test_scan_catalog(self, rows, prefix):
        expected = []
        for number in range(300):
            key, cells = b"T %s%03d" % (prefix, number), {DEFINITION: b"%d" % number, LOG: b"j"}
            expected.append((key, cells))
            for cell, value in cells.items():
                assert rows.compare_and_put(key, cell, None, value)
        start, stop = b"T " + prefix, successor(b"T " + prefix)
        assert list(rows.scan_catalog(start, stop)) == expected
        assert list(rows.scan_catalog(expected[3][0], expected[5][0])) == expected[3:5]
        assert list(rows.scan_catalog(stop, start)) == []
        assert list(rows.scan_catalog(start, start)) == []
        definitions = [(key, {DEFINITION: cells[DEFINITION]}) for key, cells in expected]
        assert rows.compare_and_put(expected[7][0], DEFINITION, b"7", b"")
        assert rows.compare_and_put(b"T %s999" % prefix, LOG, None, b"j")
        named = rows.scan_catalog(start, stop, [DEFINITION])
        assert [(key, cells) for key, cells in named if cells.get(DEFINITION)] == definitions[:7] + definitions[8:]

    def test_rows_that_hold_what_is_asked_for_are_given(self, rows, prefix):
        wanted = {}
        for number, (definition, log) in enumerate(product((None, b"", b"it's"), (None, b"", b"{}", b'{"Open": 1}'))):
            key = b"T %s%02d" % (prefix, number)
            for cell, value in ((DEFINITION, definition), (LOG, log)):
                if value is not None:
                    rows.compare_and_put(key, cell, None, value or b"gone")
                    assert value or rows.compare_and_put(key, cell, b"gone", b"")
            if definition or (log and b"Open" in log):
                wanted[key] = {cell: value for cell, value in ((DEFINITION, definition), (LOG, log)) if value}
        holding = [(DEFINITION, b""), (LOG, b'"Open":')]
        start, stop = b"T " + prefix, successor(b"T " + prefix)
        given = {
            key: {cell: value for cell, value in cells.items() if value}
            for key, cells in rows.scan_catalog(start, stop, [DEFINITION, LOG], holding)
        }
        assert wanted.items() <= given.items()
        quoted = {key for key, _ in rows.scan_catalog(start, stop, [DEFINITION, LOG], [(DEFINITION, b"it's")])}
        assert {key for key, cells in wanted.items() if cells.get(DEFINITION) == b"it's"} <= quoted

    def test_catalog_rows_are_no_partition_rows(self, rows, prefix):
        rows.compare_and_put(prefix, DEFINITION, None, b"1")
        assert read(rows, prefix, successor(prefix)) == []
        rows.write([make_row(prefix, "a")], [], 1)
        assert [key for key, _ in rows.scan_catalog(prefix, successor(prefix))] == [prefix]

    def test_a_transaction_is_made_as_one(self, rows, prefix):
        _needs_transactions(rows)
        table = make_table(prefix, 20)
        key = b"T " + prefix
        with rows.transaction():
            rows.write(table, [], 1)
            assert rows.compare_and_put(key, DEFINITION, None, b"1")
            assert read(rows, prefix, successor(prefix)) == stored(table)
            with rows.snapshot():
                assert rows.get(key) == {DEFINITION: b"1"}
            rows.write([], [table[0].key], 2)
        assert read(rows, prefix, successor(prefix)) == stored(table[1:])
        assert rows.get(key) == {DEFINITION: b"1"}

    def test_an_exception_rolls_a_transaction_back(self, rows, prefix):
        _needs_transactions(rows)
        table = make_table(prefix, 20)
        key = b"T " + prefix
        rows.write(table[:5], [], 1)
        rows.compare_and_put(key, DEFINITION, None, b"1")

        def fail():
            with rows.transaction():
                rows.write([table[0]._replace(payload=b"new"), *table[5:]], [table[1].key], 2)
                assert rows.compare_and_put(key, DEFINITION, b"1", b"2")
                assert rows.compare_and_put(key, LOG, None, b"2")
                raise ArithmeticError

        with pytest.raises(ArithmeticError):
            fail()
        assert list(rows.whole_rows(prefix, successor(prefix))) == table[:5]
        assert rows.get(key) == {DEFINITION: b"1"}
        rows.write([], [table[0].key], 3)
        assert read(rows, prefix, successor(prefix)) == stored(table[1:5])

    def test_transactions_are_not_nested(self, rows, prefix):
        _needs_transactions(rows)

        def nested():
            with rows.transaction(), rows.transaction():
                pass

        def in_snapshot():
            with rows.snapshot(), rows.transaction():
                pass

        def write_in_snapshot():
            with rows.snapshot():
                rows.write([make_row(prefix, "a")], [], 1)

        for attempt in (nested, in_snapshot, write_in_snapshot):
            with pytest.raises(RuntimeError):
                attempt()
        assert read(rows, prefix, successor(prefix)) == []

    def test_transactions_of_threads_follow_each_other(self, rows, prefix):
        _needs_transactions(rows)
        key = b"T " + prefix
        rows.compare_and_put(key, LOG, None, b"0")

        def count_up():
            for _ in range(10):
                with rows.transaction():
                    current = rows.get(key)[LOG]
                    assert rows.compare_and_put(key, LOG, current, b"%d" % (int(current) + 1))

        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(count_up) for _ in range(4)]:
                done.result()
        assert rows.get(key) == {LOG: b"40"}

    def test_a_snapshot_shows_one_state(self, rows, prefix):
        if not rows.atomic:
            with rows.snapshot(), rows.snapshot():
                assert read(rows, prefix, successor(prefix)) == []
            return
        table = make_table(prefix, 20)
        key = b"T " + prefix
        rows.write(table[:10], [], 1)
        rows.compare_and_put(key, DEFINITION, None, b"1")
        with rows.snapshot():
            in_thread(lambda: rows.write(table[10:], [table[0].key], 2))
            in_thread(lambda: rows.compare_and_put(key, DEFINITION, b"1", b"2"))
            with rows.snapshot():
                assert read(rows, prefix, successor(prefix)) == stored(table[:10])
            assert rows.multi_get([table[0].key]) == stored(table[:1])
            assert rows.get(key) == {DEFINITION: b"1"}
            assert in_thread(lambda: read(rows, prefix, successor(prefix))) == stored(table[1:])
        assert read(rows, prefix, successor(prefix)) == stored(table[1:])
        assert rows.get(key) == {DEFINITION: b"2"}

    def test_a_closed_store_is_unavailable(self, fresh_rows):
        fresh_rows.get(b"D x")
        scan = fresh_rows.scan(b"a", b"z")
        fresh_rows.close()
        fresh_rows.close()
        calls = [
            lambda: fresh_rows.get(b"D x"),
            lambda: fresh_rows.multi_get([b"a"]),
            lambda: fresh_rows.first_key(b"a", b"b"),
            lambda: list(fresh_rows.scan(b"a", b"b")),
            lambda: list(scan),
            lambda: fresh_rows.count(b"a", b"b"),
            lambda: list(fresh_rows.whole_rows(b"a", b"b")),
            lambda: list(fresh_rows.scan_catalog(b"a", b"b")),
            lambda: fresh_rows.compare_and_put(b"D x", DEFINITION, None, b"1"),
            lambda: fresh_rows.write([], [b"a"], 1),
        ]
        for call in calls:
            with pytest.raises(StoreUnavailable):
                call()


def _needs_transactions(rows):
    if not rows.atomic:
        pytest.skip("not atomic")
