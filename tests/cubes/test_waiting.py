"""Waiting for a cover on the store itself: a wait ends when its range is complete, by a change of any process."""

from __future__ import annotations

import threading

import pytest

from hbstore import connect
from hbstore.cubes import Uncoverable
from hbstore.cubes.fact_times import LOOKS_PER_SECOND, FactTimes, pause_after
from hbstore.errors import InvalidTimeRange, ModelNotFound, UnknownTimeDimension
from tests.cubes.conftest import NOW, cubes_of, days
from tests.timelines.strategies import utc

START, END = utc(2015, 1, 1), utc(2015, 1, 3)


def test_what_is_complete_needs_no_waiting(cubes):
    cubes.add_partitions("rides_daily", "lake", days("2015-01-01", "2015-01-02"))
    found = cubes.wait("rides_daily", START, END)
    assert found == cubes.cover("rides_daily", START, END)


def test_a_wait_ends_when_the_last_partition_is_registered(cubes, url):
    cubes.add_partitions("rides_daily", "lake", days("2015-01-01"))
    looked = threading.Event()
    look = cubes.cover

    def noted(*arguments, **options):
        found = look(*arguments, **options)
        looked.set()
        return found

    cubes.cover = noted
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(cubes.wait("rides_daily", START, END, seconds=60)))
    waiting.start()
    assert looked.wait(60)
    if "memory" in url:
        cubes.add_partitions("rides_daily", "archive", days("2015-01-02"))
    else:
        with connect(url) as other:  # as another process would
            cubes_of(other).add_partitions("rides_daily", "archive", days("2015-01-02"))
    waiting.join(60)
    assert [len(found.partitions) for found in answers] == [2]


def test_a_wait_ends_with_what_is_missing_when_its_time_is_over(cubes):
    cubes.add_partitions("rides_daily", "lake", days("2015-01-01"))
    for seconds in (0, 0.05):
        with pytest.raises(Uncoverable) as caught:
            cubes.wait("rides_daily", START, END, seconds=seconds)
        assert caught.value.missing == [(utc(2015, 1, 2), END)]


def test_a_fact_that_is_dropped_meanwhile_ends_the_wait(cubes):
    timer = threading.Timer(0.1, lambda: cubes.drop("fact", "rides_daily"))
    timer.start()
    with pytest.raises(ModelNotFound):
        cubes.wait("rides_daily", START, END, seconds=60)
    timer.join()


def test_what_cannot_be_waited_for_is_refused(cubes):
    with pytest.raises(InvalidTimeRange):
        cubes.wait("rides_daily", END, START)
    with pytest.raises(ModelNotFound):
        cubes.wait("nothing", START, END)
    with pytest.raises(UnknownTimeDimension):
        cubes.wait("rides_daily", START, END, time_dimension="bt")


@pytest.mark.parametrize("took", [0.0, 0.001, 0.005, 0.05, 2.0])
def test_looking_takes_a_tenth_of_the_time_at_most(took):
    every = took + pause_after(took)
    assert every >= 1 / LOOKS_PER_SECOND - 1e-9
    assert took / every <= 0.1 + 1e-9
    assert every <= max(1 / LOOKS_PER_SECOND, 10 * took) + 1e-9


def test_what_has_not_changed_is_known_without_a_look_at_times(cubes):
    def now():
        return FactTimes.of(cubes._model, "rides_daily").coverable(None, NOW)

    first = now()
    assert now().is_as(first)
    cubes.add_partitions("rides_daily", "lake", days("2015-01-01"))
    second = now()
    assert not second.is_as(first)
    assert now().is_as(second)
    cubes.alter(cubes.fact("rides_daily").changed(start_time="2015-01-01"))
    assert not now().is_as(second)
