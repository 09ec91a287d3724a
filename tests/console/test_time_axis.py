"""The parts of a drawing of timelines that need no browser: views, units of an axis, and how large a drawing gets."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hbstore.console.drawings.time_axis import MOST, place, units_of
from hbstore.console.drawings.timelines import CELLS, TimelineLane, timelines_drawing
from hbstore.console.time_view import View
from hbstore.timelines import RangesPartitionTimeline, UpdatePeriod
from hbstore.timelines.picture import TimelineAxis
from hbstore.timelines.runs import Runs

NOW = datetime(2015, 1, 29, 6, tzinfo=UTC)


@st.composite
def views(draw):
    period = draw(st.sampled_from(UpdatePeriod))
    start = draw(st.integers(0, period.limit - 1))
    return View(period, start, draw(st.integers(start + 1, period.limit)), None)


@given(views())
def test_the_units_of_an_axis_are_all_of_it_and_few(view):
    axis = view.axis(CELLS)
    units = units_of(axis)
    assert 1 <= len(units) <= MOST
    assert units[0].start <= axis.edges[0] < units[0].stop
    assert units[-1].start < axis.edges[-1] <= units[-1].stop
    assert all(one.stop == two.start for one, two in pairwise(units))
    assert all(place(axis, one.start) < place(axis, one.stop) for one in units)


@given(views())
def test_every_move_is_an_address_that_leads_there(view):
    timeline = RangesPartitionTimeline("s1_sales", view.period, "dt")
    for one in (view, view.closer, view.wider, view.earlier, view.later):
        if one is not None:
            again = View.of([timeline], *one.texts, NOW)
            assert (again.start, again.stop) == (one.start, one.stop)


def test_a_view_of_one_part_is_not_zoomed_further():
    view = View(UpdatePeriod.HOURLY, 5, 6, (5, 6))
    assert (view.closer, view.all) == (None, None)


def test_fifty_timelines_of_a_million_hours_take_300_kb_at_any_zoom():
    hours, pick = UpdatePeriod.HOURLY, random.Random(1)
    first = hours.parse_index("1910-01-01-00")
    full = [(first, first + 1_000_000)]
    for size in (1_000_000, 200_000, 87_600, 50_000, 20_000, 8_760, 2_000, 700, 48):
        axis = TimelineAxis.over(hours, first, first + size, CELLS)
        lanes = []
        for number in range(50):
            runs = Runs.of_ranges(full)
            runs.subtract(Runs.of(sorted(pick.sample(range(first + 1, first + size), size // 100))))
            lanes.append(
                TimelineLane(f"s{number:02}_rides", "HOURLY", list(axis.cells_of(hours).stretches(runs.ahead)))
            )
        drawn = str(timelines_drawing(axis, lanes, lambda start, stop: f"?{start}&{stop}", "rides"))
        assert len(drawn) < 270_000, "the rest of the page takes 30 KB"
