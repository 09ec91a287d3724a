"""Pages of databases, in a browser."""

from __future__ import annotations

import pytest

from hbstore import Column, Database, Partition, Table
from tests.console.browser import LOOKS
from tests.console.facts import hired


@pytest.fixture(scope="module", autouse=True)
def more(catalog):
    """A database without tables, and a table without partition columns."""
    catalog.store.create_database(Database("empty", description="nothing in it"))
    catalog.store.create_table(Table("shop", "articles", columns=[Column("price", "double")]))
    hired(catalog.store)


@LOOKS
def test_databases_with_their_tables(tabs, narrow, dark):
    tab = tabs(narrow=narrow, dark=dark)
    assert tab.open("/") == 200
    assert tab.page.url == f"{tab.url}/databases"
    assert tab.page.locator("h2").all_inner_texts() == ["city", "empty nothing in it", "shop"]
    assert tab.lines("Cubes of city") == ["rides\tcube\tminutes, fare", "fares\tderived cube\tfare"]
    assert tab.lines("Tables of shop") == [
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
    assert tab.lines("Tables of shop") == ["articles\t–\t–\t–\t–"]
    tab.page.get_by_label("Search").fill("nosuch")
    tab.page.get_by_text("No table, cube or dimension has these words").wait_for()
    tab.page.reload()
    assert tab.page.get_by_label("Search").input_value() == "nosuch"
    tab.check()


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("fare", ["rides\tcube\tfare", "fares\tderived cube\tfare"]),  # a measure
        ("station_n", ["rides\tcube\tstation_name"]),  # a dimension
        ("pace", ["rides\tcube\tpace"]),  # an expression
        ("city station name", ["rides\tcube\tstation_id, station_name", "station\tdimension\tname"]),
        ("hires", ["hires\tfact\t–"]),
    ],
)
def test_a_search_finds_measures_dimensions_and_cubes(tab, search, expected):
    tab.open(f"/databases?search={search}")
    assert tab.lines("Cubes of city") == expected
    tab.page.get_by_role("region", name="Cubes of city").get_by_role("link").first.click()
    tab.page.wait_for_url("**/databases/city/model/**")
    assert tab.text("h1").startswith(expected[0].partition("\t")[0])


def test_what_partitions_do_not_say_is_not_shown_as_zero(tab, catalog):
    catalog.store.create_database("quiet")
    for name, said in (("nothing", {}), ("some", {"numRows": "7"})):
        catalog.store.create_table(Table("quiet", name, [Column("ds", "date")]))
        catalog.store.table(f"quiet.{name}").add(
            [Partition(("2013-01-01",), parameters=said), Partition(("2013-01-02",))]
        )
    tab.open("/databases/quiet")
    assert tab.lines("Tables of quiet") == ["nothing\tds\t2\t–\t–", "some\tds\t2\t7+\t–"]
    catalog.store.drop_database("quiet", cascade=True)


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
