"""The page of a table, in a browser."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table
from hbstore.console import table_pages
from hbstore.model.constraints import Constraint, ConstraintKind, References
from tests.console.browser import LOOKS
from tests.console.warehouse import RIDES, add_odd_tables, add_rides

ALTERED = {"transient_lastDdlTime": "1500000000"}


@pytest.fixture(scope="module", autouse=True)
def more(catalog):
    store = catalog.store
    add_rides(store)
    add_odd_tables(store)
    declared = {"cube.storagetable.time.partcols": "dt", "cube.storagetable.update.periods": "DAILY"}
    store.create_table(Table("shop", "daily", [Column("dt", "string")], parameters=declared))
    store.table("shop.daily").add([("2015-01-01",), ("2015-01-02",), ("2015-01-04",)])


def cells(tab):
    return tab.page.locator(".drawn svg a rect")


@LOOKS
def test_a_table(tabs, narrow, dark):
    tab = tabs(narrow=narrow, dark=dark)
    assert tab.open(RIDES) == 200
    assert tab.text("h1") == "rides every ride that was paid for"
    assert "16,236 partitions" in " ".join(tab.text(".figures").split())
    assert cells(tab).count() == 56 * 24 + 9  # days that are missing have no cell
    assert "in euros" in tab.text()
    assert "s3://shop/rides" in tab.text()
    tab.check()
    if not narrow and not dark:
        tab.picture("table")


def test_a_cell_leads_to_its_partitions(tab):
    tab.open(RIDES)
    assert tab.page.locator(".drawn svg title").nth(1).inner_html() == "ds=2015-01-01, hour=0: 12 partitions"
    cells(tab).first.click()
    tab.page.wait_for_url("**/partitions?filter=*")
    assert tab.page.get_by_label("Filter").input_value() == "ds = '2015-01-01' and hour < 1"
    assert tab.text(".matching") == "12 partitions selected"


def test_constraints_are_shown_at_both_ends(tab, catalog):
    hive = catalog.store.hive.constraints
    for name in ("parent", "child"):
        catalog.store.create_table(Table("shop", name, columns=[Column("id", "int"), Column("fare", "double")]))
    hive.add("shop", "parent", [Constraint(ConstraintKind.PRIMARY_KEY, ["id"], "parent_key", relied=True)])
    to = References("shop", "parent", ["id"])
    hive.add("shop", "child", [Constraint(ConstraintKind.CHECK, [], "paid", "fare < '<b>'")])
    hive.add("shop", "child", [Constraint(ConstraintKind.FOREIGN_KEY, ["id"], "child_key", references=to)])
    tab.open("/databases/shop/tables/parent")
    lines = tab.page.get_by_role("region", name="Constraints").locator("tbody tr")
    assert [line.split("\t") for line in lines.all_inner_texts()] == [
        ["parent_key", "PRIMARY KEY (id)", "DISABLE NOVALIDATE RELY"],
        ["child_key", "of shop.child, which refers to this table", ""],
    ]
    tab.page.get_by_role("link", name="shop.child").click()
    tab.page.wait_for_url("**/tables/child")
    assert [line.split("\t")[:2] for line in lines.all_inner_texts()] == [
        ["paid", "CHECK (fare < '<b>')"],
        ["child_key", "FOREIGN KEY (id) REFERENCES shop.parent (id)"],
    ]
    tab.check()


def test_what_changed_last_comes_first(tab, catalog, monkeypatch):
    monkeypatch.setattr(table_pages, "_LOOKED", 500)
    store = catalog.store
    store.create_table(Table("shop", "changing", [Column("ds", "date"), Column("n", "int")]))
    days = [Partition((f"2015-01-0{day}", str(n)), create_time=day) for day in (1, 2, 3) for n in range(200)]
    changed = Partition(("2015-01-02", "500"), parameters={**ALTERED, "last_modified_by": "eve"}, create_time=5)
    store.table("shop.changing").add([*days, changed, Partition(("2015-01-01", "500"), create_time=1_600_000_000)])
    tab.open("/databases/shop/tables/changing")
    rows = tab.page.get_by_role("region", name="Partitions that changed last").locator("tbody tr").all_inner_texts()
    assert len(rows) == 10
    assert rows[0] == "ds=2015-01-02/n=500\t2017-07-14 02:40:00\teve"
    assert "Of the 401 partitions from ds = '2015-01-02' on that were looked at; the table has 602" in tab.text()


def test_all_partitions_are_looked_at_where_there_are_not_too_many(tab, catalog):
    store = catalog.store
    store.create_table(Table("shop", "months", [Column("ds", "date"), Column("n", "int")]))
    days = [Partition((f"2015-01-{day:02}", str(n)), create_time=9) for day in range(1, 31) for n in range(40)]
    store.table("shop.months").add([*days, Partition(("2015-01-01", "99"), parameters=ALTERED, create_time=5)])
    tab.open("/databases/shop/tables/months")
    rows = tab.page.get_by_role("region", name="Partitions that changed last").locator("tbody tr").all_inner_texts()
    assert rows[0] == "ds=2015-01-01/n=99\t2017-07-14 02:40:00\t–"
    assert "Of all 1,201 partitions." in tab.text()
    assert "No client of Hive's has said who altered them." in tab.text()


@pytest.mark.parametrize(("button", "path"), [("Plan", "plan"), ("Partitions", "partitions")])
def test_a_filter_leads_to_its_plan_and_to_its_partitions(tabs, button, path):
    tab = tabs(java_script_enabled=False)
    tab.open(RIDES)
    tab.page.get_by_label("Filter").focus()
    tab.page.keyboard.type("hour = 5")
    tab.page.get_by_role("button", name=button, exact=True).press("Enter")
    tab.page.wait_for_url(f"**/{path}?filter=hour+%3D+5")
    assert tab.page.get_by_label("Filter").input_value() == "hour = 5"


def test_timelines_are_listed(tab):
    tab.open("/databases/shop/tables/daily")
    assert "DAILY\tdt\t2015-01-01\t2015-01-04\t3\t1" in tab.text()
    tab.check()
    tab.page.get_by_role("link", name="drawn under one axis").click()
    tab.page.wait_for_url("**/tables/daily/timelines")


@pytest.mark.parametrize(
    ("table", "said"),
    [("empty", "The table has no partitions."), ("plain", "price"), ("hostile", "<script>")],
)
def test_odd_tables(tab, table, said):
    tab.on("dialog", lambda dialog: pytest.fail(dialog.message))
    assert tab.open(f"/databases/shop/tables/{table}") == 200
    assert said in tab.text()
    assert tab.page.locator("main script").count() == 0
    tab.check()


def test_an_unknown_table_is_a_page(tab):
    assert tab.open("/databases/shop/tables/nosuch") == 404
    assert "TableNotFound" in tab.text()


def test_links_to_json(tab):
    tab.open(RIDES)
    for name in ("JSON", "Totals as JSON", "Timelines as JSON"):
        at = tab.page.get_by_role("link", name=name, exact=True).get_attribute("href")
        assert tab.page.request.get(tab.url + at).json()
