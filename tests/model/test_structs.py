"""The bytes of databases, tables and partitions, compared with what thriftpy2 makes of our IDL."""

from __future__ import annotations

import struct
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import thriftpy2
from hypothesis import example, given
from hypothesis import strategies as st
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TType
from thriftpy2.transport.memory import TCyMemoryBuffer

import hbstore
from hbstore.errors import CorruptRow, InvalidInput, InvalidPartitionValue
from hbstore.model import layouts
from hbstore.model.objects import Column, Database, Partition, SerDe, Skew, StorageDescriptor, Table
from hbstore.model.structs import (
    PartitionEncoder,
    decode_database,
    decode_partition,
    decode_table,
    encode_database,
    encode_partition,
    encode_table,
    partition_values,
)
from hbstore.thrift.wire import skip
from tests.strategies import databases, full_partitions, full_tables, int32s, unicode_text

TABLE = Table(
    "shop",
    "sales",
    partition_columns=[Column("ds", "date"), Column("hour", "int")],
    columns=[Column("amount", "double", "in cents"), Column("tags", "array<string>")],
    location="s3://shop/sales/",
    storage=StorageDescriptor(input_format="in", output_format="out", serde=SerDe(None, "lib", {"a": "1"})),
)
PARTITION = Partition(["2013-01-01", "5"], location="s3://x", parameters={"numRows": "7"}, create_time=1)


@cache
def idl():
    return thriftpy2.load(str(Path(hbstore.__file__).with_name("hive_metastore.thrift")), "hive_metastore_thrift")


def by_thriftpy2(value) -> bytes:
    buffer = TCyMemoryBuffer()
    TCyBinaryProtocol(buffer).write_struct(value)
    return buffer.getvalue()


def thrift_fields(columns):
    return [idl().FieldSchema(column.name, column.type, column.comment) for column in columns]


def thrift_storage(storage, columns, location):
    skew = storage.skew and idl().SkewedInfo(storage.skew.columns, storage.skew.values, storage.skew.locations)
    serde = idl().SerDeInfo(storage.serde.name, storage.serde.library, storage.serde.parameters)
    return idl().StorageDescriptor(
        cols=thrift_fields(columns),
        location=location,
        inputFormat=storage.input_format,
        outputFormat=storage.output_format,
        compressed=storage.compressed,
        numBuckets=storage.num_buckets,
        serdeInfo=serde,
        bucketCols=storage.bucket_columns,
        sortCols=[idl().Order(order.column, order.order) for order in storage.sort_columns],
        parameters=storage.parameters,
        skewedInfo=skew,
        storedAsSubDirectories=storage.stored_as_sub_directories,
    )


def thrift_privileges(privileges):
    if privileges is None:
        return None

    def granted(mapping):
        return {
            who: [
                idl().PrivilegeGrantInfo(
                    grant.privilege, grant.create_time, grant.grantor, grant.grantor_type, grant.grant_option
                )
                for grant in grants
            ]
            for who, grants in mapping.items()
        }

    users, groups, roles = granted(privileges.users), granted(privileges.groups), granted(privileges.roles)
    return idl().PrincipalPrivilegeSet(users, groups, roles)


def thrift_partition(table, partition):
    storage, columns = (partition.storage, None) if partition.storage else (table.storage, table.columns)
    return idl().Partition(
        values=partition.values,
        dbName=table.database,
        tableName=table.name,
        createTime=partition.create_time,
        lastAccessTime=partition.last_access_time,
        sd=thrift_storage(storage, storage.columns if columns is None else columns, partition.location),
        parameters=partition.parameters,
        privileges=thrift_privileges(partition.privileges),
    )


def thrift_table(table):
    return idl().Table(
        tableName=table.name,
        dbName=table.database,
        owner=table.owner,
        createTime=table.create_time,
        lastAccessTime=table.last_access_time,
        retention=table.retention,
        sd=thrift_storage(table.storage, table.columns, table.location),
        partitionKeys=thrift_fields(table.partition_columns),
        parameters=table.parameters,
        viewOriginalText=table.view_original_text,
        viewExpandedText=table.view_expanded_text,
        tableType=table.table_type,
        privileges=thrift_privileges(table.privileges),
        temporary=table.temporary,
        rewriteEnabled=table.rewrite_enabled,
    )


