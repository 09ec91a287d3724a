"""What statements can name, over HTTP."""

from __future__ import annotations

from hbstore import Column, Table
from hbstore.cubes import Cubes
from hbstore.cubes.concepts import DerivedCube
from hbstore.web.catalog import name_routes
from tests.console.rides import rides


def names(browse, database="shop"):
    reply = browse("GET", f"/databases/{database}/names")
    assert reply.status == 200, reply.data
    return {one["name"]: one for one in reply.json()["names"]}


def kinds(relation):
    return {field["name"]: field["kind"] for field in relation["fields"]}


def test_tables_have_their_columns(browse, catalog):
    columns = [Column("n", "int")]
    catalog.store.create_table(
        Table("shop", "seen", columns=columns, table_type="VIRTUAL_VIEW", parameters={"comment": "c"})
    )
    found = names(browse)
    assert kinds(found["sales"]) == {"amount": "column", "ds": "partition column", "hour": "partition column"}
    assert found["sales"]["fields"][0] == {
        "name": "amount",
        "type": "decimal(10,2)",
        "kind": "column",
        "description": "in euros",
    }
    assert (found["sales"]["kind"], found["seen"]["kind"], found["seen"]["description"]) == ("table", "view", "c")


def test_cubes_have_their_fields_and_those_that_join_chains_reach(browse, catalog):
    cubes = Cubes(catalog.store, "shop")
    cubes.create_all(rides())
    cubes.create(DerivedCube(name="fares", parent="rides", measures=["fare"], dim_attributes=["bike"]))
    found = names(browse)
    assert list(found)[:3] == ["rides", "fares", "station"]
    assert kinds(found["rides"]) == {
        "minutes": "measure",
        "fare": "measure",
        "start_time": "time dimension",
        "day": "dimension",
        "bike": "dimension",
        "station_id": "dimension",
        "pace": "expression",
        "station.id": "dimension",
        "station.name": "dimension",
    }
    by_name = {field["name"]: field for field in found["rides"]["fields"]}
    assert (by_name["station.name"]["type"], by_name["station.name"]["description"]) == ("string", "As on the map")
    assert found["rides"]["description"] == "Rides of rented bikes"
    assert kinds(found["fares"]) == {"fare": "measure", "bike": "dimension"}
    assert (found["fares"]["kind"], found["station"]["kind"]) == ("derived cube", "dimension")
    assert kinds(found["station"]) == {"id": "dimension", "name": "dimension"}
    assert kinds(found["lake_daily"])["dt"] == "partition column"


def test_of_many_tables_the_first_have_their_columns(browse, catalog, monkeypatch):
    monkeypatch.setattr(name_routes, "_WITH_COLUMNS", 1)
    catalog.store.create_table(Table("shop", "zones", columns=[Column("n", "int")]))
    found = names(browse)
    assert (len(found["sales"]["fields"]), found["zones"]["fields"]) == (3, [])


def test_a_database_that_is_not_there_is_named(browse):
    reply = browse("GET", "/databases/nosuch/names")
    assert (reply.status, reply.json()["error"]) == (404, "DatabaseNotFound")
