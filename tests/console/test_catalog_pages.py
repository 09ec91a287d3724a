"""Pages of databases, in a browser."""

from __future__ import annotations

import pytest

from hbstore import Column, Database, Table
from tests.console.browser import LOOKS


@pytest.fixture(scope="module", autouse=True)
def more(catalog):
    """A database without tables, and a table without partition columns."""
    catalog.store.create_database(Database("empty", description="nothing in it"))
    catalog.store.create_table(Table("shop", "articles", columns=[Column("price", "double")]))


@LOOKS
def test_databases_with_their_tables(tabs, narrow, dark):
    tab = tabs(narrow=narrow, dark=dark)
    assert tab.open("/") == 200
    assert tab.page.url == f"{tab.url}/databases"
    assert tab.page.locator("h2").all_inner_texts() == ["empty nothing in it", "shop"]
    assert tab.page.locator("tbody tr").all_inner_texts() == [
        "articles\t–\t–\t–\t–",
        "sales\tds, hour\t72\t7,200\t351.6 KiB",
    ]
    tab.check()
    if not narrow and not dark:
        tab.picture("catalog")


def test_a_search_answers_while_it_is_typed(tab):
    tab.open("/databases")
    tab.page.get_by_label("Search").press_sequentially("PRICE sho")
    tab.page.wait_for_url("**/databases?search=PRICE+sho")
    tab.page.get_by_text("sales").wait_for(state="detached")
    assert tab.page.locator("tbody tr").all_inner_texts() == ["articles\t–\t–\t–\t–"]
    tab.page.get_by_label("Search").fill("nosuch")
    tab.page.get_by_text("No table has these words").wait_for()
    tab.page.reload()
    assert tab.page.get_by_label("Search").input_value() == "nosuch"
    tab.check()


def test_a_search_needs_no_script(tabs):
    tab = tabs(java_script_enabled=False)
    tab.open("/databases")
    tab.page.get_by_label("Search").fill("sales")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**/databases?search=sales")
    assert tab.page.locator("tbody tr").count() == 1


def test_a_database_is_reached_by_keyboard(tab):
    tab.open("/databases")
    link = tab.page.get_by_role("link", name="shop", exact=True)
    link.focus()
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**/databases/shop")
    assert tab.text("h1") == "shop"
    assert "ann" in tab.text("dl")
    tab.check()


def test_what_is_not_there_is_a_page(tab):
    assert tab.open("/databases/nosuch") == 404
    assert "the database does not exist" in tab.text()
    assert tab.open("/nosuch") == 404
