"""The plan explorer, in a browser."""

from __future__ import annotations

import datetime as dt
from urllib.parse import urlencode

import pytest

from hbstore import Column, Table
from tests.console.browser import LOOKS
from tests.console.warehouse import HOSTILE, RIDES, add_odd_tables, add_rides

RICH = (
    "ds >= '2015-01-25' and hour in (5, 6)\n"
    "  or ds = '2015-01-06' and hour = 12 and region in ('de', 'us')\n"
    "  or ds = '2015-01-15' and region like '_r'"
)


@pytest.fixture(scope="module", autouse=True)
def more(catalog):
    add_rides(catalog.store)
    add_odd_tables(catalog.store)


def plan(tab, filter=None, table=RIDES, **more):
    """Open the page of a plan; the status of the reply."""
    return tab.open(f"{table}/plan?{urlencode({} if filter is None else {'filter': filter, **more})}")


def drawn(tab, kind):
    return tab.page.locator(f".drawn svg .{kind}")


@LOOKS
def test_a_plan_over_the_key_lines_of_three_columns(tabs, narrow, dark):
    tab = tabs(narrow=narrow, dark=dark)
    assert plan(tab, RICH, analyze="true") == 200
    assert tab.page.locator(".scans > li").count() == len(tab.page.locator(".kind").all_inner_texts())
    assert {"skip", "get", "scan"} == set(tab.page.locator(".kind").all_inner_texts())
    axis = tab.page.locator(".drawn svg > text").all_text_contents()
    assert {"ds date", "hour int", "region string", "2015-01-01"} <= set(axis)
    assert drawn(tab, "point").count() == 2
    text = tab.text()
    assert "890 returned" in " ".join(text.split())
    assert "A skip scan visits" in text
    tab.check()
    if not narrow and not dark:
        tab.picture("plan")


