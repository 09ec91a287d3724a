"""What the state machine does not reach: bad times, long gaps, how timelines are shown and compared."""

from __future__ import annotations

import datetime as dt

import pytest

from hbstore.errors import InvalidTime, InvalidTimeRange, TimelineTooLarge
from hbstore.timelines import (
    EndsAndHolesPartitionTimeline,
    RangesPartitionTimeline,
    StoreAllPartitionTimeline,
    UpdatePeriod,
    convert,
)
from hbstore.timelines.properties import MAX_LISTED
from hbstore.times.moments import END_OF_TIME, ORIGIN
from tests.timelines.strategies import CLASSES, timeline, utc, without_zone

DAY = UpdatePeriod.DAILY
BASE = DAY.parse_index("2015-04-12")
each_class = pytest.mark.parametrize("cls", CLASSES)


@each_class
@pytest.mark.parametrize("bad", [utc(2015, 4, 12, 6), without_zone(2015, 4, 12)])
def test_bad_times_change_nothing(cls, bad):
    made = timeline(cls, DAY, [BASE, BASE + 3])
    for call in (made.add, made.drop, made.exists):
        with pytest.raises(InvalidTime):
            call(bad)
    for call in (made.add_all, made.drop_all):
        with pytest.raises(InvalidTime):
            call([utc(2015, 4, 12), utc(2015, 4, 13), bad])
    assert made == timeline(cls, DAY, [BASE, BASE + 3])


@each_class
def test_drops_outside_the_ends_change_nothing(cls):
    made = timeline(cls, DAY, [BASE, BASE + 3])
    for index in (BASE - 1, BASE + 1, BASE + 4):
        assert not made.drop(DAY.time(index))
    assert made == timeline(cls, DAY, [BASE, BASE + 3])
    assert not timeline(cls).drop(DAY.time(BASE))


@each_class
def test_bounds_may_be_any_times_and_only_one_of_them(cls):
    made = timeline(cls, DAY, [BASE, BASE + 1, BASE + 3])
    noon = dt.timedelta(hours=12)
    assert made.ranges(start=utc(2015, 4, 12) + noon) == [
        (utc(2015, 4, 13), utc(2015, 4, 14)),
        (utc(2015, 4, 15), utc(2015, 4, 16)),
    ]
    assert made.ranges(end=utc(2015, 4, 13) + noon) == [(utc(2015, 4, 12), utc(2015, 4, 13))]
    assert made.holes(utc(2015, 4, 13) + noon, utc(2015, 4, 20) + noon) == [
        (utc(2015, 4, 14), utc(2015, 4, 15)),
        (utc(2015, 4, 16), utc(2015, 4, 20)),
    ]
    assert made.holes(start=utc(2016, 1, 1)) == made.ranges(start=utc(2016, 1, 1)) == []
    assert list(made.iterate(ORIGIN, END_OF_TIME)) == list(made.iterate())
    with pytest.raises(InvalidTimeRange):
        made.holes(utc(2015, 4, 13), utc(2015, 4, 12))


@each_class
@pytest.mark.parametrize("ranges", [[(5, 7), (1, 2)], [(1, 5), (5, 7)], [(3, 3)], [(-1, 3)], [(0, DAY.limit + 1)]])
def test_ranges_of_indexes_must_be_sorted_and_apart(cls, ranges):
    made = timeline(cls, DAY, [BASE])
    with pytest.raises(InvalidTimeRange):
        made.add_index_ranges(ranges)
    assert made == timeline(cls, DAY, [BASE])
    assert not made.add_index_ranges([])
    assert made.add_index_ranges([(1, 3), (5, 7)])
    assert list(made.index_ranges(2, 6)) == [(2, 3), (5, 6)]


@each_class
@pytest.mark.parametrize(("times", "holes"), [((), 0), ((3,), 0), ((3, 4, 5), 0), ((3, 5, 6, 9), 2)])
def test_holes_are_counted(cls, times, holes):
    made = timeline(cls, DAY, [BASE + number for number in times])
    assert made.hole_count() == len(made.holes()) == holes


@each_class
@pytest.mark.parametrize("times", [(), (3,), (0, 1, 2), (3, 5, 6, 9), (0, 4, 5)])
def test_the_range_ahead_is_the_first_of_all_from_there_on(cls, times):
    made = timeline(cls, DAY, [BASE + number for number in times])
    for index in (0, *range(BASE - 1, BASE + 12), DAY.limit):
        assert made.range_ahead(index) == next(made.index_ranges(index, DAY.limit), None)


@each_class
def test_timelines_are_python_sets_of_times(cls):
    made = timeline(cls, DAY, [BASE, BASE + 1, BASE + 3])
    times = [DAY.time(index) for index in (BASE, BASE + 1, BASE + 3)]
    assert list(made) == times
    assert len(made) == 3
    assert made == set(times)
    assert set(times) == made
    assert made == frozenset(times)
    assert made != set(times[:2])
    assert made != {*times[:2], DAY.time(BASE + 5)}
    assert made != times  # a list is no set
    assert made > set(times[:2])
    assert made.isdisjoint({DAY.time(BASE + 2)})
    assert made & {times[0], DAY.time(BASE + 2)} == {times[0]}
    assert made | timeline(cls, UpdatePeriod.HOURLY, [5]) == {*times, UpdatePeriod.HOURLY.time(5)}
    assert made - timeline(cls, DAY, [BASE]) == set(times[1:])
    assert timeline(cls) == set()
    assert not timeline(cls)
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)


