"""Replies beyond the 100 MiB that Hive's Java client has as its limit: what docs/metastore.md says of them is so."""

from __future__ import annotations

from contextlib import closing

import pytest
from py4j.protocol import Py4JJavaError

from hbstore import Column, Partition, Table, connect
from tests.metastore.serving import Serve
from tests.pauses import until

pytestmark = [pytest.mark.spark, pytest.mark.slow]
LIMIT = 100 * 1024 * 1024
NUMBER = 12_000
TEXT = "x" * 10_000


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with a table whose listing is larger than the limit."""
    folder = tmp_path_factory.mktemp("large")
    with connect(f"sqlite://{folder}/store.db") as store:
        store.create_database("shop")
        store.create_table(Table("shop", "sales", partition_columns=[Column("n", "int")], location="/sales"))
        parts = [Partition([str(n)], parameters={"text": TEXT}) for n in range(NUMBER)]
        store.add_partitions("shop", "sales", parts)
    with Serve(f"sqlite://{folder}/store.db", folder, "--log-calls") as made:
        yield made


def test_hives_client_reads_them_over_a_plain_socket(java, server):
    with closing(java.client(server.ready["uri"])) as client:
        found = client.listPartitions("shop", "sales", -1)
        assert found.size() == NUMBER
        assert found.get(NUMBER - 1).getParameters().get("text") == TEXT
    (listed,) = until(lambda: [line for line in server.log("call") if line["method"] == "get_partitions"])
    assert listed["bytes"] > LIMIT


@pytest.mark.parametrize(("number", "fits"), [(1000, True), (2000, False)])
def test_in_frames_it_reads_only_smaller_ones(java, server, number, fits):
    framed = [("hive.metastore.thrift.framed.transport.enabled", "true")]
    with closing(java.client(server.ready["uri"], framed)) as client:
        if fits:
            assert client.listPartitions("shop", "sales", number).size() == number
            return
        with pytest.raises(Py4JJavaError, match="larger than"):
            client.listPartitions("shop", "sales", number)
