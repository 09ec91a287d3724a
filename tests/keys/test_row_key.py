"""Row keys: the vectors of docs/keys.md, and the three properties that the layout is made for."""

from __future__ import annotations

import datetime as dt
import json
import operator
import re
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hbstore.errors import CorruptRow, InvalidPartitionValue
from hbstore.keys.row_key import (
    MAX_KEY,
    NULL_PARTITION,
    RESPELLED,
    TAG_END,
    TAG_NULL,
    TAG_TEXT,
    TAG_VALUE,
    after_cell,
    cell_at,
    cell_start,
    cell_text,
    fits,
    is_cell,
    is_respelled,
    row_key,
    split_key,
    successor,
    table_prefix,
    text_cell,
    value_cell,
    value_part,
)
from hbstore.keys.types import ColumnType, parse_type, read_value
from tests.strategies import TYPE_TEXTS, partition_values, respelled_texts, tables, texts, valid_texts

DOCUMENT = Path(__file__).parents[2] / "docs" / "keys.md"
all_types = pytest.mark.parametrize("column_type", [parse_type(text) for text in TYPE_TEXTS], ids=TYPE_TEXTS)
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt]


def document_rows(title: str) -> list[list[str]]:
    """The rows of the table below a heading: what stands in back-quotes."""
    section = DOCUMENT.read_text().split(f"\n### {title}\n")[1].split("\n#")[0]
    rows = [re.findall("`([^`]*)`", line) for line in section.splitlines() if line.startswith("| `")]
    assert rows
    return rows


def key_of(table, values) -> bytes:
    cells = [text_cell(column_type, text) for column_type, text in zip(table.key_types, values, strict=True)]
    return row_key(table_prefix(table.database, table.name), cells)


def rank(column_type: ColumnType, text: str) -> tuple:
    """What a value is sorted by, made without any bytes: null, then values in their order, then texts.

    Behind a value stand the texts of which it is read, though the type spells it otherwise.
    """
    if text in ("", NULL_PARTITION):
        return (1,)
    value = read_value(column_type, text)
    if value is None:
        return 3, text
    spelling = "" if column_type.text(value) == text else text
    return (2, 1, 0, spelling) if value != value else (2, 0, value, spelling)  # noqa: PLR0124  NaN is above all numbers


@pytest.mark.parametrize(("kind", "text", "canonical", "cell"), document_rows("Cells"))
def test_cells_are_as_documented(kind, text, canonical, cell):
    column_type = parse_type(kind)
    data = bytes.fromhex(cell)
    assert text_cell(column_type, json.loads(text)) == data
    assert cell_text(column_type, data) == (json.loads(text) or NULL_PARTITION)
    assert cell_text(column_type, value_part(column_type, data)) == json.loads(canonical)
    assert text_cell(column_type, json.loads(canonical)) == value_part(column_type, data)
    assert is_cell(data, column_type)


@pytest.mark.parametrize(("table", "kinds", "values", "key"), document_rows("Whole keys"))
def test_whole_keys_are_as_documented(table, kinds, values, key):
    types = [parse_type(kind) for kind in re.split(r", (?![0-9])", kinds)]
    prefix = table_prefix(*table.split("."))
    cells = tuple(text_cell(*pair) for pair in zip(types, json.loads(values), strict=True))
    data = bytes.fromhex(key)
    assert row_key(prefix, cells) == data
    assert split_key(data, len(types)) == (prefix, cells)
    assert [cell_text(*pair) for pair in zip(types, split_key(data, len(types))[1], strict=True)] == json.loads(values)


@pytest.mark.parametrize(("kind", "cell", "after"), document_rows("Ends of ranges"))
def test_ends_of_ranges_are_as_documented(kind, cell, after):
    assert after_cell(parse_type(kind), bytes.fromhex(cell)) == bytes.fromhex(after)


def test_every_type_has_vectors():
    documented = {parse_type(row[0]).name.split("(")[0] for row in document_rows("Cells")}
    assert documented == {text.split("(")[0] for text in TYPE_TEXTS}


# Property 2: byte order is value order.


@all_types
@given(data=st.data())
def test_byte_order_of_cells_is_value_order_whatever_stands_behind(column_type, data):
    left, right = data.draw(texts(column_type)), data.draw(texts(column_type))
    # What stands behind a cell is a tag or a trailer, which begin below FE.
    behind = st.binary(max_size=3).filter(lambda tail: tail[:1] < b"\xfe")
    left_cell, right_cell = text_cell(column_type, left), text_cell(column_type, right)
    left_rank, right_rank = rank(column_type, left), rank(column_type, right)
    assert (left_cell == right_cell) is (left_rank == right_rank)
    if left_rank != right_rank:
        assert (left_cell + data.draw(behind) < right_cell + data.draw(behind)) is (left_rank < right_rank)


