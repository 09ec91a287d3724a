"""Relations of time dimensions: the partitions of a range hold all rows that may be in it."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.cubes.query.relations import TimeRelation
from hbstore.errors import InvalidModel
from hbstore.times.moments import moment, time_at

DAYS = [dt.datetime(2015, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=number) for number in range(500)]
MONTHS = {"month": 1, "quarter": 3, "year": 12}


def later(time, number, unit):
    """A time that is so much later, on the last day of its month where that has no such day."""
    if unit not in MONTHS:
        return time + dt.timedelta(**{f"{unit}s": number})
    year, month = divmod(time.year * 12 + time.month - 1 + number * MONTHS[unit], 12)
    first = time.replace(year=year, month=month + 1, day=1)
    last = (first.replace(day=28) + dt.timedelta(days=4)).replace(day=1) - dt.timedelta(days=1)
    return first.replace(day=min(time.day, last.day))


@given(
    st.sampled_from([day for day in DAYS if (day + dt.timedelta(days=4)).day < 8]),
    st.integers(1, 40),
    st.sampled_from(["hour", "day", "week", *MONTHS]),
    st.lists(st.integers(-3, 3), min_size=2, max_size=2).map(sorted),
)
def test_a_row_that_may_be_in_a_range_is_in_the_widened_one(stop, days, unit, ends):
    start = stop - dt.timedelta(days=days)
    least, most = ends
    relation = TimeRelation.parse(f"other+[{least} {unit}s, {most} {unit}s]")
    begin, end = map(time_at, relation.widened(moment(start), moment(stop)))
    for near in (later(start, -most, unit), later(stop, -least, unit)):
        for hours in range(-96, 97, 6):
            other = near + dt.timedelta(hours=hours)
            if later(other, least, unit) < stop and later(other, most, unit) >= start:
                assert begin <= other < end


def test_a_month_before_the_last_of_a_longer_month():
    march = dt.datetime(2015, 3, 30, tzinfo=dt.UTC), dt.datetime(2015, 3, 31, tzinfo=dt.UTC)
    _, end = TimeRelation.parse("other+[1 month,2 months]").widened(*map(moment, march))
    assert time_at(end) == dt.datetime(2015, 3, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize("text", ["other+[3 days,0 days]", "other+[1 hour,-1 hour]", "other+[1 month,30 days]"])
def test_a_relation_that_ends_before_it_begins_is_refused(text):
    with pytest.raises(InvalidModel, match="ends before it begins"):
        TimeRelation.parse(text)
