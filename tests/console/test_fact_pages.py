"""Pages of facts, in a browser: timelines under one axis, a cover with its commands, candidates of a query."""

from __future__ import annotations

import html
import re
import shlex
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from hbstore.cli import app
from hbstore.cubes import Cubes, Fact, Storage
from hbstore.store.table_row import table_key
from hbstore.store.timeline_cell import cell_name
from tests.console.browser import LOOKS
from tests.console.facts import HOUR, descs, got, hired

HIRES = "/databases/city/facts/hires"


@pytest.fixture(scope="module", autouse=True)
def cubes(catalog):
    return hired(catalog.store)


@LOOKS
def test_a_fact_with_its_timelines_a_cover_and_candidates(tabs, narrow, dark):
    tab = tabs(narrow=narrow, dark=dark)
    query = "cube select minutes, bike from rides where time_range_in(start_time, '2015-03-01', '2015-03-08')"
    assert tab.open(f"{HIRES}?query={quote(query)}") == 200
    assert tab.lines("Timelines in numbers") == [
        "lake_hires\tHOURLY\tdt\t2015-03-01-00\t2015-04-21-08\t1,179\t54\t4",
        "\tDAILY\tdt\t2015-01-05\t2015-04-14\t97\t3\t3",
        "vault_hires\tDAILY\tdt\t2014-12-10\t2015-04-11\t118\t5\t3",
        "\tMONTHLY\tdt\t2014-11\t2015-01\t3\t0\t0",
    ]
    assert tab.page.locator(".lack").all_inner_texts() == [
        "missing: 2015-02-20 to 2015-02-21",
        "missing: 2015-03-18-05 to 2015-03-18-09",
        "missing: 2015-04-07 to 2015-04-08",
        "missing: 2015-04-15-02 to 2015-04-15-03",
    ]
    assert "taken" in tab.text("table.candidates tr:has-text('lake_bikes')")
    assert "COLUMN_NOT_FOUND it has no bike" in tab.text("table.candidates tr:has-text('vault_hires')")
    tab.check()
    if not narrow and not dark:
        tab.picture("fact")


@pytest.mark.parametrize(
    "path", [f"{HIRES}?from=2015-03-01&to=2015-04-01", "/databases/city/model", "/databases/city/timelines"]
)
def test_no_column_is_cut_off_on_a_telephone(tabs, path):
    tab = tabs(narrow=True)
    tab.open(path)
    wide = tab.page.locator(".wide:not(.timelines)")  # a drawing is moved below the finger
    sizes = wide.evaluate_all("all => all.map(one => [one.ariaLabel, one.scrollWidth, one.clientWidth])")
    assert sizes
    assert [name for name, inside, outside in sizes if inside > outside] == []
    for name in ("There", "Missing", "Holes") if "model" not in path else ():
        label = tab.page.locator(f"td[data-label={name}]").first
        assert label.is_visible()
        assert label.evaluate("cell => getComputedStyle(cell, '::before').content") == f'"{name}"'


def test_the_range_is_moved_and_zoomed_by_keyboard(tab):
    tab.open(f"{HIRES}?from=2015-03-01&to=2015-03-05")
    tab.page.keyboard.press("+")
    tab.page.wait_for_url("**from=2015-03-02&to=2015-03-04")
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url("**from=2015-03-03&to=2015-03-05")
    tab.page.keyboard.press("ArrowLeft")
    tab.page.wait_for_url("**from=2015-03-02&to=2015-03-04")
    tab.page.keyboard.press("-")
    tab.page.wait_for_url("**from=2015-03-01&to=2015-03-05")
    tab.page.keyboard.press("0")
    tab.page.wait_for_url("**from=2014-11-01&to=2015-04-21-09")
    assert tab.said == []