@given(st.data())
def test_byte_order_of_keys_is_the_order_of_their_values(data):
    table = data.draw(tables())
    left, right = data.draw(partition_values(table)), data.draw(partition_values(table))
    shared = data.draw(st.integers(0, len(left)))
    right = left[:shared] + right[shared:]
    left_ranks = [rank(*pair) for pair in zip(table.key_types, left, strict=True)]
    right_ranks = [rank(*pair) for pair in zip(table.key_types, right, strict=True)]
    assert (key_of(table, left) < key_of(table, right)) is (left_ranks < right_ranks)
    assert (key_of(table, left) == key_of(table, right)) is (left_ranks == right_ranks)


@all_types
@given(data=st.data())
def test_a_cell_is_no_prefix_of_another_that_could_stand_in_its_place(column_type, data):
    left, right = (text_cell(column_type, data.draw(texts(column_type))) for _ in range(2))
    tail = data.draw(st.sampled_from([TAG_NULL, TAG_VALUE, TAG_TEXT, b"\0", b"\x7f"]))
    assert left == right or not (right + tail).startswith(left + tail)


# Property 1: a filter needs no deserializing.


@all_types
@given(data=st.data())
def test_comparing_cells_is_comparing_values(column_type, data):
    text, literal = data.draw(valid_texts(column_type)), data.draw(valid_texts(column_type))
    assume("nan" not in (text.lower(), literal.lower()))
    assume(text)  # the null partition, which compares with nothing
    cell = value_part(column_type, text_cell(column_type, text))
    other = value_cell(column_type, column_type.parse(literal))
    for compare in COMPARISONS:
        assert compare(cell, other) is compare(column_type.parse(text), column_type.parse(literal))


@given(st.data())
def test_ranges_hold_exactly_the_keys_that_have_a_value_or_a_cell(data):
    table = data.draw(tables(min_columns=1))
    wanted, other = data.draw(partition_values(table)), data.draw(partition_values(table))
    depth = data.draw(st.integers(0, len(wanted) - 1))
    other = wanted[:depth] + other[depth:]
    key, other_key = key_of(table, wanted), key_of(table, other)
    columns = len(wanted)
    before = key[: cell_start(key, depth, columns)]
    cell = cell_at(key, depth, columns)
    other_cell = cell_at(other_key, depth, columns)
    stop = before + after_cell(table.key_types[depth], cell)
    assert before + cell <= key < stop
    has_value = cell in (other_cell, value_part(table.key_types[depth], other_cell))
    assert (before + cell <= other_key < stop) is has_value
    assert (before + cell <= other_key < before + cell + RESPELLED) is (other_cell == cell)


@all_types
@given(data=st.data())
def test_a_respelled_value_is_compared_as_the_value_that_is_read(column_type, data):
    """All that comparisons are: at or above the cell of a value, or at or above what follows that."""
    if column_type.width is None:
        return
    text = data.draw(respelled_texts(column_type) | valid_texts(column_type).filter(bool))
    read, value = read_value(column_type, text), column_type.parse(data.draw(valid_texts(column_type).filter(bool)))
    cell, at = text_cell(column_type, text), value_cell(column_type, value)
    assume(read == read and value == value)  # noqa: PLR0124  NaN
    assert (cell >= at) is (read >= value)
    assert (cell >= after_cell(column_type, at)) is (read > value)
    assert value_part(column_type, cell) == value_cell(column_type, read)
    assert cell_text(column_type, cell) == text
    assert is_respelled(column_type, cell) is (text != column_type.text(read))
    assert is_cell(cell, column_type)


@all_types
@given(data=st.data())
def test_a_text_that_only_engines_read_does_not_fit(column_type, data):
    assert fits(column_type, data.draw(valid_texts(column_type)))
    if column_type.width is not None:
        assert not fits(column_type, data.draw(respelled_texts(column_type)))


@all_types
@given(data=st.data())
def test_tags_bound_what_comparisons_select(column_type, data):
    text = data.draw(texts(column_type))
    cell = text_cell(column_type, text)
    assert TAG_NULL <= cell < TAG_END
    assert (TAG_NULL <= cell < TAG_VALUE) is (text in ("", NULL_PARTITION))
    assert (TAG_VALUE <= cell < TAG_TEXT) is (rank(column_type, text)[0] == 2)


@given(st.integers(-(2**63), 2**63 - 2))
@example(255)
@example(-1)
@example(2**31 - 1)
def test_the_end_of_an_integer_is_the_next_integer(number):
    bigint = parse_type("bigint")
    assert after_cell(bigint, value_cell(bigint, number)) == value_cell(bigint, number + 1)


