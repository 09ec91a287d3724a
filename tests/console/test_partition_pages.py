"""Pages of partitions, in a browser."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.console.partition_order import PartitionOrder
from hbstore.model.structs import partition_values
from tests.console.browser import LOOKS
from tests.console.warehouse import HOSTILE, RIDES, add_odd_tables, add_rides

PARTITIONS = f"{RIDES}/partitions"


@pytest.fixture(scope="module", autouse=True)
def more(catalog):
    add_rides(catalog.store)
    add_odd_tables(catalog.store)


def names(tab):
    return tab.page.locator("tbody td:first-child").all_inner_texts()


@LOOKS
def test_partitions_of_a_filter(tabs, narrow, dark):
    tab = tabs(narrow=narrow, dark=dark)
    assert tab.open(f"{PARTITIONS}?filter={quote('hour = 5 and region in ' + repr(('de', 'us')))}") == 200
    assert len(names(tab)) == 100
    assert names(tab)[:2] == ["ds=2015-01-01/hour=5/region=de", "ds=2015-01-01/hour=5/region=us"]
    assert tab.text(".matching") == "114 partitions selected"
    assert "100 on this page, and more" in tab.text(".turns")
    widths = "all => all.map(one => [one.scrollWidth, one.clientWidth])"
    assert all(inside <= outside for inside, outside in tab.page.locator(".wide").evaluate_all(widths))
    tab.check()
    if not narrow and not dark:
        tab.picture("partitions", whole=False)


def test_long_paths_are_short_and_each_partition_takes_a_line(tab):
    tab.open(f"{PARTITIONS}?filter={quote('hour = 5')}")
    place = tab.page.locator("td.place code").first
    assert place.inner_text() == "…/ds=2015-01-01/hour=5/region=at"
    assert place.get_attribute("title") == "s3://shop/rides/ds=2015-01-01/hour=5/region=at"
    assert tab.page.locator("main").evaluate("main => main.scrollHeight") < 100 * 40 + 600


def test_partitions_are_sorted_by_what_they_say(tabs, catalog):
    said = [("a", "7"), ("b", None), ("c", "900"), ("d", "12")]
    catalog.store.create_table(Table("shop", "sorted", [Column("name", "string")]))
    catalog.store.table("shop.sorted").add(
        [Partition((name,), parameters={"numRows": rows} if rows else {}) for name, rows in said]
    )
    tab = tabs(java_script_enabled=False)
    tab.open("/databases/shop/tables/sorted/partitions")
    tab.page.get_by_role("link", name="Rows").click()
    tab.page.wait_for_url("**/partitions?sort=-rows")
    assert names(tab) == ["name=c", "name=d", "name=a", "name=b"]
    assert tab.page.locator("th[aria-sort=descending]").all_inner_texts() == ["Rows"]
    tab.page.get_by_role("link", name="Rows").click()
    tab.page.wait_for_url("**/partitions?sort=rows")
    assert names(tab) == ["name=a", "name=d", "name=c", "name=b"]
    tab.page.get_by_role("link", name="Partition", exact=True).click()
    assert names(tab) == ["name=d", "name=c", "name=b", "name=a"]
    tab.page.get_by_label("Filter").fill("name in ('a', 'c')")
    tab.page.get_by_role("button", name="Select").click()
    assert names(tab) == ["name=c", "name=a"], "the order stays with another filter"


def test_partitions_are_sorted_by_when_they_were_created():
    with connect("memory://") as store:
        store.create_database("shop")
        store.create_table(Table("shop", "sorted", [Column("name", "string")]))
        times = {"a": 2, "b": 3, "c": 1, "d": 2}
        store.table("shop.sorted").add([Partition([name], create_time=time) for name, time in times.items()])
        payloads = store.get_payloads("shop", "sorted", [(name,) for name in times])
        for is_falling, expected in ((False, "cadb"), (True, "badc")):
            ordered = PartitionOrder("created", is_falling).sorted(payloads)
            assert "".join(partition_values(one)[0] for one in ordered) == expected


def test_sorted_partitions_have_pages(tab, catalog):
    day = "ds = '2015-01-06'"
    tab.open(f"{PARTITIONS}?filter={quote(day)}&sort=-name")
    pages = [names(tab)]
    while tab.page.get_by_role("link", name="Next").count():
        tab.page.get_by_role("link", name="Next").click()
        tab.page.wait_for_load_state()
        pages.append(names(tab))
    assert [name for page in pages for name in page] == catalog.store.table("shop.rides").names(day)[::-1]
    tab.page.get_by_role("link", name="Previous").click()
    tab.page.wait_for_load_state()
    assert names(tab) == pages[-2]


def test_more_partitions_than_can_be_sorted_are_listed_by_their_keys(tab):
    tab.open(f"{PARTITIONS}?sort=-rows")
    assert names(tab)[0] == "ds=2015-01-01/hour=0/region=at"
    assert "10,000 can be sorted: select fewer to sort them" in tab.text(".matching")
    assert tab.text(".matching").startswith("16,236 partitions")


def test_partitions_are_downloaded_as_csv(tab, catalog):
    tab.open(f"{PARTITIONS}?filter={quote('hour = 5')}")
    with tab.page.expect_download() as download:
        tab.page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "rides.csv"
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "ds,hour,region,rows,files,size,created,location"
    assert lines[1].startswith("2015-01-01,5,at,")
    assert len(lines) == 1 + catalog.store.table("shop.rides").count("hour = 5")


def test_pages_are_turned_to_the_last_and_back(tab, catalog):
    day = "ds = '2015-01-06'"
    tab.open(f"{PARTITIONS}?filter={quote(day)}")
    pages = [names(tab)]
    while tab.page.get_by_role("link", name="Next").count():
        tab.page.get_by_role("link", name="Next").click()
        tab.page.wait_for_load_state()
        pages.append(names(tab))
    assert [name for page in pages for name in page] == catalog.store.table("shop.rides").names(day)
    assert [len(page) for page in pages] == [100, 100, 88]
    for page in pages[-2::-1]:
        tab.page.get_by_role("link", name="Previous").click()
        tab.page.wait_for_load_state()
        assert names(tab) == page
    assert tab.page.get_by_role("link", name="Previous").count() == 0


def test_an_answer_comes_while_the_filter_is_typed(tab):
    tab.open(PARTITIONS)
    tab.page.get_by_label("Filter").press_sequentially("hour = 5 and ds = '2015-01-0")
    tab.page.locator(".problem pre").wait_for()
    tab.page.get_by_label("Filter").press_sequentially("6'")
    tab.page.get_by_text("12 partitions selected").wait_for()
    assert len(names(tab)) == 12
    tab.page.get_by_role("link", name="Plan of this filter").click()
    tab.page.wait_for_url("**/plan?filter=hour+%3D+5+and+ds*")
    tab.check()


def test_it_needs_no_script(tabs):
    tab = tabs(java_script_enabled=False)
    tab.open(PARTITIONS)
    tab.page.get_by_label("Filter").fill("hour = 7 and ds = '2015-01-06'")
    tab.page.get_by_role("button", name="Select").click()
    tab.page.wait_for_url("**/partitions?filter=*")
    assert len(names(tab)) == 12


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("filter=hour+%3D", 400, "FilterSyntaxError"),
        ("filter=month+%3D+5", 400, "UnknownColumnError"),
        ("page=nonsense", 400, "InvalidInput"),
        ("filter=hour+%3D+99", 200, "No partition is selected"),
        ("page=nonsense&back=x.y", 400, "InvalidInput"),
        ("sort=colour", 400, "partitions have no such column"),
        ("sort=name&at=-1", 400, "InvalidInput"),
        ("sort=name&at=9999&filter=hour+%3D+5", 200, "No partition is selected"),
    ],
)
def test_what_cannot_be_shown_is_said(tab, query, status, said):
    assert tab.open(f"{PARTITIONS}?{query}") == status
    assert said in tab.text()


@pytest.mark.parametrize("narrow", [False, True])
def test_a_partition_with_its_key(tabs, catalog, narrow):
    tab = tabs(narrow=narrow)
    assert tab.open(f"{PARTITIONS}/ds=2015-01-06/hour=12/region=de") == 200
    assert tab.text("h1") == "ds=2015-01-06/hour=12/region=de"
    (scan,) = catalog.store.plan("shop", "rides", "ds = '2015-01-06' and hour = 12 and region = 'de'").get_plans()
    assert scan.start.key.hex() in tab.text()
    said = tab.page.locator(".key small").all_inner_texts()
    assert said[2:8] == ["value", "ds '2015-01-06'", "value", "hour 12", "value", "region 'de'"]
    assert "s3://shop/rides/ds=2015-01-06/hour=12/region=de" in tab.text()
    assert "numRows" in tab.text()
    tab.check()
    tab.page.get_by_role("link", name="Plan of its filter").click()
    tab.page.wait_for_url("**/plan?filter=*")
    assert tab.page.locator(".kind").all_inner_texts() == ["get"]


def test_a_program_still_gets_names_and_json(tab):
    assert tab.page.request.get(f"{tab.url}{PARTITIONS}/names?limit=1", headers={"Accept": "text/html"}).json()["names"]
    tab.open(f"{PARTITIONS}/ds=2015-01-06/hour=12/region=de")
    at = tab.page.get_by_role("link", name="JSON").get_attribute("href")
    assert tab.page.request.get(tab.url + at).json()["values"] == ["2015-01-06", "12", "de"]


@pytest.mark.parametrize("name", ["ds=2015-01-06/hour=99/region=de", "ds=2015-01-06", "=", "nosuch=5"])
def test_a_partition_that_is_not_there_is_a_page(tab, name):
    assert tab.open(f"{PARTITIONS}/{name}") in (400, 404)
    assert tab.page.locator(".problem").count() == 1


def test_hostile_values_are_shown_and_not_run(tab):
    tab.on("dialog", lambda dialog: pytest.fail(dialog.message))
    assert tab.open("/databases/shop/tables/hostile/partitions") == 200
    assert len(names(tab)) == 3
    tab.check()
    for link in [one.get_attribute("href") for one in tab.page.locator("tbody a").all()]:
        assert tab.open(link) == 200
        assert tab.page.locator("main script").count() == 0
        assert HOSTILE[:8] in tab.text()
        tab.check()


def test_values_that_are_no_dates_have_a_page(tab, catalog):
    catalog.store.table("shop.empty").add([Partition(("some day", "5"))], invalid_values="keep")
    tab.open("/databases/shop/tables/empty/partitions")
    tab.page.get_by_role("link", name="ds=some day").click()
    tab.page.wait_for_url("**/partitions/ds=some*")
    assert tab.page.locator(".key small").all_inner_texts()[2:4] == ["text", "ds 'some day'"]
