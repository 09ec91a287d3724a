"""The choice among sources, against a search through every boundary of every partition."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hbstore.cubes import cover
from hbstore.cubes.query.choice import Chooser, PartitionSource, index_runs
from hbstore.timelines import RangesPartitionTimeline, UpdatePeriod
from hbstore.timelines.runs import gaps, joined
from hbstore.times.moments import moment, time_at
from tests.cubes.test_cover import facts
from tests.timelines.strategies import utc

PERIODS = [period for period in UpdatePeriod if UpdatePeriod.HOURLY.rank <= period.rank]
HOUR = UpdatePeriod.HOURLY
BEGIN = HOUR.parse_index("2014-11-20-00")
LENGTH = 24 * 420


def source(table, period, indexes, weight=0.0, rate=0):
    """A source with partitions of these indexes."""
    there = sorted(set(indexes))

    def ranges(start, stop):
        for index in there:
            if start <= index < stop:
                yield index, index + 1

    return PartitionSource(table, period, ranges, weight, Fraction(rate))


@st.composite
def worlds(draw):
    """A range of a few days, weeks or months, and sources with holes in them."""
    days = draw(st.sampled_from([2, 9, 70, 400]))
    start = HOUR.moment(BEGIN + draw(st.integers(0, 72)))
    stop = start + draw(st.integers(1, days * 24)) * 3_600_000_000
    sources = []
    for number in range(draw(st.integers(1, 5))):
        small = [UpdatePeriod.MINUTELY] if days == 2 else []
        period = draw(st.sampled_from(PERIODS if days > 9 else [*small, *PERIODS[:3]]))
        first, last = period.floor_index(start) - 1, period.ceil_index(stop) + 1
        holes = draw(st.sets(st.integers(first, min(last, first + 60)), max_size=8))
        all_but = draw(st.booleans()) or period.rank <= HOUR.rank
        indexes = set(range(first, last)) - holes if all_but else holes
        weight = draw(st.sampled_from([0.0, 0.1, 0.3, 1.0, 5.0]))
        sources.append(source(f"t{number}", period, indexes, weight, draw(st.sampled_from([0, 0, 3, 7]))))
    return start, stop, sources


def least(start, stop, sources):
    """The least cost, found by a search over the boundaries of all partitions."""
    parts = []
    for one in sources:
        first, last = one.period.ceil_index(start), one.period.floor_index(stop)
        for low, high in one.ranges(first, last) if first < last else ():
            for index in range(low, high):
                begin, end = one.period.moment(index), one.period.moment(index + 1)
                length = end - begin
                parts.append((begin, end, (0, Fraction(one.weight) * length, one.rate * length, 1)))
    ends = sorted({start, stop, *(end for part in parts for end in part[:2])})
    leading = {}
    for begin, end, cost in parts:
        leading.setdefault(end, []).append((begin, cost))
    best = {start: (0, 0, 0, 0)}
    for before, end in pairwise(ends):
        ways = [(before, (end - before, 0, 0, 0)), *leading.get(end, ())]
        best[end] = min(tuple(map(sum, zip(best[begin], cost, strict=True))) for begin, cost in ways)
    return best[stop]


def cost_of(choice):
    missing = sum(stop - start for start, stop in choice.missing)
    weight = size = count = 0
    for start, stop, one in choice.runs:
        weight += Fraction(one.weight) * (stop - start)
        size += one.rate * (stop - start)
        count += one.period.floor_index(stop) - one.period.floor_index(start)
    return missing, weight, size, count


@given(worlds())
def test_no_other_choice_costs_less(world):
    start, stop, sources = world
    choice = Chooser(sources).choose(start, stop)
    assert cost_of(choice) == least(start, stop, sources)
    both = sorted([(run.start, run.stop) for run in choice.runs] + list(choice.missing))
    assert list(gaps(both, start, stop)) == []
    assert sum(end - begin for begin, end in both) == stop - start
    for begin, end, one in choice.runs:
        period = one.period
        first, last = period.floor_index(begin), period.floor_index(end)
        assert (period.moment(first), period.moment(last)) == (begin, end)
        assert sum(high - low for low, high in one.ranges(first, last)) == last - first


def test_the_same_sources_in_another_order_cost_the_same():
    day = UpdatePeriod.DAILY
    first = day.parse_index("2015-01-01")
    light = source("light", day, range(first, first + 5), weight=1)
    heavy = source("heavy", HOUR, range(first * 24, (first + 9) * 24), weight=2)
    start, stop = day.moment(first), day.moment(first + 7)
    one, two = (Chooser(some).choose(start, stop) for some in ([light, heavy], [heavy, light]))
    assert one == two
    assert [(run.source.table, run.stop - run.start) for run in one.runs] == [
        ("light", day.moment(first + 5) - start),
        ("heavy", stop - day.moment(first + 5)),
    ]


def test_a_lighter_source_gives_way_where_only_a_heavier_one_is_whole():
    day = UpdatePeriod.DAILY
    first = day.parse_index("2015-01-01")
    hours = source("light", HOUR, range(first * 24, first * 24 + 12), weight=1)
    days = source("heavy", day, [first], weight=9)
    choice = Chooser([hours, days]).choose(day.moment(first), day.moment(first + 1))
    assert [run.source.table for run in choice.runs] == ["heavy"]
    assert choice.missing == ()


def test_smaller_periods_are_only_asked_for_what_larger_ones_lack():
    day, minute = UpdatePeriod.DAILY, UpdatePeriod.MINUTELY
    first = day.parse_index("2015-01-01")
    asked = []

    def minutes(start, stop):
        asked.append((start, stop))
        return [(start, stop)]

    days = source("days", day, set(range(first, first + 365)) - {first + 40}, weight=1)
    choice = Chooser([PartitionSource("minutes", minute, minutes, 1.0), days]).choose(
        day.moment(first), day.moment(first + 365)
    )
    assert [run.source.table for run in choice.runs] == ["days", "minutes", "days"]
    assert asked == [((first + 40) * 1_440, (first + 41) * 1_440)]


@given(worlds(), st.sets(st.integers(0, 4)))
def test_what_no_whole_partition_answers_is_cut_from_one_whose_rows_tell_their_times(world, telling):
    start, stop, sources = world
    start, stop = start + 1_000_000, stop + 600_000_000  # no partition begins or ends there
    cutting = [replace(one, cut=True) for number, one in enumerate(sources) if number in telling]
    whole, choice = (Chooser(some).choose(start, stop) for some in (sources, [*sources, *cutting]))
    assert [run for run in choice.runs if not run.source.cut] == list(whole.runs)
    there = joined(
        sorted(
            span
            for one in cutting
            for low, high in one.ranges(one.period.floor_index(start), one.period.ceil_index(stop))
            for span in [(max(start, one.period.moment(low)), min(stop, one.period.moment(high)))]
        )
    )
    left = [gap for span in whole.missing for gap in gaps(clipped(there, *span), *span)]
    assert list(choice.missing) == left
    both = sorted([(run.start, run.stop) for run in choice.runs] + list(choice.missing))
    assert list(gaps(both, start, stop)) == []
    assert sum(end - begin for begin, end in both) == stop - start
    for begin, end, one in choice.runs:
        price = one.weight, one.rate
        for other in cutting if one.cut else ():
            if (other.weight, other.rate) < price:
                period = other.period
                indexes = other.ranges(period.floor_index(begin), period.ceil_index(end))
                assert not clipped([tuple(map(period.moment, span)) for span in indexes], begin, end)


def clipped(ranges, start, stop):
    """What of some ranges is in [start, stop)."""
    spans = ((max(low, start), min(high, stop)) for low, high in ranges)
    return [span for span in spans if span[0] < span[1]]


# Beside covers


def both(timelines, start, end):
    """The partitions and what is missing, of a cover and of a choice among sources that all cost the same."""
    found = cover(timelines, start, end, partial=True)
    sources = [
        PartitionSource(one.storage_table, period, one.index_ranges)
        for period, ones in sorted(timelines.items(), key=lambda item: item[0].rank)
        for one in ones
    ]
    choice = Chooser(sources).choose(moment(start), moment(end))
    chosen = [
        (source.period, source.period.time(at), source.table)
        for source, first, last in index_runs(choice)
        for at in range(first, last)
    ]
    missing = [(time_at(since), time_at(until)) for since, until in choice.missing]
    return (list(found.partitions), list(found.missing)), (chosen, missing)


SECONDS = [UpdatePeriod.SECONDLY, UpdatePeriod.MINUTELY]


@given(
    st.one_of(
        facts(SECONDS, utc(2015, 12, 31, 23, 58), dt.timedelta(seconds=90)),
        facts([HOUR, UpdatePeriod.DAILY, UpdatePeriod.MONTHLY], utc(2015, 1, 27), dt.timedelta(days=60)),
        facts([UpdatePeriod.DAILY, UpdatePeriod.WEEKLY], utc(2014, 11, 20), dt.timedelta(days=90)),
        facts([UpdatePeriod.DAILY, *PERIODS[3:]], utc(2014, 11, 20), dt.timedelta(days=500)),
    )
)
def test_where_periods_lie_within_each_other_the_largest_first_are_the_fewest(case):
    covered, chosen = both(*case)
    assert chosen == covered


def test_a_cover_prefers_a_month_to_weeks_that_leave_nothing_missing():
    """The specification of covers takes the largest period first, and so is another search than this one."""
    weeks, month = (RangesPartitionTimeline("t", period, "dt") for period in PERIODS[2:4])
    weeks.add_all(UpdatePeriod.WEEKLY.iterate(utc(2015, 1, 26), utc(2015, 3, 2)))
    month.add(utc(2015, 2, 1))
    timelines = {UpdatePeriod.WEEKLY: [weeks], UpdatePeriod.MONTHLY: [month]}
    (covered, missing), (chosen, none) = both(timelines, utc(2015, 1, 26), utc(2015, 3, 2))
    assert [period for period, *_ in covered] == [UpdatePeriod.MONTHLY]
    assert missing == [(utc(2015, 1, 26), utc(2015, 2, 1)), (utc(2015, 3, 1), utc(2015, 3, 2))]
    assert [period for period, *_ in chosen] == [UpdatePeriod.WEEKLY] * 5
    assert none == []
