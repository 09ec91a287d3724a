"""Time ranges on columns of every type, against the times of values looked at one by one."""

from __future__ import annotations

import datetime as dt
import re
from itertools import product

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from hbstore.errors import FilterTypeError, InvalidTime, InvalidTimeRange, TimeRangeSyntaxError, UnknownColumnError
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import TimeRangeIn
from hbstore.keys.row_key import NULL_PARTITION, text_cell
from hbstore.keys.types import parse_type
from hbstore.plans.bind import bind
from hbstore.plans.literals import VALUES
from hbstore.plans.schema import KeySchema
from hbstore.plans.time_ranges import time_ranges
from hbstore.rows.predicate import NEVER, CellIn
from hbstore.rows.ranges import contains
from hbstore.times.clock import Now
from hbstore.times.moments import END_OF_TIME, moment
from hbstore.times.update_period import UpdatePeriod
from tests.plans.naive import text_in_time_range
from tests.timelines.strategies import utc

STRING = parse_type("string")
NOW = utc(2015, 3, 31, 6, 30, 15, 250_000)
FORMATS = ("%Y-%m-%d-%H-%M-%S", "%Y-%m-%d-%H-%M", "%Y-%m-%d-%H", "%Y-%m-%d", "%Y-%m", "%Y")


def texts_of(time):
    """All texts, weeks aside, of parts that begin at a time, longest first; and that of a week, if one does."""
    whole = time.replace(microsecond=0)
    full = f"{time.year:04}-{time:%m-%d-%H-%M-%S}"
    found = [full] if whole == time else []
    for cut, begun in ((16, time.second), (13, time.minute), (10, time.hour), (7, time.day - 1), (4, time.month - 1)):
        if not found or begun:
            break
        found.append(full[:cut])
    if time.isoweekday() == 1 and (time.hour, time.minute, time.second, time.microsecond) == (0, 0, 0, 0):
        year, week, _ = time.isocalendar()
        found.append(f"{year:04}-W{week:02}")
    return found


def selects(kind, start, end, text, *, negated=False):
    ranges = time_ranges("dt", kind, moment(start), moment(end), negated=negated)
    return contains(ranges, text_cell(kind, text))


def holds(ends, time):
    start, end = ends
    return moment(start) <= moment(time) < moment(end)


@st.composite
def instants(draw):
    """Times, most of them at or beside the beginning of a year, a week or another part."""
    year = draw(st.sampled_from((1, 2, 2014, 2015, 2016, 2017, 2020, 2021, 9998, 9999)) | st.integers(1, 9999))
    time = utc(year) + dt.timedelta(
        days=draw(st.sampled_from((0, 0, 1, 3, 4, 30, 31, 59, 360, 363, 364)) | st.integers(0, 364)),
        seconds=draw(st.sampled_from((0, 0, 0, 1, 3_600, 86_399)) | st.integers(0, 86_399)),
    )
    period = draw(st.none() | st.sampled_from(UpdatePeriod))
    if period is not None:
        time = period.floor(time) if moment(time) >= moment(utc(1, 1, 8)) else time
    micros = draw(st.sampled_from((0, 0, 0, -1, 1, 500_000)))
    if micros < 0 and time == utc(1):
        return time
    return min(time + dt.timedelta(microseconds=micros), END_OF_TIME)


def ranges_of_time():
    return st.tuples(instants(), instants()).map(sorted)


TEXTS = sorted(
    {
        text
        for period in (UpdatePeriod.DAILY, UpdatePeriod.WEEKLY)
        for time in period.iterate(utc(2012), utc(2019))
        for text in texts_of(time)
        if len(text) <= 10
    }
)
"""Of whole days and longer parts."""


def test_what_the_texts_of_a_time_are():
    assert texts_of(utc(2018)) == [
        *("2018-01-01-00-00-00", "2018-01-01-00-00", "2018-01-01-00", "2018-01-01", "2018-01", "2018", "2018-W01")
    ]
    assert texts_of(utc(2015, 2, 3, 4)) == ["2015-02-03-04-00-00", "2015-02-03-04-00", "2015-02-03-04"]
    assert texts_of(utc(2015, 2, 3, 4, 5, 6, 7)) == []


@settings(max_examples=150, deadline=None)
@given(ranges_of_time(), st.data())
def test_every_text_whose_part_begins_in_the_range_is_selected_and_no_other(ends, data):
    start, end = ends
    near = data.draw(st.sampled_from((start, end))) if data.draw(st.booleans()) else data.draw(instants())
    period = data.draw(st.sampled_from(UpdatePeriod))
    index = period.floor_index(moment(near)) + data.draw(st.integers(-3, 3))
    index = min(max(index, 0), period.limit - 1)
    time, text = period.time(index), period.format_index(index)
    assert text in texts_of(time)
    for one in texts_of(time):
        assert selects(STRING, start, end, one) is holds(ends, time), one


