"""Filter strings on a real HBase: they select what the predicate does, whatever the bytes."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given

from hbstore.keys.row_key import after_cell, successor, text_cell, value_cell
from hbstore.keys.types import parse_type
from hbstore.rows.hbase import filters as hbase_filters
from hbstore.rows.hbase.filters import MAX_BYTES, MAX_WEIGHT, push
from hbstore.rows.hbase.like import java_pattern
from hbstore.rows.hbase.rows import connect_hbase
from hbstore.rows.interface import PartitionRow
from hbstore.rows.predicate import ALWAYS, NEVER, AllOf, AnyOf, CellIn, CellLike, matcher
from hbstore.texts.like import parse_like
from tests.rows import strategies

STRING, INT, DATE = (parse_type(name) for name in ("string", "int", "date"))
NASTY = [b"'", b"''", b'"', b"\0", b"\xff", b"(", b")", b" AND ", b" OR ", b"SKIP ", b"\\", b":", b",", b"\n", b"\xc3"]
ODD = "ab'\"()[]{}^$.*+?|\\%_\0\ufffd\x01\x02\xff\u20ac\U0001f600\u0130\n -&~#/"


@pytest.fixture(scope="module")
def rows(hbase_url):
    found = connect_hbase(hbase_url)
    yield found
    found.close()


def put_table(rows, prefix, table):
    """Rows with these cells, as written: sorted by key."""
    written = sorted(PartitionRow(b"%s%06d" % (prefix, at), cells, b"p%d" % at) for at, cells in enumerate(table))
    rows.write(written, [], 1)
    return written


def keys(rows, prefix, predicate):
    return [key for batch in rows.scan(prefix, successor(prefix), predicate) for key, _ in batch]


def expected(written, predicate):
    matches = matcher(predicate)
    return [row.key for row in written if matches(row.cells)]


@pytest.mark.hbase
def test_a_thousand_nasty_values(rows):
    random = Random(11)
    values = {b"", b"'", b"x'AND'", bytes(range(256)), b"a\0", b"\xff\xff", b"\xed\xa0\x80", b"\xf0\x9f"}
    while len(values) < 1000:
        parts = [random.choice([*NASTY, random.randbytes(1), b"a"]) for _ in range(random.randrange(1, 7))]
        values.add(b"".join(parts))
    cells = sorted(b"\x02" + value for value in values)
    written = put_table(rows, b"nasty\0", [(cell,) for cell in cells])
    assert all(row.cells == (cell,) for row, cell in zip(rows.whole_rows(b"nasty\0", b"nasty\1"), cells, strict=True))
    for at, cell in enumerate(cells):
        assert keys(rows, b"nasty\0", CellIn(0, ((cell, cell + b"\0"),))) == [written[at].key], cell
    for at in range(0, 1000, 17):
        for predicate in (
            CellIn(0, ((cells[at], cells[min(at + 40, 999)] + b"\0"),)),
            CellIn(0, ((cells[at], successor(cells[at])),)),
            CellIn(0, ((b"", cells[at]), (cells[at] + b"\0", b"\xff" * 9))),
        ):
            assert push(predicate).exact
            assert keys(rows, b"nasty\0", predicate) == expected(written, predicate)


@pytest.mark.hbase
def test_like_patterns_against_the_oracle(rows):
    random = Random(5)
    texts = {"", "a", "\0", "\0\0", "\ufffd", "\0\ufffd", "a\0b", "\U0001f600", "'"}
    while len(texts) < 400:
        texts.add("".join(random.choice(ODD) for _ in range(random.randrange(1, 9))))
    table = [(text_cell(STRING, text),) for text in sorted(texts)] + [(b"\x01",), (b"\x03a\0",)]
    written = put_table(rows, b"like\0", table)
    patterns = {"", "%", "_", "%%", "__", "%_", "_%_", "%\ufffd%", "\0%", "%\0", "%_\0_%", "%\\%%", "%a%a%b", "\ud800%"}
    while len(patterns) < 400:
        patterns.add("".join(random.choice([*ODD, "%", "%", "_", "_"]) for _ in range(random.randrange(1, 7))))
    for pattern in sorted(patterns):
        for negated in (False, True):
            like = CellLike(0, parse_like(pattern, "sql"), STRING, negated)
            assert keys(rows, b"like\0", like) == expected(written, like), ascii(pattern)


@pytest.mark.hbase
def test_long_texts_and_patterns_do_not_overflow_the_region_server(rows):
    texts = ["ab" * 7000, "a\U0001f600" * 3000, "\0" * 7000, "a" * 14000 + "b", "x\ufffd\0" * 2000]
    written = put_table(rows, b"long\0", [(text_cell(STRING, text),) for text in texts])
    patterns = [
        "%a%a%a%a%b",
        "%" + "a%" * 60 + "b",
        "_" * 49 + "%",
        "_" * 5000 + "%",
        "%\0%\0",
        "%" + "\0" * 3000,
        "a%",
    ]
    for pattern in [*patterns, "ab" * 7000, "%" + "ab" * 6999 + "%"]:
        for negated in (False, True):
            like = CellLike(0, parse_like(pattern, "sql"), STRING, negated)
            assert keys(rows, b"long\0", like) == expected(written, like), pattern[:20]


@pytest.mark.hbase
def test_rows_without_the_cell_are_not_selected(rows):
    put_table(rows, b"few\0", [(b"\x02a\0",), (b"\x02a\0", b"\x02b\0")])
    assert keys(rows, b"few\0", CellIn(1, ((b"", b"\xff"),))) == [b"few\x00000001"]
    assert keys(rows, b"few\0", CellIn(1, ())) == []


@pytest.mark.hbase
def test_cells_that_were_replaced_select_nothing(rows):
    def at(text):
        return CellIn(0, ((text_cell(STRING, text), after_cell(STRING, text_cell(STRING, text))),))

    key = b"replaced\x00000000"
    for sequence, text in enumerate(["old", "older", "new"], start=1):
        rows.write([PartitionRow(key, (text_cell(STRING, text), text_cell(INT, "1")), b"p")], [], sequence)
    rows.write([PartitionRow(key, (text_cell(STRING, "late"),), b"p")], [], 1)
    assert keys(rows, b"replaced\0", at("new")) == [key]
    assert [keys(rows, b"replaced\0", at(text)) for text in ("old", "older", "late")] == [[], [], []]
    assert rows.count(b"replaced\0", b"replaced\1", at("old")) == 0


@pytest.mark.hbase
def test_what_cannot_be_pushed_is_checked_here(rows):
    table = [
        (text_cell(STRING, f"r{at % 7}"), text_cell(INT, str(at)), text_cell(DATE, f"2013-01-{1 + at % 28:02d}"))
        for at in range(3000)
    ]
    written = put_table(rows, b"check\0", table)
    numbers = tuple((text_cell(INT, str(n)), after_cell(INT, text_cell(INT, str(n)))) for n in range(-5001, 5000, 3))
    deep = CellIn(1, ((text_cell(INT, "7"), text_cell(INT, "9")),))
    for level in range(1000):
        point = text_cell(INT, str(level))
        leaf = CellIn(1, ((point, after_cell(INT, point)),))
        deep = AllOf((CellIn(0, ((b"\x02r1\0", b"\x02r3\0"),)), deep)) if level % 2 else AnyOf((leaf, deep))
    for predicate in (
        CellIn(1, numbers),
        AllOf((CellIn(0, ((b"\x02r2\0", b"\x02r3\0"),)), CellIn(1, numbers))),
        AnyOf((CellIn(0, ((b"\x02r2\0", b"\x02r3\0"),)), CellIn(1, numbers))),
        CellLike(2, parse_like("%-1_", "sql"), DATE),
        AllOf((CellIn(0, ((b"\x02r2\0", b"\x02r3\0"),)), CellLike(2, parse_like("%-1_", "sql"), DATE, negated=True))),
        deep,
    ):
        pushed = push(predicate)
        assert not pushed.exact
        assert pushed.text is None or len(pushed.text) <= MAX_BYTES
        found = keys(rows, b"check\0", predicate)
        assert found == expected(written, predicate)
        assert found
        assert rows.count(b"check\0", b"check\1", predicate) == len(found)
        limited = [key for batch in rows.scan(b"check\0", b"check\1", predicate, limit=5) for key, _ in batch]
        assert limited == found[:5]


@given(strategies.predicates)
def test_what_is_pushed_has_bounds(predicate):
    pushed = push(predicate)
    text = pushed.text or b""
    assert len(text) <= MAX_BYTES
    assert text.count(b"SingleColumnValueFilter") <= MAX_WEIGHT
    assert set(re.findall(rb"'k','(\d+)'", text)) == {b"%d" % column for column in pushed.columns} if text else True


def test_always_and_never():
    assert push(ALWAYS) == (pushed := push(AllOf((ALWAYS, ALWAYS))))
    assert pushed.text is None
    assert pushed.exact
    assert b"<,'binary:'" in push(NEVER).text
    assert push(CellIn(3, ())).text == b"SingleColumnValueFilter('k','3',<,'binary:',true,false)"


def test_a_point_is_one_comparison():
    text = value_cell(STRING, "it's")
    assert (
        push(CellIn(0, ((text, after_cell(STRING, text)),))).text
        == b"SingleColumnValueFilter('k','0',=,'binary:\x02it''s\0',true,false)"
    )
    number = value_cell(INT, 255)
    assert push(CellIn(1, ((number, after_cell(INT, number)),))).text.count(b"SingleColumn") == 1


def test_patterns_are_written_in_ascii():
    assert java_pattern(parse_like("\u20ac\0.", "sql")) == rb"(?s)\A\x02\x{20AC}\x00\x{FFFD}\.\x00\z"
    assert java_pattern(parse_like("_" * 5000, "sql")) is None


def test_a_long_list_that_many_parts_share_is_looked_at_once(monkeypatch):
    looked_at = []
    fewer = hbase_filters._fewer
    monkeypatch.setattr(
        hbase_filters, "_fewer", lambda ranges, most: looked_at.append(len(ranges)) or fewer(ranges, most)
    )
    shared = CellIn(1, tuple((b"\x02%05d" % at, b"\x02%05d\x00" % at) for at in range(5_000)))
    parts = [AllOf((CellIn(0, ((b"\x02%03d" % at, b"\x02%03d\x00" % at),)), shared)) for at in range(100)]
    assert not push(AnyOf(tuple(parts))).exact
    assert sum(size for size in looked_at if size == 5_000) <= 2 * 5_000


def test_an_and_keeps_the_cheap_parts():
    point = CellIn(0, ((b"\x02a\0", b"\x02a\0\xff"),))
    many = CellIn(1, tuple((value_cell(INT, n), value_cell(INT, n + 1)) for n in range(0, 2000, 2)))
    pushed = push(AllOf((many, point)))
    assert b"'binary:\x02a\0'" in pushed.text
    assert pushed.columns == {0, 1}
    assert not pushed.exact


def test_an_or_keeps_the_hull_of_what_is_too_long():
    low = tuple((value_cell(INT, n), value_cell(INT, n + 1)) for n in range(0, 2000, 2))
    high = tuple((value_cell(INT, n), value_cell(INT, n + 1)) for n in range(1_000_000, 1_002_000, 2))
    pushed = push(AnyOf((CellIn(1, low), AllOf((CellIn(1, high), CellIn(0, ((b"\x02a", b"\x02b"),)))))))
    assert not pushed.exact
    assert pushed.columns == {1}
