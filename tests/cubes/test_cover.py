"""Cover against the algorithm in its plainest form: recursion, and one question for each part."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.cubes import Cover, Uncoverable, cover
from hbstore.errors import CorruptTimeline, InvalidTime, InvalidTimeRange, TimelineError, TimelineMismatch
from hbstore.timelines import RangesPartitionTimeline, UpdatePeriod
from hbstore.times.moments import END_OF_TIME, ORIGIN
from tests.timelines.strategies import CLASSES, timeline, utc, without_zone

SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER, YEAR = list(UpdatePeriod)[1:]


def joined(ranges):
    """Sorted ranges, those that touch made one."""
    found = []
    for start, end in ranges:
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def naive(timelines, start, end):
    """The partitions and what is missing, by probing every part."""
    periods = sorted((period for period, ones in timelines.items() if ones), key=lambda period: period.rank)

    def walk(since, until, periods):
        if since >= until:
            return [], []
        if not periods:
            return [], [(since, until)]
        *smaller, period = periods
        low, high = period.ceil(since), period.floor(until)
        if low >= high:
            return walk(since, until, smaller)
        partitions, missing = walk(since, low, smaller)
        part = low
        while part < high:
            after = period.next(part)
            table = next((one.storage_table for one in timelines[period] if one.exists(part)), None)
            found, lost = ([(period, part, table)], []) if table else walk(part, after, smaller)
            partitions, missing = partitions + found, missing + lost
            part = after
        found, lost = walk(high, until, smaller)
        return partitions + found, missing + lost

    partitions, missing = walk(start, end, periods)
    return partitions, joined(missing)


@st.composite
def facts(draw, periods, start, span, always=()):
    """Timelines of one to three storage tables at some periods, full, empty or with holes, and a range near them."""
    first = start + draw(st.integers(0, int(span.total_seconds()))) * dt.timedelta(seconds=1)
    end = first + draw(st.integers(0, int(span.total_seconds()))) * dt.timedelta(seconds=1)
    coarse = draw(st.sampled_from([*periods, None]))
    if coarse:
        first, end = coarse.floor(first), coarse.ceil(end)
    timelines = {}
    for period in dict.fromkeys([*always, *draw(st.lists(st.sampled_from(periods), min_size=not always, unique=True))]):
        low, high = period.index(period.floor(start)), period.index(period.ceil(start + 3 * span)) + 1
        timelines[period] = []
        for number in range(draw(st.integers(1, 3))):
            cls = draw(st.sampled_from(CLASSES))
            made = timeline(cls, period, table=f"s{number}_fact1")
            density = draw(st.sampled_from([0, 1, 2, 8, 64]))
            pick = draw(st.randoms(use_true_random=False))
            made.add_all(period.time(index) for index in range(low, high) if density and pick.randrange(density + 1))
            timelines[period].append(made)
    return timelines, first, end


def check(case):
    timelines, start, end = case
    partitions, missing = naive(timelines, start, end)
    found = cover(timelines, start, end, partial=True)
    assert found.partitions == partitions
    assert list(found.partitions) == partitions
    assert len(found.partitions) == len(partitions)
    assert found.missing == missing
    covered = joined(sorted([(time, period.next(time)) for period, time, _ in found.partitions] + missing))
    assert covered == ([(start, end)] if start < end else [])
    if missing:
        with pytest.raises(Uncoverable) as caught:
            cover(timelines, start, end)
        assert caught.value.missing == missing
    else:
        assert cover(timelines, start, end) == found == Cover(partitions, [])


@given(facts([MINUTE, HOUR, DAY], utc(2015, 2, 26, 20), dt.timedelta(hours=30)))
def test_minutes_to_days(case):
    check(case)


@given(facts([HOUR, DAY, MONTH], utc(2015, 1, 27), dt.timedelta(days=60)))
def test_hours_to_months(case):
    check(case)


@given(facts([DAY, WEEK, MONTH, QUARTER, YEAR], utc(2014, 11, 20), dt.timedelta(days=500)))
def test_days_to_years_with_weeks(case):
    check(case)


@given(facts([DAY, QUARTER, YEAR], utc(2014, 11, 20), dt.timedelta(days=200), always=[WEEK, MONTH]))
def test_weeks_and_months(case):
    check(case)


@given(facts([UpdatePeriod.CONTINUOUS, SECOND, MINUTE], utc(2015, 12, 31, 23, 58), dt.timedelta(seconds=150)))
def test_seconds(case):
    check(case)


@given(facts([SECOND, MINUTE], utc(2015, 12, 31, 23, 58, 0, 500), dt.timedelta(seconds=90)))
def test_ends_between_seconds_are_missing(case):
    check(case)


def fact(period_ranges, table="s1_fact1"):
    """One storage table, a full range at each period."""
    timelines = {}
    for period, (start, end) in period_ranges.items():
        made = RangesPartitionTimeline(table, period, "dt")
        made.add_index_ranges([(period.index(start), period.index(end))])
        timelines[period] = [made]
    return timelines


START, END = utc(2015, 1, 29, 6), utc(2015, 3, 1, 6)
YEARS = (utc(2014), utc(2017))


def counts(found):
    """How many partitions of each period."""
    shown = [period.name for period, _, _ in found.partitions]
    return {name: shown.count(name) for name in shown}


def test_with_all_rollups_the_largest_are_taken():
    found = cover(fact({HOUR: YEARS, DAY: YEARS, MONTH: YEARS}), START, END)
    assert counts(found) == {"HOURLY": 18 + 6, "DAILY": 2, "MONTHLY": 1}
    assert found.partitions[0] == (HOUR, START, "s1_fact1")
    assert found.partitions[20] == (MONTH, utc(2015, 2), "s1_fact1")
    assert found.partitions[-1] == (HOUR, utc(2015, 3, 1, 5), "s1_fact1")


def test_without_months_days_are_taken():
    assert counts(cover(fact({HOUR: YEARS, DAY: YEARS}), START, END)) == {"HOURLY": 24, "DAILY": 30}


def test_one_missing_day_falls_back_to_its_hours():
    timelines = fact({HOUR: YEARS, DAY: YEARS})
    timelines[DAY][0].drop(utc(2015, 2, 10))
    found = cover(timelines, START, END)
    assert counts(found) == {"HOURLY": 48, "DAILY": 29}
    assert [time for period, time, _ in found.partitions if period is HOUR and time.day == 10] == [
        utc(2015, 2, 10, hour) for hour in range(24)
    ]


def test_a_quarter_does_not_cover_days_outside_of_it():
    timelines = fact({QUARTER: YEARS})
    found = cover(timelines, utc(2015, 2, 10), utc(2015, 8, 20), partial=True)
    assert found.partitions == [(QUARTER, utc(2015, 4), "s1_fact1")]
    assert found.missing == [(utc(2015, 2, 10), utc(2015, 4)), (utc(2015, 7), utc(2015, 8, 20))]


def test_no_week_lies_across_the_ends_of_months():
    timelines = {
        **fact({WEEK: (utc(2014, 12, 29), utc(2016, 1, 4))}),
        MONTH: [timeline(RangesPartitionTimeline, MONTH)],
    }
    found = cover(timelines, utc(2015, 1), utc(2015, 3), partial=True)
    assert [(time.month, time.day) for _, time, _ in found.partitions] == [
        (1, 5),
        (1, 12),
        (1, 19),
        (2, 2),
        (2, 9),
        (2, 16),
    ]
    assert found.missing == [
        (utc(2015, 1, 1), utc(2015, 1, 5)),
        (utc(2015, 1, 26), utc(2015, 2, 2)),
        (utc(2015, 2, 23), utc(2015, 3)),
    ]
    del timelines[MONTH]
    assert cover(timelines, utc(2015, 1, 26), utc(2015, 2, 2)).partitions == [(WEEK, utc(2015, 1, 26), "s1_fact1")]


def test_the_right_remainder_is_covered_as_the_left_is():
    found = cover(fact({HOUR: (utc(2015, 2, 28), END), DAY: YEARS}), utc(2015, 2, 28), END)
    assert counts(found) == {"DAILY": 1, "HOURLY": 6}


def test_the_first_table_that_has_a_partition_is_named():
    one, two = (fact({DAY: YEARS}, table)[DAY][0] for table in ("s1_fact1", "s2_fact1"))
    one.drop(utc(2015, 1, 2))
    found = cover({DAY: [one, two]}, utc(2015, 1, 1), utc(2015, 1, 4))
    assert [table for _, _, table in found.partitions] == ["s1_fact1", "s2_fact1", "s1_fact1"]
    found = cover({DAY: [two, one]}, utc(2015, 1, 1), utc(2015, 1, 4))
    assert [table for _, _, table in found.partitions] == ["s2_fact1"] * 3


def test_a_larger_period_of_a_later_table_is_taken_first():
    days, months = fact({DAY: YEARS}, "s1_fact1"), fact({MONTH: YEARS}, "s2_fact1")
    found = cover({**days, **months}, utc(2015, 2), utc(2015, 3))
    assert found.partitions == [(MONTH, utc(2015, 2), "s2_fact1")]


def test_an_empty_range_needs_nothing():
    assert cover(fact({DAY: YEARS}), START, START) == Cover([], [])


def test_nothing_is_there():
    timelines = {period: [timeline(RangesPartitionTimeline, period)] for period in (MINUTE, HOUR, DAY, MONTH, YEAR)}
    with pytest.raises(Uncoverable) as caught:
        cover(timelines, *YEARS)
    assert caught.value.missing == [YEARS]
    assert isinstance(caught.value, TimelineError)
    assert "[2014-01-01T00:00:00+00:00, 2017-01-01T00:00:00+00:00)" in str(caught.value)


def test_the_whole_calendar():
    timelines = fact({YEAR: (ORIGIN, utc(9999)), DAY: (utc(9999), utc(9999, 12, 31))})
    timelines[DAY][0].add(utc(9999, 12, 31))
    found = cover(timelines, ORIGIN, END_OF_TIME)
    assert counts(found) == {"YEARLY": 9_998, "DAILY": 365}
    assert found.missing == []


def test_what_is_missing_is_shown_in_part():
    timelines = {DAY: [timeline(RangesPartitionTimeline, DAY, range(735_600, 735_700, 2))]}
    with pytest.raises(Uncoverable, match="and 47 more"):
        cover(timelines, DAY.time(735_600), DAY.time(735_700))


def test_a_list_that_is_made_as_it_is_read():
    found = cover(fact({HOUR: YEARS, DAY: YEARS, MONTH: YEARS}), START, END).partitions
    whole = list(found)
    assert [found[at] for at in range(-len(whole), len(whole))] == whole + whole
    assert found[5:25:3] == whole[5:25:3]
    assert whole[7] in found
    assert found.index(whole[20]) == 20
    assert whole == found
    assert found != whole[:-1]
    assert found != [*whole[:-1], whole[0]]
    assert repr(found).startswith("[s1_fact1 HOURLY [2015-01-29-06, 2015-01-30-00), s1_fact1 DAILY ")
    for at in (len(whole), -len(whole) - 1):
        with pytest.raises(IndexError):
            found[at]


def test_bad_input_has_named_errors():
    timelines = fact({DAY: YEARS})
    with pytest.raises(InvalidTimeRange):
        cover(timelines, END, START)
    with pytest.raises(InvalidTime):
        cover(timelines, without_zone(2015, 1, 1), END)
    for nothing in ({}, {DAY: []}):
        with pytest.raises(TimelineMismatch, match="no timelines"):
            cover(nothing, START, END)
    with pytest.raises(TimelineMismatch, match="a wrong update period") as caught:
        cover({HOUR: timelines[DAY]}, START, END)
    assert caught.value.fields == {"storage_table": "s1_fact1", "period": "DAILY", "under": "HOURLY"}


def test_a_damaged_timeline_covers_nothing():
    timelines = fact({DAY: YEARS})
    assert not timelines[DAY][0].init_from_properties({"ranges": "[2015-01-02, 2015-01-01)"})
    with pytest.raises(CorruptTimeline):
        cover(timelines, START, END, partial=True)
