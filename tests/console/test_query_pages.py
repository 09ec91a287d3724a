"""Pages of queries, in a browser: the editor, one query, the history. A script plays Spark."""

from __future__ import annotations

import datetime as dt
import math

import pyarrow as pa
import pytest

from hbstore.cubes import Cubes, PartitionDesc
from hbstore.query_service.messages import Cancelled
from hbstore.query_service.query import Problem, Request
from tests.console.finishing import failed, started, submitted, succeeded
from tests.console.rides import rides

DAYS = [dt.date(2015, 1, 1) + dt.timedelta(days=number) for number in range(31)]
ASKED = """\
cube select day, minutes, fare
from rides
where time_range_in(start_time, '2015-01-01', '2015-02-01')"""
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp; Ünï \u200b" + "x" * 300


@pytest.fixture(scope="module")
def service(queries, catalog):
    """The query service; the database `shop` has a cube with a month of days."""
    cubes = Cubes(catalog.store, "shop")
    cubes.create_all(rides())
    cubes.add_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": str(day)}) for day in DAYS])
    return queries[0]


@pytest.fixture(autouse=True)
def spark_is_free(service):
    """Let all queries of earlier tests end."""
    yield
    for query in service.list():
        if not query.state.is_final:
            service.runner.heard(Cancelled(query.id))


@pytest.fixture(scope="module")
def month(service):
    """A cube query that has succeeded: a month of days with two measures."""
    wave = [1_000 + 400 * math.sin(number / 3) + 25 * number for number in range(31)]
    fares = [None if number in (11, 12, 13) else 600 + 300 * math.cos(number / 4) for number in range(31)]
    plan = service.explain(Request(text=ASKED, database="shop")).to_dict()
    return succeeded(
        service,
        ["day", "minutes", "fare"],
        [pa.array(DAYS), [round(one) for one in wave], [one and round(one, 2) for one in fares]],
        text=ASKED,
        database="shop",
        name="Rides in January",
        plan=plan,
    )


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("dark", [False, True])
def test_a_query_with_its_table_and_chart(tabs, month, narrow, dark):
    tab = tabs(narrow=narrow, dark=dark)
    assert tab.open(f"/queries/{month}") == 200
    assert tab.text("h1") == "Rides in January succeeded"
    assert tab.page.locator(".result tbody tr").first.inner_text() == "2015-01-01\t1000\t900.0"
    chart = tab.page.locator("figure svg:visible")
    assert chart.count() == 1
    names = 1 if narrow else 2  # in the legend, and beside the line
    assert chart.locator("polyline.series1").count() == 1 + names
    assert chart.locator("polyline.series2").count() == 2 + names  # as there is a gap
    tab.check()
    if not narrow and not dark:
        tab.picture("query")


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.usefixtures("month")
def test_the_editor_with_the_history(tabs, service, narrow, dark):
    failed(service, Problem(error="QueryFailed", text="no"), text="select 1 / 0", database="shop")
    running = submitted(
        service, text="select bike, sum(fare) from rides_raw group by bike", user="bob", database="shop"
    )
    started(service, running, tasks=8, tasks_done=3)
    tab = tabs(narrow=narrow, dark=dark)
    assert tab.open("/queries") == 200
    box = tab.page.locator("textarea")
    box.fill("cube select minutes\nfrom rides\nwhere time_range_in(sta, '2015-01-01', '2015-01-08')")
    box.evaluate("box => { const at = box.value.indexOf('sta,') + 3; box.setSelectionRange(at, at); }")
    tab.page.keyboard.press("Control+Space")
    tab.page.get_by_role("option", name="start_time").wait_for()
    tab.check()
    if not narrow and not dark:
        tab.picture("queries")
