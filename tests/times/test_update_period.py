"""Update periods against calendar arithmetic done another way: by replacing fields, walking days, and strftime."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hbstore.errors import InvalidTime, InvalidTimeRange, TimelineError, UnknownUpdatePeriod
from hbstore.timelines import UpdatePeriod
from hbstore.times.moments import END_OF_TIME, LIMIT, ORIGIN, moment, time_at
from tests.timelines.strategies import PERIODS, TIMES, on, utc, without_zone

MIDNIGHT = {"hour": 0, "minute": 0, "second": 0, "microsecond": 0}
FORMATS = {
    UpdatePeriod.CONTINUOUS: "%Y-%m-%d-%H-%M-%S",
    UpdatePeriod.SECONDLY: "%Y-%m-%d-%H-%M-%S",
    UpdatePeriod.MINUTELY: "%Y-%m-%d-%H-%M",
    UpdatePeriod.HOURLY: "%Y-%m-%d-%H",
    UpdatePeriod.DAILY: "%Y-%m-%d",
    UpdatePeriod.WEEKLY: "%G-W%V",
    UpdatePeriod.MONTHLY: "%Y-%m",
    UpdatePeriod.QUARTERLY: "%Y-%m",
    UpdatePeriod.YEARLY: "%Y",
}


def begin(period, time):
    """The floor, by setting fields of the local calendar of UTC."""
    time = time.astimezone(dt.UTC)
    if period is UpdatePeriod.WEEKLY:
        return time.replace(**MIDNIGHT) - dt.timedelta(days=time.weekday())
    zeros = {
        UpdatePeriod.CONTINUOUS: {"microsecond": 0},
        UpdatePeriod.SECONDLY: {"microsecond": 0},
        UpdatePeriod.MINUTELY: {"second": 0, "microsecond": 0},
        UpdatePeriod.HOURLY: {"minute": 0, "second": 0, "microsecond": 0},
        UpdatePeriod.DAILY: MIDNIGHT,
        UpdatePeriod.MONTHLY: {**MIDNIGHT, "day": 1},
        UpdatePeriod.QUARTERLY: {**MIDNIGHT, "day": 1, "month": (time.month + 2) // 3 * 3 - 2},
        UpdatePeriod.YEARLY: {**MIDNIGHT, "day": 1, "month": 1},
    }
    return time.replace(**zeros[period])


def walk(period, time):
    """The beginning of the next part, by walking on until the part is another one or the years end."""
    step = dt.timedelta(days=1) if period.rank >= UpdatePeriod.DAILY.rank else dt.timedelta(seconds=1)
    first = begin(period, time)
    try:
        after = first + step
        while begin(period, after) == first:
            after += step
    except OverflowError:
        return END_OF_TIME
    return after


@given(PERIODS, TIMES)
def test_floor_is_what_setting_fields_gives(period, time):
    found = period.floor(time)
    assert found == begin(period, time)
    assert found.tzinfo is dt.UTC


@given(st.sampled_from([one for one in UpdatePeriod if one is not UpdatePeriod.HOURLY]), TIMES)
@example(UpdatePeriod.YEARLY, utc(9999, 5, 1))
@example(UpdatePeriod.WEEKLY, utc(9999, 12, 29))
def test_ceil_and_next_are_what_walking_gives(period, time):
    first, after = begin(period, time), walk(period, time)
    assert period.next(first) == after
    assert after == END_OF_TIME or period.previous(after) == first
    assert period.ceil(time) == (first if first == time else after)
    assert period.ceil(first) == period.floor(first) == first


@given(TIMES)
def test_hours_are_walked_too(time):
    first = begin(UpdatePeriod.HOURLY, time)
    assert UpdatePeriod.HOURLY.next(first) == first + dt.timedelta(hours=1)


@given(PERIODS, st.datetimes(without_zone(1000, 1, 1), without_zone(9999, 12, 26), timezones=st.just(dt.UTC)))
def test_format_is_what_strftime_gives(period, time):
    time = begin(period, time)
    assert period.format(time) == time.strftime(FORMATS[period])


@given(PERIODS.flatmap(lambda period: st.tuples(st.just(period), on(period))))
def test_texts_and_indexes_go_back_to_their_time(case):
    period, time = case
    assert period.parse(period.format(time)) == time
    index = period.index(time)
    assert period.time(index) == time
    assert 0 <= index < period.limit
    assert period.parse_index(period.format_index(index)) == index
    assert list(period.indexes([time, time])) == [index, index]
    assert list(period.times(index, index + 1)) == [time]


@given(PERIODS, st.data())
def test_texts_and_indexes_are_ordered_as_their_times(period, data):
    one, two = data.draw(on(period)), data.draw(on(period))
    assert (one < two) == (period.index(one) < period.index(two)) == (period.format(one) < period.format(two))


@given(PERIODS, st.data(), st.integers(-50, 50))
def test_steps_add_up(period, data, n):
    time = data.draw(TIMES.map(period.floor))
    index = period.index(time) + n
    if 0 <= index <= period.limit:
        there = period.next(time, n)
        assert there == period.previous(time, -n)
        assert there == END_OF_TIME or period.previous(there, n) == time
    else:
        with pytest.raises(InvalidTime):
            period.next(time, n)


@given(PERIODS, st.datetimes(without_zone(1990, 1, 1), without_zone(2030, 1, 1), timezones=st.just(dt.UTC)), st.data())
def test_count_and_iterate_are_what_walking_gives(period, start, data):
    end = start + data.draw(st.floats(0, 6)) * (period.next(period.floor(start)) - period.floor(start))
    walked = []
    part = period.ceil(start)
    while walk(period, part) <= end:
        walked.append(part)
        part = walk(period, part)
    assert list(period.iterate(start, end)) == walked
    assert period.count(start, end) == len(walked)


@given(PERIODS, st.lists(TIMES, max_size=20), st.integers(1, 5))
@example(UpdatePeriod.YEARLY, [utc(2000), utc(9999)], 3)
@example(UpdatePeriod.SECONDLY, [utc(2000), utc(9999, 12, 31, 23, 59, 58)], 3)
def test_indexes_are_those_of_the_times_one_by_one(period, times, steps):
    firsts = [period.index(period.floor(time)) for time in times]
    aligned = [time for first in firsts for time in period.times(first, min(first + steps, period.limit))]
    # zoneinfo needs the year after, which 9999 does not have.
    mixed = [
        time.astimezone(ZoneInfo("Europe/Berlin")) if number % 3 and time.year < 9999 else time
        for number, time in enumerate(aligned)
    ]
    assert list(period.indexes(mixed)) == [period.index(time) for time in aligned]


def test_indexes_are_not_fooled_by_clocks_that_change():
    berlin = ZoneInfo("Europe/Berlin")
    hours = [dt.datetime(2015, 3, 29, hour, tzinfo=berlin) for hour in (0, 1, 3, 4)]
    assert [hour.utcoffset().seconds for hour in hours] == [3600, 3600, 7200, 7200]
    first = UpdatePeriod.HOURLY.index(hours[0])
    assert list(UpdatePeriod.HOURLY.indexes(hours)) == [first, first + 1, first + 2, first + 3]


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        ("2015-W01", utc(2014, 12, 29), utc(2015, 1, 5)),
        ("2015-W53", utc(2015, 12, 28), utc(2016, 1, 4)),
        ("2020-W53", utc(2020, 12, 28), utc(2021, 1, 4)),
        ("0001-W01", utc(1, 1, 1), utc(1, 1, 8)),
    ],
)
def test_weeks_are_those_of_iso(text, begins, ends):
    assert UpdatePeriod.WEEKLY.parse(text) == begins
    assert UpdatePeriod.WEEKLY.next(begins) == ends


@pytest.mark.parametrize("month", range(1, 13))
def test_quarters_are_aligned(month):
    assert UpdatePeriod.QUARTERLY.floor(utc(2015, month, 20)).month == {0: 1, 1: 4, 2: 7, 3: 10}[(month - 1) // 3]


@pytest.mark.parametrize(
    ("period", "text"),
    [
        ("MONTHLY", "2015-13"),
        ("MONTHLY", "2015-00"),
        ("MONTHLY", "2015-1"),
        ("MONTHLY", "2015-01-01"),
        ("QUARTERLY", "2015-02"),
        ("DAILY", "2015-02-29"),
        ("DAILY", "2015-2-28"),
        ("DAILY", " 2015-02-28"),
        ("DAILY", "2015-02-28\n"),
        ("DAILY", "٢٠١٥-02-28"),
        ("DAILY", "0000-01-01"),
        ("DAILY", "10000-01-01"),
        ("DAILY", ""),
        ("HOURLY", "2015-02-28-24"),
        ("HOURLY", "2015-02-28 23"),
        ("MINUTELY", "2015-02-28-23-60"),
        ("SECONDLY", "2015-02-28-23-59-60"),
        ("SECONDLY", "2015-02-28-23:59:59"),
        ("WEEKLY", "2014-W53"),
        ("WEEKLY", "2014-W00"),
        ("WEEKLY", "2014-01"),
        ("WEEKLY", "2014-w01"),
        ("YEARLY", "15"),
        ("YEARLY", "-001"),
    ],
)
def test_parsing_is_strict(period, text):
    with pytest.raises(InvalidTime):
        UpdatePeriod[period].parse(text)


@given(PERIODS, st.text("0123456789-W", max_size=19))
def test_what_parses_formats_to_the_same_text(period, text):
    try:
        time = period.parse(text)
    except InvalidTime:
        return
    assert period.format(time) == text


@pytest.mark.parametrize("period", UpdatePeriod)
def test_naive_times_are_refused(period):
    for call in (period.floor, period.ceil, period.next, period.previous, period.format, period.index):
        for time in (without_zone(2015, 1, 1), dt.date(2015, 1, 1), "2015-01-01", None):
            with pytest.raises(InvalidTime, match="the time has no time zone"):
                call(time)
    with pytest.raises(InvalidTime, match="the time has no time zone"):
        list(period.indexes([utc(2018), without_zone(2018, 1, 8)]))


@pytest.mark.parametrize("period", UpdatePeriod)
def test_times_within_a_part_are_refused_and_the_part_is_named(period):
    for call in (period.next, period.previous, period.format, period.index):
        with pytest.raises(InvalidTime, match="not the beginning of a part") as caught:
            call(utc(2015, 1, 29, 6, 30, 15, 5))
        assert caught.value.fields["part"] == period.format(period.floor(utc(2015, 1, 29, 6, 30, 15, 5)))
        assert caught.value.fields["period"] == period.name


@pytest.mark.parametrize("period", UpdatePeriod)
def test_the_ends_of_the_calendar(period):
    assert period.time(0) == ORIGIN
    assert period.time(period.limit) == END_OF_TIME
    last = period.time(period.limit - 1)
    assert last.year == 9999
    assert period.next(last) == END_OF_TIME
    assert period.floor(last) == last
    assert period.ceil(last + dt.timedelta(microseconds=1)) == END_OF_TIME
    assert period.count(ORIGIN, END_OF_TIME) == period.limit
    assert period.format_index(period.limit).startswith("10000")
    assert period.parse_end_index(period.format_index(period.limit)) == period.limit
    assert list(period.times(period.limit - 2, period.limit)) == [period.previous(last), last]
    for index in (-1, period.limit + 1):
        with pytest.raises(InvalidTime, match="outside the years"):
            period.time(index)
    for start, stop in ((-1, 1), (period.limit - 1, period.limit + 1), (period.limit, period.limit + 1)):
        with pytest.raises(InvalidTime, match="outside the years"):
            next(period.times(start, stop))


def test_times_that_leave_the_calendar_in_utc_are_refused():
    east = dt.timezone(dt.timedelta(hours=2))
    early = dt.datetime(1, 1, 1, 1, tzinfo=east)
    late = dt.datetime(9999, 12, 31, 23, tzinfo=dt.timezone(dt.timedelta(hours=-2)))
    for time in (early, late):
        for call in (UpdatePeriod.HOURLY.index, UpdatePeriod.YEARLY.index, UpdatePeriod.DAILY.floor):
            with pytest.raises(InvalidTime, match="outside the years"):
                call(time)


@given(st.one_of(st.integers(0, LIMIT), st.integers(0, 100), st.integers(LIMIT - 100, LIMIT)))
def test_moments_go_back_to_their_time(number):
    assert moment(time_at(number)) == (LIMIT if number == LIMIT - 1 else number)


def test_periods_are_ordered_by_length():
    assert [period.rank for period in UpdatePeriod] == list(range(9))
    lengths = [period.time(period.limit // 2 + 1) - period.time(period.limit // 2) for period in UpdatePeriod]
    assert lengths == sorted(lengths)


def test_names():
    assert UpdatePeriod.named("Daily") is UpdatePeriod.DAILY
    with pytest.raises(UnknownUpdatePeriod, match="HOURLY") as caught:
        UpdatePeriod.named("FORTNIGHTLY")
    for wrong in (None, 5, b"DAILY", ["DAILY"]):
        with pytest.raises(UnknownUpdatePeriod, match="HOURLY"):
            UpdatePeriod.named(wrong)
    assert isinstance(caught.value, TimelineError)


def test_a_range_that_ends_before_it_begins_is_refused():
    for call in (UpdatePeriod.DAILY.count, UpdatePeriod.DAILY.iterate):
        with pytest.raises(InvalidTimeRange):
            call(utc(2015, 1, 2), utc(2015, 1, 1))
