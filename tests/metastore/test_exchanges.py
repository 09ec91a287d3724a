"""Exchanging partitions between tables over the wire, with their folders."""

from __future__ import annotations

import time

import pytest

from hbstore import Partition
from hbstore.store.manifest import EXCHANGES, Exchange, Manifest, PartitionWrite
from tests.metastore.writing import STORED, TYPES, column, partition_of, storage, table_of


@pytest.fixture
def shop(shop):
    shop.create_database(STORED.Database(name="attic"))
    shop.create_table(table_of())
    shop.create_table(table_of("old", dbName="attic"))
    shop.add_partitions([partition_of("a", "1"), partition_of("a", "2"), partition_of("b", "1")])
    return shop


def exchange(shop, spec, target=("attic", "old")):
    return shop.exchange_partitions(spec, "shop", "sales", *target)


def test_a_partition_comes_with_its_folder(shop):
    shop.write("shop.db/sales/ds=a/hour=1/file")
    (found,) = exchange(shop, {"ds": "a", "hour": "1"})
    assert (found.dbName, found.tableName, found.values) == ("attic", "old", ["a", "1"])
    assert found.sd.location == shop.location("attic.db/old/ds=a/hour=1")
    assert found == shop.get_partition("attic", "old", ["a", "1"])
    assert shop.names() == ["ds=a/hour=2", "ds=b/hour=1"]
    assert shop.tree("attic.db/old") == ["ds=a/", "ds=a/hour=1/", "ds=a/hour=1/file"]
    assert shop.tree("shop.db/sales") == ["ds=a/", "ds=a/hour=2/", "ds=b/", "ds=b/hour=1/"]


def test_several_by_a_part_of_the_values(shop):
    found = exchange(shop, {"DS": "a", "hour": ""})
    assert [one.values for one in found] == [["a", "1"], ["a", "2"]]
    assert shop.names() == ["ds=b/hour=1"]
    assert shop.tree("shop.db/sales") == ["ds=b/", "ds=b/hour=1/"]
    assert len(exchange(shop, {})) == 1
    assert shop.names() == []
    assert shop.tree("shop.db") == ["sales/"]


def test_the_first_comes_back_alone(shop):
    found = shop.exchange_partition({"ds": "a"}, "shop", "sales", "attic", "old")
    assert found.values == ["a", "1"]
    assert shop.get_partition_names("attic", "old", -1) == ["ds=a/hour=1", "ds=a/hour=2"]


def test_a_place_of_its_own_stays(shop):
    own = shop.location("far/own")
    shop.add_partition(partition_of("c", "1", location=own))
    (found,) = exchange(shop, {"ds": "c"})
    assert found.sd.location == own
    assert shop.tree("far") == ["own/"]


def test_locations_follow_however_they_are_spelt(shop):
    part = Partition(("c", "1"), location=f"file://{shop.root}/shop.db/sales/odd")
    shop.store.add_partitions("shop", "sales", [part])
    shop.write("shop.db/sales/odd/file")
    (found,) = exchange(shop, {"ds": "c"})
    assert found.sd.location == shop.location("attic.db/old/odd")
    assert shop.tree("attic.db/old") == ["odd/", "odd/file"]


def test_what_is_there_already_stays_and_nothing_moves(shop):
    shop.add_partition(partition_of("a", "2", dbName="attic", table="old"))
    shop.write("attic.db/old/ds=a/hour=2/file")
    with pytest.raises((TYPES.InvalidObjectException, TYPES.MetaException)):
        exchange(shop, {"ds": "a"})
    assert shop.names() == ["ds=a/hour=1", "ds=a/hour=2", "ds=b/hour=1"]
    assert shop.get_partition_names("attic", "old", -1) == ["ds=a/hour=2"]
    assert shop.tree("shop.db/sales") == ["ds=a/", "ds=a/hour=1/", "ds=a/hour=2/", "ds=b/", "ds=b/hour=1/"]
    assert shop.tree("attic.db/old/ds=a") == ["hour=2/", "hour=2/file"]


@pytest.mark.parametrize(
    "target",
    [
        table_of("other", partitionKeys=[column("ds")]),
        table_of("other", partitionKeys=[column("ds"), column("minute", "int")]),
        table_of("other", partitionKeys=[column("ds"), column("hour", "string")]),
        table_of("other", sd=storage(cols=[column("amount", "int")])),
    ],
)
def test_tables_have_the_same_columns(shop, target):
    shop.create_table(target)
    with pytest.raises(TYPES.MetaException, match="different schemas"):
        exchange(shop, {"ds": "a"}, ("shop", "other"))
    assert len(shop.names()) == 3


def test_what_is_not_there(shop):
    with pytest.raises(TYPES.MetaException, match="No partition is found"):
        exchange(shop, {"ds": "z"})
    with pytest.raises(TYPES.MetaException, match=r"destination table shop\.nothing not found"):
        exchange(shop, {"ds": "a"}, ("shop", "nothing"))
    with pytest.raises(TYPES.MetaException, match=r"source table nothing\.sales not found"):
        shop.exchange_partitions({"ds": "a"}, "nothing", "sales", "attic", "old")
    with pytest.raises(
        (TYPES.InvalidObjectException, TYPES.MetaException), match="the column is not a partition column"
    ):
        exchange(shop, {"minute": "5"})
    with pytest.raises((TYPES.InvalidObjectException, TYPES.MetaException)):
        exchange(shop, {"ds": "a"}, ("shop", "sales"))
    assert len(shop.names()) == 3


def test_a_table_is_not_dropped_while_folders_of_exchanged_partitions_are_in_its_folder(shop):
    """They are another table's already; here whoever moves them is slow."""
    shop.write("shop.db/sales/ds=a/hour=1/file")
    write = PartitionWrite(("a", "1"), shop.location("shop.db/sales/ds=a/hour=1"))
    under_way = Exchange(("shop", "sales"), ("attic", "old"), shop.location("shop.db/sales"), shop.location("attic.db"))
    manifest = Manifest(f"{EXCHANGES}1", "", (write,), exchange=under_way)
    publications = shop.store.publications
    for name in (("attic", "old"), ("shop", "sales")):
        row = publications.row(*name)
        publications.lease(row, manifest.id, {b"key": "ds=a/hour=1"}, manifest.encode(), time.time() + 60)
    for drop in (lambda: shop.drop_table("shop", "sales", True), lambda: shop.drop_database("shop", True, True)):
        with pytest.raises(TYPES.MetaException, match="not all moved yet"):
            drop()
    assert shop.names() == ["ds=a/hour=1", "ds=a/hour=2", "ds=b/hour=1"]
    assert "ds=a/hour=1/file" in shop.tree("shop.db/sales")
    for name in (("attic", "old"), ("shop", "sales")):
        publications.close(publications.row(*name), manifest.id)
    shop.drop_table("shop", "sales", True)
    assert shop.tree("shop.db") == []
