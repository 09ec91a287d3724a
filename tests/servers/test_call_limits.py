"""Calls that take too long, and those whose client is gone: they end, and leave what was there before."""

from __future__ import annotations

import socket
import threading

import pytest
from thriftpy2.thrift import TApplicationException

from hbstore import Partition, Table, connect
from hbstore.errors import CallAbandoned, InvalidInput
from hbstore.metastore.calls import Handlers
from hbstore.model.objects import Column
from hbstore.servers.call_limits import call_limit, check_wanted
from hbstore.servers.limits import ServerLimits
from hbstore.warehouse.name_patterns import MAX_PATTERN, NamePattern
from tests.metastore.client import HOST, SECONDS, TYPES, client, message
from tests.metastore.serving import in_process


class Working:
    """A handler of getVersion that works until nobody waits for it."""

    def __init__(self):
        self.begun, self.ended = threading.Event(), threading.Event()
        self.handlers = Handlers()
        self.handlers.answers("getVersion")(self.work)
        self.handlers.answers("getName")(lambda _: "hbstore")

    def work(self, _):
        self.begun.set()
        try:
            while True:
                check_wanted()
        finally:
            self.ended.set()


def test_a_call_ends_when_its_client_has_gone():
    working = Working()
    with in_process(working.handlers, limits=ServerLimits(gone_after=0.0)) as server:
        with socket.create_connection((HOST, server.port), SECONDS) as sock:
            sock.sendall(message("getVersion"))
            assert working.begun.wait(SECONDS)
            assert not working.ended.is_set()
        assert working.ended.wait(SECONDS)
        with client(server.port) as metastore:
            assert metastore.getName() == "hbstore"


def test_a_call_that_takes_too_long_is_answered_by_an_error():
    working = Working()
    with (
        in_process(working.handlers, limits=ServerLimits(call_seconds=0.1)) as server,
        client(server.port) as metastore,
    ):
        with pytest.raises((TApplicationException, TYPES.MetaException), match="longer than the server lets it"):
            metastore.getVersion()
        assert metastore.getName() == "hbstore"


@pytest.fixture
def sales(tmp_path):
    with connect(f"sqlite://{tmp_path}/store.db", create=True) as store:
        store.create_database("shop")
        store.create_table(Table("shop", "sales", partition_columns=[Column("ds", "string"), Column("hour", "int")]))
        store.add_partitions("shop", "sales", [Partition(("2013-01-01", "5"))])
        yield store


@pytest.mark.parametrize(
    "work",
    [
        lambda store: store.add_partitions("shop", "sales", [Partition(("2013-01-01", "6"))]),
        lambda store: store.get_partitions_by_filter("shop", "sales", ""),
        lambda store: store.get_partitions_by_filter("shop", "sales", "hour = 5 or hour = 77 and ds like '%a%'"),
        lambda store: store.alter_partitions("shop", "sales", [Partition(("2013-01-01", "5"), parameters={"a": "b"})]),
        lambda store: store.drop_partitions("shop", "sales", [("2013-01-01", "5")]),
        lambda store: store.get_table("shop", "sales"),
        lambda store: list(filter(NamePattern.of_hive("s*").matches, store.database_names())),
    ],
)
def test_the_works_of_a_store_ask_whether_somebody_waits(work, sales):
    before = sales.get_partitions_by_filter("shop", "sales", "")
    here, there = socket.socketpair()
    with here, there, call_limit(here, 0.0, 0.0), pytest.raises(CallAbandoned):
        work(sales)
    assert sales.get_partitions_by_filter("shop", "sales", "") == before


def test_a_pattern_of_names_has_a_length_that_is_soon_compared():
    assert NamePattern.of_hive("|".join(["sales"] * 10_000)).matches("sales")
    with pytest.raises(InvalidInput, match="the pattern of names is too long"):
        NamePattern.of_hive("a" * (MAX_PATTERN + 1))
