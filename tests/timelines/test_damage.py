"""Damaged properties: found, named, never half used."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hbstore.errors import CorruptTimeline
from hbstore.timelines import (
    EndsAndHolesPartitionTimeline,
    RangesPartitionTimeline,
    StoreAllPartitionTimeline,
    UpdatePeriod,
)
from hbstore.timelines.runs import Runs
from tests.timelines.strategies import CLASSES, OWN, PERIODS, timeline

DAY = UpdatePeriod.DAILY
BASE = DAY.parse_index("2015-01-01")
ENDS = {"first": "2015-01-01", "latest": "2015-01-09", "holes.size": "1"}

CONTRADICTIONS = [
    (StoreAllPartitionTimeline, {"partitions": "2015-01-02,2015-01-01"}, "stands before"),
    (StoreAllPartitionTimeline, {"partitions": "2015-01-02,2015-01-02"}, "twice"),
    (RangesPartitionTimeline, {"ranges": "[2015-01-02, 2015-01-01)"}, "holds nothing"),
    (RangesPartitionTimeline, {"ranges": "[2015-01-02, 2015-01-02)"}, "holds nothing"),
    (RangesPartitionTimeline, {"ranges": "[2015-01-05, 2015-01-06),[2015-01-01, 2015-01-02)"}, "before the end"),
    (RangesPartitionTimeline, {"ranges": "[2015-01-01, 2015-01-06),[2015-01-05, 2015-01-09)"}, "before the end"),
    (RangesPartitionTimeline, {"ranges": "[2015-01-01, 2015-01-02),[2015-01-01, 2015-01-02)"}, "before the end"),
    (RangesPartitionTimeline, {"ranges": "[2015-01-01, 2015-01-05),[2015-01-05, 2015-01-09)"}, "another begins"),
    (EndsAndHolesPartitionTimeline, {"first": "2015-01-02", "latest": "2015-01-01"}, "after the latest"),
    (EndsAndHolesPartitionTimeline, {"first": "2015-01-05", "latest": "2015-01-01"}, "after the latest"),
    (EndsAndHolesPartitionTimeline, {"first": "2015-01-05"}, "latest: it is empty"),
    (EndsAndHolesPartitionTimeline, {"first": "", "latest": "2015-01-05"}, "first: it is empty"),
    (EndsAndHolesPartitionTimeline, {"holes": "2015-01-05"}, "no partitions"),
    (EndsAndHolesPartitionTimeline, {**ENDS, "holes0": "2015-01-03,2015-01-02"}, "stands before"),
    (EndsAndHolesPartitionTimeline, {**ENDS, "holes0": "2015-01-03,2015-01-03"}, "twice"),
    (EndsAndHolesPartitionTimeline, {**ENDS, "holes0": "2015-01-01"}, "not after the first"),
    (EndsAndHolesPartitionTimeline, {**ENDS, "holes0": "2014-12-31"}, "not after the first"),
    (EndsAndHolesPartitionTimeline, {**ENDS, "holes0": "2015-01-09"}, "not before the latest"),
    (EndsAndHolesPartitionTimeline, {**ENDS, "holes0": "2015-01-03,2015-01-10"}, "not before the latest"),
]
UNREADABLE = [
    (StoreAllPartitionTimeline, {"partitions": "2015-01-01,2015-13-01"}, "partitions"),
    (StoreAllPartitionTimeline, {"partitions.size": "2", "partitions0": "2015-01-01,"}, "partitions1"),
    (RangesPartitionTimeline, {"ranges": "[2015-01-01, 2015-01-03),[2015-01-05"}, "ranges"),
    (RangesPartitionTimeline, {"ranges": "2015-01-01, 2015-01-03"}, "ranges"),
    (RangesPartitionTimeline, {"ranges": "[2015-01-01, 2015-01-03]"}, "ranges"),
    (RangesPartitionTimeline, {"ranges": "[10000-01-01, 10000-01-01)"}, "ranges"),
    (EndsAndHolesPartitionTimeline, {**ENDS, "latest": "2015-01-09-00"}, "latest"),
    (EndsAndHolesPartitionTimeline, {**ENDS, "first": "null"}, "first"),
    (EndsAndHolesPartitionTimeline, {**ENDS, "holes0": "2015-01-02,,2015-01-03"}, "holes"),
    (EndsAndHolesPartitionTimeline, ENDS, "holes0"),
]


@pytest.mark.parametrize(("cls", "properties", "fault"), CONTRADICTIONS)
def test_contradictions_are_found_and_the_timeline_answers_nothing(cls, properties, fault):
    made = timeline(cls, DAY, [BASE])
    assert not made.init_from_properties(properties)
    assert not made.is_consistent()
    assert any(fault in one for one in made.faults())
    assert fault in str(made)
    assert made != timeline(cls)
    time = DAY.time(BASE)
    calls = [
        lambda: made.add(time),
        lambda: made.drop(time),
        lambda: made.exists(time),
        lambda: made.add_all([time]),
        lambda: made.drop_all([time]),
        lambda: made.add_index_ranges([]),
        lambda: made.index_ranges(0, 9),
        made.first,
        made.latest,
        made.is_empty,
        made.iterate,
        made.ranges,
        made.holes,
        made.to_properties,
    ]
    for call in calls:
        with pytest.raises(CorruptTimeline) as caught:
            call()
        assert caught.value.fields["storage_table"] == "s1_fact1"
        assert caught.value.fields["period"] == "DAILY"
        assert caught.value.fields["column"] == "dt"
        assert fault in caught.value.fields["reason"]
    with pytest.raises(AssertionError, match="_faults"):
        made._check()


@pytest.mark.parametrize(("cls", "properties", "fault"), CONTRADICTIONS)
def test_a_damaged_timeline_is_whole_again_once_it_has_good_properties(cls, properties, fault):
    made, good = timeline(cls), timeline(cls, DAY, [BASE, BASE + 2])
    assert not made.init_from_properties(properties), fault
    assert made.init_from_properties(good.to_properties())
    assert made == good


@pytest.mark.parametrize(("cls", "properties", "key"), UNREADABLE)
def test_unreadable_properties_change_nothing_and_the_error_says_where(cls, properties, key):
    made, same = (timeline(cls, DAY, [BASE, BASE + 2]) for _ in range(2))
    with pytest.raises(CorruptTimeline) as caught:
        made.init_from_properties(properties)
    assert caught.value.fields["key"] == key
    assert (caught.value.fields["storage_table"], caught.value.fields["column"]) == ("s1_fact1", "dt")
    assert made == same


def test_a_time_off_its_period_is_unreadable():
    made = timeline(StoreAllPartitionTimeline, UpdatePeriod.QUARTERLY)
    with pytest.raises(CorruptTimeline, match="2015-01"):
        made.init_from_properties({"partitions": "2015-02"})


@pytest.mark.parametrize("cls", OWN)
@pytest.mark.parametrize(
    "damaged",
    [
        Runs([5], [5]),
        Runs([5], [4]),
        Runs([1, 5], [5, 7]),
        Runs([1, 4], [5, 7]),
        Runs([1, 5], [3]),
        Runs([-1], [3]),
        Runs([1], [DAY.limit + 1]),
    ],
)
def test_damage_in_memory_is_found_with_the_state(cls, damaged):
    made = timeline(cls)
    made._runs = damaged
    assert not made.is_consistent()
    with pytest.raises(AssertionError, match="_runs"):
        made._check()


@st.composite
def mutated(draw):
    """A timeline, and its properties with one thing changed at random."""
    period = draw(PERIODS)
    base = draw(st.sampled_from([0, period.limit // 3, period.limit - 9]))
    indexes = draw(st.sets(st.integers(0, 8)))
    cls = draw(st.sampled_from(CLASSES))
    made = timeline(cls, period, [base + index for index in indexes])
    properties = made.to_properties()
    key = draw(st.sampled_from(sorted(properties)))
    text = properties[key]
    kind = draw(st.sampled_from(["remove", "replace", "swap", "cut", "digit", "copy"]))
    if kind == "remove":
        del properties[key]
    elif kind == "replace":
        properties[key] = draw(st.text("0123456789-W,[) ", max_size=24))
    elif kind == "swap":
        parts = text.split(",")
        properties[key] = ",".join(draw(st.permutations(parts)))
    elif kind == "copy":
        properties[key] = f"{text},{text}"
    elif text:
        at = draw(st.integers(0, len(text) - 1))
        new = draw(st.sampled_from("0123456789")) if kind == "digit" else ""
        properties[key] = text[:at] + new + text[at + 1 :]
    return made, properties


MOST = 10_000
"""Times of a timeline that is made anew."""


@given(mutated())
@example((timeline(EndsAndHolesPartitionTimeline, DAY, [BASE]), {"latest": "2015-01-01", "holes.size": "0"}))
def test_no_mutation_gets_in_silently(case):
    good, properties = case
    assume(properties != good.to_properties())
    made = type(good)("s1_fact1", good.update_period, "dt")
    try:
        consistent = made.init_from_properties(properties)
    except CorruptTimeline:
        assert made.is_empty()
        return
    assert consistent == made.is_consistent()
    if consistent:
        made._check()
        assume(len(made) <= MOST)  # another digit makes it thousands of years of seconds
        again = type(good)("s1_fact1", good.update_period, "dt")
        again.add_all(made.iterate())
        assert again == made
