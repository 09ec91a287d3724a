"""Fields that the metastore's structs have since later versions are kept as they came, whatever is done with them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, Database, Partition, Table, connect
from hbstore.errors import InvalidInput
from hbstore.model.objects import SerDe, StorageDescriptor
from hbstore.model.service_objects import Function
from hbstore.model.service_structs import decode_function, encode_function
from hbstore.model.structs import (
    decode_database,
    decode_partition,
    decode_table,
    encode_database,
    encode_partition,
    encode_table,
    partition_from_payload,
)
from hbstore.thrift.wire import BOOL, I64, STRING, field_head
from tests.strategies import databases, full_partitions, full_tables, unicode_text


def field(number, kind, value):
    return field_head(kind, number) + kind.write(value)


WRITE_ID = field(19, I64, 7)
later_fields = st.lists(
    st.builds(field, st.integers(17, 2**16 - 1), st.just(I64), st.integers(-(2**63), 2**63 - 1))
    | st.builds(field, st.integers(17, 2**16 - 1), st.just(STRING), unicode_text)
    | st.builds(field, st.integers(17, 2**16 - 1), st.just(BOOL), st.booleans()),
    max_size=3,
).map(b"".join)


def described(draw, storage):
    """A storage with later fields in it and in its serde."""
    serde = replace(storage.serde, later_fields=draw(later_fields))
    return replace(storage, serde=serde, later_fields=draw(later_fields))


@given(st.data())
def test_all_structs_are_written_and_read_with_them(data):
    draw = data.draw
    table = draw(full_tables())
    table = replace(table, storage=described(draw, table.storage), later_fields=draw(later_fields))
    assert decode_table(encode_table(table)) == table
    partition = draw(full_partitions(replace(table, location=None)))
    partition = replace(
        partition, storage=described(draw, partition.storage or StorageDescriptor()), later_fields=draw(later_fields)
    )
    payload = encode_partition(replace(table, location=None), partition)
    assert decode_partition(payload) == partition == partition_from_payload(payload)
    assert encode_partition(table, decode_partition(payload)) == payload or partition.location is None
    database = replace(draw(databases), later_fields=draw(later_fields))
    assert decode_database(encode_database(database)) == database
    function = Function("shop", "tax", later_fields=draw(later_fields))
    assert decode_function(encode_function(function)) == function


@given(full_tables(), later_fields)
def test_they_stand_behind_all_others(table, later):
    plain, full = (encode_table(replace(table, later_fields=some)) for some in (b"", later))
    assert full == plain[:-1] + later + b"\0"


def test_those_that_inherit_a_storage_get_its_later_fields():
    storage = StorageDescriptor(serde=SerDe("a", later_fields=WRITE_ID), later_fields=WRITE_ID)
    table = Table("shop", "sales", [Column("ds", "date")], storage=storage)
    found = decode_partition(encode_partition(table, Partition(["2013-01-01"])))
    assert found.storage == storage
    assert decode_table(encode_table(table)).storage == storage


def test_a_known_field_of_another_type_is_passed_over():
    """It must not come out beside the one that is written."""
    strange = encode_table(Table("shop", "sales"))[:-1] + field(3, I64, 5) + WRITE_ID + b"\0"
    assert decode_table(strange) == Table("shop", "sales", later_fields=WRITE_ID)


@pytest.mark.parametrize(
    "wrong",
    [
        b"\0",
        WRITE_ID[:-1],
        WRITE_ID + b"\x0b",
        b"\x63" + WRITE_ID[1:],
        field(1, STRING, "name"),
        field(19, STRING, "cut off")[:-3],
        "text",
        {19: 7},
    ],
)
def test_what_is_no_field_is_refused(wrong):
    for write in (
        lambda: encode_table(Table("shop", "sales", later_fields=wrong)),
        lambda: encode_table(Table("shop", "sales", storage=StorageDescriptor(later_fields=wrong))),
        lambda: encode_partition(Table("shop", "sales", [Column("ds", "date")]), Partition(["x"], later_fields=wrong)),
        lambda: encode_database(Database("shop", later_fields=wrong)),
        lambda: encode_function(Function("shop", "tax", later_fields=wrong)),
    ):
        with pytest.raises(InvalidInput, match="cannot be stored"):
            write()


@pytest.mark.parametrize("url", ["memory://", "sqlite://{tmp}/store.db"])
def test_changes_keep_them(url, tmp_path):
    with connect(url.format(tmp=tmp_path)) as store:
        store.create_database(Database("shop", later_fields=WRITE_ID))
        storage = StorageDescriptor(serde=SerDe(later_fields=WRITE_ID))
        table = Table("shop", "sales", [Column("ds", "date")], location="/sales", storage=storage)
        store.create_table(replace(table, later_fields=WRITE_ID))
        store.add_partitions("shop", "sales", [Partition(["2013-01-01"], later_fields=WRITE_ID)])
        store.rename_partition("shop", "sales", ("2013-01-01",), ("2013-01-02",))
        store.rename_table("shop", "sales", replace(store.get_table("shop", "sales"), name="sold"))
        changed = replace(store.get_table("shop", "sold"), columns=[Column("amount", "double")])
        store.alter_table(changed, cascade=True)
        found = store.get_partition("shop", "sold", ("2013-01-02",))
        assert (found.later_fields, found.storage.serde.later_fields) == (WRITE_ID, WRITE_ID)
        assert found.storage.columns == changed.columns
        assert store.get_table("shop", "sold").later_fields == WRITE_ID
        assert store.get_database("shop").later_fields == WRITE_ID
        assert not any(store.check("shop", "sold"))
