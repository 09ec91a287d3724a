"""What every backend of `Rows` keeps about reading, as tests; contract_of_writing.py has the rest.

A subclass brings the fixtures ``rows``, ``prefix``, ``table`` and ``span`` (where the table's keys begin and end).
``prefix`` is where a test's keys begin, so that tests can share one store; ``table`` is a table that tests only read.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hbstore.keys.row_key import after_cell, row_key, successor, text_cell
from hbstore.model.name_lists import lay_out
from hbstore.rows.interface import PartitionRow
from hbstore.rows.predicate import ALWAYS, NEVER, AllOf, AnyOf, CellIn, CellLike, matcher
from hbstore.texts.like import parse_like
from tests.rows import strategies
from tests.rows.strategies import COLUMN_TYPES

many_predicates = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def make_row(prefix, *texts, payload=b""):
    row_cells = tuple(text_cell(COLUMN_TYPES[column % len(COLUMN_TYPES)], text) for column, text in enumerate(texts))
    key = row_key(prefix, row_cells)
    return PartitionRow(key, row_cells, payload or b"payload of " + key)


class Table(list):
    """Rows sorted by key, which failing tests do not print."""

    def __repr__(self):
        return f"<table of {len(self)} rows>"


def make_table(prefix, size=250):
    """Rows of odd values, sorted by key."""
    random = Random(7)
    words = [
        "",
        "a",
        "ab",
        "abab",
        "b",
        "ba",
        "a\0b",
        "\0",
        "\xff",
        "\u20ac",
        "\U0010ffff",
        "'",
        '"',
        "%",
        "_",
        "\\",
        "\x02",
    ]
    found = {}
    for _ in range(size):
        text = random.choice([random.choice(words) + random.choice(words), "__HIVE_DEFAULT_PARTITION__"])
        number = random.choice([str(random.randrange(-3, 20)), "x", "__HIVE_DEFAULT_PARTITION__", "-2147483648"])
        date = random.choice([f"2013-01-{random.randrange(1, 29):02d}", "never", "__HIVE_DEFAULT_PARTITION__"])
        row = make_row(prefix, text, number, date)
        found[row.key] = row
    return Table(found[key] for key in sorted(found))


def read(rows, start, stop, residual=None, limit=None):
    found = [stored for batch in rows.scan(start, stop, residual, limit) for stored in batch]
    payloads = [payload for batch in rows.payloads(start, stop, residual, limit) for payload in batch]
    assert payloads == [payload for _, payload in found]
    if limit is None:
        for size in (3, 64):  # shorter than all payloads, longer than some
            assert b"".join(rows.heads(start, stop, size, residual)) == lay_out(payloads, size)
    return found


def stored(table):
    return [(row.key, row.payload) for row in table]


def in_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


class ReadingContract:
    """Scans, gets and residuals."""

    def test_rows_come_in_key_order_whatever_the_order_of_writing(self, rows, prefix):
        table = make_table(prefix, 60)
        shuffled = table.copy()
        Random(1).shuffle(shuffled)
        rows.write(shuffled[:30], [], 1)
        rows.write(shuffled[30:], [], 2)
        assert read(rows, prefix, successor(prefix)) == stored(table)

    def test_ranges_are_half_open(self, rows, table):
        keys = [row.key for row in table]
        assert read(rows, keys[3], keys[7]) == stored(table[3:7])
        assert read(rows, keys[3] + b"\0", keys[7]) == stored(table[4:7])
        assert read(rows, keys[3], keys[7] + b"\0") == stored(table[3:8])

    def test_empty_ranges_hold_nothing(self, rows, table):
        first, last = table[0].key, table[-1].key
        for start, stop in [(first, first), (last, first), (last + b"\0", last + b"\1"), (first, b"")]:
            assert read(rows, start, stop) == []
            assert rows.count(start, stop) == 0
            assert rows.first_key(start, stop) is None
            assert list(rows.whole_rows(start, stop)) == []

    def test_batches_are_never_empty(self, rows, span):
        residual = CellIn(0, ((b"\x01", b"\x02"),))
        assert all(rows.scan(*span))
        assert all(rows.scan(*span, residual))
        assert list(rows.scan(*span, NEVER)) == []

    @pytest.mark.parametrize("limit", [0, 1, 2, 7, 249, 10_000])
    def test_a_limit_takes_the_first_rows(self, rows, table, span, limit):
        assert read(rows, *span, limit=limit) == stored(table)[:limit]
        residual = CellIn(0, ((b"\x02", b"\x03"),))
        chosen = [row for row in table if row.cells[0][0] == 2]
        assert read(rows, *span, residual, limit) == stored(chosen)[:limit]

    def test_always_and_never(self, rows, table, span):
        assert read(rows, *span, ALWAYS) == stored(table)
        assert read(rows, *span, NEVER) == []

    @many_predicates
    @given(predicate=strategies.predicates)
    def test_a_residual_selects_what_its_matcher_does(self, rows, table, span, predicate):
        matches = matcher(predicate)
        expected = stored([row for row in table if matches(row.cells)])
        assert read(rows, *span, predicate) == expected
        assert rows.count(*span, predicate) == len(expected)

    @many_predicates
    @given(predicate=strategies.leaves, at=st.tuples(st.integers(0, 200), st.integers(0, 200)))
    def test_a_residual_on_part_of_a_table(self, rows, table, predicate, at):
        low, high = sorted(place % len(table) for place in at)
        matches = matcher(predicate)
        expected = stored([row for row in table[low:high] if matches(row.cells)])
        assert read(rows, table[low].key, table[high].key, predicate) == expected

    @pytest.mark.parametrize(
        "pattern",
        ["a%", "%b", "a%b", "%a%", "a%a%b", "%a%b%", "_", "a_%", "%", "", "\x02%", "%\x02%", "%\0", "\0%", "%\0%"],
    )
    @pytest.mark.parametrize("negated", [False, True])
    def test_like_on_text(self, rows, table, span, pattern, negated):
        like = CellLike(0, parse_like(pattern, "sql"), COLUMN_TYPES[0], negated)
        assert read(rows, *span, like) == stored([row for row in table if like.matches(row.cells[0])])

    @pytest.mark.parametrize(("column", "pattern"), [(1, "1%"), (1, "-_"), (2, "2013-01-1%"), (2, "%-05")])
    def test_like_on_other_types_means_their_text(self, rows, table, span, column, pattern):
        for negated in (False, True):
            like = CellLike(column, parse_like(pattern, "sql"), COLUMN_TYPES[column], negated)
            found = read(rows, *span, like)
            assert found == stored([row for row in table if like.matches(row.cells[column])])
            assert found

    def test_a_condition_with_thousands_of_ranges(self, rows, table, span):
        int_type = COLUMN_TYPES[1]
        points = [text_cell(int_type, str(number)) for number in range(-2, 10_000, 2)]
        predicate = CellIn(1, tuple((cell, after_cell(int_type, cell)) for cell in points))
        chosen = set(points)
        assert read(rows, *span, predicate) == stored([row for row in table if row.cells[1] in chosen])
        both = AllOf((predicate, CellIn(0, ((b"\x02", b"\x03"),))))
        expected = [row for row in table if row.cells[1] in chosen and row.cells[0][0] == 2]
        assert read(rows, *span, both) == stored(expected)

    @pytest.mark.parametrize("depth", [5, 30, 1000])
    def test_a_deep_condition(self, rows, table, span, depth):
        predicate = CellIn(0, ((b"\x02a", b"\x02b"),))
        for level in range(depth):
            point = text_cell(COLUMN_TYPES[1], str(level % 7))
            leaf = CellIn(1, ((point, after_cell(COLUMN_TYPES[1], point)),))
            date = CellIn(2, ((b"\x01", b"\x02\x80\x00\x3d" + bytes([0x60 + level % 16])),))
            predicate = AnyOf((leaf, predicate)) if level % 2 == 0 else AllOf((date, predicate))
        matches = matcher(predicate)
        expected = stored([row for row in table if matches(row.cells)])
        assert read(rows, *span, predicate) == expected
        assert expected

    def test_a_condition_of_many_terms(self, rows, table, span):
        terms = []
        for number in range(600):
            cell = text_cell(COLUMN_TYPES[number % 3], ["ab", "5", "2013-01-05"][number % 3])
            other = CellIn((number + 1) % 3, ((b"\x01", bytes([1 + number % 3, number % 256])),))
            terms.append(AllOf((CellIn(number % 3, ((cell, cell + b"\xff"),)), other)))
        predicate = AnyOf(tuple(terms))
        matches = matcher(predicate)
        assert read(rows, *span, predicate) == stored([row for row in table if matches(row.cells)])

    def test_multi_get_returns_those_that_exist_in_key_order(self, rows, table):
        absent = [row.key + b"\0" for row in table[::3]]
        wanted = sorted([row.key for row in table[::2]] + absent)
        assert rows.multi_get(wanted) == stored(table[::2])
        assert rows.multi_get([]) == []
        assert rows.multi_get(absent) == []
        assert rows.multi_get([table[5].key]) == stored([table[5]])

    def test_multi_get_of_thousands(self, rows, table):
        wanted = sorted([row.key for row in table] + [row.key + b"\0%04d" % at for at in range(10) for row in table])
        assert rows.multi_get(wanted) == stored(table)

    def test_first_key(self, rows, table, span):
        assert rows.first_key(*span) == table[0].key
        assert rows.first_key(table[3].key, span[1]) == table[3].key
        assert rows.first_key(table[3].key + b"\0", span[1]) == table[4].key
        assert rows.first_key(table[3].key + b"\0", table[4].key) is None

    def test_count(self, rows, table, span):
        assert rows.count(*span) == len(table)
        assert rows.count(table[3].key, table[9].key) == 6

    def test_whole_rows_have_their_cells(self, rows, table, span):
        assert list(rows.whole_rows(*span)) == table

    def test_reading_makes_round_trips(self, rows, table, span):
        before = rows.round_trips()
        rows.multi_get([table[0].key])
        once = rows.round_trips()
        list(rows.scan(*span))
        assert before < once < rows.round_trips()
        assert in_thread(rows.round_trips) <= once

    def test_costs_are_stated(self, rows):
        costs = rows.costs
        assert min(costs.seek, costs.get, costs.read, costs.check) > 0
        assert costs.read <= costs.seek

    def test_threads_share_a_store(self, rows, table, span):
        with ThreadPoolExecutor(6) as pool:
            found = [pool.submit(read, rows, *span) for _ in range(12)]
            assert all(one.result() == stored(table) for one in found)

    def test_an_abandoned_scan_is_in_nobodys_way(self, rows, prefix):
        table = make_table(prefix, 40)
        rows.write(table, [], 1)
        scan = rows.scan(prefix, successor(prefix))
        next(scan)
        rows.write([table[0]._replace(payload=b"new")], [table[1].key], 2)
        del scan
        assert read(rows, prefix, table[2].key) == [(table[0].key, b"new")]
