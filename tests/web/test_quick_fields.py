"""Fields that are read where they stand are those of the decoder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, Partition, StorageDescriptor, Table
from hbstore.errors import CorruptRow
from hbstore.model.structs import decode_partition, encode_partition
from hbstore.web.catalog import quick_fields as module
from hbstore.web.catalog.quick_fields import quick_fields

TABLES = [
    Table("shop", "sales", [Column("ds", "string"), Column("hour", "int")], [Column("n", "int", "a\x0b\0\2\0\0\0\1x")]),
    Table("shop", "sold", [Column("ds", "string"), Column("hour", "int")], location="s3://shop"),
]
texts = st.text(max_size=5) | st.sampled_from(["s3://shop/x", "\x0b\0\2", "\x0d\0\7\x0b\x0b"])
storages = st.sampled_from([None, StorageDescriptor(), StorageDescriptor([Column("m", "int")], parameters={"a": "b"})])
partitions = st.builds(
    Partition,
    st.tuples(texts, st.integers(0, 9).map(str)),
    location=st.none() | texts,
    parameters=st.dictionaries(texts, texts, max_size=3),
    create_time=st.integers(0, 3),
    last_access_time=st.integers(-1, 2**31 - 1),
    storage=storages,
    later_fields=st.sampled_from([b"", b"\x0b\0\x63\0\0\0\1a"]),
)


def decoded(payload):
    one = decode_partition(payload)
    return one.location, dict(one.parameters), one.create_time, one.last_access_time


@given(st.lists(st.tuples(st.sampled_from(TABLES), partitions), max_size=8))
def test_any_partitions_are_read_as_the_decoder_reads_them(drawn):
    payloads = [encode_partition(table, one) for table, one in drawn]
    assert quick_fields(payloads) == [decoded(one) for one in payloads]


def test_partitions_that_are_alike_are_decoded_once(monkeypatch):
    calls = []
    monkeypatch.setattr(module, "decode_partition", lambda payload: calls.append(1) or decode_partition(payload))
    many = [
        encode_partition(TABLES[1], Partition((f"d{day}", str(day)), parameters={"numRows": str(day)}, create_time=day))
        for day in range(50)
    ]
    assert quick_fields(many) == list(map(decoded, many))
    assert len(calls) == 1


@given(st.data())
def test_bytes_that_are_cut_off_are_corrupt(data):
    whole = encode_partition(TABLES[1], Partition(("a", "1"), parameters={"numRows": "100"}))
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(CorruptRow):
        quick_fields([whole, whole[:cut]])
