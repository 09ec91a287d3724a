"""Classes by name, a table's properties, conversions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import CorruptTimeline, UnknownTimelineClass
from hbstore.timelines import (
    EndsAndHolesPartitionTimeline,
    RangesPartitionTimeline,
    UpdatePeriod,
    convert,
    timeline_class,
    timeline_of,
)
from hbstore.timelines.classes import class_name
from hbstore.timelines.factory import table_properties
from tests.timelines.strategies import CLASSES, OWN, same, timeline

DAY = UpdatePeriod.DAILY
BASE = DAY.parse_index("2015-01-01")
PREFIX = "cube.storagetable.partition.timeline.cache.DAILY.dt."


@pytest.mark.parametrize("cls", OWN)
def test_classes_have_two_names(cls):
    assert timeline_class(cls.__name__) is cls
    assert timeline_class(f"org.apache.lens.cube.metadata.timeline.{cls.__name__}") is cls


def test_ends_and_holes_is_the_default():
    assert timeline_class(None) is timeline_class("") is EndsAndHolesPartitionTimeline
    assert same(timeline_of("s1_fact1", DAY, "dt", {}), timeline(EndsAndHolesPartitionTimeline))


@pytest.mark.parametrize(
    "name", ["Ranges", "rangespartitiontimeline", "com.example.RangesPartitionTimeline", "PartitionTimeline"]
)
def test_unknown_classes_are_refused_and_the_known_are_listed(name):
    with pytest.raises(UnknownTimelineClass) as caught:
        timeline_of("s1_fact1", DAY, "dt", {f"{PREFIX}storage.class": name})
    assert caught.value.fields["name"] == name
    assert all(cls.__name__ in caught.value.fields["classes"] for cls in CLASSES)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_tables_properties_hold_many_timelines(cls):
    ones = [
        timeline(cls, DAY, [BASE, BASE + 2]),
        timeline(cls, DAY, [BASE + 1], column="pt"),
        timeline(cls, UpdatePeriod.HOURLY, [24 * BASE]),
    ]
    properties = {"comment": "not a timeline", "cube.storagetable.partition.timeline.cache.present": "true"}
    for one in ones:
        properties |= table_properties(one)
    assert properties[f"{PREFIX}storage.class"] == class_name(cls)
    for one in ones:
        assert same(timeline_of("s1_fact1", one.update_period, one.partition_column, properties), one)


def test_left_overs_of_another_class_do_not_matter():
    one = timeline(EndsAndHolesPartitionTimeline, DAY, range(BASE, BASE + 9))
    other = timeline(RangesPartitionTimeline, DAY, [BASE])
    properties = {**table_properties(one), **table_properties(other)}
    assert same(timeline_of("s1_fact1", DAY, "dt", properties), other)


def test_contradictions_are_an_error_that_says_where():
    properties = {f"{PREFIX}first": "2015-01-02", f"{PREFIX}latest": "2015-01-01"}
    with pytest.raises(CorruptTimeline, match="after the latest") as caught:
        timeline_of("s1_fact1", DAY, "dt", properties)
    assert {"storage_table": "s1_fact1", "period": "DAILY", "column": "dt"}.items() <= caught.value.fields.items()


@given(st.sets(st.integers(BASE, BASE + 40)), st.sampled_from(CLASSES), st.sampled_from(CLASSES))
def test_conversions_lose_nothing_and_leave_the_original(indexes, one, two):
    made = timeline(one, DAY, indexes)
    converted = convert(made, two)
    assert same(converted, timeline(two, DAY, indexes))
    assert converted.add(DAY.time(BASE + 50))
    assert made == timeline(one, DAY, indexes)
