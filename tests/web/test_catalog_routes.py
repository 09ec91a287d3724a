"""Databases and tables over HTTP."""

from dataclasses import replace

import pytest

from hbstore import Column, Table
from hbstore.model.constraints import Constraint, ConstraintKind, References
from tests.web.catalog import SALES


def test_databases_are_listed_and_read(browse):
    found = browse("GET", "/databases").json()["databases"]
    assert [one["name"] for one in found] == ["shop"]
    assert browse("GET", "/databases/SHOP").json() == found[0]
    assert found[0]["owner"] == "ann"
    missing = browse("GET", "/databases/nowhere")
    assert (missing.status, missing.json()["error"]) == (404, "DatabaseNotFound")


def test_tables_are_listed_and_read(browse, catalog):
    (listed,) = browse("GET", "/databases/shop/tables").json()["tables"]
    assert (listed["name"], [one["name"] for one in listed["partition_columns"]]) == ("sales", ["ds", "hour"])
    table = browse("GET", SALES).json()
    assert table["columns"] == [{"name": "amount", "type": "decimal(10,2)", "comment": "in euros"}]
    assert table["location"] == catalog.store.get_table("shop", "sales").location
    assert browse("GET", f"{SALES}/totals").json()["partitions"] == 72
    missing = browse("GET", "/databases/shop/tables/nothing")
    assert (missing.status, missing.json()["error"]) == (404, "TableNotFound")


def test_constraints_are_read_at_both_ends(browse, catalog):
    store = catalog.store
    columns = [Column("day", "date"), Column("at", "int")]
    store.hive.constraints.add("shop", "sales", [Constraint(ConstraintKind.PRIMARY_KEY, ["ds", "hour"], "sales_key")])
    refers = Constraint(
        ConstraintKind.FOREIGN_KEY, ["day", "at"], "fk", references=References("shop", "sales", ["ds", "hour"])
    )
    default = Constraint(ConstraintKind.DEFAULT, ["at"], "zero", "0", relied=True)
    store.create_table(Table("shop", "visits", columns=columns), constraints=[default, refers])
    flags = {"enabled": False, "validated": False, "relied": False}
    key = {"kind": "primary key", "name": "sales_key", "columns": ["ds", "hour"], "text": None, "references": None}
    zero = {"kind": "default", "name": "zero", "columns": ["at"], "text": "0", "references": None}
    to = {"database": "shop", "table": "sales", "columns": ["ds", "hour"], "key": "sales_key"}
    foreign = {
        "kind": "foreign key",
        "name": "fk",
        "columns": ["day", "at"],
        "text": None,
        **flags,
        "references": {**to, "update_rule": 0, "delete_rule": 0},
    }
    assert browse("GET", f"{SALES}/constraints").json() == {
        "constraints": [{**key, **flags}],
        "referring": [{"database": "shop", "table": "visits", "constraint": foreign}],
    }
    assert browse("GET", "/databases/shop/tables/VISITS/constraints").json() == {
        "constraints": [{**zero, **flags, "relied": True}, foreign],
        "referring": [],
    }
    missing = browse("GET", "/databases/shop/tables/nothing/constraints")
    assert (missing.status, missing.json()["error"]) == (404, "TableNotFound")


def test_a_table_without_a_location_has_the_warehouse_s(browse, catalog):
    store = catalog.store
    store.create_table(replace(store.get_table("shop", "sales"), name="bare", location=None))
    found = browse("GET", "/databases/shop/tables/bare").json()
    assert found["location"] == f"{store.get_database('shop').location}/bare"


@pytest.mark.parametrize("path", ["/databases/shop", SALES, f"{SALES}/partitions/ds=2013-01-01/hour=5"])
def test_who_has_the_version_is_not_sent_it_again(browse, catalog, path):
    first = browse("GET", path)
    assert first.headers["Cache-Control"] == "no-cache"
    tag = first.headers["ETag"]
    for said in (tag, f'"other", W/{tag}', "*"):
        again = browse("GET", path, headers={"If-None-Match": said})
        assert (again.status, again.data, again.headers["ETag"]) == (304, b"", tag)
    store = catalog.store
    store.alter_database(replace(store.get_database("shop"), owner="bob"))
    store.alter_table(replace(store.get_table("shop", "sales"), owner="bob"))
    store.alter_partitions(
        "shop", "sales", [replace(store.get_partition("shop", "sales", ("2013-01-01", "5")), parameters={})]
    )
    changed = browse("GET", path, headers={"If-None-Match": tag})
    assert (changed.status, changed.headers["ETag"] != tag) == (200, True)


def test_a_table_that_is_made_again_has_another_version(browse, catalog):
    tag = browse("GET", SALES).headers["ETag"]
    table = catalog.store.get_table("shop", "sales")
    catalog.store.drop_table("shop", "sales")
    catalog.store.create_table(table)
    assert browse("GET", SALES).headers["ETag"] != tag


@pytest.mark.parametrize("path", ["/databases", "/databases/shop", "/databases/shop/tables", SALES])
def test_an_address_may_end_with_json(browse, path):
    assert browse("GET", f"{path}.json").json() == browse("GET", path).json()


def test_without_a_catalog_there_are_no_databases(ask):
    assert ask("GET", "/databases").status == 404


@pytest.mark.parametrize("path", ["/", "/status"])
def test_who_asks_for_a_page_as_a_program_is_told_what_pages_need(browse, path):
    reply = browse("GET", path)
    assert (reply.status, "text/html" in reply.json()["hint"]) == (404, True)
