"""Results on the pages of queries, in a browser: the table and its pages, the chart, downloads."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from tests.console.finishing import done, started, submitted, succeeded
from tests.console.rides import DAYS


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


def test_rows_come_in_pages(still, service):
    id_ = succeeded(service, ["n", "n"], [list(range(2_250)), [f"row {number}" for number in range(2_250)]])
    still.open(f"/queries/{id_}")
    assert still.page.locator(".result th").all_inner_texts() == ["n\nbigint", "n\nstring"]
    firsts, pages = [], 0
    while True:
        pages += 1
        firsts.append(still.page.locator(".result td").first.inner_text())
        if not still.page.get_by_role("link", name="Next rows").count():
            break
        still.page.get_by_role("link", name="Next rows").click()
    assert firsts == [str(number) for number in range(0, 2_250, 100)]
    assert "Rows 2,201 to 2,250 of 2,250" in still.text()
    still.page.get_by_role("link", name="First rows").click()
    assert "Rows 1 to 100 of 2,250" in still.text()


def test_values_are_told_from_what_is_not_there(tab, service):
    columns = [
        ["NULL", None, "", "y" * 5_000],
        pa.array([True, None, False, None]),
        pa.array([1, None, 2, 3], pa.decimal128(9, 2)),
    ]
    id_ = succeeded(service, ["text", "flag", "price"], columns, types=["string", "boolean", "decimal(9,2)"])
    tab.open(f"/queries/{id_}")
    rows = tab.page.locator(".result tbody tr").all_inner_texts()
    assert rows[:3] == ["NULL\ttrue\t1.00", "NULL\tNULL\tNULL", "empty\tfalse\t2.00"]
    assert rows[3].startswith("y" * 1_000 + " … cut")
    assert tab.page.locator(".result td i").count() == 3 + 1 + 1 + 1
    aligned = [
        tab.page.locator(".result tr >> nth=1 >> td").nth(at).evaluate("cell => getComputedStyle(cell).textAlign")
        for at in range(3)
    ]
    assert aligned == ["left", "left", "right"]
    tab.check()


def test_doubles_are_shown_with_the_digits_that_count_and_a_hint_has_all(tab, service):
    values = [0.1 + 0.2, 1234.5678901234567, 1 / 3, math.inf, 12.5, 1e300 / 3]
    id_ = succeeded(service, ["name", "x"], [["a", "b", "c", "d", "e", "f"], values])
    tab.open(f"/queries/{id_}")
    cells = tab.page.locator(".result td.number")
    shown = cells.all_inner_texts()
    assert shown == ["0.3", "1234.5679", "0.33333333", "Infinity", "12.5", "3.3333333e+299"]
    assert cells.first.get_attribute("title") == "0.30000000000000004"
    assert cells.nth(4).get_attribute("title") is None
    assert "0.33333333" in tab.page.locator("figure svg:visible text").all_text_contents()
    assert "0.30000000000000004" in tab.page.request.get(f"{tab.url}/queries/{id_}/results?format=csv").text()


@pytest.mark.parametrize("form", ["CSV", "NDJSON", "Arrow"])
def test_results_are_downloaded(tab, month, form):
    tab.open(f"/queries/{month}")
    with tab.page.expect_download() as download:
        tab.page.get_by_role("link", name=form, exact=True).click()
    assert download.value.suggested_filename == f"query-{month[:12]}.{form.lower()}"


def test_bars_show_a_number_of_each_text(tab, service):
    id_ = succeeded(service, ["bike", "fare"], [["a", None, "<b>"], [3.5, -2.0, math.nan]])
    tab.open(f"/queries/{id_}")
    chart = tab.page.locator("figure svg:visible")
    assert chart.locator("text").all_text_contents() == ["a", "3.5", "NULL", "-2.0", "<b>", "NaN"]
    assert chart.locator("rect").count() == 2
    assert tab.page.get_by_role("img", name="By bike: 3 bars, from -2 to 3.5").count() == 1
    tab.check()


@pytest.mark.parametrize(
    ("columns", "drawn"),
    [
        ([["2015-01-01-05", "2015-01-01-06"], [1, 2]], "line"),
        ([["2015", None], [1, 2]], "line"),
        ([["2015-13", "2015-01"], [1, 2]], "bar"),
        ([pa.array([0, 10**15], pa.timestamp("us", "UTC")), [1.0, 2.0]], "line"),
        ([pa.array([2**31 - 1, 0, None], pa.date32()), [1, 2, 3]], "line"),
        ([pa.array([2**31 - 1, None], pa.date32()), [1, 2]], None),
        ([pa.array(DAYS), [math.nan] * 31], None),
        ([[1, 2], [3, 4]], None),
        ([["a", "b"], ["c", "d"]], None),
        ([pa.array([], pa.string()), pa.array([], pa.int64())], None),
        ([[f"row {number}" for number in range(100)], list(range(100))], "bar"),
        ([pa.array([0, 1], pa.date32()), [1, 2], ["a", "b"]], None),
        ([["2015-01-01", "2015-01-02"], [10**18, 10**18 + 1], *[[1, 2]] * 8], "line"),
    ],
)
def test_what_is_drawn(still, service, columns, drawn):
    id_ = succeeded(service, [f"c{at}" for at in range(len(columns))], columns)
    assert still.open(f"/queries/{id_}") == 200
    marks = {"line": ".axis ~ .series1", "bar": ".series1:not(.axis ~ *)"}
    assert still.page.locator("figure").count() == (drawn is not None)
    if drawn is not None:
        assert still.page.locator(f"figure svg:visible :is({marks[drawn]})").count()


def test_a_result_that_is_gone_says_so(still, service):
    gone, expired = (succeeded(service, ["n"], [[1]], text=f"select {number}") for number in range(2))
    service.results.remove(gone)
    assert still.open(f"/queries/{gone}") == 200
    assert "the result is no longer there" in still.text(".problem")
    service.release(expired)
    service._sweep()
    still.open(f"/queries/{expired}")
    assert "The result was removed as its time was over." in still.text()
    statement = submitted(service, text="create table t (n int)")
    started(service, statement)
    done(service, statement, [], [])
    still.open(f"/queries/{statement}")
    assert "The statement has no rows." in still.text()
