"""Partitions of stored bytes: decoded when a field is read, and otherwise like made ones."""

from __future__ import annotations

import copy
import pickle
import threading
from dataclasses import replace

import pytest

from hbstore.errors import CorruptRow
from hbstore.model import structs
from hbstore.model.objects import Column, Partition, Table
from hbstore.model.structs import decode_partition, encode_partition, partition_from_payload, partitions_from_payloads

TABLE = Table(
    "shop",
    "sales",
    partition_columns=[Column("ds", "date"), Column("hour", "int")],
    columns=[Column("amount", "double", "in cents"), Column("tags", "array<string>")],
)
PAYLOAD = encode_partition(
    TABLE, Partition(["2013-01-01", "5"], location="s3://x", parameters={"numRows": "7"}, create_time=1)
)


def lazy() -> Partition:
    return partition_from_payload(PAYLOAD)


FULL = decode_partition(PAYLOAD)


def test_a_stored_partition_is_decoded_when_a_field_is_read(monkeypatch):
    calls = []
    original = structs.decoded
    monkeypatch.setattr(structs, "decoded", lambda *args: calls.append(1) or original(*args))
    partition = lazy()
    assert isinstance(partition, Partition)
    assert partition.payload == PAYLOAD
    assert partition.values == ("2013-01-01", "5")
    assert not calls, "values are read without the rest"
    assert (partition.location, partition.create_time, dict(partition.parameters)) == ("s3://x", 1, {"numRows": "7"})
    assert partition.storage.columns == TABLE.columns
    assert len(calls) == 1
    assert partition.payload == PAYLOAD


@pytest.mark.parametrize("reads", [(), ("values",), ("location",)])
def test_stored_partitions_behave_as_made_ones(reads):
    def stored() -> Partition:
        partition = lazy()
        for name in reads:
            getattr(partition, name)
        return partition

    assert stored() == FULL
    assert FULL == stored()  # noqa: SIM300  the other way round is another method
    assert stored() == stored()
    assert stored() != replace(FULL, location="s3://y")
    assert stored() != "something else"
    assert hash(stored()) == hash(FULL)
    assert repr(stored()) == repr(FULL)
    assert replace(stored(), location="s3://y") == replace(FULL, location="s3://y")
    altered = replace(stored(), location="s3://y")
    assert altered.payload is None
    assert pickle.loads(pickle.dumps(altered)) == copy.copy(altered) == altered  # noqa: S301
    for copied in (copy.copy(stored()), copy.deepcopy(stored()), pickle.loads(pickle.dumps(stored()))):  # noqa: S301
        assert copied == FULL
        assert copied.payload == PAYLOAD


def test_a_stored_partition_has_no_other_attributes():
    partition = lazy()
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = partition.nothing_such
    with pytest.raises(AttributeError):
        partition.location = "s3://y"


def test_a_corrupt_stored_partition_is_found_when_it_is_read():
    partition = partition_from_payload(PAYLOAD[:-1])
    assert partition.values == ("2013-01-01", "5")
    with pytest.raises(CorruptRow):
        _ = partition.location
    with pytest.raises(CorruptRow):
        assert partition == FULL


def test_many_payloads_become_partitions_in_their_order():
    payloads = [encode_partition(TABLE, Partition(["2013-01-01", str(hour)])) for hour in range(100)]
    partitions = partitions_from_payloads(iter(payloads))
    assert [partition.values[1] for partition in partitions] == [str(hour) for hour in range(100)]
    assert partitions == [decode_partition(payload) for payload in payloads]
    assert partitions_from_payloads([]) == []


def test_threads_may_read_one_stored_partition_at_once():
    for _ in range(200):
        partition = lazy()
        found = []
        barrier = threading.Barrier(4)

        def read(partition=partition, found=found, barrier=barrier):
            barrier.wait()
            found.append((partition.location, partition.values, partition.create_time))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [("s3://x", ("2013-01-01", "5"), 1)] * 4