def thrift_database(database):
    return idl().Database(
        name=database.name,
        description=database.description,
        locationUri=database.location,
        parameters=database.parameters,
        privileges=thrift_privileges(database.privileges),
        ownerName=database.owner,
        ownerType=database.owner_type,
    )


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("FieldSchema", layouts.COLUMN),
        ("Order", layouts.ORDER),
        ("SerDeInfo", layouts.SERDE),
        ("SkewedInfo", layouts.SKEW),
        ("StorageDescriptor", layouts.STORAGE),
        ("PrivilegeGrantInfo", layouts.GRANT),
        ("PrincipalPrivilegeSet", layouts.PRIVILEGES),
        ("Database", layouts.DATABASE),
        ("Table", layouts.TABLE),
        ("Partition", layouts.PARTITION),
    ],
)
def test_layouts_have_the_numbers_and_types_of_the_idl(name, layout):
    spec = getattr(idl(), name).thrift_spec
    assert {number: field[0] for number, field in spec.items()} == {
        number: kind.code for number, (_, kind) in layout.fields.items()
    }
    assert list(spec) == list(layout.fields)


@given(st.data())
def test_partitions_are_written_as_thriftpy2_writes_them_and_read_back(data):
    table = data.draw(full_tables())
    table = replace(table, location=None)
    encoder = PartitionEncoder(table)
    for partition in data.draw(st.lists(full_partitions(table), min_size=1, max_size=3)):
        payload = encoder.encode(partition)
        assert payload == by_thriftpy2(thrift_partition(table, partition)) == encode_partition(table, partition)
        inherited = replace(table.storage, columns=table.columns)
        assert decode_partition(payload) == replace(partition, storage=partition.storage or inherited)
        assert partition_values(payload) == partition.values
        assert encode_partition(table, decode_partition(payload)) == payload


@given(full_tables())
def test_tables_are_written_as_thriftpy2_writes_them_and_read_back(table):
    payload = encode_table(table)
    assert payload == by_thriftpy2(thrift_table(table))
    assert decode_table(payload) == table


@given(databases)
def test_databases_are_written_as_thriftpy2_writes_them_and_read_back(database):
    payload = encode_database(database)
    assert payload == by_thriftpy2(thrift_database(database))
    assert decode_database(payload) == database


def test_a_partition_without_a_location_lies_below_its_table():
    payload = encode_partition(TABLE, Partition(["2013-01-01", "a/b"]))
    assert decode_partition(payload).location == "s3://shop/sales/ds=2013-01-01/hour=a%2Fb"
    nowhere = encode_partition(replace(TABLE, location=None), Partition(["2013-01-01", "5"]))
    assert decode_partition(nowhere).location is None
    empty = encode_partition(TABLE, Partition(["2013-01-01", "5"], location=""))
    assert decode_partition(empty).location == ""


def test_partitions_with_and_without_storage_of_their_own_take_turns():
    own = StorageDescriptor(columns=[Column("old", "int")], input_format="orc")
    partitions = [replace(PARTITION, storage=storage) for storage in (None, own, None, own, own)]
    encoder = PartitionEncoder(TABLE)
    read = [decode_partition(encoder.encode(partition)) for partition in partitions]
    assert [partition.storage.input_format for partition in read] == ["in", "orc", "in", "orc", "orc"]
    assert read[0].storage.columns == TABLE.columns
    assert read[4].storage is read[3].storage, "the same bytes around the location are decoded once"


@pytest.mark.parametrize("values", [[], ["2013-01-01"], ["2013-01-01", "5", "6"]])
def test_the_number_of_values_is_the_number_of_partition_columns(values):
    with pytest.raises(InvalidPartitionValue, match="too many or too few"):
        encode_partition(TABLE, Partition(values))


@pytest.mark.parametrize(
    "partition",
    [
        replace(PARTITION, location="\ud800"),
        replace(PARTITION, parameters={"a": 5}),
        replace(PARTITION, parameters={"a": None}),
        replace(PARTITION, create_time=2**31),
        replace(PARTITION, last_access_time="now"),
        replace(PARTITION, storage=StorageDescriptor(input_format=b"orc")),
    ],
)
def test_fields_that_cannot_be_stored_are_refused(partition):
    with pytest.raises(InvalidInput, match="cannot be stored"):
        encode_partition(TABLE, partition)


def test_tables_and_databases_that_cannot_be_stored_are_refused():
    with pytest.raises(InvalidInput):
        encode_table(replace(TABLE, retention=2**40))
    with pytest.raises(InvalidInput):
        encode_database(Database("d", description="\udfff"))


PAYLOAD = encode_partition(TABLE, PARTITION)


