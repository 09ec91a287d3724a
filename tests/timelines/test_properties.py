"""Properties: the chunks as Lens writes them, and what it wrote before there were chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.timelines import (
    EndsAndHolesPartitionTimeline,
    RangesPartitionTimeline,
    StoreAllPartitionTimeline,
    UpdatePeriod,
)
from hbstore.timelines.properties import UnreadableProperty, chunks, elements
from tests.timelines.strategies import timeline

DAY = UpdatePeriod.DAILY
BASE = DAY.parse_index("2015-01-01")
TEXTS = st.lists(st.text("0123456789-[)", min_size=1, max_size=700), max_size=60)


def appended(texts):
    """The rule, character by character: an element that would bring a chunk to 3,999 begins the next one."""
    done, chunk = [], ""
    for text in texts:
        if chunk and len(chunk) + len(text) >= 3_999:
            done.append(chunk)
            chunk = ""
        chunk += text + ","
    return [*done, chunk[:-1]] if chunk else done


@given(TEXTS)
def test_chunks_follow_the_rule_and_go_back(texts):
    properties = chunks("holes", texts)
    wanted = appended(texts)
    assert properties == {"holes.size": str(len(wanted)), **{f"holes{n}": text for n, text in enumerate(wanted)}}
    assert elements(properties, "holes") == texts


def test_days_in_chunks():
    # 363 days of 11 characters make 3,993; the next day would bring the chunk to 4,003.
    properties = chunks("partitions", map(DAY.format_index, range(BASE, BASE + 800)))
    assert properties["partitions.size"] == "3"
    assert [len(properties[f"partitions{n}"]) for n in range(3)] == [3_993, 3_993, 74 * 11 - 1]
    assert properties["partitions0"].endswith("2015-12-29,")
    assert properties["partitions2"].endswith("-10")


@pytest.mark.parametrize(("length", "size"), [(1_997, "1"), (1_998, "2")])
def test_a_chunk_stays_below_3999_with_its_comma_counted(length, size):
    assert chunks("x", ["a" * 2_000, "b" * length])["x.size"] == size


def test_empty_lists_have_size_0_and_no_chunk():
    assert chunks("ranges", []) == {"ranges.size": "0"}
    assert elements({"ranges.size": "0"}, "ranges") == []
    assert elements({}, "ranges") == []


def test_the_size_wins_over_the_bare_key_and_over_left_overs():
    properties = {"holes.size": "1", "holes0": "2015-01-02", "holes1": "2015-01-03", "holes": "2015-01-04"}
    assert elements(properties, "holes") == ["2015-01-02"]


@pytest.mark.parametrize(
    ("properties", "key"),
    [
        ({"x.size": "2", "x0": "a,"}, "x1"),
        ({"x.size": "-1"}, "x.size"),
        ({"x.size": "01", "x0": "a"}, "x.size"),
        ({"x.size": "", "x0": "a"}, "x.size"),
        ({"x.size": "9" * 5_000}, "x.size"),
        ({"x.size": "999999999"}, "x0"),
        ({"x0": "a"}, "x.size"),
        ({"x": "a,,b"}, "x"),
        ({"x": "a,"}, "x"),
    ],
)
def test_unreadable_properties_are_named(properties, key):
    with pytest.raises(UnreadableProperty) as caught:
        elements(properties, "x")
    assert caught.value.key == key


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize(
    ("cls", "properties"),
    [
        (StoreAllPartitionTimeline, {"partitions": "2015-01-01,2015-01-02,2015-01-05"}),
        (
            EndsAndHolesPartitionTimeline,
            {"first": "2015-01-01", "latest": "2015-01-05", "holes": "2015-01-03,2015-01-04"},
        ),
        (RangesPartitionTimeline, {"ranges": "[2015-01-01, 2015-01-03),[2015-01-05, 2015-01-06)"}),
    ],
)
def test_the_three_forms(cls, properties, bare):
    wanted = timeline(cls, DAY, [BASE, BASE + 1, BASE + 4])
    key = {"partitions", "holes", "ranges"}.intersection(properties).pop()
    chunked = {one: text for one, text in properties.items() if one != key}
    chunked |= {f"{key}.size": "1", f"{key}0": properties[key]}
    assert wanted.to_properties() == chunked
    made = timeline(cls, DAY)
    assert made.init_from_properties(properties if bare else chunked)
    assert made == wanted


def test_empty_timelines():
    assert timeline(StoreAllPartitionTimeline).to_properties() == {"partitions.size": "0"}
    assert timeline(RangesPartitionTimeline).to_properties() == {"ranges.size": "0"}
    ends = {"first": "", "latest": "", "holes.size": "0"}
    assert timeline(EndsAndHolesPartitionTimeline).to_properties() == ends
    made = timeline(EndsAndHolesPartitionTimeline, DAY, [BASE])
    assert made.init_from_properties({"holes.size": "0"})
    assert made.is_empty()


def test_spaces_round_commas_are_read():
    made = timeline(RangesPartitionTimeline)
    assert made.init_from_properties({"ranges": "[2015-01-01,2015-01-03) , [2015-01-05 ,2015-01-06)"})
    assert made.to_properties()["ranges0"] == "[2015-01-01, 2015-01-03),[2015-01-05, 2015-01-06)"


def test_the_last_day_has_an_end():
    made = timeline(RangesPartitionTimeline, DAY, [DAY.limit - 1])
    assert made.to_properties()["ranges0"] == "[9999-12-31, 10000-01-01)"
    again = timeline(RangesPartitionTimeline)
    assert again.init_from_properties(made.to_properties())
    assert again == made
