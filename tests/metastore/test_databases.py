"""Databases over the wire, with their folders."""

from __future__ import annotations

from typing import ClassVar

import pytest
from thriftpy2.thrift import TType

from hbstore.metastore.methods.struct_cuts import field_slices
from hbstore.model.service_objects import Function
from tests.metastore.writing import STORED, TYPES, external, partition_of, storage, table_of

ON_BACKENDS = ("memory", "nonatomic")
"""With transactions and without; tests/metastore/clients makes databases on HBase."""


def test_a_database_gets_a_folder_below_the_warehouse(shop):
    shop.create_database(STORED.Database(name="Attic", description="old", parameters={"a": "b"}, ownerName="ann"))
    found = shop.get_database("ATTIC")
    assert (found.name, found.description, found.parameters) == ("attic", "old", {"a": "b"})
    assert found.locationUri == shop.location("attic.db")
    assert shop.tree() == ["attic.db/", "shop.db/"]
    assert shop.get_all_databases() == ["attic", "default", "shop"]


def test_a_database_gets_the_folder_that_it_asks_for(shop, tmp_path):
    shop.create_database(STORED.Database(name="attic", locationUri=f"{tmp_path}/elsewhere/"))
    assert shop.get_database("attic").locationUri == f"file:{tmp_path}/elsewhere"
    assert (tmp_path / "elsewhere").is_dir()
    shop.create_table(table_of(dbName="attic"))
    assert shop.get_table("attic", "sales").sd.location == f"file:{tmp_path}/elsewhere/sales"


class LaterDatabase(STORED.Database):
    """A database as clients of Hive 3 and later send it."""

    thrift_spec: ClassVar = {
        **STORED.Database.thrift_spec,
        8: (TType.STRING, "catalogName", False),
        9: (TType.I32, "createTime", False),
    }

    def __init__(self, name, **fields):
        super().__init__(name)
        vars(self).update({"catalogName": None, "createTime": None, **fields})


def test_a_client_who_names_a_catalog_finds_an_owner_and_a_time(shop):
    """As Hive 3 and later answer their clients; those of Hive 2.3, who name none, get neither."""

    def found(name):
        stored = shop.store.get_database(name)
        later = {
            number: stored.later_fields[slice(*at)]
            for number, at in field_slices(stored.later_fields + b"\0", 0).items()
        }
        return stored.owner, later

    def number(time):
        return time.to_bytes(4, "big")

    shop.set_ugi("eve", [])
    shop.create_database(STORED.Database("old"))
    assert found("old") == (None, {})
    shop.create_database(LaterDatabase("attic", catalogName="hive"))
    owner, later = found("attic")
    assert (owner, later.keys()) == ("eve", {8, 9})
    assert later[9] > number(1_500_000_000)
    shop.create_database(LaterDatabase("bobs", ownerName="bob", catalogName="hive", createTime=7))
    assert (found("bobs")[0], found("bobs")[1][9]) == ("bob", number(7))
    for change in (LaterDatabase("attic", ownerName="ann", catalogName="hive"), STORED.Database("attic")):
        shop.alter_database("attic", change)
        assert found("attic") == (change.ownerName, later)


def test_a_database_that_another_program_made_has_a_location(shop):
    shop.store.create_database("attic")
    assert shop.get_database("attic").locationUri == shop.location("attic.db")
    shop.create_table(table_of(dbName="attic"))
    assert shop.tree("attic.db") == ["sales/"]
    shop.drop_database("attic", True, True)
    assert shop.tree() == ["shop.db/"]


def test_a_database_is_created_once(shop):
    with pytest.raises(TYPES.AlreadyExistsException):
        shop.create_database(STORED.Database(name="SHOP"))


@pytest.mark.parametrize("name", ["a-b", "", "a.b", "ä"])
def test_a_database_has_a_name(shop, name):
    with pytest.raises(TYPES.InvalidObjectException):
        shop.create_database(STORED.Database(name=name))
    assert shop.tree() == ["shop.db/"]


def test_what_is_not_there_is_named(shop):
    with pytest.raises(TYPES.NoSuchObjectException, match="attic"):
        shop.get_database("attic")
    with pytest.raises(TYPES.NoSuchObjectException, match="a-b"):
        shop.get_database("a-b")


