"""What a listing shows of a table, beside the table decoded as a whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, CorruptRow, Table
from hbstore.hiveserver2.table_heads import TableHead
from hbstore.model.structs import decode_table, encode_table
from hbstore.thrift.wire import STRING, field_head

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
TABLES = st.builds(
    Table,
    st.just("shop"),
    st.from_regex("[a-z][a-z0-9_]{0,9}", fullmatch=True),
    st.just([Column("ds", "date")]),
    st.lists(st.builds(Column, st.text("abc", min_size=1), TEXTS, TEXTS), max_size=4, unique_by=lambda one: one.name),
    parameters=st.dictionaries(TEXTS, TEXTS, max_size=3),
    table_type=st.sampled_from(["MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW"]),
)


@given(TABLES)
def test_heads_are_those_of_the_tables(table):
    stored = encode_table(table)
    head, whole = TableHead.of(stored), decode_table(stored)
    assert (head.name, head.table_type, head.parameters) == (whole.name, whole.table_type, whole.parameters)
    assert head.columns == (*whole.columns, *whole.partition_columns)


@given(TABLES, st.data())
def test_bytes_that_are_cut_off(table, data):
    stored = encode_table(table)
    with pytest.raises(CorruptRow):
        TableHead.of(stored[: data.draw(st.integers(0, len(stored) - 1))])


@pytest.mark.parametrize("stored", [b"", b"\0", field_head(STRING, 1) + STRING.write("a b!") + b"\0", b"\x0b\0\1"])
def test_bytes_that_are_no_table(stored):
    with pytest.raises(CorruptRow):
        _ = TableHead.of(stored).columns