@each_class
def test_what_is_no_time_of_the_period_is_not_in_a_timeline(cls):
    made = timeline(cls, DAY, [BASE])
    assert utc(2015, 4, 12) in made
    assert utc(2015, 4, 12).astimezone(dt.timezone(dt.timedelta(hours=5))) in made
    for other in (utc(2015, 4, 12, 6), without_zone(2015, 4, 12), dt.date(2015, 4, 12), "2015-04-12", None):
        assert other not in made


@each_class
def test_timelines_are_equal_where_their_times_are(cls):
    made = timeline(cls, DAY, [BASE])
    assert made == timeline(cls, DAY, [BASE], table="s2_fact1", column="pt")
    assert made != timeline(cls, DAY, [BASE + 1])
    assert all(made == timeline(other, DAY, [BASE]) for other in CLASSES)
    assert made == timeline(cls, UpdatePeriod.HOURLY, [24 * BASE])
    assert made != timeline(cls, UpdatePeriod.HOURLY, [24 * BASE + 1])


@each_class
def test_a_repr_is_one_short_line_however_many_times_there_are(cls):
    assert repr(timeline(cls)) == f"<{cls.__name__} DAILY dt of s1_fact1: no times>"
    assert repr(timeline(cls, DAY, [BASE])) == f"<{cls.__name__} DAILY dt of s1_fact1: 1 time, 2015-04-12, 0 missing>"
    many = timeline(cls, DAY, range(BASE, BASE + 2_002, 2))
    assert repr(many) == (
        f"<{cls.__name__} DAILY dt of s1_fact1: 1,001 times, 2015-04-12 to 2020-10-02, 1,000 missing>"
    )


@pytest.mark.parametrize(
    ("cls", "empty", "some"),
    [
        (StoreAllPartitionTimeline, "allPartitions=[]", "allPartitions=[2015-04-12, 2015-04-14]"),
        (
            EndsAndHolesPartitionTimeline,
            "first=null, holes=[], latest=null",
            "first=2015-04-12, holes=[2015-04-13], latest=2015-04-14",
        ),
        (
            RangesPartitionTimeline,
            "ranges=[]",
            "ranges=[[2015-04-12, 2015-04-13), [2015-04-14, 2015-04-15)]",
        ),
    ],
)
def test_how_they_are_shown(cls, empty, some):
    shown = (
        f"{cls.__name__}(super=PartitionTimeline(storageTableName=s1_fact1, updatePeriod=DAILY, partCol=dt, all=null), "
    )
    assert str(timeline(cls)) == f"{shown}{empty})"
    assert str(timeline(cls, DAY, [BASE, BASE + 2])) == f"{shown}{some})"


def test_holes_are_shown_as_ranges():
    made = timeline(EndsAndHolesPartitionTimeline, DAY, [BASE, BASE + 2, BASE + 6])
    assert "holes=[2015-04-13, [2015-04-15, 2015-04-18)], latest" in str(made)
    wide = timeline(EndsAndHolesPartitionTimeline, UpdatePeriod.SECONDLY, [0, UpdatePeriod.SECONDLY.limit - 1])
    assert len(str(wide)) < 300


def test_long_lists_are_cut_when_shown():
    made = timeline(StoreAllPartitionTimeline, DAY, range(BASE, BASE + 1_002))
    assert str(made).endswith(f"{DAY.format_index(BASE + 999)}, … 2 more])")


@pytest.mark.parametrize("cls", [EndsAndHolesPartitionTimeline, RangesPartitionTimeline])
def test_a_gap_of_ten_thousand_years_of_seconds_takes_no_room(cls):
    second = UpdatePeriod.SECONDLY
    made = timeline(cls, second, [0, second.limit - 1])
    assert made.holes() == [(second.time(1), second.time(second.limit - 1))]
    assert not made.exists(utc(2015, 1, 1))
    assert made.add(utc(2015, 1, 1))
    assert len(made.holes()) == 2
    made._check()


def test_what_cannot_be_listed_is_refused_and_says_what_can():
    second = UpdatePeriod.SECONDLY
    far = timeline(EndsAndHolesPartitionTimeline, second, [0, MAX_LISTED + 2])
    with pytest.raises(TimelineTooLarge, match="RangesPartitionTimeline"):
        far.to_properties()
    assert convert(far, RangesPartitionTimeline).to_properties()["ranges.size"] == "1"
    wide = RangesPartitionTimeline("s1_fact1", second, "dt")
    wide.add_index_ranges([(0, MAX_LISTED + 1)])
    with pytest.raises(TimelineTooLarge):
        convert(wide, StoreAllPartitionTimeline)


def test_every_day_of_the_calendar_can_be_listed():
    assert DAY.limit <= MAX_LISTED


def test_a_hundred_thousand_holes_are_listed_and_read():
    hour = UpdatePeriod.HOURLY
    base = hour.parse_index("1900-01-01-00")
    made = timeline(EndsAndHolesPartitionTimeline, hour, [base, base + 100_001])
    properties = made.to_properties()
    assert sum(text.count("-") // 3 for key, text in properties.items() if key.startswith("holes")) == 100_000
    again = timeline(EndsAndHolesPartitionTimeline, hour)
    assert again.init_from_properties(properties)
    assert again == made


def test_timelines_cannot_be_keys():
    for cls in CLASSES:
        with pytest.raises(TypeError):
            hash(timeline(cls))