def test_keys_in_a_field_write_into_it(tab):
    tab.open(f"{HIRES}?from=2015-03-01&to=2015-03-05")
    tab.page.get_by_role("textbox", name="From", exact=True).fill("")
    tab.page.get_by_role("textbox", name="From", exact=True).press_sequentially("now-0day")
    assert tab.page.get_by_role("textbox", name="From", exact=True).input_value() == "now-0day"
    assert tab.page.url.endswith("?from=2015-03-01&to=2015-03-05")


def test_without_scripts_links_a_form_and_the_drawing_zoom_from_months_to_hours(tabs):
    tab = tabs(java_script_enabled=False)
    tab.open(HIRES)
    for name, ends in (("2015-03", "from=2015-03-01&to=2015-04-01"), ("03-16", "from=2015-03-16&to=2015-03-23")):
        tab.page.get_by_role("link", name=f"Zoom into {name}", exact=True).click()
        tab.page.wait_for_url(f"**{ends}")
    tab.page.get_by_role("link", name="Zoom into 03-18").focus()
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**from=2015-03-18&to=2015-03-19")
    tab.page.get_by_role("link", name="Zoom out").click()
    tab.page.wait_for_url("**from=2015-03-17-12&to=2015-03-19-12")
    tab.page.get_by_role("textbox", name="From", exact=True).fill("2015-03-18-04")
    tab.page.get_by_role("textbox", name="To", exact=True).fill("2015-03-18-10")
    tab.page.get_by_role("button", name="Show").click()
    tab.page.wait_for_url("**from=2015-03-18-04&to=2015-03-18-10")
    assert "10 cells are an hour" not in tab.text(".times-legend")
    assert tab.page.locator(".lack").all_inner_texts() == ["missing: 2015-03-18-05 to 2015-03-18-09"]
    hints = tab.page.locator(".timelines rect.missing title").all_text_contents()
    assert "HOURLY missing: 2015-03-18-05:00 to 2015-03-18-09:00" in hints
    assert "missing: 2015-03-18-05:00 to 2015-03-18-09:00" in hints


def test_candidates_are_found_while_a_query_is_typed(tab):
    tab.open(HIRES)
    field = tab.page.get_by_role("textbox", name="Cube query")
    assert field.input_value().startswith("cube select minutes from rides where time_range_in(start_time, '2014-11-01'")
    field.fill("cube select minutes from rides where time_range_in(start_time, '2015-02-19', '2015-02-22')")
    tab.page.get_by_text("MISSING_PARTITIONS").first.wait_for()
    assert "nothing for [2015-02-20, 2015-02-21)" in tab.text("tr:has-text('vault_hires') >> nth=-1")
    field.fill("cube select minutes frm rides where")
    tab.page.locator("#answer .problem pre").wait_for()
    assert "^" in tab.text("#answer .problem pre")
    assert [one for one in tab.said if "400" not in one] == []


def test_the_commands_register_what_is_missing(catalog, url, folder, monkeypatch):
    """Each command that a page shows is run; then nothing is missing."""
    hired(catalog.store, "registered")
    address = "/databases/registered/facts/hires?from=2014-12-25&to=2015-04-21-12"
    text = got(url, address)
    commands = [line for line in html.unescape(text).replace("<pre>", "\n").splitlines() if line.startswith("hbstore ")]
    assert {shlex.split(one)[8] for one in commands} == {"HOURLY", "DAILY"}
    monkeypatch.setenv("HBSTORE_URL", f"sqlite://{folder}/store.db")
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command.partition("</pre>")[0])[1:])
        assert done.exit_code == 0, done.output
    assert "Nothing is missing" in got(url, address)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ("from=2015-03-05&to=2015-03-01", "the time range is empty, or ends before it begins"),
        ("from=2015-03-05&to=2015-03-05", "the time range is empty, or ends before it begins"),
        ("from=2015-03-45", "the day does not exist"),
        ("from=%3Cscript%3E", "the time does not parse"),
        ("from=10000", "the time does not parse"),
        ("column=%3Cscript%3E", "no storage table is partitioned by the time dimension"),
        ("query=%3Cscript%3E", "CubeSyntaxError"),
    ],
)
def test_bad_input_is_named_on_the_page(url, asked, error):
    text = got(url, f"{HIRES}?{asked}", 400)
    assert error in text
    assert "<script>" not in text
    assert "lake_hires" in text, "the rest is there"


