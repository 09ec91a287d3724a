"""Partitions cut one after the other are the same as each cut on its own, however much they are alike."""

from __future__ import annotations

import random

import pytest

from hbstore import Column, Partition, Table
from hbstore.metastore.methods.projection import PartitionCutter, projection_of
from hbstore.metastore.protocol import THRIFT
from hbstore.model.objects import Grant, Privileges, StorageDescriptor
from hbstore.model.structs import PartitionEncoder

ROOT = "file:/w/sales"
TABLE = Table("shop", "sales", partition_columns=[Column("ds", "string"), Column("k", "string")], location=ROOT)
ENCODER = PartitionEncoder(TABLE, created=1_700_000_000)
NAMES = b"\x0b\0\2\0\0\0\4shop\x0b\0\3\0\0\0\5sales\x08\0\4"
FIELDS = (
    (),
    ("values", "sd.location"),
    ("values", "sd.location", "parameters"),
    ("values", "createTime"),
    ("lastAccessTime", "privileges", "sd.inputFormat"),
    ("parameters", "sd"),
    ("dbName",),
)
TEXTS = ("", "a", "é" * 200, "x" * 300, "2013-01-01", NAMES.decode("latin-1"), "\0\0\0\5sales")
LOCATIONS = (None, None, None, ROOT, f"{ROOT}/x", f"{ROOT}_too/x", "/else", f"{ROOT}/{'y' * 300}")
STORAGES = (
    *(None, None, None, StorageDescriptor(input_format="one"), StorageDescriptor(input_format="other")),
    *(StorageDescriptor(columns=[Column(name, "int")]) for name in "ab"),
)
PRIVILEGES = (None, None, None, Privileges(users={"ann": (Grant("SELECT"),)}))
PARAMETERS = ({}, {"a": "1"}, {"a": "1", "b": NAMES.decode("latin-1")}, {"b": "\0" * 20})
LATER = (b"", b"", b"", b"\x0b\0\x09\0\0\0\4hive")


def payloads(seed):
    """Stored partitions, of which some that follow each other are alike."""
    pick = random.Random(seed)
    return [ENCODER.encode(one) for _ in range(20) for one in some_alike(pick)]


def some_alike(pick):
    storage, privileges, later = (pick.choice(some) for some in (STORAGES, PRIVILEGES, LATER))
    return [
        Partition(
            (pick.choice(TEXTS), pick.choice(TEXTS)),
            location=pick.choice(LOCATIONS),
            storage=storage,
            parameters=pick.choice(PARAMETERS),
            privileges=privileges,
            create_time=pick.randrange(2_000_000_000),
            last_access_time=pick.randrange(3),
            later_fields=later,
        )
        for _ in range(pick.randrange(1, 6))
    ]


def cut(cutter, some):
    return [(storage, one) for storage, _, cuts in cutter.cut(some) for one in cuts]


@pytest.mark.parametrize("patterns", [(None, None), ("a%", None), (None, "a")])
@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("root", [ROOT, "file:/w/", "/", None])
def test_many_are_cut_as_each_alone(fields, patterns, root):
    projection = projection_of(THRIFT.hive_metastore.Partition, fields, *patterns)
    for seed in range(6):
        some = payloads(seed)
        alone = [cut(PartitionCutter(root, projection), [one])[0] for one in some]
        assert cut(PartitionCutter(root, projection), some) == alone


def test_the_partitions_come_with_what_is_cut_out_of_them():
    some = payloads(1)
    cutter = PartitionCutter(ROOT, projection_of(THRIFT.hive_metastore.Partition, ("values",), None, None))
    assert [one for _, taken, _ in cutter.cut(some) for one in taken] == some
    assert all(len(taken) == len(cuts) for _, taken, cuts in cutter.cut(some))


def test_those_that_are_alike_are_cut_at_once():
    """The first is learned from; the others are found to be alike."""
    some = [ENCODER.encode(Partition((f"day {at}", "x" * at), parameters={"n": str(at)})) for at in range(300)]
    for fields in FIELDS:
        cutter = PartitionCutter(ROOT, projection_of(THRIFT.hive_metastore.Partition, fields, None, None))
        assert [len(taken) for _, taken, _ in cutter.cut(some)] == [1, 299]


def test_fields_in_another_order_are_cut_as_well():
    """As no writer of hbstore leaves them; nothing is learned from such a partition."""
    payload = ENCODER.encode(Partition(("a", "b"), parameters={"n": "1"}))
    times = payload.index(b"\x08\0\4")
    odd = payload[:times] + payload[times + 7 : times + 14] + payload[times : times + 7] + payload[times + 14 :]
    for fields in FIELDS:
        projection = projection_of(THRIFT.hive_metastore.Partition, fields, None, None)
        cutter = PartitionCutter(ROOT, projection)
        if fields:
            assert cut(cutter, [odd, odd]) == cut(PartitionCutter(ROOT, projection), [payload]) * 2
        else:
            assert [len(taken) for _, taken, _ in cutter.cut([odd, odd])] == [1, 1]


def test_a_partition_without_a_time_is_cut_as_well():
    """Even where the name before it is so much longer that all behind it stands where it does in others."""
    payload = ENCODER.encode(Partition(("a", "b"), parameters={"n": "1"}))
    times = payload.index(b"\x08\0\4")
    odd = payload[:times].replace(b"\0\0\0\5sales", b"\0\0\0\x0csales_longer") + payload[times + 7 :]
    assert len(odd) == len(payload)
    projection = projection_of(THRIFT.hive_metastore.Partition, ("createTime", "lastAccessTime"), None, None)
    alone = [cut(PartitionCutter(ROOT, projection), [one])[0] for one in (payload, odd)]
    assert cut(PartitionCutter(ROOT, projection), [payload, odd]) == alone