@given(st.dates(max_value=dt.date(9999, 12, 30)))
def test_the_end_of_a_date_is_the_next_date(day):
    date = parse_type("date")
    assert after_cell(date, value_cell(date, day)) == value_cell(date, day + dt.timedelta(days=1))


def test_the_end_of_the_last_value_is_the_next_tag():
    bigint = parse_type("bigint")
    assert after_cell(bigint, value_cell(bigint, 2**63 - 1)) == TAG_TEXT


# Property 3: a value is found in O(1).


@given(st.data())
def test_a_cell_is_found_without_reading_the_others(data):
    table = data.draw(tables(min_columns=1))
    values = data.draw(partition_values(table))
    columns = len(values)
    key = key_of(table, values)
    column = data.draw(st.integers(0, columns - 1))
    start, stop = cell_start(key, column, columns), cell_start(key, column + 1, columns)
    trailer = len(key) - 2 * columns
    blank = b"\xff" * start + key[start:stop] + b"\xff" * (trailer - stop) + key[trailer:]
    assert cell_at(blank, column, columns) == text_cell(table.key_types[column], values[column])
    assert cell_start(key, columns, columns) == trailer


@given(st.data())
def test_keys_are_split_into_what_they_were_made_of(data):
    table = data.draw(tables())
    values = data.draw(partition_values(table))
    key = key_of(table, values)
    prefix, cells = split_key(key, len(values))
    if values:  # without columns the key is its prefix, and nothing says so
        assert prefix == table_prefix(table.database, table.name)
    assert cells == tuple(text_cell(*pair) for pair in zip(table.key_types, values, strict=True))
    assert all(is_cell(cell, column_type) for cell, column_type in zip(cells, table.key_types, strict=True))


@all_types
@given(data=st.data())
def test_a_cell_has_its_text(column_type, data):
    text = data.draw(texts(column_type))
    assert cell_text(column_type, text_cell(column_type, text)) == (text or NULL_PARTITION)


@pytest.mark.parametrize("kind", [text for text in TYPE_TEXTS if parse_type(text).width is not None])
@given(data=st.data())
def test_a_part_of_a_fixed_width_cell_is_no_cell(kind, data):
    column_type = parse_type(kind)
    cell = value_cell(column_type, column_type.parse(data.draw(valid_texts(column_type))))
    assert not any(is_cell(cell[:end], column_type) for end in range(len(cell)))
    assert not is_cell(cell + b"\0", column_type)


# Prefixes and their successors.


@given(st.binary(min_size=1, max_size=4), st.binary(max_size=6))
@example(b"a\xff", b"b")
@example(b"\x00\xff\xff", b"\x01")
def test_the_successor_ends_exactly_what_begins_with_the_prefix(prefix, key):
    assume(prefix.strip(b"\xff"))
    assert (prefix <= key < successor(prefix)) is key.startswith(prefix)
    assert prefix <= prefix + key < successor(prefix)


def test_the_successor_carries():
    assert successor(b"\x01\xff\xff") == b"\x02"
    assert successor(value_cell(parse_type("int"), 255)) == value_cell(parse_type("int"), 256)[:-1]


@pytest.mark.parametrize("prefix", [b"", b"\xff", b"\xff\xff"])
def test_nothing_is_above_ff(prefix):
    with pytest.raises(ValueError, match="FF"):
        successor(prefix)


@given(tables(), tables())
def test_tables_do_not_lie_among_each_other(left, right):
    one, two = table_prefix(left.database, left.name), table_prefix(right.database, right.name)
    assert one == two or not one.startswith(two)


# What cannot be a key.


def test_keys_have_a_limit():
    longest = b"\x02" + b"a" * (MAX_KEY - 4) + b"\0"
    assert len(row_key(b"", [longest])) == MAX_KEY
    with pytest.raises(InvalidPartitionValue, match="too long"):
        row_key(b"d", [longest])


def test_the_last_offset_is_below_ff():
    string = parse_type("string")
    key = row_key(b"", [text_cell(string, "a" * (MAX_KEY - 8)), TAG_NULL])
    assert key[-2] < 0xFF
    assert cell_at(key, 1, 2) == TAG_NULL


@pytest.mark.parametrize(
    "key", [b"", b"\0", b"d\0t\0\x01\x01\0\5\0\4", b"d\0t\0\x01\x01\0\4\0\x63", b"d\0t\0\x01\x01\0\4\0\4"]
)
def test_keys_with_a_wrong_trailer_are_corrupt(key):
    with pytest.raises(CorruptRow):
        split_key(key, 2)


def test_a_lone_surrogate_has_no_cell():
    for kind in ("string", "int"):
        with pytest.raises(ValueError, match="surrogate"):
            text_cell(parse_type(kind), "\ud800")
