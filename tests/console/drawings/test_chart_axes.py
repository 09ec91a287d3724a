"""Axes: numbers of any size and times of any span, with labels that tell them apart."""

from __future__ import annotations

import datetime as dt
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hbstore.console.drawings.chart_axes import NumberAxis, exact_time, time_labels

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def at(*time):
    since = dt.datetime(*time, tzinfo=dt.UTC) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return since // dt.timedelta(microseconds=1)


TIMES = st.integers(at(1, 1, 1), at(9999, 12, 31))


@pytest.mark.parametrize(
    ("least", "most", "texts"),
    [
        (-3, 9, ["-4", "0", "4", "8", "12"]),
        (0, 0, ["-1.2", "-0.8", "-0.4", "0", "0.4", "0.8", "1.2"]),
        (123_456, 1_234_567, ["0", "0.4M", "0.8M", "1.2M", "1.6M"]),
        (99.1, 99.9, ["99.0", "99.2", "99.4", "99.6", "99.8", "100.0"]),
        (-500, -4, ["-500", "-400", "-300", "-200", "-100", "0"]),
        (1e20, 3e20, ["0", "1e20", "2e20", "3e20"]),
        (1e-7, 5e-7, ["0", "1e-7", "2e-7", "3e-7", "4e-7", "5e-7"]),
        (-1.7e308, 1.7e308, ["-2e308", "-1e308", "0", "1e308", "2e308"]),
    ],
)
def test_numbers_are_written_as_short_as_tells_them_apart(least, most, texts):
    assert [text for _, text in NumberAxis.of(least, most, 5).labels()] == texts


@given(FINITE, FINITE)
def test_all_numbers_have_a_place_and_all_labels_differ(one, other):
    least, most = min(one, other), max(one, other)
    axis = NumberAxis.of(least, most, 5)
    for number in (least, most):
        assert -1e-6 <= axis.share(number) <= 1 + 1e-6
    assert axis.share(least) <= axis.share(most)
    labels = axis.labels()
    assert 2 <= len(labels) <= 12
    assert [share for share, _ in labels] == sorted({share for share, _ in labels})
    assert len({text for _, text in labels}) == len(labels)


@given(FINITE, FINITE)
def test_labels_say_where_they_are(one, other):
    assume(max(abs(one), abs(other)) < sys.float_info.max / 10)
    axis = NumberAxis.of(min(one, other), max(one, other), 5)
    units = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
    for share, text in axis.labels():
        number = float(text.rstrip("kMGTP").replace(",", "")) * units.get(text[-1], 1)
        if abs(number) > sys.float_info.min:  # doubles below it have few digits
            assert axis.share(number) == pytest.approx(share, abs=0.02)


@given(TIMES, TIMES, st.integers(2, 14))
def test_times_are_whole_in_order_within_the_range_and_no_more_than_fit(one, other, ticks):
    first, last = min(one, other), max(one, other)
    labels = time_labels(first, last, ticks)
    times = [label.time for label in labels]
    assert times == sorted(set(times))
    assert all(first <= time <= last for time in times)
    assert len(labels) <= ticks + 1


@pytest.mark.parametrize(
    ("first", "last", "ticks", "texts"),
    [
        (at(2015, 1, 1), at(2015, 1, 1), 5, ["1 Jan"]),
        (at(2015, 1, 1, 5), at(2015, 1, 1, 5), 5, ["05:00:00"]),
        (at(2014, 12, 30), at(2015, 1, 2), 5, ["30 Dec", "31 Dec", "1 Jan", "2 Jan"]),
        (at(2014, 6, 1), at(2015, 3, 31), 6, ["Jul", "Sep", "Nov", "Jan", "Mar"]),
        (at(2015, 1, 1), at(2015, 1, 1, 12), 5, ["00:00", "03:00", "06:00", "09:00", "12:00"]),
        (at(2015, 1, 1, 5), at(2015, 1, 1, 5, 0, 30), 4, ["05:00:00", "05:00:10", "05:00:20", "05:00:30"]),
        (at(2000, 1, 1), at(2020, 1, 1), 4, ["2000", "2010", "2020"]),
        (at(1, 1, 1), at(9999, 12, 31), 5, ["2000", "4000", "6000", "8000"]),
    ],
)
def test_times_are_those_that_people_count_by(first, last, ticks, texts):
    assert [label.text for label in time_labels(first, last, ticks)] == texts


def test_what_a_label_is_of_is_said_where_it_changes():
    labels = time_labels(at(2014, 12, 30), at(2015, 1, 2), 5)
    assert [label.below for label in labels] == ["2014", "", "2015", ""]


def test_a_time_is_written_whole():
    assert exact_time(at(2015, 1, 1, 5, 30)) == "2015-01-01 05:30:00"
