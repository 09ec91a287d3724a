"""A table of 100,000 partitions: its reply is whole, and costs the server a bounded part of it in memory."""

from __future__ import annotations

import tracemalloc
from contextlib import closing

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.metastore.replies import CHUNK, IN_MEMORY
from hbstore.servers.memory import weight
from hbstore.thrift.walker import Walker
from tests.metastore.asking import Asking
from tests.metastore.client import message

pytestmark = pytest.mark.slow
DAYS, HOURS, REGIONS = range(250), range(16), range(25)
NAMES = [f"day={day}/hour={hour}/region=r{region}" for day in DAYS for hour in HOURS for region in REGIONS]


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """250 days, 16 hours, 25 regions; about 800 bytes each."""
    with connect(f"sqlite://{tmp_path_factory.mktemp('big')}/store.db") as store:
        columns = [Column("day", "int"), Column("hour", "int"), Column("region", "string")]
        data = [Column(f"amount_{number}", "double") for number in range(16)]
        store.create_database("shop")
        store.create_table(
            Table("shop", "sales", partition_columns=columns, columns=data, location="s3://bucket/warehouse/shop/sales")
        )
        for day in DAYS:
            parts = [
                Partition((str(day), str(hour), f"r{region}"), parameters={"numRows": "100000"})
                for hour in HOURS
                for region in REGIONS
            ]
            store.add_partitions("shop", "sales", parts)
        yield store


def test_the_reply_is_whole(big):
    data = Asking(big).raw("get_partitions", "shop", "sales", -1)
    found = big.get_partitions_by_filter("shop", "sales", None)
    assert len(found) == len(DAYS) * len(HOURS) * len(REGIONS)
    begin = data.index(b"\x0f\x00\x00\x0c") + 8
    assert data[begin:-1] == b"".join(one.payload for one in found)
    assert len(data) > 2 * IN_MEMORY  # most of it went through a file


def test_a_reply_takes_a_part_of_its_size_in_memory_and_gives_it_back(big):
    peak, left, _ = memory_of(Asking(big), message("get_partitions", "shop", "sales", -1))
    assert peak < IN_MEMORY + 16 * CHUNK
    assert left < CHUNK


def test_a_reply_by_names_takes_what_the_names_take_beside(big):
    call = message("get_partitions_by_names", "shop", "sales", NAMES)
    peak, left, elements = memory_of(Asking(big), call)
    assert elements == len(NAMES)
    assert peak < IN_MEMORY + 16 * CHUNK + weight(len(call), elements)
    assert left < CHUNK


def memory_of(asking, call):
    """The most bytes that a call takes until its reply is written, those that are left, and the call's elements."""
    asking.get_partition("shop", "sales", ["0", "0", "r0"])  # what is kept for good is there before
    walker = Walker()
    assert walker.walk(call)
    tracemalloc.start()
    try:
        with closing(asking.endpoint.answer(asking.session, call)) as reply:
            written = sum(map(len, reply.chunks()))
            assert written == reply.size > 2 * IN_MEMORY
            _, peak = tracemalloc.get_traced_memory()
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak, left, walker.elements


def test_names_are_all_there(big):
    assert Asking(big).get_partition_names("shop", "sales", -1) == sorted(NAMES)
