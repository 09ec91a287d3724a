"""Files are deleted and moved below the warehouse and the roots that the server's user named, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbstore import Partition
from tests.metastore.writing import (
    STORED,
    TYPES,
    Writing,
    column,
    external,
    partition_of,
    says,
    storage,
    table_of,
)

ON_BACKENDS = ("memory", "nonatomic")
"""Where files may be, no backend has a say in, but some calls go other ways without transactions."""


@pytest.fixture
def home(tmp_path):
    """A folder outside the warehouse."""
    return tmp_path / "home"


def filled(shop, location):
    """The managed table shop.sales at a location, with a partition and a file in it."""
    shop.create_table(table_of(sd=storage(location=str(location))))
    shop.add_partition(partition_of("a", "1"))
    part = shop.partition("a", "1").sd.location.removeprefix("file:")
    Path(part, "file").write_text("precious")
    return part


def rename_partition(shop):
    new = shop.partition("a", "1")
    new.values = ["b", "1"]
    shop.rename_partition("shop", "sales", ["a", "1"], new)


def exchange(shop):
    shop.create_table(table_of("other"))
    shop.exchange_partition({"ds": "a", "hour": "1"}, "shop", "sales", "shop", "other")


def by_request(shop):
    parts = TYPES.RequestPartsSpec(names=["ds=a/hour=1"])
    shop.drop_partitions_req(TYPES.DropPartitionsRequest("shop", "sales", parts, deleteData=True))


CHANGES = {
    "drop_table": lambda shop: shop.drop_table("shop", "sales", True),
    "drop_table, purged": lambda shop: shop.drop_table_with_environment_context(
        "shop", "sales", True, says(ifPurge="TRUE")
    ),
    "drop_database": lambda shop: shop.drop_database("shop", True, True),
    "drop_partition": lambda shop: shop.drop_partition("shop", "sales", ["a", "1"], True),
    "drop_partitions_req": by_request,
    "truncate_table": lambda shop: shop.truncate_table("shop", "sales", None),
    "rename_partition": rename_partition,
    "exchange_partition": exchange,
}


def everything(shop):
    """The tables, the table's partitions as stored, and all of both trees."""
    return (
        shop.get_all_databases(),
        [shop.table(name) for name in shop.get_all_tables("shop") if name != "other"],
        shop.get_partitions("shop", "sales", -1),
        sorted(str(path) for path in shop.root.parent.rglob("*") if "other" not in path.parts),
    )


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_outside_is_deleted_or_moved(shop, home, change):
    filled(shop, home)
    before = everything(shop)
    with pytest.raises(TYPES.MetaException, match=rf"location=file:{home}.*--also-under"):
        CHANGES[change](shop)
    assert everything(shop) == before


@pytest.mark.parametrize("change", CHANGES)
def test_below_a_root_it_is(shop, home, change):
    part = filled(shop, home / "sales")
    CHANGES[change](Writing(shop.store, shop.root, also_under=["/elsewhere", home]))
    assert not Path(part, "file").exists()
    assert home.exists()


def test_a_table_is_renamed_where_its_database_is_only_below_a_root(shop, home):
    shop.create_database(STORED.Database(name="there", locationUri=str(home)))
    shop.create_table(table_of(dbName="there"))
    with pytest.raises(TYPES.MetaException, match=f"location=file:{home}/sales"):
        shop.alter_table("there", "sales", table_of("sold", dbName="there", sd=shop.get_table("there", "sales").sd))
    shop.create_table(table_of())
    with pytest.raises(TYPES.MetaException, match=f"location=file:{home}/moved"):  # out of the warehouse
        shop.alter_table("shop", "sales", table_of("moved", dbName="there", sd=shop.table().sd))
    assert shop.get_all_tables("there") == ["sales"]
    assert shop.get_all_tables("shop") == ["sales"]
    allowed = Writing(shop.store, shop.root, also_under=[home])
    allowed.alter_table("shop", "sales", table_of("moved", dbName="there", sd=shop.table().sd))
    assert sorted(path.name for path in home.iterdir()) == ["moved", "sales"]


def test_spellings_of_partitions_stay_where_a_rename_is_refused(shop, home):
    """A rename first writes their locations alike."""
    shop.create_database(STORED.Database(name="there", locationUri=str(home)))
    shop.create_table(table_of(dbName="there"))
    shop.store.add_partitions("there", "sales", [Partition(("a", "1"), location=f"file://{home}/sales/own")])
    stored = shop.store.get_partitions_by_filter("there", "sales", None)
    with pytest.raises(TYPES.MetaException):
        shop.alter_table("there", "sales", table_of("sold", dbName="there", sd=shop.get_table("there", "sales").sd))
    assert shop.store.get_partitions_by_filter("there", "sales", None) == stored


def test_a_partition_outside_holds_up_the_drop_of_its_table(shop, home):
    shop.create_table(table_of())
    shop.add_partition(partition_of("a", "1"))
    shop.add_partition(partition_of("b", "1", location=str(home)))
    for change in (
        lambda: shop.drop_table("shop", "sales", True),
        lambda: shop.drop_partition("shop", "sales", ["b", "1"], True),
        lambda: shop.drop_database("shop", True, True),
        lambda: shop.truncate_table("shop", "sales", None),
    ):
        with pytest.raises(TYPES.MetaException, match=f"location=file:{home}[:.]"):
            change()
    assert shop.names() == ["ds=a/hour=1", "ds=b/hour=1"]
    assert "ds=a/hour=1/" in shop.tree("shop.db/sales")
    shop.drop_partition("shop", "sales", ["a", "1"], True)
    shop.drop_table("shop", "sales", False)
    assert home.exists()


def test_external_tables_and_drops_without_data_need_no_root(shop, home):
    shop.create_table(external(sd=storage(location=str(home))))
    shop.add_partition(partition_of("a", "1"))
    shop.drop_partition("shop", "sales", ["a", "1"], True)
    shop.drop_table("shop", "sales", True)
    filled(shop, home)
    shop.drop_partition("shop", "sales", ["a", "1"], False)
    shop.drop_table("shop", "sales", False)
    assert (home / "ds=a/hour=1/file").exists()


def test_an_external_table_in_a_database_outside_lets_the_database_go(shop, home):
    shop.create_database(STORED.Database(name="there", locationUri=str(home)))
    with pytest.raises(TYPES.MetaException, match="--also-under"):
        shop.drop_database("there", True, False)
    shop.create_table(external(dbName="there"))
    shop.drop_database("there", True, True)
    assert shop.get_all_databases() == ["default", "shop"]
    assert (home / "sales").exists()


def test_a_table_without_partitions_is_not_emptied(shop, home):
    shop.create_table(table_of(partitionKeys=[], sd=storage(cols=[column("a")], location=str(home))))
    (home / "file").write_text("precious")
    with pytest.raises(TYPES.MetaException, match="--also-under"):
        shop.truncate_table("shop", "sales", None)
    assert (home / "file").exists()