def test_no_more_rows_are_to_be_looked_at_than_there_are(tab, catalog):
    store = catalog.store
    store.create_table(Table("shop", "days", [Column("ds", "date"), Column("origin", "string")]))
    days = [str(dt.date(2013, 1, 1) + dt.timedelta(days=at // 3)) for at in range(400)]
    store.table("shop.days").add([(day, "abc"[at % 3]) for at, day in enumerate(days)])
    estimated = store.explain("shop", "days").alternatives[0].estimate.rows
    assert estimated > 400, "statistics are estimates"
    plan(tab, table="/databases/shop/tables/days")
    text = " ".join(tab.text().split())
    assert "400 rows to look at, of 400" in text
    assert "values of ds, 400 partitions." in text
    assert f"{estimated:,.0f}" not in text


def test_the_figures_are_those_of_explain(tab, catalog):
    plan(tab, RICH, analyze="true")
    explained = catalog.store.explain("shop", "rides", RICH, analyze=True)
    rows = [row.inner_text().split("\t") for row in tab.page.locator(".ways tbody tr").all()]
    assert [row[0] for row in rows] == [one.way for one in explained.alternatives]
    assert [row[4] for row in rows] == [f"{one.estimate.rows:,.0f}" for one in explained.alternatives]
    assert tab.page.locator(".ways .taken td").first.inner_text() == next(
        one.way for one in explained.alternatives if one.taken
    )
    left_out = {row.inner_text().split("\t")[0]: row.inner_text() for row in tab.page.locator(".left-out tr").all()}
    kept, whole = explained.kept, explained.totals
    assert left_out["Partitions"].split("\t")[1:3] == [f"{kept.partitions:,}", f"{whole.partitions:,}"]
    assert left_out["Rows"].split("\t")[1:3] == [f"{kept.rows:,}", f"{whole.rows:,}"]
    head = tab.page.locator(".scans > li").first.inner_text()
    assert f"{explained.measured[0].rows_returned:,} returned" in " ".join(head.split())


def test_keys_are_cut_into_fields_with_what_they_say(tab, catalog):
    plan(tab, "ds = '2015-01-06' and hour = 12 and region = 'de'")
    (scan,) = catalog.store.plan("shop", "rides", "ds = '2015-01-06' and hour = 12 and region = 'de'").get_plans()
    fields = tab.page.locator(".scans .key").first.locator("> span")
    assert "".join(one.locator("code").inner_text() for one in fields.all()) == scan.start.key.hex()
    said = [one.locator("small").inner_text() for one in fields.all()]
    assert said[:2] == ["shop", "rides"]
    assert said[2:-1] == ["value", "ds '2015-01-06'", "value", "hour 12", "value", "region 'de'"]
    assert said[-1].startswith("cells at 11, 16, 25")


def test_an_answer_comes_while_the_filter_is_typed(tab):
    plan(tab)
    box = tab.page.get_by_label("Filter")
    box.press_sequentially("hour = ")
    tab.page.wait_for_url("**/plan?filter=hour+%3D+*")  # a slow machine answers to the first letters, too
    tab.page.locator(".problem pre").wait_for()
    highlight = tab.page.locator(".problem pre").inner_text()
    assert highlight == "hour =\n      ^"
    assert "a literal" in tab.text(".problem")
    assert "ds date" in tab.text(".chips")
    box.press_sequentially("5")
    tab.page.get_by_text("each ds", exact=True).wait_for()
    tab.page.wait_for_url("**/plan?filter=hour+%3D+5*")
    tab.page.get_by_label("Run and measure").check()
    tab.page.get_by_text("rows read", exact=False).first.wait_for()
    assert "analyze=true" in tab.page.url
    tab.page.reload()
    assert box.input_value() == "hour = 5"
    assert tab.page.get_by_label("Run and measure").is_checked()
    tab.check()


def test_it_needs_no_script(tabs):
    tab = tabs(java_script_enabled=False)
    plan(tab)
    tab.page.get_by_label("Filter").fill("hour = 5")
    tab.page.get_by_role("button", name="Plan").click()
    tab.page.wait_for_url("**/plan?filter=hour+%3D+5*")
    assert "skip" in tab.text(".scans")


def test_the_keyboard_reaches_the_filter_and_each_scan(tab):
    plan(tab, "ds in ('2015-01-06', '2015-01-08') and hour = 5 and region = 'de'")
    tab.page.get_by_label("Filter").focus()
    for _ in range(3):
        tab.page.keyboard.press("Tab")
    assert tab.page.evaluate("document.activeElement.innerText") == "Plan"
    tab.page.locator(".drawn a").first.focus()
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**#scan-1")


@pytest.mark.parametrize(
    ("filter", "caret"),
    [
        ("hour = ", "hour =\n      ^"),
        ("hour = 5 and month = 1", "hour = 5 and month = 1\n             ^"),
        ("hour = 'x'", "hour = 'x'\n^"),
        ("ds = 2015-01-01 or (hour = 5", "ds = 2015-01-01 or (hour = 5\n                            ^"),
    ],
)
def test_a_filter_that_cannot_be_used_shows_where(tab, filter, caret):
    assert plan(tab, filter) == 400
    assert tab.page.locator(".problem pre").inner_text() == caret
    assert tab.page.get_by_label("Filter").input_value() == filter


@pytest.mark.parametrize("query", ["analyze=perhaps", "like_dialect=posix"])
def test_a_wrong_question_is_a_page(tab, query):
    assert tab.open(f"{RIDES}/plan?{query}") == 400
    assert "InvalidInput" in tab.text()


def test_an_unknown_table_is_a_page(tab):
    assert tab.open("/databases/shop/tables/nosuch/plan") == 404
    assert "TableNotFound" in tab.text()


def test_the_dialect_of_patterns(tab):
    plan(tab, "region like '.r'", like_dialect="hive2", analyze="true")
    assert "3" in tab.text(".left-out")
    assert tab.page.get_by_label("Patterns").input_value() == "hive2"
    assert "like_dialect=hive2" in tab.page.get_by_role("link", name="Partitions of this filter").get_attribute("href")


@pytest.mark.parametrize(
    ("table", "filter", "said"),
    [
        ("empty", None, "no values"),
        ("empty", "hour = 5", "Nothing is known of the table's rows"),
        ("plain", None, "Partition columns none"),
        ("rides", "hour > 5 and hour < 5", "No partition can match, so nothing is read."),
        ("rides", None, "whole table"),
        ("rides", "ds is null", "1 scan"),
    ],
)
def test_plans_of_little(tab, table, filter, said):
    assert plan(tab, filter, f"/databases/shop/tables/{table}", analyze="true") == 200
    assert said in " ".join(tab.text().split())
    tab.check()


def test_thousands_of_scans_are_clipped_and_binned(tab, catalog):
    days = ", ".join(f"'2015-{month:02d}-{day:02d}'" for month in range(1, 13) for day in range(1, 29, 2))
    text = f"ds in ({days}) and hour in ({', '.join(map(str, range(0, 64, 2)))})"  # on a table without statistics
    scans = len(catalog.store.plan("shop", "empty", text).get_plans())
    assert scans == 168 * 32
    assert plan(tab, text, "/databases/shop/tables/empty") == 200
    assert f"{scans - 40:,} more scans" in tab.text()
    assert tab.page.locator(".scans > li").count() == 40
    assert tab.page.locator(".drawn svg *").count() < 200
    tab.check()


def test_hostile_text_is_shown_and_not_run(tab):
    tab.on("dialog", lambda dialog: pytest.fail(dialog.message))
    table = "/databases/shop/tables/hostile"
    for text in (None, f"a = '{HOSTILE.replace(chr(39), '')}'", "a like '<script>%'", "a is not null"):
        assert plan(tab, text, table, analyze="true") == 200
        assert "<script>" in tab.text()
        assert tab.page.locator("main script").count() == 0
        tab.check()
    assert plan(tab, "<script>alert(1)</script>", table) == 400
    assert "<script>" in tab.text(".problem")
    assert tab.page.locator("main script").count() == 0
