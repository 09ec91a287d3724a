"""Periods, times and timelines for tests."""

from __future__ import annotations

import datetime as dt

from hypothesis import strategies as st

from hbstore.timelines import (
    EndsAndHolesPartitionTimeline,
    RangesPartitionTimeline,
    StoreAllPartitionTimeline,
    UpdatePeriod,
    register,
)
from tests.timelines.own_class import CountedRunsTimeline

OWN = (StoreAllPartitionTimeline, EndsAndHolesPartitionTimeline, RangesPartitionTimeline)
CLASSES = (*OWN, register(CountedRunsTimeline))
"""hbstore's, and one of somebody else's."""


def utc(year, *rest):
    return dt.datetime(year, *[*rest, 1, 1][: max(2, len(rest))], tzinfo=dt.UTC)


def without_zone(year, *rest):
    return utc(year, *rest).replace(tzinfo=None)


PERIODS = st.sampled_from(UpdatePeriod)
ZONES = st.one_of(
    st.just(dt.UTC), st.integers(-14 * 60, 14 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
)
TIMES = st.one_of(
    st.datetimes(without_zone(1, 1, 2), without_zone(9999, 12, 30), timezones=ZONES),
    st.datetimes(without_zone(1999, 12, 1), without_zone(2021, 2, 1), timezones=ZONES),
)


def on(period):
    """Times at which a part of a period begins, those at the ends of the calendar too."""
    near = st.integers(0, 40)
    ends = st.one_of(near, near.map(lambda distance: period.limit - 1 - distance))
    return st.one_of(TIMES.map(period.floor), ends.map(period.time))


def timeline(cls, period=UpdatePeriod.DAILY, indexes=(), table="s1_fact1", column="dt"):
    made = cls(table, period, column)
    made.add_all(map(period.time, indexes))
    return made


def same(one, other):
    """Whether two timelines are alike in all they say, the class, table, period and column included."""
    return str(one) == str(other) and one == other
