"""Hypothesis strategies for cells, byte ranges and predicates over a table of three columns."""

from __future__ import annotations

from hypothesis import strategies as st

from hbstore.keys.row_key import NULL_PARTITION, TAG_END, TAG_NULL, TAG_TEXT, TAG_VALUE, after_cell, text_cell
from hbstore.keys.types import parse_type
from hbstore.rows.predicate import ALWAYS, NEVER, AllOf, AnyOf, CellIn, CellLike, all_of, any_of
from hbstore.rows.ranges import unite
from hbstore.texts.like import parse_like

COLUMN_TYPES = tuple(parse_type(name) for name in ("string", "int", "date"))

# Few characters, so that patterns match; among them all that is special in bytes, SQL, LIKE or regular expressions.
ODD_CHARACTERS = "ab\0\x01\x02\x03\xff\u00e9\u20ac\U0010ffff\ud7ff'\"%_\\.*\n "
texts = st.text(st.sampled_from(ODD_CHARACTERS), max_size=5)
dates = st.dates().map(str)
numbers = st.integers(-(2**31), 2**31 - 1) | st.integers(-3, 20)
values = (
    texts | st.sampled_from(["a", "ab", "abab", "b", NULL_PARTITION]),
    numbers.map(str) | st.sampled_from(["5", "05", "x", NULL_PARTITION]),
    dates | st.sampled_from(["2013-01-01", "2013-01-02", "2014-01-01", "never", NULL_PARTITION]),
)
"""Texts of values of each column; some do not parse as the column's type."""


@st.composite
def cells(draw, column=None):
    """The cell of one column."""
    number = draw(st.sampled_from(range(len(COLUMN_TYPES)))) if column is None else column
    return text_cell(COLUMN_TYPES[number], draw(values[number]))


rows_of_cells = st.tuples(*(cells(column) for column in range(len(COLUMN_TYPES))))


@st.composite
def ranges(draw, column):
    """Ranges as filters make them: points, whole tags, intervals between cells; or of any bytes at all."""
    found = []
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["point", "point", "interval", "tag", "bytes"]))
        if kind == "point":
            cell = draw(cells(column))
            found.append((cell, after_cell(COLUMN_TYPES[column], cell)))
        elif kind == "interval":
            found.append(tuple(sorted((draw(cells(column)), draw(cells(column))))))
        elif kind == "tag":
            edges = [b"", TAG_NULL, TAG_VALUE, TAG_TEXT, TAG_END]
            found.append(tuple(sorted((draw(st.sampled_from(edges)), draw(st.sampled_from(edges))))))
        else:
            found.append(tuple(sorted((draw(st.binary(max_size=6)), draw(st.binary(max_size=6))))))
    return unite(found)


@st.composite
def cell_ins(draw):
    column = draw(st.integers(0, len(COLUMN_TYPES) - 1))
    return CellIn(column, draw(ranges(column)))


_patterns = {
    0: st.lists(st.sampled_from([*"ab\0\x02\xff\u20ac\U0010ffff'", "%", "%", "_", "ab", "\\%"]), max_size=6).map(
        "".join
    ),
    1: st.lists(st.sampled_from([*"0125-", "%", "%", "_"]), max_size=4).map("".join),
    2: st.sampled_from(["2013%", "%-01-%", "____-01-01", "%", "", "2013-01-01", "%never%"]),
}


@st.composite
def cell_likes(draw):
    column = draw(st.sampled_from([0, 0, 0, 1, 2]))
    pattern = parse_like(draw(_patterns[column]), "sql")
    return CellLike(column, pattern, COLUMN_TYPES[column], draw(st.booleans()))


def _nodes(children):
    """Nodes in normal form, and some that are not; ALWAYS and NEVER stand only on their own."""
    some = st.lists(children, max_size=4)
    others = some.map(lambda found: tuple(child for child in found if child not in (ALWAYS, NEVER)))
    raw = others.filter(bool)
    return some.map(all_of) | some.map(any_of) | raw.map(AllOf) | raw.map(AnyOf)


leaves = cell_ins() | cell_likes()
predicates = st.recursive(leaves, _nodes, max_leaves=12)
"""Trees in normal form and not."""
