"""The pages of queries over a real Spark: a cube query is typed with completion, run, followed and drawn."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from pyarrow import parquet

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc
from tests.console.browser import WIDE, Tab
from tests.console.rides import rides
from tests.query_service.test_doors import SLOW, serve

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DAYS = [dt.date(2015, 1, day) for day in (28, 29, 30)]
SOON = 180_000
"""Milliseconds, of which a busy machine may need many."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server whose database `shop` has the cube with three days: of 30, 60 and 90 minutes."""
    folder = tmp_path_factory.mktemp("spark")
    with connect(f"sqlite://{folder}/store.db") as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        cubes.create_all(rides(f"file:{folder}/daily"))
        for number, day in enumerate(DAYS, 1):
            path = folder / "daily" / f"dt={day}"
            path.mkdir(parents=True)
            rows = {"day": [day, day], "minutes": [10 * number, 20 * number], "fare": [1.5 * number, None]}
            parquet.write_table(pa.table(rows), path / "a.parquet")
        cubes.add_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": str(day)}) for day in DAYS])
    with serve(folder) as server:
        yield server


@pytest.fixture
def tab(browser, server):
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(SOON)
    yield Tab(context.new_page(), server.ready["http"].rstrip("/"), update=False)
    context.close()


def test_a_cube_query_is_typed_run_and_drawn(tab):
    with tab.page.expect_response("**/databases/shop/names"):
        tab.open("/queries?database=shop")
    tab.page.locator("textarea").focus()
    for start, name in (("cube select day, minu", "minutes"), (", fa", "fare"), ("\nfrom rid", "rides")):
        tab.page.keyboard.type(start)
        tab.page.get_by_role("option", name=name).first.wait_for()
        tab.page.keyboard.press("Tab")
    tab.page.keyboard.type("\nwhere time_range_in(star")
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.type(", '2015-01-28', '2015-01-31') ")
    assert tab.page.locator("textarea").input_value() == (
        "cube select day, minutes, fare\nfrom rides\nwhere time_range_in(start_time, '2015-01-28', '2015-01-31') "
    )
    tab.page.get_by_text("DAILY [2015-01-28, 2015-01-31)").wait_for()
    tab.page.keyboard.press("Control+Enter")
    tab.page.locator("h1 :is(.succeeded, .failed)").wait_for()
    assert "succeeded" in tab.text("h1"), tab.text()
    rows = sorted(tab.page.locator(".result tbody tr").all_inner_texts())
    assert rows == ["2015-01-28\t30\t1.5", "2015-01-29\t60\t3.0", "2015-01-30\t90\t4.5"]
    assert tab.page.locator(".result th").all_inner_texts() == ["day\ndate", "minutes\nbigint", "fare\ndouble"]
    assert tab.page.locator("figure svg:visible polyline.series1").count() == 3
    assert "3 times from 2015-01-28 to 2015-01-30" in tab.page.locator("figure svg:visible > title").text_content()
    assert "DAILY [2015-01-28, 2015-01-31)" in tab.text()
    tab.check()


def test_what_takes_long_is_followed_and_cancelled(tab):
    tab.open("/queries")
    tab.page.locator("textarea").fill(SLOW)
    tab.page.get_by_role("button", name="Run").click()
    tab.page.wait_for_url("**/queries/*")
    tab.page.wait_for_function(
        "() => document.querySelector('[data-figure=tasks]')?.textContent.startsWith('0 of ') "
        "&& !document.querySelector('[data-figure=tasks]').textContent.endsWith(' 0')"
    )
    assert "Spark runs it." in tab.text()
    tab.check()
    tab.page.get_by_role("button", name="Cancel").click()
    tab.page.get_by_text("The query was cancelled.").wait_for()


def test_what_spark_refuses_says_why(tab):
    tab.open("/queries?database=shop")
    tab.page.locator("textarea").fill("select minutes from rides")
    tab.page.keyboard.press("Control+Enter")
    tab.page.get_by_text("rides is a cube: ask it by CUBE SELECT").wait_for()
    tab.check()
