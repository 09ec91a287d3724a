"""Predicates as SQL: what becomes a comparison, what a test in Python, and the limits of SQLite's parser."""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbstore import rows as ordered_rows
from hbstore.keys.row_key import text_cell
from hbstore.keys.types import parse_type
from hbstore.rows.interface import PartitionRow
from hbstore.rows.predicate import ALWAYS, NEVER, AllOf, AnyOf, CellIn, CellLike, matcher
from hbstore.rows.sqlite.like import like_sql
from hbstore.rows.sqlite.predicate import FIRST_COLUMNS, MAX_DEPTH, MAX_RANGES, MAX_TERMS, condition
from hbstore.texts.like import parse_like
from tests.rows import strategies

STRING, INT = parse_type("string"), parse_type("int")


def points(size, column=0):
    return CellIn(column, tuple((b"\x02%04d" % number, b"\x02%04d\xff" % number) for number in range(size)))


def evaluate(predicate, *rows_of_cells):
    """Which rows a condition selects in a table with the first cell columns."""
    sqlite = sqlite3.connect(":memory:")
    names = ", ".join(f"k{column}" for column in range(FIRST_COLUMNS))
    sqlite.execute(f"CREATE TABLE t (number INTEGER PRIMARY KEY, {names})")
    for number, cells in enumerate(rows_of_cells):
        padded = [*cells, *[None] * (FIRST_COLUMNS - len(cells))]
        sqlite.execute(f"INSERT INTO t VALUES ({number}{', ?' * FIRST_COLUMNS})", padded)
    found = condition(predicate)
    sqlite.create_function("cell_test", -1, lambda number, *cells: found.tests[number](*cells))
    selected = sqlite.execute(f"SELECT number FROM t WHERE {found.sql}", found.parameters).fetchall()
    sqlite.close()
    return [number for (number,) in selected]


@settings(max_examples=80, deadline=None)
@given(strategies.predicates, st.lists(strategies.rows_of_cells, max_size=8))
def test_it_selects_what_the_matcher_does(predicate, table):
    matches = matcher(predicate)
    assert evaluate(predicate, *table) == [number for number, cells in enumerate(table) if matches(cells)]


@settings(deadline=None)
@given(strategies.leaves)
def test_cells_that_a_row_lacks_are_empty(leaf):
    assert evaluate(leaf, ()) == ([0] if matcher(leaf)([b""] * 3) else [])


@settings(deadline=None)
@given(strategies.predicates)
def test_columns_that_the_table_lacks_are_empty(predicate):
    found = condition(predicate, columns=0)
    sqlite = sqlite3.connect(":memory:")
    sqlite.create_function("cell_test", -1, lambda number, *cells: found.tests[number](*cells))
    (selected,) = sqlite.execute(f"SELECT {found.sql} IS TRUE", found.parameters).fetchone()
    sqlite.close()
    assert bool(selected) == matcher(predicate)([b""] * 3)


def test_always_and_never():
    assert condition(ALWAYS).sql == "1"
    assert condition(NEVER).sql == "0"
    assert condition(CellIn(0, ())).sql == "0"


def test_the_same_shape_is_the_same_text():
    assert condition(points(100)).sql == condition(CellIn(0, points(200).ranges[50:150])).sql


def test_ranges_become_a_search_tree_and_many_of_them_a_test():
    assert not condition(points(MAX_RANGES)).tests
    found = condition(points(MAX_RANGES + 1))
    assert (found.sql, len(found.tests), found.parameters) == ("cell_test(0, coalesce(k0, x''))", 1, ())


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 100, MAX_RANGES, MAX_RANGES + 1, 5000])
def test_every_edge_of_a_search_tree(size):
    predicate = points(size)
    cells = [(edge,) for pair in predicate.ranges[: 8 if size > MAX_RANGES else size] for edge in pair]
    cells += [(b"",), (b"\x01",), (b"\x02",), (b"\x02%04d\xfe" % (size - 1),), (b"\x03",)]
    matches = matcher(predicate)
    assert evaluate(predicate, *cells) == [number for number, found in enumerate(cells) if matches(found)]


def nested(depth, leaf, other):
    predicate = leaf
    for level in range(depth - 1):
        predicate = AnyOf((other, predicate)) if level % 2 else AllOf((other, predicate))
    return predicate


@pytest.mark.parametrize("flat", [False, True])
def test_the_deepest_sql_still_parses(flat):
    like = CellLike(0, parse_like("a%b%c", "sql"), STRING, negated=True)
    ors = AnyOf(tuple(points(2, column % 3) for column in range(20)))
    for leaf in (points(MAX_RANGES), like, ors):
        predicate = nested(MAX_DEPTH - 2 * flat, leaf, AllOf((points(3, 1), like)) if flat else points(3, 1))
        found = condition(predicate)
        assert not found.tests
        assert evaluate(predicate, (b"\x020001",) * 3) == ([0] if matcher(predicate)([b"\x020001"] * 3) else [])