def test_clients_of_later_versions_write_a_catalog_before_the_name(shop):
    assert shop.get_database("@hive#shop").name == "shop"
    assert shop.get_databases("@hive#s*") == ["shop"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (None, ["attic", "default", "shop"]),
        ("*", ["attic", "default", "shop"]),
        ("S*", ["shop"]),
        ("a*|*lt", ["attic", "default"]),
        ("sho", []),
        ("", []),
        ("sho.", ["shop"]),
    ],
)
def test_names_are_found_by_patterns(shop, pattern, names):
    shop.create_database(STORED.Database(name="attic"))
    assert shop.get_databases(pattern) == names


def test_altering_a_database_keeps_its_name_and_what_is_not_said(shop):
    shop.create_database(STORED.Database(name="attic", description="old", ownerName="ann", ownerType=1))
    shop.alter_database("attic", STORED.Database(name="other", parameters={"c": "d"}, ownerName="bob"))
    found = shop.get_database("attic")
    assert (found.description, found.parameters, found.ownerName, found.ownerType) == ("old", {"c": "d"}, "bob", 1)
    assert found.locationUri == shop.location("attic.db")
    with pytest.raises(TYPES.NoSuchObjectException):
        shop.alter_database("nothing", STORED.Database(name="nothing"))


def test_a_new_location_is_for_new_tables(shop, tmp_path):
    shop.create_table(table_of())
    shop.alter_database("shop", STORED.Database(name="shop", locationUri=f"file://{tmp_path}/later"))
    shop.create_table(table_of("more"))
    assert shop.table().sd.location == shop.location("shop.db/sales")
    assert shop.table("more").sd.location == f"file:{tmp_path}/later/more"


def test_the_default_database_stays(shop):
    with pytest.raises(TYPES.MetaException, match="Can not drop default database"):
        shop.drop_database("Default", True, True)


def test_a_database_with_tables_is_dropped_only_with_them(shop):
    shop.create_table(table_of())
    with pytest.raises(TYPES.InvalidOperationException, match=r"not empty\. One or more tables exist"):
        shop.drop_database("shop", True, False)
    assert shop.tree("shop.db") == ["sales/"]
    shop.drop_database("shop", True, True)
    assert shop.get_all_databases() == ["default"]
    assert shop.tree() == []


def test_a_database_with_functions_is_dropped_only_with_them(shop):
    shop.store.hive.functions.create(Function("shop", "tax", "org.shop.Tax"))
    with pytest.raises(TYPES.InvalidOperationException, match=r"not empty\. One or more functions exist"):
        shop.drop_database("shop", True, False)
    shop.drop_database("shop", True, True)
    shop.create_database(STORED.Database(name="shop"))
    assert shop.get_functions("shop", "*") == []


def test_files_stay_unless_they_are_to_be_deleted(shop):
    shop.create_table(table_of(partitionKeys=[]))
    shop.write("shop.db/sales/file")
    shop.drop_database("shop", False, True)
    assert shop.tree("shop.db") == ["sales/", "sales/file"]


def test_files_outside_the_database_s_folder_go_as_well(shop):
    shop.create_table(table_of(sd=storage(location=shop.location("far/sales"))))
    shop.create_table(table_of("more"))
    shop.add_partition(partition_of("a", "1", table="more", location=shop.location("far/more")))
    shop.drop_database("shop", True, True)
    assert shop.tree() == ["far/"]


@pytest.mark.parametrize("place", ["shop.db/theirs", "shop.db"])
def test_external_data_in_the_database_s_folder_stays(shop, place):
    shop.create_table(external("theirs", sd=storage(location=shop.location(place))))
    shop.create_table(table_of())
    shop.write(f"{place}/file")
    shop.drop_database("shop", True, True)
    assert [one for one in shop.tree() if not one.endswith("/")] == [f"{place}/file"]
    assert "shop.db/sales/" not in shop.tree()


def test_dropping_what_is_not_there(shop):
    with pytest.raises(TYPES.NoSuchObjectException):
        shop.drop_database("attic", True, True)