def test_every_text_of_some_years_at_every_kind_of_end():
    texts = [
        (text, time)
        for first in (2013, 2014, 2015, 2018, 2020)
        for period in (UpdatePeriod.DAILY, UpdatePeriod.WEEKLY)
        for time in period.iterate(utc(first), utc(first + 1, 1, 31))
        for text in texts_of(time)
    ]
    ends = [
        utc(year, *day) for year in (2014, 2015, 2018, 2020, 2021) for day in ((12, 28), (12, 29), (12, 31), (), (1, 4))
    ]
    ends += [utc(2015, 6, 15, 12), utc(2015, 12, 31, 23, 59, 59, 999_999)]
    for start, end in product(sorted(ends), repeat=2):
        if start <= end:
            ranges = time_ranges("dt", STRING, moment(start), moment(end), negated=False)
            wrong = [
                text for text, time in texts if contains(ranges, text_cell(STRING, text)) is not (start <= time < end)
            ]
            assert not wrong, (start, end)


@settings(max_examples=150, deadline=None)
@given(
    ranges_of_time(),
    st.one_of(
        st.text(max_size=12),
        st.from_regex(r"[0-9]{4}(-[0-9W]{1,3}){0,4}.?", fullmatch=True),
        instants().flatmap(
            lambda time: st.sampled_from([*texts_of(time), f"{time.year:04}"]).flatmap(
                lambda text: st.sampled_from((text, text[:-1], f"{text} ", f"{text}T00", f"{text}\0", f"{text}x"))
            )
        ),
    ),
)
@example([utc(2015), utc(2016)], "2015-W")
@example([utc(2015), utc(2016)], "2015-W00")
@example([utc(2015), utc(2016)], "2015-W99")
@example([utc(2015), utc(2016)], "2015-X")
@example([utc(2015), utc(2016)], "2016-W01")
@example([utc(2015), utc(2016)], "201y")
@example([utc(2019), utc(2019, 6)], "201y")
@example([utc(1), END_OF_TIME], "latest")
def test_texts_that_are_no_times_are_where_they_sort(ends, text):
    assume(text)  # the null partition, which is in no range
    start, end = ends
    assert selects(STRING, start, end, text) is text_in_time_range(text, start, end)
    assert selects(STRING, start, end, text, negated=True) is not text_in_time_range(text, start, end)


@given(
    st.tuples(st.integers(0, 1_800), st.integers(0, 1_800)).map(sorted),
    st.from_regex(r"201[2-8](-(0[1-9]|1[0-2]|W[0-5]|W|X))?(-[0-3])?[0-9a-z]?", fullmatch=True),
)
@example([0, 1_800], "2015-W54")
@example([1_091, 1_092], "2015-12-31T05:00:00")
def test_a_text_that_is_no_time_counts_as_the_last_time_before_it(days, text):
    start, end = (utc(2013) + dt.timedelta(days=number) for number in days)
    last = max((one for one in TEXTS if one <= text), default=None)
    assert selects(STRING, start, end, text) is (last is not None and selects(STRING, start, end, last))


@given(ranges_of_time(), instants())
def test_dates(ends, time):
    midnight = utc(time.year, time.month, time.day)
    assert selects(parse_type("date"), *ends, time.date().isoformat()) is holds(ends, midnight)


@given(ranges_of_time(), instants().filter(lambda time: time != END_OF_TIME), st.sampled_from((0, 1, 999)))
def test_timestamps(ends, time, nanoseconds):
    text = f"{time.replace(tzinfo=None, microsecond=0).isoformat(' ')}.{time.microsecond:06}{nanoseconds:03}"
    # Bounds are whole microseconds, so those of the value decide.
    assert selects(parse_type("timestamp"), *ends, text) is holds(ends, time)


@given(ranges_of_time(), st.integers(-5, 10_005) | st.sampled_from((2014, 2015, 2016)))
def test_whole_numbers_are_years(ends, year):
    wanted = 1 <= year <= 9_999 and holds(ends, utc(year))
    assert selects(parse_type("bigint"), *ends, str(year)) is wanted


@pytest.mark.parametrize(
    ("kind", "last"),
    [
        ("date", "9999-12-31"),
        ("timestamp", "9999-12-31 23:59:59.999999999"),
        ("int", "9999"),
        *(("string", text) for text in ("9999", "9999-12-31", "9999-12-31-23-59-59", "9999-W52")),
    ],
)
def test_the_end_of_time_is_behind_the_last_of_all_values(kind, last):
    assert selects(parse_type(kind), utc(9998), END_OF_TIME, last)
    assert not selects(parse_type(kind), utc(1), utc(9999), last)
    assert not selects(parse_type(kind), END_OF_TIME, END_OF_TIME, last)


