"""The picture of timelines against the naive answer: every part that reaches into a cell, looked at one by one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hbstore.pictures.drawing import FULL, MISSING, PARTLY
from hbstore.timelines import UpdatePeriod
from hbstore.timelines.picture import ASCII, BLOCKS, LEAST_BAR, CellStretch, TimelineAxis, TimelineBar, picture
from hbstore.timelines.runs import Runs
from hbstore.times.moments import LIMIT

DAY = UpdatePeriod.DAILY


def bar(period, start, pieces):
    """A bar that begins at an index; pieces are how many are there and how many are missing, in turn."""
    ranges, at = [], start
    for there, missing in pieces:
        ranges.append((at, at + there))
        at += there + missing
    return TimelineBar(("s1_sales", period.name, "dt"), period, ranges)


PIECES = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=8)


@st.composite
def bars(draw):
    """Bars of any periods that lie near one another, some empty, also at the ends of the calendar."""
    moment = draw(st.one_of(st.integers(0, 10**13), st.integers(63 * 10**15, 64 * 10**15), st.just(LIMIT)))
    made = []
    for period in draw(st.lists(st.sampled_from(UpdatePeriod), min_size=1, max_size=4)):
        pieces = draw(PIECES)
        length = sum(there + missing for there, missing in pieces)
        start = period.floor_index(moment) + draw(st.integers(-50, 50))
        made.append(bar(period, min(max(start, 0), period.limit - length), pieces))
    return made


def parts_of_cell(period, begin, end):
    """The indexes of the parts that reach into a cell."""
    return range(period.floor_index(begin), period.ceil_index(end))


@given(bars(), st.integers(1, 300))
def test_a_cell_is_full_if_all_its_parts_are_there_and_empty_if_none_is(drawn, width):
    axis = TimelineAxis.of(drawn, width)
    if axis is None:
        assert not any(one.ranges for one in drawn)
        return
    assert len(axis) <= width
    for one in drawn:
        cells = axis.draw(one)
        assert len(cells) == len(axis)
        there = Runs([start for start, _ in one.ranges], [stop for _, stop in one.ranges])
        for cell, (begin, end) in zip(cells, pairwise(axis.edges), strict=True):
            parts = parts_of_cell(one.period, begin, end)
            if len(parts) > 1_000:  # the smallest period beside the largest
                continue
            found = [part in there for part in parts]
            assert found
            assert (cell == BLOCKS.full) == all(found)
            assert (cell in {BLOCKS.hole, BLOCKS.outside}) == (not any(found))
            assert cell in {BLOCKS.full, BLOCKS.hole, BLOCKS.outside, *BLOCKS.some}


@given(bars(), st.integers(1, 300))
def test_a_cell_without_parts_is_a_hole_between_the_first_and_the_latest(drawn, width):
    axis = TimelineAxis.of(drawn, width)
    for one in drawn if axis else ():
        cells = axis.draw(one)
        inner = cells.strip(BLOCKS.outside)
        assert BLOCKS.outside not in inner
        assert not inner.startswith(BLOCKS.hole)
        assert not inner.endswith(BLOCKS.hole)
        assert bool(inner) == bool(one.ranges)
        assert (set(inner) == {BLOCKS.full}) <= (len(one.ranges) == 1)


@given(bars(), st.integers(1, 300))
@example([bar(UpdatePeriod.MONTHLY, 24_180, [(3, 1)]), bar(UpdatePeriod.WEEKLY, 105_150, [(2, 1)])], 40)
@example([bar(UpdatePeriod.YEARLY, 9_990, [(9, 0)]), bar(UpdatePeriod.WEEKLY, 521_000, [(2, 1)])], 40)
def test_the_cells_are_all_of_the_range_and_nothing_else(drawn, width):
    axis = TimelineAxis.of(drawn, width)
    if axis is None:
        return
    assert all(begin < end for begin, end in pairwise(axis.edges))
    ends = [one.period.moment(index) for one in drawn if one.ranges for index in (one.ranges[0][0], one.ranges[-1][1])]
    smallest = min((one.period for one in drawn if one.ranges), key=lambda period: period.rank)
    assert axis.edges[0] == smallest.moment(smallest.floor_index(min(ends)))
    assert axis.edges[-1] == smallest.moment(smallest.ceil_index(max(ends)))


@given(bars(), st.integers(1, 300))
def test_stretches_are_what_is_drawn(drawn, width):
    """What bisection finds out is what the sum of all ranges says."""
    axis = TimelineAxis.of(drawn, width)
    shown = {BLOCKS.full: FULL, BLOCKS.hole: MISSING, BLOCKS.outside: None} | dict.fromkeys(BLOCKS.some, PARTLY)
    for one in drawn if axis else ():
        found = list(axis.cells_of(one.period).stretches(Runs.of_ranges(one.ranges).ahead))
        cells = [None] * len(axis)
        for colour, start, stop in found:
            cells[start:stop] = [colour] * (stop - start)
        assert cells == [shown[cell] for cell in axis.draw(one)]
        assert all(one.colour is not two.colour or one.stop < two.start for one, two in pairwise(found))


@given(st.sampled_from(UpdatePeriod), PIECES.filter(bool), st.integers(1, 300))
def test_cells_are_whole_parts_or_parts_whole_cells(period, pieces, width):
    one = bar(period, 1000, pieces)
    axis = TimelineAxis.of([one], width)
    moments = {period.moment(index) for index in range(one.ranges[0][0], one.ranges[-1][1] + 1)}
    assert 1 in {axis.parts, axis.cells}
    assert set(axis.edges) <= moments or moments <= set(axis.edges)
    if axis.cells > 1:
        assert set(axis.draw(one)) <= {BLOCKS.full, BLOCKS.hole}


def test_a_minute_in_ten_years_is_seen():
    period = UpdatePeriod.MINUTELY
    start, stop = period.parse_index("2015-01-01-00-00"), period.parse_index("2025-01-01-00-00")
    for missing in (start + 1, start + 2_345_678, stop - 2):
        ranges = [(start, missing), (missing + 1, stop)]
        cells = TimelineAxis.of([TimelineBar((), period, ranges)], 80).draw(TimelineBar((), period, ranges))
        assert sorted(cells.replace(BLOCKS.full, "")) == [BLOCKS.some[-1]]
    ranges = [(start, start + 1), (stop - 1, stop)]
    cells = TimelineAxis.of([TimelineBar((), period, ranges)], 80).draw(TimelineBar((), period, ranges))
    assert cells.strip(BLOCKS.hole) == BLOCKS.some[0] + BLOCKS.hole * (len(cells) - 2) + BLOCKS.some[0]


def test_few_ranges_are_asked_for_however_many_there_are():
    """A million hours with every third missing are 1,000 cells: as many questions, not a third of a million."""
    asked = []

    def ahead(index):
        asked.append(index)
        return index + (index % 3 == 2), index - index % 3 + 2

    hours = UpdatePeriod.HOURLY
    axis = TimelineAxis.over(hours, 9_000_000, 10_000_000, 1_000)
    assert list(axis.cells_of(hours).stretches(ahead)) == [CellStretch(PARTLY, 0, 1_000)]
    assert len(asked) == 1_001


def test_blocks_grow_with_what_is_there():
    axis = TimelineAxis.of([TimelineBar((), DAY, [(800, 816)])], 2)
    drawn = [axis.draw(TimelineBar((), DAY, [(800, 800 + there)])) for there in range(1, 9)]
    assert drawn == [f"{cell} " for cell in BLOCKS.some + BLOCKS.full]


@given(bars(), st.integers(90, 200), st.sampled_from([BLOCKS, ASCII]))
def test_no_line_is_wider_than_it_may_be(drawn, width, symbols):
    lines = picture(drawn, width, symbols)
    assert max(map(len, lines)) <= width
    assert symbols is BLOCKS or "".join(lines).isascii()


def test_the_bar_is_beside_its_label_where_there_is_room():
    one = bar(DAY, 700_000, [(400, 3), (357, 1)])
    label = f"s1_sales  DAILY  dt  {one.counts}"
    wide, narrow = (picture([one], len(label) + 2 + least) for least in (LEAST_BAR, LEAST_BAR - 1))
    assert wide[0].startswith("s1_sales  DAILY  dt  █")
    assert wide[0].endswith(one.counts)
    assert wide[1].startswith(" " * 21 + "|")
    assert narrow[0] == label
    assert narrow[1].startswith("█")
    assert narrow[2].startswith("|")
    assert max(map(len, narrow[:3])) < len(label) + 2 + LEAST_BAR


def test_labels_stand_below_one_another():
    lines = picture([bar(UpdatePeriod.HOURLY, 9, [(3, 1)]), bar(DAY, 0, [(2, 1)]), bar(DAY, 0, [])], 120)
    assert [line.index("dt") for line in lines[:3]] == [lines[0].index("dt")] * 3
    assert lines[2] == "s1_sales  DAILY   dt  none there"


def test_nothing_to_draw():
    assert picture([], 80) == []
    assert picture([bar(DAY, 0, [])], 80) == ["s1_sales  DAILY  dt  none there"]


@pytest.mark.parametrize(
    ("period", "first", "count", "width", "ticks", "scale"),
    [
        ("YEARLY", "9990", 10, 30, "|9990    |9993    |9996  10000|", "3 cells are a year"),
        ("QUARTERLY", "2015-01", 40, 40, "|2015-01   |2017-10   |2020-07   2025-01|", "1 quarter"),
        ("WEEKLY", "2015-W01", 80, 40, "|2014-12-29   |2015-07-13     2016-07-11|", "2 weeks"),
        ("HOURLY", "2015-01-01-00", 24, 48, "|2015-01-01-00    |2015-01-01-09   2015-01-02-00|", "2 cells are an hour"),
        ("MINUTELY", "2015-01-01-00-00", 90, 50, f"|2015-01-01-00:00{' ' * 12}2015-01-01-01:30|", "2 minutes"),
        ("MINUTELY", "2015-01-01-00-00", 144_000, 40, "|2015-01-01   |2015-02-05     2015-04-11|", "2 days 12 hours"),
        ("SECONDLY", "2015-01-01-00-00-00", 9, 9, "from 2015-01-01-00:00:00 to 2015-01-01-00:00:09", "1 second"),
    ],
)  # fmt: skip
def test_the_axis_says_times_as_exactly_as_cells_are_long(period, first, count, width, ticks, scale):
    period = UpdatePeriod[period]
    start = period.parse_index(first)
    axis = TimelineAxis.of([TimelineBar((), period, [(start, start + count)])], width)
    assert (axis.ticks(), axis.scale().removeprefix("a cell is ")) == (ticks, scale)
