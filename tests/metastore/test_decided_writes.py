"""A write that is decided is in every answer, and its files are shown before a client learns where they are."""

from __future__ import annotations

import pytest

from hbstore import connect
from hbstore.publishing import Publisher
from tests.metastore.writing import STORED, TYPES, Writing
from tests.publishing.jobs import AFTER, job, prepare, seen

NAMES = ["ds=a", "ds=b", "ds=d"]
READS = {
    "get_table": lambda client: client.get_table("shop", "sales"),
    "get_partition": lambda client: client.get_partition("shop", "sales", ["d"]),
    "get_partition_by_name": lambda client: client.get_partition_by_name("shop", "sales", "ds=d"),
    "get_partitions": lambda client: client.get_partitions("shop", "sales", -1),
    "get_partitions_ps": lambda client: client.get_partitions_ps("shop", "sales", [""], -1),
    "get_partitions_by_names": lambda client: client.get_partitions_by_names("shop", "sales", [*NAMES, "ds=c"]),
    "get_partitions_by_filter": lambda client: client.get_partitions_by_filter("shop", "sales", 'ds >= "a"', -1),
    "get_partitions_pspec": lambda client: client.get_partitions_pspec("shop", "sales", -1),
    "get_partition_names": lambda client: client.get_partition_names("shop", "sales", -1),
    "get_partition_names_ps": lambda client: client.get_partition_names_ps("shop", "sales", [""], -1),
    "get_num_partitions_by_filter": lambda client: client.get_num_partitions_by_filter("shop", "sales", 'ds >= "a"'),
    "get_partition_values": lambda client: client.get_partition_values(
        TYPES.PartitionValuesRequest("shop", "sales", [STORED.FieldSchema("ds", "string")])
    ),
}


@pytest.fixture
def root(tmp_path):
    return tmp_path / "warehouse" / "sales"


@pytest.fixture
def client(root, tmp_path, monkeypatch):
    """A client of a server over a table with a write that is decided, and that nobody has shown."""
    with connect(f"sqlite://{tmp_path}/store.db") as store:
        prepare(store, root)
        with monkeypatch.context() as patch:
            patch.setattr(Publisher, "_show", lambda *_: None)
            Publisher(store).publish("shop.sales", *job(root))
        yield Writing(store, root.parent)


def names(found):
    """The partitions of an answer, where it holds some."""
    found = [found] if isinstance(found, STORED.Partition) else found
    if isinstance(found, list) and isinstance(found[0], TYPES.PartitionSpec):
        found = found[0].partitionList.partitions
    if isinstance(found, list) and found and isinstance(found[0], STORED.Partition):
        return [f"ds={one.values[0]}" for one in found]
    return found


@pytest.mark.parametrize("method", READS)
def test_whatever_is_asked_first(client, root, method, monkeypatch):
    answer = names(READS[method](client))
    assert not list((root / "_hbstore").glob("*/data/*/*"))
    monkeypatch.setattr(Publisher, "_recover", lambda *_, **__: (0, {}))  # what is seen now is what is there
    assert seen(client.store, root) == AFTER
    if isinstance(answer, list):
        assert answer in (NAMES, ["ds=d"])


def test_a_server_that_may_change_nothing_answers_all_the_same(client, root):
    server = Writing(client.store, root.parent, read_only=True)
    assert names(server.get_partitions_by_filter("shop", "sales", 'ds >= "a"', -1)) == NAMES
    assert not (root / "ds=d/part-0-job1").exists()