@pytest.mark.parametrize("kind", ["varchar(20)", "char(10)", "tinyint", "smallint", "int", "bigint"])
def test_sized_types_are_like_the_others(kind):
    for text, wanted in (("2015", True), ("2014", False), ("2016", False)):
        if kind != "tinyint":
            assert selects(parse_type(kind), utc(2015), utc(2015, 1, 1, 1), text) is wanted
    assert selects(parse_type(kind), utc(1), utc(100), "0099")


@pytest.mark.parametrize("kind", ["date", "timestamp", "string", "int"])
def test_the_null_partition_and_what_does_not_parse_have_no_time(kind):
    column_type = parse_type(kind)
    for text in (NULL_PARTITION, *(() if kind == "string" else ("latest",))):
        for negated in (False, True):
            assert not selects(column_type, utc(1), END_OF_TIME, text, negated=negated)
            assert not selects(column_type, utc(2015), utc(2015), text, negated=negated)


@pytest.mark.parametrize("kind", ["date", "timestamp", "string", "int"])
def test_an_empty_range_selects_nothing_and_its_negation_every_value(kind):
    for time in ("2015", "now", "2015-01-01-00:00:00,001"):
        assert bound(f"time_range_in(dt, '{time}', '{time}')", kind) is NEVER
        assert bound(f"not time_range_in(dt, '{time}', '{time}')", kind) == CellIn(0, (VALUES,))


def bound(text, kind="date", clock=lambda: NOW):
    return bind(parse_filter(text), KeySchema(b"", ("dt", "region"), (parse_type(kind), STRING)), Now(clock))


@pytest.mark.parametrize("kind", ["date", "timestamp", "string", "varchar(20)", "char(20)", "int", "bigint"])
def test_a_range_alone_is_ranges_of_cells(kind):
    assert isinstance(bound("time_range_in(dt, '2015-01-29', '2016-02-10')", kind), CellIn)
    assert isinstance(bound("not time_range_in(dt, '2015-01-29', '2016-02-10')", kind), CellIn)


def test_relative_times_are_those_of_the_clock():
    days = bound("time_range_in(dt, 'now.day-3days', 'now.day')")
    assert days == bound("time_range_in(dt, '2015-03-28', '2015-03-31')")
    assert days == bound("dt between '2015-03-28' and '2015-03-30'")


def test_one_filter_has_one_now_and_asks_for_it_only_if_it_must():
    times = iter((NOW, utc(2020)))
    text = "time_range_in(dt, 'now', 'now+1second') and (dt is null or not time_range_in(dt, 'now-1hour', 'now'))"
    bound(text, "timestamp", lambda: next(times))
    assert next(times) == utc(2020)
    now = Now(lambda: NOW)
    bind(parse_filter("time_range_in(dt, '2015', '2016')"), KeySchema(b"", ("dt",), (STRING,)), now)
    assert not now.was_asked
    bind(parse_filter("time_range_in(dt, '2015', 'now')"), KeySchema(b"", ("dt",), (STRING,)), now)
    assert now.was_asked


@pytest.mark.parametrize("kind", ["boolean", "float", "double", "decimal(10,2)"])
def test_other_types_have_no_times(kind):
    with pytest.raises(FilterTypeError, match=rf"{re.escape(kind)}.*time range"):
        bound("time_range_in(dt, '2015', '2016')", kind)


def test_a_relative_range_that_ends_before_it_begins():
    text = "time_range_in(dt, 'now', 'now.month')"
    with pytest.raises(InvalidTimeRange) as caught:
        bound(text)
    assert caught.value.fields == {"start": NOW.isoformat(), "end": utc(2015, 3).isoformat()}
    assert caught.value.highlight == f"{text}\n{' ' * text.index(chr(39) + 'now.month')}^"
    assert bound(text, clock=lambda: utc(2015, 3)) is not None


def test_other_faults():
    with pytest.raises(UnknownColumnError):
        bound("time_range_in(ds, '2015', '2016')")
    with pytest.raises(InvalidTime, match="outside the years"):
        bound("time_range_in(dt, 'now-3000years', 'now')")
    with pytest.raises(TimeRangeSyntaxError):
        bind(TimeRangeIn("dt", "2015", "x"), KeySchema(b"", ("dt",), (STRING,)), Now())
    with pytest.raises(InvalidTimeRange):
        bind(TimeRangeIn("dt", "2015", "2014"), KeySchema(b"", ("dt",), (STRING,)), Now())
