"""Which of two methods is called, where a metastore has only one of them."""

from __future__ import annotations

from contextlib import closing

import pytest

from hbstore import Column, Table
from hbstore.errors import MetastoreRefused
from hbstore.model.structs import encode_table
from hbstore.thrift.messages import read_head
from hbstore.thrift.wire import STRING, field_head
from hbstore.transfer.metastore import Metastore
from tests.metastore.wire_trees import I32, STRUCT, result, strings
from tests.transfer.answering import EXCEPTION, answering, reply

TABLE = Table("shop", "sales", [Column("ds", "date")], [Column("amount", "double")], create_time=5)
UNKNOWN = {1: (11, "Invalid method name"), 2: (I32, 1)}


class Strange:
    """A server that knows only some methods.

    Attributes:
        known: the bytes of results by method.
        asked: the names and the arguments of all calls.
        metastore: what asks it.
    """

    def __init__(self):
        self.known = {}
        self.asked = []
        self.metastore = None

    def answer(self, peer):
        while message := peer.recv(1 << 16):
            name = read_head(message).name
            self.asked.append((name, result(name, message)))
            known = self.known.get(name)
            peer.sendall(reply(name, UNKNOWN, EXCEPTION) if known is None else reply(name, known))


@pytest.fixture
def strange():
    found = Strange()
    with answering(found.answer) as address, closing(Metastore(address)) as found.metastore:
        yield found


def inner(value):
    """A result that is a struct whose first field is a struct."""
    return b"\x0c\0\0" + b"\x0c\0\1" + value + b"\0\0"


def test_of_hive_4(strange):
    strange.known = {"get_table_req": inner(encode_table(TABLE)), "create_table_req": b"\0", "alter_table_req": b"\0"}
    assert strange.metastore.table("shop", "sales") == TABLE
    strange.metastore.create_table(TABLE)
    strange.metastore.alter_table(TABLE)
    assert [name for name, _ in strange.asked] == ["get_table", "get_table_req", "create_table_req", "alter_table_req"]
    _, request = strange.asked[1][1][1]
    assert (request[1], request[2], request[8]) == ((11, "shop"), (11, "sales"), strings("MANAGERAWMETADATA"))
    assert strange.asked[2][1][1][1][9] == strings("MANAGERAWMETADATA")


def test_of_hive_2(strange):
    strange.known = {"get_table": b"\x0c\0\0" + encode_table(TABLE) + b"\0", "create_table": b"\0"}
    assert strange.metastore.table("shop", "sales") == TABLE
    strange.metastore.create_table(TABLE)
    assert [name for name, _ in strange.asked] == ["get_table", "get_table", "create_table"]
    assert strange.asked[2][1][1][0] == STRUCT


def test_the_other_one_where_there_is_only_that(strange):
    names = b"\x0f\0\0\x0c\0\0\0\0\0"
    strange.known = {"get_partitions_by_names": names}
    assert strange.metastore.partitions("shop", "sales", ["ds=1"]) == ()
    assert [name for name, _ in strange.asked] == [
        "get_table",
        "get_partitions_by_names_req",
        "get_partitions_by_names",
    ]


def test_what_is_not_there_at_all(strange):
    assert strange.metastore.functions() == []
    assert strange.metastore.table_statistics(TABLE) == []
    assert strange.metastore.partition_statistics(TABLE, ["ds=1"]) == {}
    with pytest.raises(MetastoreRefused, match="Invalid method name"):
        strange.metastore.table("shop", "sales")
    with pytest.raises(MetastoreRefused, match="get_partition_names"):
        strange.metastore.partition_names("shop", "sales")


def test_a_refusal_is_not_taken_for_an_unknown_method(strange):
    strange.known = {"get_all_functions": b"\x0c\0\1" + field_head(STRING, 1) + STRING.write("no") + b"\0\0"}
    with pytest.raises(MetastoreRefused, match="message=no"):
        strange.metastore.functions()
