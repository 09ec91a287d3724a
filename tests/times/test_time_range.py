"""Times as people write them."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import FilterSyntaxError, InvalidTime, InvalidTimeRange, TimelineError, TimeRangeSyntaxError
from hbstore.timelines import TimeRange, UpdatePeriod, parse_time, parse_time_range
from hbstore.times.time_range import AbsoluteTime, RelativeTime, time_within, written_time
from tests.timelines.strategies import utc, without_zone

NOW = utc(2015, 3, 31, 6, 30, 15, 250_000)  # a Tuesday
UNITS = {
    "second": UpdatePeriod.SECONDLY,
    "minute": UpdatePeriod.MINUTELY,
    "hour": UpdatePeriod.HOURLY,
    "day": UpdatePeriod.DAILY,
    "week": UpdatePeriod.WEEKLY,
    "month": UpdatePeriod.MONTHLY,
    "quarter": UpdatePeriod.QUARTERLY,
    "year": UpdatePeriod.YEARLY,
}


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2015", utc(2015)),
        ("2015-02", utc(2015, 2)),
        ("2015-02-03", utc(2015, 2, 3)),
        ("2015-02-03-04", utc(2015, 2, 3, 4)),
        ("2015-02-03-04:05", utc(2015, 2, 3, 4, 5)),
        ("2015-02-03-04:05:06", utc(2015, 2, 3, 4, 5, 6)),
        ("2015-02-03-04:05:06,007", utc(2015, 2, 3, 4, 5, 6, 7_000)),
        (" 2015-02-03\t", utc(2015, 2, 3)),
        ("0001", utc(1)),
        ("9999-12-31-23:59:59,999", utc(9999, 12, 31, 23, 59, 59, 999_000)),
        ("2016-02-29", utc(2016, 2, 29)),
        ("now", NOW),
        ("now.second", utc(2015, 3, 31, 6, 30, 15)),
        ("now.minute", utc(2015, 3, 31, 6, 30)),
        ("now.hour", utc(2015, 3, 31, 6)),
        ("now.day", utc(2015, 3, 31)),
        ("now.week", utc(2015, 3, 30)),
        ("now.month", utc(2015, 3)),
        ("now.quarter", utc(2015)),
        ("now.year", utc(2015)),
        ("now.hour-4hours", utc(2015, 3, 31, 2)),
        ("now.day-3days", utc(2015, 3, 28)),
        ("now.week+1week", utc(2015, 4, 6)),
        ("now.month-1month", utc(2015, 2)),
        ("now.quarter+2quarters", utc(2015, 7)),
        ("now.year-2years", utc(2013)),
        ("NOW.Day - 3 Days ", utc(2015, 3, 28)),
        ("now-1month", utc(2015, 2, 28, 6, 30, 15, 250_000)),
        ("now.day-1month", utc(2015, 2, 28)),
        ("now.month - 1 month + 1 day", utc(2015, 2, 2)),
        ("now.day-90minutes", utc(2015, 3, 30, 22, 30)),
        ("now+0seconds", NOW),
    ],
)
def test_times(text, time):
    found = parse_time(text, NOW)
    assert found == time
    assert found.tzinfo is dt.UTC


@pytest.mark.parametrize(
    ("text", "column", "found", "expected"),
    [
        ("", 1, "the end", "a year (yyyy) or now"),
        ("15", 1, "15", "a year (yyyy) or now"),
        ("20155", 1, "20155", "a year (yyyy) or now"),
        ("yesterday", 1, "yesterday", "a year (yyyy) or now"),
        ("nowadays", 1, "nowadays", "a year (yyyy) or now"),
        ("0000", 1, "0000", "0001 to 9999"),
        ("2015-", 6, "the end", "a month (MM)"),
        ("2015-1", 6, "1", "a month (MM)"),
        ("2015-13", 6, "13", "01 to 12"),
        ("2015-02-29", 9, "29", "01 to 28"),
        ("2016-02-30", 9, "30", "01 to 29"),
        ("2015-04-31", 9, "31", "01 to 30"),
        ("2015-12-32", 9, "32", "01 to 31"),
        ("2015-02-03-24", 12, "24", "00 to 23"),
        ("2015-02-03-04:60", 15, "60", "00 to 59"),
        ("2015-02-03-04-05", 14, "-", "':' or the end"),
        ("2015-02-03T04", 11, "T04", "'-' or the end"),
        ("2015-02-03 04", 11, " ", "'-' or the end"),
        ("2015 - 02", 5, " ", "'-' or the end"),
        ("2015-02-03-04:05:06.007", 20, ".", "',' or the end"),
        ("2015-02-03-04:05:06,7", 21, "7", "milliseconds (SSS)"),
        ("2015-02-03-04:05:06,0071", 21, "0071", "milliseconds (SSS)"),
        ("2015-02-03-04:05:06,007Z", 24, "Z", "the end"),
        ("now.", 5, "the end", "second, minute, hour, day, week, month, quarter or year"),
        ("now.fortnight", 5, "fortnight", "second, minute, hour, day, week, month, quarter or year"),
        ("now.day 3days", 9, "3days", "a sign (+ or -)"),
        ("now.day-days", 9, "days", "a number"),
        ("now.day-3", 10, "the end", "second, minute, hour, day, week, month, quarter or year"),
        ("now.day--3days", 9, "-", "a number"),
        ("now.day-3days2015", 10, "days2015", "second, minute, hour, day, week, month, quarter or year"),
        ("now 2015", 5, "2015", "a sign (+ or -)"),
        ("now\n", 4, r"'\n'", "'.', a sign (+ or -) or the end"),
        ("٢٠١٥", 1, "٢٠١٥", "a year (yyyy) or now"),
    ],
)
def test_errors_say_where_and_what_was_expected(text, column, found, expected):
    with pytest.raises(TimeRangeSyntaxError) as caught:
        parse_time(text, NOW)
    error = caught.value
    assert isinstance(error, FilterSyntaxError)
    assert isinstance(error, TimelineError)
    assert (error.fields["line"], error.fields["column"]) == (1, column)
    assert (error.fields["found"], error.fields["expected"]) == (found, expected)
    line, caret = error.highlight.split("\n")
    assert line == text.partition("\n")[0].rstrip()
    assert caret == " " * (column - 1) + "^"


def test_errors_in_a_larger_text_give_places_there():
    text = "a = 1 and\n  in_range('now.dy')"
    with pytest.raises(TimeRangeSyntaxError) as caught:
        time_within(text, text.index("now"), text.index("')"))
    error = caught.value
    assert (error.fields["line"], error.fields["column"], error.fields["found"]) == (2, 17, "dy")
    assert error.highlight == "  in_range('now.dy')\n                ^"
    assert time_within(text, text.index("now"), text.index(".dy")) == written_time("now")


def test_a_text_is_read_once_and_told_anew():
    first, second = utc(2015, 3, 31, 6, 30), utc(2016, 2, 29)
    written = written_time("now.day-1month")
    assert written is written_time("now.day-1month")
    assert (written.at(lambda: first), written.at(lambda: second)) == (utc(2015, 2, 28), utc(2016, 1, 29))
    assert isinstance(written, RelativeTime)
    assert written_time("2015") == AbsoluteTime(utc(2015))


def test_long_texts_are_refused_and_not_repeated():
    with pytest.raises(TimeRangeSyntaxError, match="too long") as caught:
        parse_time("now" + "-1day" * 100_000, NOW)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    "text", ["now-2016years", "now+8000years", "now+99999999999999days", f"now-{'9' * 150}seconds"]
)
def test_times_outside_of_the_calendar_are_refused(text):
    with pytest.raises(InvalidTime, match="outside the years"):
        parse_time(text, NOW)


def test_now_needs_a_time_zone_and_may_have_any():
    with pytest.raises(InvalidTime, match="time zone"):
        parse_time("2015", without_zone(2015, 1, 1))
    east = dt.timezone(dt.timedelta(hours=9))
    assert parse_time("now.day", dt.datetime(2015, 1, 30, 3, tzinfo=east)) == utc(2015, 1, 29)


@given(st.sampled_from(sorted(UNITS)), st.integers(0, 200), st.sampled_from("+-"), st.sampled_from(["", "s"]))
def test_a_unit_and_a_count_are_steps_of_its_period(unit, count, sign, plural):
    period = UNITS[unit]
    wanted = period.next(period.floor(NOW), count if sign == "+" else -count)
    assert parse_time(f"now.{unit} {sign} {count}{unit}{plural}", NOW) == wanted


@given(st.datetimes(without_zone(1, 1, 1), without_zone(9999, 12, 31), timezones=st.just(dt.UTC)))
def test_times_written_out_are_read_back(time):
    text = f"{time.year:04}-{time.month:02}-{time.day:02}-{time:%H:%M:%S},{time.microsecond // 1000:03}"
    assert parse_time(text, NOW) == time.replace(microsecond=time.microsecond // 1000 * 1000)


@given(st.text("0123456789-:,.+ nowdayhrs", max_size=20))
def test_any_text_is_a_time_or_a_named_error(text):
    try:
        time = parse_time(text, NOW)
    except (TimeRangeSyntaxError, InvalidTime):
        return
    assert time.tzinfo is dt.UTC


def test_ranges_are_half_open_and_may_be_empty():
    assert parse_time_range("now.day-1day", "now.day", NOW) == TimeRange(utc(2015, 3, 30), utc(2015, 3, 31))
    assert parse_time_range("2015", "2015-01-01", NOW) == TimeRange(utc(2015), utc(2015))
    with pytest.raises(InvalidTimeRange):
        parse_time_range("2015-02", "2015-01", NOW)