@pytest.mark.parametrize("end", range(len(PAYLOAD)))
def test_bytes_that_are_cut_off_are_corrupt(end):
    with pytest.raises(CorruptRow):
        decode_partition(PAYLOAD[:end])


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\0",  # a struct without values
        PAYLOAD + b"\0",
        PAYLOAD.replace(b"2013-01-01", b"2013-01-0\xff"),
        PAYLOAD.replace(b"numRows", b"num\xc3\x28ws"),
        b"\x0f\0\x01\x0b\xff\xff\xff\xff\0",  # -1 values
        b"\x0f\0\x01\x0b\x7f\xff\xff\xff\0",  # 2 billion values
        b"\x0f\0\x01\x0b\0\0\0\x01\xff\xff\xff\xfe\0",  # a text of -2 bytes
        b"\x0f\0\x01\x08\0\0\0\x01\0\0\0\x01\0",  # values that are numbers
        b"\x01\0\x63\0",  # a type that Thrift does not have
        b"\x0c\0\x63" * 100_000,  # structs in structs without end
    ],
)
def test_bytes_that_are_no_partition_are_corrupt(payload):
    with pytest.raises(CorruptRow) as caught:
        decode_partition(payload)
    assert caught.value.fields["kind"] == "partition"
    assert caught.value.hint


def test_bytes_that_are_no_table_or_database_are_corrupt():
    with pytest.raises(CorruptRow):
        decode_table(b"\0")
    with pytest.raises(CorruptRow):
        decode_database(b"\0")
    with pytest.raises(CorruptRow):
        decode_table(encode_table(TABLE).replace(b"\x05sales", b"\x05sal s"))


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_are_corrupt(payload):
    for decode in (decode_partition, decode_table, decode_database, partition_values):
        try:
            decode(payload)
        except CorruptRow as error:
            assert str(error)  # noqa: PT017  what counts is that nothing else is raised


@given(st.data())
def test_damaged_bytes_decode_or_are_corrupt(data):
    at = data.draw(st.integers(0, len(PAYLOAD) - 1))
    damaged = PAYLOAD[:at] + bytes((data.draw(st.integers(0, 255)),)) + PAYLOAD[at + 1 :]
    with suppress(CorruptRow):
        assert partition_values(damaged) == decode_partition(damaged).values


@given(st.lists(unicode_text, max_size=5), st.booleans())
@example(["", "\0"], True)
def test_values_are_read_alone_wherever_they_stand(values, first):
    field = layouts.PARTITION.write_fields(Partition(values), (1,))
    time = b"\x08\0\x04" + struct.pack(">i", 7)
    payload = (field + time if first else time + field) + b"\0"
    assert partition_values(payload) == Partition(values).values == decode_partition(payload).values
    assert decode_partition(payload).create_time == 7


def test_fields_of_later_versions_are_kept_as_they_came():
    one, two, four = (struct.pack(">i", number) for number in (1, 2, 4))
    text = b"\x0b\0\x09" + four + b"hive"
    mapped = b"\x0d\0\x0a\x0b\x0f" + one + one + b"k\x03" + two + b"ab"
    number, wide, numbers = b"\x04\0\x01" + bytes(8), b"\x0a\0\x02" + bytes(8), b"\x0e\0\x03\x06" + one + b"ab"
    nested = b"\x0c\0\x0b" + number + wide + numbers + b"\0"
    given = PAYLOAD[:-1] + text + mapped + nested + b"\0"
    found = decode_partition(given)
    assert found == replace(decode_partition(PAYLOAD), later_fields=text + mapped + nested)
    assert encode_partition(TABLE, found) == given


def test_a_field_of_another_type_is_passed_over():
    payload = PAYLOAD[:-1] + b"\x0b\0\x08" + struct.pack(">i", 1) + b"x\0"
    assert decode_partition(payload).privileges is None


def test_skipping_stops_at_a_depth():
    with pytest.raises(ValueError, match="too deeply"):
        skip(b"\x0f\0\0\0\x01" * 100, 0, 15)


@given(int32s)
def test_numbers_keep_their_sign(number):
    assert decode_partition(encode_partition(TABLE, replace(PARTITION, create_time=number))).create_time == number


def test_a_skew_with_locations_is_read():
    skew = Skew(["a", "b"], [["1", "2"]], {("1", "2"): "s3://x"})
    payload = encode_partition(TABLE, replace(PARTITION, storage=StorageDescriptor(skew=skew)))
    assert decode_partition(payload).storage.skew == skew


def test_thrift_types_have_the_codes_that_thriftpy2_knows():
    codes = {TType.BOOL: layouts.BOOL, TType.I32: layouts.I32, TType.STRING: layouts.STRING}
    assert all(code == kind.code for code, kind in codes.items())
