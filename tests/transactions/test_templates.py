"""Packed rows: what is read is what was written, to the byte, whatever that is."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, CorruptRow, Partition, Table
from hbstore.model.structs import VALUES_START, encode_partition
from hbstore.transactions.templates import LARGEST, MOST, NO_TEMPLATES, Templates
from tests.strategies import full_partitions, full_tables


def packed_one_by_one(payloads):
    templates, rows = NO_TEMPLATES, []
    for payload in payloads:
        templates, row = templates.pack(payload)
        rows.append(row)
    return Templates.of(templates.encode()), rows  # as another process reads them


@given(st.data(), full_tables(min_columns=1))
def test_any_partitions_of_a_table(data, table):
    payloads = [encode_partition(table, one) for one in data.draw(st.lists(full_partitions(table), max_size=12))]
    templates, rows = packed_one_by_one(payloads)
    assert list(map(templates.unpacked, rows)) == payloads
    assert all(len(row) <= len(payload) for row, payload in zip(rows, payloads, strict=True))
    assert len(templates.texts) <= MOST


@given(st.lists(st.binary(max_size=60) | st.binary(max_size=60).map(lambda text: VALUES_START + text + b"\0")))
def test_any_bytes(payloads):
    """Damaged rows stay what they are, so that `hbstore check` names them."""
    templates, rows = packed_one_by_one(payloads)
    assert list(map(templates.unpacked, rows)) == payloads


def table_of(columns):
    return Table("shop", "sales", columns=columns, partition_columns=[Column("ds", "date")], location="s3://shop/sales")


@pytest.mark.parametrize("width", [1, 10, 100, 2_000])
def test_a_partition_like_another_takes_little_more_than_its_values(width):
    table = table_of([Column(f"amount_{at}", "double") for at in range(width)])
    payloads = [
        encode_partition(table, Partition([f"2013-01-{day:02d}"], parameters={"numRows": str(day * 977)}))
        for day in range(1, 29)
    ]
    templates, rows = packed_one_by_one(payloads)
    assert len(templates.texts) == 1
    within_reach = len(payloads[0]) < LARGEST
    assert max(map(len, rows[1:])) < 90 + (0 if within_reach else len(payloads[0]) // 8)
    assert list(map(templates.unpacked, rows)) == payloads


def test_a_table_keeps_few_templates_and_what_is_like_none_comes_back():
    names = [[sha256(b"%d %d" % (at, name)).hexdigest() for name in range(60)] for at in range(12)]
    shapes = [table_of([Column(name, "double") for name in some]) for some in names]
    payloads = [encode_partition(shape, Partition([f"2013-01-0{day}"])) for day in (1, 2) for shape in shapes]
    templates, rows = packed_one_by_one(payloads)
    assert 1 < len(templates.texts) <= MOST
    assert sum(map(len, templates.texts.values())) <= LARGEST
    assert list(map(templates.unpacked, rows)) == payloads


def test_a_damaged_row_is_given_as_it_is():
    payload = encode_partition(table_of([]), Partition(["2013-01-01"]))
    templates, row = NO_TEMPLATES.pack(payload)
    for damaged in (row[:-6] + row[-1:], row[:20] + b"\xff\xff\xff\xff" + row[24:], row[:28] + b"\xff" * 9 + row[-1:]):
        assert templates.unpacked(damaged) != payload
    assert NO_TEMPLATES.unpacked(row) == row


def test_a_damaged_cell_is_named():
    templates, _ = NO_TEMPLATES.pack(encode_partition(table_of([]), Partition(["2013-01-01"])))
    with pytest.raises(CorruptRow, match="the templates of a table"):
        Templates.of(templates.encode()[:-1])


def test_a_template_of_an_earlier_epoch_has_another_number_though_it_is_the_same_text():
    """A row of the later one, with columns of its own, must not get those of the change between them."""
    payload = encode_partition(table_of([]), Partition(["2013-01-01"]))
    first, _ = NO_TEMPLATES.pack(payload)
    later, row = first.in_epoch(first.epochs.with_columns(())).pack(payload)
    assert list(later.texts.values()) == 2 * list(first.texts.values())
    assert (later.epoch_of(row), first.epoch_of(row)) == (1, None)
    assert Templates.of(later.encode()) == later