def test_as_many_terms_as_fit_still_parse():
    predicate = AnyOf(tuple(AllOf((points(1, 1), points(1, 2))) for _ in range(MAX_TERMS // 2)))
    assert not condition(predicate).tests
    assert evaluate(predicate, (b"\x020000",) * 3, (b"\x020001",) * 3) == [0]


def test_what_is_too_much_for_sql_is_one_test_after_the_rest():
    deep = nested(MAX_DEPTH + 1, points(2), points(2, 1))
    found = condition(AllOf((deep, points(1, 2))))
    assert found.sql == "((k2 >= ? and k2 < ?) and cell_test(0, coalesce(k0, x''), coalesce(k1, x'')))"
    wide = AnyOf(tuple(AllOf((points(1, 1), points(1, 2))) for _ in range(MAX_TERMS)))
    assert len(condition(wide).tests) == 1
    assert evaluate(wide, (b"\x020000",) * 3, (b"\x020001",) * 3) == [0]


@pytest.mark.parametrize(
    ("pattern", "exact"),
    [
        *((pattern, True) for pattern in ("", "abc", "%", "a%", "%a", "a%b", "%a%", "a%b%c")),
        *((pattern, False) for pattern in ("_", "a_%", "%a%b%", "a%_%c")),
    ],
)
def test_patterns_that_sql_can_say(pattern, exact):
    assert like_sql(parse_like(pattern, "sql"), "k0").exact is exact
    assert bool(condition(CellLike(0, parse_like(pattern, "sql"), STRING)).tests) is not exact


@pytest.mark.parametrize(("pattern", "texts"), [("aa%aa", ["aaaa", "aaa"]), ("ab%b%ba", ["abbba", "abba"])])
def test_pieces_of_a_pattern_do_not_overlap(pattern, texts):
    cells = [(text_cell(STRING, text),) for text in texts]
    assert evaluate(CellLike(0, parse_like(pattern, "sql"), STRING), *cells) == [0]
    assert evaluate(CellLike(0, parse_like(pattern, "sql"), STRING, negated=True), *cells) == [1]


def test_a_pattern_that_no_stored_text_can_have():
    like = CellLike(0, parse_like("a\ud800%", "sql"), STRING)
    assert evaluate(like, (text_cell(STRING, "a"),)) == []
    assert evaluate(CellLike(0, like.pattern, STRING, negated=True), (text_cell(STRING, "a"),), (b"\x01",)) == [0]


def test_many_different_residuals_on_one_store(tmp_path):
    rows = ordered_rows.connect(tmp_path / "store.db")
    table = [PartitionRow(b"%03d" % number, (text_cell(INT, str(number)),), b"p") for number in range(100)]
    rows.write(table, [], 1)
    for size in range(1, 300, 7):
        ranges = tuple((text_cell(INT, str(at)), text_cell(INT, str(at + 1))) for at in range(0, 2 * size, 2))
        assert rows.count(b"", b"\xff", CellIn(0, ranges)) == min(size, 50)
    rows.close()


@pytest.mark.parametrize("read", ["scan", "payloads", "heads", "count"])
@pytest.mark.parametrize(
    "residual",
    [
        CellIn(0, ((text_cell(INT, "7"), text_cell(INT, "9")),)),
        AnyOf((CellIn(0, ((b"", text_cell(INT, "3")),)), CellIn(1, ((b"\x02b", b"\x02c"),)))),
        CellLike(1, parse_like("a%b%", "sql"), STRING),
        CellLike(1, parse_like("_%1b", "sql"), STRING, negated=True),
        CellLike(0, parse_like("%7", "sql"), INT),
    ],
)
def test_sqlite_gives_only_rows_that_the_residual_selects(tmp_path, residual, read):
    rows = ordered_rows.connect(tmp_path / "store.db")
    cells = [(text_cell(INT, str(at)), text_cell(STRING, f"{'abc'[at % 3]}{at}b")) for at in range(100)]
    rows.write([PartitionRow(b"%03d" % at, cells[at], b"p") for at in range(100)], [], 1)
    given = []
    with rows._connections.mine() as sqlite:
        sqlite.row_factory = lambda _, row: given.append(row) or row
    number = sum(map(matcher(residual), cells))
    assert 0 < number < 100
    if read == "count":
        assert rows.count(b"", b"\xff", residual) == number
    elif read == "heads":
        assert b"".join(rows.heads(b"", b"\xff", 1, residual)) == b"p" * number
    else:
        assert sum(map(len, getattr(rows, read)(b"", b"\xff", residual))) == number
    assert len(given) == (1 if read in ("count", "heads") else number)
    rows.close()
