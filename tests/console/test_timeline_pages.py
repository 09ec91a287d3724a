"""Pages of timelines: of a table, also of one that belongs to no fact, and of a database."""

from __future__ import annotations

import pytest

from hbstore import Column, Database, Table
from hbstore.timelines.declaration import TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from tests.console.facts import got, hired


@pytest.fixture(scope="module", autouse=True)
def tables(catalog):
    """A table with timelines of two columns, a table whose timelines are empty, and a database without any."""
    hired(catalog.store)
    columns = [Column("dt", "string"), Column("paid", "string")]
    declared = {TIME_PARTITION_COLUMNS: "dt,paid", UPDATE_PERIODS: "DAILY"}
    catalog.store.create_table(Table("shop", "orders", columns, parameters=declared))
    catalog.store.create_table(Table("shop", "empty", columns, parameters=declared))
    catalog.store.table("shop.orders").add(
        [{"dt": "2015-01-01", "paid": "2015-01-05"}, {"dt": "2015-01-03", "paid": "2015-01-05"}]
    )
    catalog.store.create_database(Database("bare"))


@pytest.mark.parametrize("narrow", [False, True])
def test_the_timelines_of_a_table(tabs, narrow):
    tab = tabs(narrow=narrow)
    assert tab.open("/databases/shop/tables/orders/timelines") == 200
    assert tab.lines("Timelines in numbers") == [
        "orders\tDAILY\tdt\t2015-01-01\t2015-01-03\t2\t1\t1",
        "\tDAILY\tpaid\t2015-01-05\t2015-01-05\t1\t0\t0",
    ]
    assert tab.page.locator(".timelines text").all_text_contents()[:3] == ["orders", "dt DAILY", "paid DAILY"]
    assert tab.page.locator(".timelines rect.missing title").all_text_contents() == [
        "dt DAILY missing: 2015-01-02 to 2015-01-03"
    ]
    tab.check()


def test_the_timelines_of_all_tables_of_a_database(tab):
    tab.open("/databases/city")
    tab.page.get_by_role("link", name="Timelines of all tables").click()
    tab.page.wait_for_url("**/databases/city/timelines")
    texts = tab.page.locator(".timelines svg > text").all_text_contents()
    assert [text for text in texts if "_" in text] == ["lake_bikes", "lake_hires", "vault_hires"]
    tab.check()


def test_tables_without_times(url):
    text = got(url, "/databases/shop/tables/empty/timelines")
    assert "no partition has a time yet" in text
    assert "the table keeps no timelines" in got(url, "/databases/shop/tables/sales/timelines")
    assert "No table of this database keeps timelines" in got(url, "/databases/bare/timelines")
    assert "the table does not exist" in got(url, "/databases/shop/tables/nosuch/timelines", 404)
    assert "ends before it begins" in got(url, "/databases/shop/tables/orders/timelines?from=2016&to=2015", 400)
