"""Charts as drawings: what of any values is drawn, and that no text breaks out of them."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.console.drawings.chart import SERIES, ChartBar, Series, bar_chart, line_chart

SVG = "{http://www.w3.org/2000/svg}"
DAY = 86_400_000_000
NAN, INF = math.nan, math.inf
VALUES = st.none() | st.floats()


def parsed(drawing):
    return ET.fromstring(str(drawing))  # noqa: S314  our own


def lines(drawing, number=1):
    """The points of each stretch of a line; neither the legend nor the mark beside its name."""
    tree = parsed(drawing)
    drawn = [one.get("points") for one in tree.iter(f"{SVG}polyline") if one.get("class") == f"series{number} line"]
    points = [[tuple(map(float, point.split(","))) for point in one.split()] for one in drawn]
    return [one for one in points if len(one) > 2 or one[0][1] != one[-1][1]]


def hints(drawing):
    return [one.text for one in parsed(drawing).iter(f"{SVG}title")][1:]


def texts(drawing):
    return [one.text for one in parsed(drawing).iter(f"{SVG}text")]


def month(*values):
    return line_chart([at * DAY for at in range(len(values))], [Series("fare", values)], 1_200, "Fares")


def test_a_gap_ends_a_line():
    assert [len(line) for line in lines(month(1, 2, 3, None, 5, 6, NAN, 7, 9, INF, 2, 4, -INF, 1))] == [3, 2, 2, 2]
    assert len(hints(month(1, 2, 3, None, 5))) == 4


def test_higher_values_are_higher_and_later_times_further_right():
    (points,) = lines(month(1, 5, 3, 9))
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    heights = [-y for _, y in points]
    assert sorted(range(4), key=lambda at: heights[at]) == [0, 2, 1, 3]


def test_the_zero_line_is_between_negative_and_positive_values():
    drawing = month(-2, 3, 1)
    (points,) = lines(drawing)
    axes = re.findall(r'points="([\d., ]+)" fill="none" class="axis line"', str(drawing))
    zero = float(axes[0].split()[0].split(",")[1])
    assert points[1][1] < zero < points[0][1]
    assert "0" in texts(drawing)


def test_one_row_is_a_point():
    drawing = month(7)
    assert lines(drawing) == []
    assert hints(drawing) == ["1970-01-01  fare: 7"]
    assert "1 time from 1970-01-01 to 1970-01-01" in str(drawing)


def test_a_single_point_among_many_is_seen():
    values = [float(at) for at in range(1_000)]
    values[500] = values[502] = None
    assert str(month(*values)).count("<rect") == 1


def test_ten_thousand_rows_keep_their_peaks_and_take_few_bytes():
    values = [math.sin(at / 50) for at in range(10_000)]
    values[4_321], values[8_765] = 50.0, -50.0
    drawing = month(*values)
    ((line),) = lines(drawing)
    assert len(line) <= 4 * 1_200
    assert len(str(drawing)) < 75_000
    heights = [y for _, y in line]
    everything = [y for _, y in lines(month(50.0, -50.0, 1.0))[0]]
    assert (min(heights), max(heights)) == (min(everything[:2]), max(everything[:2]))


def test_lines_have_names_in_the_legend_and_beside_them_none_above_another():
    series = [Series(f"measure {number}", [number / 1_000, 1.0]) for number in range(6)]
    wide = line_chart([0, DAY], series, 1_200, "All")
    assert all(texts(wide).count(one.name) == 2 for one in series)
    beside = [
        float(one.get("y"))
        for one in parsed(wide).iter(f"{SVG}text")
        if one.text.startswith("measure") and float(one.get("x")) > 1_000
    ]
    assert len(beside) == 6
    assert all(low - high >= 17.9 for high, low in zip(sorted(beside), sorted(beside)[1:], strict=False))
    assert all(texts(line_chart([0, DAY], series, 360, "All")).count(one.name) == 1 for one in series)
    assert len({colour.value for colour in SERIES}) == 6


def heights(drawing, number):
    return [y for line in lines(drawing, number) for _, y in line]


def test_lines_of_other_sizes_have_axes_of_their_own():
    days = [at * DAY for at in range(4)]
    series = [
        Series("rides", [300, 280, 310, 290]),
        Series("bikes", [10, 4, 12, 6]),
        Series("fares", [250, 90, 60, 99]),
    ]
    drawing = line_chart(days, series, 1_200, "All")
    below = heights(drawing, 2)
    assert min(below) > max(heights(drawing, 1) + heights(drawing, 3)), "it is drawn below the larger ones"
    assert max(below) - min(below) > 60, "and is not flat"
    assert texts(drawing).count("1970-01-02") == 1, "with one axis of times"
    together = line_chart(days, [series[0], series[2]], 1_200, "All")
    assert max(heights(together, 1)) < max(heights(together, 2))


def test_a_line_of_zeros_needs_no_axis():
    one = line_chart([0, DAY, 2 * DAY], [Series("rides", [300, 2, 1])], 1_200, "All")
    two = line_chart([0, DAY, 2 * DAY], [Series("rides", [300, 2, 1]), Series("lost", [0, 0, 0])], 1_200, "All")
    assert float(parsed(two).get("height")) == float(parsed(one).get("height")) + 22  # of the legend


@pytest.mark.parametrize("width", [360, 1_200])
@given(st.lists(st.tuples(st.integers(-(10**15), 10**15), VALUES, VALUES), min_size=1, max_size=40))
def test_whatever_is_drawn_is_in_the_picture(width, rows):
    rows.sort(key=lambda row: row[0])
    series = [Series("one", [row[1] for row in rows]), Series("other", [row[2] for row in rows])]
    if not any(value is not None and math.isfinite(value) for one in series for value in one.values):
        return
    drawing = str(line_chart([row[0] for row in rows], series, width, "Some"))
    assert "nan" not in drawing.replace("nan ", "")
    tree = parsed(drawing)
    height = float(tree.get("height"))
    for one in tree.iter(f"{SVG}polyline"):
        for point in one.get("points").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert -0.5 <= y <= height


def test_bars_begin_at_zero():
    bars = [
        ChartBar("a", "5", 5),
        ChartBar("b", "-3", -3),
        ChartBar("c", "NULL", None),
        ChartBar("d", "NaN", NAN),
        ChartBar("e", "0", 0),
    ]
    tree = parsed(bar_chart(bars, 1_200, "Some"))
    boxes = [(float(one.get("x")), float(one.get("width"))) for one in tree.iter(f"{SVG}rect")]
    zero = float(next(tree.iter(f"{SVG}polyline")).get("points").split(",")[0])
    assert boxes[0][0] == pytest.approx(zero, abs=0.02)
    assert boxes[1][0] + boxes[1][1] == pytest.approx(zero, abs=0.02)
    assert boxes[0][1] / boxes[1][1] == pytest.approx(5 / 3, rel=0.01)
    assert len(boxes) == 3  # neither NULL nor NaN
    assert [one.text for one in tree.iter(f"{SVG}text")] == [text for bar in bars for text in (bar.name, bar.text)]


@pytest.mark.parametrize(
    "values", [(None, None), (0.0, 0.0), (-5.0, -5.0), (1.7e308, -1.7e308), (5e-324, 0.0), (INF, 1)]
)
def test_bars_of_any_values(values):
    drawing = str(bar_chart([ChartBar(f"row {at}", str(value), value) for at, value in enumerate(values)], 360, "Any"))
    for one in parsed(drawing).iter(f"{SVG}rect"):
        assert 0 <= float(one.get("x")) <= float(one.get("x")) + float(one.get("width")) <= 360.1


def test_no_text_breaks_out():
    name = "<script>alert(1)</script>\"'&" + "x" * 300
    for drawing in (
        bar_chart([ChartBar(name, name, 1)], 1_200, name),
        line_chart([0, DAY], [Series(name, [1, 2]), Series(name, [2, 1])], 1_200, name),
    ):
        assert "<script" not in str(drawing)
        parsed(drawing)