def test_what_is_not_there_is_a_page(url):
    assert "the fact does not exist" in got(url, "/databases/city/facts/nosuch", 404)
    assert "the database does not exist" in got(url, "/databases/nosuch/timelines", 404)


@pytest.mark.parametrize(
    "ends", ["from=0001&to=9999", "from=0001", "to=9999-12-31-23:59:59,999", "from=9999-12-31-23&to=9999-12-31-23:30"]
)
def test_all_of_the_calendar_can_be_shown(url, ends):
    text = got(url, f"{HIRES}?{ends}")
    for link in set(re.findall(r'href="([^"]*from=[^"]*)"', text)):
        got(url, html.unescape(link) if link.startswith("/") else HIRES + html.unescape(link))


def test_facts_without_partitions_or_tables_or_times(catalog, url):
    cubes = Cubes(catalog.store, "city")
    column = {"name": "minutes", "type": "bigint"}
    dated = {"partition_columns": [{"name": "dt", "type": "string"}], "time_partition_columns": ["dt"]}
    for name, tables in {
        "nowhere": [],
        "nothing": [{"storage": "lake", "update_periods": ["SECONDLY", "YEARLY"], **dated}],
        "always": [{"storage": "lake", "update_periods": ["CONTINUOUS"]}],
    }.items():
        cubes.create(Fact(name=name, cube="rides", columns=[column], storage_tables=tables))
    assert "The fact is on no storage" in got(url, "/databases/city/facts/nowhere")
    assert "no partitions with times yet" in got(url, "/databases/city/facts/nothing")
    text = got(url, "/databases/city/facts/nothing?from=2015&to=2016-01-01-00:00:02")
    assert "--update-period YEARLY --time dt=2015\n" in text
    assert "--update-period SECONDLY --time dt=2016-01-01-00-00-01</pre>" in text
    assert "always up to date" in got(url, "/databases/city/facts/always")


def test_a_damaged_timeline_is_named_and_the_others_are_shown(catalog, url):
    store = catalog.store
    hired(store, "damaged")
    store.timelines.read("damaged.lake_hires")
    key, cell = table_key("damaged", "lake_hires"), cell_name("DAILY.dt")
    stored = store.rows.get_all(key)[cell]
    assert store.rows.compare_and_put(key, cell, stored, stored.replace(b"2015-04-14", b"2015-04-44"))
    Cubes(store, "damaged").add_partitions("hires", "lake", descs(HOUR, "2016-01-01-00", "2016-01-01-01"))
    text = got(url, "/databases/damaged/facts/hires")
    assert text.count("a stored timeline is damaged") == 2, "in the table of numbers, and where the cover would be"
    assert "hbstore timeline rebuild damaged.lake_hires" in text
    assert ">118<" in text, "the days of the other storage"
    assert "a stored timeline is damaged" in got(url, "/databases/damaged/timelines")


def test_hostile_texts_are_shown_as_texts(tab, catalog):
    hostile = "<script>alert(1)</script>\"'>&lt;💥" + "x" * 300
    cubes = Cubes(catalog.store, "city")
    cubes.create(Storage(name="evil", endpoint="javascript:alert(1)", description=hostile))
    fact = cubes.fact("bikes")
    cubes.create(fact.changed(name="b" * 100, description=hostile))
    for path in (f"/databases/city/facts/{'b' * 100}", "/databases/city/model", "/databases/city/model/storages/evil"):
        assert tab.open(f"{path}?query={quote(hostile)}&column=dt") in (200, 400)
        assert hostile in tab.text()
        assert tab.page.locator("a[href^=javascript]").count() == 0
        tab.said = [one for one in tab.said if "400" not in one]
        tab.check()
